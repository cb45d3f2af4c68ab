//===- CpuKernel.cpp - a program compiled for the host, ready to be called --------------------===//

#include "tilewright/Driver/CpuKernel.h"
#include "tilewright/Tile/Tile.h"

#include <cstring>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::driver;
using runtime::BoundArgument;
using runtime::BoundTensor;

/// For each argument, whether some statement writes or updates it.
static SmallVector<bool> findWritten(func::FuncOp function) {
  SmallVector<bool> written(function.getNumArguments(), false);
  std::optional<SmallVector<tile::Effect>> effects = tile::getEffects(function);
  if (!effects)
    return SmallVector<bool>(function.getNumArguments(), true);
  for (const tile::Effect &effect : *effects)
    if (auto argument = dyn_cast<BlockArgument>(effect.root))
      if (effect.kind != tile::EffectKind::Read && argument.getOwner() == &function.front())
        written[argument.getArgNumber()] = true;
  return written;
}

CompiledCpuKernel::CompiledCpuKernel(ModuleOp module, const Options &options)
    : module(module), function(*module.getOps<func::FuncOp>().begin()), options(options),
      isWritten(findWritten(function)) {}

llvm::Expected<std::unique_ptr<CompiledCpuKernel>>
CompiledCpuKernel::compile(ModuleOp module, const Options &options) {
  if (module.getOps<func::FuncOp>().empty())
    return llvm::createStringError("there is no function to compile");
  std::unique_ptr<CompiledCpuKernel> kernel(new CompiledCpuKernel(module, options));
  if (llvm::Error error = kernel->compileVariant(kernel->disjoint, /*assumeDisjoint=*/true))
    return error;
  return kernel;
}

llvm::Error CompiledCpuKernel::compileVariant(Variant &variant, bool assumeDisjoint) {
  cpu::CompileOptions compileOptions = options;
  compileOptions.lower.assumeDisjoint = assumeDisjoint;
  phases.clear();
  auto object = cpu::compileToObject(module, compileOptions, &phases);
  if (!object)
    return object.takeError();
  auto code = cpu::HostCode::link(std::move(*object));
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

namespace {
/// The bytes that a tensor occupies.
struct Extent {
  uintptr_t begin, end;

  explicit Extent(const BoundTensor &tensor) : begin(reinterpret_cast<uintptr_t>(tensor.data)) {
    int64_t elements = 1;
    for (int64_t extent : tensor.shape)
      elements *= extent;
    end = begin + elements * tile::getStorageBytes(tensor.elementType);
  }
  bool overlaps(const Extent &other) const { return begin < other.end && other.begin < end; }
};
} // namespace

bool CompiledCpuKernel::hasOverlap(ArrayRef<BoundArgument> arguments) const {
  for (auto [position, argument] : llvm::enumerate(arguments)) {
    auto *tensor = std::get_if<BoundTensor>(&argument);
    if (!tensor || !isWritten[position])
      continue;
    Extent extent(*tensor);
    for (auto [other, candidate] : llvm::enumerate(arguments))
      if (auto *second = std::get_if<BoundTensor>(&candidate))
        if (other != position && extent.overlaps(Extent(*second)))
          return true;
  }
  return false;
}

/// Elements must lie at multiples of their size; more is not assumed.
llvm::Error CompiledCpuKernel::checkAlignment(ArrayRef<BoundArgument> arguments) const {
  for (auto [position, argument] : llvm::enumerate(arguments)) {
    auto *tensor = std::get_if<BoundTensor>(&argument);
    if (!tensor)
      continue;
    int64_t bytes = tile::getStorageBytes(tensor->elementType);
    if (reinterpret_cast<uintptr_t>(tensor->data) % bytes == 0)
      continue;
    func::FuncOp named = function; // its accessors are not const
    auto name = named.getArgAttrOfType<StringAttr>(position, tile::kNameAttr);
    return llvm::createStringError("parameter '" + (name ? name.str() : std::to_string(position)) +
                                   "': its data is not aligned to the " + std::to_string(bytes) +
                                   " bytes of an element; pass a copy");
  }
  return llvm::Error::success();
}

llvm::Error CompiledCpuKernel::run(ArrayRef<BoundArgument> arguments,
                                   const runtime::CpuRunOptions &runOptions) {
  if (llvm::Error error = checkAlignment(arguments))
    return error;
  Variant *variant = &disjoint;
  if (hasOverlap(arguments)) {
    std::lock_guard lock(mutex);
    variant = &overlapping;
    if (!variant->entry)
      if (llvm::Error error = compileVariant(*variant, /*assumeDisjoint=*/false))
        return error;
  }
  SmallVector<uint64_t> slots;
  for (const BoundArgument &argument : arguments) {
    uint64_t slot = 0;
    if (auto *tensor = std::get_if<BoundTensor>(&argument))
      std::memcpy(&slot, &tensor->data, sizeof(slot));
    else if (auto *integer = std::get_if<int64_t>(&argument))
      slot = static_cast<uint64_t>(*integer);
    else
      std::memcpy(&slot, &std::get<double>(argument), sizeof(slot));
    slots.push_back(slot);
  }
  return runtime::runOnCpu(variant->entry, slots, runOptions);
}
