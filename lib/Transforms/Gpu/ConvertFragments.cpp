//===- ConvertFragments.cpp - uses that a fragment's layout does not serve ------------------===//

#include "LayoutSolver.h"
#include "MoveUses.h"
#include "tilewright/Tile/Remarks.h"

using namespace mlir;
using namespace tilewright::tile;
using namespace tilewright::analysis;

namespace tilewright {

/// What an exchange costs less than by memory: with a word through shared memory at two issue slots
/// (a store and a load), a shuffle at one, a selection at half of one, and a barrier at this many.
static constexpr int64_t kBarrierCost = 16;

/// Exchanges run where their results live, which the loops that read them have decided.
void LayoutSolver::placeExchanges() {
  kernel.walk([&](ParallelOp loop) {
    if (!loop->hasAttr(kExchangeAttr))
      return;
    AllocOp from = fragmentRoot((*loop.getOps<LoadOp>().begin()).getBuffer()),
            to = fragmentRoot((*loop.getOps<StoreOp>().begin()).getBuffer());
    if (!to || !from || !placed.contains(from)) {
      loop->removeAttr(kExchangeAttr); // memory on one side: a plain loop
      placeLoop(loop, /*allowFree=*/true);
      return;
    }
    place(to, placed.find(from)->second);
    distributions.try_emplace(loop, placed.find(to)->second);
  });
}

/// Finds the uses that a fragment's layout does not serve.
void LayoutSolver::findUnsatisfied() {
  kernel.walk([&](Operation *op) {
    if (auto loop = dyn_cast<ParallelOp>(op)) {
      AllocOp undecided;
      auto accesses = accessesOf(loop, &undecided);
      auto extents = getStaticExtents(loop);
      auto it = distributions.find(loop);
      if (!accesses || !extents || it == distributions.end()) {
        if (undecided)
          refuse(loop, undecided, "a loop indexes it by values that name no register");
        return;
      }
      std::optional<OwnerTable> table = OwnerTable::get(it->second, getNumThreads(loop));
      for (FragmentAccess &access : *accesses) {
        const OwnerTable *fragment = tableOf(access.fragment);
        ArrayRef<int64_t> shape = access.fragment.getBuffer().getType().getShape();
        if (table && fragment &&
            resolveSlots({*extents, *table}, access.indices, shape, *fragment, access.isWrite))
          continue;
        bool isExchanged = loop->hasAttr(kExchangeAttr) && !access.isWrite && table &&
                           planCheapExchange(access.fragment, *table);
        if (!isExchanged)
          refuse(loop, access.fragment, "threads of a loop need elements that other threads hold");
      }
      return;
    }
    if (op->getParentOfType<ParallelOp>())
      return;
    // Single elements and scans read and write by address.
    Value buffer;
    if (auto load = dyn_cast<LoadOp>(op))
      buffer = load.getBuffer();
    else if (auto store = dyn_cast<StoreOp>(op))
      buffer = store.getBuffer();
    if (buffer)
      if (AllocOp alloc = fragmentRoot(buffer))
        refuse(op, alloc, "a single element of it is used outside 'T.Parallel'");
    if (isa<CumsumOp, PrintOp>(op))
      for (Value operand : op->getOperands())
        if (isa<MemRefType>(operand.getType()))
          if (AllocOp alloc = fragmentRoot(operand))
            refuse(op, alloc, "a scan or print reads it in order");
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      AllocOp source = fragmentRoot(reduce.getSource()), dest = fragmentRoot(reduce.getDest());
      bool whole = source && dest && source.getBuffer() == reduce.getSource() &&
                   dest.getBuffer() == reduce.getDest() && tableOf(source) && tableOf(dest);
      bool planned =
          whole && planReduction(*tableOf(source), source.getBuffer().getType().getShape(),
                                 *tableOf(dest), reduce.getDim());
      if (!planned)
        for (AllocOp alloc : {source, dest})
          if (alloc)
            refuse(op, alloc,
                   whole ? "the threads that hold a row are no plain set of lanes and warps"
                         : "a reduction reads a part of it or mixes registers and memory");
    }
    if (auto gemm = dyn_cast<GemmOp>(op); gemm && !warps.contains(gemm))
      if (AllocOp c = fragmentRoot(gemm.getC());
          c && !(tableOf(c) && hasInverse(placed.find(c)->second)))
        refuse(op, c, "no register layout was found for it");
  });
}

/// Whether a fragment's layout is not ours to give up: tensor cores or the user need it.
bool LayoutSolver::isHeld(AllocOp alloc) {
  return llvm::any_of(alloc->getUsers(), [&](Operation *user) {
    if (auto note = dyn_cast<AnnotateLayoutOp>(user))
      return isa<FragmentAttr>(note.getLayout());
    auto gemm = dyn_cast<GemmOp>(user);
    return gemm && (warps.contains(gemm) || groups.contains(gemm)) &&
           gemm.getB() != alloc.getBuffer();
  });
}

/// An exchange that costs less than the way through memory.
std::optional<ExchangePlan> LayoutSolver::planCheapExchange(AllocOp from, const OwnerTable &to) {
  const OwnerTable *table = tableOf(from);
  std::optional<ExchangePlan> plan = table ? planExchange(*table, to) : std::nullopt;
  if (!plan)
    return std::nullopt;
  int64_t bytes = getStorageBytes(from.getBuffer().getType().getElementType());
  int64_t words = llvm::divideCeil(to.slots * bytes, 4);
  int64_t cost = 2 * plan->countShuffles(bytes) + plan->countSelects(table->slots);
  return cost <= 2 * (2 * words + kBarrierCost) ? plan : std::nullopt;
}

/// Serves a loop that reads a fragment from a copy in the registers where it runs.
bool LayoutSolver::exchange(const Refusal &refusal) {
  auto loop = dyn_cast<ParallelOp>(refusal.statement);
  auto it = distributions.find(refusal.statement);
  AllocOp fragment = refusal.fragment, undecided;
  if (!loop || loop->hasAttr(kExchangeAttr) || copyLoops.contains(loop) ||
      it == distributions.end() || mayWrite(loop, fragment.getBuffer()))
    return false;
  std::optional<SmallVector<FragmentAccess>> accesses = accessesOf(loop, &undecided);
  std::optional<SmallVector<int64_t>> extents = getStaticExtents(loop);
  if (!accesses || !extents)
    return false;
  std::optional<Fragment> wanted; // by all accesses of the loop
  for (const FragmentAccess &access : *accesses) {
    if (access.fragment != fragment)
      continue;
    auto placement = placementFor(it->second, *extents, access.indices,
                                  fragment.getBuffer().getType().getShape());
    if (!placement || (wanted && *wanted != *placement))
      return false;
    wanted = placement;
  }
  std::optional<OwnerTable> table = OwnerTable::get(*wanted, getNumThreads(loop));
  if (!table || !planCheapExchange(fragment, *table))
    return false;
  MovedUse moved = moveUse(loop, fragment, Space::Fragment);
  moved.fill->setAttr(kExchangeAttr, UnitAttr::get(loop.getContext()));
  copyLoops.insert(moved.fill);
  return true;
}

/// `'c' passes through shared memory: …`, for readers and for programs.
static void remarkMove(Operation *statement, StringRef name, StringRef space, const Twine &what) {
  InFlightDiagnostic diag = statement->emitRemark();
  diag << "'" << name << "' " << what;
  describeRemark(diag, "placement", name, {{"space", space}});
}

/// Gives each refused use what it needs. True if the program or the layout of a tile changed.
bool LayoutSolver::resolveRefusals() {
  auto rememberLoops = [&](const MovedUse &moved) {
    for (ParallelOp loop : {moved.fill, moved.bringBack})
      if (loop)
        copyLoops.insert(loop);
  };
  bool hasChanged = !refusals.empty() || !movedAccumulators.empty();
  for (Operation *op : movedAccumulators) {
    remarkMove(op, getName(cast<GemmOp>(op).getC()), "registers",
               "is copied to the tensor cores' layout and back: it is a part of a tile, or lies in "
               "memory");
    rememberLoops(moveAccumulator(cast<GemmOp>(op)));
  }
  for (const Refusal &refusal : refusals) {
    AllocOp fragment = refusal.fragment;
    auto gemm = dyn_cast<GemmOp>(refusal.statement);
    if (demoted.contains(fragment) || exchange(refusal))
      continue;
    if (gemm && gemm.getC() == fragment.getBuffer() && warps.contains(gemm)) {
      rememberLoops(moveAccumulator(gemm));
      remarkMove(gemm, fragment.getName(), "registers",
                 "is copied to the tensor cores' layout and back: it is held otherwise");
    } else if (refusal.statement->hasAttr(kExchangeAttr)) { // its layouts moved since
      refusal.statement->removeAttr(kExchangeAttr);
      copyLoops.erase(refusal.statement);
    } else if (isHeld(fragment) && !copyLoops.contains(refusal.statement)) {
      rememberLoops(moveUse(refusal.statement, fragment, Space::Shared));
      remarkMove(refusal.statement, fragment.getName(), "shared",
                 "passes through shared memory: " + refusal.reason);
    } else {
      demote(fragment, refusal.reason);
    }
  }
  refusals.clear();
  return hasChanged;
}

/// Says what an exchange takes.
void LayoutSolver::remarkExchange(ParallelOp loop) {
  AllocOp from = fragmentRoot((*loop.getOps<LoadOp>().begin()).getBuffer());
  std::optional<OwnerTable> to =
      OwnerTable::get(distributions.find(loop)->second, getNumThreads(loop));
  ExchangePlan plan = *planExchange(*tableOf(from), *to);
  int64_t bytes = getStorageBytes(from.getBuffer().getType().getElementType());
  InFlightDiagnostic diag = loop.emitRemark() << "'" << from.getName() << "' is needed by other ";
  if (plan.staysInThread())
    diag << "registers of its threads: ";
  else
    diag << "lanes: " << plan.countShuffles(bytes) << " shuffles and ";
  diag << plan.countSelects(tableOf(from)->slots) << " selections in each thread";
  describeRemark(diag, "placement", from.getName(),
                 {{"space", "registers"}, {"shuffles", plan.countShuffles(bytes)}});
}

} // namespace tilewright
