//===- Roles.cpp - roles that the program's warps run at once ---------------------------------===//
//
// A role's warps run its code and skip that of the others. Inside, threads are numbered from 0, they
// meet at a barrier by number, and exchange values in a scratch area of their own.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowerings.h"
#include "tilewright/Tile/Schedule.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

LogicalResult lowerTeamRole(Thread &t, RoleOp role) {
  ImplicitLocOpBuilder &b = t.b;
  Team team = getTeam(role);
  auto number = [&](int64_t value) { return t.constant(b.getI32IntegerAttr(int32_t(value))); };
  Value warp = warpNumber(t);
  Value first = number(team.first / kWarpSize), count = number(team.count / kWarpSize);
  Value own = b.createOrFold<arith::SubIOp>(warp, first); // wraps below the first
  Value isOwn = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, own, count);
  LogicalResult result = success();
  t.guarded(isOwn, [&] {
    auto registers = role->getAttrOfType<IntegerAttr>(kRegistersAttr);
    if (registers && t.arch.hasWgmma) {
      int64_t granted = t.kernel->getAttrOfType<IntegerAttr>(kRegistersAttr).getInt();
      NVVM::SetMaxRegisterOp::create(b, registers.getInt(),
                                     registers.getInt() > granted
                                         ? NVVM::SetMaxRegisterAction::increase
                                         : NVVM::SetMaxRegisterAction::decrease);
    }
    SmallVector<RoleOp> roles = getTeamRoles(t.kernel);
    int64_t position = llvm::find(roles, role) - roles.begin();
    llvm::SaveAndRestore saveTeam(t.team, std::optional(team));
    llvm::SaveAndRestore saveThread(t.threadId,
                                    b.createOrFold<arith::SubIOp>(t.threadId, t.index(team.first)));
    llvm::SaveAndRestore saveWarp(t.warp, own);
    llvm::SaveAndRestore saveScratch(t.scratchOffset, t.scratchOffset + position * t.roleScratch);
    llvm::SaveAndRestore saveMeeting(t.meeting, team.count);
    llvm::SaveAndRestore saveNumber(t.meetingNumber,
                                    role->getAttrOfType<IntegerAttr>(kMeetingAttr).getInt());
    result = lowerBlock(t, role.getBody().front());
  });
  return result;
}

} // namespace tilewright::nvptx
