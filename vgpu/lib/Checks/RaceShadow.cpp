//===- RaceShadow.cpp - who touched which bytes ---------------------------------------------===//
#include "vgpu/Checks/RaceShadow.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cstring>

namespace vgpu {

RaceShadow::Page &RaceShadow::findPage(uint64_t number) {
  std::unique_ptr<Page> &page = pages[number];
  if (!page)
    page = std::make_unique<Page>();
  return *page;
}

/// The runs of a page, if it has any, become cells.
void RaceShadow::makeCells(Page &page, unsigned shift) {
  for (const ShadowRun &run : page.runs)
    shift = std::min<unsigned>(shift, run.shift);
  page.shift = shift;
  page.cells = std::make_unique<ShadowCell[]>(page.cellCount());
  for (const ShadowRun &run : page.runs)
    for (unsigned at = run.begin; at < run.end(); at += 1u << shift) {
      uint32_t lane = 1u << (run.firstLane + ((at - run.begin) >> run.shift));
      ShadowCell &cell = page.cells[at >> shift];
      cell = run.cell;
      for (uint32_t *lanes : {&cell.write.lanes, &cell.read.lanes, &cell.lastLanes})
        *lanes = *lanes ? lane : 0;
    }
  page.runs.clear();
}

ShadowRun *RaceShadow::findRun(Page &page, const ShadowRun &wanted) {
  constexpr size_t mostRuns = 16;
  for (ShadowRun &run : page.runs) {
    if (run.begin == wanted.begin && run.shift == wanted.shift && run.lanes() == wanted.lanes())
      return &run;
    if (run.begin < wanted.end() && wanted.begin < run.end())
      return nullptr;
  }
  if (page.runs.size() == mostRuns)
    return nullptr;
  page.runs.push_back(wanted);
  return &page.runs.back();
}

void RaceShadow::split(Page &page, unsigned shift) {
  unsigned times = page.shift - shift, oldCount = page.cellCount();
  page.shift = shift;
  auto cells = std::make_unique<ShadowCell[]>(page.cellCount());
  for (unsigned i = 0; i < oldCount; ++i)
    for (unsigned part = 0; part < 1u << times; ++part) {
      ShadowCell &cell = cells[(i << times) + part];
      cell = page.cells[i];
      if (cell.crowd && part > 0) {
        cell.crowd = newCrowd();
        crowds[cell.crowd - 1] = *crowdOf(page.cells[i]);
      }
    }
  page.cells = std::move(cells);
}

uint32_t RaceShadow::newCrowd() {
  if (freeCrowds.empty()) {
    crowds.emplace_back();
    return static_cast<uint32_t>(crowds.size());
  }
  uint32_t name = freeCrowds.back();
  freeCrowds.pop_back();
  return name;
}

Crowd &RaceShadow::gatherCrowd(ShadowCell &cell) {
  if (!cell.crowd)
    cell.crowd = newCrowd();
  Crowd &crowd = *crowdOf(cell);
  if (cell.read.lanes == 0)
    return crowd;
  crowd.reads.push_back(cell.read);
  if (cell.isLastOfOtherBlock) {
    AccessGroup other = cell.read;
    other.block = cell.otherWarps;
    other.lanes = cell.lastLanes;
    other.warp = cell.lastWarp;
    other.pc = cell.lastPc;
    crowd.reads.push_back(other);
    cell.clearReads();
    return crowd;
  }
  for (uint32_t warps = cell.otherWarps; warps; warps &= warps - 1) {
    AccessGroup other = cell.read;
    other.warp = static_cast<uint8_t>(__builtin_ctz(warps));
    other.isWholeWarp = other.warp != cell.lastWarp;
    other.lanes = other.isWholeWarp ? ~0u : cell.lastLanes;
    other.pc = cell.lastPc;
    crowd.reads.push_back(other);
  }
  cell.clearReads();
  return crowd;
}

void RaceShadow::freeCrowd(ShadowCell &cell) {
  crowdOf(cell)->reads.clear();
  crowdOf(cell)->strongWrites.clear();
  freeCrowds.push_back(cell.crowd);
  cell.crowd = 0;
}

/// Groups of one block stand side by side, since blocks run one after another; where they do not, a
/// group stands there twice, which does no harm.
void RaceShadow::addToCrowd(llvm::SmallVectorImpl<AccessGroup> &groups, const Accessor &by) {
  size_t first = groups.size();
  for (; first > 0 && groups[first - 1].block == by.group.block; --first)
    if (AccessGroup &group = groups[first - 1];
        by.isSameTime(group) && group.warp == by.group.warp) {
      group.lanes |= by.group.lanes;
      group.pc = by.group.pc;
      return;
    }
  groups.erase(std::remove_if(groups.begin() + first, groups.end(),
                              [&](const AccessGroup &group) { return by.isBehind(group); }),
               groups.end());
  if (groups.size() >= crowdLimit)
    groups.erase(groups.begin());
  groups.push_back(by.group);
}

bool RaceShadow::isRestBefore(const ShadowCell &cell, const Accessor &by) {
  Crowd *crowd = crowdOf(cell);
  if (!crowd)
    return areReadsBefore(cell, by);
  auto isBefore = [&](const AccessGroup &group) { return by.isBehind(group); };
  return llvm::all_of(crowd->strongWrites, isBefore) && llvm::all_of(crowd->reads, isBefore);
}

bool RaceShadow::isAmongStrong(const ShadowCell &cell, const Accessor &by) {
  Crowd *crowd = crowdOf(cell);
  if (!crowd)
    return cell.read.lanes == 0;
  auto isOwnBlock = [&](const AccessGroup &group) { return group.block == by.group.block; };
  return crowd->reads.empty() && llvm::all_of(crowd->strongWrites, isOwnBlock);
}

RaceShadow::Use RaceShadow::useOf(const ShadowCell &cell) const {
  const Crowd *crowd = cell.crowd ? &crowds[cell.crowd - 1] : nullptr;
  if (cell.write.lanes || (crowd && !crowd->strongWrites.empty()))
    return Use::Written;
  return cell.read.lanes || (crowd && !crowd->reads.empty()) ? Use::Read : Use::None;
}

/// False for a page of runs that are only read; a page with cells may have writes.
bool RaceShadow::hasWrites(const Page &page) {
  return page.cells ||
         llvm::any_of(page.runs, [](const ShadowRun &run) { return run.cell.write.lanes != 0; });
}

bool RaceShadow::overlaps(RaceShadow &other) {
  for (const auto &[number, page] : pages) {
    auto it = other.pages.find(number);
    if (it == other.pages.end() || (!hasWrites(*page) && !hasWrites(*it->second)))
      continue;
    const Page &here = pageAt(number * pageBytes, largestShift);
    const Page &there = other.pageAt(number * pageBytes, largestShift);
    unsigned shift = std::min(here.shift, there.shift);
    for (unsigned i = 0; i < pageBytes >> shift; ++i) {
      Use a = useOf(here.cells[i >> (here.shift - shift)]);
      Use b = other.useOf(there.cells[i >> (there.shift - shift)]);
      if (a != Use::None && b != Use::None && (a == Use::Written || b == Use::Written))
        return true;
    }
  }
  return false;
}

void RaceShadow::clear() {
  for (auto &[number, page] : pages) {
    page->runs.clear();
    if (page->cells)
      std::memset(page->cells.get(), 0, page->cellCount() * sizeof(ShadowCell));
  }
  freeCrowds.clear();
  for (uint32_t i = 0; i < crowds.size(); ++i) {
    crowds[i].reads.clear();
    crowds[i].strongWrites.clear();
    freeCrowds.push_back(i + 1);
  }
}

} // namespace vgpu
