//===- CpuKernel.cpp - a program compiled for the host, ready to be called --------------------===//

#include "tilewright/Driver/CpuKernel.h"
#include "tilewright/Driver/CallFacts.h"
#include "tilewright/Driver/Pipeline.h"
#include "tilewright/Runtime/DiskCache.h"
#include "tilewright/Support/BuildId.h"
#include "tilewright/Tile/Tile.h"

#include "llvm/ADT/bit.h"
#include <chrono>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::driver;
using runtime::BoundArgument;
using runtime::BoundTensor;
using runtime::DiskCache;

template <typename... OpTs> static bool contains(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        return isa<OpTs...>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

CompiledCpuKernel::CompiledCpuKernel(ModuleOp module, const Options &options)
    : module(module), function(*module.getOps<func::FuncOp>().begin()), options(options),
      isWritten(findWritten(function)),
      dependsOnBlockOrder(contains<tile::AtomicOp, tile::AtomicElementOp>(function)),
      printsSomething(contains<tile::PrintOp>(function)) {}

llvm::Expected<std::unique_ptr<CompiledCpuKernel>>
CompiledCpuKernel::compile(ModuleOp module, const Options &options) {
  if (module.getOps<func::FuncOp>().empty())
    return llvm::createStringError("there is no function to compile");
  std::unique_ptr<CompiledCpuKernel> kernel(new CompiledCpuKernel(module, options));
  if (llvm::Error error = kernel->makeVariant(kernel->disjoint, /*assumeDisjoint=*/true))
    return error;
  return kernel;
}

//===----------------------------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------------------------===//

/// The name of a variant's object code in the cache: everything that the code depends on. Positions
/// are part of the program, because messages of compiled code name them.
static std::string makeEntryName(ModuleOp module, const cpu::CompileOptions &options) {
  std::string program;
  llvm::raw_string_ostream os(program);
  OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  module.print(os, flags);
  std::string width = std::to_string(options.target.vectorWidth);
  StringRef overlap = options.lower.assumeDisjoint ? "disjoint" : "overlapping";
  return DiskCache::makeName(
      "cpu", {getBuildId(), options.target.cpu, options.target.features, width, overlap, program});
}

llvm::Error CompiledCpuKernel::makeVariant(Variant &variant, bool assumeDisjoint) {
  Options variantOptions = options;
  variantOptions.lower.assumeDisjoint = assumeDisjoint;
  phases.clear();
  std::string object;
  if (options.dump)
    return compileVariant(variant, variantOptions, object);
  auto start = std::chrono::steady_clock::now();
  std::shared_ptr<DiskCache> cache = DiskCache::getShared();
  std::string name = makeEntryName(module, variantOptions);
  if (std::optional<std::string> found = cache->lookup(name)) {
    llvm::Error error = linkVariant(variant, *found);
    if (!error) {
      variant.isFromCache = true;
      std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
      phases.push_back({"load from the cache", taken.count()});
      return llvm::Error::success();
    }
    llvm::consumeError(std::move(error)); // compiled anew, and the entry with it
  }
  if (llvm::Error error = compileVariant(variant, variantOptions, object))
    return error;
  cache->store(name, object);
  return llvm::Error::success();
}

/// The program with statements that run together where the variant permits it.
static OwningOpRef<ModuleOp> fuseStatements(ModuleOp module, const cpu::CompileOptions &options) {
  OwningOpRef<ModuleOp> fused = cast<ModuleOp>(module->clone());
  if (!options.lower.assumeDisjoint)
    return fused;
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
  });
  PassManager pm(module.getContext());
  buildCpuPipeline(pm);
  if (failed(pm.run(*fused)))
    return {};
  return fused;
}

llvm::Error CompiledCpuKernel::compileVariant(Variant &variant, const Options &variantOptions,
                                              std::string &object) {
  auto start = std::chrono::steady_clock::now();
  OwningOpRef<ModuleOp> fused = fuseStatements(module, variantOptions);
  if (!fused)
    return llvm::createStringError("internal error: the program could not be fused");
  std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  phases.push_back({"fuse statements", taken.count()});
  auto compiled = cpu::compileToObject(*fused, variantOptions, &phases);
  if (!compiled)
    return compiled.takeError();
  object = (*compiled)->getBuffer().str();
  return linkVariant(variant, object);
}

llvm::Error CompiledCpuKernel::linkVariant(Variant &variant, StringRef object) {
  auto code = cpu::HostCode::link(llvm::MemoryBuffer::getMemBufferCopy(object, "tilewright.o"));
  if (!code)
    return code.takeError();
  llvm::Expected<host::Entry> entry = (*code)->lookup(function.getName());
  if (!entry)
    return entry.takeError();
  variant.code = std::move(*code);
  variant.entry = *entry;
  return llvm::Error::success();
}

//===----------------------------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------------------------===//

uint64_t tilewright::driver::toSlot(const BoundArgument &argument) {
  if (auto *tensor = std::get_if<BoundTensor>(&argument))
    return reinterpret_cast<uintptr_t>(tensor->data);
  if (auto *integer = std::get_if<int64_t>(&argument))
    return static_cast<uint64_t>(*integer);
  return llvm::bit_cast<uint64_t>(std::get<double>(argument));
}

CpuArguments CompiledCpuKernel::makeArguments(ArrayRef<BoundArgument> arguments) const {
  CpuArguments result;
  for (auto [position, argument] : llvm::enumerate(arguments)) {
    result.slots.push_back(toSlot(argument));
    if (auto *tensor = std::get_if<BoundTensor>(&argument)) {
      int64_t elementBytes = tile::getStorageBytes(tensor->elementType), bytes = elementBytes;
      for (int64_t extent : tensor->shape)
        bytes *= extent;
      result.tensors.push_back({unsigned(position), bytes, elementBytes, isWritten[position]});
    }
  }
  return result;
}

/// Whether a tensor that is written shares bytes with another one.
static bool hasOverlap(const CpuArguments &arguments) {
  SmallVector<TensorBytes, 8> tensors;
  for (const CpuArguments::Tensor &tensor : arguments.tensors)
    tensors.push_back({arguments.slots[tensor.position], tensor.bytes, tensor.isWritten});
  return haveOverlap(tensors);
}

/// Elements must lie at multiples of their size; more is not assumed.
llvm::Error CompiledCpuKernel::checkAlignment(const CpuArguments &arguments) const {
  for (const CpuArguments::Tensor &tensor : arguments.tensors) {
    if (arguments.slots[tensor.position] % tensor.elementBytes == 0 || tensor.bytes == 0)
      continue;
    func::FuncOp named = function; // its accessors are not const
    auto name = named.getArgAttrOfType<StringAttr>(tensor.position, tile::kNameAttr);
    return llvm::createStringError(
        "parameter '" + (name ? name.str() : std::to_string(tensor.position)) +
        "': its data is not aligned to the " + std::to_string(tensor.elementBytes) +
        " bytes of an element; pass a copy");
  }
  return llvm::Error::success();
}

llvm::Error CompiledCpuKernel::run(const CpuArguments &arguments,
                                   const runtime::CpuRunOptions &runOptions) {
  if (llvm::Error error = checkAlignment(arguments))
    return error;
  Variant *variant = &disjoint;
  if (hasOverlap(arguments)) {
    std::lock_guard lock(mutex);
    variant = &overlapping;
    if (!variant->entry)
      if (llvm::Error error = makeVariant(*variant, /*assumeDisjoint=*/false))
        return error;
  }
  if (!runOptions.isDeterministic || dependsOnBlockOrder)
    return runtime::runOnCpu(variant->entry, arguments.slots, runOptions);
  runtime::CpuRunOptions anyOrder = runOptions;
  anyOrder.isDeterministic = false;
  return runtime::runOnCpu(variant->entry, arguments.slots, anyOrder);
}
