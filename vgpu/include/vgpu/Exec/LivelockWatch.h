//===- LivelockWatch.h - do all blocks together repeat themselves for ever? ---------------===//
//
// Blocks that wait for each other may go round for ever though none of them repeats itself: two that hand a flag to and
// fro change memory all the time. If all that decides what the live blocks do is what it was before, and each has
// had its turns meanwhile, the same turns lead there again, for ever.
//
//   a rotation    each block under way has had a turn, none has started or ended; the digest of all their states
//   seen before?  Brent: the digest is compared with that of a rotation whose number is a power of two
//   if so         sixteen rotations with turns of other lengths, and it must come again: a program
//                 may be stuck only while blocks take turns of exactly this length
//
// A look costs as much as the bytes it reads, so the next one waits until that many warp instructions have run.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_EXEC_LIVELOCKWATCH_H
#define VGPU_EXEC_LIVELOCKWATCH_H

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace vgpu {

struct Cluster;
class GlobalMemory;

class LivelockWatch {
public:
  /// A cluster has started or ended.
  void restart() { *this = LivelockWatch(); }
  /// Called when each of these clusters has had a turn since the last call; `executed` counts by pc.
  /// Whether nothing else will ever happen.
  bool afterRotation(const std::deque<std::unique_ptr<Cluster>> &clusters,
                     const std::vector<uint64_t> &executed);
  /// How long a turn is, at most.
  uint64_t turn(uint64_t usual) const {
    return shakesLeft ? 1 + usual / 64 * (1 + (shakesLeft * 37) % 61) : usual;
  }

private:
  bool hasSeen(uint64_t digest);

  uint64_t rotation = 0, power = 1;     ///< Brent's, of the looks since the last shake
  uint64_t saved = 0;                   ///< the digest at `power`
  uint64_t nextLook = 0, lastSteps = 0; ///< in warp instructions of all clusters
  unsigned shakesLeft = 0;
  bool isShaken = false;
};

} // namespace vgpu

#endif // VGPU_EXEC_LIVELOCKWATCH_H
