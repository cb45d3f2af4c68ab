//===- Scheduled.h - runs kernels as the passes for GPUs have scheduled them ------------------===//
//
// A scheduled kernel is run by *teams*: the threads of the program, and the threads of each
// `tile.role`, which run beside them. A team runs its statements one after another, each whole.
// Which team goes on is a choice (Options::threadOrder); a team stops at a `tile.barrier_wait` that
// is not over.
//
// Copies, bulk stores and products that run on after their statement are *effects*. An effect may
// take place at any moment from its statement on until a wait for it ends. It sees the scalars and
// slices of its statement, and the memory of its own moment.
//
//   order 0    the first team in the text goes on while it can; effects take place at once
//   order 1    the last one goes on; effects take place when somebody waits for them
//   else       both are drawn at random, with this number as the seed
//
// A schedule is right if every order gives what the program means. Each run also watches the order
// of accesses by clocks (RoleWatch.h), in which an effect is an actor of its own. It knows what the
// threads that started it have published, and those who wait for it know it. So an ordering that is
// missing is a race even where this run's values are right. A team has two clocks:
//
//   own    what any of its threads knows: its own statements, effects it has waited for. Registers
//          belong to threads, so this is what orders accesses to fragments.
//   known  what all of its threads know: `own` as it was at the last `tile.barrier`, and what a
//          wait at a barrier with phases tells all of them.
//
//        program                     producer                    the copy
//                                    wait(empty[0])
//                                    async_group on full[0]  ──▶ knows the release of S[0]
//        wait(full[0])  ◀─────────────────────────────────────── arrives: S[0] is written
//        gemm S[0]
//        arrive(empty[0]) ─────────▶ …
//
// What threads of one team do to each other inside a statement, and where tiles lie, is not looked
// at: the virtual GPU does that. This shares no code with the passes that make or check schedules.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_INTERP_SCHEDULED_H
#define TILEWRIGHT_LIB_INTERP_SCHEDULED_H

#include "Channels.h"
#include "tilewright/Support/SeededRandom.h"
#include "llvm/ADT/DenseSet.h"
#include <list>
#include <map>

namespace tilewright::interp {

/// Whether the passes for GPUs have scheduled a kernel.
bool isScheduled(tile::KernelOp kernel);

class ScheduledRunner {
public:
  ScheduledRunner(Machine &machine, tile::KernelOp kernel, const Body &body);
  ~ScheduledRunner();

  /// Runs one block.
  void run(llvm::ArrayRef<int64_t> block);

private:
  /// The scalars and buffers that a team sees.
  struct Row {
    std::vector<Scalar> values;
    std::vector<View> views;
  };
  using Allocations = llvm::DenseMap<mlir::Operation *, Storage *>;

  /// An asynchronous statement under way.
  struct Effect {
    const Step *step;
    Row row; ///< As its statement saw it.
    /// Its two actors: `global` for accesses to global memory, which a wait for its reads of shared
    /// memory does not end.
    unsigned actor, globalActor;
    Clock known, own;
    bool isEmpty = false; ///< Of a group of copies: there was nothing to copy.
    bool isDone = false;
    Channels::Channel *channel = nullptr; ///< Where its end is told; null if a wait counts it.
    bool isArrival = false;               ///< Its end is an arrival there.
  };
  /// Effects that end in the order in which they started.
  using Queue = std::list<Effect *>;

  /// Where a team stands in a body: the step it is at, or the branch or loop it is in.
  struct Frame {
    const Body *body;
    const Step *owner = nullptr; ///< The branch or loop; null for the kernel.
    size_t next = 0;
    int64_t index = 0, upper = 0, stride = 1; ///< Of a loop.
  };

  struct Team {
    unsigned actor = 0;
    std::string name;
    int64_t numThreads = 0;   ///< That arrive at barriers.
    bool isOneThread = false; ///< Its threads have nothing to tell each other.
    Team *parent = nullptr;   ///< Whose threads some of the team's are.
    Row row;
    Allocations *allocations = nullptr;
    llvm::SmallVector<Frame, 4> frames;
    Clock own, known;
    Queue copies, stores, products;
    bool isFinished = false;
  };

  // Scheduling (Scheduled.cpp).
  void start(llvm::ArrayRef<int64_t> block);
  void startRole(const Step &step, size_t position);
  Team &addTeam(mlir::Operation *role, llvm::StringRef name, int64_t numThreads);
  bool goOn();
  bool isBlocked(Team &team);
  bool hasRolesUnderWay(const Team &team) const;
  void reportDeadlock();
  std::string describeWaiting(Team &team, bool isHere);
  void finishBlock();

  // Statements (ScheduledControl.cpp).
  const Step *getStep(const Team &team) const;
  void advance(Team &team);
  void runStatement(Team &team, const Step &step);
  void allocate(Team &team, const Step &step);
  void fork(Team &team, const Step &step);
  void arrive(Team &team, const Step &step);
  void wait(Team &team, const Step &step);
  void enter(Team &team, const Step &step);
  void beginIteration(Team &team);
  void decideWhile(Team &team);
  void finishBody(Team &team);
  void leave(Team &team);
  void swap(Team &team);
  void settle(Team &team);

  // Effects (ScheduledEffects.cpp).
  Effect &addEffect(Team &team, const Step &step);
  void startCopies(Team &team, const Step &step);
  void startStores(Team &team, const Step &step);
  void startProduct(Team &team, const Step &step);
  void startOrWait(Effect &effect);
  void takePlace(Effect &effect);
  void endOldest(Team &team, Queue &queue, size_t pending, bool onlyReads = false);
  llvm::SmallVector<Effect *> getOpenEffects();

  Machine &machine;
  tile::KernelOp kernel;
  const Body &body;
  uint64_t order;
  SeededRandom random;
  llvm::DenseSet<const Step *> walked; ///< Branches and loops that hold scheduled statements.
  std::map<mlir::Operation *, Allocations> allocations; ///< By role; null for the program.
  std::map<mlir::Operation *, std::pair<View, llvm::DenseSet<const Team *>>> shared;
  std::list<Team> teams;
  std::list<Effect> effects;
  std::vector<std::string> actors; ///< The name of each.
  Channels channels;
  RoleWatch watch;
};

} // namespace tilewright::interp

#endif // TILEWRIGHT_LIB_INTERP_SCHEDULED_H
