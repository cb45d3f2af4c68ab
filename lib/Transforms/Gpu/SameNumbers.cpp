//===- SameNumbers.cpp - numbers that two roles compute alike --------------------------------===//

#include "SameNumbers.h"

#include "tilewright/Tile/Teams.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::schedule {

/// The stores to a variable, in the order of the program, and how many of them stand in front of `load`.
static std::pair<SmallVector<StoreOp>, int64_t> findStores(LoadOp load) {
  SmallVector<StoreOp> stores;
  int64_t before = 0;
  load->getParentOfType<KernelOp>().walk([&](Operation *op) {
    if (op == load)
      before = stores.size();
    if (auto store = dyn_cast<StoreOp>(op); store && store.getBuffer() == load.getBuffer())
      stores.push_back(store);
  });
  return {stores, before};
}

/// Whether two loads, one of the program and one of the role, read the same number: each role has the variable
/// for itself, and sets it to the same values in the same loops and branches.
bool SameNumbers::isSameVariable(LoadOp a, LoadOp b) {
  auto [stores, before] = findStores(a);
  auto [others, otherBefore] = findStores(b);
  if (getName(a.getBuffer()) != getName(b.getBuffer()) || stores.size() != others.size() ||
      before != otherBefore)
    return false;
  if (!partners.try_emplace(a.getBuffer(), b.getBuffer()).second)
    return partners.lookup(a.getBuffer()) == b.getBuffer();
  for (auto [store, other] : llvm::zip_equal(stores, others)) {
    Operation *x = store->getParentOp(), *y = other->getParentOp();
    for (; x->getName() == y->getName() && !isa<KernelOp>(x); y = y->getParentOp())
      x = x->getParentOp();
    if (!isa<KernelOp>(x) || !isa<RoleOp>(y) || !isSame(store.getValue(), other.getValue()))
      return false;
  }
  return true;
}

bool SameNumbers::isSame(Value a, Value b, unsigned depth) {
  if (a == b || partners.lookup(a) == b)
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!first || !second || depth > 64 || first->getName() != second->getName() ||
      first->getAttrDictionary() != second->getAttrDictionary() ||
      first->getNumOperands() != second->getNumOperands() || first->getNumRegions())
    return false;
  if (auto load = dyn_cast<LoadOp>(first); load && getSpace(load.getBuffer()) == Space::Local)
    return isSameVariable(load, cast<LoadOp>(second));
  bool areSame =
      llvm::all_of(llvm::zip(first->getOperands(), second->getOperands()), [&](auto pair) {
        return this->isSame(std::get<0>(pair), std::get<1>(pair), depth + 1);
      });
  if (areSame)
    partners[a] = b;
  return areSame;
}

bool SameNumbers::isSame(const IndexSum &program, const IndexSum &role) {
  if (program.constant != role.constant || program.terms.size() != role.terms.size())
    return false;
  SmallVector<std::pair<Value, int64_t>> rest(role.terms.begin(), role.terms.end());
  for (auto [value, factor] : program.terms) {
    auto *partner = llvm::find_if(rest, [&, &value = value, &factor = factor](auto &term) {
      return term.second == factor && isSame(value, term.first);
    });
    if (partner == rest.end())
      return false;
    rest.erase(partner);
  }
  return true;
}

} // namespace tilewright::schedule
