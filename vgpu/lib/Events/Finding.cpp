//===- Finding.cpp - findings as text and JSON, and their collection --------------------------===//
#include "vgpu/Events/Finding.h"
#include "vgpu/Events/FindingSink.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace vgpu {

llvm::StringRef findingKindName(FindingKind kind) {
  switch (kind) {
  case FindingKind::Race:
    return "race";
  case FindingKind::SameValue:
    return "same_value";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::OutOfBounds:
    return "out_of_bounds";
  case FindingKind::UseAfterFree:
    return "use_after_free";
  case FindingKind::Uninitialized:
    return "uninitialized";
  case FindingKind::BarrierDivergence:
    return "barrier_divergence";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::StepLimit:
    return "step_limit";
  case FindingKind::AsyncNotWaited:
    return "async_not_waited";
  case FindingKind::AsyncOverwrite:
    return "async_overwrite";
  case FindingKind::ProxyFence:
    return "proxy_fence";
  case FindingKind::DivergentCollective:
    return "divergent_collective";
  case FindingKind::WgmmaRegister:
    return "wgmma_register";
  case FindingKind::WarpgroupRelease:
    return "warpgroup_release";
  case FindingKind::RegisterPool:
    return "register_pool";
  case FindingKind::DivisionByZero:
    return "division_by_zero";
  case FindingKind::InvalidAccess:
    return "invalid_access";
  case FindingKind::NoSuchTarget:
    return "no_such_target";
  case FindingKind::Trap:
    return "trap";
  case FindingKind::Assertion:
    return "assertion";
  }
  return "unknown";
}

static std::string coords(const std::array<uint32_t, 3> &c) {
  return llvm::formatv("({0},{1},{2})", c[0], c[1], c[2]);
}

std::string Finding::text() const {
  std::string location =
      site.source.empty() ? llvm::formatv("ptx:{0}", site.ptxLine).str() : site.source;
  std::string text = llvm::formatv("{0}: {1}: {2}\n    at ptx:{3}, block {4}, thread {5}", location,
                                   findingKindName(kind), message, site.ptxLine, coords(site.block),
                                   coords(site.thread));
  if (other.isKnown) {
    text += llvm::formatv("\n    and ptx:{0}", other.ptxLine);
    if (!other.source.empty())
      text += llvm::formatv(" ({0})", other.source);
    text += llvm::formatv(", block {0}, thread {1}", coords(other.block), coords(other.thread));
  }
  if (occurrences > 1)
    text += llvm::formatv("\n    {0} times at the same instructions", occurrences);
  return text;
}

llvm::json::Object AccessSite::toJson() const {
  return llvm::json::Object{{"ptx_line", ptxLine},
                            {"source", source},
                            {"block", llvm::json::Array{block[0], block[1], block[2]}},
                            {"thread", llvm::json::Array{thread[0], thread[1], thread[2]}}};
}

llvm::json::Object TouchedMemory::toJson() const {
  return llvm::json::Object{
      {"space", space}, {"name", name},     {"offset", static_cast<int64_t>(offset)},
      {"bytes", bytes}, {"access", access}, {"other_access", otherAccess}};
}

llvm::json::Value Finding::toJson() const {
  llvm::json::Object object = site.toJson();
  object["kind"] = findingKindName(kind);
  object["message"] = message;
  object["is_note"] = isNote;
  object["occurrences"] = static_cast<int64_t>(occurrences);
  if (other.isKnown)
    object["other"] = other.toJson();
  if (!memory.space.empty())
    object["memory"] = memory.toJson();
  return object;
}

/// A race of two lines is the same race whichever of them was executed first.
FindingSink::Key FindingSink::keyOf(FindingKind kind, uint32_t ptxLine, uint32_t otherLine) {
  return otherLine ? Key{kind, std::min(ptxLine, otherLine), std::max(ptxLine, otherLine)}
                   : Key{kind, ptxLine, 0};
}

bool FindingSink::countRepeat(FindingKind kind, uint32_t ptxLine, uint32_t otherLine) {
  std::lock_guard lock(mutex);
  auto it = findings.find(keyOf(kind, ptxLine, otherLine));
  if (it == findings.end())
    return false;
  ++it->second.occurrences;
  return true;
}

void FindingSink::report(Finding finding) {
  std::lock_guard lock(mutex);
  add(std::move(finding));
}

void FindingSink::absorb(FindingSink &other) {
  std::lock_guard lock(mutex);
  for (auto &entry : other.findings)
    add(std::move(entry.second));
  other.findings.clear();
}

void FindingSink::add(Finding finding) {
  Key key = keyOf(finding.kind, finding.site.ptxLine, finding.other.ptxLine);
  auto [it, isNew] = findings.try_emplace(key, finding);
  if (isNew)
    return;
  // Keep the first by block and thread, so that parallel blocks do not change the report.
  uint64_t total = it->second.occurrences + finding.occurrences;
  auto order = [](const Finding &f) {
    return std::make_tuple(f.site.block[2], f.site.block[1], f.site.block[0], f.site.linearThread);
  };
  if (order(finding) < order(it->second))
    it->second = std::move(finding);
  it->second.occurrences = total;
}

std::vector<Finding> FindingSink::take() {
  std::vector<Finding> list;
  for (auto &entry : findings)
    list.push_back(std::move(entry.second));
  findings.clear();
  auto order = [](const Finding &f) {
    return std::make_tuple(f.isNote, f.site.block[2], f.site.block[1], f.site.block[0],
                           f.site.ptxLine, f.other.ptxLine, f.kind);
  };
  std::sort(list.begin(), list.end(),
            [&](const Finding &a, const Finding &b) { return order(a) < order(b); });
  return list;
}

} // namespace vgpu
