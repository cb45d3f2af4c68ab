//===- Copies.cpp - moving the elements of tiles and tensors ----------------------------------===//

#include "Copies.h"
#include "Streams.h"
#include "tilewright/Tile/Statements.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------------------------===//

Value tilewright::cpu::requireEqual(Emitter &e, Value lhs, Value rhs, const Twine &what) {
  if (lhs == rhs)
    return lhs;
  std::optional<int64_t> left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  if (left && right && *left == *right)
    return lhs;
  e.ifTrue(e.compare(arith::CmpIPredicate::ne, lhs, rhs),
           [&] { e.services.fail((what + ": expected equal extents").str()); });
  return left ? lhs : rhs;
}

Pairing tilewright::cpu::pairDimensions(Emitter &e, const View &source, MemRefType sourceType,
                                        const View &dest, MemRefType destType) {
  Pairing pairing;
  tile::PairedDims dims = tile::pairDimensions(sourceType.getShape(), destType.getShape());
  pairing.source = std::move(dims.lhs);
  pairing.dest = std::move(dims.rhs);
  for (auto [from, to] : llvm::zip_equal(pairing.source, pairing.dest))
    pairing.extents.push_back(
        requireEqual(e, source.extents[from], dest.extents[to],
                     "'" + source.root->name + "' and '" + dest.root->name + "'"));
  return pairing;
}

SmallVector<Value> tilewright::cpu::spread(Emitter &e, const View &view, ArrayRef<unsigned> dims,
                                           ArrayRef<Value> variables) {
  SmallVector<Value> result(view.getRank(), e.index(0));
  for (auto [dim, variable] : llvm::zip_equal(dims, variables))
    result[dim] = variable;
  return result;
}

//===----------------------------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------------------------===//

static Value convertStored(Emitter &e, Value stored, Type from, Type to) {
  if (from == to)
    return stored; // bits stay as they are
  return e.numbers.pack(e.numbers.convert(e.numbers.unpack(stored, from), from, to), to);
}

/// Copies where both sides exist, and fills the rest of the destination with the safe value.
static void copyWindow(Emitter &e, const View &source, const View &dest, const Pairing &pairing,
                       const Window &sourceWindow, const Window &destWindow) {
  auto moveOver = [&](ArrayRef<Value> lowers, ArrayRef<Value> uppers) {
    e.loopNest(lowers, uppers, e.options.calls.disjointArguments, [&](ArrayRef<Value> variables) {
      Value stored = e.buffers.loadAt(
          source, e.buffers.toSurface(source, spread(e, source, pairing.source, variables)));
      e.buffers.storeAt(dest, e.buffers.toSurface(dest, spread(e, dest, pairing.dest, variables)),
                        convertStored(e, stored, source.elementType, dest.elementType));
    });
  };
  e.ifTrue(destWindow.condition, [&] {
    if (sourceWindow.isWhole)
      return moveOver(destWindow.lowers, destWindow.uppers);
    Value covers = sourceWindow.condition;
    SmallVector<Value> lowers, uppers;
    for (size_t loop = 0; loop < pairing.extents.size(); ++loop) {
      Value low = sourceWindow.lowers[loop], high = sourceWindow.uppers[loop];
      covers =
          e.bothTrue(covers, e.compare(arith::CmpIPredicate::sle, low, destWindow.lowers[loop]));
      covers =
          e.bothTrue(covers, e.compare(arith::CmpIPredicate::sge, high, destWindow.uppers[loop]));
      lowers.push_back(e.b.createOrFold<arith::MaxSIOp>(low, destWindow.lowers[loop]));
      uppers.push_back(e.b.createOrFold<arith::MinSIOp>(high, destWindow.uppers[loop]));
    }
    Value isPartial =
        e.b.createOrFold<arith::XOrIOp>(covers, e.numbers.integer(e.b.getI1Type(), 1));
    e.ifTrue(isPartial, [&] {
      Value safe =
          convertStored(e, e.buffers.safeStored(source), source.elementType, dest.elementType);
      e.loopNest(destWindow.lowers, destWindow.uppers, true, [&](ArrayRef<Value> variables) {
        e.buffers.storeAt(dest, e.buffers.toSurface(dest, spread(e, dest, pairing.dest, variables)),
                          safe);
      });
    });
    e.ifTrue(sourceWindow.condition, [&] { moveOver(lowers, uppers); });
  });
}

void tilewright::cpu::copyView(Emitter &e, const View &source, const View &dest,
                               const Pairing &pairing, ReadAhead readAhead) {
  if (copyRows(e, source, dest, pairing, readAhead))
    return;
  std::optional<Window> sourceWindow = e.buffers.windowOf(source, pairing.source, pairing.extents),
                        destWindow = e.buffers.windowOf(dest, pairing.dest, pairing.extents);
  if (sourceWindow && destWindow)
    return copyWindow(e, source, dest, pairing, *sourceWindow, *destWindow);
  e.loopNest(pairing.extents, false, [&](ArrayRef<Value> variables) {
    Value stored = e.buffers.loadStored(source, spread(e, source, pairing.source, variables));
    e.buffers.storeStored(dest, spread(e, dest, pairing.dest, variables),
                          convertStored(e, stored, source.elementType, dest.elementType));
  });
}

View tilewright::cpu::separateFrom(Emitter &e, const View &dest, const View &source,
                                   MemRefType sourceType, ReadAhead readAhead) {
  bool bothGlobal = !source.root->isOnChip() && !dest.root->isOnChip();
  bool mayOverlap = source.root == dest.root || (bothGlobal && !e.options.calls.disjointArguments);
  if (!mayOverlap)
    return source;
  View scratch = sourceType.hasStaticShape() && e.buffers.getArena()
                     ? e.buffers.makeScratch(sourceType.getShape(), source.elementType)
                     : e.buffers.makeScratch(source.extents, source.elementType);
  copyView(e, source, scratch, pairDimensions(e, source, sourceType, scratch, sourceType),
           readAhead);
  return scratch;
}

void tilewright::cpu::copyBuffer(Emitter &e, Value sourceBuffer, Value destBuffer,
                                 ReadAhead readAhead) {
  View dest = e.buffers.getView(destBuffer);
  auto sourceType = cast<MemRefType>(sourceBuffer.getType()),
       destType = cast<MemRefType>(destBuffer.getType());
  View source = separateFrom(e, dest, e.buffers.getView(sourceBuffer), sourceType, readAhead);
  copyView(e, source, dest, pairDimensions(e, source, sourceType, dest, destType), readAhead);
}

void tilewright::cpu::fillView(Emitter &e, const View &dest, Value value) {
  Value stored = e.numbers.pack(value, dest.elementType);
  SmallVector<unsigned> dims(dest.getRank());
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    dims[dim] = dim;
  if (std::optional<Window> window = e.buffers.windowOf(dest, dims, dest.extents))
    return e.ifTrue(window->condition, [&] {
      e.loopNest(window->lowers, window->uppers, true, [&](ArrayRef<Value> variables) {
        e.buffers.storeAt(dest, e.buffers.toSurface(dest, variables), stored);
      });
    });
  e.loopNest(dest.extents, false,
             [&](ArrayRef<Value> variables) { e.buffers.storeStored(dest, variables, stored); });
}
