//===- Formula.h - integer formulas of a call, in postfix form ----------------------*- C++ -*-===//
//
// What Layout's IndexExpr is to the compiler, this is to a launch: `2 * n + 1` as the steps
// `2 n * 1 +`, which need no tree and are written into exported libraries as they are. Values are
// mathematical integers: a formula one of whose steps does not fit 64 bits has no value.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RT_FORMULA_H
#define TILEWRIGHT_RT_FORMULA_H

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tilewright::rt {

class Formula {
public:
  /// The numbers are written into libraries: new ones are added at the end.
  enum class Op : uint8_t { Constant, Dim, Symbol, Add, Sub, Mul, FloorDiv, Mod, Xor, Min, Max };
  struct Step {
    Op op;
    int64_t value = 0; ///< Of a constant; which dim or symbol.
  };
  /// No formula needs more values at once (IndexExpr::kMaxDepth).
  static constexpr unsigned kMaxDepth = 512;

  /// The constant 0.
  Formula() : Formula(0) {}
  explicit Formula(int64_t constant) : steps{{Op::Constant, constant}} {}
  /// Nothing if the steps do not form one value, or take too many at once.
  static std::optional<Formula> make(std::vector<Step> steps);

  std::span<const Step> getSteps() const { return steps; }
  /// The value of a constant, nothing for any other formula.
  std::optional<int64_t> getConstant() const;
  /// One past the largest dim (symbol) that occurs.
  unsigned getNumDims() const { return count(Op::Dim); }
  unsigned getNumSymbols() const { return count(Op::Symbol); }
  bool dependsOnDim(unsigned position) const;

  /// Nothing if a step does not fit 64 bits, or needs a dim or symbol that is not given.
  std::optional<int64_t> evaluate(std::span<const int64_t> dims,
                                  std::span<const int64_t> symbols = {}) const;

private:
  unsigned count(Op leaf) const;

  std::vector<Step> steps;
};

} // namespace tilewright::rt

#endif // TILEWRIGHT_RT_FORMULA_H
