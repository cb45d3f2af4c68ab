//===- Panels.cpp - operands that a product packs while it runs -------------------------------===//

#include "Panels.h"
#include "tilewright/Tile/CpuPlan.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

static int64_t getPanelColumns(Emitter &e, const Product &product) {
  return tile::getPanelVectors(e.options.vectorWidth) * product.width;
}

bool tilewright::cpu::canPackByPanels(Emitter &e, const View &view, const Product &product,
                                      bool isRight) {
  std::optional<Matrix> source = getMatrix(e, view, getStorageType(view.elementType));
  if (!source || getConstantIntValue(source->columnStride) != 1)
    return false;
  if (isRight)
    return product.n % product.width == 0;
  return product.k % product.width == 0 && product.n <= getPanelColumns(e, product);
}

void tilewright::cpu::packByPanels(Emitter &e, const View &view, Product &product, bool isRight) {
  SmallVector<int64_t> shape = {Product::kMaxRows, product.k};
  if (isRight)
    shape = {product.k, std::min(getPanelColumns(e, product), product.n)};
  (isRight ? product.b : product.a) = asMatrix(e, e.buffers.makeScratch(shape, product.sumType));
  (isRight ? product.unpackedB : product.unpackedA) = {asMatrix(e, view), view.elementType};
}
