//===- PhaseTime.h - how long a part of a compilation took --------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_SUPPORT_PHASETIME_H
#define TILEWRIGHT_SUPPORT_PHASETIME_H

#include <string>

namespace tilewright {

/// A phase of a compilation in the order it ran: "passes", "threads", "nvvm", "llvm" and "ptx" for
/// a GPU, "fuse statements", "lower tiles", … for the CPU, "load from the cache" for either.
struct PhaseTime {
  std::string name;
  double milliseconds;
};

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_PHASETIME_H
