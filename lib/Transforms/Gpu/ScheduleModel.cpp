//===- ScheduleModel.cpp - how long an iteration of a loop of products takes ------------------===//
//
// Each event of the play (a product ends, a statement is done, a copy has arrived) has a time and the
// event that it waited for longest. The steady state is what two late iterations differ by. The events that decide it are
// found by going back from the last one: a cycle of the marked graph, told as the statements it passes.
//
//   warpgroup 0   S ──▶ softmax ──▶ O        each warpgroup runs its statements in order,
//   warpgroup 1     S ──▶ softmax ──▶ O      products take turns on the tensor cores,
//   tensor cores  S S O S O S …              statements on the schedulers
//
//===----------------------------------------------------------------------------------------===//

#include "ScheduleModel.h"
#include "Roles.h"
#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Tile/Teams.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <map>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

constexpr double kMultiplications = 2048; ///< Of 16-bit elements a cycle.
constexpr double kSharedBytes = 128;      ///< That products read a cycle.
constexpr double kCopiedBytes = 32;       ///< That TMA brings a cycle.
constexpr double kCopyLatency = 420;      ///< From the start of a copy to its arrival.
constexpr double kClusterLatency = 190;   ///< More where blocks of a cluster wait for each other.
constexpr double kProductLatency = 30;  ///< From the end of a product to the end of a wait for it.
constexpr double kFunctionCycles = 8;   ///< Of a scheduler for one exponential of a warp.
constexpr double kExchangeCycles = 10;  ///< Of a reduction over the lanes that share a row.
constexpr double kElementsOfAccess = 4; ///< Of shared memory, at once.
constexpr double kStatementCycles = 20; ///< Of any statement, a wait included.
constexpr int64_t kWarpgroup = 128, kRows = 64;
constexpr int64_t kRounds = 24,
                  kMeasured = 8; ///< Iterations that are played, and the last ones that count.

int64_t getElements(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return type.hasStaticShape() ? type.getNumElements() : 0;
}

/// The cycles of one warpgroup's part of a product on the tensor cores.
double getProductCycles(GemmOp gemm, int64_t groups) {
  GemmOp::Extents extents = gemm.getExtents();
  if (extents.m % kRows)
    std::swap(extents.m, extents.n); // computed as its transpose
  double rows = double(extents.m), columns = double(extents.n), depth = double(extents.k);
  Type element = cast<MemRefType>(gemm.getA().getType()).getElementType();
  double bytes = double(getStorageBytes(element));
  double multiplications = rows * columns * depth * bytes / 2; // narrow ones are faster
  double read = rows / kRows * columns * depth * bytes;
  if (getSpace(getRoot(gemm.getA())) == Space::Shared)
    read += rows * depth * bytes;
  return std::max(multiplications / kMultiplications, read / kSharedBytes) / double(groups);
}

/// What one warp's part of a statement takes: cycles of its scheduler, and of the unit of functions.
struct WorkCycles {
  double issued = 0, functions = 0;
};

WorkCycles getWorkCycles(Operation *op, int64_t threads) {
  WorkCycles cycles;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    cycles.issued = double(getElements(reduce.getSource())) / double(threads) + kExchangeCycles;
  auto loop = dyn_cast<ParallelOp>(op);
  if (!loop || loop.getBody().getOps<LoadOp>().empty())
    return cycles; // zeros for a product, which takes them itself
  std::optional<SmallVector<int64_t>> extents = analysis::getStaticExtents(loop);
  double slots = 1.0 / double(threads);
  for (int64_t extent : extents.value_or(SmallVector<int64_t>{0}))
    slots *= double(extent);
  slots = std::max(slots, 1.0);
  loop.walk([&](Operation *inner) {
    bool isIndex = inner->getNumResults() == 1 && inner->getResult(0).getType().isIndex();
    if (isIndex || inner->getNumRegions() || isa<arith::ConstantOp, YieldOp>(inner))
      return;
    Value buffer;
    if (auto load = dyn_cast<LoadOp>(inner))
      buffer = load.getBuffer();
    else if (auto store = dyn_cast<StoreOp>(inner))
      buffer = store.getBuffer();
    if (buffer && getSpace(getRoot(buffer)) == Space::Fragment)
      return; // registers
    cycles.issued += buffer ? slots / kElementsOfAccess : slots;
    if (isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::TanhOp>(inner))
      cycles.functions += slots * kFunctionCycles;
  });
  return cycles;
}

/// A statement with its time and what it waits for.
struct Step {
  enum Kind { Work, Product, Wait, Release, Take, Pass, Meet } kind = Work;
  Operation *op = nullptr;
  int64_t shift = 0;
  double cycles = 0,
         functions = 0; ///< Of the tensor cores or of a scheduler; of the unit of functions.
  SmallVector<unsigned> products; ///< Steps whose last product must have ended.
  SmallVector<unsigned> channels; ///< Of a wait or a release.
  std::string name;
};

/// The copies that a wait waits for.
struct Channel {
  SmallVector<Value> tiles;
  double bytes = 0; ///< That the block itself requests: less where others copy for it.
  double latency = kCopyLatency;
  int64_t versions = 1;
};

/// How many blocks of the cluster one copy into a tile serves.
int64_t countServedBlocks(Value full, Value tile) {
  int64_t blocks = 1;
  for (Operation *user : full.getUsers())
    if (auto fill = dyn_cast<AsyncGroupOp>(user))
      fill.walk([&](StoreOp store) {
        if (getRoot(store.getBuffer()) == tile)
          blocks = std::max(blocks, countMulticastBlocks(store->getParentOfType<ParallelOp>()));
      });
  return blocks;
}

/// Something that has happened, and what it waited for longest.
struct Event {
  double time = 0;
  int64_t cause = -1;
  int64_t step = -1; ///< Negative: a copy.
};

class Play {
public:
  Play(PipelinedOp loop, ArrayRef<OrderedStatement> statements, int64_t blocks = 1);
  SchedulePrediction run();

private:
  struct Group { ///< A warpgroup.
    int64_t block = 0;
    size_t next = 0;
    int64_t round = 0, last = -1; ///< Its last event,
    int64_t met = -1;             ///< and that with which it came to a barrier.
    std::map<std::pair<unsigned, int64_t>, int64_t> ends; ///< Of a product in an iteration.
  };

  void addStep(OrderedStatement statement);
  int64_t addEvent(double ready, double cycles, ArrayRef<int64_t> causes, int64_t step,
                   int64_t *resource);
  int64_t getArrival(unsigned channel, int64_t iteration, int64_t block);
  bool isBlocked(const Group &group) const;
  /// Whether a group that has not begun yet needs the turn to begin: the order passes it first.
  bool beginsWithTurn(const Group &group) const {
    return beginsInTurn && group.round == 0 && group.next == 0;
  }
  bool hasTurn(const Group &group) const { return &group == &warpgroups[turn]; }
  std::pair<unsigned, int64_t> keyOf(unsigned channel, int64_t iteration, int64_t block) const {
    return {unsigned(channel + block * channels.size()), iteration};
  }
  ArrayRef<Group> groupsOf(int64_t block) const {
    return ArrayRef(warpgroups).slice(block * groups, groups);
  }
  double timeOf(const Group &group) const { return group.last < 0 ? 0 : events[group.last].time; }
  void advance(Group &group);
  std::string describe(int64_t event, double from) const;

  int64_t threads, groups;
  SmallVector<Step, 0> steps;
  SmallVector<Channel> channels;
  std::vector<Event> events;
  std::vector<Group> warpgroups;
  int64_t tensorCores = -1, schedulers = -1, functionUnits = -1,
          copies = -1;       ///< Their last events.
  size_t turn = 0;           ///< The number of the group that has it,
  int64_t passed = -1;       ///< and the event that gave it.
  bool beginsInTurn = false; ///< The turn goes on over the end of an iteration.
  std::map<std::pair<unsigned, int64_t>, int64_t> arrivals;
  std::map<std::pair<unsigned, int64_t>, SmallVector<int64_t>> releases;
};

/// What a statement is called in a remark.
std::string nameOf(Operation *op) {
  if (auto gemm = dyn_cast<GemmOp>(op))
    return "product of '" + tile::getName(getRoot(gemm.getC())).str() + "'";
  std::optional<SmallVector<Effect>> effects = getEffects(op);
  for (const Effect &effect : effects.value_or(SmallVector<Effect>()))
    if (effect.kind != EffectKind::Read)
      return "'" + tile::getName(effect.root).str() + "'";
  return "a statement";
}

Play::Play(PipelinedOp loop, ArrayRef<OrderedStatement> statements, int64_t blocks)
    : threads(loop->getParentOfType<KernelOp>().getNumThreads()),
      groups(std::max<int64_t>(1, threads / kWarpgroup)), warpgroups(groups * blocks) {
  for (auto [number, group] : llvm::enumerate(warpgroups))
    group.block = int64_t(number) / groups;
  // What is released may be waited for further on.
  for (const OrderedStatement &statement : statements)
    if (const CopiedTiles *copied = statement.awaited)
      channels.push_back({copied->tiles, copied->bytes, kCopyLatency, copied->versions});
  for (OrderedStatement statement : statements)
    addStep(statement);
  const Step *firstTurn = llvm::find_if(
      steps, [](const Step &step) { return step.kind == Step::Take || step.kind == Step::Pass; });
  beginsInTurn = firstTurn != steps.end() && firstTurn->kind == Step::Pass;
  // Whatever touches what a product has in hand waits for it; a product of the same sums does not.
  for (Step &step : steps) {
    if (step.kind == Step::Wait || (!step.op && step.kind != Step::Release))
      continue;
    for (auto [number, other] : llvm::enumerate(steps)) {
      if (other.kind != Step::Product || (step.kind == Step::Product && &step == &other))
        continue;
      bool waits = step.kind == Step::Work && analysis::haveConflict(step.op, other.op);
      if (step.kind == Step::Release)
        for (unsigned channel : step.channels)
          waits |= analysis::touchesAny(other.op, channels[channel].tiles);
      if (waits)
        step.products.push_back(number);
    }
  }
}

void Play::addStep(OrderedStatement statement) {
  Operation *op = statement.op;
  Step step;
  step.op = op;
  step.shift = statement.shift;
  if (statement.turn) {
    step.kind = *statement.turn == TurnKind::Take ? Step::Take : Step::Pass;
    step.name = "the turn";
    steps.push_back(std::move(step));
    return;
  }
  if (statement.meets) {
    step.kind = Step::Meet;
    step.name = "a barrier";
    steps.push_back(std::move(step));
    return;
  }
  auto findChannel = [&](ArrayRef<Value> tiles) {
    for (auto [number, channel] : llvm::enumerate(channels))
      if (!tiles.empty() && llvm::is_contained(channel.tiles, tiles.front()))
        step.channels.push_back(number);
  };
  if (statement.awaited) {
    step.kind = Step::Wait;
    findChannel(statement.awaited->tiles);
  } else if (statement.released) {
    step.kind = Step::Release;
    findChannel(statement.released->tiles);
  } else if (auto wait = dyn_cast<BarrierWaitOp>(op)) {
    step.kind = Step::Wait;
    Channel channel;
    channel.tiles = findFilledTiles(wait.getBarriers());
    for (Value tile : channel.tiles) {
      auto alloc = tile.getDefiningOp<AllocOp>();
      auto versions = alloc->getAttrOfType<IntegerAttr>(kVersionsAttr);
      channel.versions = versions ? versions.getInt() : 1;
      int64_t served = countServedBlocks(wait.getBarriers(), tile);
      channel.bytes += double(analysis::getPlacedBytes(alloc)) / double(channel.versions * served);
      if (served > 1)
        channel.latency = kCopyLatency + kClusterLatency;
    }
    if (!channel.tiles.empty()) {
      step.channels.push_back(channels.size());
      channels.push_back(channel);
    }
  } else if (auto release = dyn_cast<BarrierArriveOp>(op)) {
    step.kind = Step::Release;
    findChannel(findReleasedTiles(release.getBarriers()));
  } else if (isa<GemmOp>(op) && op->hasAttr(kAsyncAttr)) {
    step.kind = Step::Product;
    step.cycles = getProductCycles(cast<GemmOp>(op), groups);
  } else {
    WorkCycles work = getWorkCycles(op, threads);
    step.cycles = work.issued;
    step.functions = work.functions;
  }
  step.name = op ? nameOf(op) : "a wait";
  steps.push_back(std::move(step));
}

/// An event `cycles` after the last of its causes, and after what the resource does before.
int64_t Play::addEvent(double ready, double cycles, ArrayRef<int64_t> causes, int64_t step,
                       int64_t *resource) {
  Event event{ready, -1, step};
  auto waitFor = [&](int64_t cause) {
    if (cause >= 0 && (event.cause < 0 || events[cause].time > event.time)) {
      event.time = std::max(event.time, events[cause].time);
      event.cause = cause;
    }
  };
  for (int64_t cause : causes)
    waitFor(cause);
  if (resource)
    waitFor(*resource);
  event.time += cycles;
  events.push_back(event);
  if (resource)
    *resource = int64_t(events.size()) - 1;
  return int64_t(events.size()) - 1;
}

/// Whether a warpgroup waits for a version that another one has not read yet, or for its turn.
bool Play::isBlocked(const Group &group) const {
  const Step &step = steps[group.next];
  if ((step.kind == Step::Take || beginsWithTurn(group)) && !hasTurn(group))
    return true;
  if (step.kind == Step::Meet)
    return llvm::any_of(groupsOf(group.block), [&](const Group &other) {
      return other.round < group.round || (other.round == group.round && other.next < group.next);
    });
  if (step.kind != Step::Wait)
    return false;
  return llvm::any_of(step.channels, [&](unsigned number) {
    int64_t freed = group.round - step.shift - channels[number].versions;
    auto it = releases.find(keyOf(number, freed, group.block));
    return freed >= 0 && (it == releases.end() || int64_t(it->second.size()) < groups);
  });
}

/// When the copies of an iteration have arrived. The first wait makes the event.
int64_t Play::getArrival(unsigned number, int64_t iteration, int64_t block) {
  auto [it, isNew] = arrivals.try_emplace(keyOf(number, iteration, block), -1);
  if (!isNew)
    return it->second;
  const Channel &channel = channels[number];
  auto freed = releases.find(keyOf(number, iteration - channel.versions, block));
  SmallVector<int64_t> causes;
  if (freed != releases.end())
    causes = freed->second;
  int64_t sent = addEvent(0, channel.bytes / kCopiedBytes, causes, -1, &copies);
  it->second = addEvent(0, channel.latency, sent, -1, nullptr);
  return it->second;
}

void Play::advance(Group &group) {
  unsigned number = group.next;
  const Step &step = steps[number];
  if (beginsWithTurn(group))
    group.last = passed;
  int64_t iteration = group.round - step.shift;
  auto goOn = [&](int64_t event) {
    group.last = event;
    if (++group.next == steps.size()) {
      group.next = 0;
      ++group.round;
    }
    if (steps[group.next].kind == Step::Meet)
      group.met = event;
  };
  if (iteration < 0)
    return goOn(group.last);
  SmallVector<int64_t> causes{group.last};
  for (unsigned product : step.products) {
    // Before it in the order: the product of this round; else that of the round before.
    int64_t own = group.round - (product < number ? 0 : 1) - steps[product].shift;
    if (step.kind == Step::Release)
      own = std::min(own, iteration);
    if (auto end = group.ends.find({product, own}); end != group.ends.end())
      causes.push_back(end->second);
  }
  switch (step.kind) {
  case Step::Take:
    causes.push_back(passed);
    return goOn(addEvent(0, kStatementCycles, causes, number, nullptr));
  case Step::Pass: {
    int64_t event = addEvent(0, 0, causes, number, nullptr);
    passed = event;
    turn = (turn + 1) % warpgroups.size();
    return goOn(event);
  }
  case Step::Meet:
    for (const Group &other : groupsOf(group.block))
      causes.push_back(other.met);
    return goOn(addEvent(0, kStatementCycles, causes, number, nullptr));
  case Step::Work: {
    int64_t issued = addEvent(0, step.cycles, causes, number, &schedulers);
    SmallVector<int64_t> done{issued};
    if (step.functions > 0)
      done.push_back(addEvent(0, step.functions, causes, number, &functionUnits));
    return goOn(addEvent(0, kStatementCycles, done, number, nullptr));
  }
  case Step::Wait:
    for (unsigned channel : step.channels)
      causes.push_back(getArrival(channel, iteration, group.block));
    return goOn(addEvent(0, 0, causes, number, nullptr));
  case Step::Release: {
    int64_t event = addEvent(0, 0, causes, number, nullptr);
    for (unsigned channel : step.channels)
      releases[keyOf(channel, iteration, group.block)].push_back(event);
    return goOn(event);
  }
  case Step::Product: {
    int64_t issued = addEvent(0, kStatementCycles, causes, number, nullptr);
    int64_t computed = addEvent(0, step.cycles, issued, number, &tensorCores);
    group.ends[{number, iteration}] = addEvent(0, kProductLatency, computed, number, nullptr);
    return goOn(issued);
  }
  }
}

/// The statements on the way from `from` to an event, the longest first.
std::string Play::describe(int64_t event, double from) const {
  llvm::SmallSetVector<int64_t, 8> passed;
  for (; event >= 0 && events[event].time > from; event = events[event].cause)
    if (events[event].cause < 0 || events[event].time > events[events[event].cause].time)
      passed.insert(std::max<int64_t>(events[event].step, -1));
  std::string text;
  for (int64_t step : llvm::reverse(passed.getArrayRef()))
    text += (text.empty() ? "" : ", ") + (step < 0 ? std::string("copies") : steps[step].name);
  return text;
}

SchedulePrediction Play::run() {
  SchedulePrediction prediction;
  Group &observed = warpgroups.front();
  std::vector<double> starts; // of its iterations
  while (observed.round < kRounds) {
    Group *next = nullptr;
    for (Group &group : warpgroups)
      if (!isBlocked(group) && (!next || timeOf(group) < timeOf(*next)))
        next = &group;
    if (!next) // the order stops, which check-schedule would tell
      return prediction;
    if (next == &observed && observed.next == 0)
      starts.push_back(timeOf(observed));
    advance(*next);
  }
  prediction.cycles = (starts[kRounds - 1] - starts[kRounds - 1 - kMeasured]) / kMeasured;
  prediction.critical = describe(observed.last, timeOf(observed) - prediction.cycles);
  return prediction;
}

} // namespace

double tilewright::predictWork(Operation *op, int64_t threads) {
  WorkCycles cycles = getWorkCycles(op, threads);
  return cycles.issued + cycles.functions;
}

SmallVector<OrderedStatement> tilewright::getWrittenOrder(PipelinedOp loop) {
  SmallVector<OrderedStatement> order;
  for (Operation &op : loop.getBody().front().without_terminator())
    if (!isPlain(&op))
      order.push_back({&op, 0});
  return order;
}

int64_t tilewright::countMulticastBlocks(ParallelOp copy) {
  auto dims = copy->getAttrOfType<DenseI64ArrayAttr>(kMulticastAttr);
  auto cluster = copy->getParentOfType<KernelOp>()->getAttrOfType<DenseI64ArrayAttr>(kClusterAttr);
  if (!dims || !cluster)
    return 1;
  if (auto mask = copy->getAttrOfType<IntegerAttr>(kClusterMaskAttr))
    return llvm::popcount(uint64_t(mask.getInt()));
  int64_t blocks = 1;
  for (int64_t dim : dims.asArrayRef())
    blocks *= cluster[dim];
  return blocks;
}

SchedulePrediction tilewright::predictSchedule(PipelinedOp loop,
                                               ArrayRef<OrderedStatement> statements) {
  return Play(loop, statements).run();
}

namespace {

/// The order of a loop that has no barriers yet.
class CopyOrder {
public:
  CopyOrder(PipelinedOp loop, ArrayRef<CopiedTiles> channels) : channels(channels) {
    for (Operation &op : loop.getBody().front().without_terminator())
      if (!isPlain(&op) && !op.hasAttr(kBulkAttr) && !op.hasAttr(kSpanAttr)) {
        body.push_back(&op);
        if (isa<GemmOp>(op) && op.hasAttr(kAsyncAttr))
          products.push_back(&op);
      }
  }

  /// A thread of the block copies where the threads have met: after the first product that runs on.
  SmallVector<OrderedStatement> getByThreads();
  /// A producer copies. If `isMoved`, the second of two products runs beside the next iteration.
  SmallVector<OrderedStatement> getByProducer(bool isMoved);
  bool canMove() const { return products.size() == 2; }
  /// schedule-products finds other orders for more products.
  bool isKnown() const { return products.size() <= 2; }

private:
  void addWaits(Operation *op, int64_t shift) {
    for (const CopiedTiles &channel : channels)
      if (channel.first == op)
        order.push_back({nullptr, shift, std::nullopt, &channel});
  }
  void addReleases(Operation *op, int64_t shift) {
    for (const CopiedTiles &channel : channels)
      if (channel.last == op)
        order.push_back({nullptr, shift, std::nullopt, nullptr, &channel});
  }

  ArrayRef<CopiedTiles> channels;
  SmallVector<Operation *> body, products;
  SmallVector<OrderedStatement> order;
};

SmallVector<OrderedStatement> CopyOrder::getByThreads() {
  order.clear();
  auto meet = [&] {
    for (const CopiedTiles &channel : channels)
      order.push_back({nullptr, 1, std::nullopt, nullptr, &channel});
    order.push_back({nullptr, 0, std::nullopt, nullptr, nullptr, /*meets=*/true});
  };
  if (products.empty())
    meet();
  for (Operation *op : body) {
    addWaits(op, 0);
    order.push_back({op});
    if (!products.empty() && op == products.front())
      meet();
  }
  return order;
}

SmallVector<OrderedStatement> CopyOrder::getByProducer(bool isMoved) {
  order.clear();
  Operation *moved = isMoved ? products[1] : nullptr;
  bool isOpen = false;
  for (Operation *op : body) {
    if (op == moved)
      continue;
    if (isOpen && analysis::haveConflict(op, moved)) {
      addReleases(moved, 1);
      isOpen = false;
    }
    addWaits(op, 0);
    order.push_back({op});
    addReleases(op, 0);
    if (!moved || op != products[0])
      continue;
    addWaits(moved, 1);
    order.push_back({moved, 1});
    isOpen = true;
  }
  if (isOpen)
    addReleases(moved, 1);
  return order;
}

} // namespace

SchedulePrediction tilewright::predictCopies(PipelinedOp loop, ArrayRef<CopiedTiles> channels,
                                             CopiedBy who, int64_t blocks) {
  CopyOrder orders(loop, channels);
  bool byThreads = who == CopiedBy::Threads;
  if (!orders.isKnown())
    return {};
  SchedulePrediction prediction =
      Play(loop, byThreads ? orders.getByThreads() : orders.getByProducer(false), blocks).run();
  if (!byThreads && orders.canMove()) {
    SchedulePrediction moved = Play(loop, orders.getByProducer(true), blocks).run();
    if (moved.cycles > 0 && moved.cycles < prediction.cycles)
      prediction = moved;
  }
  prediction.cycles /= double(blocks);
  return prediction;
}
