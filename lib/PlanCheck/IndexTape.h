//===- IndexTape.h - index computations as straight-line code -----------------------*- C++ -*-===//
//
// A tape is a list of instructions, each writing one register and reading earlier ones. Those that
// no iterator reaches run once a round; the others once an iteration. Values that the program does
// not compute are *drawn*: a loop variable from its range, an extent or a loaded value from a few
// interesting numbers. A draw depends on the round, on the instruction and on its operands alone,
// so that two iterations that ask the same get the same.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_PLANCHECK_INDEXTAPE_H
#define TILEWRIGHT_LIB_PLANCHECK_INDEXTAPE_H

#include "tilewright/Layout/IndexExpr.h"

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace tilewright::plancheck {

class IndexTape {
public:
  using Register = unsigned;
  // clang-format off
  enum class Op : uint8_t {
    Constant,
    Iterator, ///< The loop variable of a dimension.
    InRange,  ///< Drawn from lower, lower + step, … below upper; no value if there is none.
    Extent,   ///< Drawn: an extent that only the launch knows, at least 1.
    Opaque,   ///< Drawn: some function of the operands.
    Add, Sub, Mul, FloorDiv, FloorMod, TruncDiv, TruncMod, Xor, And, Or, Shl, Shr, Min, Max,
    Equal, NotEqual, Less, LessEqual, UnsignedLess, UnsignedLessEqual,
    Select,
    Convert,    ///< To the bits of the instruction.
    ZeroExtend, ///< From the number of bits given as the second operand.
  };
  // clang-format on

  /// Bits of a result that is a mathematical integer: it has no value where it leaves 64 bits. Any
  /// other number of bits wraps; 1 bit is 0 or 1, more are signed.
  static constexpr unsigned kIndex = 0;

  Register constant(int64_t value);
  Register iterator(unsigned dim);
  Register emit(Op op, llvm::ArrayRef<Register> operands, unsigned bits = kIndex);
  /// A layout's expression of these dims, instruction by instruction.
  Register emit(const IndexExpr &expr, llvm::ArrayRef<Register> dims,
                llvm::ArrayRef<Register> symbols = {});

  bool dependsOnIterators(Register r) const { return code[r].varies; }
  /// Whether anything is drawn; without draws one round tells all.
  bool hasDraws() const { return draws; }

  /// Runs what no iterator reaches.
  void startRound(uint64_t round);
  /// Runs the rest for one iteration.
  void runIteration(llvm::ArrayRef<int64_t> iterators);
  /// The value of a register; nothing where it has none (overflow, an empty range).
  std::optional<int64_t> get(Register r) const {
    return valid[r] ? std::optional(values[r]) : std::nullopt;
  }

private:
  struct Instruction {
    Op op;
    uint8_t bits;
    bool varies;
    int64_t immediate; ///< Of a constant; the dimension of an iterator.
    llvm::SmallVector<Register, 3> operands;
  };
  Register append(Instruction instruction);
  void run(Register r, llvm::ArrayRef<int64_t> iterators);
  std::optional<int64_t> compute(Register r, llvm::ArrayRef<int64_t> iterators) const;
  uint64_t hash(Register r) const;

  std::vector<Instruction> code;
  std::vector<Register> fixedPart, varyingPart;
  std::vector<int64_t> values;
  std::vector<char> valid;
  uint64_t round = 0;
  bool draws = false;
};

} // namespace tilewright::plancheck

#endif // TILEWRIGHT_LIB_PLANCHECK_INDEXTAPE_H
