//===- SpinWatch.h - does a block repeat itself for ever? ---------------------------------===//
//
// A block (or the blocks of a cluster) whose whole state (registers, pcs of all lanes, barriers, memory) is what it was
// before goes round for ever, since nothing but its state decides what it does next. Looking is
// cheap because it happens seldom: after 2^14 warp instructions and each time their number has
// doubled, for an eighth of them. Meanwhile the turn of a warp ends with each jump backwards, so
// that loops of any length are compared at the same point.
//
//   a snapshot        of registers, lanes and shared memory; a new one after 4, 8, 16 ... rounds
//   a round           equal to it? Then digests of local and global memory are compared, too
//   equal in all      give up waits that may give up, let lanes go on that wait for others, give
//                     warps turns of other lengths; if the same state comes again, the block
//                     repeats
//
// A spin may count its tries. So registers count only if they decide something in what the block has executed since the
// snapshot: a branch, an address, what is stored. With these equal it executes the same again.
//
// Reads of %clock are part of no state: a block that reads it is never said to repeat.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_EXEC_SPINWATCH_H
#define VGPU_EXEC_SPINWATCH_H

#include <cstdint>
#include <map>
#include <vector>

namespace vgpu {

struct Block;
struct Cluster;
struct Inst;
struct Program;
class GlobalMemory;

class SpinWatch {
public:
  /// Called before each round with the warp instructions so far.
  void beforeRound(const Cluster &cluster, uint64_t steps);
  /// How long a warp's turn is in this round, at most.
  uint64_t quantum(uint64_t usual) const;
  bool isActive() const { return isLooking; }
  bool endsTurnsAtJumps() const { return isLooking && shakesLeft == 0; }

  enum class Answer : uint8_t { GoOn, Relieve, Repeats };
  /// Called after each round. Relieve: let waits time out and lanes go on that wait for others;
  /// then tell by `relieved` whether lanes did.
  Answer afterRound(Cluster &cluster);
  void relieved(bool haveLanesGoneOn);

  /// Looks from the next round on, for at most so many warp instructions.
  void lookNow(uint64_t steps, uint64_t duration);
  /// The digest of global memory when the block was found to repeat.
  uint64_t globalDigest() const { return digests[1]; }

private:
  void takeSnapshot(const Cluster &cluster);
  bool isLikeSnapshot(const Cluster &cluster);
  bool areDecidingRegistersSame(const Cluster &cluster);

  bool isLooking = false;
  uint64_t nextLook = 1 << 14, lookEnd = 0, minDuration = 1 << 13;
  uint64_t rounds = 0, interval = 0;
  unsigned shakesLeft = 0;
  bool isRelieved = false;
  unsigned snapshotsSinceRelief = 0;
  // The snapshot.
  bool hasDigests = false;
  uint64_t digests[2] = {0, 0}; ///< of local and of global memory
  uint64_t clockReads = 0;
  std::vector<uint64_t> control, scratch; ///< pcs of lanes and barriers, as numbers
  std::vector<uint8_t> registers, shared;
  std::vector<uint64_t> executed; ///< by pc, how often
};

/// A digest of all global memory that is not freed.
uint64_t digestOf(const GlobalMemory &memory);

/// Rows of registers: offset and bytes.
using RegisterRows = std::map<uint32_t, uint32_t>;
/// Those on which it depends what these instructions do.
RegisterRows findDecidingRows(const std::vector<const Inst *> &instructions);
/// A digest of lanes, barriers, these registers, shared and local memory.
uint64_t digestOf(const Cluster &cluster, const RegisterRows &rows, uint64_t before);

// What other families know of a block's state: its barrier of the cluster, its recursive calls,
// and which instructions read %clock or the like.
void describeClusterBarrier(Block &block, std::vector<uint64_t> &out);
uint64_t callDepthOf(Block &block);
bool isClockRead(const Program &program, const Inst &inst);

} // namespace vgpu

#endif // VGPU_EXEC_SPINWATCH_H
