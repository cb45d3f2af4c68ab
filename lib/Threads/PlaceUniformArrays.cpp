//===- PlaceUniformArrays.cpp - arrays of threads that are the block's after all -------------===//
//
// An array in the `local` space is each thread's own. Where all threads fill it with the same
// values by construction, it may bound a loop of tile statements, or be used by one, so that it
// needs memory of the block.
//
//===----------------------------------------------------------------------------------------===//

#include "PlaceUniformArrays.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

/// The number of the element that an access names, if it is a constant.
static std::optional<int64_t> getConstantElement(Operation *access, MemRefType type) {
  ValueRange indices;
  if (auto load = dyn_cast<LoadOp>(access))
    indices = load.getIndices();
  else if (auto store = dyn_cast<StoreOp>(access))
    indices = store.getIndices();
  else
    return std::nullopt;
  int64_t element = 0;
  for (auto [index, extent] : llvm::zip(indices, type.getShape())) {
    std::optional<int64_t> constant = getConstantIntValue(index);
    if (!constant || *constant < 0 || *constant >= extent)
      return std::nullopt;
    element = element * extent + *constant;
  }
  return element;
}

/// Views of a buffer are in its memory.
static void updateViewTypes(Value buffer) {
  for (Operation *user : buffer.getUsers())
    if (isa<SliceOp, ViewOp>(user)) {
      auto type = cast<MemRefType>(user->getResult(0).getType());
      user->getResult(0).setType(
          makeBufferType(type.getShape(), type.getElementType(), getSpace(buffer)));
      updateViewTypes(user->getResult(0));
    }
}

/// Gives an array of threads that all of them fill with the same values memory of the block:
/// variables where its indices are constants, else shared memory.
static void place(AllocOp alloc) {
  MemRefType type = alloc.getBuffer().getType();
  OpBuilder b(alloc);
  bool areConstants = llvm::all_of(alloc.getBuffer().getUsers(), [&](Operation *user) {
    return getConstantElement(user, type).has_value();
  });
  auto create = [&](ArrayRef<int64_t> shape, Space space) -> Value {
    return AllocOp::create(b, alloc.getLoc(), makeBufferType(shape, type.getElementType(), space),
                           alloc.getNameAttr(), ValueRange(), ReduceKindAttr());
  };
  if (!areConstants) {
    Value tile = create(type.getShape(), Space::Shared);
    alloc.getBuffer().replaceAllUsesWith(tile);
    updateViewTypes(tile);
    alloc.erase();
    return;
  }
  llvm::SmallDenseMap<int64_t, Value> variables;
  for (Operation *user : llvm::make_early_inc_range(alloc.getBuffer().getUsers())) {
    Value &variable = variables[*getConstantElement(user, type)];
    if (!variable)
      variable = create({}, Space::Local);
    OpBuilder at(user);
    if (auto load = dyn_cast<LoadOp>(user))
      load.replaceAllUsesWith(
          LoadOp::create(at, load.getLoc(), load.getType(), variable, ValueRange()).getValue());
    else
      StoreOp::create(at, user->getLoc(), cast<StoreOp>(user).getValue(), variable, ValueRange());
    user->erase();
  }
  alloc.erase();
}

void tilewright::threads::placeUniformArrays(KernelOp kernel, const ThreadFacts &facts) {
  SmallVector<AllocOp> arrays;
  kernel.walk([&](AllocOp alloc) {
    if (isArrayOfThreads(alloc) && !facts.isPrivate(alloc.getBuffer()))
      arrays.push_back(alloc);
  });
  llvm::for_each(arrays, place);
}
