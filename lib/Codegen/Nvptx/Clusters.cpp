//===- Clusters.cpp - what the blocks of a cluster do for each other --------------------------===//
//
// The blocks of a cluster have ranks, counted along x first. A copy that several of them need is done by
// the one whose coordinates are 0 along the dimensions that they share (tile-share-copies). Tile and barrier lie at
// the same offset in each block, so the instruction names its own, and the ranks as bits:
//
//   cp.async.bulk.tensor….multicast::cluster [tile], [map, {x, y}], [full], mask
//
// A release arrives at the barriers of all of them: lane l of a warp at that of block l.
//
//   mapa.shared::cluster remote, [empty], rank; mbarrier.arrive.release.cluster.shared::cluster [remote]
//
// Blocks touch each other's memory only after a meeting of all threads of the cluster: barriers must exist before
// somebody arrives. Another one follows where threads arrive at barriers of other blocks, since a block may not
// end before that. Copies need none: each block waits for all bytes that it gets.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowerings.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

static Value makeNumber(Thread &t, int64_t value) {
  return t.constant(t.b.getI32IntegerAttr(int32_t(value)));
}

llvm::SmallVector<int64_t> getCluster(KernelOp kernel) {
  auto extents = kernel->getAttrOfType<DenseI64ArrayAttr>(kClusterAttr);
  return extents ? llvm::SmallVector<int64_t>(extents.asArrayRef()) : llvm::SmallVector<int64_t>();
}

bool sharesMemory(KernelOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) {
    return op->hasAttr(kMulticastAttr) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

bool arrivesAtBlocks(KernelOp kernel) {
  WalkResult result = kernel.walk([](BarrierArriveOp op) {
    return op->hasAttr(kMulticastAttr) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

void meetCluster(Thread &t) {
  NVVM::ClusterArriveOp::create(t.b, UnitAttr());
  NVVM::ClusterWaitOp::create(t.b, UnitAttr());
}

namespace {
/// The dimensions of a cluster: how many blocks there are, and how far apart their ranks are.
struct ClusterDims {
  explicit ClusterDims(KernelOp kernel) {
    int64_t stride = 1;
    for (int64_t extent : getCluster(kernel)) {
      extents.push_back(extent);
      strides.push_back(stride);
      stride *= extent;
    }
  }
  /// The ranks of the blocks along these dimensions, less that of the first.
  llvm::SmallVector<int64_t> getRanks(ArrayRef<int64_t> dims) const {
    llvm::SmallVector<int64_t> ranks{0};
    for (int64_t dim : dims) {
      size_t before = ranks.size();
      for (int64_t i = 1; i < extents[dim]; ++i)
        for (size_t j = 0; j < before; ++j)
          ranks.push_back(ranks[j] + i * strides[dim]);
    }
    return ranks;
  }

  llvm::SmallVector<int64_t> extents, strides;
};
} // namespace

/// Where the block stands in its cluster.
static Value makeCoordinate(Thread &t, int64_t dim, int64_t extent) {
  ImplicitLocOpBuilder &b = t.b;
  Type i32 = b.getI32Type();
  auto range = LLVM::ConstantRangeAttr::get(b.getContext(), 32, 0, extent);
  if (dim == 0)
    return NVVM::BlockInClusterIdXOp::create(b, i32, range);
  if (dim == 1)
    return NVVM::BlockInClusterIdYOp::create(b, i32, range);
  return NVVM::BlockInClusterIdZOp::create(b, i32, range);
}

/// The rank of the first of the blocks that differ from this one along `dims` alone.
static Value makeFirstRank(Thread &t, const ClusterDims &cluster, ArrayRef<int64_t> dims) {
  Value rank = makeNumber(t, 0);
  for (size_t dim = 0; dim < cluster.extents.size(); ++dim) {
    if (cluster.extents[dim] == 1 || llvm::is_contained(dims, int64_t(dim)))
      continue;
    Value part = t.b.createOrFold<arith::MulIOp>(makeCoordinate(t, dim, cluster.extents[dim]),
                                                 makeNumber(t, cluster.strides[dim]));
    rank = t.b.createOrFold<arith::AddIOp>(rank, part);
  }
  return rank;
}

Multicast makeMulticast(Thread &t, ArrayRef<int64_t> dims) {
  ImplicitLocOpBuilder &b = t.b;
  ClusterDims cluster(t.kernel);
  int64_t pattern = 0;
  for (int64_t rank : cluster.getRanks(dims))
    pattern |= int64_t(1) << rank;
  Multicast multicast;
  Value mask =
      b.createOrFold<arith::ShLIOp>(makeNumber(t, pattern), makeFirstRank(t, cluster, dims));
  multicast.mask = b.createOrFold<arith::TruncIOp>(b.getI16Type(), mask);
  for (int64_t dim : dims) {
    Value isFirst = b.createOrFold<arith::CmpIOp>(
        arith::CmpIPredicate::eq, makeCoordinate(t, dim, cluster.extents[dim]), makeNumber(t, 0));
    multicast.isCopier =
        multicast.isCopier ? b.createOrFold<arith::AndIOp>(multicast.isCopier, isFirst) : isFirst;
  }
  return multicast;
}

Multicast makeMulticast(Thread &t, int64_t mask, Value &isOther) {
  ImplicitLocOpBuilder &b = t.b;
  Value rank = makeFirstRank(t, ClusterDims(t.kernel), {}), zero = makeNumber(t, 0);
  Value bit = arith::AndIOp::create(b, arith::ShRUIOp::create(b, makeNumber(t, mask), rank),
                                    makeNumber(t, 1));
  isOther = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, bit, zero);
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rank,
                                        makeNumber(t, llvm::countr_zero(uint64_t(mask))));
  return {isFirst, t.constant(b.getI16IntegerAttr(int16_t(mask)))};
}

void arriveAtBlocks(Thread &t, Value address, Value lane, ArrayRef<int64_t> dims) {
  ImplicitLocOpBuilder &b = t.b;
  ClusterDims cluster(t.kernel);
  Value rank = makeFirstRank(t, cluster, dims), rest = lane;
  int64_t blocks = 1;
  for (int64_t dim : dims) {
    int64_t extent = cluster.extents[dim];
    blocks *= extent;
    Value digit = rest;
    if (dim != dims.back()) {
      digit = b.createOrFold<arith::RemUIOp>(rest, makeNumber(t, extent));
      rest = b.createOrFold<arith::DivUIOp>(rest, makeNumber(t, extent));
    }
    rank = b.createOrFold<arith::AddIOp>(
        rank, b.createOrFold<arith::MulIOp>(digit, makeNumber(t, cluster.strides[dim])));
  }
  callPtx(b,
          "{\n.reg .pred mine;\n.reg .b32 remote;\nsetp.lt.u32 mine, $1, " +
              std::to_string(blocks) +
              ";\n@mine mapa.shared::cluster.u32 remote, $0, $2;\n"
              "@mine mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}",
          "r,r,r,~{memory}", {}, {address, lane, rank});
}

} // namespace tilewright::nvptx
