//===- ToError.h - results of code without LLVM, as LLVM's errors -------------------*- C++ -*-===//

#ifndef TILEWRIGHT_SUPPORT_TOERROR_H
#define TILEWRIGHT_SUPPORT_TOERROR_H

#include "tilewright/Support/Result.h"

#include "llvm/Support/Error.h"

namespace tilewright {

inline llvm::Error toError(const Failure &failure) {
  return llvm::createStringError(failure.message);
}

inline llvm::Error toError(const MaybeFailure &failure) {
  return failure ? toError(*failure) : llvm::Error::success();
}

template <typename T> llvm::Expected<T> toExpected(Result<T> result) {
  if (!result)
    return toError(result.getFailure());
  return std::move(*result);
}

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_TOERROR_H
