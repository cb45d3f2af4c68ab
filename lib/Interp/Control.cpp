//===- Control.cpp - kernels, loops and branches ----------------------------------------------===//

#include "Blocks.h"
#include "Machine.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

/// Several slots change at once: all are read before the first is written.
void tilewright::interp::assign(Machine &machine, ArrayRef<Slot> to, ArrayRef<Slot> from) {
  SmallVector<Scalar, 4> values;
  for (Slot slot : from)
    values.push_back(machine.values[slot]);
  for (auto [slot, value] : llvm::zip_equal(to, values))
    machine.values[slot] = value;
}

//===----------------------------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------------------------===//

static Storage *getGlobalRoot(Machine &machine, mlir::Value buffer) {
  mlir::Value root = tile::getRoot(buffer);
  if (tile::getSpace(root) != tile::Space::Global)
    return nullptr; // on chip an annotation is a placement and changes no value
  return machine.views[machine.program.slots.at(root)].storage;
}

static void applyLayout(Machine &machine, const Step &step, tile::AnnotateLayoutOp op) {
  Storage *storage = getGlobalRoot(machine, op.getBuffer());
  auto layout = dyn_cast<tile::LayoutAttr>(op.getLayout());
  if (!storage || !layout)
    return;
  llvm::Expected<LayoutMap> map = LayoutMap::get(layout.getLayout(), storage->shape);
  if (!map)
    return machine.fail(FindingKind::BadExtent, step,
                        "'" + storage->name + "': " + llvm::toString(map.takeError()));
  if (map->getPhysicalSize() > storage->physicalElements)
    return machine.fail(FindingKind::BadExtent, step,
                        "'" + storage->name + "': its layout needs " +
                            llvm::Twine(map->getPhysicalSize()) + " elements of memory, got " +
                            llvm::Twine(storage->physicalElements));
  storage->layout = std::move(*map);
}

static void applySafeValue(Machine &machine, tile::AnnotateSafeValueOp op) {
  Storage *storage = getGlobalRoot(machine, op.getBuffer());
  if (!storage)
    return;
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue())) {
    Scalar value = Scalar::ofInteger(integer.getValue().getSExtValue());
    storage->safeValue = pack(storage->format, convert(value, Format::I64, storage->format));
  } else if (auto real = dyn_cast<FloatAttr>(op.getValue())) {
    Scalar value = Scalar::ofReal(real.getValueAsDouble());
    storage->safeValue = pack(storage->format, convert(value, Format::F64, storage->format));
  }
}

/// Annotations hold for the whole kernel, wherever in it they stand.
static void applyAnnotations(Machine &machine, const Body &body) {
  forEachStep(body, [&](const Step &step) {
    if (auto op = dyn_cast<tile::AnnotateLayoutOp>(step.op))
      applyLayout(machine, step, op);
    else if (auto op = dyn_cast<tile::AnnotateSafeValueOp>(step.op))
      applySafeValue(machine, op);
  });
}

/// Blocks that order themselves by acquire and release are outside what marks can judge.
static bool ordersBlocks(const Body &body) {
  bool found = false;
  forEachStep(body, [&](const Step &step) {
    if (auto op = dyn_cast<tile::AtomicOp>(step.op))
      found |= op.getOrder() != tile::MemoryOrder::Relaxed;
    else if (auto op = dyn_cast<tile::AtomicElementOp>(step.op))
      found |= op.getOrder() != tile::MemoryOrder::Relaxed;
  });
  return found;
}

static void runKernel(Machine &machine, const Step &step) {
  const Body &body = *step.bodies[0];
  KernelRun kernel;
  for (unsigned operand = 0; operand < step.in.size(); ++operand) {
    int64_t extent = machine.getDeciding(step, operand, "a grid extent");
    if (extent < 0 || extent > std::numeric_limits<int32_t>::max())
      return machine.fail(FindingKind::BadExtent, step,
                          "grid extent " + llvm::Twine(extent) +
                              " is not between 0 and 2147483647");
    kernel.extents.push_back(extent);
  }
  kernel.base = machine.nextBlock;
  kernel.checksRaces = machine.options.check && !ordersBlocks(body);
  if (machine.options.check && !kernel.checksRaces)
    machine.note(FindingKind::Race, step,
                 "blocks of this kernel order themselves by atomics; races between them are not "
                 "watched");
  applyAnnotations(machine, body);
  machine.kernel = kernel;
  if (!machine.stopped)
    runBlocks(machine, cast<tile::KernelOp>(step.op), body);
  machine.kernel.reset();
  for (Storage &storage : machine.storages) {
    storage.layout.reset();
    storage.safeValue = {};
  }
}

//===----------------------------------------------------------------------------------------===//
// T.Parallel
//===----------------------------------------------------------------------------------------===//

uint32_t Machine::claimIterations(int64_t count) {
  constexpr int64_t limit = std::numeric_limits<uint32_t>::max();
  if (!options.check || count >= limit)
    return 0;
  if (nextIteration + count >= limit) {
    for (Storage &storage : storages) {
      storage.iterationMarks = {};
      storage.iterationBase = 0;
    }
    nextIteration = 1;
  }
  uint32_t base = nextIteration;
  nextIteration += count;
  return base;
}

/// Starts the arrays of an iteration anew, as an allocation in the loop would.
static void startArrays(Machine &machine, const Step &step) {
  for (Slot slot : step.ownArrays) {
    Storage &array = *machine.views[slot].storage;
    array.forget();
    array.iterationBase = machine.parallel->iteration;
  }
}

/// Runs the iterations in row-major order, counting them in `number` if that is given.
static void runIterations(Machine &machine, const Step &step, ArrayRef<int64_t> extents,
                          uint32_t *number) {
  const Body &body = *step.bodies[0];
  SmallVector<int64_t, 4> position(extents.size(), 0);
  for (int64_t count = countElements(extents); count > 0 && !machine.stopped; --count) {
    startArrays(machine, step);
    for (auto [slot, coordinate] : llvm::zip_equal(body.arguments, position))
      machine.values[slot] = Scalar::ofInteger(coordinate);
    machine.run(body);
    for (size_t dim = extents.size(); dim-- > 0;) {
      if (++position[dim] < extents[dim])
        break;
      position[dim] = 0;
    }
    if (number)
      ++*number;
  }
}

static void runParallel(Machine &machine, const Step &step) {
  auto op = cast<tile::ParallelOp>(step.op);
  SmallVector<int64_t, 4> extents(op.getStaticExtents());
  unsigned operand = 0;
  bool undecided = false;
  for (int64_t &extent : extents)
    if (ShapedType::isDynamic(extent)) {
      undecided |= machine.isUndecided(step, operand);
      extent = std::max<int64_t>(0, machine.getDeciding(step, operand++, "an extent of a loop"));
    }
  if (!countIfSane(extents))
    return machine.fail(FindingKind::BadExtent, step,
                        "a loop over " + inParentheses(extents) + " does not end");
  machine.undecidedDepth += undecided;
  if (machine.parallel) { // a loop inside an iteration belongs to that iteration
    runIterations(machine, step, extents, /*number=*/nullptr);
  } else {
    ParallelRun &run = machine.parallel.emplace();
    run.extents = extents;
    run.base = machine.claimIterations(countElements(extents));
    run.iteration = run.base;
    runIterations(machine, step, extents, &run.iteration);
    // The value of a private variable after the loop is unspecified.
    for (Storage *variable : run.assignedVariables)
      if (!variable->poison.empty())
        variable->poison[0] = 1;
    machine.parallel.reset();
  }
  machine.undecidedDepth -= undecided;
}

//===----------------------------------------------------------------------------------------===//
// Sequential loops
//===----------------------------------------------------------------------------------------===//

static void runPipelined(Machine &machine, const Step &step) {
  int64_t lower = machine.getDeciding(step, 0, "a bound of a loop");
  int64_t upper = machine.getDeciding(step, 1, "a bound of a loop");
  bool undecided = machine.isUndecided(step, 0) || machine.isUndecided(step, 1);
  machine.undecidedDepth += undecided;
  for (int64_t k = lower; k < upper && !machine.stopped; ++k) {
    machine.values[step.bodies[0]->arguments[0]] = Scalar::ofInteger(k);
    machine.run(*step.bodies[0]);
  }
  machine.undecidedDepth -= undecided;
}

static void runFor(Machine &machine, const Step &step) {
  const Body &body = *step.bodies[0];
  int64_t index = machine.getDeciding(step, 0, "a bound of a loop");
  int64_t upper = machine.getDeciding(step, 1, "a bound of a loop");
  int64_t stride = machine.getDeciding(step, 2, "the step of a loop");
  if (stride <= 0)
    return machine.fail(FindingKind::BadExtent, step,
                        "a loop's step must be positive, got " + llvm::Twine(stride));
  bool undecided = false;
  for (unsigned operand = 0; operand < 3; ++operand)
    undecided |= machine.isUndecided(step, operand);
  machine.undecidedDepth += undecided;
  ArrayRef<Slot> carried = ArrayRef(body.arguments).drop_front();
  assign(machine, carried, ArrayRef(step.in).drop_front(3));
  while (index < upper) {
    machine.values[body.arguments[0]] = Scalar::ofInteger(index);
    machine.run(body);
    if (machine.stopped)
      break;
    assign(machine, carried, body.yields);
    if (__builtin_add_overflow(index, stride, &index))
      break;
  }
  machine.undecidedDepth -= undecided;
  assign(machine, step.out, carried);
  if (undecided)
    for (Slot slot : step.out)
      machine.values[slot].radius = kUndecided;
}

/// Whether an iteration has changed nothing that the next one could see, so that the loop never ends.
static bool repeatsItself(Machine &machine, const Body &before, const Body &after,
                          uint64_t changes) {
  return machine.changes == changes &&
         llvm::all_of(llvm::zip_equal(before.arguments, after.yields), [&](auto slots) {
           auto [old, now] = slots;
           return machine.values[old].integer == machine.values[now].integer;
         });
}

/// In a branch that may not have been taken memory does not change, so that a loop might not end:
/// one pass marks what it writes.
static void runWhile(Machine &machine, const Step &step) {
  const Body &before = *step.bodies[0], &after = *step.bodies[1];
  assign(machine, before.arguments, step.in);
  bool undecided = false;
  while (true) {
    uint64_t changes = machine.changes;
    machine.run(before);
    if (machine.stopped)
      break;
    const Scalar &condition = machine.values[before.yields[0]];
    if (condition.isPoison)
      machine.find(FindingKind::Uninitialized, step,
                   "the condition of a loop depends on an element that was never written");
    if (machine.options.bounds && condition.radius > 0 && !undecided) {
      undecided = true;
      ++machine.undecidedDepth;
    }
    ArrayRef<Slot> forwarded = ArrayRef(before.yields).drop_front();
    if (!condition.integer) {
      assign(machine, step.out, forwarded);
      break;
    }
    assign(machine, after.arguments, forwarded);
    machine.run(after);
    if (machine.stopped || machine.shadowDepth)
      break;
    if (repeatsItself(machine, before, after, changes))
      return machine.fail(FindingKind::Deadlock, step, kEndlessLoop);
    assign(machine, before.arguments, after.yields);
  }
  machine.undecidedDepth -= undecided;
  if (undecided)
    for (Slot slot : step.out)
      machine.values[slot].radius = kUndecided;
}

//===----------------------------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------------------------===//

/// Rounding may have decided this branch. The side taken runs as usual, but all it writes is
/// undecided; the other side runs as a shadow that only marks what it would have written.
static void runUndecidedIf(Machine &machine, const Step &step, const Body &taken,
                           const Body &other) {
  ++machine.shadowDepth;
  bool wasStopped = machine.stopped;
  machine.run(other);
  machine.stopped = wasStopped;
  --machine.shadowDepth;
  ++machine.undecidedDepth;
  machine.run(taken);
  --machine.undecidedDepth;
  if (machine.stopped)
    return;
  assign(machine, step.out, taken.yields);
  for (Slot slot : step.out)
    machine.values[slot].radius = kUndecided;
}

static void runIf(Machine &machine, const Step &step) {
  bool condition = machine.getDeciding(step, 0, "the condition of a branch");
  const Body &taken = *step.bodies[condition ? 0 : 1], &other = *step.bodies[condition ? 1 : 0];
  if (machine.isUndecided(step, 0))
    return runUndecidedIf(machine, step, taken, other);
  machine.run(taken);
  if (!machine.stopped)
    assign(machine, step.out, taken.yields);
}

bool tilewright::interp::resolveControl(Operation *op, Step &step) {
  // Buffers are named by the op that makes them; a branch cannot choose one.
  if (llvm::any_of(op->getResultTypes(), [](Type type) { return isa<MemRefType>(type); }))
    return false;
  step.run = llvm::TypeSwitch<Operation *, Handler>(op)
                 .Case([](tile::KernelOp) { return runKernel; })
                 .Case([](tile::ParallelOp) { return runParallel; })
                 .Case([](tile::PipelinedOp) { return runPipelined; })
                 .Case([](scf::ForOp) { return runFor; })
                 .Case([](scf::WhileOp) { return runWhile; })
                 .Case([](scf::IfOp) { return runIf; })
                 .Default([](Operation *) { return nullptr; });
  return step.run != nullptr;
}
