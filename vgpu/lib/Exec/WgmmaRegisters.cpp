//===- WgmmaRegisters.cpp - who may touch the registers of a wgmma ----------------------------===//
//
// PTX ISA, "wgmma.fence" and "wgmma.mma_async". From its issue until a wgmma.wait_group that covers
// it, the accumulators and the A registers of a product belong to it: only further products may use
// the accumulators. And whatever other instructions did with those registers before must be ordered
// by a wgmma.fence, which the first product of a warp needs in any case.
//
//===-----------------------------------------------------------------------------------===//
#include "Wgmma.h"
#include "vgpu/Machine/Launch.h"
#include "vgpu/Machine/Report.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace vgpu {

namespace {

struct BlockState {
  std::vector<WgmmaState> warps;
};

bool isChecked(const Warp &w) { return w.launch->config.checks.has(Check::Async); }

/// Rows of registers start at multiples of 64 bytes, but predicates, which no product uses.
size_t rowOf(const Slot &slot) { return slot.offset / 64; }
bool isRow(const Slot &slot) {
  return slot.plane == Plane::Register && slot.bytes != 0 && !slot.isSink;
}

bool overlap(llvm::ArrayRef<Slot> a, llvm::ArrayRef<Slot> b) {
  return llvm::any_of(a, [&](const Slot &x) {
    return isRow(x) &&
           llvm::any_of(b, [&](const Slot &y) { return isRow(y) && x.offset == y.offset; });
  });
}

void reportRegister(Warp &w, const Inst &in, const Inst &other, const std::string &what) {
  if (w.launch->findings->countRepeat(FindingKind::WgmmaRegister, in.line, other.line))
    return;
  Finding finding;
  finding.kind = FindingKind::WgmmaRegister;
  finding.site = siteOf(w, in, 0);
  finding.other = siteOf(w, other, 0);
  finding.message = what;
  w.launch->findings->report(std::move(finding));
}

/// Calls body(product) for every product that has not been waited for.
template <class Body> void forEachPending(Warp &w, Body body) {
  const std::vector<Inst> &code = w.launch->program->code;
  WgmmaState &state = wgmmaStateOf(w);
  for (uint32_t pc : state.open)
    body(code[pc]);
  for (const WgmmaGroup &group : state.groups)
    for (uint32_t pc : group.pcs)
      body(code[pc]);
}

llvm::ArrayRef<Slot> allSlots(const Inst &in) { return {in.slots, size_t(in.numDst) + in.numSrc}; }

/// The wrapper of an instruction that touches registers of some product.
void watchedExecute(Warp &w, const Inst &in, uint32_t mask) {
  if (!w.isShadowPass && isChecked(w)) {
    WgmmaState &state = wgmmaStateOf(w);
    for (const Slot &slot : allSlots(in))
      if (isRow(slot))
        state.touched[rowOf(slot)] = in.pc;
    forEachPending(w, [&](const Inst &product) {
      if (overlap(allSlots(in), wgmmaAccumulators(product)) ||
          overlap(allSlots(in), wgmmaRegistersOfA(product)))
        reportRegister(w, in, product,
                       llvm::formatv("'{0}' touches a register that '{1}' (ptx:{2}) uses and that "
                                     "has not been waited for",
                                     in.source ? in.source->opcode : "", product.source->opcode,
                                     product.line));
    });
  }
  w.launch->program->watched[in.pc](w, in, mask);
}

} // namespace

WgmmaState &wgmmaStateOf(Warp &w) {
  static const char key = 0;
  BlockState &block = w.block->state<BlockState>(&key);
  if (block.warps.empty()) {
    block.warps.resize(w.block->warps.size());
    for (WgmmaState &state : block.warps)
      state.touched.assign(w.launch->program->registerBytes / 64 + 1, noPc);
  }
  return block.warps[w.index];
}

void checkProductRegisters(Warp &w, const Inst &in) {
  if (!isChecked(w))
    return;
  WgmmaState &state = wgmmaStateOf(w);
  if (!state.isFenced)
    reportRegister(w, in, in, "the first product of a warp needs a wgmma.fence before it");
  const std::vector<Inst> &code = w.launch->program->code;
  for (llvm::ArrayRef<Slot> slots : {wgmmaAccumulators(in), wgmmaRegistersOfA(in)})
    for (const Slot &slot : slots) {
      uint32_t pc = isRow(slot) ? state.touched[rowOf(slot)] : noPc;
      if (pc != noPc)
        reportRegister(w, in, code[pc],
                       llvm::formatv("a register of '{0}' was touched by '{1}' (ptx:{2}) without a "
                                     "wgmma.fence in between",
                                     in.source->opcode, code[pc].source->opcode, code[pc].line));
    }
  // Accumulators of products of one shape may follow each other; A must be free.
  forEachPending(w, [&](const Inst &product) {
    bool isSameShape = product.source->opcode == in.source->opcode;
    if (overlap(wgmmaRegistersOfA(in), wgmmaAccumulators(product)) ||
        overlap(wgmmaAccumulators(in), wgmmaRegistersOfA(product)) ||
        (!isSameShape && overlap(wgmmaAccumulators(in), wgmmaAccumulators(product))))
      reportRegister(
          w, in, product,
          llvm::formatv("a register of '{0}' is still used by '{1}' (ptx:{2}), which has "
                        "not been waited for",
                        in.source->opcode, product.source->opcode, product.line));
  });
}

void watchWgmmaRegisters(Program &program) {
  llvm::BitVector used(program.registerBytes / 64 + 1);
  bool hasWgmma = false;
  for (const Inst &inst : program.code) {
    if (!isWgmma(inst))
      continue;
    hasWgmma = true;
    for (llvm::ArrayRef<Slot> slots : {wgmmaAccumulators(inst), wgmmaRegistersOfA(inst)})
      for (const Slot &slot : slots)
        if (isRow(slot))
          used.set(static_cast<unsigned>(rowOf(slot)));
  }
  if (!hasWgmma)
    return;
  program.watched.assign(program.code.size(), nullptr);
  for (Inst &inst : program.code) {
    if (!inst.execute || !inst.slots || isWgmma(inst))
      continue;
    bool touches = llvm::any_of(allSlots(inst), [&](const Slot &slot) {
      return isRow(slot) && used.test(static_cast<unsigned>(rowOf(slot)));
    });
    if (!touches)
      continue;
    program.watched[inst.pc] = inst.execute;
    inst.execute = watchedExecute;
  }
}

} // namespace vgpu
