//===- LowerStreams.cpp - rows of tensors that are larger than the caches ---------------------===//
//
// Long rows of a tensor larger than the caches are *streamed*. They are written past the caches: an
// ordinary store would first read the line that it replaces, and push out one that is still needed.
// They are *read ahead*: the hardware stops at the end of each row, since work on the tile comes
// between, and begins anew. So are tiles of smaller tensors that LowerPrefetch.cpp leaves alone;
// there the hardware stops at the end of each page.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// A tensor of this size does not stay in the caches, and a row of that length is worth the care.
static constexpr int64_t kStreamedTensorBytes = int64_t(1) << 25;
static constexpr int64_t kStreamedRowBytes = 1024;
static constexpr int64_t kReadAheadBytes = 8192;
static constexpr int64_t kReadAheadRowBytes = 256;

bool Lowering::isStreamed(const Root &root, Value rowLength) {
  std::optional<int64_t> length = getConstantIntValue(rowLength);
  if (root.isOnChip() || root.layout || !length)
    return false;
  int64_t bytes = tile::getStorageBytes(root.elementType), tensorBytes = bytes;
  for (Value extent : root.extents)
    tensorBytes *= getConstantIntValue(extent).value_or(0);
  return tensorBytes >= kStreamedTensorBytes && *length * bytes >= kStreamedRowBytes;
}

/// Asks for what lies further on than `address`: of the same row or of the next one, which often
/// follows it in memory.
void Lowering::readAhead(Value address) {
  Value ahead = LLVM::GEPOp::create(b, address.getType(), b.getI8Type(), address,
                                    ArrayRef<LLVM::GEPArg>{int32_t(kReadAheadBytes)});
  LLVM::Prefetch::create(b, ahead, /*rw=*/0, /*hint=*/2, /*cache=*/1);
}

/// Stores past the caches are not ordered with others until they are fenced. Who waits for the
/// kernel needs it once, at the end; whoever is told by an atomic update, at once.
void Lowering::noteStreamedStores() {
  if (scope->hasAtomics)
    fenceStores();
  else
    scope->hasUnfenced = true;
}

void Lowering::fenceStores() {
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.x86.sse.sfence"), ValueRange());
}

/// Whether the copy moves whole rows between a tile and a tensor, as they are.
bool Lowering::movesRows(const View &source, const View &dest, const Pairing &pairing) {
  return source.root->isOnChip() != dest.root->isOnChip() &&
         source.elementType == dest.elementType && !pairing.extents.empty() &&
         pairing.source.back() + 1 == source.getRank() &&
         pairing.dest.back() + 1 == dest.getRank() &&
         isContiguousAlong(source, pairing.source.back()) &&
         isContiguousAlong(dest, pairing.dest.back());
}

/// Whether the copy is one of whole long rows between a tile and `large`, a tensor of that size.
bool Lowering::isStreamed(const View &source, const View &dest, const Pairing &pairing,
                          const Root &large) {
  return movesRows(source, dest, pairing) && large.elementType == dest.elementType &&
         isStreamed(large, pairing.extents.back());
}

/// Whether the copy is one of whole rows, not too short, of a part of a tensor that is read ahead.
bool Lowering::readsAhead(const View &source, const View &dest, const Pairing &pairing) {
  if (!isReadAhead(source) || !movesRows(source, dest, pairing))
    return false;
  std::optional<int64_t> length = getConstantIntValue(pairing.extents.back());
  return length && *length * tile::getStorageBytes(source.elementType) >= kReadAheadRowBytes;
}

/// Copies rows line by line, and reads ahead.
void Lowering::copyReadingAhead(const View &source, const View &dest, const Pairing &pairing) {
  int64_t bytes = tile::getStorageBytes(source.elementType), width = kCacheLine / bytes;
  int64_t length = *getConstantIntValue(pairing.extents.back());
  loopNest(ArrayRef(pairing.extents).drop_back(), /*isParallel=*/false, [&](ArrayRef<Value> outer) {
    auto at = [&](const View &view, ArrayRef<unsigned> dims, Value position) {
      SmallVector<Value> variables(outer);
      variables.push_back(position);
      return spread(view, dims, variables);
    };
    loopCarrying(index(0), index(length - length % width), index(width), {},
                 [&](Value position, ValueRange) {
                   SmallVector<Value> from = at(source, pairing.source, position);
                   storeVector(dest, at(dest, pairing.dest, position),
                               loadVector(source, from, width));
                   readAhead(addressOf(source, toSurface(source, from)));
                   return SmallVector<Value>();
                 });
    for (int64_t rest = length - length % width; rest < length; ++rest)
      storeStored(dest, at(dest, pairing.dest, index(rest)),
                  loadStored(source, at(source, pairing.source, index(rest))));
  });
}

/// Copies rows by stores that pass the caches by, from the first whole line of the destination to
/// the last.
void Lowering::copyStreaming(const View &source, const View &dest, const Pairing &pairing) {
  int64_t bytes = tile::getStorageBytes(dest.elementType), width = kCacheLine / bytes;
  Value length = pairing.extents.back();
  auto copyFrom = [&](ArrayRef<Value> outer, Value position, int64_t lanes) {
    SmallVector<Value> variables(outer);
    variables.push_back(position);
    SmallVector<Value> from = spread(source, pairing.source, variables),
                       to = toSurface(dest, spread(dest, pairing.dest, variables));
    if (!lanes)
      return storeAt(dest, to, loadAt(source, toSurface(source, from)));
    auto store = LLVM::StoreOp::create(b, loadVector(source, from, lanes), addressOf(dest, to),
                                       kCacheLine, /*isVolatile=*/false, /*isNonTemporal=*/true);
    tagged(store, dest.root);
  };
  loopNest(ArrayRef(pairing.extents).drop_back(), /*isParallel=*/false, [&](ArrayRef<Value> outer) {
    SmallVector<Value> start(outer);
    start.push_back(index(0));
    Value row = addressOf(dest, toSurface(dest, spread(dest, pairing.dest, start)));
    Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), row);
    Value before = b.createOrFold<arith::AndIOp>( // bytes up to the first whole line
        sub(numbers.integer(b.getI64Type(), 0), address),
        numbers.integer(b.getI64Type(), kCacheLine - 1));
    Value head = b.createOrFold<arith::DivUIOp>(
        b.createOrFold<arith::IndexCastOp>(b.getIndexType(), before), index(bytes));
    Value left = b.createOrFold<arith::RemUIOp>(sub(length, head), index(width));
    Value tail = sub(length, left);
    auto copySingly = [&](Value first, Value past) {
      loopNest({first}, {past}, /*isParallel=*/false,
               [&](ArrayRef<Value> position) { copyFrom(outer, position[0], 0); });
    };
    copySingly(index(0), head);
    loopCarrying(head, tail, index(width), {}, [&](Value position, ValueRange) {
      copyFrom(outer, position, width);
      return SmallVector<Value>();
    });
    copySingly(tail, length);
  });
  noteStreamedStores();
}
