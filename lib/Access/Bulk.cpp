//===- Bulk.cpp - copies that the tensor memory accelerator does ------------------------------===//

#include "tilewright/Access/Bulk.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Analysis/Polyhedron.h"
#include "tilewright/Layout/Enumerate.h"
#include "tilewright/Layout/Questions.h"
#include "tilewright/Layout/SharedLayouts.h"
#include "tilewright/Support/IndexMath.h"
#include "tilewright/Tile/Statements.h"
#include "tilewright/Tile/Teams.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::access {

/// Limits of cuTensorMapEncodeTiled and of the instruction (CUDA driver API; PTX ISA,
/// "cp.async.bulk.tensor").
static constexpr int64_t kMaxBox = 256, kGranule = 16, kTileAlignment = 128;
/// A barrier counts so many bytes of one phase at most (PTX ISA, "tx-count").
static constexpr int64_t kMaxBytes = (int64_t(1) << 20) - 1;
/// More instructions than these for one tile are not worth it.
static constexpr int64_t kMaxIssues = 16;

//===----------------------------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------------------------===//

std::optional<CopyLoop> CopyLoop::get(ParallelOp loop) {
  CopyLoop copy;
  for (Operation &op : loop.getBody().front().without_terminator()) {
    if (auto found = dyn_cast<LoadOp>(op); found && !copy.load)
      copy.load = found;
    else if (auto found = dyn_cast<StoreOp>(op); found && !copy.store)
      copy.store = found;
    else if (auto found = dyn_cast<AtomicElementOp>(op); found && !copy.update)
      copy.update = found;
    else if (!isMemoryEffectFree(&op) || op.getNumRegions() || isa<CastOp>(op))
      return std::nullopt;
  }
  if (!copy.load || bool(copy.store) == bool(copy.update))
    return std::nullopt;
  Value written = copy.store ? copy.store.getValue() : copy.update.getValue();
  if (written != copy.load.getResult())
    return std::nullopt;
  return copy;
}

static Space spaceOf(const ElementAccess &access) { return getSpace(getRoot(access.buffer)); }

bool CopyLoop::isFill() const {
  return store && spaceOf(*ElementAccess::get(load)) == Space::Global &&
         spaceOf(*ElementAccess::get(store)) == Space::Shared;
}

ElementAccess CopyLoop::getWrite() const {
  return store ? *ElementAccess::get(store) : *ElementAccess::get(update);
}

bool CopyLoop::isDrain() const {
  return spaceOf(*ElementAccess::get(load)) == Space::Shared &&
         spaceOf(getWrite()) == Space::Global;
}

ElementAccess CopyLoop::getTensorAccess() const {
  return isFill() ? *ElementAccess::get(load) : getWrite();
}

ElementAccess CopyLoop::getTileAccess() const {
  return isFill() ? getWrite() : *ElementAccess::get(load);
}

BulkInstructions BulkInstructions::get(ParallelOp loop, const CopyLoop &copy) {
  BulkInstructions result{copy.update ? "cp.reduce.async.bulk" : "cp.async.bulk"};
  if (auto span = loop->getAttrOfType<SpanAttr>(kSpanAttr)) {
    result.bytes = span.getBytes();
    return result;
  }
  auto plan = loop->getAttrOfType<BulkAttr>(kBulkAttr);
  auto tile = cast<MemRefType>(copy.getTileAccess().buffer.getType());
  result.name += ".tensor." + std::to_string(plan.getRank()) + "d";
  result.count = plan.getNumIssues();
  result.bytes = plan.getNumElements() * getStorageBytes(tile.getElementType()) / result.count;
  return result;
}

BulkContext BulkContext::get(const Context &context, bool disjoint) {
  BulkContext all{context, disjoint, {}, {}, false, false};
  KernelOp kernel = context.kernel;
  std::optional<SmallVector<Effect>> effects = getEffects(kernel);
  all.isUnknown = !effects;
  for (const Effect &effect : effects.value_or(SmallVector<Effect>()))
    if (getSpace(effect.root) == Space::Global)
      (effect.kind == EffectKind::Read ? all.read : all.written).push_back(effect.root);
  kernel.walk([&](AtomicElementOp atomic) {
    all.isOrdered |= atomic.getOrder() != MemoryOrder::Relaxed || !atomic.getPrevious().use_empty();
  });
  return all;
}

//===----------------------------------------------------------------------------------------===//
// The planner
//===----------------------------------------------------------------------------------------===//

namespace {

/// One digit of a tensor map, and what the copy's loop adds to it.
struct Digit {
  unsigned dim;       ///< Of the tensor.
  int64_t divisor;    ///< As in #tile.bulk.
  IndexExpr value;    ///< In the box, of the loop's variables.
  int64_t extent;     ///< Of the box.
  int64_t chunk = 0;  ///< Of one instruction.
  int64_t stride = 0; ///< In the tile, in elements.
};

class BulkPlanner {
public:
  BulkPlanner(ParallelOp loop, const CopyLoop &copy, const BulkContext &bulk)
      : loop(loop), copy(copy), bulk(bulk), tensorAccess(copy.getTensorAccess()),
        tileAccess(copy.getTileAccess()), source(getRoot(tensorAccess.buffer)),
        tile(getRoot(tileAccess.buffer)) {}

  llvm::Expected<BulkPlan> run();

private:
  bool checkTensor();
  bool checkWrites();
  bool checkMap();
  bool planSpan();
  bool checkStrides();
  bool findBox();
  bool findTileOffset();
  bool matchTile();
  bool matches(ArrayRef<Digit> digits, int64_t swizzle);
  SmallVector<Digit> makeDigits(int64_t panel, unsigned position);
  bool split(MutableArrayRef<Digit> digits);
  bool mayCountPanels() const;
  void findClamped();
  ShapeAttr makeShape(ArrayRef<IndexExpr> formulas);
  void makeMap();
  std::string name(Value buffer) { return "'" + tile::getName(buffer).str() + "'"; }
  bool refuse(const Twine &reason) {
    refusal = reason.str();
    return false;
  }

  ParallelOp loop;
  const CopyLoop &copy;
  const BulkContext &bulk;
  ElementAccess tensorAccess, tileAccess;
  Value source, tile; ///< Tensor and tile; the copy may lead either way.

  Memory memory; ///< Of the tensor.
  SmallVector<int64_t> extents;
  AccessCoordinates from;
  /// Of each dimension of the tensor: the loop's variable that moves along it, if any, and what
  /// the symbols add, with the constant.
  SmallVector<std::optional<unsigned>> iterators;
  SmallVector<IndexFacts> starts;
  IndexExpr offset; ///< In the tile, from the first element.
  int64_t firstOffset = 0;
  int64_t distance =
      0; ///< What divides the part of the offset that only the run knows; 0: there is none.
  SmallVector<Digit> digits;
  int64_t panel = 0;
  BulkPlan plan;
  std::string refusal;
};

/// What every bulk copy needs.
bool BulkPlanner::checkTensor() {
  const Context &context = bulk.context;
  if (getNumThreads(loop) < kWarpSize) // elect.sync
    return refuse("a block of fewer than 32 threads has no whole warp");
  if (context.calls.argumentAlignment < kGranule)
    return refuse("tensors are not known to start on 16 bytes");
  std::optional<Memory> found = getMemory(source, context);
  if (!found)
    return refuse("where " + name(source) + " lies is not known");
  memory = std::move(*found);
  if (changesElement(tensorAccess.buffer) || changesElement(tileAccess.buffer) ||
      cast<MemRefType>(source.getType()).getElementType() !=
          cast<MemRefType>(tile.getType()).getElementType())
    return refuse("its element type changes");
  std::optional<SmallVector<int64_t>> known = analysis::getStaticExtents(loop);
  if (!known)
    return refuse("its extents are known only at launch");
  extents = std::move(*known);
  if (llvm::is_contained(extents, 0))
    return refuse("it copies nothing");
  if (copy.isDrain())
    return checkWrites();
  bool isAliased = bulk.isUnknown || (!bulk.disjoint && !bulk.written.empty());
  if (isAliased || llvm::is_contained(bulk.written, source))
    return refuse("the kernel writes " + name(source) + (isAliased ? ", or may do so" : ""));
  return true;
}

/// A bulk store ends at some time after its statement. Statements of the block are ordered with it; what
/// other blocks may see of it is not.
bool BulkPlanner::checkWrites() {
  if (bulk.isUnknown || llvm::is_contained(bulk.read, source))
    return refuse("the kernel reads " + name(source) + (bulk.isUnknown ? ", or may do so" : ""));
  if (!bulk.disjoint)
    return refuse("another tensor may share memory with " + name(source));
  if (bulk.isOrdered)
    return refuse("atomics of the kernel may tell other blocks that " + name(source) +
                  " is written");
  if (!copy.update)
    return true;
  Type element = cast<MemRefType>(source.getType()).getElementType();
  AtomicElementOp update = copy.update;
  if (update.getKind() != AtomicKind::Add)
    return refuse("bulk reductions of " + stringifyAtomicKind(update.getKind()) + " are not used");
  if (!element.isF32() && !element.isF16() && !element.isBF16() && !element.isInteger(32))
    return refuse("no bulk reduction adds elements of this type");
  return true;
}

/// What a tensor map can describe.
bool BulkPlanner::checkMap() {
  auto argument = dyn_cast<BlockArgument>(source);
  if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return refuse(name(source) + " is a workspace");
  if (memory.layout)
    return refuse(name(source) + " has a layout of its own");
  if (memory.extents.empty() || memory.extents.size() > TensorMapAttr::kMaxRank)
    return refuse("a tensor map has 1 to 5 dimensions, " + name(source) + " has " +
                  Twine(memory.extents.size()));
  bool isZero = true;
  if (copy.isFill())
    KernelOp(bulk.context.kernel).walk([&](AnnotateSafeValueOp note) {
      if (note.getBuffer() != source)
        return;
      auto number = dyn_cast<FloatAttr>(note.getValue());
      isZero &= number ? number.getValue().isPosZero() : matchPattern(note.getValue(), m_Zero());
    });
  return isZero || refuse(name(source) + " has a value of its own out of bounds");
}

/// All strides but the innermost are multiples of 16 bytes.
bool BulkPlanner::checkStrides() {
  int64_t divisor = memory.elementBytes; // of the stride
  for (unsigned dim = memory.extents.size() - 1; dim > 0; --dim) {
    std::optional<int64_t> known =
        checkedMul(divisor, std::max<int64_t>(1, memory.getExtentFacts(dim).getDivisor()));
    divisor = known ? *known : divisor;
    if (divisor % kGranule)
      return refuse("rows of " + name(source) + " are not known to start at multiples of 16 bytes");
  }
  return true;
}

/// Each of the loop's variables moves along one dimension of the source, step by step.
bool BulkPlanner::findBox() {
  auto found = getCoordinates(tensorAccess.op, loop, tensorAccess.buffer, tensorAccess.indices);
  if (!found)
    return refuse(Twine("where it ") + (copy.isFill() ? "reads" : "writes") + " depends on memory");
  from = std::move(*found);
  for (ArrayRef<IndexExpr> arguments : from.arguments)
    if (llvm::any_of(arguments, [](const IndexExpr &e) { return e.getNumDims() > 0; }))
      return refuse("its rows are taken from a table");
  SmallVector<int64_t> zeros(extents.size(), 0);
  SmallVector<bool> isUsed(extents.size(), false);
  SmallVector<IndexFacts, 4> dims = factsOfShape(extents);
  for (auto [dim, coordinate] : llvm::enumerate(from.coordinates)) {
    std::optional<analysis::SeparatedExpr> parts =
        analysis::separate(coordinate, dims, from.symbols);
    std::optional<int64_t> first = parts ? parts->dims.evaluate(zeros) : std::nullopt;
    if (!first)
      return refuse("its coordinate in dimension " + Twine(dim) + " of " + name(source) +
                    " mixes the tile's index with others");
    Layout own = Layout::get(extents, {parts->dims - *first});
    auto moves = [&](const IndexExpr &value) {
      return isEqual(own, Layout::get(extents, {value})).isYes();
    };
    std::optional<unsigned> iterator;
    for (unsigned i = 0; i < extents.size() && !iterator; ++i)
      if (extents[i] > 1 && moves(IndexExpr::dim(i)))
        iterator = i;
    if (!iterator && !moves(IndexExpr(0)))
      return refuse(Twine(copy.isFill() ? "it reads" : "it writes") + " dimension " + Twine(dim) +
                    " of " + name(source) + " with a step or a formula");
    if (iterator && isUsed[*iterator])
      return refuse("one index of the tile moves along two dimensions of " + name(source));
    if (iterator)
      isUsed[*iterator] = true;
    iterators.push_back(iterator);
    IndexFacts outer = analyzeIndexExpr(parts->symbols, {}, from.symbols);
    starts.push_back(combineFacts(IndexExpr::Kind::Add, outer, IndexFacts::constant(*first)));
  }
  for (auto [i, extent] : llvm::enumerate(extents))
    if (extent > 1 && !isUsed[i])
      return refuse("elements of the tile are copies of each other");
  return true;
}

/// Each element's offset in global memory, from the first; nothing if one is no multiple of 16
/// bytes where the copy starts, may lie out of bounds, or depends on what is known only at launch.
static std::optional<IndexExpr> findOrder(const ElementAccess &access, ParallelOp loop,
                                          const Memory &memory, ArrayRef<int64_t> extents) {
  auto found = getCoordinates(access.op, loop, access.buffer, access.indices);
  if (!found || llvm::any_of(found->arguments, [](ArrayRef<IndexExpr> arguments) {
        return llvm::any_of(arguments, [](const IndexExpr &e) { return e.getNumDims() > 0; });
      }))
    return std::nullopt;
  SmallVector<IndexFacts, 4> dims = factsOfShape(extents);
  analysis::Polyhedron points(extents, found->symbols);
  for (const IndexExpr &expr : found->known)
    points.addNonNegative(expr);
  for (auto [dim, coordinate] : llvm::enumerate(found->coordinates)) {
    IndexFacts facts = analyzeIndexExpr(coordinate, dims, found->symbols);
    int64_t extent = memory.extents[dim];
    if (extent != kDynamic && facts.low >= 0 && facts.high < extent)
      continue;
    if (!found->extents[dim] || !points.excludes(IndexExpr(-1) - coordinate) ||
        !points.excludes(coordinate - *found->extents[dim]))
      return std::nullopt;
  }
  SmallVector<IndexExpr, 4> physical = found->coordinates;
  SmallVector<int64_t, 4> shape = memory.extents, divisors = memory.extentDivisors;
  if (memory.layout) {
    physical.clear();
    for (const IndexExpr &output : memory.layout->getOutputs())
      physical.push_back(output.substitute(found->coordinates));
    shape.assign(memory.layout->getOutputShape().begin(), memory.layout->getOutputShape().end());
    divisors.assign(shape.size(), 1);
  }
  IndexExpr own(0);
  int64_t stride = 1, granule = kGranule / memory.elementBytes;
  bool isKnown = true; // or the stride is what is known to divide it
  for (size_t d = physical.size(); d-- > 0;) {
    std::optional<analysis::SeparatedExpr> parts =
        analysis::separate(physical[d], dims, found->symbols);
    if (!parts || (!isKnown && parts->dims.getNumDims() > 0))
      return std::nullopt;
    // What the symbols add keeps the start on 16 bytes.
    std::optional<int64_t> step = checkedMul(
        stride,
        std::max<int64_t>(1, analyzeIndexExpr(parts->symbols, {}, found->symbols).getDivisor()));
    if (!parts->symbols.isConstant(0) && (!step || *step % granule))
      return std::nullopt;
    own = own + parts->dims * stride;
    isKnown &= shape[d] != kDynamic;
    std::optional<int64_t> next = checkedMul(stride, shape[d] != kDynamic ? shape[d] : divisors[d]);
    if (!next)
      return std::nullopt;
    stride = *next;
  }
  std::optional<int64_t> first = own.evaluate(SmallVector<int64_t>(extents.size(), 0));
  if (!first || *first % granule || kGranule % memory.elementBytes)
    return std::nullopt;
  return own - *first;
}

/// Whether the elements are neighbours: their offsets are 0, 1, 2 and so on, in some order.
static bool areNeighbours(const IndexExpr &order, ArrayRef<int64_t> extents, int64_t elements) {
  std::optional<ValueColumns> values = enumerateValues(order, extents);
  if (!values)
    return false;
  llvm::BitVector seen(elements);
  for (int64_t value : (*values)[0]) {
    if (value < 0 || value >= elements || seen[value])
      return false;
    seen.set(value);
  }
  return seen.all();
}

/// A copy without a tensor map, if the elements are neighbours in global memory and lie in the tile in
/// the same order.
bool BulkPlanner::planSpan() {
  int64_t elements = 1;
  for (int64_t extent : extents)
    elements *= extent;
  int64_t bytes = elements * memory.elementBytes;
  if (bytes % kGranule || bytes > kMaxBytes || firstOffset * memory.elementBytes % kGranule)
    return false;
  std::optional<IndexExpr> order = findOrder(tensorAccess, loop, memory, extents);
  if (!order || !areNeighbours(*order, extents, elements) ||
      !isEqual(Layout::get(extents, {offset}), Layout::get(extents, {*order})).isYes())
    return false;
  plan.spanBytes = bytes;
  return true;
}

/// Where the elements lie in the tile.
bool BulkPlanner::findTileOffset() {
  auto found = getCoordinates(tileAccess.op, loop, tileAccess.buffer, tileAccess.indices);
  std::optional<Memory> placed = getMemory(tile, bulk.context);
  std::optional<IndexExpr> formula =
      placed && placed->layout ? placed->layout->getOffset() : std::nullopt;
  if (!found || !formula)
    return refuse("where " + name(tile) + " lies is not known");
  IndexExpr whole = formula->substitute(found->coordinates);
  // A part that is chosen at run time, such as `a[k % 2]`, lies at a distance of its own.
  std::optional<analysis::SeparatedExpr> parts =
      analysis::separate(whole, factsOfShape(extents), found->symbols);
  std::optional<int64_t> first =
      parts ? parts->dims.evaluate(SmallVector<int64_t>(extents.size(), 0)) : std::nullopt;
  if (!first)
    return refuse(Twine("which part of ") + name(tile) +
                  (copy.isFill() ? " it writes" : " it reads") + " mixes its index with others");
  if (!copy.isFill() && whole.getNumSymbols())
    return refuse(Twine("it reads a part of ") + name(tile) + " that is chosen at run time");
  firstOffset = *first;
  distance = analyzeIndexExpr(parts->symbols, {}, found->symbols).getDivisor();
  offset = parts->dims - firstOffset;
  return true;
}

/// The digits of the map, innermost first. With a panel the columns are two: those of a panel, and
/// the panels, which come at this position.
SmallVector<Digit> BulkPlanner::makeDigits(int64_t width, unsigned position) {
  SmallVector<Digit> result;
  for (unsigned dim = memory.extents.size(); dim-- > 0;) {
    IndexExpr value = iterators[dim] ? IndexExpr::dim(*iterators[dim]) : IndexExpr(0);
    int64_t extent = iterators[dim] ? extents[*iterators[dim]] : 1;
    result.push_back({dim, 1, value, extent});
  }
  if (width) {
    Digit panels = result.front();
    panels.value = floorDiv(panels.value, width);
    panels.extent /= width;
    panels.divisor = width;
    result.front().value = result.front().value % width;
    result.front().extent = width;
    result.front().divisor = 0;
    result.insert(result.begin() + position, panels);
  }
  int64_t stride = 1;
  for (Digit &digit : result) {
    digit.stride = stride;
    stride *= digit.extent;
  }
  return result;
}

/// Whether a box of these digits arrives where the tile has its elements.
bool BulkPlanner::matches(ArrayRef<Digit> candidate, int64_t swizzle) {
  IndexExpr arrival(0);
  for (const Digit &digit : candidate)
    arrival = arrival + digit.value * digit.stride;
  if (swizzle) {
    int64_t line = kTileAlignment / memory.elementBytes, chunk = kGranule / memory.elementBytes;
    arrival = arrival ^ (floorDiv(arrival, line) % (swizzle / kGranule) * chunk);
  }
  return isEqual(Layout::get(extents, {offset}), Layout::get(extents, {arrival})).isYes();
}

/// Finds the swizzle and the order of the digits under which the tile's layout is that of a box.
bool BulkPlanner::matchTile() {
  std::optional<unsigned> columns = iterators.back();
  int64_t rowBytes = (columns ? extents[*columns] : 1) * memory.elementBytes;
  if (rowBytes % kGranule)
    return refuse("a row of the tile has " + Twine(rowBytes) +
                  " bytes, which is no multiple of 16");
  for (int64_t swizzle : {128, 64, 32}) {
    if (rowBytes % swizzle)
      continue;
    if (rowBytes == swizzle) {
      SmallVector<Digit> candidate = makeDigits(0, 0);
      if (matches(candidate, swizzle)) {
        digits = candidate;
        plan.swizzle = swizzle;
        return true;
      }
      continue;
    }
    int64_t width = swizzle / memory.elementBytes;
    for (unsigned position = memory.extents.size(); position > 0; --position) {
      SmallVector<Digit> candidate = makeDigits(width, position);
      if (!matches(candidate, swizzle))
        continue;
      digits = candidate;
      plan.swizzle = swizzle;
      panel = width;
      return true;
    }
  }
  digits = makeDigits(0, 0);
  if (matches(digits, 0))
    return true;
  return refuse("no swizzle of TMA places elements as the layout of " + name(tile) + " does");
}

/// Whether panels can be a digit: they divide the tensor's rows, so that a panel is inside or
/// outside as a whole, and the box starts with a whole one.
bool BulkPlanner::mayCountPanels() const {
  int64_t divisor = memory.getExtentFacts(memory.extents.size() - 1).getDivisor();
  return memory.extents.size() < TensorMapAttr::kMaxRank && divisor % panel == 0 &&
         starts.back().getDivisor() % panel == 0;
}

/// Cuts the box into instructions: each digit has at most 256, and once one is cut, the digits
/// outside of it are taken one by one, since a box arrives without gaps. Panels that are no digit are
/// taken one by one too, each at its own column.
bool BulkPlanner::split(MutableArrayRef<Digit> parts) {
  bool countsPanels = !panel || mayCountPanels();
  bool isCut = false;
  auto isSinglePanel = [&](const Digit &digit) { return digit.divisor > 1 && !countsPanels; };
  for (Digit &digit : parts) {
    digit.chunk = isCut || isSinglePanel(digit) ? 1 : std::min(digit.extent, kMaxBox);
    while (digit.extent % digit.chunk)
      --digit.chunk;
    isCut |= digit.chunk < digit.extent;
  }
  int64_t alignment = std::max<int64_t>(kTileAlignment, 8 * plan.swizzle), issues = 1, bytes = 1;
  for (const Digit &digit : parts) {
    issues *= digit.extent / digit.chunk;
    bytes *= digit.extent;
  }
  bytes *= memory.elementBytes;
  if (bytes > kMaxBytes)
    return refuse("a barrier counts at most " + Twine(kMaxBytes) + " bytes, the tile has " +
                  Twine(bytes));
  if (issues > kMaxIssues)
    return refuse("it takes " + Twine(issues) + " instructions");
  if (parts.front().chunk * memory.elementBytes % kGranule)
    return refuse("a row of the tile is wider than a box");
  plan.alignmentBytes = alignment;
  if (firstOffset * memory.elementBytes % alignment)
    return refuse("it starts inside " + name(tile) + ", at byte " +
                  Twine(firstOffset * memory.elementBytes));
  if (distance * memory.elementBytes % alignment)
    return refuse("the parts of " + name(tile) + " start at multiples of " +
                  Twine(distance * memory.elementBytes) + " bytes");
  for (int64_t issue = 0; issue < issues; ++issue) {
    int64_t rest = issue, position = 0;
    SmallVector<int64_t> origin;
    for (const Digit &digit : parts) {
      int64_t count = digit.extent / digit.chunk, number = rest % count;
      rest /= count;
      if (isSinglePanel(digit))
        origin.front() += number * panel;
      else
        origin.push_back(number * digit.chunk);
      position += number * digit.chunk * digit.stride;
    }
    if (position * memory.elementBytes % alignment)
      return refuse("its instructions would write at byte " +
                    Twine(position * memory.elementBytes) + ", which is no multiple of " +
                    Twine(alignment));
    plan.offsets.push_back(position * memory.elementBytes);
    plan.origins.append(origin);
  }
  for (const Digit &digit : parts) {
    if (isSinglePanel(digit))
      continue;
    plan.dims.push_back(digit.dim);
    plan.divisors.push_back(countsPanels ? digit.divisor : 1);
    plan.box.push_back(digit.chunk);
  }
  return true;
}

/// Coordinates have 32 bits. Where that is not known, code generation clamps them: the launcher makes
/// sure that extents are at most 2^30, so what is clamped lies outside either way.
void BulkPlanner::findClamped() {
  constexpr int64_t kLimit = int64_t(1) << 30;
  for (auto [position, digit] : llvm::enumerate(plan.dims))
    if (plan.divisors[position] && (starts[digit].low < -kLimit || starts[digit].high > kLimit))
      plan.clamped.push_back(position);
}

ShapeAttr BulkPlanner::makeShape(ArrayRef<IndexExpr> formulas) {
  auto argument = cast<BlockArgument>(source);
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto shape = function.getArgAttrOfType<ShapeAttr>(argument.getArgNumber(), kShapeAttr);
  ArrayRef<StringAttr> symbols = shape ? shape.getSymbols() : ArrayRef<StringAttr>();
  return ShapeAttr::get(source.getContext(), symbols, Layout::get({}, formulas, symbols.size()));
}

void BulkPlanner::makeMap() {
  auto argument = cast<BlockArgument>(source);
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto shape = function.getArgAttrOfType<ShapeAttr>(argument.getArgNumber(), kShapeAttr);
  auto extentOf = [&](unsigned dim) -> IndexExpr {
    if (memory.extents[dim] != kDynamic)
      return IndexExpr(memory.extents[dim]);
    return shape.getExtents()[dim];
  };
  SmallVector<IndexExpr> sizes, strides;
  for (auto [position, dim] : llvm::enumerate(plan.dims)) {
    int64_t divisor = plan.divisors[position];
    sizes.push_back(divisor == 0 ? IndexExpr(panel) : floorDiv(extentOf(dim), divisor));
    IndexExpr stride(memory.elementBytes * std::max<int64_t>(1, divisor));
    for (unsigned inner = dim + 1; inner < memory.extents.size(); ++inner)
      stride = stride * extentOf(inner);
    if (position > 0)
      strides.push_back(stride);
  }
  SmallVector<int64_t> steps(plan.box.size(), 1);
  plan.map = TensorMapAttr::get(source.getContext(), argument.getArgNumber(),
                                cast<MemRefType>(source.getType()).getElementType(),
                                makeShape(sizes), makeShape(strides), plan.box, steps, plan.swizzle,
                                /*fillsNan=*/false, /*promotion=*/128);
}

llvm::Expected<BulkPlan> BulkPlanner::run() {
  if (!checkTensor() || !findTileOffset())
    return llvm::createStringError(refusal);
  if (planSpan())
    return std::move(plan);
  if (!checkMap() || !checkStrides() || !findBox() || !matchTile() || !split(digits))
    return llvm::createStringError(refusal);
  findClamped();
  makeMap();
  return std::move(plan);
}

} // namespace

llvm::Expected<BulkPlan> planBulk(ParallelOp loop, const CopyLoop &copy,
                                  const BulkContext &context) {
  return BulkPlanner(loop, copy, context).run();
}

std::optional<Layout> findSpanLayout(ParallelOp loop, const ElementAccess &tensor,
                                     const BulkContext &bulk) {
  std::optional<SmallVector<int64_t>> extents = analysis::getStaticExtents(loop);
  std::optional<Memory> memory = getMemory(getRoot(tensor.buffer), bulk.context);
  if (!extents || !memory || bulk.context.calls.argumentAlignment < kGranule)
    return std::nullopt;
  int64_t elements = 1;
  for (int64_t extent : *extents)
    elements *= extent;
  std::optional<IndexExpr> order =
      elements > 0 ? findOrder(tensor, loop, *memory, *extents) : std::nullopt;
  if (!order || !areNeighbours(*order, *extents, elements))
    return std::nullopt;
  return Layout::get(*extents, {*order});
}

BulkAttr makeAttr(MLIRContext *context, const BulkPlan &plan, int64_t map) {
  return BulkAttr::get(context, map, plan.dims, plan.divisors, plan.box, plan.swizzle, plan.origins,
                       plan.offsets, plan.clamped);
}

} // namespace tilewright::access
