//===- OutsideElements.cpp - a point of a program that leaves a tile --------------------------===//
//
// A search over the loops, blocks and threads around an access, in the order in which they run:
//
//   for i, j in T.Parallel(8, 16):      (0, 14) is the first iteration that leaves the tile
//     B[i, j] = s[i, j + 2]
//   for i, j in T.Parallel(8, 16):
//     if I[j] > 0:                      what data decides is not certain: nothing is reported
//       B[i, j] = s[i, j + 2]
//
// Only variables that decide something take all their values; where there are too many points, each
// takes its first and its last one.
//
//===----------------------------------------------------------------------------------------===//

#include "TileSpans.h"
#include "tilewright/Analysis/IndexValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {
namespace {

constexpr int64_t kLargestSearch = 1 << 14; // points

enum class VariableKind { Block, Thread, Loop };

/// A variable with its bounds, in terms of the variables before it.
struct Variable {
  VariableKind kind;
  Value value;
  OpFoldResult lower, upper;
  int64_t step = 1;
  IndexExpr lowerExpr = {}, upperExpr = {};
  bool isDecisive = false;
};

class OutsideSearch {
public:
  explicit OutsideSearch(const TileAccess &access)
      : access(access), kernel(access.op->getParentOfType<KernelOp>()),
        translator(access.op, &symbols, OuterValues::Expand) {}

  std::optional<OutsideElement> run() {
    if (!kernel || !collect() || !translateAll())
      return std::nullopt;
    point.assign(variables.size(), 0);
    if (!visit(0) && budget <= 0) {
      cornersOnly = true;
      budget = kLargestSearch;
      visit(0);
    }
    return std::move(found);
  }

private:
  OpFoldResult index(int64_t value) {
    return IntegerAttr::get(IndexType::get(access.op->getContext()), value);
  }

  /// The variables and conditions around the access; false where it may not run at all.
  bool collect() {
    for (auto [id, extent] : llvm::zip(kernel.getBlockIds(), kernel.getGrid())) {
      // The first block of a grid of run-time extents runs if any does.
      int64_t upper = getConstantIntValue(extent).value_or(1);
      variables.push_back({VariableKind::Block, id, index(0), index(upper)});
    }
    for (auto [dim, extent] : llvm::enumerate(kernel.getThreads()))
      collectThreads(dim, extent);
    SmallVector<Operation *> parents;
    for (Operation *op = access.op; op != kernel; op = op->getParentOp())
      parents.push_back(op);
    for (size_t depth = parents.size(); depth-- > 1;)
      if (!enter(parents[depth], parents[depth - 1]))
        return false;
    return !mayStop();
  }

  /// All reads of one thread index are one variable: the later ones run from it to itself.
  void collectThreads(unsigned dim, int64_t extent) {
    Value first;
    kernel.walk([&](ThreadIdOp thread) {
      if (thread.getDim() != dim)
        return;
      variables.push_back({VariableKind::Thread, thread, first ? OpFoldResult(first) : index(0),
                           first ? OpFoldResult() : index(extent)});
      if (!first)
        first = thread;
    });
  }

  bool enter(Operation *op, Operation *child) {
    return TypeSwitch<Operation *, bool>(op)
        .Case([&](ParallelOp loop) {
          for (auto [iterator, extent] :
               llvm::zip_equal(loop.getIterators(), loop.getMixedExtents()))
            variables.push_back({VariableKind::Loop, iterator, index(0), extent});
          return true;
        })
        .Case([&](PipelinedOp loop) {
          variables.push_back(
              {VariableKind::Loop, loop.getInductionVar(), loop.getLower(), loop.getUpper()});
          return true;
        })
        .Case([&](scf::ForOp loop) {
          std::optional<int64_t> step = getConstantIntValue(loop.getStep());
          if (!step || *step < 1 || loop.getUnsignedCmp())
            return false;
          variables.push_back({VariableKind::Loop, loop.getInductionVar(),
                               getAsOpFoldResult(loop.getLowerBound()),
                               getAsOpFoldResult(loop.getUpperBound()), *step});
          return true;
        })
        .Case([&](scf::IfOp branch) {
          bool inThen = child->getParentRegion() == &branch.getThenRegion();
          conditions.push_back({branch.getCondition(), inThen});
          return true;
        })
        .Default(false);
  }

  /// Whether an assertion, or an assumption that does not hold, may come first.
  bool mayStop() {
    return kernel
        .walk([](Operation *op) {
          return isa<AssertOp, AssumeOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Writes all that decides over the variables; false where data or a call decides too.
  bool translateAll() {
    for (Variable &variable : variables)
      translator.addDim(variable.value);
    for (Variable &variable : variables) {
      std::optional<IndexExpr> lower = translate(variable.lower, translator);
      std::optional<IndexExpr> upper =
          variable.upper ? translate(variable.upper, translator) : *lower + 1;
      if (!keep(lower) || !keep(upper))
        return false;
      variable.lowerExpr = *lower;
      variable.upperExpr = *upper;
    }
    for (const TouchedDim &dim : access.dims) {
      std::optional<Span> span = getSpan(dim, translator);
      if (!span || !keep(span->first) || !keep(span->last))
        return false;
      spans.push_back(*span);
    }
    return llvm::all_of(conditions, [&](auto &pair) { return canEvaluate(pair.first); });
  }

  /// Notes which variables an expression has; false where it has more than those.
  bool keep(const std::optional<IndexExpr> &expr) {
    if (!expr || expr->getNumSymbols() > 0 || !expr->isWithinLimits())
      return false;
    for (auto [dim, variable] : llvm::enumerate(variables))
      variable.isDecisive |= expr->dependsOnDim(dim);
    return true;
  }

  bool canEvaluate(Value condition) {
    if (getConstantIntValue(condition))
      return true;
    Operation *op = condition.getDefiningOp();
    if (isa_and_present<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
      return canEvaluate(op->getOperand(0)) && canEvaluate(op->getOperand(1));
    auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
    return compare && isa<IndexType>(compare.getLhs().getType()) &&
           keep(translator.translate(compare.getLhs())) &&
           keep(translator.translate(compare.getRhs()));
  }

  std::optional<int64_t> at(const IndexExpr &expr) { return expr.evaluate(point); }

  std::optional<bool> evaluate(Value condition) {
    if (std::optional<int64_t> constant = getConstantIntValue(condition))
      return *constant != 0;
    Operation *op = condition.getDefiningOp();
    if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      std::optional<int64_t> lhs = at(*translator.translate(compare.getLhs())),
                             rhs = at(*translator.translate(compare.getRhs()));
      if (!lhs || !rhs)
        return std::nullopt;
      return arith::applyCmpPredicate(compare.getPredicate(), APInt(64, *lhs, true),
                                      APInt(64, *rhs, true));
    }
    std::optional<bool> lhs = evaluate(op->getOperand(0)), rhs = evaluate(op->getOperand(1));
    if (!lhs || !rhs)
      return std::nullopt;
    return isa<arith::AndIOp>(op)  ? *lhs && *rhs
           : isa<arith::OrIOp>(op) ? *lhs || *rhs
                                   : *lhs != *rhs;
  }

  /// Tries the values of the variables from `number` on; whether a point was found.
  bool visit(unsigned number) {
    if (number == variables.size())
      return budget-- > 0 && test();
    const Variable &variable = variables[number];
    std::optional<int64_t> lower = at(variable.lowerExpr), upper = at(variable.upperExpr);
    if (!lower || !upper || *lower >= *upper)
      return false;
    int64_t distance = 0;
    if (llvm::SubOverflow(*upper - 1, *lower, distance))
      return false;
    int64_t steps = variable.isDecisive ? distance / variable.step : 0;
    int64_t stride = cornersOnly ? std::max<int64_t>(steps, 1) : 1;
    for (int64_t i = 0; i <= steps && budget > 0; i += stride) {
      point[number] = *lower + i * variable.step;
      if (visit(number + 1))
        return true;
    }
    point[number] = 0;
    return false;
  }

  /// Whether the access runs at the point and leaves the tile.
  bool test() {
    for (auto [condition, holds] : conditions)
      if (evaluate(condition) != holds)
        return false;
    SmallVector<int64_t, 4> element;
    bool isOutside = false;
    for (auto [dim, span] : llvm::enumerate(spans)) {
      std::optional<int64_t> first = at(span.first), last = at(span.last);
      if (!first || !last || *first > *last)
        return false; // nothing is touched
      bool isFirstInside = *first >= 0 && *first < access.getExtent(dim);
      element.push_back(isFirstInside ? *last : *first);
      if (isFirstInside && *last < access.getExtent(dim))
        element.back() = *first;
      else
        isOutside = true;
    }
    if (isOutside)
      found = OutsideElement{element, describe()};
    return isOutside;
  }

  std::string describe() {
    std::string text;
    auto add = [&](VariableKind kind, StringRef what) {
      SmallVector<std::string> numbers;
      bool isDecisive = false;
      for (auto [variable, value] : llvm::zip_equal(variables, point))
        if (variable.kind == kind && variable.upper) {
          numbers.push_back(std::to_string(value));
          isDecisive |= variable.isDecisive;
        }
      if (isDecisive)
        text += (text.empty() ? "" : ", ") + what.str() + " (" + llvm::join(numbers, ", ") + ")";
    };
    add(VariableKind::Block, "block");
    add(VariableKind::Thread, "thread");
    add(VariableKind::Loop, "iteration");
    return text;
  }

  const TileAccess &access;
  KernelOp kernel;
  SymbolNumbers symbols;
  IndexTranslator translator;
  SmallVector<Variable> variables;
  SmallVector<std::pair<Value, bool>> conditions;
  SmallVector<Span> spans;
  SmallVector<int64_t> point;
  int64_t budget = kLargestSearch;
  bool cornersOnly = false;
  std::optional<OutsideElement> found;
};

} // namespace

std::optional<OutsideElement> findOutside(const TileAccess &access) {
  return OutsideSearch(access).run();
}

} // namespace tilewright::analysis
