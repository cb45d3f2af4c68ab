//===- ShareCopies.cpp - blocks of a cluster copy for each other --------------------------------===//
//
// Blocks that differ only in a dimension on which neither a producer's copy nor the control flow
// around it depends read the same box in the same iteration. If they are a cluster, the first of
// them reads it for all (multicast), and the others only expect its bytes:
//
//   grid (x, y), cluster 2 x 1      A depends on y: one of the two blocks copies it into both
//                                   B depends on x: each block copies its own
//
// A version is then overwritten by another block, so it is free when all those blocks have read
// it. So a release arrives at the barrier of each of them: `tile.multicast` on the statements of a
// channel names the dimensions of the cluster along which it does, and each barrier expects the arrivals of
// all.
//
//   async_group k on full[v] {copy A[k]}           async_group k on full[v] {copy A[k] {tile.multicast = [0]}}
//   barrier_wait empty[v]                   ──▶    barrier_wait empty[v] {tile.multicast = [0]}
//   barrier_arrive empty[v] by_warp                barrier_arrive empty[v] by_warp {tile.multicast = [0]}
//
// No new cycle without a token can come of that (check-schedule): all blocks that share a copy run the
// same iterations, so their marked graphs are copies of one. A cycle through several of them is a closed
// walk of that one, with the same tokens.
//
// A copy outside of loops, into memory that no statement before it uses, needs no release: its blocks have met
// before it, and each waits for its bytes at its own barrier. The program may name the blocks itself
// (`T.copy_cluster(…, cluster_mask=3)`, tile.cluster_mask); then the first of them copies for the others,
// and those without a bit for themselves.
//
// A model of the machine (ScheduleModel.h) predicts how long an iteration takes with shared copies and with each
// block's own: fewer bytes come from the L2, but blocks wait for each other. Copies are shared unless that is slower by more
// than such a model is worth, and always where the program requests it by a mask. A remark says what is shared and both predictions, or why nothing is.
//
// Expects: clusters (plan-launch), roles (split-roles).   Leaves: `tile.multicast`.
//===----------------------------------------------------------------------------------------===//

#include "Roles.h"
#include "ScheduleModel.h"
#include "tilewright/Access/Bulk.h"
#include "tilewright/Analysis/BlockDependence.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace tilewright {
#define GEN_PASS_DEF_SHARECOPIES
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

constexpr unsigned kNumDims = 3;

/// A model of the machine is worth as much: what is slower by more is not done.
constexpr double kTolerance = 1.1;

/// The copies of one iteration into the versions of some tiles, and who waits for whom.
struct Channel {
  AsyncGroupOp fill;
  BarrierWaitOp acquire;
  SmallVector<BarrierArriveOp> releases;
};

class Sharer {
public:
  Sharer(KernelOp kernel, ArrayRef<int64_t> cluster)
      : kernel(kernel), cluster(cluster), b(kernel.getContext()) {}
  void run();

private:
  SmallVector<int64_t> findShared(AsyncGroupOp fill, ParallelOp copy);
  SmallVector<int64_t> findMasked(AsyncGroupOp fill, ParallelOp copy);
  SmallVector<int64_t> shareCopies(AsyncGroupOp fill, bool isWorth = true);
  void share(Channel &channel);
  bool isWorthSharing(Channel &channel);
  void remark(ParallelOp copy, ArrayRef<int64_t> dims, bool isPossible);

  KernelOp kernel;
  ArrayRef<int64_t> cluster; ///< Its extents.
  Builder b;
  SchedulePrediction alone, shared; ///< Of the loop whose copies are shared.
};

/// The dimensions of the cluster along which all blocks copy the same in the same iterations.
SmallVector<int64_t> Sharer::findShared(AsyncGroupOp fill, ParallelOp copy) {
  if (copy->hasAttr(kClusterMaskAttr))
    return findMasked(fill, copy);
  analysis::BlockDims depends = analysis::findBlockDims(kernel, copy);
  for (Operation *op = fill; op != kernel; op = op->getParentOp()) // it may have a condition, too
    depends |= analysis::findOperandBlockDims(kernel, op);
  SmallVector<int64_t> shared;
  for (unsigned dim = 0; dim < kNumDims; ++dim)
    if (cluster[dim] > 1 && !depends.test(dim))
      shared.push_back(dim);
  return shared;
}

/// The dimensions in which the blocks that the program names differ, if they copy the same in the same iterations.
SmallVector<int64_t> Sharer::findMasked(AsyncGroupOp fill, ParallelOp copy) {
  int64_t mask = copy->getAttrOfType<IntegerAttr>(kClusterMaskAttr).getInt(), first = -1,
          stride = 1;
  SmallVector<int64_t> shared;
  for (unsigned dim = 0; dim < kNumDims; stride *= cluster[dim++])
    for (int64_t rank = 0; (mask >> rank) != 0; ++rank) {
      if (!((mask >> rank) & 1))
        continue;
      first = first < 0 ? rank : first;
      bool differs = rank / stride % cluster[dim] != first / stride % cluster[dim];
      if (differs && !llvm::is_contained(shared, dim))
        shared.push_back(dim);
    }
  analysis::BlockDims around;
  for (Operation *op = fill; op != kernel; op = op->getParentOp()) // it may have a condition, too
    around |= analysis::findOperandBlockDims(kernel, op);
  bool areTogether = llvm::none_of(shared, [&](int64_t dim) { return around.test(dim); });
  return areTogether && analysis::isSameInBlocks(kernel, copy, cluster, mask)
             ? shared
             : SmallVector<int64_t>();
}

void Sharer::remark(ParallelOp copy, ArrayRef<int64_t> dims, bool isPossible) {
  int64_t blocks = 1;
  for (int64_t dim : dims)
    blocks *= cluster[dim];
  if (auto mask = copy->getAttrOfType<IntegerAttr>(kClusterMaskAttr))
    blocks = llvm::popcount(uint64_t(mask.getInt()));
  access::CopyLoop accesses = *access::CopyLoop::get(copy);
  StringRef tile = tile::getName(getRoot(accesses.store.getBuffer()));
  InFlightDiagnostic diag = copy.emitRemark();
  if (dims.empty())
    diag << tile << ": each block of the cluster copies its own";
  else
    diag << tile << ": one of " << blocks << " blocks copies it for all of them (multicast)";
  SmallVector<RemarkFact> facts{{"blocks", blocks}};
  if (isPossible && alone.cycles > 0 && shared.cycles > 0) {
    const SchedulePrediction &chosen = dims.empty() ? alone : shared;
    diag << "; predicted: " << int64_t(chosen.cycles) << " cycles an iteration, "
         << int64_t(dims.empty() ? shared.cycles : alone.cycles)
         << (dims.empty() ? " if one copied for all" : " if each copied its own")
         << "; they pass through " << chosen.critical;
    facts.push_back({"cycles", int64_t(chosen.cycles)});
    facts.push_back({"alone", int64_t(alone.cycles)});
    facts.push_back({"shared", int64_t(shared.cycles)});
    facts.push_back({"critical", chosen.critical});
  }
  describeRemark(diag, "cluster", tile, facts);
}

/// Whether the model does not expect the loop that reads these copies to be slower if one block copies for several. What
/// the program requests (a mask) is done.
bool Sharer::isWorthSharing(Channel &channel) {
  alone = shared = {};
  PipelinedOp loop;
  for (Operation *user : channel.fill.getFull().getUsers())
    if (isa<BarrierWaitOp>(user) && !loop)
      loop = dyn_cast<PipelinedOp>(user->getParentOp());
  if (!loop)
    return true;
  SmallVector<OrderedStatement> order = getWrittenOrder(loop);
  alone = predictSchedule(loop, order);
  bool isAsked = false, isShared = false;
  for (ParallelOp copy : channel.fill.getBody().getOps<ParallelOp>()) {
    isAsked |= copy->hasAttr(kClusterMaskAttr);
    if (SmallVector<int64_t> dims = findShared(channel.fill, copy); !dims.empty()) {
      copy->setAttr(kMulticastAttr, b.getDenseI64ArrayAttr(dims));
      isShared = true;
    }
  }
  if (isShared)
    shared = predictSchedule(loop, order);
  for (ParallelOp copy : channel.fill.getBody().getOps<ParallelOp>())
    copy->removeAttr(kMulticastAttr);
  return isAsked || shared.cycles <= kTolerance * alone.cycles;
}

/// Marks the copies of a group that one block does for several, and gives all dimensions that they span.
SmallVector<int64_t> Sharer::shareCopies(AsyncGroupOp fill, bool isWorth) {
  SmallVector<int64_t> all;
  for (ParallelOp copy : fill.getBody().getOps<ParallelOp>()) {
    SmallVector<int64_t> possible = findShared(fill, copy),
                         dims = isWorth ? possible : SmallVector<int64_t>();
    remark(copy, dims, !possible.empty());
    if (dims.empty()) {
      copy->removeAttr(kClusterMaskAttr);
      continue;
    }
    copy->setAttr(kMulticastAttr, b.getDenseI64ArrayAttr(dims));
    for (int64_t dim : dims)
      if (!llvm::is_contained(all, dim))
        all.push_back(dim);
  }
  return all;
}

/// A version is overwritten when all blocks that one copy of its channel reaches have read it.
void Sharer::share(Channel &channel) {
  SmallVector<int64_t> all = shareCopies(channel.fill, isWorthSharing(channel));
  if (all.empty())
    return;
  llvm::sort(all);
  int64_t blocks = 1;
  for (int64_t dim : all)
    blocks *= cluster[dim];
  auto row = channel.acquire.getBarriers().getDefiningOp<BarrierAllocOp>();
  SmallVector<int64_t> arrivals(row.getArrivals());
  for (int64_t &count : arrivals)
    count *= blocks;
  row.setArrivals(arrivals);
  channel.acquire->setAttr(kMulticastAttr, b.getDenseI64ArrayAttr(all));
  for (BarrierArriveOp release : channel.releases)
    release->setAttr(kMulticastAttr, b.getDenseI64ArrayAttr(all));
}

void Sharer::run() {
  SmallVector<Channel> channels;
  for (RoleOp role : kernel.getBody().front().getOps<RoleOp>())
    role.walk([&](AsyncGroupOp fill) {
      Channel channel{fill, dyn_cast_or_null<BarrierWaitOp>(fill->getPrevNode()), {}};
      if (!channel.acquire || !fill.getFull())
        return; // a role of the user's
      for (Operation *user : channel.acquire.getBarriers().getUsers())
        if (auto release = dyn_cast<BarrierArriveOp>(user))
          channel.releases.push_back(release);
      channels.push_back(std::move(channel));
    });
  SmallVector<AsyncGroupOp> once; // into memory that is free until then
  for (AsyncGroupOp fill : kernel.getBody().front().getOps<AsyncGroupOp>()) {
    auto isFree = [&](ParallelOp copy) {
      Value tile = getRoot(access::CopyLoop::get(copy)->getTileAccess().buffer);
      return analysis::isFirstUse(fill, tile);
    };
    bool isAlone = fill.getFull() && llvm::count_if(fill.getFull().getUsers(), [](Operation *user) {
                                       return isa<AsyncGroupOp>(user);
                                     }) == 1; // else it belongs to a loop whose copies run ahead
    if (isAlone && llvm::all_of(fill.getBody().getOps<ParallelOp>(), isFree))
      once.push_back(fill);
  }
  if (channels.empty() && once.empty())
    return;
  if (!kernel.getBody().front().getOps<UseSwizzleOp>().empty()) {
    InFlightDiagnostic diag = kernel.emitRemark();
    StringRef reason = "T.use_swizzle renumbers the blocks";
    diag << "the blocks of a cluster copy nothing for each other: " << reason;
    describeRemark(diag, "cluster", "", {{"reason", reason}});
    return;
  }
  for (Channel &channel : channels)
    share(channel);
  alone = shared = {}; // nothing runs often enough to be predicted
  for (AsyncGroupOp fill : once)
    (void)shareCopies(fill);
}

struct ShareCopiesPass : tilewright::impl::ShareCopiesBase<ShareCopiesPass> {
  void runOnOperation() override {
    getOperation()->walk([](KernelOp kernel) {
      if (auto cluster = kernel->getAttrOfType<DenseI64ArrayAttr>(kClusterAttr))
        Sharer(kernel, cluster.asArrayRef()).run();
    });
  }
};

} // namespace
