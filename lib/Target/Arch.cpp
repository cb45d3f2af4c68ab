//===- Arch.cpp - what each GPU architecture has ---------------------------------------------===//

#include "tilewright/Target/Arch.h"

namespace tilewright {

static constexpr Arch kArchs[] = {
    {"sm_80", "+ptx80", 80, 163 * 1024, 48 * 1024, 1024, true, false, false},
    {"sm_90", "+ptx81", 90, 227 * 1024, 48 * 1024, 1024, true, true, true},
    {"sm_90a", "+ptx81", 90, 227 * 1024, 48 * 1024, 1024, true, true, true, true},
};

const Arch *findArch(llvm::StringRef name) {
  for (const Arch &arch : kArchs)
    if (arch.name == name)
      return &arch;
  return nullptr;
}

const Arch *findNewestArch(int64_t version) {
  const Arch *newest = nullptr;
  for (const Arch &arch : kArchs) // code for sm_90a runs on no other device
    if (arch.version <= version && !arch.name.ends_with("a"))
      newest = &arch;
  return newest;
}

llvm::StringRef getArchNames() { return "sm_80, sm_90, sm_90a"; }

} // namespace tilewright
