//===- Turns.cpp - warpgroups that take turns ------------------------------------------------===//
//
// Each warpgroup has a barrier by number. A phase of it ends when the threads of the group have come to
// take their turn, and those of the group before have passed theirs on.
//
//   take   bar.sync number + group, 256        pass   bar.arrive number + (group + 1) % groups, 256
//
// The turn of group 0 comes from the last group, as if it had passed one (`open`). In the end, group 0
// takes the turn that is left (`close`), so that all phases are over.
//
//===----------------------------------------------------------------------------------------===//

#include "Turns.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

void lowerTurn(Thread &t, TurnOp op) {
  ImplicitLocOpBuilder &b = t.b;
  constexpr int64_t kWarpgroup = 128;
  auto number = [&](int64_t value) { return t.constant(b.getI32IntegerAttr(int32_t(value))); };
  int64_t groups = op.getGroups(), last = groups - 1;
  Value own = arith::ShRUIOp::create(b, warpNumber(t), number(2));
  Value threads = number(2 * kWarpgroup);
  auto isGroup = [&](int64_t group) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, own, number(group)).getResult();
  };
  auto meet = [&](StringRef instruction, Value group) {
    Value barrier = b.createOrFold<arith::AddIOp>(group, number(op.getNumber()));
    callPtx(b, (instruction + " $0, $1;").str(), "r,r,~{memory}", {}, {barrier, threads});
  };
  switch (op.getKind()) {
  case TurnKind::Open: // as if the last one had passed
    return t.guarded(isGroup(last), [&] { meet("bar.arrive", number(0)); });
  case TurnKind::Take:
    return meet("bar.sync", own);
  case TurnKind::Pass: {
    Value next = b.createOrFold<arith::AddIOp>(own, number(1));
    return meet("bar.arrive", arith::SelectOp::create(b, isGroup(last), number(0), next));
  }
  case TurnKind::Close:
    return t.guarded(isGroup(0), [&] { meet("bar.sync", number(0)); });
  }
}

} // namespace tilewright::nvptx
