//===- SplitRoles.cpp - bulk copies get threads of their own ----------------------------------===//
//
// A group of bulk copies that starts after a barrier of its readers (`tile.async_group … after`) needs
// nothing of the threads that compute. This pass moves all such groups of a kernel to a producer: a
// `tile.role` in which the loops and branches around the groups are written again, with the
// arithmetic that they need, and nothing else.
//
//   tile.pipelined %k … {                      tile.pipelined %k … {
//     async_group k on full after empty {…}      barrier_wait full …
//     barrier_wait full …                        use
//     use                                        barrier_arrive empty …
//     barrier_arrive empty …            ──▶    }
//   }                                          tile.role "producer" threads 32 {
//                                                tile.pipelined %k … {
//                                                  barrier_wait empty …     // the round before was read
//                                                  async_group k on full {…}
//                                                }
//                                              }
//
// Registers: a processor hands them out for four warps at a time. If what the program's threads keep
// in fragments fits with one warp more, the producer is that warp. Else it is a whole warpgroup that
// gives its registers away (setmaxnreg).
//
// Expects: orderings.   Leaves: `tile.role`, `tile.extra_threads` and `tile.registers`.
//===----------------------------------------------------------------------------------------===//

#include "Roles.h"
#include "TargetArch.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

namespace tilewright {
#define GEN_PASS_DEF_SPLITROLES
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// What a producer warpgroup keeps, and the most that an instruction can name.
constexpr int64_t kProducerRegisters = 24, kMaxRegisters = 240;
constexpr int64_t kWarpgroup = 128;

class Splitter {
public:
  explicit Splitter(KernelOp kernel) : kernel(kernel) {
    kernel.walk([&](AsyncGroupOp group) {
      if (group.getEmpty())
        groups.push_back(group);
    });
  }

  void run();

private:
  void need(Value value);
  void needOperands(Operation *op);
  void needAround(Operation *op);
  void findNeeded();
  void write(Block &from, ImplicitLocOpBuilder &b, IRMapping &mapping);
  void writeGroup(AsyncGroupOp group, ImplicitLocOpBuilder &b, IRMapping &mapping);
  void assignRegisters(int64_t &threads, RoleOp role);

  KernelOp kernel;
  SmallVector<AsyncGroupOp> groups;
  llvm::SmallSetVector<Operation *, 32> needed; ///< Ops that the producer has too.
};

void Splitter::need(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !kernel->isProperAncestor(op) || isa<BarrierAllocOp>(op))
    return;
  auto alloc = dyn_cast<AllocOp>(op);
  if (alloc && getSpace(alloc.getBuffer()) != Space::Local)
    return; // both roles name the same tile
  if (!needed.insert(op))
    return;
  if (!alloc)
    return needOperands(op);
  // A variable of the producer's own, with all that sets it.
  for (Operation *user : alloc->getUsers())
    if (isa<StoreOp>(user) && needed.insert(user)) {
      needOperands(user);
      needAround(user);
    }
}

/// The loops and branches around `op`, and what decides them.
void Splitter::needAround(Operation *op) {
  for (Operation *around = op->getParentOp(); around != kernel; around = around->getParentOp()) {
    if (!needed.insert(around))
      continue;
    for (Value operand : around->getOperands())
      need(operand);
    for (Region &region : around->getRegions())
      if (!region.empty())
        for (Value operand : region.front().getTerminator()->getOperands())
          need(operand);
  }
}

void Splitter::needOperands(Operation *op) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      need(operand);
  });
}

void Splitter::findNeeded() {
  for (AsyncGroupOp group : groups) {
    needed.insert(group);
    needOperands(group);
    needAround(group);
  }
}

/// Waits until the version has been read in the round before, then starts the copies.
void Splitter::writeGroup(AsyncGroupOp group, ImplicitLocOpBuilder &b, IRMapping &mapping) {
  auto version = group.getVersion().getDefiningOp<VersionOp>();
  int64_t count = version.getCount();
  b.setLoc(group.getLoc());
  // One round more is the parity of the round before.
  Value parity = PhaseOp::create(
      b, b.getIndexType(), mapping.lookupOrDefault(version.getIteration()),
      mapping.lookupOrDefault(version.getFirst()), version.getAhead() + count, count);
  BarrierWaitOp::create(b, group.getEmpty(), mapping.lookupOrDefault(group.getVersion()), parity,
                        IntegerAttr());
  auto copy = cast<AsyncGroupOp>(b.clone(*group, mapping));
  copy.getEmptyMutable().clear();
}

void Splitter::write(Block &from, ImplicitLocOpBuilder &b, IRMapping &mapping) {
  for (Operation &op : from.without_terminator()) {
    if (!needed.contains(&op))
      continue;
    if (auto group = dyn_cast<AsyncGroupOp>(op)) {
      writeGroup(group, b, mapping);
      continue;
    }
    if (op.getNumRegions() == 0) {
      b.clone(op, mapping);
      continue;
    }
    Operation *shell = op.cloneWithoutRegions(mapping);
    b.insert(shell);
    for (auto [region, copied] : llvm::zip(op.getRegions(), shell->getRegions())) {
      if (region.empty())
        continue;
      OpBuilder::InsertionGuard guard(b);
      Block *block = b.createBlock(&copied);
      for (BlockArgument argument : region.getArguments())
        mapping.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
      write(region.front(), b, mapping);
      b.clone(*region.front().getTerminator(), mapping);
    }
  }
}

/// One warp where everybody's registers fit as they are handed out, else a warpgroup that gives its
/// own away.
void Splitter::assignRegisters(int64_t &threads, RoleOp role) {
  Builder b(kernel.getContext());
  int64_t consumers = kernel.getNumThreads(), need = estimateRegisters(kernel);
  // A block has what it is given at launch; its roles can only pass that on.
  int64_t granted = getGrantedRegisters(kernel);
  int64_t rest = granted * (consumers + kWarpgroup) - kProducerRegisters * kWarpgroup;
  int64_t registers = std::min(kMaxRegisters, rest / consumers / 8 * 8);
  if (need <= granted || consumers % kWarpgroup || registers <= granted)
    return;
  threads = kWarpgroup;
  role->setAttr(kRegistersAttr, b.getI64IntegerAttr(kProducerRegisters));
  kernel->setAttr(kRegistersAttr, b.getI64IntegerAttr(registers));
}

void Splitter::run() {
  if (groups.empty())
    return;
  findNeeded();
  ImplicitLocOpBuilder b(groups.front().getLoc(), kernel.getBody().front().getTerminator());
  int64_t threads = kWarpSize;
  auto role = RoleOp::create(b, "producer", threads);
  assignRegisters(threads, role);
  role.setThreads(threads);
  kernel->setAttr(kExtraThreadsAttr, b.getI64IntegerAttr(threads));
  InFlightDiagnostic diag = groups.front()->getParentOp()->emitRemark();
  diag << "a producer of " << threads << " threads issues the bulk copies of this loop";
  SmallVector<RemarkFact> facts{{"threads", threads}};
  if (auto registers = kernel->getAttrOfType<IntegerAttr>(kRegistersAttr)) {
    diag << "; it keeps " << kProducerRegisters << " registers a thread, the others get "
         << registers.getInt();
    facts.emplace_back("registers", registers.getInt());
  }
  describeRemark(diag, "roles", "producer", facts);
  b.setInsertionPointToStart(&role.getBody().front());
  IRMapping mapping;
  // The threads of the program wait for the launch in front of theirs; so does the producer.
  HintOp sync;
  kernel.walk([&](HintOp hint) {
    if (!sync && hint.getName() == "pdl_sync")
      sync = hint;
  });
  if (sync)
    b.clone(*sync);
  write(kernel.getBody().front(), b, mapping);
  for (AsyncGroupOp group : groups)
    group.erase();
}

struct SplitRolesPass : tilewright::impl::SplitRolesBase<SplitRolesPass> {
  void runOnOperation() override {
    getOperation()->walk([](KernelOp kernel) { Splitter(kernel).run(); });
  }
};

} // namespace
