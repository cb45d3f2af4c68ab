//===- Helpers.cpp - functions that compiled code calls by name -------------------------------===//

#include "TileProducts.h"

using namespace tilewright;
using namespace tilewright::cpu;

/// Of the compiler's own library: LLVM calls it to round float64 to float16, for which x86 has no
/// instruction before AVX512-FP16.
extern "C" _Float16 __truncdfhf2(double real); // NOLINT: the name is the ABI's

llvm::ArrayRef<HelperFunction> tilewright::cpu::getHelperFunctions() {
  static const HelperFunction table[] = {
      {kNarrowReal, reinterpret_cast<void *>(&tw_narrow_real)},
      {kNarrowInteger, reinterpret_cast<void *>(&tw_narrow_integer)},
      {kIntegerPower, reinterpret_cast<void *>(&tw_integer_power)},
      {"__truncdfhf2", reinterpret_cast<void *>(&__truncdfhf2)},
      {kTileConfig, reinterpret_cast<void *>(&tw_tile_config)},
      {kTileRelease, reinterpret_cast<void *>(&tw_tile_release)},
      {kTileZero, reinterpret_cast<void *>(&tw_tile_zero)},
      {kTileLoad, reinterpret_cast<void *>(&tw_tile_load)},
      {kTileStore, reinterpret_cast<void *>(&tw_tile_store)},
      {kTileMultiply, reinterpret_cast<void *>(&tw_tile_multiply)},
  };
  return table;
}
