//===- RegisterPool.cpp - setmaxnreg ----------------------------------------------------------===//
//
// PTX ISA, "setmaxnreg". A block starts with as many registers a thread as ptxas gave the kernel.
// `.dec` puts some of a warp's into the pool of the block, `.inc` blocks until the pool has enough.
// The number of registers changes no result; what is modelled is who waits, for ever perhaps.
//
// How many a thread has at the start is known from .maxnreg; or from .reqntid or .maxntid together
// with .minnctapersm: then ptxas may use as many as let so many blocks fit, and with setmaxnreg it
// does. Registers are allotted to warps in fours and in units of 8. Without either, ptxas ignores
// setmaxnreg (its note C7508), so it does nothing here.
//
//===-----------------------------------------------------------------------------------===//
#include "RegisterPool.h"
#include "Families.h"
#include "KernelDecoder.h"
#include "vgpu/Machine/Report.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

constexpr uint32_t registersPerProcessor = 65536, mostRegisters = 256, unit = 8;

struct RegisterPool {
  bool isInUse = false;            ///< a setmaxnreg has been executed
  uint32_t atStart = 0;            ///< registers of a thread; 0: setmaxnreg has no effect
  uint64_t free = 0;               ///< registers that no warp has
  std::vector<uint32_t> registers; ///< of a thread, by warp
};

/// The registers of a thread at the start, or 0 if they are not known.
uint32_t registersAtStart(const Function &entry) {
  if (entry.maxRegisters)
    return static_cast<uint32_t>(llvm::alignTo(entry.maxRegisters, unit));
  const auto &extents = entry.requiredThreads[0] ? entry.requiredThreads : entry.maxThreads;
  uint64_t threads = uint64_t(extents[0]) * extents[1] * extents[2];
  if (threads == 0 || entry.minBlocks == 0)
    return 0;
  uint64_t share = registersPerProcessor / (entry.minBlocks * llvm::alignTo(threads, 128));
  return static_cast<uint32_t>(std::min<uint64_t>(share / unit * unit, mostRegisters));
}

RegisterPool &poolOf(Block &block) {
  static const char key = 0;
  RegisterPool &pool = block.state<RegisterPool>(&key);
  if (pool.registers.empty()) {
    pool.atStart = registersAtStart(*block.launch->program->entry);
    pool.registers.assign(block.warps.size(), pool.atStart);
  }
  return pool;
}

Outcome setRegisters(Warp &w, const Inst &in, uint32_t mask) {
  RegisterPool &pool = poolOf(*w.block);
  pool.isInUse = true;
  uint32_t wanted = static_cast<uint32_t>(in.immediate), &own = pool.registers[w.index];
  bool isIncrease = in.variant == 0;
  w.timedOut &= ~mask; // it has no time limit
  unsigned lane = static_cast<unsigned>(__builtin_ctz(mask));
  auto tell = [&] {
    for (Observer *observer : w.launch->observers)
      observer->onWarpgroupInst(w, in, 0, 0);
    return Outcome::Continue;
  };
  if (pool.atStart == 0) {
    report(w, in, lane, FindingKind::RegisterPool,
           "ptxas ignores this setmaxnreg: the kernel needs .maxnreg, or .reqntid or .maxntid with "
           ".minnctapersm, so that its registers are known",
           /*isNote=*/true);
    return tell();
  }
  if (isIncrease ? wanted < own : wanted > own) {
    report(w, in, lane, FindingKind::RegisterPool,
           llvm::formatv("'{0}' to {1} registers in warp {2}, which has {3}", in.source->opcode,
                         wanted, w.index, own));
    return tell();
  }
  if (isIncrease) {
    uint64_t more = uint64_t(wanted - own) * warpSize;
    if (more > pool.free)
      return Outcome::Retry;
    pool.free -= more;
  } else {
    pool.free += uint64_t(own - wanted) * warpSize;
    ++w.block->cluster->version;
  }
  own = wanted;
  return tell();
}

} // namespace

std::string describeRegisterPool(Block &block) {
  RegisterPool &pool = poolOf(block);
  if (!pool.isInUse || pool.atStart == 0)
    return "";
  std::string text =
      llvm::formatv("\n  register pool: {0} free; registers of a thread by warp:", pool.free);
  for (uint32_t registers : pool.registers)
    text += llvm::formatv(" {0}", registers);
  return text;
}

void describeRegisterPool(Block &block, std::vector<uint64_t> &out) {
  RegisterPool &pool = poolOf(block);
  out.push_back(pool.free);
  out.insert(out.end(), pool.registers.begin(), pool.registers.end());
}

bool decodeRegisterCount(InstBuilder &b) {
  static constexpr llvm::StringRef words[] = {"inc", "dec"};
  int direction = b.acceptOneOf(words);
  if (direction < 0 || !b.accept("sync") || !b.accept("aligned") || !b.accept("u32"))
    return b.fail("expected '.inc' or '.dec' and '.sync.aligned.u32'");
  uint64_t count;
  if (!b.expectOperands(1) || !b.constantOperand(b.operand(0), mostRegisters + 1, count))
    return false;
  if (count < 24 || count % unit != 0)
    return b.fail("the number of registers must be a multiple of 8 from 24 to 256");
  b.inst.variant = static_cast<uint8_t>(direction);
  b.inst.immediate = static_cast<int64_t>(count);
  b.inst.flow = Flow::Blocking;
  b.inst.isAligned = true;
  b.inst.executeBlocking = setRegisters;
  b.inst.instClass = InstClass::Other;
  b.inst.poison = PoisonRule::Defined;
  b.decoder().useAsyncProxy(); // warpgroups are looked at
  return emitInst(b);
}

} // namespace vgpu
