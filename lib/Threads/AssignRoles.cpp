//===- AssignRoles.cpp - roles of a program become roles of its warps ------------------------===//
//
// Threads that take the same side of every branch on their number form a role. Where barriers of the
// program order all that roles do to each other, each role gets its own code, and its warps run it
// beside the others:
//
//   for k:                                        tile.role "ws1" threads 128 {   // from 128 on
//     if tx >= 128:                                 for k:
//       wait(free, (k + 1) % 2)                       wait(free, (k + 1) % 2)
//       copy; arrive(ready)               ──▶         copy; arrive(ready)
//     else:                                       }
//       wait(ready, k % 2)                        tile.role "ws0" threads 128 { … }
//       gemm; arrive(free)
//
// The law is the meaning of the program, one statement after another (docs/semantics.md). So the
// roles are played first (PlayRoles.h). A conflict that no barrier orders is repaired by one more
// barrier, where both accesses stand outside loops, and told: TileLang would race there. What cannot be
// proved is left to tile-merge-roles, whose code takes turns, with a remark.
//
// Expects: barriers as traced.   Leaves: kernels without roles of their own for tile-merge-roles.
//
// How: the first and the last statement of a role bound a section of the kernel's body; each role
// gets a copy of the section, in which branches on the thread number are decided. A statement of no
// role belongs to the role whose fragment it touches.
//===----------------------------------------------------------------------------------------===//

#include "PlayRoles.h"
#include "ThreadFacts.h"
#include "Waits.h"
#include "tilewright/Threads/Passes.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Schedule.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {
#define GEN_PASS_DEF_ASSIGNROLES
#include "tilewright/Threads/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

namespace {

constexpr int64_t kWarpSize = 32;
/// Barriers by number that a block has; number 0 is that of all threads.
constexpr int64_t kNamedBarriers = 16;
/// Rounds of repair: each adds a barrier.
constexpr unsigned kMostRepairs = 8;

/// Why the roles of a kernel do not get code of their own.
struct Obstacle {
  Operation *at;
  std::string reason;
};

/// Whether threads do this together: it stands in a role, or is a tile statement.
bool isOfRole(Operation *op, const ThreadFacts &facts) {
  return isa<BarrierArriveOp, BarrierWaitOp>(op) ||
         (!facts.isThreaded(op) && isa<CopyOp, FillOp, GemmOp, ReduceOp, CumsumOp, AtomicOp,
                                       FinalizeReducerOp, Im2colOp, ParallelOp>(op));
}

/// Memory that each role, or each of its threads, has for itself.
bool isOwn(Value root) {
  return root.getDefiningOp<AllocOp>() &&
         (getSpace(root) == Space::Fragment || getSpace(root) == Space::Local);
}

class Assigner {
public:
  Assigner(KernelOp kernel, bool disjoint) : kernel(kernel), facts(kernel), disjoint(disjoint) {}

  /// Gives each role its code, or says why not; then the kernel is in no state to be used.
  std::optional<Obstacle> run();
  /// Whether there are roles that wait for each other at all.
  bool hasRoles();

  std::vector<std::pair<Operation *, Operation *>> repaired;

private:
  bool isRoleBranch(Operation *op);
  bool findTeams();
  void orderTeams();
  bool findSection();
  std::optional<unsigned> findOwner(Operation *op);
  void project(Block &from, unsigned team, bool isOwned, OpBuilder &b, IRMapping &mapping);
  void projectOp(Operation &op, unsigned team, bool isOwned, OpBuilder &b, IRMapping &mapping);
  void projectBranch(scf::IfOp branch, unsigned team, bool isOwned, OpBuilder &b,
                     IRMapping &mapping);
  void projectLoop(Operation &op, unsigned team, bool isOwned, OpBuilder &b, IRMapping &mapping);
  void countOwners();
  void moveAllocations();
  void checkValues();
  void nameMeetings();
  void repair(const OpenConflict &conflict);
  void findBulkCopies();
  void assignRegisters();
  void refuse(Operation *op, const Twine &reason) {
    if (!obstacle)
      obstacle = Obstacle{op, reason.str()};
  }

  KernelOp kernel;
  ThreadFacts facts;
  bool disjoint;
  SmallVector<Team> teams;
  SmallVector<Operation *> section;
  /// For each fragment, the teams that touch it in branches of theirs.
  llvm::MapVector<Value, llvm::SmallSetVector<unsigned, 2>> owners;
  std::optional<Obstacle> obstacle;
};

/// A branch that threads take by their number, whole warps at a time, with statements of a role.
bool Assigner::isRoleBranch(Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch || branch.getNumResults() || !facts.varies(branch.getCondition()))
    return false;
  std::optional<llvm::BitVector> threads = facts.threadsWhere(branch.getCondition());
  if (!threads)
    return false;
  for (int64_t thread = 0; thread < int64_t(threads->size()); ++thread)
    if (threads->test(thread) != threads->test(thread / kWarpSize * kWarpSize))
      return false;
  return branch
      .walk([&](Operation *inner) {
        return isOfRole(inner, facts) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool Assigner::hasRoles() { return usesBarriers(kernel) && findTeams() && teams.size() > 1; }

/// Threads that take the same sides; each team is one row of warps.
bool Assigner::findTeams() {
  teams.clear();
  SmallVector<llvm::BitVector> sides;
  kernel.walk([&](Operation *op) {
    if (isRoleBranch(op))
      sides.push_back(*facts.threadsWhere(cast<scf::IfOp>(op).getCondition()));
  });
  int64_t count = kernel.getNumThreads();
  if (sides.empty() || count % kWarpSize)
    return false;
  auto areAlike = [&](int64_t a, int64_t b) {
    return llvm::all_of(sides, [&](const llvm::BitVector &side) { return side[a] == side[b]; });
  };
  for (int64_t thread = 0; thread < count; thread += kWarpSize) {
    if (teams.empty() || !areAlike(teams.back().first, thread))
      teams.push_back({thread, 0});
    teams.back().count += kWarpSize;
  }
  // A role of warps that are no neighbours would be two teams.
  for (size_t one = 0; one < teams.size(); ++one)
    for (size_t other = one + 1; other < teams.size(); ++other)
      if (areAlike(teams[one].first, teams[other].first))
        return false;
  return true;
}

/// As the text has them: the role that stands first runs first.
void Assigner::orderTeams() {
  SmallVector<Team> ordered;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    const std::optional<llvm::BitVector> &threads = facts.threadsAt(op);
    if (op == kernel || !threads || threads->all() || !isOfRole(op, facts))
      return;
    for (const Team &team : teams)
      if (threads->test(team.first) &&
          llvm::none_of(ordered, [&](const Team &o) { return o.first == team.first; }))
        ordered.push_back(team);
  });
  if (ordered.size() == teams.size())
    teams = std::move(ordered);
}

/// Which teams touch a fragment where the branches around it say so.
void Assigner::countOwners() {
  kernel.walk([&](Operation *op) {
    const std::optional<llvm::BitVector> &threads = facts.threadsAt(op);
    for (Value operand : op->getOperands()) {
      if (!isa<MemRefType>(operand.getType()) || isa<SliceOp, ViewOp>(op))
        continue;
      Value root = getRoot(operand);
      if (!isOwn(root) || !threads || threads->all())
        continue;
      for (auto [number, team] : llvm::enumerate(teams))
        if (threads->test(team.first))
          owners[root].insert(number);
    }
  });
}

/// The statements between the first one of a role and the last.
bool Assigner::findSection() {
  auto belongs = [&](Operation &op) {
    return op
        .walk([&](Operation *inner) {
          bool touches = llvm::any_of(inner->getOperands(), [&](Value operand) {
            return owners.contains(getRoot(operand));
          });
          return isRoleBranch(inner) || (touches && !isPureScalar(inner)) ? WalkResult::interrupt()
                                                                          : WalkResult::advance();
        })
        .wasInterrupted();
  };
  Block &body = kernel.getBody().front();
  Operation *first = nullptr, *last = nullptr;
  for (Operation &op : body.without_terminator())
    if (belongs(op)) {
      first = first ? first : &op;
      last = &op;
    }
  if (!first)
    return false;
  for (Operation *op = first;; op = op->getNextNode()) {
    section.push_back(op);
    if (op == last)
      break;
  }
  for (Operation *op = last->getNextNode(); op; op = op->getNextNode())
    if (usesBarriers(op))
      refuse(op, "a barrier is used after the roles have ended");
  return !obstacle;
}

/// The team whose fragments a statement of no role touches; nothing if it touches those of several.
std::optional<unsigned> Assigner::findOwner(Operation *op) {
  llvm::SmallSetVector<unsigned, 2> found;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (auto it = owners.find(getRoot(operand)); it != owners.end())
        found.insert_range(it->second);
  });
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

//===----------------------------------------------------------------------------------------===//
// The code of one role
//===----------------------------------------------------------------------------------------===//

void Assigner::project(Block &from, unsigned team, bool isOwned, OpBuilder &b, IRMapping &mapping) {
  for (Operation &op : from.without_terminator())
    projectOp(op, team, isOwned, b, mapping);
}

void Assigner::projectBranch(scf::IfOp branch, unsigned team, bool isOwned, OpBuilder &b,
                             IRMapping &mapping) {
  std::optional<llvm::BitVector> threads;
  if (facts.varies(branch.getCondition()))
    threads = facts.threadsWhere(branch.getCondition());
  if (threads) {
    int64_t inside = 0;
    for (int64_t thread = 0; thread < teams[team].count; ++thread)
      inside += threads->test(teams[team].first + thread);
    if (inside == 0 || inside == teams[team].count) {
      Region &side = inside ? branch.getThenRegion() : branch.getElseRegion();
      if (!side.empty())
        project(side.front(), team, /*isOwned=*/true, b, mapping);
      return;
    }
    if (usesBarriers(branch))
      return refuse(branch, "some threads of a role come to a barrier, others do not");
  }
  if (isOwned && !branch
                      .walk([&](Operation *inner) {
                        return inner != branch && isRoleBranch(inner) ? WalkResult::interrupt()
                                                                      : WalkResult::advance();
                      })
                      .wasInterrupted()) {
    b.clone(*branch, mapping);
    return;
  }
  auto shell = cast<scf::IfOp>(branch->cloneWithoutRegions(mapping));
  b.insert(shell);
  for (auto [from, to] : llvm::zip(branch->getRegions(), shell->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&to);
    project(from.front(), team, isOwned, b, mapping);
    scf::YieldOp::create(b, branch.getLoc());
  }
}

/// Loops with barriers inside are no pipelines of the compiler's.
void Assigner::projectLoop(Operation &op, unsigned team, bool isOwned, OpBuilder &b,
                           IRMapping &mapping) {
  scf::ForOp loop;
  Block *body = nullptr;
  Value variable;
  auto at = [&](Value value) { return mapping.lookupOrDefault(value); };
  if (auto pipelined = dyn_cast<PipelinedOp>(op)) {
    Value one = arith::ConstantIndexOp::create(b, op.getLoc(), 1);
    loop =
        scf::ForOp::create(b, op.getLoc(), at(pipelined.getLower()), at(pipelined.getUpper()), one);
    body = &pipelined.getBody().front();
    variable = pipelined.getInductionVar();
  } else {
    auto serial = cast<scf::ForOp>(op);
    if (serial.getNumResults())
      return refuse(&op, "a loop with barriers hands values over");
    loop = scf::ForOp::create(b, op.getLoc(), at(serial.getLowerBound()),
                              at(serial.getUpperBound()), at(serial.getStep()));
    loop->setDiscardableAttrs(serial->getDiscardableAttrDictionary());
    body = serial.getBody();
    variable = serial.getInductionVar();
  }
  mapping.map(variable, loop.getInductionVar());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  project(*body, team, isOwned, b, mapping);
}

void Assigner::projectOp(Operation &op, unsigned team, bool isOwned, OpBuilder &b,
                         IRMapping &mapping) {
  if (obstacle || isa<BarrierAllocOp>(op))
    return;
  if (auto alloc = dyn_cast<AllocOp>(op)) {
    if (isOwn(alloc.getBuffer()))
      b.clone(op, mapping);
    return; // shared tiles are the kernel's (moveAllocations)
  }
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && !branch.getNumResults())
    return projectBranch(branch, team, isOwned, b, mapping);
  bool isLoop = isa<scf::ForOp, PipelinedOp>(op);
  bool holdsRoles = op.walk([&](Operation *inner) {
                        return isRoleBranch(inner) || isa<BarrierArriveOp, BarrierWaitOp>(inner)
                                   ? WalkResult::interrupt()
                                   : WalkResult::advance();
                      }).wasInterrupted();
  if (holdsRoles && isLoop)
    return projectLoop(op, team, isOwned, b, mapping);
  if (isOwned || isPureScalar(&op) || isa<BarrierArriveOp, BarrierWaitOp>(op)) {
    b.clone(op, mapping);
    return;
  }
  if (holdsRoles)
    return refuse(&op, "roles stand in a loop whose end only the run knows");
  // A statement of no role: of the one whose fragments it touches, or of each for itself.
  if (std::optional<unsigned> owner = findOwner(&op)) {
    if (*owner == team)
      b.clone(op, mapping);
    return;
  }
  std::optional<SmallVector<Effect>> effects = getEffects(&op);
  bool isForEach = effects && llvm::all_of(*effects, [](const Effect &effect) {
                     return effect.kind == EffectKind::Read
                                ? getSpace(effect.root) != Space::Fragment
                                : getSpace(effect.root) == Space::Local;
                   });
  if (!isForEach)
    return refuse(&op, "a statement of the whole block stands between those of roles");
  b.clone(op, mapping);
}

/// Shared tiles and barriers are the kernel's.
void Assigner::moveAllocations() {
  SmallVector<Operation *> found;
  for (Operation *op : section)
    op->walk([&](Operation *inner) {
      auto alloc = dyn_cast<AllocOp>(inner);
      if (isa<BarrierAllocOp>(inner) || (alloc && !isOwn(alloc.getBuffer())))
        found.push_back(inner);
    });
  for (Operation *op : found) {
    if (op->getNumOperands())
      return refuse(op, "the extents of this tile are only known when it runs");
    op->moveBefore(section.front());
  }
}

/// A role computes again what a thread knows by its number; what a thread has read before the roles
/// start is kept by the numbering of the whole block.
void Assigner::checkValues() {
  llvm::DenseMap<Value, bool> known;
  llvm::unique_function<bool(Value)> isRead = [&](Value value) -> bool {
    Operation *op = value.getDefiningOp();
    if (!op || !facts.varies(value) || getTeamRole(op))
      return false;
    if (auto it = known.find(value); it != known.end())
      return it->second;
    bool result = !isPureScalar(op) || op->getNumRegions() != 0 ||
                  llvm::any_of(op->getOperands(), [&](Value operand) { return isRead(operand); });
    return known[value] = result;
  };
  for (RoleOp role : getTeamRoles(kernel))
    role.walk([&](Operation *op) {
      if (llvm::any_of(op->getOperands(), [&](Value operand) { return isRead(operand); }))
        refuse(op, "it uses what a thread has read before the roles start");
    });
}

/// Each role has a number at which its threads meet, which is none of the user's.
void Assigner::nameMeetings() {
  constexpr int64_t kMostArrivals = (1 << 20) - 1;
  kernel.walk([&](BarrierAllocOp alloc) {
    if (llvm::any_of(alloc.getArrivals(), [&](int64_t count) { return count > kMostArrivals; }))
      refuse(alloc, "a barrier of a GPU counts to " + Twine(kMostArrivals));
  });
  llvm::SmallBitVector used(kNamedBarriers);
  used.set(0);
  kernel.walk([&](Operation *op) {
    Value index;
    if (auto arrive = dyn_cast<BarrierArriveOp>(op); arrive && arrive.getCount())
      index = arrive.getIndex();
    if (auto wait = dyn_cast<BarrierWaitOp>(op); wait && wait.getCount())
      index = wait.getIndex();
    if (!index)
      return;
    std::optional<int64_t> number = getConstantIntValue(index);
    if (!number || *number < 0 || *number >= kNamedBarriers)
      return refuse(op, "which barrier this is is only known when it runs");
    used.set(*number);
  });
  Builder b(kernel.getContext());
  for (RoleOp role : getTeamRoles(kernel)) {
    int number = used.find_first_unset();
    if (number < 0)
      return refuse(role, "the program uses all barriers by number");
    used.set(number);
    role->setAttr(kMeetingAttr, b.getI64IntegerAttr(number));
  }
}

//===----------------------------------------------------------------------------------------===//
// Proof and repair
//===----------------------------------------------------------------------------------------===//

/// One more barrier: the second role waits until the first one has come past its access.
void Assigner::repair(const OpenConflict &conflict) {
  auto inRole = [](Operation *op) {
    return getTeamRole(op).getBody().front().findAncestorOpInBlock(*op);
  };
  Operation *first = inRole(conflict.first), *second = inRole(conflict.second);
  MLIRContext *context = kernel.getContext();
  ImplicitLocOpBuilder b(conflict.second->getLoc(), kernel.getBody().front().getTerminator());
  b.setInsertionPointToStart(&kernel.getBody().front());
  auto type = makeBufferType({1}, b.getI64Type(), Space::Shared);
  std::string name = ("order_" + getName(conflict.root)).str();
  auto row = BarrierAllocOp::create(b, type, b.getStringAttr(name),
                                    DenseI64ArrayAttr::get(context, {getNumThreads(first)}));
  b.setInsertionPointAfter(first);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  BarrierArriveOp::create(b, row.getBarriers(), zero, Value(), UnitAttr(), UnitAttr(),
                          IntegerAttr());
  b.setInsertionPoint(second);
  zero = arith::ConstantIndexOp::create(b, 0);
  BarrierWaitOp::create(b, row.getBarriers(), zero, zero, IntegerAttr());
  repaired.push_back({conflict.first, conflict.second});
}

/// The arrival at which a copy must be over: the next statement of its block that is no copy, with
/// every thread of the role.
BarrierArriveOp findArrival(CopyOp copy) {
  if (getSpace(copy.getSource()) != Space::Global || getSpace(copy.getDest()) != Space::Shared)
    return {};
  for (Operation *op = copy->getNextNode(); op; op = op->getNextNode()) {
    if (auto arrive = dyn_cast<BarrierArriveOp>(op))
      return arrive.getOnce() || arrive.getCount() ? BarrierArriveOp() : arrive;
    if (!isa<CopyOp>(op) && !isPureScalar(op))
      return {};
  }
  return {};
}

/// Copies that may be under way until the arrival after them, if all that touches their tiles waits
/// for its phase. Whether they are bulk copies is the planner's business.
void Assigner::findBulkCopies() {
  SmallVector<CopyOp> copies;
  for (RoleOp role : getTeamRoles(kernel))
    role.walk([&](CopyOp copy) {
      if (!facts.isThreaded(copy) && findArrival(copy))
        copies.push_back(copy);
    });
  for (CopyOp copy : copies)
    copy->setAttr(kAtArrivalAttr, UnitAttr::get(kernel.getContext()));
  // Those that take part in a conflict go back to threads.
  for (Played played = playRoles(kernel, disjoint); !played.isProved();
       played = playRoles(kernel, disjoint)) {
    bool hasChanged = false;
    for (const OpenConflict &conflict : played.conflicts)
      for (Operation *op : {conflict.first, conflict.second})
        hasChanged |= bool(op->removeAttr(kAtArrivalAttr));
    if (hasChanged)
      continue;
    for (CopyOp copy : copies)
      copy->removeAttr(kAtArrivalAttr);
    return;
  }
}

/// The registers that roles request (`T.set_max_nreg`), if the block has them: a warpgroup that
/// requests more than others have given away would wait for ever.
void Assigner::assignRegisters() {
  constexpr int64_t kRegisters = 65536, kWarpgroup = 128, kMost = 256;
  Builder b(kernel.getContext());
  llvm::MapVector<Operation *, int64_t> asked;
  int64_t blocks = 1;
  bool isForbidden = false;
  Operation *hint = nullptr;
  kernel.walk([&](HintOp op) {
    auto count = op->getAttrOfType<IntegerAttr>("count");
    isForbidden |= op.getName() == "no_set_max_nreg";
    if (op.getName() == "min_blocks_per_sm" && count)
      blocks = std::max<int64_t>(1, count.getInt());
    if (RoleOp role = getTeamRole(op); role && op.getName() == "set_max_nreg" && count) {
      asked[role] = count.getInt();
      hint = op;
    }
  });
  if (asked.empty() || isForbidden)
    return;
  int64_t threads = llvm::alignTo(kernel.getNumThreads(), kWarpgroup);
  int64_t granted = std::min<int64_t>(kRegisters / blocks / threads / 8 * 8, kMost - 8), sum = 0;
  bool isLegal = true;
  for (RoleOp role : getTeamRoles(kernel)) {
    Team team = getTeam(role);
    int64_t count = asked.contains(role) ? asked[role] : granted;
    isLegal &= team.first % kWarpgroup == 0 && team.count % kWarpgroup == 0;
    sum += team.count * count;
  }
  if (!isLegal || sum > kRegisters / blocks || blocks > 1 || granted >= kMost - 8) {
    InFlightDiagnostic diag = hint->emitRemark();
    diag << "registers stay as they are, " << granted << " at most for each thread: ";
    if (!isLegal)
      diag << "roles that change them are whole warpgroups";
    else
      diag << "roles request " << sum << " of the " << kRegisters / blocks << " that a block has";
    describeRemark(diag, "roles", "", {{"registers", granted}, {"asked", sum}});
    return;
  }
  kernel->setAttr(kRegistersAttr, b.getI64IntegerAttr(granted));
  for (auto [role, count] : asked)
    if (count != granted)
      role->setAttr(kRegistersAttr, b.getI64IntegerAttr(count));
}

std::optional<Obstacle> Assigner::run() {
  orderTeams();
  countOwners();
  for (auto &[root, own] : owners)
    if (own.size() > 1 && getSpace(root) == Space::Fragment)
      return Obstacle{root.getDefiningOp(), "roles share the fragment '" + getName(root).str() +
                                                "', which is in the registers of one of them"};
  if (!findSection())
    return obstacle;
  moveAllocations();
  SmallVector<RoleOp> roles;
  OpBuilder b(section.front());
  for (auto [number, team] : llvm::enumerate(teams)) {
    auto role = RoleOp::create(b, section.front()->getLoc(),
                               "ws" + std::to_string(team.first / 128), team.count);
    role->setAttr(kFirstThreadAttr, b.getI64IntegerAttr(team.first));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&role.getBody().front());
    IRMapping mapping;
    for (auto &[root, own] : owners) { // those that stand in front of the section
      Operation *alloc = root.getDefiningOp();
      if (!llvm::is_contained(section, alloc) && alloc->getBlock() == section.front()->getBlock())
        b.clone(*alloc, mapping);
    }
    for (Operation *op : section)
      projectOp(*op, number, /*isOwned=*/false, b, mapping);
  }
  if (obstacle)
    return obstacle;
  checkValues();
  for (Operation *op : llvm::reverse(section)) {
    bool isUsed = llvm::any_of(op->getUsers(), [&](Operation *user) { return !getTeamRole(user); });
    if (isUsed && !isPureScalar(op))
      return Obstacle{op, "a statement after the roles uses what one of them has read"};
    if (!isUsed)
      op->erase();
  }
  eraseDeadOps(kernel);
  nameMeetings();
  for (unsigned round = 0; !obstacle; ++round) {
    Played played = playRoles(kernel, disjoint);
    if (played.isProved()) {
      findBulkCopies();
      assignRegisters();
      return std::nullopt;
    }
    if (!played.obstacle.empty())
      return Obstacle{played.at, played.obstacle};
    const OpenConflict &conflict = played.conflicts.front();
    if (round >= kMostRepairs)
      return Obstacle{conflict.second,
                      "no barrier orders what roles do to '" + getName(conflict.root).str() + "'"};
    repair(conflict);
  }
  return obstacle;
}

//===----------------------------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------------------------===//

void remarkRepairs(const Assigner &assigner) {
  for (auto [first, second] : assigner.repaired) {
    InFlightDiagnostic diag = second->emitRemark();
    diag << "a barrier is added in front of this statement: no barrier of the program orders it "
            "after what another role does before; TileLang would race here";
    diag.attachNote(first->getLoc()) << "the other role is here";
    describeRemark(diag, "roles", "", {{"repair", "barrier"}});
  }
}

/// Tells that a program's wish for registers is dropped.
void remarkRegisters(KernelOp kernel) {
  kernel.walk([](HintOp hint) {
    if (hint.getName() != "set_max_nreg")
      return WalkResult::advance();
    InFlightDiagnostic diag = hint.emitRemark();
    diag << "registers stay as they are: only roles that run at once change them";
    describeRemark(diag, "roles", "", {});
    return WalkResult::interrupt();
  });
}

void assignRoles(KernelOp kernel, bool disjoint) {
  if (!Assigner(kernel, disjoint).hasRoles())
    return remarkRegisters(kernel);
  OpBuilder b(kernel);
  auto copy = cast<KernelOp>(b.clone(*kernel));
  Assigner assigner(copy, disjoint);
  (void)assigner.hasRoles();
  std::optional<Obstacle> obstacle = assigner.run();
  if (obstacle) {
    InFlightDiagnostic diag = emitRemark(obstacle->at->getLoc());
    diag << "roles take turns instead of running at once: " << obstacle->reason;
    if (!assigner.repaired.empty())
      diag << "; TileLang would race here";
    describeRemark(diag, "roles", "", {{"form", "turns"}, {"reason", obstacle->reason}});
    copy.erase();
    return remarkRegisters(kernel);
  }
  kernel.erase();
  remarkRepairs(assigner);
  SmallVector<RoleOp> roles = getTeamRoles(copy);
  InFlightDiagnostic diag = roles.front().emitRemark();
  diag << roles.size() << " roles run at once";
  for (auto [number, role] : llvm::enumerate(roles))
    diag << (number ? ", " : ": ") << role.getThreads() << " threads from " << getTeam(role).first
         << " on";
  describeRemark(diag, "roles", "", {{"form", "warps"}, {"roles", int64_t(roles.size())}});
}

struct AssignRolesPass : tilewright::impl::AssignRolesBase<AssignRolesPass> {
  using AssignRolesBase::AssignRolesBase;

  void runOnOperation() override {
    SmallVector<KernelOp> kernels;
    getOperation().walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    for (KernelOp kernel : kernels)
      assignRoles(kernel, disjoint);
  }
};

} // namespace

} // namespace tilewright::threads
