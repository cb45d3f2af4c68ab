//===- InferLayouts.cpp - who holds each tile and who runs each iteration --------------------===//
//
// Constraints flow from the strictest outward:
//   1. annotations of the user;
//   2. gemms: accumulators and register operands have the layout of the instruction;
//   3. loops that touch a placed fragment run where it lives (the fragment composed with the
//   access),
//      and reductions of a placed fragment keep each row's result with the threads that held the
//      row;
//   4. free loops: neighbouring elements on neighbouring threads.
// A fragment that no register layout satisfies for all its uses lives in shared memory instead:
// slower, never wrong, and a remark says so.
//
// Expects: statements expanded, loops over fragment indices unrolled.
// Leaves: `tile.placement` on every tile, `tile.distribution` on every static loop, `tile.warps` on
// gemms that use the tensor cores.
//===----------------------------------------------------------------------------------------===//

#include "TargetArch.h"
#include "tilewright/Access/Matrices.h"
#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Layout/Algebra.h"
#include "tilewright/Layout/Enumerate.h"
#include "tilewright/Layout/MmaFragments.h"
#include "tilewright/Layout/Questions.h"
#include "tilewright/Layout/SharedLayouts.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tilewright {
#define GEN_PASS_DEF_INFERLAYOUTS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using namespace tilewright::analysis;

namespace {

/// One access to a fragment inside a loop.
struct FragmentAccess {
  Operation *op;
  AllocOp fragment;
  SmallVector<IndexExpr, 4> indices;
  bool isWrite;
};

class Solver {
public:
  Solver(KernelOp kernel, const Arch &arch, access::Assumptions assumptions)
      : kernel(kernel), context{kernel, arch, assumptions}, numThreads(kernel.getNumThreads()) {}
  void run();

private:
  void solve();
  void readAnnotations();
  void placeGemms();
  void placeGemm(GemmOp gemm);
  void placeLoop(ParallelOp loop, bool allowFree);
  void placeReduction(ReduceOp reduce);
  bool placeRemaining();
  bool touchesMemory(ParallelOp loop);
  void demoteUnsatisfied();
  void demote(AllocOp alloc, const Twine &reason);
  std::optional<SmallVector<FragmentAccess>> accessesOf(ParallelOp loop, AllocOp *undecided);
  std::optional<Fragment> distributionFrom(const FragmentAccess &access, ArrayRef<int64_t> extents);
  void place(AllocOp alloc, const Fragment &fragment) { placed.try_emplace(alloc, fragment); }
  AllocOp fragmentRoot(Value buffer);
  const PlaceTable *tableOf(AllocOp alloc);
  std::optional<int64_t> costOf(ParallelOp loop, ArrayRef<int64_t> extents,
                                const Fragment &fragment);
  Fragment freeDistribution(ParallelOp loop, ArrayRef<int64_t> extents);
  void placeShared();
  void writeAttributes();

  KernelOp kernel;
  access::Context context;
  int64_t numThreads;
  llvm::MapVector<Operation *, Fragment> placed;
  llvm::MapVector<Operation *, Fragment> distributions;
  llvm::MapVector<Operation *, WarpGrid> warps;
  llvm::MapVector<Operation *, std::string> plainGemms; // with what keeps them off the tensor cores
  llvm::DenseMap<Operation *, std::optional<PlaceTable>> tables;
  llvm::SetVector<Operation *> demoted;
};

/// The allocation of a fragment that still lives in registers, if `buffer` is (a part of) one.
AllocOp Solver::fragmentRoot(Value buffer) {
  Value root = getRoot(buffer);
  auto alloc = root.getDefiningOp<AllocOp>();
  return alloc && getSpace(root) == Space::Fragment && !demoted.contains(alloc) ? alloc : AllocOp();
}

void Solver::demote(AllocOp alloc, const Twine &reason) {
  if (!demoted.insert(alloc))
    return;
  InFlightDiagnostic diag = alloc.emitRemark();
  diag << "'" << alloc.getName() << "' lives in shared memory: " << reason;
  describeRemark(diag, "placement", alloc.getName(),
                 {{"space", "shared"}, {"reason", reason.str()}});
}

const PlaceTable *Solver::tableOf(AllocOp alloc) {
  auto it = placed.find(alloc);
  if (it == placed.end())
    return nullptr;
  auto [entry, isNew] = tables.try_emplace(alloc);
  if (isNew)
    entry->second = PlaceTable::get(it->second, numThreads);
  return entry->second ? &*entry->second : nullptr;
}

/// All accesses of a loop to fragments. Where one has indices that no register can be named by, it
/// is given back as `undecided`.
std::optional<SmallVector<FragmentAccess>> Solver::accessesOf(ParallelOp loop, AllocOp *undecided) {
  SmallVector<FragmentAccess> accesses;
  bool decided = true;
  loop.walk([&](Operation *op) {
    Value buffer;
    ValueRange indices;
    bool isWrite = false;
    if (auto load = dyn_cast<LoadOp>(op)) {
      buffer = load.getBuffer();
      indices = load.getIndices();
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      buffer = store.getBuffer();
      indices = store.getIndices();
      isWrite = true;
    } else if (auto update = dyn_cast<ReducerUpdateOp>(op)) {
      if (AllocOp alloc = fragmentRoot(update.getBuffer())) {
        *undecided = alloc; // contributions of many threads meet in memory
        decided = false;
      }
      return;
    } else {
      return;
    }
    AllocOp alloc = fragmentRoot(buffer);
    if (!alloc || !decided)
      return;
    auto expressions = getAccessIndices(loop, buffer, indices);
    if (!expressions) {
      *undecided = alloc;
      decided = false;
      return;
    }
    accesses.push_back({op, alloc, *expressions, isWrite});
  });
  if (!decided)
    return std::nullopt;
  return accesses;
}

//===----------------------------------------------------------------------------------------===//
// Strict: annotations and gemms
//===----------------------------------------------------------------------------------------===//

void Solver::readAnnotations() {
  kernel.walk([&](AnnotateLayoutOp op) {
    auto alloc = op.getBuffer().getDefiningOp<AllocOp>();
    if (auto fragment = dyn_cast<FragmentAttr>(op.getLayout()); fragment && alloc)
      if (!demoted.contains(alloc))
        place(alloc, fragment.getFragment());
  });
}

/// How the warps divide M x N, following the policy as far as the extents allow.
std::optional<WarpGrid> chooseWarps(int64_t m, int64_t n, const MmaShape &shape, int64_t warpCount,
                                    GemmPolicy policy) {
  std::optional<WarpGrid> best;
  auto score = [&](WarpGrid grid) {
    if (policy == GemmPolicy::FullRow)
      return -grid.warpsM;
    if (policy == GemmPolicy::FullCol)
      return -grid.warpsN;
    return std::abs(m / grid.warpsM - n / grid.warpsN); // square parts read least
  };
  for (int64_t warpsM = 1; warpsM <= warpCount; ++warpsM) {
    if (warpCount % warpsM)
      continue;
    WarpGrid grid{warpsM, warpCount / warpsM};
    if (m % (shape.m * grid.warpsM) || n % (shape.n * grid.warpsN))
      continue;
    if (!best || score(grid) < score(*best))
      best = grid;
  }
  return best;
}

void Solver::placeGemm(GemmOp gemm) {
  auto [m, n, k] = gemm.getExtents();
  Type operand = gemm.getA().getType().getElementType(),
       accumulator = gemm.getC().getType().getElementType();
  std::optional<MmaShape> shape = access::getMmaShape(gemm, context.arch);
  std::string obstacle;
  AllocOp c = fragmentRoot(gemm.getC()), a = fragmentRoot(gemm.getA()),
          b = fragmentRoot(gemm.getB());
  bool wholeC = c && c.getBuffer() == gemm.getC(), wholeA = !a || a.getBuffer() == gemm.getA();
  std::optional<WarpGrid> grid;
  if (!shape)
    obstacle = "the tensor cores have no instruction for " + describeElementType(operand) +
               " into " + describeElementType(accumulator);
  else if (numThreads % kWarpSize)
    obstacle = "the block is not a whole number of warps";
  else if (k % shape->k)
    obstacle = "K = " + std::to_string(k) + " is not a multiple of " + std::to_string(shape->k);
  else if (!(grid = chooseWarps(m, n, *shape, numThreads / kWarpSize, gemm.getPolicy())))
    obstacle = "no grid of " + std::to_string(numThreads / kWarpSize) + " warps divides " +
               std::to_string(m) + " x " + std::to_string(n) + " into " + std::to_string(shape->m) +
               " x 8 tiles";
  else if (!wholeC || !wholeA)
    obstacle = "an operand is a part of a fragment";
  else if (b)
    obstacle = "B lives in registers";
  else if (a && gemm.getTransposeA())
    obstacle = "a transposed A lives in registers";
  auto tryPlace = [&](AllocOp alloc, llvm::Expected<Fragment> fragment) {
    if (!fragment) {
      obstacle = llvm::toString(fragment.takeError());
      return;
    }
    place(alloc, *fragment);
    if (!isEqual(placed.find(alloc)->second, *fragment).isYes())
      obstacle = "'" + alloc.getName().str() + "' is held otherwise for another statement";
  };
  if (obstacle.empty())
    tryPlace(c, blockAccumulator(m, n, *shape, *grid));
  if (obstacle.empty() && a)
    tryPlace(a, blockOperandA(m, k, *shape, *grid));
  if (obstacle.empty()) {
    warps[gemm] = *grid;
    return;
  }
  plainGemms[gemm] = obstacle;
  // The plain form reads A and B from memory.
  for (AllocOp alloc : {a, b})
    if (alloc)
      demote(alloc, "a gemm without tensor cores reads it from memory");
  if (c && !wholeC)
    demote(c, "a gemm updates a part of it");
}

void Solver::placeGemms() {
  kernel.walk([&](GemmOp gemm) { placeGemm(gemm); });
}

//===----------------------------------------------------------------------------------------===//
// Common and free: loops and reductions
//===----------------------------------------------------------------------------------------===//

/// Whether a thread can compute from its number which element a slot of it holds.
static bool hasInverse(const Fragment &fragment) {
  llvm::Expected<Layout> inverse = invert(fragment);
  if (inverse)
    return true;
  llvm::consumeError(inverse.takeError());
  return false;
}

/// Runs each iteration where the element it touches lives, if each touches an element of its own.
std::optional<Fragment> Solver::distributionFrom(const FragmentAccess &access,
                                                 ArrayRef<int64_t> extents) {
  auto it = placed.find(access.fragment);
  if (it == placed.end())
    return std::nullopt;
  Layout map = Layout::get(extents, access.indices);
  if (!isInjective(map).isYes())
    return std::nullopt;
  llvm::Expected<Fragment> composed = compose(it->second, map);
  if (!composed) {
    llvm::consumeError(composed.takeError());
    return std::nullopt;
  }
  if (!PlaceTable::get(*composed, numThreads) || !hasInverse(*composed))
    return std::nullopt;
  return *composed;
}

/// What the loop's accesses to memory cost under a distribution; nothing if it has none.
std::optional<int64_t> Solver::costOf(ParallelOp loop, ArrayRef<int64_t> extents,
                                      const Fragment &fragment) {
  std::optional<PlaceTable> table = PlaceTable::get(fragment, numThreads);
  if (!table)
    return std::nullopt;
  LoopDistribution distribution{SmallVector<int64_t>(extents), std::move(*table)};
  int64_t cost = 0;
  bool hasMemory = false;
  loop.walk([&](Operation *op) {
    std::optional<access::ElementAccess> element = access::ElementAccess::get(op);
    std::optional<access::Request> request =
        element ? access::makeRequest(*element, loop, distribution, context) : std::nullopt;
    if (!request)
      return;
    hasMemory = true;
    cost += access::planAccess(*request).cost;
  });
  return hasMemory ? std::optional(cost) : std::nullopt;
}

/// Neighbouring elements on neighbouring threads, `width` of them on each: the width whose accesses
/// cost least, as far as the iterations suffice for all threads.
Fragment Solver::freeDistribution(ParallelOp loop, ArrayRef<int64_t> extents) {
  int64_t total = 1;
  for (int64_t extent : extents)
    total *= extent;
  constexpr int64_t kMaxVectorBytes = 16;
  int64_t smallest = kMaxVectorBytes;
  loop.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (auto type = dyn_cast<MemRefType>(operand.getType()))
        smallest = std::min(smallest, getStorageBytes(type.getElementType()));
  });
  Fragment best = blockedFragment(total, numThreads, 1);
  std::optional<int64_t> bestCost = costOf(loop, extents, best);
  for (int64_t width = 2; bestCost && width <= kMaxVectorBytes / smallest; width *= 2) {
    if (extents.back() % width || total < width * numThreads)
      break;
    Fragment candidate = blockedFragment(total, numThreads, width);
    std::optional<int64_t> cost = costOf(loop, extents, candidate);
    if (cost && *cost < *bestCost) {
      best = candidate;
      bestCost = cost;
    }
  }
  return best;
}

/// The placement of a tile that a loop touches at `indices`, so that the loop finds it on its own
/// threads: solved for plain permutations of the loop's variables, with missing ones projected
/// away.
static std::optional<Fragment> placementFor(const Fragment &distribution, ArrayRef<int64_t> extents,
                                            ArrayRef<IndexExpr> indices, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> dimOf;
  SmallVector<bool> used(extents.size(), false);
  for (auto [position, index] : llvm::enumerate(indices)) {
    if (index.getKind() == IndexExpr::Kind::Dim && !used[index.getPosition()] &&
        extents[index.getPosition()] == shape[position]) {
      used[index.getPosition()] = true;
      dimOf.push_back(index.getPosition());
    } else if (index.isConstant(0) && shape[position] == 1) {
      dimOf.push_back(-1);
    } else {
      return std::nullopt;
    }
  }
  Fragment current = distribution;
  if (distribution.getRank() != extents.size()) { // numbered row-major
    SmallVector<IndexExpr> dims;
    IndexExpr number(0);
    for (auto [dim, extent] : llvm::enumerate(extents))
      number = number * extent + IndexExpr::dim(dim);
    dims.push_back(number);
    dims.push_back(IndexExpr::dim(extents.size())); // replica
    current = Fragment::get(extents, distribution.getThread().substitute(dims),
                            distribution.getSlot().substitute(dims), distribution.getReplicas());
  }
  SmallVector<int64_t> remaining(extents.size());
  std::iota(remaining.begin(), remaining.end(), 0);
  for (int64_t dim = extents.size() - 1; dim >= 0; --dim) {
    if (used[dim])
      continue;
    std::optional<Fragment> projected = projectAway(current, dim);
    if (!projected)
      return std::nullopt;
    current = *projected;
    remaining.erase(remaining.begin() + dim);
  }
  // Rename: dim k of `current` is the loop's remaining[k].
  SmallVector<IndexExpr> renamed(remaining.size() + 1);
  for (auto [k, loopDim] : llvm::enumerate(remaining)) {
    auto *position = llvm::find(dimOf, loopDim);
    renamed[k] = IndexExpr::dim(position - dimOf.begin());
  }
  renamed[remaining.size()] = IndexExpr::dim(shape.size());
  return Fragment::get(shape, current.getThread().substitute(renamed),
                       current.getSlot().substitute(renamed), current.getReplicas());
}

void Solver::placeLoop(ParallelOp loop, bool allowFree) {
  if (distributions.contains(loop))
    return;
  std::optional<SmallVector<int64_t>> extents = getStaticExtents(loop);
  AllocOp undecided;
  std::optional<SmallVector<FragmentAccess>> accesses = accessesOf(loop, &undecided);
  if (!accesses || !extents) {
    if (undecided)
      demote(undecided, "a loop indexes it by values that name no register");
    else
      loop.walk([&](Operation *op) {
        for (Value operand : op->getOperands())
          if (isa<MemRefType>(operand.getType()))
            if (AllocOp alloc = fragmentRoot(operand))
              demote(alloc, "a loop with run-time extents touches it");
      });
    if (!extents)
      return;
    accesses.emplace(); // solved again with the tile in memory
  }
  std::optional<Fragment> distribution;
  // Writes first: every copy of what is written must be reached.
  for (bool writes : {true, false})
    for (const FragmentAccess &access : *accesses)
      if (!distribution && access.isWrite == writes)
        distribution = distributionFrom(access, *extents);
  if (!distribution && (allowFree || accesses->empty()))
    distribution = freeDistribution(loop, *extents);
  if (!distribution)
    return;
  distributions.try_emplace(loop, *distribution);
  for (FragmentAccess &access : *accesses) {
    if (placed.contains(access.fragment))
      continue;
    ArrayRef<int64_t> shape = access.fragment.getBuffer().getType().getShape();
    if (auto placement = placementFor(*distribution, *extents, access.indices, shape))
      place(access.fragment, *placement);
  }
}

void Solver::placeReduction(ReduceOp reduce) {
  AllocOp source = fragmentRoot(reduce.getSource()), dest = fragmentRoot(reduce.getDest());
  if (!source || !dest || placed.contains(dest) || !placed.contains(source))
    return;
  if (source.getBuffer() != reduce.getSource() || dest.getBuffer() != reduce.getDest())
    return;
  int64_t dim = reduce.getDim();
  std::optional<Fragment> projected = projectAway(placed.find(source)->second, dim);
  if (!projected)
    return;
  ArrayRef<int64_t> shape = dest.getBuffer().getType().getShape();
  if (shape.size() == projected->getRank()) {
    place(dest, *projected);
    return;
  }
  // The dimension is kept with extent 1, or the result of a vector is one element.
  SmallVector<IndexExpr> dims;
  for (unsigned k = 0; k < projected->getRank(); ++k)
    dims.push_back(IndexExpr::dim(int64_t(k) < dim ? k : k + 1));
  dims.push_back(IndexExpr::dim(shape.size()));
  place(dest, Fragment::get(shape, projected->getThread().substitute(dims),
                            projected->getSlot().substitute(dims), projected->getReplicas()));
}

/// Everything that constraints did not reach, in program order; loops that touch memory first,
/// since a width matters to them. True if something new was placed.
bool Solver::placeRemaining() {
  size_t before = distributions.size() + placed.size();
  auto hasNew = [&] { return distributions.size() + placed.size() != before; };
  for (bool memoryOnly : {true, false})
    kernel.walk([&](ParallelOp loop) {
      if (!hasNew() && (!memoryOnly || touchesMemory(loop)))
        placeLoop(loop, /*allowFree=*/true);
    });
  return hasNew();
}

bool Solver::touchesMemory(ParallelOp loop) {
  return loop
      .walk([&](Operation *op) {
        std::optional<access::ElementAccess> element = access::ElementAccess::get(op);
        bool isMemory =
            element && access::getMemory(getRoot(element->buffer), kernel, context.assumptions);
        return isMemory ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------------------------===//
// Checking and writing
//===----------------------------------------------------------------------------------------===//

/// A fragment that some use cannot reach goes to shared memory.
void Solver::demoteUnsatisfied() {
  kernel.walk([&](Operation *op) {
    if (auto loop = dyn_cast<ParallelOp>(op)) {
      AllocOp undecided;
      auto accesses = accessesOf(loop, &undecided);
      auto extents = getStaticExtents(loop);
      auto it = distributions.find(loop);
      if (!accesses || !extents || it == distributions.end()) {
        if (undecided)
          demote(undecided, "a loop indexes it by values that name no register");
        return;
      }
      std::optional<PlaceTable> table = PlaceTable::get(it->second, numThreads);
      for (FragmentAccess &access : *accesses) {
        const PlaceTable *fragment = tableOf(access.fragment);
        ArrayRef<int64_t> shape = access.fragment.getBuffer().getType().getShape();
        if (!table || !fragment ||
            !resolveSlots({*extents, *table}, access.indices, shape, *fragment, access.isWrite))
          demote(access.fragment, "threads of a loop need elements that other threads hold");
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
        demote(alloc, "a single element of it is used outside 'T.Parallel'");
    if (isa<CumsumOp, PrintOp>(op))
      for (Value operand : op->getOperands())
        if (isa<MemRefType>(operand.getType()))
          if (AllocOp alloc = fragmentRoot(operand))
            demote(alloc, "a scan or print reads it in order");
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
            demote(alloc, whole ? "the threads that hold a row are no plain set of lanes and warps"
                                : "a reduction reads a part of it or mixes registers and memory");
    }
    if (auto gemm = dyn_cast<GemmOp>(op); gemm && !warps.contains(gemm))
      if (AllocOp c = fragmentRoot(gemm.getC());
          c && !(tableOf(c) && hasInverse(placed.find(c)->second)))
        demote(c, "no register layout was found for it");
  });
}

void Solver::solve() {
  placed.clear();
  distributions.clear();
  warps.clear();
  plainGemms.clear();
  tables.clear();
  readAnnotations();
  placeGemms();
  placeShared();
  do {
    size_t before;
    do { // follow what is placed until nothing new is
      before = distributions.size() + placed.size();
      kernel.walk([&](Operation *op) {
        if (auto loop = dyn_cast<ParallelOp>(op))
          placeLoop(loop, /*allowFree=*/false);
        if (auto reduce = dyn_cast<ReduceOp>(op))
          placeReduction(reduce);
      });
    } while (before != distributions.size() + placed.size());
  } while (placeRemaining());
  // A tile that only plain gemms touch: neighbouring elements on neighbouring threads.
  kernel.walk([&](AllocOp alloc) {
    if (!fragmentRoot(alloc.getBuffer()) || placed.contains(alloc))
      return;
    MemRefType type = alloc.getBuffer().getType();
    Fragment blocked = blockedFragment(type.getNumElements(), numThreads, 1);
    IndexExpr number(0);
    for (auto [dim, extent] : llvm::enumerate(type.getShape()))
      number = number * extent + IndexExpr::dim(dim);
    SmallVector<IndexExpr> dims{number, IndexExpr::dim(type.getRank())};
    place(alloc, Fragment::get(type.getShape(), blocked.getThread().substitute(dims),
                               blocked.getSlot().substitute(dims)));
  });
}

void Solver::writeAttributes() {
  MLIRContext *context = kernel.getContext();
  for (auto &[op, fragment] : placed)
    if (!demoted.contains(op))
      op->setAttr(kPlacementAttr, FragmentAttr::get(context, fragment));
  for (auto &[op, fragment] : distributions)
    op->setAttr(kDistributionAttr, FragmentAttr::get(context, fragment));
  for (auto &[op, grid] : warps)
    op->setAttr(kWarpsAttr, DenseI64ArrayAttr::get(context, {grid.warpsM, grid.warpsN}));
  for (auto &[op, obstacle] : plainGemms) {
    InFlightDiagnostic diag = op->emitRemark();
    diag << "'T.gemm' leaves the tensor cores: " << obstacle;
    describeRemark(diag, "gemm", "", {{"unit", "fma"}, {"reason", obstacle}});
  }
}

/// Shared tiles: as annotated, else swizzled for the tensor cores that read them, else row-major.
/// Fragments that live in memory are row-major.
void Solver::placeShared() {
  MLIRContext *context = kernel.getContext();
  auto setLayout = [&](AllocOp alloc, const Layout &layout) {
    alloc->setAttr(kPlacementAttr, LayoutAttr::get(context, layout));
  };
  kernel.walk([&](AllocOp alloc) {
    if (getSpace(alloc.getBuffer()) == Space::Shared || demoted.contains(alloc))
      setLayout(alloc, linearLayout(alloc.getBuffer().getType().getShape()));
  });
  for (auto &[op, grid] : warps) {
    auto gemm = cast<GemmOp>(op);
    for (Value operand : {Value(gemm.getA()), Value(gemm.getB())}) {
      auto alloc = getRoot(operand).getDefiningOp<AllocOp>();
      if (!alloc || getSpace(alloc.getBuffer()) != Space::Shared)
        continue;
      MemRefType type = alloc.getBuffer().getType();
      int64_t bits = getStorageBits(type.getElementType());
      if (type.getRank() < 2 || bits > 32)
        continue;
      llvm::Expected<Layout> swizzled =
          swizzledLayout(type.getShape(), bits, /*kMajor=*/true, /*allowPad=*/false);
      if (swizzled)
        setLayout(alloc, *swizzled);
      else
        llvm::consumeError(swizzled.takeError());
    }
  }
  kernel.walk([&](AnnotateLayoutOp op) {
    if (auto alloc = op.getBuffer().getDefiningOp<AllocOp>())
      if (isa<LayoutAttr>(op.getLayout()))
        alloc->setAttr(kPlacementAttr, op.getLayout());
  });
}

void Solver::run() {
  // Each round but the last sends at least one more fragment to memory, so there are few.
  size_t before;
  do {
    before = demoted.size();
    solve();
    demoteUnsatisfied();
  } while (demoted.size() != before);
  writeAttributes();
}

struct InferLayoutsPass : tilewright::impl::InferLayoutsBase<InferLayoutsPass> {
  using InferLayoutsBase::InferLayoutsBase;

  void runOnOperation() override {
    const Arch *target = requireArch(getOperation(), arch);
    if (!target)
      return signalPassFailure();
    getOperation()->walk(
        [&](KernelOp kernel) { Solver(kernel, *target, access::Assumptions{alignment}).run(); });
  }
};

} // namespace
