//===- HostTarget.cpp - the processor that code is made for -----------------------------------===//
//
// What a processor has is read from it: instructions (cpuid, by LLVM) and sizes of caches. What pays
// is not: a processor may have an instruction that is slower than what it replaces, or adds products
// faster than its caches deliver them. The table below says so, one line for each type of core. Its
// lines are measured, by `benchmarks/run_benchmarks.py cpu`; types that it does not list are taken
// for one that is like them. TILEWRIGHT_CPU overrides the instructions, TILEWRIGHT_CORE what pays and
// TILEWRIGHT_L2_KB the size of the second cache, for measurements and for tests.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Codegen/Cpu/HostCode.h"
#include "tilewright/Rt/CpuFeatures.h"
#include "tilewright/Rt/TileUnit.h"
#include "tilewright/Support/Environment.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Host.h"

using namespace tilewright;
using namespace tilewright::cpu;
using environment::Variable;

namespace {
struct CoreFacts {
  std::string_view name;  ///< As LLVM and TILEWRIGHT_CORE have it.
  bool hasFastBf16Dots;   ///< vdpbf16ps beats widening and float32 multiply-adds.
  int64_t fmaPorts;       ///< Multiply-adds that start in a cycle,
  int64_t fmaBytes;       ///< each of vectors of this size.
  int64_t readAheadBytes; ///< How far ahead rows of large tensors are prefetched.

  /// Products of float32 that are added in a cycle.
  int64_t productsPerCycle() const { return fmaPorts * fmaBytes / 4; }
};
} // namespace

/// Zen 4 has vectors of 512 bits whose halves it adds one after the other, Zen 5 adds whole ones. On
/// Sapphire Rapids a bfloat16 gemm by vdpbf16ps ran at 0.6 of our float32 one, on Zen 5 at 2.0. The
/// distance of prefetches was measured on Zen 4, and is the same for all until another one is.
static constexpr CoreFacts kCores[] = {
    {"sapphirerapids", false, 2, 64, 8192},
    {"znver4", true, 2, 32, 8192},
    {"znver5", true, 2, 64, 8192},
    {"haswell", false, 2, 32, 8192},
};

/// The core of the table that is most like this one. (A hypervisor may give a processor the number of
/// an older one: a Sapphire Rapids says that it is a Rocket Lake.)
static const CoreFacts &findCore(const HostTarget &target) {
  std::string_view chosen = environment::getText(Variable::Core);
  auto isNamed = [&](std::string_view name) {
    return llvm::find_if(kCores, [&](const CoreFacts &core) { return core.name == name; });
  };
  if (const CoreFacts *core = isNamed(chosen); core != std::end(kCores))
    return *core;
  if (target.vectorWidth < 16)
    return *isNamed("haswell");
  if (const CoreFacts *core = isNamed(target.cpu); core != std::end(kCores))
    return *core;
  bool isAmd = llvm::StringRef(target.cpu).starts_with("znver");
  return *isNamed(isAmd ? "znver5" : "sapphirerapids");
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
  const CoreFacts &core = findCore(target);
  target.productsPerCycle = core.productsPerCycle();
  target.readAheadBytes = core.readAheadBytes;
  target.secondCacheBytes = rt::getSecondCacheBytes();
  if (Result<uint64_t> kilobytes = environment::readNumber(Variable::L2Kb, 0);
      kilobytes && *kilobytes)
    target.secondCacheBytes = int64_t(*kilobytes) << 10;
  target.hasBf16Dots = has("avx512bf16") && choice != "bf16-widened" &&
                       (choice == "bf16-dots" || core.hasFastBf16Dots);
  target.hasInt8Dots = has("avx512vnni") || (!hasAvx512 && features.lookup("avx2"));
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
  target.hasInt8Dots = !isLevel4; // by AVX2
  target.hasRange = isLevel4;
  return target;
}

std::string HostTarget::getChoices() const {
  std::string text = std::to_string(vectorWidth) + '.' + std::to_string(productsPerCycle) + '.' +
                     std::to_string(secondCacheBytes >> 10) + '.' + std::to_string(readAheadBytes);
  for (bool choice :
       {hasBf16Dots, hasInt8Dots, hasBf16Tiles, hasInt8Tiles, tilesInSoftware, hasRange})
    text += choice ? '+' : '-';
  return text;
}
