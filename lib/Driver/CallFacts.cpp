//===- CallFacts.cpp - reads from a call what its code may rely on ----------------------------===//

#include "tilewright/Driver/CallFacts.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Tile/Tile.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::driver;

SmallVector<bool> driver::findWritten(func::FuncOp function) {
  SmallVector<bool> written(function.getNumArguments(), false);
  std::optional<SmallVector<tile::Effect>> effects = tile::getEffects(function);
  if (!effects)
    return SmallVector<bool>(function.getNumArguments(), true);
  for (const tile::Effect &effect : *effects)
    if (auto argument = dyn_cast<BlockArgument>(effect.root))
      if (effect.kind != tile::EffectKind::Read && argument.getOwner() == &function.front())
        written[argument.getArgNumber()] = true;
  return written;
}

bool driver::haveOverlap(ArrayRef<TensorBytes> tensors) {
  for (const TensorBytes &tensor : tensors) {
    if (!tensor.isWritten)
      continue;
    for (const TensorBytes &other : tensors)
      if (&other != &tensor && tensor.begin < other.begin + other.size &&
          other.begin < tensor.begin + tensor.size)
        return true;
  }
  return false;
}

/// The symbols whose divisibility can widen an access: those of strides and of the dimension in
/// which memory runs. A symbol that only counts the rows of tensors is in neither.
static llvm::StringSet<> findStrideSymbols(func::FuncOp function) {
  llvm::StringSet<> names;
  for (unsigned position = 0; position < function.getNumArguments(); ++position)
    if (auto shape = function.getArgAttrOfType<tile::ShapeAttr>(position, tile::kShapeAttr)) {
      ArrayRef<IndexExpr> extents = shape.getExtents();
      SmallVector<unsigned> symbols;
      for (const IndexExpr &extent : extents.size() > 1 ? extents.drop_front() : extents)
        analysis::collectSymbols(extent, symbols);
      for (unsigned symbol : symbols)
        names.insert(shape.getSymbols()[symbol].getValue());
    }
  return names;
}

CallFacts driver::readCallFacts(func::FuncOp function, ArrayRef<runtime::BoundArgument> arguments) {
  CallFacts facts;
  SmallVector<bool> isWritten = findWritten(function);
  llvm::StringSet<> symbols = findStrideSymbols(function);
  SmallVector<TensorBytes, 8> tensors;
  for (auto [position, bound] : llvm::enumerate(arguments)) {
    if (auto *tensor = std::get_if<runtime::BoundTensor>(&bound)) {
      int64_t size = tile::getStorageBytes(tensor->elementType);
      for (int64_t extent : tensor->shape)
        size *= extent;
      tensors.push_back({reinterpret_cast<uintptr_t>(tensor->data), size, isWritten[position]});
    }
    auto symbol = function.getArgAttrOfType<StringAttr>(position, tile::kSymbolAttr);
    if (symbol && symbols.contains(symbol.getValue()) &&
        std::get<int64_t>(bound) % CallFacts::kDivisor == 0)
      facts.divisibleSymbols.push_back(symbol.str());
  }
  facts.disjointArguments = !haveOverlap(tensors);
  return facts;
}
