//===- Limits.h - how large things may be -------------------------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_SUPPORT_LIMITS_H
#define TILEWRIGHT_SUPPORT_LIMITS_H

#include <cstdint>

namespace tilewright {

/// The largest extent that a shape symbol may have. No memory holds more elements; a call with more
/// is refused, so that code for all calls may rely on it.
constexpr int64_t kLargestExtent = int64_t(1) << 40;

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_LIMITS_H
