//===- Wgmma.h - warpgroup matrix products: operands and registers ----------------------------===//
#ifndef VGPU_LIB_EXEC_WGMMA_H
#define VGPU_LIB_EXEC_WGMMA_H

#include "vgpu/Exec/TensorMap.h"
#include "vgpu/Machine/Block.h"
#include <deque>

namespace vgpu {

/// A matrix in shared memory as wgmma's 64-bit descriptor gives it (PTX ISA, "Shared memory matrix
/// layout"). Its element (i, k) lies, with i along M or N,
///
///   K-major, no swizzle:   (i / 8) * stride + (kByte / 16) * leading + (i % 8) * 16 + kByte % 16
///   K-major, span S:       (i / 8) * stride + (i % 8) * S + kByte
///   MN-major, no swizzle:  (i / 8) * stride + (k / 8) * leading + (k % 8) * 16 + iByte % 16
///   MN-major, span S:      (iByte / S) * leading + (k / 8) * stride + (k % 8) * S + iByte % S
///
/// after the start address; then the swizzle permutes address bits. (The same layouts as CUTLASS's
/// make_gmma_desc builds.)
struct MatrixDescriptor {
  uint64_t start = 0, leading = 0, stride = 0; ///< bytes
  Swizzle swizzle = Swizzle::None;
  unsigned baseOffset = 0;

  static MatrixDescriptor decode(uint64_t bits);
  /// The 16-byte chunk that begins at (row, kByte) of a K-major matrix.
  uint64_t chunkAlongK(unsigned row, unsigned kByte) const;
  /// The one that begins at (row, k) of an MN-major matrix of 2-byte elements.
  uint64_t chunkAlongRows(unsigned row, unsigned k) const;
};

/// What the opcode says, beside the operands.
enum WgmmaFlags : uint8_t {
  RegistersA = 1, ///< A is in registers
  TransA = 2,
  TransB = 4,
  NegateA = 8,
  NegateB = 16,
  Saturate = 32,
};
constexpr unsigned wgmmaWarpRows = 16, maxWgmmaN = 256, maxWgmmaK = 256;

struct WgmmaShape {
  unsigned n, k;
  ptx::Type a, b, d;
  unsigned elementBits() const { return a == ptx::Type::B1 ? 1 : ptx::bitWidth(a); }
};
/// The shape is packed into the instruction's family fields.
WgmmaShape wgmmaShapeOf(const Inst &inst);
void setWgmmaShape(Inst &inst, const WgmmaShape &shape);

// Sources: A (a descriptor or 4 registers), the descriptor of B, scale-d, the accumulators.
inline unsigned wgmmaSourcesOfA(const Inst &inst) { return inst.flags & RegistersA ? 4 : 1; }

/// The handler of products, and the one that moves poison.
void issueWgmma(Warp &warp, const Inst &inst, uint32_t mask);
void propagateWgmmaPoison(Warp &warp, const Inst &inst, uint32_t mask);

/// A product of one warp with what it takes from its operands at the issue. Registers of A, the
/// accumulators and shared memory are read when it takes place.
struct WgmmaProduct {
  const Inst *inst;
  MatrixDescriptor a, b;
  bool adds; ///< scale-d: to the accumulators, or D = A * B
  uint64_t number;
};
/// Computes a warp's part of a product.
void runProduct(Warp &warp, const WgmmaProduct &product);

/// Products that one wgmma.commit_group put together.
struct WgmmaGroup {
  std::vector<uint32_t> pcs;
  uint64_t end = 0; ///< how many products the warp had issued by then
};

/// What one warp's wgmma have under way. All four warps of a warpgroup issue the same products, so
/// a number names the same one in each.
struct WgmmaState {
  std::vector<uint32_t> open;    ///< pcs of products not yet committed
  std::deque<WgmmaGroup> groups; ///< committed, oldest first
  uint64_t issued = 0;           ///< products so far
  uint64_t committed = 0;        ///< of these, those in a group
  std::deque<WgmmaProduct> late; ///< that have not taken place (Late.h)
  bool isFenced = false;         ///< a wgmma.fence has been executed
  std::vector<uint32_t> touched; ///< by row: pc of an access since the last fence, or noPc
};
WgmmaState &wgmmaStateOf(Warp &warp);

/// Reports registers of a product that need a fence, or that another one still uses.
void checkProductRegisters(Warp &warp, const Inst &inst);

/// Wraps the handlers of instructions that touch registers of wgmma, so that they can be reported
/// while a product owns them. Programs without wgmma stay as they are.
void watchWgmmaRegisters(Program &program);

/// Whether an instruction is a wgmma.mma_async.
inline bool isWgmma(const Inst &inst) { return inst.execute == issueWgmma; }
/// The registers of a product: accumulators, and A if it is in registers.
llvm::ArrayRef<Slot> wgmmaAccumulators(const Inst &inst);
llvm::ArrayRef<Slot> wgmmaRegistersOfA(const Inst &inst);

} // namespace vgpu

#endif // VGPU_LIB_EXEC_WGMMA_H
