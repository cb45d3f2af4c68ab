//===- LayoutCache.h - what is memoised about a layout ----------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_LAYOUT_LAYOUTCACHE_H
#define TILEWRIGHT_LIB_LAYOUT_LAYOUTCACHE_H

#include "tilewright/Layout/DigitForm.h"
#include "tilewright/Layout/F2Form.h"
#include "tilewright/Layout/Questions.h"
#include "tilewright/Support/Lazy.h"

namespace tilewright {

/// The smallest and one more than the largest value of each output, kDynamic where unknown.
struct OutputBounds {
  llvm::SmallVector<int64_t, 4> minimum;
  llvm::SmallVector<int64_t, 4> extent;
};

struct LayoutCache {
  Lazy<OutputBounds> bounds;
  Lazy<std::optional<F2Form>> f2;
  Lazy<std::optional<DigitForm>> digits;
  Lazy<Answer<Collision>> injective;
  Lazy<Answer<Hole>> covering;
};

} // namespace tilewright

#endif // TILEWRIGHT_LIB_LAYOUT_LAYOUTCACHE_H
