//===- Teams.cpp - the threads that run a statement together ---------------------------------===//

#include "tilewright/Tile/Teams.h"

using namespace mlir;

namespace tilewright::tile {

RoleOp getTeamRole(Operation *op) {
  auto role = dyn_cast<RoleOp>(op);
  if (!role)
    role = op->getParentOfType<RoleOp>();
  return role && role->hasAttr(kFirstThreadAttr) ? role : RoleOp();
}

Team getTeam(Operation *op) {
  if (RoleOp role = getTeamRole(op))
    return {role->getAttrOfType<IntegerAttr>(kFirstThreadAttr).getInt(),
            int64_t(role.getThreads())};
  auto kernel = dyn_cast<KernelOp>(op);
  return {0, (kernel ? kernel : op->getParentOfType<KernelOp>()).getNumThreads()};
}

SmallVector<RoleOp> getTeamRoles(KernelOp kernel) {
  return llvm::to_vector(
      llvm::make_filter_range(kernel.getBody().getOps<RoleOp>(),
                              [](RoleOp role) { return role->hasAttr(kFirstThreadAttr); }));
}

} // namespace tilewright::tile
