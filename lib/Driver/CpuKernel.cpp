//===- CpuKernel.cpp - a program compiled for the host, ready to be called --------------------===//

#include "tilewright/Driver/CpuKernel.h"
#include "tilewright/Driver/Reproducer.h"
#include "tilewright/Runtime/DiskCache.h"
#include "tilewright/Support/BuildId.h"
#include "tilewright/Support/Environment.h"
#include "tilewright/Support/Guarded.h"
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

CompiledCpuKernel::CompiledCpuKernel(ModuleOp module, ForkedMutex &moduleMutex,
                                     const Options &options)
    : module(module), moduleMutex(moduleMutex), function(*module.getOps<func::FuncOp>().begin()),
      options(options), isWritten(findWritten(function)),
      dependsOnBlockOrder(contains<tile::AtomicOp, tile::AtomicElementOp>(function)),
      printsSomething(contains<tile::PrintOp>(function)) {}

llvm::Expected<std::unique_ptr<CompiledCpuKernel>>
CompiledCpuKernel::compile(ModuleOp module, ForkedMutex &moduleMutex, const Options &options) {
  if (module.getOps<func::FuncOp>().empty())
    return llvm::createStringError("there is no function to compile");
  if (llvm::Error error = environment::check())
    return error;
  std::unique_ptr<CompiledCpuKernel> kernel(new CompiledCpuKernel(module, moduleMutex, options));
  if (llvm::Error error = kernel->makeVariant(kernel->disjoint, /*assumeDisjoint=*/true))
    return error;
  return kernel;
}

//===----------------------------------------------------------------------------------------===//
// Entries of the cache
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

/// A line with the decisions as JSON, then the object code.
static std::string writeEntry(ArrayRef<Decision> decisions, StringRef object) {
  std::string content;
  llvm::raw_string_ostream os(content);
  os << llvm::json::Value(llvm::json::Array(decisions)) << '\n' << object;
  return content;
}

/// The object code of an entry; nothing where the decisions are not what `writeEntry` makes.
static std::optional<StringRef> readEntry(StringRef content, std::vector<Decision> &decisions) {
  auto [line, object] = content.split('\n');
  auto read = llvm::json::parse<std::vector<Decision>>(line);
  if (!read) {
    llvm::consumeError(read.takeError());
    return std::nullopt;
  }
  decisions = std::move(*read);
  return object;
}

//===----------------------------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------------------------===//

llvm::Error CompiledCpuKernel::makeVariant(Variant &variant, bool assumeDisjoint) {
  NoFork noFork;
  Options variantOptions = options;
  variantOptions.code.lower.assumeDisjoint = assumeDisjoint;
  if (options.isShown()) {
    llvm::Expected<std::string> object = compileGuarded(variant, variantOptions);
    return object ? linkVariant(variant, *object) : object.takeError();
  }
  auto start = std::chrono::steady_clock::now();
  std::shared_ptr<DiskCache> cache = DiskCache::getShared();
  std::string name = makeEntryName(module, variantOptions.code);
  if (std::optional<std::string> found = cache->lookup(name))
    if (std::optional<StringRef> object = readEntry(*found, variant.decisions)) {
      variant.isFromCache = true;
      llvm::Error error = linkVariant(variant, *object);
      if (!error) {
        std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
        variant.phases.push_back({"load from the cache", taken.count()});
        return llvm::Error::success();
      }
      llvm::consumeError(std::move(error)); // compiled anew, and the entry with it
      variant.isFromCache = false;
      variant.decisions.clear();
    }
  llvm::Expected<std::string> object = compileGuarded(variant, variantOptions);
  if (!object)
    return object.takeError();
  if (llvm::Error error = linkVariant(variant, *object))
    return error;
  cache->store(name, writeEntry(variant.decisions, *object));
  return llvm::Error::success();
}

/// A thread that stops still refers to what it has made by then: that is its own until it ends.
llvm::Expected<std::string> CompiledCpuKernel::compileGuarded(Variant &variant,
                                                              const Options &variantOptions) {
  std::optional<llvm::Expected<std::string>> object;
  std::optional<std::string> stop = runGuarded([&] {
    Code code;
    object.emplace(compileVariant(code, variantOptions));
    variant.phases = std::move(code.phases);
    variant.decisions = std::move(code.decisions);
  });
  if (!stop)
    return std::move(*object);
  CallFacts calls;
  calls.disjointArguments = variantOptions.code.lower.assumeDisjoint;
  return llvm::createStringError(reportStop(module, "cpu", calls, *stop));
}

llvm::Expected<std::string> CompiledCpuKernel::compileVariant(Code &variant,
                                                              const Options &variantOptions) {
  auto start = std::chrono::steady_clock::now();
  PipelineOptions passes = variantOptions.passes;
  const cpu::HostTarget &target = variantOptions.code.target;
  passes.calls.disjointArguments = variantOptions.code.lower.assumeDisjoint;
  passes.host = {target.vectorWidth, target.hasBf16Dots, target.hasInt8Dots};
  auto prepared = prepareForCpu(module, variant.decisions, passes);
  if (failed(prepared))
    return llvm::createStringError("internal error: the program could not be prepared");
  std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  variant.phases.push_back({"fuse statements", taken.count()});
  auto compiled = cpu::compileToObject(**prepared, variantOptions.code, &variant.phases);
  if (!compiled)
    return compiled.takeError();
  return (*compiled)->getBuffer().str();
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

/// The code for calls with overlap, compiled when the first one comes.
llvm::Expected<host::Entry> CompiledCpuKernel::getOverlappingEntry() {
  if (host::Entry entry = overlapping.entry)
    return entry;
  std::lock_guard lock(moduleMutex);
  if (!overlapping.entry) // another thread may have been faster
    if (llvm::Error error = makeVariant(overlapping, /*assumeDisjoint=*/false))
      return error;
  return overlapping.entry;
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
  host::Entry entry = disjoint.entry;
  if (hasOverlap(arguments)) {
    llvm::Expected<host::Entry> overlap = getOverlappingEntry();
    if (!overlap)
      return overlap.takeError();
    entry = *overlap;
  }
  if (!runOptions.isDeterministic || dependsOnBlockOrder)
    return runtime::runOnCpu(entry, arguments.slots, runOptions);
  runtime::CpuRunOptions anyOrder = runOptions;
  anyOrder.isDeterministic = false;
  return runtime::runOnCpu(entry, arguments.slots, anyOrder);
}

//===----------------------------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------------------------===//

std::vector<Decision> CompiledCpuKernel::getDecisions() const {
  std::vector<Decision> all = disjoint.decisions;
  if (!overlapping.entry)
    return all;
  Decision decision;
  if (auto place = function->getLoc()->findInstanceOf<FileLineColLoc>()) {
    decision.file = place.getFilename().str();
    decision.line = place.getLine();
    decision.column = place.getColumn();
  }
  decision.kind = "overlap";
  decision.message = "a call has arguments that share memory with one that is written: it and its "
                     "like run code in which no statements run together";
  all.push_back(std::move(decision));
  llvm::append_range(all, overlapping.decisions);
  return all;
}
