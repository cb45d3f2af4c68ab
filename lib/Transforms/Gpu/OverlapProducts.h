//===- OverlapProducts.h - products run beside the rest of their iteration --------------------===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_GPU_OVERLAPPRODUCTS_H
#define TILEWRIGHT_LIB_TRANSFORMS_GPU_OVERLAPPRODUCTS_H

#include "tilewright/Tile/Tile.h"

namespace tilewright {

/// Moves products of a loop with a producer in front of statements that do not need them, and releases
/// down after the next product, so that a product is under way while threads do other work. Gives the
/// products that have work beside them now and had none before.
llvm::SmallVector<tile::GemmOp> overlapProducts(tile::PipelinedOp loop);

} // namespace tilewright

#endif // TILEWRIGHT_LIB_TRANSFORMS_GPU_OVERLAPPRODUCTS_H
