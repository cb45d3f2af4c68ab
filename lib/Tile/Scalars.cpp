//===- Scalars.cpp - ops that compute scalars ------------------------------------------------===//

#include "tilewright/Tile/Scalars.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright::tile {

bool isPureScalar(Operation *op) { return isMemoryEffectFree(op) && !isa<LoadOp>(op); }

bool areEqual(Value a, Value b) {
  if (a == b)
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!first || !second || first->getName() != second->getName() ||
      first->getAttrDictionary() != second->getAttrDictionary() ||
      first->getNumOperands() != second->getNumOperands() || first->getNumRegions() != 0 ||
      !isPureScalar(first) ||
      cast<OpResult>(a).getResultNumber() != cast<OpResult>(b).getResultNumber())
    return false;
  return llvm::all_of(llvm::zip(first->getOperands(), second->getOperands()),
                      [](auto pair) { return areEqual(std::get<0>(pair), std::get<1>(pair)); });
}

} // namespace tilewright::tile
