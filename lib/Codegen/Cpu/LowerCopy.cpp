//===- LowerCopy.cpp - copies, fills and patches of images ------------------------------------===//
//
// A copy that may leave a global tensor does not check each element: the elements that exist form a
// box, so the loops run over its intersection with the tile, and what lies outside is filled with
// the safe value first (only if there is any).
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"
#include "tilewright/Tile/Statements.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------------------------===//

Value Lowering::requireEqual(Value lhs, Value rhs, StringRef what) {
  if (lhs == rhs)
    return lhs;
  std::optional<int64_t> left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  if (left && right && *left == *right)
    return lhs;
  ifTrue(compare(arith::CmpIPredicate::ne, lhs, rhs),
         [&] { callFail((what + ": expected equal extents").str()); });
  return left ? lhs : rhs;
}

Lowering::Pairing Lowering::pairDimensions(const View &source, MemRefType sourceType,
                                           const View &dest, MemRefType destType) {
  Pairing pairing;
  tile::PairedDims dims = tile::pairDimensions(sourceType.getShape(), destType.getShape());
  pairing.source = std::move(dims.lhs);
  pairing.dest = std::move(dims.rhs);
  for (auto [from, to] : llvm::zip_equal(pairing.source, pairing.dest))
    pairing.extents.push_back(
        requireEqual(source.extents[from], dest.extents[to],
                     "'" + source.root->name + "' and '" + dest.root->name + "'"));
  return pairing;
}

SmallVector<Value> Lowering::spread(const View &view, ArrayRef<unsigned> dims,
                                    ArrayRef<Value> variables) {
  SmallVector<Value> result(view.getRank(), index(0));
  for (auto [dim, variable] : llvm::zip_equal(dims, variables))
    result[dim] = variable;
  return result;
}

std::optional<Lowering::Window> Lowering::windowOf(const View &view, ArrayRef<unsigned> loopDims,
                                                   ArrayRef<Value> extents) {
  Window window;
  window.lowers.assign(extents.size(), index(0));
  window.uppers.assign(extents.begin(), extents.end());
  for (auto [surfaceDim, base] : llvm::enumerate(view.base)) {
    Value extent = view.surface[surfaceDim];
    const unsigned *loop =
        llvm::find_if(loopDims, [&, s = surfaceDim](unsigned dim) { return view.dims[dim] == s; });
    if (loop == loopDims.end()) {
      if (ranges.isProvenInside(base, extent))
        continue;
      window.condition =
          bothTrue(window.condition, compare(arith::CmpIPredicate::ult, base, extent));
      window.isWhole = false;
      continue;
    }
    size_t number = loop - loopDims.begin();
    Interval count = ranges.get(extents[number]), step = ranges.get(view.steps[*loop]);
    Interval last = ranges.get(base) + (count - Interval::exactly(1)) * step;
    bool isProven = ranges.get(base).isNonNegative() && step.isNonNegative() &&
                    last.greatest < ranges.get(extent).least;
    if (isProven)
      continue;
    if (getConstantIntValue(view.steps[*loop]) != 1)
      return std::nullopt;
    auto clamp = [&](Value bound) {
      Value atLeast = b.createOrFold<arith::MaxSIOp>(bound, index(0));
      return b.createOrFold<arith::MinSIOp>(atLeast, extents[number]);
    };
    window.lowers[number] = clamp(sub(index(0), base));
    window.uppers[number] = clamp(sub(extent, base));
    window.isWhole = false;
  }
  if (view.root->isOnChip() && !window.isWhole)
    return std::nullopt;
  return window;
}

//===----------------------------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------------------------===//

Value Lowering::convertStored(Value stored, Type from, Type to) {
  if (from == to)
    return stored; // bits stay as they are
  return numbers.pack(numbers.convert(numbers.unpack(stored, from), from, to), to);
}

/// Copies where both sides exist, and fills the rest of the destination with the safe value.
void Lowering::copyWindow(const View &source, const View &dest, const Pairing &pairing,
                          const Window &sourceWindow, const Window &destWindow) {
  auto moveOver = [&](ArrayRef<Value> lowers, ArrayRef<Value> uppers) {
    loopNest(lowers, uppers, options.calls.disjointArguments, [&](ArrayRef<Value> variables) {
      Value stored = loadAt(source, toSurface(source, spread(source, pairing.source, variables)));
      storeAt(dest, toSurface(dest, spread(dest, pairing.dest, variables)),
              convertStored(stored, source.elementType, dest.elementType));
    });
  };
  ifTrue(destWindow.condition, [&] {
    if (sourceWindow.isWhole)
      return moveOver(destWindow.lowers, destWindow.uppers);
    Value covers = sourceWindow.condition;
    SmallVector<Value> lowers, uppers;
    for (size_t loop = 0; loop < pairing.extents.size(); ++loop) {
      Value low = sourceWindow.lowers[loop], high = sourceWindow.uppers[loop];
      covers = bothTrue(covers, compare(arith::CmpIPredicate::sle, low, destWindow.lowers[loop]));
      covers = bothTrue(covers, compare(arith::CmpIPredicate::sge, high, destWindow.uppers[loop]));
      lowers.push_back(b.createOrFold<arith::MaxSIOp>(low, destWindow.lowers[loop]));
      uppers.push_back(b.createOrFold<arith::MinSIOp>(high, destWindow.uppers[loop]));
    }
    Value isPartial = b.createOrFold<arith::XOrIOp>(covers, numbers.integer(b.getI1Type(), 1));
    ifTrue(isPartial, [&] {
      Value safe = convertStored(safeStored(source), source.elementType, dest.elementType);
      loopNest(destWindow.lowers, destWindow.uppers, true, [&](ArrayRef<Value> variables) {
        storeAt(dest, toSurface(dest, spread(dest, pairing.dest, variables)), safe);
      });
    });
    ifTrue(sourceWindow.condition, [&] { moveOver(lowers, uppers); });
  });
}

void Lowering::copyView(const View &source, const View &dest, const Pairing &pairing) {
  if (isStreamed(source, dest, pairing, *dest.root))
    return copyStreaming(source, dest, pairing);
  if (isStreamed(source, dest, pairing, *source.root) || readsAhead(source, dest, pairing))
    return copyReadingAhead(source, dest, pairing);
  std::optional<Window> sourceWindow = windowOf(source, pairing.source, pairing.extents),
                        destWindow = windowOf(dest, pairing.dest, pairing.extents);
  if (sourceWindow && destWindow)
    return copyWindow(source, dest, pairing, *sourceWindow, *destWindow);
  loopNest(pairing.extents, false, [&](ArrayRef<Value> variables) {
    Value stored = loadStored(source, spread(source, pairing.source, variables));
    storeStored(dest, spread(dest, pairing.dest, variables),
                convertStored(stored, source.elementType, dest.elementType));
  });
}

/// A statement reads all of its operands before it writes the first element.
View Lowering::separateFrom(const View &dest, const View &source, MemRefType sourceType) {
  bool bothGlobal = !source.root->isOnChip() && !dest.root->isOnChip();
  bool mayOverlap = source.root == dest.root || (bothGlobal && !options.calls.disjointArguments);
  if (!mayOverlap)
    return source;
  View scratch = sourceType.hasStaticShape() && scope->arena
                     ? makeScratch(sourceType.getShape(), source.elementType)
                     : makeScratch(source.extents, source.elementType);
  copyView(source, scratch, pairDimensions(source, sourceType, scratch, sourceType));
  return scratch;
}

void Lowering::lowerCopy(Value sourceBuffer, Value destBuffer) {
  View dest = getView(destBuffer);
  auto sourceType = cast<MemRefType>(sourceBuffer.getType()),
       destType = cast<MemRefType>(destBuffer.getType());
  View source = separateFrom(dest, getView(sourceBuffer), sourceType);
  copyView(source, dest, pairDimensions(source, sourceType, dest, destType));
}

void Lowering::lowerFill(tile::FillOp op) {
  if (!startSums(op))
    fillView(getView(op.getDest()), lookup(op.getValue()));
}

void Lowering::fillView(const View &dest, Value value) {
  Value stored = numbers.pack(value, dest.elementType);
  SmallVector<unsigned> dims(dest.getRank());
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    dims[dim] = dim;
  if (std::optional<Window> window = windowOf(dest, dims, dest.extents))
    return ifTrue(window->condition, [&] {
      loopNest(window->lowers, window->uppers, true, [&](ArrayRef<Value> variables) {
        storeAt(dest, toSurface(dest, variables), stored);
      });
    });
  loopNest(dest.extents, false,
           [&](ArrayRef<Value> variables) { storeStored(dest, variables, stored); });
}

//===----------------------------------------------------------------------------------------===//
// Patches of an image
//===----------------------------------------------------------------------------------------===//

void Lowering::lowerIm2col(tile::Im2colOp op) {
  View image = getView(op.getImage()), dest = getView(op.getDest());
  auto number = [&](uint64_t value) { return index(static_cast<int64_t>(value)); };
  Value kernel = number(op.getKernel()), stride = number(op.getStride()),
        dilation = number(op.getDilation()), pad = number(op.getPad());
  Value batch = image.extents[0], height = image.extents[1], width = image.extents[2],
        channels = image.extents[3];
  auto quotient = [&](Value lhs, Value rhs) {
    return divide(Division::FloorDiv, lhs, rhs, /*isUnsigned=*/false);
  };
  auto remainder = [&](Value lhs, Value rhs) {
    return divide(Division::FloorMod, lhs, rhs, /*isUnsigned=*/false);
  };
  auto countPositions = [&](Value extent) { // of the kernel along one side
    Value reach = mul(dilation, sub(kernel, index(1)));
    Value room = sub(sub(add(extent, mul(index(2), pad)), reach), index(1));
    return b.createOrFold<arith::MaxSIOp>(add(quotient(room, stride), index(1)), index(0));
  };
  Value outWidth = countPositions(width), positions = mul(countPositions(height), outWidth);
  Value rowBase = mul(lookup(op.getRowTile()), dest.extents[0]);
  Value columnBase = mul(lookup(op.getColumnTile()), dest.extents[1]);
  Type storage = getStorageType(image.elementType);
  Value zero = isa<FloatType>(storage) ? numbers.real(storage, 0) : numbers.integer(storage, 0);
  loopNest(dest.extents, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
    Value row = add(rowBase, variables[0]), column = add(columnBase, variables[1]);
    Value place = remainder(row, positions);
    Value h = sub(add(mul(quotient(place, outWidth), stride),
                      mul(quotient(column, mul(kernel, channels)), dilation)),
                  pad);
    Value w = sub(add(mul(remainder(row, outWidth), stride),
                      mul(remainder(quotient(column, channels), kernel), dilation)),
                  pad);
    Value picture = quotient(row, positions);
    auto below = [&](Value value, Value limit) {
      return compare(arith::CmpIPredicate::ult, value, limit);
    };
    Value exists = compare(arith::CmpIPredicate::ne, positions, index(0));
    exists = bothTrue(exists, compare(arith::CmpIPredicate::sge, row, index(0)));
    exists = bothTrue(exists, below(picture, batch));
    exists = bothTrue(exists, below(column, mul(mul(kernel, kernel), channels)));
    exists = bothTrue(exists, bothTrue(below(h, height), below(w, width)));
    auto branch = scf::IfOp::create(b, TypeRange{storage}, exists, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(b, loadStored(image, {picture, h, w, remainder(column, channels)}));
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, zero);
    }
    storeStored(dest, variables, branch.getResult(0));
  });
}
