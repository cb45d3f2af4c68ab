//===- PhaseTime.h - how long a part of a compilation took --------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_SUPPORT_PHASETIME_H
#define TILEWRIGHT_SUPPORT_PHASETIME_H

#include <ctime>
#include <string>

namespace tilewright {

/// A phase of a compilation in the order it ran: "passes", "threads", "nvvm", "llvm" and "ptx" for
/// a GPU, "fuse statements", "lower tiles", … for the CPU, "load from the cache" for either.
struct PhaseTime {
  std::string name;
  double milliseconds;
};

/// Times the phases that one thread runs one after another, by the processor's time: other programs
/// do not stretch it.
class PhaseClock {
public:
  /// The phase that began where the last one ended.
  PhaseTime finish(std::string name) {
    double begin = start;
    restart();
    return {std::move(name), start - begin};
  }
  /// What happened since the last phase is not part of the next.
  void restart() { start = now(); }

private:
  static double now() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * double(time.tv_sec) + 1e-6 * double(time.tv_nsec);
  }

  double start = now();
};

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_PHASETIME_H
