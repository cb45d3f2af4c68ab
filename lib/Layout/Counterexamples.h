//===- Counterexamples.h - corners of tiles and checked refutations ---------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_LAYOUT_COUNTEREXAMPLES_H
#define TILEWRIGHT_LIB_LAYOUT_COUNTEREXAMPLES_H

#include "tilewright/Layout/Questions.h"

namespace tilewright {

/// Whether an index lies in a shape; dynamic extents have every index.
bool isInShape(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> shape);

/// The low corner of a tensor too large to enumerate: each extent is cut down until there are few
/// elements left. A counterexample found there is one of the whole tensor.
IndexVector cornerOf(llvm::ArrayRef<int64_t> shape);

} // namespace tilewright

#endif // TILEWRIGHT_LIB_LAYOUT_COUNTEREXAMPLES_H
