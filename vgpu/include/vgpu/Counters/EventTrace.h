//===- EventTrace.h - what the warps of one block did, in order -------------------------------===//
//
// Records one block of a launch (LaunchConfig::trace) for a timeline: per warp, stretches of
// instructions of one source line, and between them what warps and asynchronous engines do for each
// other: copies, products, arrivals, waits, barriers. The order is the one of the run, in which every
// wait comes after what it waits for. There are no times: the virtual GPU has no clock.
//
// It also keeps what the lanes of a warp touched when an instruction was first executed, so that
// banks and lines can be drawn.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_COUNTERS_EVENTTRACE_H
#define VGPU_COUNTERS_EVENTTRACE_H

#include "vgpu/Events/Definedness.h"
#include "vgpu/Events/Observer.h"
#include "vgpu/Machine/Launch.h"
#include "vgpu/Machine/Program.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <set>

namespace vgpu {

/// Hears of every instruction as well as of events; a tracker of definedness that was there before
/// is told the same.
class EventTrace : public Observer, public DefinednessTracker {
public:
  EventTrace(const LaunchState &state, DefinednessTracker *inner);

  /// {"block", "grid", "warps", "is_alone", "is_truncated", "events", "accesses", "touched", "lines"};
  /// an event is a list that begins with its name and, but for barriers, with a warp and the PTX line:
  ///   ["run", warp, line, instructions, tensor operations, shared loads, global loads,
  ///    {class: instructions}, shared wavefronts, global sectors]
  ///   ["copy", warp, line, bytes]               cp.async
  ///   ["copy_commit", warp, line]               ["copy_wait", warp, line, groups that may be open]
  ///   ["bulk", warp, line, bytes, shared address, mbarrier, phase]
  ///   ["arrive", warp, line, mbarrier, phase]   ["wait", warp, line, mbarrier, phase]
  ///   ["bulk_store", warp, line, bytes]         out of shared memory
  ///   ["product", warp, line, tensor operations, bytes of shared memory]       wgmma
  ///   ["commit", warp, line, what]              ["group_wait", warp, line, open groups, what]
  ///   ["barrier_arrive", warp, line]            without waiting, before its "barrier"
  ///   ["barrier", line, [[warp, whether it waits], …]]
  /// `what` is "wgmma" or "bulk". "touched" has what the block reads and writes of each allocation:
  /// {"name", "read", "written"} with intervals [first byte, end], in lines of 128 bytes; empty if the
  /// block did not come to its end. "lines" has [source, opcode] of each PTX line of an event; that of
  /// a run with products is theirs. Nothing if the block did not run here.
  std::optional<llvm::json::Value> take();

  void check(Warp &warp, const Inst &inst, uint32_t mask, uint32_t active) override;
  void step(Warp &warp, const Inst &inst, uint32_t mask, uint32_t active) override;
  void onBlockStart(Block &block) override;
  void onBlockEnd(Block &block) override;
  void onAccess(const MemoryAccess &access) override;
  void onBarrierArrive(Warp &warp) override;
  void onBarrier(Block &block, llvm::ArrayRef<BarrierArrival> arrivals) override;
  void onAsyncCommit(Warp &warp, uint32_t mask) override;
  void onAsyncWait(Warp &warp, uint32_t mask, uint32_t pendingGroups, bool isAll) override;
  void onMbarrierArrive(Warp &warp, uint32_t mask, Block &home, uint64_t address,
                        uint32_t phase) override;
  void onMbarrierWait(Warp &warp, uint32_t mask, Block &home, uint64_t address,
                      uint32_t phase) override;
  void onBulkWrite(Warp &warp, const Inst &inst, unsigned lane, Block &home, uint64_t address,
                   uint32_t bytes, uint64_t mbarrier, uint32_t phase) override;
  void onWarpgroupInst(Warp &warp, const Inst &inst, uint64_t descriptorA,
                       uint64_t descriptorB) override;
  void onTileRead(Warp &warp, const Inst &inst, uint32_t mask, llvm::ArrayRef<uint64_t> chunks,
                  TileGroups groups) override;
  void onTileCommit(Warp &warp, uint32_t mask, TileGroups groups) override;
  void onTileWait(Warp &warp, uint32_t mask, uint32_t pendingGroups, TileGroups groups,
                  bool isReadOnly) override;

private:
  /// Instructions of a warp since its last event.
  struct Stretch {
    const Inst *first = nullptr, *last = nullptr, *tensor = nullptr;
    uint64_t instructions = 0, tensorOperations = 0, shared = 0, global = 0;
    uint64_t wavefronts = 0, sectors = 0;
    std::array<uint32_t, numInstClasses> byClass = {};
    llvm::json::Array toEvent(uint32_t warp) const;
  };
  bool isTraced(const Warp &warp) const;
  /// Ends the warp's stretch; gives whether there is room for an event.
  bool flush(const Warp &warp);
  void noteLine(const Inst &first, const Inst &opcode);
  void add(const Warp &warp, llvm::StringRef name, llvm::ArrayRef<int64_t> numbers,
           llvm::StringRef what = "");
  void keepSample(const MemoryAccess &access);
  void countAccess(const MemoryAccess &access);
  llvm::json::Array describeTouched() const;

  const LaunchState &state;        ///< lives while blocks run
  DefinednessTracker *const inner; ///< may be null
  const TracedBlock traced;
  const Dim3 grid;
  std::vector<Stretch> stretches;      ///< by warp; empty: the block has not started
  std::array<uint32_t, 3> coords = {}; ///< of the block
  llvm::json::Array events, accesses, touched;
  std::map<std::pair<uint32_t, uint32_t>, unsigned> samples; ///< by pc and warp
  std::set<uint64_t> readLines, writtenLines;                ///< of global memory, address / 128
  std::map<uint32_t, std::pair<std::string, std::string>> lines;
  /// The event of a warp's product while its operands are told.
  std::map<uint32_t, size_t> openProducts;
  bool isTruncated = false;
};

} // namespace vgpu

#endif // VGPU_COUNTERS_EVENTTRACE_H
