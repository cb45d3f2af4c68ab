//===- LoopVectorizer.cpp - several iterations of a loop at once ------------------------------===//

#include "LoopVectorizer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Intrinsics.h"

using namespace mlir;
using namespace tilewright::cpu;

LoopVectorizer::LoopVectorizer(scf::ForOp loop) : loop(loop) {
  steps[loop.getInductionVar()] = 1;
  llvm::DenseSet<Value> carried(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  for (Operation &op : loop.getBody()->without_terminator())
    if (llvm::any_of(op.getOperands(), [&](Value value) { return carried.contains(value); })) {
      ofCarried.insert(&op);
      carried.insert(op.result_begin(), op.result_end());
    }
  for (Operation &op : loop.getBody()->without_terminator())
    possible &= ofCarried.contains(&op) ? isPure(&op) : classify(op);
}

LoopVectorizer::Step LoopVectorizer::getStep(Value value) const {
  auto it = steps.find(value);
  return it == steps.end() ? Step(0) : it->second;
}

/// Whether an operation is done element by element on vectors under the same name.
static bool isElementwise(Operation &op) {
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return call->getNumResults() == 1 && call.getOpBundleOperands().empty() &&
           llvm::isTriviallyVectorizable(llvm::Intrinsic::lookupIntrinsicID(call.getIntrin()));
  // Other functions are calls of libm, which has none of vectors.
  if (isa<math::MathDialect>(op.getDialect()))
    return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::FloorOp,
               math::FmaOp, math::RoundEvenOp, math::SqrtOp, math::TruncOp>(op);
  return OpTrait::hasElementwiseMappableTraits(&op) && op.getNumResults() == 1;
}

/// How much the result of an operation grows from iteration to iteration.
LoopVectorizer::Step LoopVectorizer::findStep(Operation &op) const {
  auto stepOf = [&](unsigned operand) { return getStep(op.getOperand(operand)); };
  if (llvm::all_of(op.getOperands(), [&](Value operand) { return getStep(operand) == 0; }))
    return 0;
  if (!isa<IndexType, LLVM::LLVMPointerType>(op.getResult(0).getType()) &&
      !isa<arith::IndexCastOp>(op))
    return std::nullopt; // machine integers may wrap between two iterations
  if (isa<arith::AddIOp>(op) && stepOf(0) && stepOf(1))
    return *stepOf(0) + *stepOf(1);
  if (isa<arith::SubIOp>(op) && stepOf(0) && stepOf(1))
    return *stepOf(0) - *stepOf(1);
  if (isa<arith::MulIOp>(op))
    for (unsigned side : {0u, 1u})
      if (std::optional<int64_t> factor = getConstantIntValue(op.getOperand(side)))
        if (Step step = stepOf(1 - side))
          return *step * *factor;
  if (isa<arith::IndexCastOp>(op) && isa<IndexType>(op.getOperand(0).getType()))
    return stepOf(0);                           // of a narrow integer, modulo its range
  if (auto address = dyn_cast<LLVM::GEPOp>(op)) // counted in elements of its type
    if (address.getDynamicIndices().size() == 1 && address.getIndices().size() == 1 &&
        getStep(address.getBase()) == 0)
      return getStep(address.getDynamicIndices()[0]);
  return std::nullopt;
}

/// The elements that an access touches in turn are neighbours.
template <typename OpT> static bool isOfNeighbours(OpT access, Type element) {
  auto address = access.getAddr().template getDefiningOp<LLVM::GEPOp>();
  return address && address.getElemType() == element && element.isIntOrFloat() &&
         !access.getVolatile_() && access.getOrdering() == LLVM::AtomicOrdering::not_atomic;
}

bool LoopVectorizer::classify(Operation &op) {
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    Step step = getStep(load.getAddr());
    steps[load.getResult()] = step == 0 ? step : std::nullopt;
    if (step == 0)
      return true;
    accesses.insert(&op);
    return step == 1 && isOfNeighbours(load, load.getType());
  }
  if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    accesses.insert(&op);
    return getStep(store.getAddr()) == 1 && isOfNeighbours(store, store.getValue().getType());
  }
  if (op.getNumRegions() != 0 || op.getNumResults() != 1)
    return false;
  Step step = findStep(op);
  steps[op.getResult(0)] = step;
  if (step)
    return isa<LLVM::CallIntrinsicOp>(op) ? isElementwise(op) : isPure(&op);
  return isElementwise(op) && (op.getResult(0).getType().isIntOrIndexOrFloat());
}

Value LoopVectorizer::asVector(ImplicitLocOpBuilder &b, int64_t width, Group &group, Value old) {
  Value &vector = group.vectors[old];
  if (vector)
    return vector;
  auto type = VectorType::get({width}, old.getType());
  vector = vector::BroadcastOp::create(b, type, group.scalars.lookupOrDefault(old));
  if (int64_t step = *getStep(old)) {
    Type element = type.getElementType(), machine = element.isIndex() ? b.getI64Type() : element;
    SmallVector<Attribute> ramp;
    for (int64_t lane = 0; lane < width; ++lane) {
      APInt offset(machine.getIntOrFloatBitWidth(), lane * step, /*isSigned=*/true,
                   /*implicitTrunc=*/true);
      ramp.push_back(b.getIntegerAttr(machine, offset));
    }
    Value lanes = arith::ConstantOp::create(
        b, DenseElementsAttr::get(VectorType::get({width}, machine), ramp));
    if (element.isIndex())
      lanes = arith::IndexCastOp::create(b, type, lanes);
    vector = arith::AddIOp::create(b, vector, lanes);
  }
  return vector;
}

SmallVector<SmallVector<Value>>
LoopVectorizer::emit(ImplicitLocOpBuilder &b, int64_t width, ArrayRef<Value> firsts,
                     ArrayRef<Value> wanted,
                     llvm::function_ref<void(Operation *, Operation *)> onAccess) {
  std::vector<Group> groups(firsts.size());
  for (auto [group, first] : llvm::zip_equal(groups, firsts))
    group.scalars.map(loop.getInductionVar(), first);
  auto emitOp = [&](Operation &op, Group &group) {
    auto asVector = [&](Value old) { return this->asVector(b, width, group, old); };
    auto vectorOf = [&](Type type) { return VectorType::get({width}, type); };
    bool isAccess = accesses.contains(&op);
    if (!isAccess && getStep(op.getResult(0))) {
      b.clone(op, group.scalars);
      return;
    }
    OperationState state(op.getLoc(), op.getName());
    state.addAttributes(op.getAttrs());
    if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
      Value address = group.scalars.lookupOrDefault(store.getAddr());
      state.addOperands({asVector(store.getValue()), address});
    } else if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
      state.addOperands(group.scalars.lookupOrDefault(load.getAddr()));
      state.addTypes(vectorOf(load.getType()));
    } else {
      for (Value operand : op.getOperands())
        state.addOperands(asVector(operand));
      state.addTypes(vectorOf(op.getResult(0).getType()));
    }
    Operation *vector = b.create(state);
    if (vector->getNumResults() == 1)
      group.vectors[op.getResult(0)] = vector->getResult(0);
    if (isAccess)
      onAccess(&op, vector);
  };
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (ofCarried.contains(&op))
      continue;
    b.setLoc(op.getLoc());
    for (Group &group : groups)
      emitOp(op, group);
  }
  return llvm::map_to_vector(groups, [&](Group &group) {
    return llvm::map_to_vector(wanted, [&](Value old) { return asVector(b, width, group, old); });
  });
}

Value LoopVectorizer::emitAddress(ImplicitLocOpBuilder &b, Value address, Value first) {
  IRMapping scalars;
  scalars.map(loop.getInductionVar(), first);
  for (Operation &op : loop.getBody()->without_terminator())
    if (!ofCarried.contains(&op) && !accesses.contains(&op) && getStep(op.getResult(0)))
      b.clone(op, scalars); // what the address does not need is dead
  return scalars.lookupOrDefault(address);
}
