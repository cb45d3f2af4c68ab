//===- Regions.h - the open regions of a trace -------------------------------------*- C++ -*-===//
//
// Knows which kernels, loops and branches are open, innermost last, and where building goes on after
// each of them.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_REGIONS_H
#define TILEWRIGHT_FRONTEND_REGIONS_H

#include "tilewright/Frontend/Emitter.h"

namespace tilewright::frontend {

/// A region under construction.
struct OpenRegion {
  llvm::StringRef kind;
  mlir::Operation *op = nullptr;      // the outermost op that it belongs to
  mlir::OpBuilder::InsertPoint after; // where building goes on once it is closed
  std::optional<Operand> thenValue;   // of a conditional expression whose other side is open
};

class Regions {
public:
  explicit Regions(Emitter &emitter) : emitter(emitter), builder(emitter.getBuilder()) {}

  /// Opens the region whose block is `body`: building goes on at the block's end.
  void open(llvm::StringRef kind, mlir::Operation *op, mlir::Block *body);
  /// Leaves the innermost region: building goes on after it.
  OpenRegion close();
  /// Leaves the innermost region and verifies its op.
  void end();

  unsigned getDepth() const { return regions.size(); }
  OpenRegion &getInnermost() { return regions.back(); }
  /// The op of the region that was opened at a depth.
  mlir::Operation *getOp(unsigned depth) const { return regions[depth].op; }
  /// "function", "kernel", "parallel", "pipelined", "for", "while", "if", "else", "select".
  llvm::StringRef getKind() const;
  /// The open kernel; null outside kernels.
  mlir::Operation *findKernel() const;
  void requireKernel(llvm::StringRef what) const;

private:
  Emitter &emitter;
  mlir::OpBuilder &builder;
  std::vector<OpenRegion> regions;
};

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_REGIONS_H
