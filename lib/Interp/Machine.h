//===- Machine.h - a resolved program and the state that runs it ------------------*- C++ -*-===//
//
// Every SSA value has a slot, numbered once: scalars in `Machine::values`, buffers in
// `Machine::views`. Every op is resolved once to a `Step`: a handler and the slots it reads and
// writes. Running is then a walk over steps; nothing looks at IR again except to report.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_INTERP_MACHINE_H
#define TILEWRIGHT_LIB_INTERP_MACHINE_H

#include "Storage.h"
#include "tilewright/Interp/Interp.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>

namespace tilewright::interp {

struct Body;
struct Step;
class Barriers;
class Machine;
class RoleWatch;

/// Scalars and buffers are numbered apart; a step knows which of the two an operand is.
using Slot = uint32_t;
using Handler = void (*)(Machine &, const Step &);
using RealFunction = double (*)(double);

/// How an op touches an element; the order is that of tile::EffectKind.
enum class Access : uint8_t { Read, Write, Update, Exchange };

/// A part of a storage as the program sees it: element `x` of the view is element
/// `base + steps * x` (spread over `dims`) of the surface, a shape laid row-major over the whole
/// storage.
struct View {
  Storage *storage = nullptr;
  Format format = Format::F32;
  llvm::SmallVector<int64_t, 4> extents;
  llvm::SmallVector<int64_t, 4> surface; ///< The shape of the root, or of a view of all of it.
  llvm::SmallVector<int64_t, 4> base;    ///< One coordinate for each dimension of the surface.
  llvm::SmallVector<unsigned, 4> dims;   ///< The surface's dimension for each of the view's.
  llvm::SmallVector<int64_t, 4> steps;
  bool isUndecided = false; ///< Bounds: rounding may have chosen another element.

  /// All of a storage under a shape and element type.
  static View whole(Storage &storage, Format format, llvm::ArrayRef<int64_t> shape);

  int64_t countElements() const { return interp::countElements(extents); }
  /// The row-major number on the surface of the element at `coordinates`; nothing if the surface
  /// does not have it.
  std::optional<int64_t> locate(llvm::ArrayRef<int64_t> coordinates) const;
};

/// `constant + factor * value + …` with the values' slots.
struct SlotSum {
  int64_t constant = 0;
  llvm::SmallVector<std::pair<Slot, int64_t>, 2> terms;
};

/// A declared effect with its values resolved to slots.
struct DeclaredEffect {
  struct Range {
    SlotSum offset, size;
    int64_t step;
  };
  Access access;
  Slot root;
  std::optional<llvm::SmallVector<Range, 4>> ranges; ///< The whole root if absent.
};

struct Step {
  Handler run = nullptr;
  /// Computes the result's radius after `run`; null without Options::bounds.
  Handler bound = nullptr;
  mlir::Operation *op = nullptr;
  llvm::SmallVector<Slot, 4> in;
  llvm::SmallVector<Slot, 1> out;
  llvm::SmallVector<Body *, 2> bodies;
  /// Meaning depends on the handler: the format computed in, and that of operands.
  Format format = Format::Index;
  Format from = Format::Index;
  IntegerSpec spec{64, false};
  /// Rounds a double to `format`; the function of a unary op.
  RealFunction round = nullptr;
  RealFunction function = nullptr;
  unsigned detail = 0; ///< A predicate, rounding mode or the like.
  /// Of a `T.Parallel`: arrays of threads whose elements only this loop uses. Each iteration has one
  /// for itself (docs/semantics.md).
  llvm::SmallVector<Slot, 0> ownArrays;
  std::vector<DeclaredEffect> effects;
};

/// The steps of a block of IR; its terminator's operands are `yields`.
struct Body {
  std::vector<Step> steps;
  llvm::SmallVector<Slot, 4> arguments;
  llvm::SmallVector<Slot, 4> yields;
};

/// A function, resolved.
struct Program {
  std::deque<Body> bodies; ///< The first is the function's own.
  std::vector<Scalar> initialValues;
  std::vector<Slot> argumentSlots;
  size_t numViews = 0;
  llvm::DenseMap<mlir::Value, Slot> slots;
  /// For each buffer root: the smallest element size under which it is seen.
  llvm::DenseMap<mlir::Value, unsigned> granules;
};

/// Resolves a function, or says which op has no meaning here.
llvm::Expected<Program> resolve(mlir::func::FuncOp function, const Options &options);

Format getFormat(mlir::Type type);

//===----------------------------------------------------------------------------------------===//
// The running program
//===----------------------------------------------------------------------------------------===//

/// Collects findings: one entry for each kind, statement and buffer, with a count.
class Findings {
public:
  explicit Findings(uint64_t limit) : limit(limit) {}

  /// The new entry, or null if this one is already known (then it was counted) or one too many.
  Finding *add(Severity severity, FindingKind kind, mlir::Operation *op, const Storage *storage);
  std::vector<Finding> take();

private:
  uint64_t limit;
  std::deque<Finding> entries;
  llvm::DenseMap<std::tuple<mlir::Operation *, const Storage *, unsigned>, Finding *> known;
};

/// The `T.Parallel` being run. Iterations are numbered through all loops of a run, so that marks
/// need no clearing between loops.
struct ParallelRun {
  llvm::SmallVector<int64_t, 4> extents;
  uint32_t base = 0; ///< The number of the first iteration; 0 if there are too many to watch.
  uint32_t iteration = 0;
  llvm::SmallVector<Storage *, 2> assignedVariables; ///< Variables that became private.
};

/// The kernel being run; blocks are numbered like iterations.
struct KernelRun {
  llvm::SmallVector<int64_t, 3> extents;
  llvm::SmallVector<int64_t, 3> block;
  uint32_t base = 0;
  uint32_t number = 0;
  bool checksRaces = true;
};

/// A declared effect of the statement being run, its rectangle computed.
struct AllowedAccess {
  Access access;
  const Storage *storage;
  struct Range {
    int64_t offset, size, step;
  };
  std::optional<llvm::SmallVector<Range, 4>> ranges;
};

/// What is said of a loop whose iterations change nothing.
inline constexpr llvm::StringLiteral kEndlessLoop =
    "this loop never ends: an iteration changes nothing (the interpreter runs blocks one after "
    "another, so that a block can wait for earlier ones only)";

class Machine {
public:
  Machine(const Program &program, const Options &options)
      : values(program.initialValues), views(program.numViews), options(options),
        findings(options.maxFindings), program(program) {}

  std::vector<Scalar> values;
  std::vector<View> views;
  const Options &options;
  Findings findings;
  std::deque<Storage> storages;
  llvm::DenseMap<mlir::Operation *, Storage *> allocations;
  const Program &program;
  uint64_t steps = 0;
  uint64_t nextPoll = 0;
  bool stopped = false;
  uint64_t changes =
      0; ///< How often memory or a barrier has changed: a loop that waits changes none.

  std::optional<KernelRun> kernel;
  std::optional<ParallelRun> parallel;
  uint32_t nextIteration = 1;
  uint32_t nextBlock = 1;
  llvm::SmallVector<AllowedAccess, 4> allowed;

  /// In a kernel that names its threads: who runs the current step, and the shape of the block.
  unsigned thread = 0;
  llvm::ArrayRef<int64_t> threadShape;
  Barriers *barriers = nullptr;
  RoleWatch *roles = nullptr; ///< Null unless races between roles are watched.

  /// Bounds: inside a branch that rounding may have chosen, and inside one it may have skipped.
  unsigned undecidedDepth = 0;
  unsigned shadowDepth = 0;

  void run(const Body &body) { run(body.steps); }

  /// Runs some of the steps of a body.
  void run(llvm::ArrayRef<Step> some) {
    steps += some.size();
    if (steps >= nextPoll)
      poll();
    for (const Step &step : some) {
      step.run(*this, step);
      if (step.bound)
        step.bound(*this, step);
      if (stopped)
        return;
    }
  }

  /// Asks the caller whether to continue.
  void poll() {
    constexpr uint64_t interval = uint64_t(1) << 16;
    nextPoll = steps + interval;
    stopped |= options.poll && !options.poll();
  }

  // Scalars.
  const Scalar &get(const Step &step, unsigned operand) const { return values[step.in[operand]]; }
  Scalar &result(const Step &step) { return values[step.out[0]]; }
  View &viewOf(const Step &step, unsigned operand) { return views[step.in[operand]]; }

  /// An operand as an address, extent or condition: poison in it is reported, and it counts as
  /// undecided if its radius is not zero.
  int64_t getDeciding(const Step &step, unsigned operand, llvm::StringRef what);
  bool isUndecided(const Step &step, unsigned operand) const {
    return options.bounds && get(step, operand).radius > 0;
  }

  /// Numbers the iterations of a loop, or the threads of a statement, for marks: the first number,
  /// or 0 if there are too many to watch. The numbers of a run are used up now and then; all marks
  /// start anew then.
  uint32_t claimIterations(int64_t count);

  /// A new storage for `root`, without memory; `name`, `space`, `format` and granules are set.
  Storage &addStorage(mlir::Value root);

  // Elements (Elements.cpp). `element` numbers the view's surface.
  /// Where an access goes; nothing if it is out of bounds, which is reported.
  std::optional<int64_t> locate(const Step &step, const View &view,
                                llvm::ArrayRef<int64_t> coordinates, Access access);
  Cell read(const Step &step, const View &view, int64_t element);
  void write(const Step &step, const View &view, int64_t element, Cell cell,
             Access access = Access::Write);

  /// Whole tiles, in row-major order. Reads outside give the safe value, writes are dropped.
  std::vector<Cell> readTile(const Step &step, const View &view);
  void writeTile(const Step &step, const View &view, llvm::ArrayRef<Cell> cells);
  /// Calls `visit(position, element)` for each element of a view that exists; the others are
  /// reported.
  template <typename VisitT>
  void forEachElement(const Step &step, const View &view, Access access, VisitT &&visit);

  // Reports (Report.cpp).
  void note(FindingKind kind, const Step &step, const llvm::Twine &message);
  void find(FindingKind kind, const Step &step, const llvm::Twine &message);
  /// Ends the run.
  void fail(FindingKind kind, const Step &step, const llvm::Twine &message);
  void reportElement(Severity severity, FindingKind kind, const Step &step, const View &view,
                     llvm::ArrayRef<int64_t> coordinates,
                     llvm::function_ref<std::string()> message);

  // Checks (Checks.cpp).
  /// Computes the rectangles that the statement may touch.
  void beginStatement(const Step &step) {
    if (options.check)
      allowEffects(step);
  }
  void checkAccess(const Step &step, const View &view, int64_t element, Access access,
                   bool changesBits);

private:
  void allowEffects(const Step &step);
  void checkDeclared(const Step &step, const View &view, int64_t element, Access access);
  void report(Severity severity, FindingKind kind, const Step &step, const llvm::Twine &message);
};

template <typename VisitT>
void Machine::forEachElement(const Step &step, const View &view, Access access, VisitT &&visit) {
  int64_t count = view.countElements();
  if (count <= 0)
    return;
  llvm::SmallVector<int64_t, 4> coordinates(view.extents.size(), 0);
  for (int64_t position = 0; position < count; ++position) {
    if (std::optional<int64_t> element = locate(step, view, coordinates, access))
      visit(position, *element);
    if (stopped)
      return;
    for (size_t dim = coordinates.size(); dim-- > 0;) {
      if (++coordinates[dim] < view.extents[dim])
        break;
      coordinates[dim] = 0;
    }
  }
}

//===----------------------------------------------------------------------------------------===//
// Families: each fills in the handler of the ops it knows and answers whether it knew the op
//===----------------------------------------------------------------------------------------===//

bool resolveArith(mlir::Operation *op, Step &step);
bool resolveMathFunction(mlir::Operation *op, Step &step);
bool resolveCast(mlir::Operation *op, Step &step);
bool resolveBuffer(mlir::Operation *op, Step &step);
bool resolveAtomic(mlir::Operation *op, Step &step);
bool resolveStatement(mlir::Operation *op, Step &step);
bool resolveGemm(mlir::Operation *op, Step &step);
bool resolveNote(mlir::Operation *op, Step &step);
bool resolveControl(mlir::Operation *op, Step &step);
bool resolveThreads(mlir::Operation *op, Step &step);
bool resolveSchedule(mlir::Operation *op, Step &step);

/// Calls `visit` with each step of a body and of those nested in it.
template <typename VisitT> void forEachStep(const Body &body, VisitT &&visit) {
  for (const Step &step : body.steps) {
    visit(step);
    for (const Body *nested : step.bodies)
      forEachStep(*nested, visit);
  }
}

/// Gives the scalars of `from` to the slots of `to`, all at once.
void assign(Machine &machine, llvm::ArrayRef<Slot> to, llvm::ArrayRef<Slot> from);

/// Picks the rule by which a scalar op's radius is computed (Bounds.cpp).
void resolveBound(mlir::Operation *op, Step &step, bool fastMath);

/// `kernel.py:12`, the user's line of an op.
std::string describeLocation(mlir::Operation *op);

/// `(0, 3)` and `[0, 3]`.
std::string inParentheses(llvm::ArrayRef<int64_t> numbers);
std::string inBrackets(llvm::ArrayRef<int64_t> numbers);

/// Converts a value between formats as T.copy and T.cast do.
Scalar convert(const Scalar &value, Format from, Format to,
               Rounding rounding = Rounding::NearestEven, bool saturate = false);

/// The coordinates of an element access, from operand `first` on. Poison in them is reported;
/// `isUndecided` tells whether rounding may have chosen them.
llvm::SmallVector<int64_t, 4> getCoordinates(Machine &machine, const Step &step, unsigned first,
                                             const View &view, bool &isUndecided);

/// The extents without those that are 1: element-wise statements match the rest.
llvm::SmallVector<int64_t, 4> withoutUnits(llvm::ArrayRef<int64_t> extents);
/// Whether an element-wise statement's operands fit; ends the run if not.
bool haveSameExtents(Machine &machine, const Step &step, const View &lhs, const View &rhs);

} // namespace tilewright::interp

#endif // TILEWRIGHT_LIB_INTERP_MACHINE_H
