//===- Helpers.cpp - functions that compiled code calls by name -------------------------------===//
//
// Rare operations, done by LLVM's arbitrary-precision arithmetic rather than by inline code.
//
//===----------------------------------------------------------------------------------------===//

#include "Numbers.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"

using namespace tilewright;
using namespace tilewright::cpu;
using llvm::APFloat;

static const llvm::fltSemantics &getSemantics(FloatFormat format) {
  switch (format) {
  case FloatFormat::F8E4M3FN:
    return APFloat::Float8E4M3FN();
  case FloatFormat::F8E5M2:
    return APFloat::Float8E5M2();
  case FloatFormat::F16:
    return APFloat::IEEEhalf();
  case FloatFormat::BF16:
    return APFloat::BFloat();
  case FloatFormat::TF32:
    return APFloat::FloatTF32();
  case FloatFormat::F32:
    return APFloat::IEEEsingle();
  case FloatFormat::F64:
    return APFloat::IEEEdouble();
  }
  llvm_unreachable("unknown format");
}

static llvm::RoundingMode getRoundingMode(FloatFormat format, tile::Rounding rounding) {
  switch (rounding) {
  case tile::Rounding::NearestEven: // tfloat32 has only cvt.rna
    return format == FloatFormat::TF32 ? APFloat::rmNearestTiesToAway
                                       : APFloat::rmNearestTiesToEven;
  case tile::Rounding::TowardZero:
    return APFloat::rmTowardZero;
  case tile::Rounding::NearestAway:
    return APFloat::rmNearestTiesToAway;
  case tile::Rounding::Downward:
    return APFloat::rmTowardNegative;
  case tile::Rounding::Upward:
    return APFloat::rmTowardPositive;
  }
  llvm_unreachable("unknown rounding");
}

static bool isAlwaysSaturated(FloatFormat format) {
  return format == FloatFormat::F8E4M3FN || format == FloatFormat::F8E5M2;
}

/// A converted value as a double; overflow is clamped on request.
static double finish(APFloat value, FloatFormat format, bool saturate) {
  const llvm::fltSemantics &semantics = getSemantics(format);
  bool clamp = saturate || isAlwaysSaturated(format);
  // Float8E4M3FN has no infinity: LLVM's overflow is a NaN there.
  if (clamp && value.isInfinity())
    value = APFloat::getLargest(semantics, value.isNegative());
  bool losesInfo = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

extern "C" double twNarrowReal(double real, int32_t format, int32_t rounding, int32_t saturate) {
  auto target = static_cast<FloatFormat>(format);
  const llvm::fltSemantics &semantics = getSemantics(target);
  APFloat value(real);
  if (isAlwaysSaturated(target) && !value.isNaN()) {
    // Above the largest value every rounding gives the largest one.
    APFloat largest = APFloat::getLargest(semantics, value.isNegative());
    bool losesInfo = false;
    largest.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    if (std::abs(real) >= std::abs(largest.convertToDouble()))
      return largest.convertToDouble();
  }
  bool losesInfo = false;
  value.convert(semantics, getRoundingMode(target, static_cast<tile::Rounding>(rounding)),
                &losesInfo);
  return finish(value, target, saturate);
}

extern "C" double twNarrowInteger(int64_t integer, int32_t isUnsigned, int32_t format,
                                  int32_t rounding, int32_t saturate) {
  auto target = static_cast<FloatFormat>(format);
  // A wide binary float holds every 64-bit integer; the second step is the only rounding.
  APFloat value(APFloat::IEEEquad());
  value.convertFromAPInt(llvm::APInt(64, static_cast<uint64_t>(integer)), !isUnsigned,
                         APFloat::rmNearestTiesToEven);
  const llvm::fltSemantics &semantics = getSemantics(target);
  if (isAlwaysSaturated(target)) {
    APFloat largest = APFloat::getLargest(semantics, value.isNegative());
    bool losesInfo = false;
    APFloat wide = largest;
    wide.convert(APFloat::IEEEquad(), APFloat::rmNearestTiesToEven, &losesInfo);
    if (abs(value).compare(abs(wide)) != APFloat::cmpLessThan)
      return finish(largest, target, false);
  }
  bool losesInfo = false;
  value.convert(semantics, getRoundingMode(target, static_cast<tile::Rounding>(rounding)),
                &losesInfo);
  return finish(value, target, saturate);
}

/// Repeated multiplication modulo 2^64. A negative exponent gives the truncated reciprocal.
extern "C" int64_t twIntegerPower(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (; exponent; exponent >>= 1, factor *= factor)
    if (exponent & 1)
      result *= factor;
  return static_cast<int64_t>(result);
}

/// Of the compiler's own library: LLVM calls it to round float64 to float16, for which x86 has no
/// instruction before AVX512-FP16.
extern "C" _Float16 __truncdfhf2(double real); // NOLINT: the name is the ABI's

llvm::ArrayRef<HelperFunction> tilewright::cpu::getHelperFunctions() {
  static const HelperFunction table[] = {
      {kNarrowReal, reinterpret_cast<void *>(&twNarrowReal)},
      {kNarrowInteger, reinterpret_cast<void *>(&twNarrowInteger)},
      {kIntegerPower, reinterpret_cast<void *>(&twIntegerPower)},
      {"__truncdfhf2", reinterpret_cast<void *>(&__truncdfhf2)},
  };
  return table;
}
