//===- Streams.cpp - rows of tensors that are larger than the caches --------------------------===//

#include "Streams.h"
#include "tilewright/Tile/CpuPlan.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Shorter rows are not read ahead.
static constexpr int64_t kReadAheadRowBytes = 256;

/// Whether rows of so many elements of a tensor are read ahead and written past the caches.
static bool isStreamed(const Root &root, Value rowLength) {
  std::optional<int64_t> length = getConstantIntValue(rowLength);
  if (root.isOnChip() || root.layout || !length)
    return false;
  int64_t bytes = tile::getStorageBytes(root.elementType), tensorBytes = bytes;
  for (Value extent : root.extents)
    tensorBytes *= getConstantIntValue(extent).value_or(0);
  return tensorBytes >= tile::kStreamedTensorBytes && *length * bytes >= tile::kStreamedRowBytes;
}

void tilewright::cpu::prefetchAfter(Emitter &e, Value address) {
  Value ahead = LLVM::GEPOp::create(e.b, address.getType(), e.b.getI8Type(), address,
                                    ArrayRef<LLVM::GEPArg>{int32_t(e.options.readAheadBytes)});
  LLVM::Prefetch::create(e.b, ahead, /*rw=*/0, /*hint=*/2, /*cache=*/1);
}

void tilewright::cpu::noteStreamedStores(Emitter &e) {
  if (e.hasAtomics)
    fenceStores(e.b);
  else
    e.hasUnfencedStores = true;
}

void tilewright::cpu::fenceStores(ImplicitLocOpBuilder &b) {
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.x86.sse.sfence"), ValueRange());
}

bool tilewright::cpu::isOneStretch(const View &view) {
  bool hasAll = true;
  for (unsigned dim = view.surface.size(); dim-- > 0;) {
    const unsigned *found = llvm::find(view.dims, dim);
    std::optional<int64_t> extent = 1, whole = getConstantIntValue(view.surface[dim]);
    if (found != view.dims.end())
      extent = getConstantIntValue(view.extents[found - view.dims.begin()]);
    if (!hasAll && extent != 1)
      return false;
    hasAll &= extent && extent == whole;
  }
  return true;
}

bool tilewright::cpu::isReadAhead(const View &view) {
  int64_t bytes = tile::getStorageBytes(view.elementType);
  for (Value extent : view.extents)
    bytes *= getConstantIntValue(extent).value_or(0);
  return !view.root->isOnChip() && !view.root->layout &&
         (isOneStretch(view) || bytes > tile::kMaxPrefetchedBytes);
}

/// Whether the copy moves whole rows between a tile and a tensor, as they are.
static bool movesRows(Emitter &e, const View &source, const View &dest, const Pairing &pairing) {
  return source.root->isOnChip() != dest.root->isOnChip() &&
         source.elementType == dest.elementType && !pairing.extents.empty() &&
         pairing.source.back() + 1 == source.getRank() &&
         pairing.dest.back() + 1 == dest.getRank() &&
         e.buffers.isContiguousAlong(source, pairing.source.back()) &&
         e.buffers.isContiguousAlong(dest, pairing.dest.back());
}

/// Whether the copy is one of whole long rows between a tile and `large`, a tensor of that size.
static bool isStreamed(Emitter &e, const View &source, const View &dest, const Pairing &pairing,
                       const Root &large) {
  return movesRows(e, source, dest, pairing) && large.elementType == dest.elementType &&
         isStreamed(large, pairing.extents.back());
}

/// Whether the copy is one of whole rows, not too short, of a part of a tensor that is read ahead.
static bool readsAhead(Emitter &e, const View &source, const View &dest, const Pairing &pairing) {
  if (!isReadAhead(source) || !movesRows(e, source, dest, pairing))
    return false;
  std::optional<int64_t> length = getConstantIntValue(pairing.extents.back());
  return length && *length * tile::getStorageBytes(source.elementType) >= kReadAheadRowBytes;
}

/// Copies rows line by line, and reads ahead.
static void copyReadingAhead(Emitter &e, const View &source, const View &dest,
                             const Pairing &pairing) {
  int64_t bytes = tile::getStorageBytes(source.elementType), width = kCacheLine / bytes;
  int64_t length = *getConstantIntValue(pairing.extents.back());
  e.loopNest(
      ArrayRef(pairing.extents).drop_back(), /*isParallel=*/false, [&](ArrayRef<Value> outer) {
        auto at = [&](const View &view, ArrayRef<unsigned> dims, Value position) {
          SmallVector<Value> variables(outer);
          variables.push_back(position);
          return spread(e, view, dims, variables);
        };
        e.loopCarrying(e.index(0), e.index(length - length % width), e.index(width), {},
                       [&](Value position, ValueRange) {
                         SmallVector<Value> from = at(source, pairing.source, position);
                         e.buffers.storeVector(dest, at(dest, pairing.dest, position),
                                               e.buffers.loadVector(source, from, width));
                         prefetchAfter(
                             e, e.buffers.addressOf(source, e.buffers.toSurface(source, from)));
                         return SmallVector<Value>();
                       });
        for (int64_t rest = length - length % width; rest < length; ++rest)
          e.buffers.storeStored(
              dest, at(dest, pairing.dest, e.index(rest)),
              e.buffers.loadStored(source, at(source, pairing.source, e.index(rest))));
      });
}

/// Copies rows by stores that pass the caches by, from the first whole line of the destination to
/// the last.
static void copyStreaming(Emitter &e, const View &source, const View &dest,
                          const Pairing &pairing) {
  int64_t bytes = tile::getStorageBytes(dest.elementType), width = kCacheLine / bytes;
  Value length = pairing.extents.back();
  auto copyFrom = [&](ArrayRef<Value> outer, Value position, int64_t lanes) {
    SmallVector<Value> variables(outer);
    variables.push_back(position);
    SmallVector<Value> from = spread(e, source, pairing.source, variables),
                       to = e.buffers.toSurface(dest, spread(e, dest, pairing.dest, variables));
    if (!lanes)
      return e.buffers.storeAt(dest, to,
                               e.buffers.loadAt(source, e.buffers.toSurface(source, from)));
    auto store = LLVM::StoreOp::create(e.b, e.buffers.loadVector(source, from, lanes),
                                       e.buffers.addressOf(dest, to), kCacheLine,
                                       /*isVolatile=*/false, /*isNonTemporal=*/true);
    e.buffers.tagged(store, dest.root);
  };
  e.loopNest(
      ArrayRef(pairing.extents).drop_back(), /*isParallel=*/false, [&](ArrayRef<Value> outer) {
        SmallVector<Value> start(outer);
        start.push_back(e.index(0));
        Value row = e.buffers.addressOf(
            dest, e.buffers.toSurface(dest, spread(e, dest, pairing.dest, start)));
        Value address = LLVM::PtrToIntOp::create(e.b, e.b.getI64Type(), row);
        Value before = e.b.createOrFold<arith::AndIOp>( // bytes up to the first whole line
            e.sub(e.numbers.integer(e.b.getI64Type(), 0), address),
            e.numbers.integer(e.b.getI64Type(), kCacheLine - 1));
        Value head = e.b.createOrFold<arith::DivUIOp>(
            e.b.createOrFold<arith::IndexCastOp>(e.b.getIndexType(), before), e.index(bytes));
        Value left = e.b.createOrFold<arith::RemUIOp>(e.sub(length, head), e.index(width));
        Value tail = e.sub(length, left);
        auto copySingly = [&](Value first, Value past) {
          e.loopNest({first}, {past}, /*isParallel=*/false,
                     [&](ArrayRef<Value> position) { copyFrom(outer, position[0], 0); });
        };
        copySingly(e.index(0), head);
        e.loopCarrying(head, tail, e.index(width), {}, [&](Value position, ValueRange) {
          copyFrom(outer, position, width);
          return SmallVector<Value>();
        });
        copySingly(tail, length);
      });
  noteStreamedStores(e);
}

bool tilewright::cpu::copyRows(Emitter &e, const View &source, const View &dest,
                               const Pairing &pairing, ReadAhead readAhead) {
  if (isStreamed(e, source, dest, pairing, *dest.root)) {
    copyStreaming(e, source, dest, pairing);
    return true;
  }
  if (isStreamed(e, source, dest, pairing, *source.root) ||
      (readAhead == ReadAhead::Allowed && readsAhead(e, source, dest, pairing))) {
    copyReadingAhead(e, source, dest, pairing);
    return true;
  }
  return false;
}
