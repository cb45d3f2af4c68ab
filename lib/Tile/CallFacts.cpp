//===- CallFacts.cpp - what compiled code may rely on about its calls -------------------------===//

#include "tilewright/Tile/CallFacts.h"
#include "tilewright/Tile/Tile.h"

using namespace mlir;

namespace tilewright {

std::string CallFacts::getKey() const {
  std::string key = disjointArguments ? "disjoint" : "overlapping";
  key += ", aligned to " + std::to_string(argumentAlignment);
  for (const std::string &symbol : divisibleSymbols)
    key += ", " + std::to_string(kDivisor) + " divides " + symbol;
  if (!tensorMaps)
    key += ", no tensor maps";
  return key;
}

void CallFacts::annotate(func::FuncOp function) const {
  for (unsigned position = 0; position < function.getNumArguments(); ++position) {
    auto symbol = function.getArgAttrOfType<StringAttr>(position, tile::kSymbolAttr);
    if (symbol && llvm::is_contained(divisibleSymbols, symbol.getValue()))
      function.setArgAttr(position, tile::kDivisorAttr,
                          Builder(function.getContext()).getI64IntegerAttr(kDivisor));
  }
}

} // namespace tilewright
