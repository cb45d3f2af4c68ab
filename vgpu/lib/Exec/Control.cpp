//===- Control.cpp - branches, calls, returns ------------------------------------------------===//
#include "Families.h"
#include "KernelDecoder.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

void nothing(Warp &, const Inst &, uint32_t) {}

bool decodeBranch(InstBuilder &b) {
  b.accept("uni");
  if (!b.expectOperands(1))
    return false;
  if (b.operand(0).kind != Operand::Kind::Label)
    return b.fail("expected a label");
  return b.decoder().emitBranch(b, b.operand(0).index);
}

bool decodeIndexedBranch(InstBuilder &b) {
  if (!b.accept("idx"))
    return b.fail("expected '.idx'");
  b.accept("uni");
  if (!b.expectOperands(2) || !b.addSrc(b.operand(0), Type::U32, Role::Control))
    return false;
  if (b.operand(1).kind != Operand::Kind::Targets)
    return b.fail("expected the name of a .branchtargets list");
  return b.decoder().emitIndexedBranch(b, b.operand(1).index);
}

bool decodeCall(InstBuilder &b) {
  b.accept("uni");
  return b.decoder().emitCall(b);
}
bool decodeReturn(InstBuilder &b) {
  b.accept("uni");
  return b.expectOperands(0) && b.decoder().emitReturn(b);
}
bool decodeExit(InstBuilder &b) {
  b.inst.flow = Flow::Exit;
  b.inst.instClass = InstClass::Control;
  return b.expectOperands(0) && emitInst(b);
}
bool decodeTrap(InstBuilder &b) {
  b.inst.flow = Flow::Trap;
  b.inst.instClass = InstClass::Control;
  return b.expectOperands(0) && emitInst(b);
}

/// Hints that change no result: nanosleep, pmevent, brkpt.
template <bool needsOperand> bool decodeHint(InstBuilder &b) {
  while (!b.atEnd())
    b.accept(b.peek());
  b.inst.execute = nothing;
  b.inst.poison = PoisonRule::Defined;
  b.inst.instClass = InstClass::Control;
  return b.expectOperands(needsOperand ? 1 : 0, 1) && emitInst(b);
}

} // namespace

llvm::ArrayRef<FamilyEntry> controlFamily() {
  static constexpr FamilyEntry entries[] = {
      {"bra", decodeBranch},           {"brx", decodeIndexedBranch},  {"call", decodeCall},
      {"ret", decodeReturn},           {"exit", decodeExit},          {"trap", decodeTrap},
      {"nanosleep", decodeHint<true>}, {"pmevent", decodeHint<true>}, {"brkpt", decodeHint<false>},
  };
  return entries;
}

} // namespace vgpu
