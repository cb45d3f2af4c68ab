//===- LogicalIndex.cpp - from an offset in memory to the element that lies there ------------===//

#include "LayoutMap.h"
#include "tilewright/Interp/Interp.h"
#include "tilewright/Tile/Tile.h"

using namespace mlir;
using namespace tilewright;

/// The layout that a kernel of the function gives to one of its tensors; null: row-major.
static tile::LayoutAttr findLayout(func::FuncOp function, unsigned argument) {
  tile::LayoutAttr layout;
  function.walk([&](tile::AnnotateLayoutOp op) {
    if (tile::getRoot(op.getBuffer()) == function.getArgument(argument))
      layout = dyn_cast<tile::LayoutAttr>(op.getLayout());
    return layout ? WalkResult::interrupt() : WalkResult::advance();
  });
  return layout;
}

std::optional<llvm::SmallVector<int64_t, 4>> interp::findLogicalIndex(func::FuncOp function,
                                                                      unsigned argument,
                                                                      ArrayRef<int64_t> shape,
                                                                      int64_t position) {
  tile::LayoutAttr layout = findLayout(function, argument);
  if (!layout)
    return unravel(position, shape);
  llvm::Expected<LayoutMap> map = LayoutMap::get(layout.getLayout(), shape);
  if (!map) {
    llvm::consumeError(map.takeError()); // the run itself has told
    return std::nullopt;
  }
  for (int64_t element = 0, end = countElements(shape); element < end; ++element)
    if (map->getOffset(element) == position)
      return unravel(element, shape);
  return std::nullopt;
}
