//===- Contribution.h - stores that contribute to a reducer ----------------------------------===//

#ifndef TILEWRIGHT_LIB_FRONTEND_CONTRIBUTION_H
#define TILEWRIGHT_LIB_FRONTEND_CONTRIBUTION_H

#include "tilewright/Frontend/Scalars.h"

namespace tilewright::frontend {

/// What a store to an element of a reducer contributes.
struct Contribution {
  Scalar value;
  bool isSubtracted = false; ///< By `r[i] -= x` from a sum.
};

/// What `r[i] += x` or `r[i] = T.max(r[i], x)` contributes to a reducer: x, if the stored value is
/// the element itself combined with x in the reducer's way; none for any other store.
///
/// The two may be combined in another type than the reducer's: `float16 + float32` in float32,
/// bools in int32. Contributing x, converted, is the same wherever the conversion back keeps the
/// combination: sums and bits of integers modulo their width, the order of floats. A maximum of
/// integers that is taken in a wider type is refused unless x has a value in the reducer's.
std::optional<Contribution> findContribution(Emitter &emitter, mlir::Value stored,
                                             const Element &element, mlir::ValueRange indices);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_LIB_FRONTEND_CONTRIBUTION_H
