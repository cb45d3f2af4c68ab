//===- Poison.cpp - which bits have been written ----------------------------------------------===//
#include "vgpu/Checks/Poison.h"
#include "vgpu/Machine/Report.h"
#include "vgpu/Machine/Shadow.h"
#include "llvm/Support/FormatVariadic.h"

namespace vgpu {

PoisonTracker::PoisonTracker(const Program &program) : onShadow(program.code) {
  for (Inst &inst : onShadow)
    inst.slots = inst.shadowSlots;
}

static Slot shadowOf(Slot slot) {
  slot.plane = slot.plane == Plane::Register ? Plane::Shadow : Plane::Zero;
  if (slot.plane == Plane::Zero)
    slot.offset = 0;
  return slot;
}

uint32_t PoisonTracker::poisonedLanes(Warp &warp, const Slot &slot, unsigned bytes) {
  if (slot.plane != Plane::Register || slot.isSink)
    return 0;
  const uint8_t *row = warp.planes[unsigned(Plane::Shadow)] + slot.offset;
  if (slot.bytes == 0)
    return *reinterpret_cast<const uint32_t *>(row);
  uint8_t &flag = mayBePoison(warp, slot);
  if (!flag)
    return 0;
  size_t words = size_t(slot.bytes) * warpSize / 8;
  const uint64_t *data = reinterpret_cast<const uint64_t *>(row);
  uint64_t any = 0;
  for (size_t i = 0; i < words; ++i)
    any |= data[i];
  if (any == 0) {
    flag = 0;
    return 0;
  }
  uint32_t lanes = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint64_t value = 0;
    std::memcpy(&value, row + size_t(lane) * slot.bytes, std::min<unsigned>(slot.bytes, bytes));
    lanes |= uint32_t(value != 0) << lane;
  }
  return lanes;
}

/// Makes the lanes of `mask` all poison or all defined.
void PoisonTracker::setShadow(Warp &warp, const Slot &slot, uint32_t mask, uint32_t poisoned) {
  if (slot.plane != Plane::Register || slot.isSink)
    return;
  uint8_t *row = warp.planes[unsigned(Plane::Shadow)] + slot.offset;
  if (slot.bytes == 0) {
    uint32_t &bits = *reinterpret_cast<uint32_t *>(row);
    bits = (bits & ~mask) | (poisoned & mask);
    return;
  }
  uint8_t &flag = mayBePoison(warp, slot);
  if ((poisoned & mask) == 0) {
    if (!flag)
      return;
    if (mask == fullMask) {
      std::memset(row, 0, size_t(slot.bytes) * warpSize);
      flag = 0;
      return;
    }
  }
  flag = 1;
  forEachLane(mask, [&](unsigned lane) {
    std::memset(row + size_t(lane) * slot.bytes, (poisoned >> lane & 1) ? 0xff : 0, slot.bytes);
  });
}

/// `access` is what happens to global memory, empty if the poison is not stored there; `element` is
/// which of the stored values it is.
static void reportPoison(Warp &warp, const Inst &inst, uint32_t lanes, const char *what,
                         Decided decided, llvm::StringRef access = "", unsigned element = 0) {
  if (warp.launch->findings->countRepeat(FindingKind::Uninitialized, inst.line, 0))
    return;
  unsigned lane = static_cast<unsigned>(__builtin_ctz(lanes));
  TouchedMemory memory;
  if (!access.empty()) {
    uint64_t address = warp.lane(inst.slots[inst.addressSlot], lane) +
                       static_cast<uint64_t>(inst.immediate) + uint64_t(element) * inst.width;
    memory = touchedAt(warp, ptx::Space::Global, address, inst.width, access);
  }
  report(warp, inst, lane, FindingKind::Uninitialized,
         llvm::formatv("{0} of '{1}' depends on bits that were never written", what,
                       inst.source ? inst.source->opcode : ""),
         /*isNote=*/false, memory, decided);
}

void PoisonTracker::check(Warp &warp, const Inst &inst, uint32_t mask, uint32_t active) {
  bool isMemory = inst.addressSlot != 0xff;
  bool isControl = inst.flow != Flow::Plain;
  if (inst.isGuarded && (isMemory || isControl)) {
    Slot guard;
    guard.plane = Plane::Register;
    guard.offset = inst.guardOffset;
    if (uint32_t lanes = poisonedLanes(warp, guard) & active) {
      reportPoison(warp, inst, lanes, "the predicate", Decided::Condition);
      setShadow(warp, guard, lanes, 0); // report each cause once
    }
  }
  if (inst.flow == Flow::IndexedBranch)
    if (uint32_t lanes = poisonedLanes(warp, inst.src(0)) & mask)
      reportPoison(warp, inst, lanes, "the index", Decided::Choice);
  if (!isMemory)
    return;
  for (unsigned i = 0; i < inst.numSrc; ++i) {
    if (inst.shadowSlots[inst.numDst + i].plane != Plane::Register)
      continue; // data
    const Slot &address = inst.src(i);
    if (uint32_t lanes = poisonedLanes(warp, address) & mask) {
      reportPoison(warp, inst, lanes, "the address", Decided::Address);
      setShadow(warp, address, lanes, 0);
    }
  }
}

/// The space the first active lane touches, if the instruction's own is generic.
static ptx::Space effectiveSpace(Warp &warp, const Inst &inst, uint32_t mask) {
  if (inst.space != ptx::Space::Generic || mask == 0)
    return inst.space;
  uint64_t address = warp.lane(inst.slots[inst.addressSlot], __builtin_ctz(mask));
  return spaceOfGeneric(address + static_cast<uint64_t>(inst.immediate));
}

/// Before something writes the shadow of the results directly.
static void markResults(Warp &warp, const Inst &inst) {
  for (unsigned i = 0; i < inst.numDst; ++i)
    if (inst.dst(i).plane == Plane::Register && inst.dst(i).bytes != 0 && !inst.dst(i).isSink)
      mayBePoison(warp, inst.dst(i)) = 1;
}

void PoisonTracker::moveShadow(Warp &warp, const Inst &inst, uint32_t mask, uint32_t guardPoison) {
  runOnShadow(warp, inst, mask);
  if (guardPoison)
    for (unsigned i = 0; i < inst.numDst; ++i)
      setShadow(warp, inst.dst(i), guardPoison, guardPoison);
}

void PoisonTracker::runOnShadow(Warp &warp, const Inst &inst, uint32_t mask) {
  markResults(warp, inst);
  warp.isShadowPass = true;
  inst.execute(warp, onShadow[inst.pc], mask);
  warp.isShadowPass = false;
}

template <class T, class Op>
static void bitwise(Warp &warp, const Inst &inst, uint32_t mask, Op op) {
  const Slot &a = inst.src(0), &b = inst.src(inst.numSrc > 1 ? 1 : 0);
  const T *va = warp.row<T>(a), *vb = warp.row<T>(b);
  const T *pa = warp.row<T>(shadowOf(a)), *pb = warp.row<T>(shadowOf(b));
  T *d = warp.row<T>(shadowOf(inst.dst(0)));
  markResults(warp, inst);
  forEachLane(mask, [&](unsigned i) { d[i] = op(va[i], pa[i], vb[i], pb[i]); });
}
template <class Op> static void bitwiseByWidth(Warp &warp, const Inst &inst, uint32_t mask, Op op) {
  switch (inst.dst(0).bytes) {
  case 2:
    return bitwise<uint16_t>(warp, inst, mask, op);
  case 4:
    return bitwise<uint32_t>(warp, inst, mask, op);
  case 8:
    return bitwise<uint64_t>(warp, inst, mask, op);
  default:
    break;
  }
  // Predicates: one mask, negation on the operand.
  const Slot &a = inst.src(0), &b = inst.src(inst.numSrc > 1 ? 1 : 0);
  uint32_t result = op(warp.predicate(a), *warp.row<uint32_t>(shadowOf(a)), warp.predicate(b),
                       *warp.row<uint32_t>(shadowOf(b)));
  warp.setPredicate(shadowOf(inst.dst(0)), result, mask);
}

void PoisonTracker::step(Warp &warp, const Inst &inst, uint32_t mask, uint32_t active) {
  if (mask == 0 || inst.slots == nullptr)
    return;
  PoisonRule rule = inst.poison;
  uint32_t guardPoison = 0;
  if (inst.isGuarded) {
    Slot guard;
    guard.plane = Plane::Register;
    guard.offset = inst.guardOffset;
    guardPoison = poisonedLanes(warp, guard) & active;
  }
  // Nothing poisoned comes in: results are defined. By far the most frequent case.
  bool isMemory = inst.addressSlot != 0xff;
  uint32_t sources = 0;
  for (unsigned i = 0; i < inst.numSrc; ++i)
    sources |= poisonedLanes(warp, inst.src(i));
  if (isMemory && rule == PoisonRule::SameMove) {
    ptx::Space space = effectiveSpace(warp, inst, mask);
    bool isStore = inst.numDst == 0;
    if (isStore && space == ptx::Space::Global) {
      // A store of a byte takes the low byte of its register; the rest may be anything.
      for (unsigned i = 0, element = 0; sources && i < inst.numSrc; ++i) {
        if (inst.numDst + i == inst.addressSlot)
          continue;
        if (uint32_t stored = poisonedLanes(warp, inst.src(i), inst.width) & mask) {
          reportPoison(warp, inst, stored, "the value stored to global memory", Decided::Value,
                       "written", element);
          break;
        }
        ++element;
      }
    } else if (space == ptx::Space::Shared || space == ptx::Space::Local) {
      runOnShadow(warp, inst, mask);
    } else {
      for (unsigned i = 0; i < inst.numDst; ++i)
        setShadow(warp, inst.dst(i), mask, 0);
    }
    if (guardPoison)
      for (unsigned i = 0; i < inst.numDst; ++i)
        setShadow(warp, inst.dst(i), guardPoison, guardPoison);
    return;
  }
  if (inst.poison == PoisonRule::Custom && (sources != 0 || inst.numDst == 0 || isMemory)) {
    markResults(warp, inst);
    inst.shadowExecute(warp, inst, mask);
    return;
  }
  if (sources == 0 && rule != PoisonRule::Atomic)
    rule = PoisonRule::Defined;
  uint32_t poisoned = 0;
  switch (rule) {
  case PoisonRule::Defined:
    break;
  case PoisonRule::AnySource:
    poisoned = sources;
    break;
  case PoisonRule::Warp:
    poisoned = (sources & mask) ? fullMask : 0;
    break;
  case PoisonRule::Atomic: {
    bool isGlobal = effectiveSpace(warp, inst, mask) == ptx::Space::Global;
    if (sources & mask)
      reportPoison(warp, inst, sources & mask, "the value of the atomic operation", Decided::Value,
                   isGlobal ? "updated atomically" : "");
    if (effectiveSpace(warp, inst, mask) != ptx::Space::Shared)
      break;
    return moveShadow(warp, inst, mask, guardPoison);
  }
  case PoisonRule::SameMove: {
    // A poisoned shift amount or lane number poisons everything; data poison moves.
    for (unsigned i = 0; i < inst.numSrc; ++i)
      if (inst.shadowSlots[inst.numDst + i].plane == Plane::Register)
        poisoned |= poisonedLanes(warp, inst.src(i));
    if (poisoned & mask)
      break;
    return moveShadow(warp, inst, mask, guardPoison);
  }
  case PoisonRule::And:
    return bitwiseByWidth(warp, inst, mask, [](auto a, auto pa, auto b, auto pb) {
      return decltype(a)((pa & pb) | (pa & b) | (pb & a));
    });
  case PoisonRule::Or:
    return bitwiseByWidth(warp, inst, mask, [](auto a, auto pa, auto b, auto pb) {
      return decltype(a)((pa & pb) | (pa & ~b) | (pb & ~a));
    });
  case PoisonRule::Xor:
    return bitwiseByWidth(warp, inst, mask,
                          [](auto a, auto pa, auto, auto pb) { return decltype(a)(pa | pb); });
  case PoisonRule::Carry:
    return bitwiseByWidth(warp, inst, mask, [](auto a, auto pa, auto, auto pb) {
      auto poison = decltype(a)(pa | pb);
      return decltype(a)(poison | -poison); // the lowest poison bit and all above it
    });
  case PoisonRule::Lop3: {
    const uint32_t *a = warp.row<uint32_t>(shadowOf(inst.src(0)));
    const uint32_t *b = warp.row<uint32_t>(shadowOf(inst.src(1)));
    const uint32_t *c = warp.row<uint32_t>(shadowOf(inst.src(2)));
    uint32_t *d = warp.row<uint32_t>(shadowOf(inst.dst(0)));
    markResults(warp, inst);
    forEachLane(mask, [&](unsigned i) { d[i] = a[i] | b[i] | c[i]; });
    return;
  }
  case PoisonRule::Select: {
    uint32_t unknown = poisonedLanes(warp, inst.src(2));
    runOnShadow(warp, inst, mask);
    setShadow(warp, inst.dst(0), (mask & unknown) | guardPoison, unknown | guardPoison);
    return;
  }
  case PoisonRule::Custom:
    break;
  }
  for (unsigned i = 0; i < inst.numDst; ++i) {
    setShadow(warp, inst.dst(i), mask, poisoned);
    if (guardPoison)
      setShadow(warp, inst.dst(i), guardPoison, guardPoison);
  }
}

} // namespace vgpu
