//===- BulkTensor.cpp - cp.async.bulk.tensor and bulk reductions ------------------------------===//
//
// PTX ISA, "Tensors" and "cp.async.bulk.tensor". A box is dense in shared memory, the innermost
// dimension first; the swizzle permutes its 16-byte chunks by address bits. Elements outside the
// tensor read as zero or NaN and are not written. In im2col mode the rows are the channels of pixels,
// which follow each other in a bounding box; with .tile::gather4 they are four rows of a matrix.
//
//===-----------------------------------------------------------------------------------===//
#include "BulkCopy.h"
#include "Families.h"
#include "LocationLock.h"
#include "vgpu/Exec/SmallFloat.h"
#include "vgpu/Exec/TensorMap.h"
#include "vgpu/Machine/Launch.h"
#include "llvm/Support/FormatVariadic.h"
#include <bit>
#include <cmath>

using namespace vgpu::ptx;

namespace vgpu {

// --- reductions

template <class T> static T reduceInteger(BulkReduction reduction, T old, T value) {
  using Unsigned = std::make_unsigned_t<T>;
  switch (reduction) {
  case BulkReduction::Add:
    return T(Unsigned(old) + Unsigned(value));
  case BulkReduction::Min:
    return std::min(old, value);
  case BulkReduction::Max:
    return std::max(old, value);
  case BulkReduction::Inc:
    return Unsigned(old) >= Unsigned(value) ? T(0) : T(old + 1);
  case BulkReduction::Dec:
    return old == 0 || Unsigned(old) > Unsigned(value) ? value : T(old - 1);
  case BulkReduction::And:
    return old & value;
  case BulkReduction::Or:
    return old | value;
  case BulkReduction::Xor:
    return old ^ value;
  case BulkReduction::None:
    break;
  }
  return value;
}

template <class T> static T reduceFloat(BulkReduction reduction, T old, T value) {
  if (reduction == BulkReduction::Add)
    return old + value;
  return reduction == BulkReduction::Min ? std::fmin(old, value) : std::fmax(old, value);
}

uint64_t reduceElement(BulkReduction reduction, Type type, uint64_t old, uint64_t value) {
  auto low = [](uint64_t bits) { return static_cast<uint32_t>(bits); };
  switch (type) {
  case Type::F16:
  case Type::BF16: {
    // The sum of two 16-bit floats is exact in f64, so it is rounded once.
    const FloatFormat &format = type == Type::F16 ? formatF16 : formatBF16;
    double result = reduceFloat(reduction, decodeFloat(old, format), decodeFloat(value, format));
    return encodeFloat(result, format, Rounding::Nearest);
  }
  case Type::F32:
    return std::bit_cast<uint32_t>(
        reduceFloat(reduction, std::bit_cast<float>(low(old)), std::bit_cast<float>(low(value))));
  case Type::F64:
    return std::bit_cast<uint64_t>(
        reduceFloat(reduction, std::bit_cast<double>(old), std::bit_cast<double>(value)));
  case Type::S32:
    return low(uint64_t(reduceInteger(reduction, int32_t(low(old)), int32_t(low(value)))));
  case Type::S64:
    return uint64_t(reduceInteger(reduction, int64_t(old), int64_t(value)));
  default:
    return bitWidth(type) == 64 ? reduceInteger(reduction, old, value)
                                : reduceInteger(reduction, low(old), low(value));
  }
}

void reduceBytes(BulkReduction reduction, Type type, uint8_t *to, const uint8_t *from,
                 size_t bytes) {
  unsigned width = byteWidth(type);
  for (size_t at = 0; at + width <= bytes; at += width) {
    LocationLock lock(to + at, width); // other blocks may add to it too
    uint64_t old = 0, value = 0;
    std::memcpy(&old, to + at, width);
    std::memcpy(&value, from + at, width);
    uint64_t result = reduceElement(reduction, type, old, value);
    std::memcpy(to + at, &result, width);
  }
}

namespace {

/// What elements outside of the tensor are: zero, or NaN, with all bits of exponent and mantissa
/// set, as the ISA's special NaN is only said to be one.
const uint8_t *fillOf(const TensorMap &map) {
  static constexpr uint64_t zero = 0, half = 0x7fff, single = 0x7fffffff,
                            wide = 0x7fffffffffffffffull;
  const uint64_t *fill = !map.fillsNan                                     ? &zero
                         : map.type == Type::F16 || map.type == Type::BF16 ? &half
                         : map.type == Type::F64                           ? &wide
                                                                           : &single;
  return reinterpret_cast<const uint8_t *>(fill);
}

/// Adds bytes to a move; those that follow the last ones at both ends make its piece longer.
void addPiece(BulkMove &move, uint8_t *to, const uint8_t *from, uint32_t bytes) {
  if (!move.pieces.empty()) {
    BulkMove::Piece &last = move.pieces.back();
    if (last.to + last.bytes == to && last.from + last.bytes == from) {
      last.bytes += bytes;
      return;
    }
  }
  move.pieces.push_back({to, from, bytes});
}

/// One copy of one lane: walks the rows of the box.
class TensorCopy {
public:
  TensorCopy(Warp &w, const Inst &in, unsigned lane)
      : w(w), in(in), lane(lane), operation(bulkOperationOf(w, in)) {}
  void run();

private:
  void load(uint64_t shared, const std::vector<int64_t> &start);
  void store(uint64_t shared, const std::vector<int64_t> &start);
  bool addRows(uint64_t shared, const std::vector<int64_t> &start);
  bool addPixels(uint64_t shared, const std::vector<int64_t> &start);
  uint64_t bytesToMove() const;
  bool readMap();
  bool addRow(const std::vector<int64_t> &at, uint64_t shared);
  uint8_t *globalRow(uint64_t address, unsigned bytes);
  void addLoad(uint64_t shared, const uint8_t *global, unsigned first, unsigned count);
  void addStore(uint64_t shared, uint8_t *global, unsigned first, unsigned count);

  Warp &w;
  const Inst &in;
  unsigned lane;
  const BulkOperation &operation;
  TensorMap map;
  BulkMove move;                   ///< the rows so far
  uint8_t *sharedMemory = nullptr; ///< of the block that the copy goes to or comes from
};

bool TensorCopy::readMap() {
  LaneAddresses lanes;
  computeAddresses(w, in.src(operation.otherSlot), operation.otherOffset, lanes.address);
  resolve(w, in, Space::Generic, tensorMapBytes, AccessKind::Read, 1u << lane, lanes, 64);
  if (lanes.mask == 0)
    return false;
  if (!TensorMap::decode(lanes.host[lane], map)) {
    report(w, in, lane, FindingKind::InvalidAccess, "the address does not hold a tensor map");
    return false;
  }
  if (map.rank() != operation.rank) {
    report(w, in, lane, FindingKind::InvalidAccess,
           llvm::formatv("the tensor has {0} dimensions, the instruction {1}", map.rank(),
                         unsigned(operation.rank)));
    return false;
  }
  bool isIm2col = operation.mode == BulkOperation::Mode::Im2col;
  if (map.column.has_value() != isIm2col) {
    report(w, in, lane, FindingKind::InvalidAccess,
           isIm2col ? "the instruction is of im2col mode, the tensor map is of boxes"
                    : "the tensor map is of im2col mode, the instruction is not");
    return false;
  }
  if (operation.mode == BulkOperation::Mode::Gather4 && map.box[1] != 1) {
    report(w, in, lane, FindingKind::InvalidAccess,
           llvm::formatv("four rows are copied one by one, but the box of the tensor map has {0}",
                         map.box[1]));
    return false;
  }
  return true;
}

/// Host memory of a piece of the tensor; the map may promise more than the allocation has.
uint8_t *TensorCopy::globalRow(uint64_t address, unsigned bytes) {
  bool isReduction = operation.reduction != BulkReduction::None;
  AccessKind kind = operation.kind == BulkOperation::Kind::Load ? AccessKind::AsyncRead
                    : isReduction                               ? AccessKind::Atomic
                                                                : AccessKind::AsyncWrite;
  LaneAddresses lanes;
  lanes.address[lane] = address;
  resolve(w, in, Space::Global, bytes, kind, 1u << lane, lanes, map.elementBytes());
  if (lanes.mask == 0)
    return nullptr;
  notifyOne(w, in, Space::Global, kind, AccessBy::AsyncProxy, lane, address, bytes,
            isReduction ? MemoryOrder::Relaxed : MemoryOrder::Weak, MemoryScope::Gpu);
  return lanes.host[lane];
}

/// Elements first, first + 1, ... of a row come from global memory (packed), the rest is filled.
void TensorCopy::addLoad(uint64_t shared, const uint8_t *global, unsigned first, unsigned count) {
  unsigned width = map.elementBytes(), step = map.elementStrides[0];
  unsigned elements = (map.box[0] + step - 1) / step;
  const uint8_t *outside = fillOf(map);
  for (unsigned i = 0; i < elements; ++i) {
    bool isInside = i >= first && i < first + count;
    uint64_t to = swizzleAddress(shared + uint64_t(i) * width, map.swizzle);
    addPiece(move, sharedMemory + to,
             isInside ? global + size_t(i - first) * step * width : outside, width);
  }
}

void TensorCopy::addStore(uint64_t shared, uint8_t *global, unsigned first, unsigned count) {
  unsigned width = map.elementBytes(), step = map.elementStrides[0];
  for (unsigned i = first; i < first + count; ++i) {
    uint64_t from = swizzleAddress(shared + uint64_t(i) * width, map.swizzle);
    checkDefined(w, in, lane, from, width);
    addPiece(move, global + size_t(i - first) * step * width, sharedMemory + from, width);
  }
}

/// One innermost row at coordinates `at`; `shared` is its address without the swizzle.
bool TensorCopy::addRow(const std::vector<int64_t> &at, uint64_t shared) {
  int64_t step = map.elementStrides[0], extent = map.extents[0];
  unsigned elements = static_cast<unsigned>((map.box[0] + step - 1) / step);
  bool isInside = true;
  uint64_t address = map.address;
  for (unsigned i = 1; i < map.rank(); ++i) {
    isInside &= at[i] >= 0 && at[i] < int64_t(map.extents[i]);
    address += static_cast<uint64_t>(at[i]) * map.strideBytes[i - 1];
  }
  unsigned first = 0, count = 0;
  if (isInside) {
    while (first < elements && at[0] + first * step < 0)
      ++first;
    while (first + count < elements && at[0] + (first + count) * step < extent)
      ++count;
  }
  bool isLoad = operation.kind == BulkOperation::Kind::Load;
  uint8_t *global = nullptr;
  if (count > 0) {
    unsigned width = map.elementBytes();
    unsigned bytes = static_cast<unsigned>((count - 1) * step + 1) * width;
    global = globalRow(address + static_cast<uint64_t>((at[0] + first * step) * width), bytes);
    if (!global)
      return false;
  }
  if (isLoad)
    addLoad(shared, global, first, count);
  else
    addStore(shared, global, first, count);
  return true;
}

uint64_t TensorCopy::bytesToMove() const {
  return operation.mode == BulkOperation::Mode::Gather4 ? 4 * map.boxBytes() : map.boxBytes();
}

/// The channels of one pixel after another ("Im2col mode"): along the first dimension of the bounding
/// box, then from its lower corner in the next one, at last in the next image. The offsets of the
/// instruction move what is read, not where the walk turns.
bool TensorCopy::addPixels(uint64_t shared, const std::vector<int64_t> &start) {
  const PixelColumn &column = *map.column;
  unsigned inner = map.rank() - 2, rowBytes = map.box[0] * map.elementBytes();
  std::vector<int64_t> pixel = start, at = start;
  for (unsigned n = 0; n < column.pixels; ++n) {
    for (unsigned i = 1; i <= inner; ++i) {
      int64_t offset = operation.offsetSlot < 0
                           ? 0
                           : static_cast<uint16_t>(w.lane(
                                 in.src(operation.offsetSlot + static_cast<int>(i) - 1), lane));
      at[i] = pixel[i] + offset;
    }
    at[inner + 1] = pixel[inner + 1];
    if (!addRow(at, shared + uint64_t(n) * rowBytes))
      return false;
    unsigned i = 1;
    for (; i <= inner; ++i) {
      pixel[i] += map.elementStrides[i];
      if (pixel[i] <= int64_t(map.extents[i]) - 1 + column.upper[i - 1])
        break;
      pixel[i] = column.lower[i - 1];
    }
    if (i > inner)
      ++pixel[inner + 1];
  }
  return true;
}

/// All rows of the box; false after a finding.
bool TensorCopy::addRows(uint64_t shared, const std::vector<int64_t> &start) {
  if (operation.mode == BulkOperation::Mode::Im2col)
    return addPixels(shared, start);
  if (operation.mode == BulkOperation::Mode::Gather4) {
    for (unsigned i = 0; i < 4; ++i)
      if (!addRow({start[0], start[1 + i]}, shared + i * map.boxBytes()))
        return false;
    return true;
  }
  // Count through the outer dimensions; the innermost one is a row.
  std::vector<int64_t> at = start;
  unsigned rowBytes =
      (map.box[0] + map.elementStrides[0] - 1) / map.elementStrides[0] * map.elementBytes();
  for (uint64_t address = shared; address < shared + map.boxBytes(); address += rowBytes) {
    if (!addRow(at, address))
      return false;
    for (unsigned i = 1; i < map.rank(); ++i) {
      at[i] += map.elementStrides[i];
      if (at[i] < start[i] + int64_t(map.box[i]))
        break;
      at[i] = start[i];
    }
  }
  return true;
}

void TensorCopy::load(uint64_t shared, const std::vector<int64_t> &start) {
  unsigned bytes = static_cast<unsigned>(bytesToMove());
  for (Block *target : targetsOf(w, in, lane)) {
    std::optional<Landing> landing = openLanding(w, in, lane, shared, bytes, 128, target);
    if (!landing)
      continue;
    move = BulkMove();
    sharedMemory = landing->to.block->shared.data();
    if (addRows(landing->to.address, start))
      landInShared(w, in, lane, *landing, bytes, std::move(move));
  }
}

void TensorCopy::store(uint64_t shared, const std::vector<int64_t> &start) {
  unsigned bytes = static_cast<unsigned>(bytesToMove());
  SharedAddress from = openShared(w, in, lane, shared, bytes, 128, AccessKind::AsyncRead);
  if (!from.block)
    return;
  sharedMemory = from.block->shared.data();
  if (!addRows(from.address, start))
    return;
  move.reduction = operation.reduction;
  move.type = map.type;
  leaveShared(w, in, lane, from.address, bytes, std::move(move));
}

void TensorCopy::run() {
  if (!readMap())
    return;
  uint64_t shared[warpSize];
  computeAddresses(w, in.src(operation.sharedSlot), operation.sharedOffset, shared);
  std::vector<int64_t> start(operation.mode == BulkOperation::Mode::Gather4 ? 5 : map.rank());
  for (unsigned i = 0; i < start.size(); ++i)
    start[i] = static_cast<int32_t>(w.lane(in.src(operation.coordinateSlot + i), lane));
  if (operation.kind == BulkOperation::Kind::Load)
    load(shared[lane], start);
  else
    store(shared[lane], start);
}

} // namespace

void copyTensor(Warp &w, const Inst &in, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) { TensorCopy(w, in, lane).run(); });
}

} // namespace vgpu
