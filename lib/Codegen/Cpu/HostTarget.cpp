//===- HostTarget.cpp - the processor that code is made for -----------------------------------===//
//
// What a processor has is read from it (cpuid, by LLVM). What pays is not: a processor may have an
// instruction that is slower than what it replaces. The table below says so, one line for each type
// of core; a type that it does not list is taken to be fast at what it has. TILEWRIGHT_CPU overrides
// both, for measurements and for tests.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Codegen/Cpu/HostCode.h"
#include "tilewright/Rt/TileUnit.h"
#include "tilewright/Support/Environment.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Host.h"

using namespace tilewright;
using namespace tilewright::cpu;
using environment::Variable;

namespace {
struct CoreFacts {
  llvm::StringLiteral cpu; ///< LLVM's name.
  bool hasFastBf16Dots;    ///< vdpbf16ps beats widening and float32 multiply-adds.
};
} // namespace

/// Measured by `benchmarks/run_benchmarks.py cpu` with TILEWRIGHT_CPU=bf16-dots and =bf16-widened. On
/// Sapphire Rapids a bfloat16 gemm by vdpbf16ps ran at 0.6 of our float32 one. Emerald Rapids has the
/// same cores. Not measured, and so not listed: Cooper Lake, Granite Rapids, Zen 5.
static constexpr CoreFacts kCores[] = {
    {"emeraldrapids", false},
    {"sapphirerapids", false},
    {"znver4", true},
};

static bool hasFastBf16Dots(llvm::StringRef cpu) {
  for (const CoreFacts &core : kCores)
    if (core.cpu == cpu)
      return core.hasFastBf16Dots;
  return true;
}

HostTarget HostTarget::detect() {
  HostTarget target;
  target.cpu = llvm::sys::getHostCPUName().str();
  std::string_view choice = environment::getText(Variable::Cpu);
  bool withoutAvx512 = choice == "avx2";
  bool usesAmx = !withoutAvx512 && choice != "no-amx" && rt::mayUseTileUnit();
  bool hasAvx512 = false;
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  std::vector<std::string> list;
  for (auto &feature : features) {
    llvm::StringRef name = feature.first();
    if ((withoutAvx512 && name.starts_with("avx512")) || (!usesAmx && name.starts_with("amx")))
      feature.second = false;
    hasAvx512 |= feature.second && name == "avx512f";
    list.push_back((feature.second ? "+" : "-") + name.str());
  }
  // The default for AVX-512 machines is 256-bit vectors; tiles are worth the wide ones.
  if (hasAvx512)
    list.push_back("-prefer-256-bit");
  llvm::sort(list); // a map's order is none
  target.features = llvm::join(list, ",");
  target.vectorWidth = hasAvx512 ? 16 : 8;
  auto has = [&](llvm::StringRef feature) { return hasAvx512 && features.lookup(feature); };
  target.hasBf16Dots = has("avx512bf16") && choice != "bf16-widened" &&
                       (choice == "bf16-dots" || hasFastBf16Dots(target.cpu));
  target.hasInt8Dots = has("avx512vnni");
  target.hasRange = has("avx512dq");
  target.tilesInSoftware = choice == "amx-in-software";
  auto hasTiles = [&](llvm::StringRef feature) {
    return target.tilesInSoftware || (has("amx-tile") && has(feature));
  };
  target.hasBf16Tiles = hasTiles("amx-bf16") && !llvm::StringRef(choice).starts_with("bf16-");
  target.hasInt8Tiles = hasTiles("amx-int8");
  return target;
}

std::optional<HostTarget> HostTarget::find(llvm::StringRef name) {
  if (name == "host")
    return detect();
  bool isLevel4 = name == "x86-64-v4";
  if (!isLevel4 && name != "x86-64-v3")
    return std::nullopt;
  HostTarget target;
  target.cpu = name.str();
  target.features = isLevel4 ? "-prefer-256-bit" : ""; // as `detect` has it
  target.vectorWidth = isLevel4 ? 16 : 8;
  target.hasRange = isLevel4;
  return target;
}

std::string HostTarget::getChoices() const {
  std::string text = std::to_string(vectorWidth);
  for (bool choice :
       {hasBf16Dots, hasInt8Dots, hasBf16Tiles, hasInt8Tiles, tilesInSoftware, hasRange})
    text += choice ? '+' : '-';
  return text;
}
