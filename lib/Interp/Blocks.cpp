//===- Blocks.cpp - the blocks of a kernel, one after another ---------------------------------===//
//
// A kernel whose blocks meet is cut into parts at its grid syncs. All blocks run the first part,
// then all run the second. What a later part uses of an earlier one is kept for each block: scalars,
// views, and the contents of tiles, arrays and variables. (The compiler refuses programs in which
// memory of single threads would have to be kept: tile-split-grid.)
//
//===----------------------------------------------------------------------------------------===//

#include "Blocks.h"
#include "Scheduled.h"
#include "Threads.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

namespace {

/// Steps of the kernel's body between two grid syncs.
struct Part {
  size_t begin, end;
};

/// Slots that hold values of an earlier part that a later one uses.
struct LiveSlots {
  llvm::SetVector<Slot> values, views;
};

/// Their contents, thread by thread, and those of the memory that the views show.
struct Kept {
  std::vector<Scalar> values;
  std::vector<View> views;
  std::vector<std::pair<Storage *, Storage::Contents>> memory;
};

class BlockRunner {
public:
  BlockRunner(Machine &machine, tile::KernelOp kernel, const Body &body)
      : machine(machine), body(body) {
    size_t begin = 0;
    for (auto [position, step] : llvm::enumerate(body.steps))
      if (isa<tile::GridSyncOp>(step.op)) {
        parts.push_back({begin, position});
        begin = position + 1;
      }
    parts.push_back({begin, body.steps.size()});
    if (parts.size() > 1)
      findLiveSlots(kernel);
    if (isScheduled(kernel))
      schedule.emplace(machine, kernel, body);
    else if (namesThreads(kernel))
      threads.emplace(machine, kernel, body);
  }

  void run() {
    for (unsigned part = 0; part < parts.size() && !machine.stopped; ++part)
      runPart(part);
  }

private:
  /// Each part has block numbers of its own: what blocks do in two of them is in order.
  void runPart(unsigned part) {
    KernelRun &kernel = *machine.kernel;
    int64_t count = countElements(kernel.extents);
    kernel.base = machine.nextBlock;
    kernel.block.assign(kernel.extents.size(), 0);
    for (int64_t number = 0; number < count && !machine.stopped; ++number) {
      kernel.number = kernel.base + number;
      if (part > 0)
        restore(number);
      if (schedule) { // has one part: the passes have split it
        schedule->run(kernel.block);
      } else if (threads) {
        threads->run(kernel.block, parts[part].begin, parts[part].end);
      } else {
        for (auto [slot, coordinate] : llvm::zip_equal(body.arguments, kernel.block))
          machine.values[slot] = Scalar::ofInteger(coordinate);
        machine.run(
            ArrayRef(body.steps).slice(parts[part].begin, parts[part].end - parts[part].begin));
      }
      if (part + 1 < parts.size())
        keep(number);
      for (auto [coordinate, extent] : llvm::zip_equal(kernel.block, kernel.extents)) {
        if (++coordinate < extent)
          break;
        coordinate = 0;
      }
    }
    machine.nextBlock = kernel.base + count;
  }

  void findLiveSlots(tile::KernelOp kernel) {
    Block &block = kernel.getBody().front();
    Operation *sync = nullptr; // the last one so far
    for (Operation &op : block) {
      if (sync)
        op.walk([&](Operation *inner) {
          for (mlir::Value operand : inner->getOperands()) {
            Operation *source = operand.getDefiningOp();
            if (!source || source->getBlock() != &block || !source->isBeforeInBlock(sync))
              continue;
            auto &slots = isa<MemRefType>(operand.getType()) ? live.views : live.values;
            slots.insert(machine.program.slots.at(operand));
          }
        });
      if (isa<tile::GridSyncOp>(op))
        sync = &op;
    }
  }

  void forEachRow(llvm::function_ref<void()> visit) {
    if (threads)
      threads->forEachRow(visit);
    else
      visit();
  }

  /// Blocks have it one after another.
  static bool isOfBlock(const Storage &storage) {
    return storage.isOnChip() && !storage.owned.empty();
  }

  void keep(int64_t block) {
    Kept &target = kept[block];
    target = {};
    llvm::SetVector<Storage *> shown;
    forEachRow([&] {
      for (Slot slot : live.values)
        target.values.push_back(machine.values[slot]);
      for (Slot slot : live.views) {
        target.views.push_back(machine.views[slot]);
        shown.insert(machine.views[slot].storage);
      }
    });
    for (Storage *storage : shown)
      if (storage && isOfBlock(*storage))
        target.memory.emplace_back(storage, storage->save());
  }

  void restore(int64_t block) {
    for (Storage &storage : machine.storages)
      if (isOfBlock(storage))
        storage.forget();
    const Kept &source = kept[block];
    for (const auto &[storage, contents] : source.memory)
      storage->restore(contents);
    size_t value = 0, view = 0;
    forEachRow([&] {
      for (Slot slot : live.values)
        machine.values[slot] = source.values[value++];
      for (Slot slot : live.views)
        machine.views[slot] = source.views[view++];
    });
  }

  Machine &machine;
  const Body &body;
  SmallVector<Part, 1> parts;
  LiveSlots live;
  std::map<int64_t, Kept> kept;
  std::optional<ThreadRunner> threads;
  std::optional<ScheduledRunner> schedule;
};

} // namespace

void tilewright::interp::runBlocks(Machine &machine, tile::KernelOp kernel, const Body &body) {
  BlockRunner(machine, kernel, body).run();
}
