//===- BulkCopies.cpp - does TMA move what a copy's loop names? -------------------------------===//
//
// Read off the PTX ISA ("Tensors", "Swizzling modes") and the CUDA driver API
// (cuTensorMapEncodeTiled), not off the planner. Every instruction is run element by element: the
// box's digits count row-major, the innermost fastest; each element comes from the tensor map's
// address of its coordinates, or is zero where one of them lies outside; it goes to the next position
// in the tile, with the number of the 16-byte chunk xored by that of the 128-byte line, as far as the
// swizzle reaches. Every iteration of the loop must find its element at the position that it writes. A
// store goes the other way: from the same positions to the same addresses, and nowhere if outside.
//
//===----------------------------------------------------------------------------------------===//

#include "BulkCopies.h"
#include "AccessModel.h"
#include "AsyncCopies.h"
#include "tilewright/Tile/Teams.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using namespace tilewright::plancheck;

/// What code generation clamps a coordinate to, if the plan says so.
static constexpr int64_t kClamp = int64_t(1) << 30;
/// Extents that the launcher accepts.
static constexpr int64_t kMaxExtent = int64_t(1) << 30;

namespace {
/// What arrives at a position of the tile.
struct Arrival {
  bool isZero = false;
  int64_t byte = 0; ///< In the tensor.
};
} // namespace

namespace {
/// The two accesses of a copy, a store or an addition.
struct BulkSubject {
  Operation *read = nullptr, *write = nullptr;
  Value tensor;
  AllocOp tile;
  bool isFill = false;
};
} // namespace

/// Reads the statement; gives what it cannot be.
static std::string findSubject(ParallelOp loop, const Options &options, BulkSubject &copy) {
  if (!options.arch.hasBulkCopies)
    return (options.arch.name + " has no bulk copies").str();
  Value value;
  for (Operation &op : loop.getBody().front().without_terminator()) {
    if (!isa<LoadOp, StoreOp, AtomicElementOp>(op))
      continue;
    Operation *&known = isa<LoadOp>(op) ? copy.read : copy.write;
    if (known)
      return "it is more than one read and one write";
    known = &op;
    if (auto store = dyn_cast<StoreOp>(op))
      value = store.getValue();
    if (auto update = dyn_cast<AtomicElementOp>(op)) {
      Type element = cast<MemRefType>(update.getBuffer().getType()).getElementType();
      if (update.getKind() != AtomicKind::Add || update.getOrder() != MemoryOrder::Relaxed ||
          !update.getPrevious().use_empty() ||
          !(element.isF32() || element.isF16() || element.isBF16() || element.isInteger(32)))
        return "no bulk reduction does this update";
      value = update.getValue();
    }
  }
  if (!copy.read || !copy.write)
    return "it is more than one read and one write";
  Value from = tile::getRoot(plancheck::getBuffer(copy.read)),
        to = tile::getRoot(plancheck::getBuffer(copy.write));
  copy.isFill = getSpace(from) == Space::Global;
  copy.tensor = copy.isFill ? from : to;
  copy.tile = (copy.isFill ? to : from).getDefiningOp<AllocOp>();
  if (!copy.tile || getSpace(copy.tensor) != Space::Global ||
      getSpace(copy.tile.getBuffer()) != Space::Shared ||
      value != cast<LoadOp>(copy.read).getResult() || (copy.isFill && !isa<StoreOp>(copy.write)))
    return "it does not lead from global to shared memory, or back";
  return "";
}

/// What holds whatever the values are.
static std::string findFormFault(const BulkSubject &copy, BulkAttr plan, TensorMapAttr map,
                                 const Options &options) {
  auto text = [](const Twine &twine) { return twine.str(); };
  Value source = copy.tensor;
  auto argument = dyn_cast<BlockArgument>(source);
  AllocOp tile = copy.tile;
  if (!argument || argument.getArgNumber() != map.getArgument())
    return "its tensor map describes another tensor";
  Type element = cast<MemRefType>(source.getType()).getElementType();
  if (element != tile.getBuffer().getType().getElementType() || element != map.getType())
    return "its element type changes";
  if (plan.getBox() != map.getBox() || plan.getSwizzle() != map.getSwizzle() || map.getFillsNan() ||
      llvm::any_of(map.getSteps(), [](int64_t step) { return step != 1; }))
    return "its tensor map has another box, swizzle or fill";
  int64_t bytes = getStorageBytes(element), inner = plan.getBox().front() * bytes;
  if (inner % 16 || (plan.getSwizzle() && inner > plan.getSwizzle()))
    return text("a row of its box has " + Twine(inner) + " bytes");
  if (plan.getNumElements() * bytes >= int64_t(1) << 20)
    return "a barrier cannot count its bytes";
  if (options.argumentAlignment % 16)
    return "tensors do not start on 16 bytes";
  int64_t alignment = std::max<int64_t>(128, 8 * plan.getSwizzle());
  auto declared = tile->getAttrOfType<IntegerAttr>(kAlignmentAttr);
  if (!declared || declared.getInt() % alignment)
    return text("its tile does not start on " + Twine(alignment) + " bytes");
  for (int64_t dim : plan.getDims())
    if (dim >= cast<MemRefType>(source.getType()).getRank())
      return "it counts a dimension that the tensor has not";
  if (copy.isFill && !isSafeValueZero(source, tile->getParentOfType<KernelOp>()))
    return "it fills with zeros, and the safe value is another";
  return "";
}

namespace {
/// One round of values: runs the instructions, then the loop.
class BulkRound {
public:
  BulkRound(BulkAttr plan, AccessModel &from, AccessModel &to, int64_t bytes)
      : plan(plan), from(from), to(to), bytes(bytes) {}

  std::string run(const IterationOwners &owners);

private:
  std::string findCoordinates();
  std::string issue(size_t number);
  std::string compare(ArrayRef<int64_t> iterators);

  BulkAttr plan;
  AccessModel &from, &to;
  int64_t bytes;
  int64_t start = 0; ///< Byte of the tile at which the first instruction writes.
  SmallVector<int64_t> coordinates;
  llvm::DenseMap<int64_t, Arrival> arrived; ///< By byte of the tile.
};
} // namespace

/// The coordinates of the first element, as code generation computes them.
std::string BulkRound::findCoordinates() {
  for (size_t digit = 0; digit < plan.getRank(); ++digit) {
    std::optional<int64_t> value = from.getCoordinate(plan.getDims()[digit]);
    int64_t divisor = plan.getDivisors()[digit];
    if (!value)
      return "unknown";
    // What is divided has no rest.
    int64_t coordinate = divisor == 0 ? 0 : llvm::divideFloorSigned(*value, divisor);
    if (llvm::is_contained(plan.getClamped(), int64_t(digit)))
      coordinate = std::clamp(coordinate, -kClamp, kClamp);
    if (coordinate != int32_t(coordinate))
      return "coordinate " + std::to_string(coordinate) + " does not fit in 32 bits";
    coordinates.push_back(coordinate);
  }
  return "";
}

/// Runs one instruction.
std::string BulkRound::issue(size_t number) {
  int64_t offset = plan.getOffsets()[number], total = 1;
  if (offset % std::max<int64_t>(128, 8 * plan.getSwizzle()))
    return "an instruction writes at byte " + std::to_string(offset) + " of the tile";
  for (int64_t extent : plan.getBox())
    total *= extent;
  for (int64_t element = 0; element < total; ++element) {
    Arrival arrival;
    int64_t rest = element;
    for (size_t digit = 0; digit < plan.getRank(); ++digit) {
      int64_t coordinate =
          coordinates[digit] + plan.getOrigin(number)[digit] + rest % plan.getBox()[digit];
      rest /= plan.getBox()[digit];
      arrival.isZero |= coordinate < 0 || coordinate >= *from.getMapExtent(digit);
      arrival.byte += coordinate * (digit == 0 ? bytes : *from.getMapStride(digit));
    }
    int64_t target = start + offset + element * bytes, chunk = target >> 4 & 7,
            line = plan.getSwizzle() ? target >> 7 & (plan.getSwizzle() / 16 - 1) : 0;
    target = (target & ~int64_t(0x70)) | (chunk ^ line) << 4;
    if (!arrived.try_emplace(target, arrival).second)
      return "two elements arrive at byte " + std::to_string(target) + " of the tile";
  }
  return "";
}

std::string BulkRound::compare(ArrayRef<int64_t> iterators) {
  Point read = from.at(iterators), write = to.at(iterators);
  if (read.state != Point::Runs || write.state != Point::Runs)
    return "";
  auto found = arrived.find(write.offset * bytes);
  auto describe = [&] {
    std::string text = "(";
    for (auto [position, value] : llvm::enumerate(iterators))
      text += (position ? ", " : "") + std::to_string(value);
    return "element " + text + ")";
  };
  if (found == arrived.end())
    return "nothing arrives where " + describe() + " belongs";
  if (found->second.isZero != (read.outside != 0))
    return describe() +
           (read.outside ? " is out of bounds, and no zero arrives" : " arrives as zero");
  if (!read.outside && found->second.byte != read.offset * bytes)
    return describe() + " lies at byte " + std::to_string(read.offset * bytes) +
           " of the tensor, byte " + std::to_string(found->second.byte) + " arrives";
  arrived.erase(found);
  return "";
}

std::string BulkRound::run(const IterationOwners &owners) {
  SmallVector<int64_t> zeros(owners.extents.size(), 0);
  Point first = to.at(zeros);
  Point read = from.at(zeros);
  if (first.state != Point::Runs || read.state != Point::Runs)
    return "";
  for (size_t digit = 0; digit < plan.getRank(); ++digit) {
    std::optional<int64_t> extent = from.getMapExtent(digit), stride = from.getMapStride(digit);
    if (!extent || (digit > 0 && !stride))
      return "";
    if (*extent < 1 || *extent > kMaxExtent || (stride && *stride >= int64_t(1) << 40))
      return ""; // the launcher takes other code
    // A divided dimension is two digits, which together count it without a rest.
    int64_t divisor = plan.getDivisors()[digit], whole = *extent * std::max<int64_t>(1, divisor);
    std::optional<int64_t> own = from.getExtent(plan.getDims()[digit]);
    if (divisor != 0 && own && whole != *own)
      return "its tensor map has " + std::to_string(whole) + " elements in dimension " +
             std::to_string(plan.getDims()[digit]) + ", the tensor " + std::to_string(*own);
    if (stride && *stride % 16)
      return "a stride of its tensor map is " + std::to_string(*stride) + " bytes";
  }
  start = first.offset * bytes;
  if (start % std::max<int64_t>(128, 8 * plan.getSwizzle()))
    return "it starts at byte " + std::to_string(start) + " of its tile";
  if (std::string fault = findCoordinates(); !fault.empty())
    return fault == "unknown" ? "" : fault;
  for (size_t number = 0; number < plan.getNumIssues(); ++number)
    if (std::string fault = issue(number); !fault.empty())
      return fault;
  for (int64_t iteration = 0; iteration < owners.numIterations; ++iteration)
    if (std::string fault = compare(owners.unravel(iteration)); !fault.empty())
      return fault;
  if (!arrived.empty())
    return std::to_string(arrived.size()) + " elements arrive that no iteration names";
  return "";
}

/// A copy without a tensor map: neighbours in global memory are neighbours in the tile.
static std::string findSpanFault(SpanAttr plan, AccessModel &from, AccessModel &to, int64_t bytes,
                                 const IterationOwners &owners) {
  SmallVector<int64_t> zeros(owners.extents.size(), 0);
  Point first = from.at(zeros), position = to.at(zeros);
  if (first.state != Point::Runs || position.state != Point::Runs)
    return "";
  int64_t total = owners.numIterations * bytes;
  if (plan.getBytes() != total || total % 16)
    return "it copies " + std::to_string(plan.getBytes()) + " bytes, its loop names " +
           std::to_string(total);
  if (first.offset * bytes % 16 || position.offset * bytes % 16)
    return "it starts at byte " + std::to_string(first.offset * bytes) + " of the tensor, byte " +
           std::to_string(position.offset * bytes) + " of the tile";
  for (int64_t iteration = 0; iteration < owners.numIterations; ++iteration) {
    Point global = from.at(owners.unravel(iteration)), shared = to.at(owners.unravel(iteration));
    if (global.state != Point::Runs || shared.state != Point::Runs)
      return "some of its iterations do not run";
    if (global.outside)
      return "iteration " + std::to_string(iteration) + " is out of bounds";
    int64_t distance = global.offset - first.offset;
    if (distance < 0 || distance >= owners.numIterations ||
        shared.offset - position.offset != distance)
      return "iteration " + std::to_string(iteration) + " lies " + std::to_string(distance) +
             " elements after the first in the tensor, " +
             std::to_string(shared.offset - position.offset) + " in the tile";
  }
  return "";
}

std::string plancheck::findBulkFault(ParallelOp loop, const Options &options) {
  auto plan = loop->getAttrOfType<BulkAttr>(kBulkAttr);
  auto span = loop->getAttrOfType<SpanAttr>(kSpanAttr);
  auto kernel = loop->getParentOfType<KernelOp>();
  auto maps = kernel ? kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr) : ArrayAttr();
  if (plan && (!maps || plan.getMap() >= int64_t(maps.size())))
    return "the kernel has no such tensor map";
  auto map = plan ? cast<TensorMapAttr>(maps[plan.getMap()]) : TensorMapAttr();
  BulkSubject copy;
  if (std::string fault = findSubject(loop, options, copy); !fault.empty())
    return fault;
  if (std::string fault = plan ? findFormFault(copy, plan, map, options) : std::string();
      !fault.empty())
    return fault;
  Type element = copy.tile.getBuffer().getType().getElementType();
  if (span && (options.argumentAlignment % 16 ||
               element != cast<MemRefType>(copy.tensor.getType()).getElementType()))
    return "tensors do not start on 16 bytes, or the element type changes";
  llvm::Expected<IterationOwners> owners = IterationOwners::get(loop, getNumThreads(loop));
  if (!owners)
    return llvm::toString(owners.takeError());
  auto makeSubject = [&](Operation *op) {
    Subject subject;
    subject.op = op;
    subject.buffer = plancheck::getBuffer(op);
    subject.scope = loop;
    subject.kernel = kernel;
    subject.isRead = isa<LoadOp>(op);
    subject.owners = *owners;
    return subject;
  };
  Subject tensor = makeSubject(copy.isFill ? copy.read : copy.write),
          tile = makeSubject(copy.isFill ? copy.write : copy.read);
  AccessModel from(tensor, map), to(tile);
  int64_t bytes = getStorageBytes(element);
  bool hasDraws = from.hasDraws() || to.hasDraws();
  for (uint64_t round = 0; round < (hasDraws ? options.rounds : 1); ++round) {
    if (!from.startRound(round) || !to.startRound(round))
      continue;
    std::string fault = plan ? BulkRound(plan, from, to, bytes).run(*owners)
                             : findSpanFault(span, from, to, bytes, *owners);
    if (!fault.empty())
      return fault;
  }
  return "";
}
