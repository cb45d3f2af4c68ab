//===- CheckSet.cpp - which checks run --------------------------------------------------------===//
#include "vgpu/Events/CheckSet.h"
#include "vgpu/Events/Finding.h"
#include "llvm/ADT/SmallVector.h"

namespace vgpu {

bool checkOf(FindingKind kind, Check &check) {
  switch (kind) {
  case FindingKind::BarrierDivergence:
  case FindingKind::DivergentCollective:
  case FindingKind::RegisterPool:
    check = Check::BarrierDivergence;
    return true;
  case FindingKind::Misaligned:
  case FindingKind::OutOfBounds:
  case FindingKind::UseAfterFree:
  case FindingKind::InvalidAccess:
    check = Check::MemoryFault;
    return true;
  case FindingKind::DivisionByZero:
    check = Check::Arithmetic;
    return true;
  default: // other checks exist only while they are on
    return false;
  }
}

llvm::Expected<CheckSet> CheckSet::parse(llvm::StringRef text) {
  if (text == "all")
    return all();
  CheckSet set = none();
  if (text == "none" || text.empty())
    return set;
  static constexpr std::pair<llvm::StringLiteral, Check> names[] = {
      {"shared_race", Check::SharedRace},
      {"global_race", Check::GlobalRace},
      {"uninitialized", Check::Uninitialized},
      {"barrier_divergence", Check::BarrierDivergence},
      {"async", Check::Async},
      {"proxy_fence", Check::ProxyFence},
      {"memory_fault", Check::MemoryFault},
      {"arithmetic", Check::Arithmetic},
  };
  llvm::SmallVector<llvm::StringRef, 8> words;
  text.split(words, ',');
  for (llvm::StringRef word : words) {
    bool isKnown = false;
    for (const auto &[name, check] : names)
      if (word == name || (word == "race" && name.ends_with("_race"))) {
        set.set(check);
        isKnown = true;
      }
    if (!isKnown)
      return llvm::createStringError("unknown check '" + word.str() +
                                     "': expected all, none, race, shared_race, global_race, "
                                     "uninitialized, barrier_divergence, async, proxy_fence, "
                                     "memory_fault or arithmetic");
  }
  return set;
}

} // namespace vgpu
