//===- Formula.cpp - integer formulas of a call, in postfix form ------------------------------===//

#include "tilewright/Rt/Formula.h"
#include "tilewright/Support/IndexMath.h"

#include <algorithm>

namespace tilewright::rt {

static bool isLeaf(Formula::Op op) { return op <= Formula::Op::Symbol; }

std::optional<Formula> Formula::make(std::vector<Step> steps) {
  unsigned depth = 0;
  for (const Step &step : steps) {
    bool isIndex = step.op == Op::Dim || step.op == Op::Symbol;
    if (step.op > Op::Max || (isIndex && (step.value < 0 || step.value > INT32_MAX)))
      return std::nullopt;
    if (!isLeaf(step.op) && depth < 2)
      return std::nullopt;
    depth += isLeaf(step.op) ? 1 : -1;
    if (depth > kMaxDepth)
      return std::nullopt;
  }
  if (depth != 1)
    return std::nullopt;
  Formula formula;
  formula.steps = std::move(steps);
  return formula;
}

std::optional<int64_t> Formula::getConstant() const {
  if (steps.size() == 1 && steps.front().op == Op::Constant)
    return steps.front().value;
  return std::nullopt;
}

unsigned Formula::count(Op leaf) const {
  unsigned number = 0;
  for (const Step &step : steps)
    if (step.op == leaf)
      number = std::max(number, unsigned(step.value) + 1);
  return number;
}

bool Formula::dependsOnDim(unsigned position) const {
  return std::ranges::any_of(steps, [&](const Step &step) {
    return step.op == Op::Dim && step.value == int64_t(position);
  });
}

static std::optional<int64_t> apply(Formula::Op op, int64_t lhs, int64_t rhs) {
  using Op = Formula::Op;
  switch (op) {
  case Op::Add:
    return checkedAdd(lhs, rhs);
  case Op::Sub:
    return checkedSub(lhs, rhs);
  case Op::Mul:
    return checkedMul(lhs, rhs);
  case Op::FloorDiv:
    return checkedFloorDiv(lhs, rhs);
  case Op::Mod:
    return floorMod(lhs, rhs);
  case Op::Xor:
    return lhs ^ rhs;
  case Op::Min:
    return std::min(lhs, rhs);
  case Op::Max:
    return std::max(lhs, rhs);
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> Formula::evaluate(std::span<const int64_t> dims,
                                         std::span<const int64_t> symbols) const {
  if (std::optional<int64_t> constant = getConstant())
    return constant;
  int64_t stack[kMaxDepth];
  unsigned depth = 0;
  for (const Step &step : steps) {
    if (step.op == Op::Constant) {
      stack[depth++] = step.value;
    } else if (isLeaf(step.op)) {
      std::span<const int64_t> values = step.op == Op::Dim ? dims : symbols;
      if (size_t(step.value) >= values.size())
        return std::nullopt;
      stack[depth++] = values[step.value];
    } else {
      std::optional<int64_t> value = apply(step.op, stack[depth - 2], stack[depth - 1]);
      if (!value)
        return std::nullopt;
      stack[--depth - 1] = *value;
    }
  }
  return stack[0];
}

} // namespace tilewright::rt
