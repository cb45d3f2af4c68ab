//===- Decode.h - from PTX instructions to a program -------------------------------------===//
//
// `decodeKernel` turns an entry function into a Program: calls are inlined (recursion is refused),
// registers get rows, variables get addresses, branches get their reconvergence points. What an
// opcode means is decided by its family: a function that reads the modifiers and operands through
// an `InstBuilder` and picks the handler. `FamilyTable` maps the first word of an opcode to its
// family. A modifier that no family consumed is an error, so nothing is ever half understood.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_EXEC_DECODE_H
#define VGPU_EXEC_DECODE_H

#include "vgpu/Machine/Program.h"
#include "vgpu/Memory/Ordering.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace vgpu {

class KernelDecoder;

/// Whether an operand carries data or steers what happens to data (shift amounts, addresses, lane
/// numbers). Only data is redirected to the shadow by PoisonRule::SameMove.
enum class Role : uint8_t { Data, Control };

/// One PTX instruction while its family decodes it.
class InstBuilder {
public:
  InstBuilder(KernelDecoder &kernel, const ptx::Instruction &source);

  const ptx::Instruction &source;
  Inst inst;

  // --- modifiers, read from left to right after the first word
  llvm::StringRef peek() const;
  bool atEnd() const { return modifier >= source.parts.size(); }
  bool accept(llvm::StringRef word);
  /// Consumes one of `words` if it is next; returns its index or -1.
  int acceptOneOf(llvm::ArrayRef<llvm::StringRef> words);
  std::optional<ptx::Type> acceptType();
  ptx::Type expectType();
  /// .relaxed/.acquire/..., .weak, .volatile and the scope; false only after an error.
  bool acceptOrdering();
  /// .global, .shared, .shared::cta, ...; Generic if there is none.
  ptx::Space acceptSpace();

  // --- operands
  size_t numOperands() const { return source.operands.size(); }
  /// One that the text does not have is the sink; expectOperands refuses it.
  const ptx::Operand &operand(size_t i) const {
    static const ptx::Operand missing;
    return i < source.operands.size() ? source.operands[i] : missing;
  }
  bool expectOperands(size_t least, size_t most);
  bool expectOperands(size_t count) { return expectOperands(count, count); }
  /// Appends an operand to the destinations or sources. Registers must have the type's width;
  /// `anyWidth` allows wider ones (ld, st, cvt).
  bool addDst(const ptx::Operand &operand, ptx::Type type, bool anyWidth = false);
  bool addSrc(const ptx::Operand &operand, ptx::Type type, Role role = Role::Data,
              bool anyWidth = false);
  /// A 128-bit operand, which takes two slots: its low and its high 64 bits.
  bool addWideDst(const ptx::Operand &operand);
  bool addWideSrc(const ptx::Operand &operand);
  /// The elements of {a, b, ...}, or the single operand.
  static llvm::ArrayRef<ptx::Operand> elements(const ptx::Operand &operand);
  /// [base + offset]: appends the base as a 64-bit or 32-bit source, stores the offset in
  /// `inst.immediate` and the slot in `inst.addressSlot`; may change `inst.space` (a .param of a
  /// called function lives in local memory).
  bool addAddress(const ptx::Operand &operand);
  /// A second address (cp.async); its offset is added to nothing, so it must be returned.
  bool addAddress(const ptx::Operand &operand, int64_t &offset);

  /// Whether a register operand is a predicate.
  bool isPredicate(const ptx::Operand &operand) const;

  /// A small constant operand: an integer literal in [0, limit).
  bool constantOperand(const ptx::Operand &operand, uint64_t limit, uint64_t &value);

  /// Whether the first destination and source have exactly the widths of these types.
  bool hasExactWidths(ptx::Type dst, ptx::Type src) const {
    return dsts[0].slot.bytes == ptx::byteWidth(dst) && !dsts[0].slot.isSink &&
           srcs[0].slot.bytes == ptx::byteWidth(src);
  }

  bool fail(const llvm::Twine &message);
  KernelDecoder &decoder() { return kernel; }

private:
  friend class KernelDecoder;
  bool makeSlot(const ptx::Operand &operand, ptx::Type type, bool anyWidth, Slot &slot);
  bool makeWords(const ptx::Operand &operand, std::array<Slot, 2> &words);
  KernelDecoder &kernel;
  size_t modifier = 1;
  struct RoleSlot {
    Slot slot;
    Role role;
  };
  llvm::SmallVector<RoleSlot, 8> dsts, srcs;
};

using FamilyDecoder = bool (*)(InstBuilder &);
struct FamilyEntry {
  llvm::StringLiteral opcode; ///< first word: "ld"
  FamilyDecoder decode;
};

/// The families, one list per file of lib/Exec.
llvm::ArrayRef<FamilyEntry> integerFamily();
llvm::ArrayRef<FamilyEntry> bitFamily();
llvm::ArrayRef<FamilyEntry> floatFamily();
llvm::ArrayRef<FamilyEntry> approximateFamily();
llvm::ArrayRef<FamilyEntry> compareFamily();
llvm::ArrayRef<FamilyEntry> convertFamily();
llvm::ArrayRef<FamilyEntry> moveFamily();
llvm::ArrayRef<FamilyEntry> memoryFamily();
llvm::ArrayRef<FamilyEntry> atomicFamily();
llvm::ArrayRef<FamilyEntry> warpFamily();
llvm::ArrayRef<FamilyEntry> barrierFamily();
llvm::ArrayRef<FamilyEntry> controlFamily();
llvm::ArrayRef<FamilyEntry> asyncFamily();
llvm::ArrayRef<FamilyEntry> matrixLoadFamily();
llvm::ArrayRef<FamilyEntry> mmaFamily();
llvm::ArrayRef<FamilyEntry> wmmaFamily();
llvm::ArrayRef<FamilyEntry> mbarrierFamily();
llvm::ArrayRef<FamilyEntry> wgmmaFamily();
llvm::ArrayRef<FamilyEntry> clusterFamily();

/// The family of an opcode's first word, or null.
FamilyDecoder findFamily(llvm::StringRef opcode);

/// Errors have the code not_supported where the PTX is understood but cannot be run (recursion).
llvm::Expected<std::unique_ptr<Program>> decodeKernel(const ptx::Module &module,
                                                      const ptx::Function &entry);

/// Gives the variables of a module their addresses.
void layOutModule(ptx::Module &module);

} // namespace vgpu

#endif // VGPU_EXEC_DECODE_H
