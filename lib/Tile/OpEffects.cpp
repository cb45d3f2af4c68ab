//===- OpEffects.cpp - the effects of each statement, one short function an op ---------------===//

#include "tilewright/Target/Arch.h"
#include "tilewright/Tile/Tile.h"

using namespace mlir;
using namespace tilewright::tile;
using Effects = llvm::SmallVectorImpl<Effect>;

static void addBuffer(Effects &effects, EffectKind kind, Value buffer) {
  effects.push_back(makeEffect(kind, buffer));
}

static void addElement(Effects &effects, EffectKind kind, Value buffer, ValueRange indices) {
  effects.push_back(makeElementEffect(kind, buffer, indices));
}

/// How an atomic combines, if its previous value is not used.
static Combination combinationOf(AtomicKind kind) {
  switch (kind) {
  case AtomicKind::Add:
    return Combination::Add;
  case AtomicKind::Max:
    return Combination::Max;
  case AtomicKind::Min:
    return Combination::Min;
  case AtomicKind::And:
    return Combination::And;
  case AtomicKind::Or:
    return Combination::Or;
  case AtomicKind::Xor:
    return Combination::Xor;
  case AtomicKind::Exchange:
    return Combination::Ordered;
  }
  llvm_unreachable("all kinds of atomics are handled");
}

/// How the updates of a reducer combine.
static Combination combinationOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::AbsSum:
    return Combination::Add;
  case ReduceKind::Max:
  case ReduceKind::AbsMax:
    return Combination::Max;
  case ReduceKind::Min:
    return Combination::Min;
  case ReduceKind::And:
    return Combination::And;
  case ReduceKind::Or:
    return Combination::Or;
  case ReduceKind::Xor:
    return Combination::Xor;
  }
  llvm_unreachable("all kinds of reductions are handled");
}

void LoadOp::getTileEffects(Effects &effects) {
  addElement(effects, EffectKind::Read, getBuffer(), getIndices());
}

void StoreOp::getTileEffects(Effects &effects) {
  addElement(effects, EffectKind::Write, getBuffer(), getIndices());
}

void CopyOp::getTileEffects(Effects &effects) {
  addBuffer(effects, EffectKind::Read, getSource());
  addBuffer(effects, EffectKind::Write, getDest());
}

void FillOp::getTileEffects(Effects &effects) { addBuffer(effects, EffectKind::Write, getDest()); }

void GemmOp::getTileEffects(Effects &effects) {
  addBuffer(effects, EffectKind::Read, getA());
  addBuffer(effects, EffectKind::Read, getB());
  addBuffer(effects, EffectKind::Read, getC());
  addBuffer(effects, EffectKind::Write, getC());
  if ((*this)->hasAttr(kAsyncAttr))
    for (Effect &effect : MutableArrayRef(effects).take_back(4))
      effect.until = *this;
}

void ReduceOp::getTileEffects(Effects &effects) {
  addBuffer(effects, EffectKind::Read, getSource());
  if (!getClear())
    addBuffer(effects, EffectKind::Read, getDest());
  addBuffer(effects, EffectKind::Write, getDest());
}

/// Warps that share a row of a tile in memory leave a partial result each.
static int64_t warpResultsBytes(int64_t numThreads) {
  return llvm::divideCeil(numThreads, tilewright::kWarpSize) * 8;
}

/// A register tile that many threads share is combined through one partial result of each of its
/// slots for every thread, of at most `bytes` bytes.
static int64_t partialResultsBytes(Value dest, int64_t bytes, int64_t numThreads) {
  auto alloc = getRoot(dest).getDefiningOp<AllocOp>();
  auto placement = alloc ? alloc->getAttrOfType<FragmentAttr>(kPlacementAttr) : FragmentAttr();
  if (!placement)
    return 0;
  return placement.getFragment().getSlotsPerThread() * numThreads * bytes;
}

int64_t ReduceOp::getScratchSharedBytes(int64_t numThreads) {
  // Narrow elements are combined in 32 bits, numbers that become bools in 64.
  Type result = getDest().getType().getElementType();
  int64_t own =
      std::max(getStorageBytes(getSource().getType().getElementType()), getStorageBytes(result));
  int64_t bytes = result.isInteger(1) ? 8 : std::max<int64_t>(4, own);
  return std::max(partialResultsBytes(getDest(), bytes, numThreads), warpResultsBytes(numThreads));
}
bool ReduceOp::synchronisesInside() { return true; }

void CumsumOp::getTileEffects(Effects &effects) {
  addBuffer(effects, EffectKind::Read, getSource());
  addBuffer(effects, EffectKind::Write, getDest());
}

int64_t CumsumOp::getScratchSharedBytes(int64_t numThreads) { return warpResultsBytes(numThreads); }
bool CumsumOp::synchronisesInside() { return true; }

void AtomicOp::getTileEffects(Effects &effects) {
  if (isBufferType(getValue().getType()))
    addBuffer(effects, EffectKind::Read, getValue());
  addBuffer(effects, EffectKind::Accumulate, getDest());
  effects.back().combination = combinationOf(getKind());
}

void AtomicElementOp::getTileEffects(Effects &effects) {
  addElement(effects, EffectKind::Accumulate, getBuffer(), getIndices());
  if (getPrevious().use_empty())
    effects.back().combination = combinationOf(getKind());
}

void ReducerUpdateOp::getTileEffects(Effects &effects) {
  addElement(effects, EffectKind::Accumulate, getBuffer(), getIndices());
  auto alloc = getRoot(getBuffer()).getDefiningOp<AllocOp>();
  if (alloc && alloc.getReducer())
    effects.back().combination = combinationOf(*alloc.getReducer());
}

void FinalizeReducerOp::getTileEffects(Effects &effects) {
  addBuffer(effects, EffectKind::Read, getReducer());
  addBuffer(effects, EffectKind::Write, getDest());
}

int64_t FinalizeReducerOp::getScratchSharedBytes(int64_t numThreads) {
  int64_t bytes = getStorageBytes(getDest().getType().getElementType());
  return partialResultsBytes(getDest(), std::max<int64_t>(4, bytes), numThreads);
}
bool FinalizeReducerOp::synchronisesInside() { return true; }

void Im2colOp::getTileEffects(Effects &effects) {
  effects.push_back({EffectKind::Read, getRoot(getImage()), EffectRegion::whole()});
  addBuffer(effects, EffectKind::Write, getDest());
}

void PrintOp::getTileEffects(Effects &effects) {
  if (getValue() && isBufferType(getValue().getType()))
    addBuffer(effects, EffectKind::Read, getValue());
}

void BarrierArriveOp::getTileEffects(Effects &effects) {
  addElement(effects, EffectKind::Accumulate, getBarriers(), getIndex());
  effects.back().combination = Combination::Add;
}

void BarrierWaitOp::getTileEffects(Effects &effects) {
  addElement(effects, EffectKind::Read, getBarriers(), getIndex());
}

// Notes touch no memory. They count as writes for MLIR's own passes, which would otherwise delete
// or move them.
void AnnotateLayoutOp::getTileEffects(Effects &) {}
void BarrierOp::getTileEffects(Effects &) {}
bool BarrierOp::synchronisesInside() { return true; }
void AsyncWaitOp::getTileEffects(Effects &) {}
void BulkWaitOp::getTileEffects(Effects &) {}
void ProductWaitOp::getTileEffects(Effects &) {}
void AnnotateSafeValueOp::getTileEffects(Effects &) {}
void UseSwizzleOp::getTileEffects(Effects &) {}
void HintOp::getTileEffects(Effects &) {}
void AssumeOp::getTileEffects(Effects &) {}
void AssertOp::getTileEffects(Effects &) {}
