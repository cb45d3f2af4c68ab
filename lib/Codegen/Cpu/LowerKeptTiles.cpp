//===- LowerKeptTiles.cpp - tiles that serve several blocks -----------------------------------===//
//
// Blocks that one worker runs after each other often read the same part of a tensor: blocks of the
// same rows of a product read the same rows of A. Tiles have fixed places in the worker's memory,
// so a tile that only one copy fills still has its contents when the next block begins, and so have
// its packed forms. Such a copy remembers what it has read, and does nothing if that is asked for
// again:
//
//   if (address of A's part != last) { copy; pack; find the smallest magnitude; last = address }
//
// That is so only where the address says it all: all of the part exists, its strides are constants,
// and no statement of the kernel writes the tensor. It is done where the part does not change from
// turn to turn of a loop, nor from each block to the next one.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"
#include "tilewright/Support/HostAbi.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// As many addresses as blocks can leave to the next one.
static constexpr int64_t kMaxKept = host::kKeptBytes / sizeof(void *);

/// Whether the value is computed from one of the others, inside of the same kernel.
static bool dependsOn(Value value, const llvm::DenseSet<Value> &others) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> left = {value};
  while (!left.empty()) {
    Value next = left.pop_back_val();
    if (others.contains(next))
      return true;
    Operation *op = next.getDefiningOp();
    if (op && seen.insert(next).second)
      left.append(op->operand_begin(), op->operand_end());
  }
  return false;
}

/// Whether the copy, which alone fills its tile, may find there what it would write.
bool Lowering::isKept(tile::CopyOp copy) {
  auto kernel = copy->getParentOfType<tile::KernelOp>();
  if (!kernel || !scope->arena || kernel.getBlockIds().empty() || scope->numKept == kMaxKept)
    return false;
  llvm::DenseSet<Value> changing = {kernel.getBlockIds()[0]};
  for (Operation *outer = copy->getParentOp(); outer != kernel; outer = outer->getParentOp())
    if (!hasOneTurn(outer))
      for (Region &region : outer->getRegions())
        changing.insert_range(region.getArguments());
  if (dependsOn(copy.getSource(), changing) || !getDirectMatrix(copy.getSource(), copy.getDest()))
    return false;
  View source = getView(copy.getSource());
  return isNeverWritten(kernel, tile::getRoot(copy.getSource())) &&
         llvm::all_of(source.steps, [](Value step) { return getConstantIntValue(step); });
}

/// The view with its constants made again, here.
View Lowering::renew(View view) {
  for (auto *values : {&view.surface, &view.base, &view.steps, &view.extents})
    for (Value &value : *values)
      if (std::optional<int64_t> constant = getConstantIntValue(value))
        value = index(*constant);
  return view;
}

/// Fills the tile and its packed forms, unless they are what the copy would make them. (A launch
/// that is stopped in the middle runs no further block.)
void Lowering::keepTile(tile::CopyOp copy, const OperandReaders &found) {
  View source = getView(copy.getSource());
  Value address =
      addressOf(source, toSurface(source, SmallVector<Value>(source.getRank(), index(0))));
  Value last = offsetPointer(scope->arena, address.getType(),
                             numbers.integer(b.getI64Type(), scope->numKept++));
  Value isOther = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, address,
                                       LLVM::LoadOp::create(b, address.getType(), last));
  llvm::SmallDenseMap<Value, View, 2> places; // of the smallest magnitudes
  ifTrue(isOther, [&] {
    fillTile(copy, found, findDirectSource(copy, found, /*stays=*/false));
    LLVM::StoreOp::create(b, address, last);
    for (auto [gemm, isB] : found.readers)
      if (Value smallest = scope->prepared[{gemm, isB}].smallest;
          smallest && !places.contains(smallest)) {
        places[smallest] = makeScratch({1}, smallest.getType());
        store(places[smallest], {index(0)}, smallest);
      }
  });
  for (auto [gemm, isB] : found.readers) {
    Operand &operand = scope->prepared[{gemm, isB}];
    operand.view = renew(operand.view);
    if (operand.columnSums)
      operand.columnSums = renew(*operand.columnSums);
    if (operand.smallest)
      operand.smallest = load(renew(places[operand.smallest]), {index(0)});
  }
}
