//===- Rounders.h - rounding to a format as a plain function ----------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_INTERP_ROUNDERS_H
#define TILEWRIGHT_LIB_INTERP_ROUNDERS_H

#include "Machine.h"

namespace tilewright::interp {

/// The function that rounds a double to nearest in `format`. That of float32 is the machine's own,
/// as its arithmetic is; a unit test holds it against Numeric.h.
inline RealFunction getRounder(Format format) {
  switch (format) {
  case Format::F64:
    return [](double value) { return value; };
  case Format::F32:
    return [](double value) { return static_cast<double>(static_cast<float>(value)); };
  case Format::F16:
    return [](double value) { return roundFloat(Format::F16, value); };
  case Format::BF16:
    return [](double value) { return roundFloat(Format::BF16, value); };
  case Format::TF32:
    return [](double value) { return roundFloat(Format::TF32, value); };
  case Format::F8E4M3FN:
    return [](double value) { return roundFloat(Format::F8E4M3FN, value); };
  case Format::F8E5M2:
    return [](double value) { return roundFloat(Format::F8E5M2, value); };
  default:
    return nullptr;
  }
}

} // namespace tilewright::interp

#endif // TILEWRIGHT_LIB_INTERP_ROUNDERS_H
