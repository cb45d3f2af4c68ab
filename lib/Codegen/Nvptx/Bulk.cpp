//===- Bulk.cpp - barriers in shared memory, and the copies that arrive there (TMA) -----------===//
//
// A barrier (mbarrier) counts arrivals and bytes. One thread starts a group of bulk copies:
//
//   mbarrier.arrive.expect_tx [full], bytes     the phase ends after so many bytes
//   cp.async.bulk.tensor [tile], [map, {x, y}], [full]
//
// and readers wait for the parity of the phase. One thread also starts bulk stores and additions:
//
//   cp.async.bulk.tensor [map, {x, y}], [tile]; cp.async.bulk.commit_group
//
// and waits for its groups itself. A wait may come back early, so it is a loop. Inline
// PTX: shared addresses stay in 32 bits, and a loop inside needs labels of its own, `${:uid}`.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Access/Bulk.h"
#include "Lowerings.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

/// What coordinates that may not have 32 bits are clamped to; extents are at most as large.
static constexpr int64_t kMaxCoordinate = int64_t(1) << 30;

static Value makeNumber(Thread &t, int64_t value) {
  return t.constant(t.b.getI32IntegerAttr(int32_t(value)));
}

/// The address of a barrier, or of the arena at a constant offset.
static Value barrierAddress(Thread &t, Value barriers, Value index) {
  ImplicitLocOpBuilder &b = t.b;
  auto alloc = barriers.getDefiningOp<BarrierAllocOp>();
  int64_t offset = alloc->getAttrOfType<IntegerAttr>(kOffsetAttr).getInt();
  Value base = LLVM::PtrToIntOp::create(b, b.getI32Type(), t.arena);
  base = b.createOrFold<arith::AddIOp>(base, makeNumber(t, offset));
  if (!index)
    return base;
  Value number = b.createOrFold<arith::IndexCastOp>(b.getI32Type(), index);
  return b.createOrFold<arith::AddIOp>(base,
                                       b.createOrFold<arith::MulIOp>(number, makeNumber(t, 8)));
}

bool initBarriers(Thread &t) {
  ImplicitLocOpBuilder &b = t.b;
  SmallVector<BarrierAllocOp> rows;
  t.kernel.walk([&](BarrierAllocOp row) {
    if (!llvm::is_contained(row.getArrivals(), 0)) // barriers by number need no memory
      rows.push_back(row);
  });
  if (rows.empty())
    return false;
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, t.threadId, t.index(0));
  t.guarded(isFirst, [&] {
    for (BarrierAllocOp row : rows) {
      Value base = barrierAddress(t, row.getBarriers(), Value());
      for (auto [number, arrivals] : llvm::enumerate(row.getArrivals()))
        callPtx(b,
                t.arch.version >= 90 ? "mbarrier.init.shared::cta.b64 [$0], $1;"
                                     : "mbarrier.init.shared.b64 [$0], $1;",
                "r,r,~{memory}", {},
                {b.createOrFold<arith::AddIOp>(base, makeNumber(t, 8 * number)),
                 makeNumber(t, arrivals)});
    }
    // The asynchronous proxy sees them too.
    if (t.arch.version >= 90)
      callPtx(b, "fence.mbarrier_init.release.cluster;", "~{memory}", {}, {});
  });
  return true;
}

/// `T.sync_threads(id, n)`, or only the arrival of it.
static void meetByNumber(Thread &t, StringRef instruction, Value number, int64_t count) {
  ImplicitLocOpBuilder &b = t.b;
  Value index = b.createOrFold<arith::IndexCastOp>(b.getI32Type(), t.mapped(number));
  callPtx(b, (instruction + " $0, $1;").str(), "r,r,~{memory}", {}, {index, makeNumber(t, count)});
}

void lowerBarrierWait(Thread &t, BarrierWaitOp op) {
  ImplicitLocOpBuilder &b = t.b;
  if (!op.getParity())
    return meetByNumber(t, "barrier.sync", op.getIndex(), op.getExpectedArrivals());
  Value address = barrierAddress(t, op.getBarriers(), t.mapped(op.getIndex()));
  Value parity = b.createOrFold<arith::IndexCastOp>(b.getI32Type(), t.mapped(op.getParity()));
  StringRef wait = op->hasAttr(kMulticastAttr)
                       ? "mbarrier.try_wait.parity.acquire.cluster.shared::cta"
                   : t.arch.version >= 90 ? "mbarrier.try_wait.parity.shared::cta"
                                          : "mbarrier.test_wait.parity.shared";
  callPtx(b,
          ("{\n.reg .pred done;\nwait${:uid}: " + wait +
           ".b64 done, [$0], $1;\n"
           "@done bra.uni over${:uid};\nbra.uni wait${:uid};\nover${:uid}:\n}")
              .str(),
          "r,r,~{memory}", {}, {address, parity});
}

/// Each thread, or lane 0 of each warp after the others have come.
void lowerBarrierArrive(Thread &t, BarrierArriveOp op) {
  ImplicitLocOpBuilder &b = t.b;
  if (Attribute fence = op->getAttr(kProxyFenceAttr))
    fenceProxy(t, fence);
  if (op.getCount()) {
    if (!op->hasAttr(kAtWaitAttr)) // else the wait arrives, too
      meetByNumber(t, "barrier.arrive", op.getIndex(), op.getExpectedArrivals());
    return;
  }
  Value address = barrierAddress(t, op.getBarriers(), t.mapped(op.getIndex()));
  if (!op.getByWarp()) {
    auto arrive = [&] {
      if (t.arch.version >= 90)
        callPtx(b, "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}", {}, {address});
      else
        callPtx(b, "{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [$0];\n}", "r,~{memory}",
                {}, {address});
    };
    t.guarded(
        op.getOnce()
            ? arith::CmpIOp::create(b, arith::CmpIPredicate::eq, t.threadId, t.index(0)).getResult()
            : Value(),
        arrive);
    return;
  }
  if (!op->hasAttr(kProductsReadAttr))
    NVVM::SyncWarpOp::create(b, makeNumber(t, -1));
  Value lane = arith::RemUIOp::create(b, arith::IndexCastOp::create(b, b.getI32Type(), t.threadId),
                                      makeNumber(t, kWarpSize));
  if (auto dims = op->getAttrOfType<DenseI64ArrayAttr>(kMulticastAttr))
    return arriveAtBlocks(t, address, lane, dims.asArrayRef());
  // A branch around one instruction costs more than its predicate.
  callPtx(b,
          "{\n.reg .pred first;\nsetp.eq.u32 first, $1, 0;\n"
          "@first mbarrier.arrive.shared::cta.b64 _, [$0];\n}",
          "r,r,~{memory}", {}, {address, lane});
}

/// The coordinate of each digit of the first element, in 32 bits.
static SmallVector<Value> findCoordinates(Thread &t, const access::ElementAccess &tensor,
                                          BulkAttr plan) {
  ImplicitLocOpBuilder &b = t.b;
  SmallVector<Value> root = rootCoordinates(t, tensor.buffer, tensor.indices), digits;
  for (size_t digit = 0; digit < plan.getRank(); ++digit) {
    int64_t divisor = plan.getDivisors()[digit];
    if (divisor == 0) {
      digits.push_back(makeNumber(t, 0));
      continue;
    }
    Value value = root[plan.getDims()[digit]];
    if (divisor > 1)
      value = t.floorDivConstant(value, divisor);
    if (llvm::is_contained(plan.getClamped(), int64_t(digit))) {
      value = b.createOrFold<arith::MaxSIOp>(value, t.index(-kMaxCoordinate));
      value = b.createOrFold<arith::MinSIOp>(value, t.index(kMaxCoordinate));
    }
    digits.push_back(b.createOrFold<arith::IndexCastOp>(b.getI32Type(), value));
  }
  return digits;
}

/// The type of an addition without a tensor map, which would say it.
static std::string additionOf(Type element) {
  if (element.isF16() || element.isBF16())
    return element.isF16() ? "add.noftz.f16" : "add.noftz.bf16";
  return element.isF32() ? "add.f32" : "add.u32";
}

namespace {
/// Where the end of a fill is told: at a barrier, in these blocks of the cluster or in this one.
struct Arrival {
  Value full, mask;
};
} // namespace

/// One instruction that copies neighbouring bytes.
static void issueSpan(Thread &t, const access::CopyLoop &copy, SpanAttr plan, Value address,
                      Value pointer, const Arrival &arrival) {
  Value bytes = makeNumber(t, plan.getBytes());
  if (copy.isFill()) {
    SmallVector<Value> operands{address, pointer, bytes, arrival.full};
    if (arrival.mask)
      operands.push_back(arrival.mask);
    std::string text = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
    callPtx(t.b,
            text + (arrival.mask ? ".multicast::cluster [$0], [$1], $2, [$3], $4;"
                                 : " [$0], [$1], $2, [$3];"),
            arrival.mask ? "r,l,r,r,h,~{memory}" : "r,l,r,r,~{memory}", {}, operands);
    return;
  }
  std::string text = copy.update ? "cp.reduce.async.bulk.global.shared::cta.bulk_group." +
                                       additionOf(LoadOp(copy.load).getType())
                                 : "cp.async.bulk.global.shared::cta.bulk_group";
  callPtx(t.b, text + " [$0], [$1], $2;", "l,r,r,~{memory}", {}, {pointer, address, bytes});
}

/// One instruction for each box.
static void issueBoxes(Thread &t, const access::CopyLoop &copy, BulkAttr plan, Value address,
                       ArrayRef<Value> coordinates, const Arrival &arrival) {
  ImplicitLocOpBuilder &b = t.b;
  std::string list, constraints = copy.isFill() ? "r,l,r" : "r,l",
                    rank = std::to_string(plan.getRank());
  for (size_t digit = 0; digit < plan.getRank(); ++digit) {
    list += (digit ? ", $" : "$") + std::to_string((copy.isFill() ? 3 : 2) + digit);
    constraints += ",r";
  }
  std::string text;
  if (copy.isFill())
    text = "cp.async.bulk.tensor." + rank +
           "d.shared::cluster.global.mbarrier::complete_tx::bytes" +
           (arrival.mask ? ".multicast::cluster" : "") + " [$0], [$1, {" + list + "}], [$2]" +
           (arrival.mask ? ", $" + std::to_string(3 + plan.getRank()) : "") + ";";
  else if (copy.update)
    text = "cp.reduce.async.bulk.tensor." + rank +
           "d.global.shared::cta.add.tile.bulk_group [$1, {" + list + "}], [$0];";
  else
    text = "cp.async.bulk.tensor." + rank + "d.global.shared::cta.bulk_group [$1, {" + list +
           "}], [$0];";
  for (size_t issue = 0; issue < plan.getNumIssues(); ++issue) {
    SmallVector<Value> operands{
        b.createOrFold<arith::AddIOp>(address, makeNumber(t, plan.getOffsets()[issue])),
        t.maps[plan.getMap()]};
    if (copy.isFill())
      operands.push_back(arrival.full);
    for (auto [coordinate, origin] : llvm::zip_equal(coordinates, plan.getOrigin(issue)))
      operands.push_back(b.createOrFold<arith::AddIOp>(coordinate, makeNumber(t, origin)));
    if (arrival.mask)
      operands.push_back(arrival.mask);
    callPtx(b, text, constraints + (arrival.mask ? ",h,~{memory}" : ",~{memory}"), {}, operands);
  }
}

/// The instructions of one copy, by the one thread that comes here.
static void issueBulk(Thread &t, ParallelOp loop, const Arrival &arrival) {
  ImplicitLocOpBuilder &b = t.b;
  access::CopyLoop copy = *access::CopyLoop::get(loop);
  auto plan = loop->getAttrOfType<BulkAttr>(kBulkAttr);
  b.setLoc(copy.load->getLoc());
  Iteration first; // the loop's first iteration names the corner of the box
  for (BlockArgument iterator : loop.getIterators())
    first.values[iterator] = t.index(0);
  t.iteration = &first;
  for (Operation &op : loop.getBody().front().without_terminator())
    if (!isa<LoadOp, StoreOp, AtomicElementOp>(op))
      (void)lowerOp(t, &op);
  auto addressAt = [&](const access::ElementAccess &access) {
    return addressOf(t, t.storageOf(getRoot(access.buffer)),
                     rootCoordinates(t, access.buffer, access.indices));
  };
  SmallVector<Value> coordinates;
  Value pointer;
  if (plan)
    coordinates = findCoordinates(t, copy.getTensorAccess(), plan);
  else
    pointer = addressAt(copy.getTensorAccess());
  Value corner = addressAt(copy.getTileAccess());
  t.iteration = nullptr;
  Value address = LLVM::PtrToIntOp::create(b, b.getI32Type(), corner);
  if (plan)
    return issueBoxes(t, copy, plan, address, coordinates, arrival);
  pointer = LLVM::PtrToIntOp::create(b, b.getI64Type(), pointer);
  issueSpan(t, copy, loop->getAttrOfType<SpanAttr>(kSpanAttr), address, pointer, arrival);
}

/// A fill for this block, or for several: then one of them starts it.
static void issueFill(Thread &t, ParallelOp loop, Value full) {
  auto dims = loop->getAttrOfType<DenseI64ArrayAttr>(kMulticastAttr);
  if (!dims)
    return issueBulk(t, loop, {full, Value()});
  if (auto mask = loop->getAttrOfType<IntegerAttr>(kClusterMaskAttr)) {
    Value isOther;
    Multicast multicast = makeMulticast(t, mask.getInt(), isOther);
    t.guarded(multicast.isCopier, [&] { issueBulk(t, loop, {full, multicast.mask}); });
    t.guarded(isOther, [&] { issueBulk(t, loop, {full, Value()}); });
    return;
  }
  Multicast multicast = makeMulticast(t, dims.asArrayRef());
  t.guarded(multicast.isCopier, [&] { issueBulk(t, loop, {full, multicast.mask}); });
}

LogicalResult lowerBulkStores(Thread &t, BulkGroupOp op) {
  LogicalResult result = success();
  elect(t, 0, [&] {
    for (Operation &inner : op.getBody().front().without_terminator()) {
      t.b.setLoc(inner.getLoc());
      if (auto copy = dyn_cast<ParallelOp>(inner))
        issueBulk(t, copy, {});
      else if (failed(lowerOp(t, &inner)))
        result = failure();
    }
    t.b.setLoc(op.getLoc());
    callPtx(t.b, "cp.async.bulk.commit_group;", "~{memory}", {}, {});
  });
  return result;
}

void lowerBulkWait(Thread &t, BulkWaitOp op) {
  callPtx(t.b,
          "cp.async.bulk.wait_group" + std::string(op.getRead() ? ".read " : " ") +
              std::to_string(op.getPending()) + ";",
          "~{memory}", {}, {});
}

LogicalResult lowerBulkGroup(Thread &t, AsyncGroupOp op) {
  ImplicitLocOpBuilder &b = t.b;
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, t.mapped(op.getIteration()),
                                       t.mapped(op.getUpper()));
  int64_t bytes = 0;
  for (ParallelOp copy : op.getBody().getOps<ParallelOp>()) {
    auto instructions = access::BulkInstructions::get(copy, *access::CopyLoop::get(copy));
    bytes += instructions.count * instructions.bytes;
  }
  LogicalResult result = success();
  auto issue = [&] {
    Value full = barrierAddress(t, op.getFull(), t.mapped(op.getVersion()));
    callPtx(b,
            op->hasAttr(kAtArrivalAttr) ? "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;"
                                        : "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;",
            "r,r,~{memory}", {}, {full, makeNumber(t, bytes)});
    for (Operation &inner : op.getBody().front().without_terminator()) {
      b.setLoc(inner.getLoc());
      if (auto copy = dyn_cast<ParallelOp>(inner))
        issueFill(t, copy, full);
      else if (failed(lowerOp(t, &inner)))
        result = failure();
    }
  };
  t.guarded(exists, [&] {
    if (t.isElected)
      issue();
    else
      elect(t, 0, issue);
  });
  return result;
}

/// Read from lane 0, once at the start: a shuffle in a loop would stay there.
Value warpNumber(Thread &t) {
  if (t.warp)
    return t.warp;
  ImplicitLocOpBuilder &b = t.b;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(t.threadId.getDefiningOp());
  Value thread = arith::IndexCastOp::create(b, b.getI32Type(), t.threadId);
  Value own = arith::ShRUIOp::create(b, thread, makeNumber(t, 5));
  t.warp = shuffle(t, own, /*lane=*/0, NVVM::ShflKind::idx);
  return t.warp;
}

/// Runs `body` in one thread of the warp of this number.
void elect(Thread &t, int64_t warp, llvm::function_ref<void()> body) {
  ImplicitLocOpBuilder &b = t.b;
  Value isWarp =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, warpNumber(t), makeNumber(t, warp));
  t.guarded(isWarp, [&] {
    Value isOne = NVVM::ElectSyncOp::create(b, b.getI1Type(), Value());
    t.guarded(isOne, body);
  });
}

/// The producer's threads, after those of the program: one of them runs the role.
LogicalResult lowerRole(Thread &t, RoleOp role) {
  ImplicitLocOpBuilder &b = t.b;
  if (auto registers = role->getAttrOfType<IntegerAttr>(kRegistersAttr))
    NVVM::SetMaxRegisterOp::create(b, registers.getInt(), NVVM::SetMaxRegisterAction::decrease);
  LogicalResult result = success();
  elect(t, t.kernel.getNumThreads() / kWarpSize, [&] {
    t.isElected = true;
    result = lowerBlock(t, role.getBody().front());
    t.isElected = false;
  });
  return result;
}

} // namespace tilewright::nvptx
