//===- LowerCopy.cpp - copies, fills and patches of images ------------------------------------===//
//
// What a copy does besides moving elements follows from the plan on it (Tile/CpuPlan.h):
//
//   tile.prepares     prepares the operands of the products that read the tile, once for all
//   tile.direct       does not fill the tile: operands are prepared from what would be copied
//   tile.kept         does nothing if the tile, and its operands, still hold what was copied by an
//                     earlier block of the same worker
//   tile.prefetches   prefetches what the next iteration copies
//
// Tiles have fixed addresses in the worker's memory, so a tile that only one copy fills still has
// its contents when the next block begins. A kept copy remembers the address it has read:
//
//   if (address of A's part != last) { copy; pack; find the smallest magnitude; last = address }
//
//===----------------------------------------------------------------------------------------===//

#include "Lowerings.h"
#include "Operands.h"
#include "Scalars.h"
#include "Streams.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------------------------===//
// Operands of products
//===----------------------------------------------------------------------------------------===//

/// What the copy reads, as a matrix of the tile's shape.
static View getSourceAsMatrix(tile::CopyOp op, Emitter &e) {
  View source = e.buffers.getView(op.getSource()), dest = e.buffers.getView(op.getDest());
  Pairing pairing =
      pairDimensions(e, source, op.getSource().getType(), dest, op.getDest().getType());
  View matrix = source;
  matrix.dims.clear();
  matrix.steps.clear();
  matrix.extents.clear();
  for (unsigned dim : pairing.source) {
    matrix.dims.push_back(source.dims[dim]);
    matrix.steps.push_back(source.steps[dim]);
    matrix.extents.push_back(source.extents[dim]);
  }
  return matrix;
}

/// Fills the tile, unless nothing needs it, and prepares the operands of the products that read it.
static void fillTile(tile::CopyOp op, ReadAhead readAhead, Emitter &e) {
  bool isDirect = op->hasAttr(tile::kDirectAttr);
  if (!isDirect)
    copyBuffer(e, op.getSource(), op.getDest(), readAhead);
  SmallVector<tile::OperandPlan> plans = tile::getOperandPlans(op);
  if (plans.empty())
    return;
  View source = isDirect ? getSourceAsMatrix(op, e) : e.buffers.getView(op.getDest());
  Value smallest; // of all elements; found by the first that needs it
  for (const tile::OperandPlan &plan : plans) {
    GemmOperand operand =
        prepareOperand(e, plan.form, op.getDest().getType(), source, readAhead, smallest);
    if (!smallest)
      smallest = operand.smallest;
    e.planned.operands[plan.id] = operand;
  }
}

//===----------------------------------------------------------------------------------------===//
// Tiles that serve several blocks
//===----------------------------------------------------------------------------------------===//

/// The view with its constants made again, here.
static View renew(View view, Emitter &e) {
  for (auto *values : {&view.surface, &view.base, &view.steps, &view.extents})
    for (Value &value : *values)
      if (std::optional<int64_t> constant = getConstantIntValue(value))
        value = e.index(*constant);
  return view;
}

/// Fills the tile and its operands, unless they are what the copy would make them. (A launch that
/// is stopped in the middle runs no further block.)
static void keepTile(tile::CopyOp op, int64_t slot, ReadAhead readAhead, Emitter &e) {
  View source = e.buffers.getView(op.getSource());
  Value address = e.buffers.addressOf(
      source, e.buffers.toSurface(source, SmallVector<Value>(source.getRank(), e.index(0))));
  Value last = e.offsetPointer(e.buffers.getArena(), address.getType(),
                               e.numbers.integer(e.b.getI64Type(), slot));
  Value isOther = LLVM::ICmpOp::create(e.b, LLVM::ICmpPredicate::ne, address,
                                       LLVM::LoadOp::create(e.b, address.getType(), last));
  SmallVector<tile::OperandPlan> plans = tile::getOperandPlans(op);
  llvm::SmallDenseMap<Value, View, 2> cells; // of the smallest magnitudes
  e.ifTrue(isOther, [&] {
    fillTile(op, readAhead, e);
    LLVM::StoreOp::create(e.b, address, last);
    for (const tile::OperandPlan &plan : plans)
      if (Value smallest = e.planned.operands[plan.id].smallest;
          smallest && !cells.contains(smallest)) {
        cells[smallest] = e.buffers.makeScratch({1}, smallest.getType());
        e.buffers.store(cells[smallest], {e.index(0)}, smallest);
      }
  });
  for (const tile::OperandPlan &plan : plans) {
    GemmOperand &operand = e.planned.operands[plan.id];
    operand.view = renew(operand.view, e);
    if (operand.columnSums)
      operand.columnSums = renew(*operand.columnSums, e);
    if (operand.smallest)
      operand.smallest = e.buffers.load(renew(cells[operand.smallest], e), {e.index(0)});
  }
}

//===----------------------------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------------------------===//

/// Prefetches a tile, row by row, into the second-level cache.
static void prefetchTile(const View &view, Emitter &e) {
  unsigned last = view.getRank() - 1;
  int64_t elements = kCacheLine / tile::getStorageBytes(view.elementType);
  SmallVector<Value> extents(view.extents.begin(), view.extents.end());
  extents[last] = e.index(llvm::divideCeil(*getConstantIntValue(extents[last]), elements));
  e.loopNest(extents, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
    SmallVector<Value> index(variables);
    index[last] = e.mul(index[last], e.index(elements));
    LLVM::Prefetch::create(e.b, e.buffers.addressOf(view, e.buffers.toSurface(view, index)),
                           /*rw=*/0, /*hint=*/2, /*cache=*/1);
  });
}

void tilewright::cpu::lowerCopy(tile::CopyOp op, Emitter &e) {
  ReadAhead readAhead =
      op->hasAttr(tile::kPrefetchedAttr) ? ReadAhead::NotNeeded : ReadAhead::Allowed;
  if (std::optional<int64_t> slot = tile::getPlanNumber(op, tile::kKeptAttr))
    keepTile(op, *slot, readAhead, e);
  else
    fillTile(op, readAhead, e);
  for (int64_t id : tile::getPrefetches(op))
    if (std::optional<View> next = e.buffers.getNamedView(id, op))
      prefetchTile(*next, e);
}

void tilewright::cpu::lowerFinalizeReducer(tile::FinalizeReducerOp op, Emitter &e) {
  copyBuffer(e, op.getReducer(), op.getDest());
}

void tilewright::cpu::lowerFill(tile::FillOp op, Emitter &e) {
  fillView(e, e.buffers.getView(op.getDest()), e.lookup(op.getValue()));
}

void tilewright::cpu::lowerIm2col(tile::Im2colOp op, Emitter &e) {
  View image = e.buffers.getView(op.getImage()), dest = e.buffers.getView(op.getDest());
  auto number = [&](uint64_t value) { return e.index(static_cast<int64_t>(value)); };
  Value kernel = number(op.getKernel()), stride = number(op.getStride()),
        dilation = number(op.getDilation()), pad = number(op.getPad());
  Value batch = image.extents[0], height = image.extents[1], width = image.extents[2],
        channels = image.extents[3];
  auto quotient = [&](Value lhs, Value rhs) {
    return divide(e, Division::FloorDiv, lhs, rhs, /*isUnsigned=*/false);
  };
  auto remainder = [&](Value lhs, Value rhs) {
    return divide(e, Division::FloorMod, lhs, rhs, /*isUnsigned=*/false);
  };
  auto countPositions = [&](Value extent) { // of the kernel along one side
    Value reach = e.mul(dilation, e.sub(kernel, e.index(1)));
    Value room = e.sub(e.sub(e.add(extent, e.mul(e.index(2), pad)), reach), e.index(1));
    return e.b.createOrFold<arith::MaxSIOp>(e.add(quotient(room, stride), e.index(1)), e.index(0));
  };
  Value outWidth = countPositions(width), positions = e.mul(countPositions(height), outWidth);
  Value rowBase = e.mul(e.lookup(op.getRowTile()), dest.extents[0]);
  Value columnBase = e.mul(e.lookup(op.getColumnTile()), dest.extents[1]);
  Type storage = getStorageType(image.elementType);
  Value zero = isa<FloatType>(storage) ? e.numbers.real(storage, 0) : e.numbers.integer(storage, 0);
  e.loopNest(dest.extents, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
    Value row = e.add(rowBase, variables[0]), column = e.add(columnBase, variables[1]);
    Value position = remainder(row, positions);
    Value h = e.sub(e.add(e.mul(quotient(position, outWidth), stride),
                          e.mul(quotient(column, e.mul(kernel, channels)), dilation)),
                    pad);
    Value w = e.sub(e.add(e.mul(remainder(row, outWidth), stride),
                          e.mul(remainder(quotient(column, channels), kernel), dilation)),
                    pad);
    Value picture = quotient(row, positions);
    auto below = [&](Value value, Value limit) {
      return e.compare(arith::CmpIPredicate::ult, value, limit);
    };
    Value exists = e.compare(arith::CmpIPredicate::ne, positions, e.index(0));
    exists = e.bothTrue(exists, e.compare(arith::CmpIPredicate::sge, row, e.index(0)));
    exists = e.bothTrue(exists, below(picture, batch));
    exists = e.bothTrue(exists, below(column, e.mul(e.mul(kernel, kernel), channels)));
    exists = e.bothTrue(exists, e.bothTrue(below(h, height), below(w, width)));
    auto branch = scf::IfOp::create(e.b, TypeRange{storage}, exists, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(
          e.b, e.buffers.loadStored(image, {picture, h, w, remainder(column, channels)}));
      e.b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(e.b, zero);
    }
    e.buffers.storeStored(dest, variables, branch.getResult(0));
  });
}
