//===- Buffers.cpp - allocations, parts of buffers, single elements ---------------------------===//

#include "Machine.h"
#include "tilewright/Tile/Schedule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

Storage &Machine::addStorage(mlir::Value root) {
  auto type = cast<MemRefType>(root.getType());
  Storage &storage = storages.emplace_back();
  storage.name = tile::getName(root).str();
  storage.space = tile::getSpace(type);
  storage.format = getFormat(type.getElementType());
  storage.isVariable = storage.space == tile::Space::Local && type.getRank() == 0;
  auto granule = program.granules.find(root);
  storage.granuleBytes =
      granule == program.granules.end() ? getBytes(storage.format) : granule->second;
  return storage;
}

static void allocate(Machine &machine, const Step &step) {
  auto op = cast<tile::AllocOp>(step.op);
  MemRefType type = op.getBuffer().getType();
  SmallVector<int64_t, 4> shape(type.getShape());
  unsigned operand = 0;
  for (int64_t &extent : shape)
    if (ShapedType::isDynamic(extent))
      extent = machine.getDeciding(step, operand++, "an extent of an allocation");
  std::optional<int64_t> count = countIfSane(shape);
  if (!count)
    return machine.fail(FindingKind::BadExtent, step,
                        "'" + op.getName() + "' cannot have the extents " + inParentheses(shape));
  // The same allocation in the next block or iteration reuses its memory.
  Storage *&known = machine.allocations[op];
  if (!known || ArrayRef(known->shape) != ArrayRef(shape)) {
    known = &machine.addStorage(op.getBuffer());
    known->shape = shape;
    known->physicalElements = *count;
    known->allocate(/*tracksPoison=*/machine.options.check);
    if (machine.options.bounds)
      known->radius = ShadowArray<double>(known->countGranules());
  } else {
    known->forget();
  }
  if (op->hasAttr(tile::kClearedAttr)) // a schedule relies on zeros at the start
    known->clear();
  known->iterationBase = machine.parallel ? machine.parallel->iteration : 0;
  machine.views[step.out[0]] = View::whole(*known, known->format, shape);
}

/// The values of a list of static and dynamic numbers, taking operands from `operand` on.
static SmallVector<int64_t, 4> readList(Machine &machine, const Step &step,
                                        ArrayRef<int64_t> staticValues, unsigned &operand,
                                        bool &isUndecided) {
  SmallVector<int64_t, 4> values(staticValues);
  for (int64_t &value : values)
    if (ShapedType::isDynamic(value)) {
      isUndecided |= machine.isUndecided(step, operand);
      value = machine.getDeciding(step, operand++, "the offset of a slice");
    }
  return values;
}

static void slice(Machine &machine, const Step &step) {
  auto op = cast<tile::SliceOp>(step.op);
  const View &source = machine.viewOf(step, 0);
  unsigned operand = 1;
  bool isUndecided = source.isUndecided;
  SmallVector<int64_t, 4> offsets =
      readList(machine, step, op.getStaticOffsets(), operand, isUndecided);
  SmallVector<int64_t, 4> sizes =
      readList(machine, step, op.getStaticSizes(), operand, isUndecided);
  SmallVector<int64_t, 4> steps =
      readList(machine, step, op.getStaticSteps(), operand, isUndecided);

  View view;
  view.storage = source.storage;
  view.format = source.format;
  view.surface = source.surface;
  view.base = source.base;
  view.isUndecided = isUndecided;
  for (auto [dim, surfaceDim] : llvm::enumerate(source.dims)) {
    int64_t distance, pitch, &base = view.base[surfaceDim];
    if (__builtin_mul_overflow(source.steps[dim], offsets[dim], &distance) ||
        __builtin_add_overflow(base, distance, &base) ||
        __builtin_mul_overflow(source.steps[dim], steps[dim], &pitch))
      return machine.fail(FindingKind::IndexOverflow, step,
                          "a slice of '" + source.storage->name + "' leaves 64 bits");
    if (llvm::is_contained(op.getDropped(), static_cast<int64_t>(dim)))
      continue;
    view.dims.push_back(surfaceDim);
    view.steps.push_back(pitch);
    view.extents.push_back(std::max<int64_t>(0, sizes[dim]));
  }
  if (!countIfSane(view.extents))
    return machine.fail(FindingKind::BadExtent, step,
                        "a slice of '" + source.storage->name + "' cannot have the extents " +
                            inParentheses(view.extents));
  machine.views[step.out[0]] = std::move(view);
}

/// The run-time extents of a view that says them as formulas of shape symbols.
static std::optional<SmallVector<int64_t, 4>> getStatedShape(const Machine &machine,
                                                             tile::ViewOp op) {
  auto attribute = op->getAttrOfType<tile::ShapeAttr>(tile::kShapeAttr);
  if (!attribute)
    return std::nullopt;
  auto function = op->getParentOfType<func::FuncOp>();
  SmallVector<int64_t, 4> symbols, shape;
  for (StringAttr symbol : attribute.getSymbols())
    for (BlockArgument argument : function.getArguments())
      if (function.getArgAttr(argument.getArgNumber(), tile::kSymbolAttr) == symbol)
        symbols.push_back(machine.values[machine.program.slots.at(argument)].integer);
  for (const IndexExpr &extent : attribute.getExtents())
    shape.push_back(evaluate(extent, symbols, symbols).value_or(-1));
  return shape;
}

/// The extents of a view: those it states, or one that is only known by the number of bytes.
static void reinterpret(Machine &machine, const Step &step) {
  auto op = cast<tile::ViewOp>(step.op);
  const View &source = machine.viewOf(step, 0);
  MemRefType type = op.getResult().getType();
  Format format = getFormat(type.getElementType());
  SmallVector<int64_t, 4> shape(type.getShape());
  int64_t bytes = interp::countElements(source.surface) * getBytes(source.format), known = 1;
  if (std::optional<SmallVector<int64_t, 4>> stated = getStatedShape(machine, op))
    shape = *stated;
  for (int64_t extent : shape)
    known *= ShapedType::isDynamic(extent) ? 1 : extent;
  for (int64_t &extent : shape)
    if (ShapedType::isDynamic(extent))
      extent = known ? bytes / (known * getBytes(format)) : 0;
  bool isPossible = llvm::none_of(shape, [](int64_t extent) { return extent < 0; });
  if (!isPossible || interp::countElements(shape) * getBytes(format) != bytes)
    return machine.fail(FindingKind::BadExtent, step,
                        "a view of '" + source.storage->name + "' as " + inParentheses(shape) +
                            " does not have its " + llvm::Twine(bytes) + " bytes");
  machine.views[step.out[0]] = View::whole(*source.storage, format, shape);
}

llvm::SmallVector<int64_t, 4> tilewright::interp::getCoordinates(Machine &machine, const Step &step,
                                                                 unsigned first, const View &view,
                                                                 bool &isUndecided) {
  llvm::SmallVector<int64_t, 4> coordinates;
  for (unsigned operand = first, end = step.in.size(); operand < end; ++operand) {
    const Scalar &value = machine.get(step, operand);
    isUndecided |= machine.isUndecided(step, operand);
    if (value.isPoison)
      machine.find(FindingKind::Uninitialized, step,
                   "an index into '" + view.storage->name +
                       "' depends on an element that was never written");
    coordinates.push_back(value.integer);
  }
  return coordinates;
}

static void load(Machine &machine, const Step &step) {
  machine.beginStatement(step);
  const View &view = machine.viewOf(step, 0);
  bool isUndecided = false;
  auto coordinates = getCoordinates(machine, step, 1, view, isUndecided);
  std::optional<int64_t> element = machine.locate(step, view, coordinates, Access::Read);
  Cell cell = element ? machine.read(step, view, *element) : view.storage->safeValue;
  if (isUndecided)
    cell.radius = kUndecided;
  machine.result(step) = unpack(view.format, cell);
}

static void store(Machine &machine, const Step &step) {
  machine.beginStatement(step);
  const View &view = machine.viewOf(step, 1);
  bool isUndecided = false;
  auto coordinates = getCoordinates(machine, step, 2, view, isUndecided);
  if (isUndecided)
    view.storage->markAllUndecided();
  if (std::optional<int64_t> element = machine.locate(step, view, coordinates, Access::Write)) {
    Cell cell = pack(view.format, machine.get(step, 0));
    cell.radius = isUndecided ? kUndecided : cell.radius;
    machine.write(step, view, *element, cell);
  }
}

bool tilewright::interp::resolveBuffer(Operation *op, Step &step) {
  step.run = llvm::TypeSwitch<Operation *, Handler>(op)
                 .Case([](tile::AllocOp) { return allocate; })
                 .Case([](tile::SliceOp) { return slice; })
                 .Case([](tile::ViewOp) { return reinterpret; })
                 .Case([](tile::LoadOp) { return load; })
                 .Case([](tile::StoreOp) { return store; })
                 .Default([](Operation *) { return nullptr; });
  return step.run != nullptr;
}
