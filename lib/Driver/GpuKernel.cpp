//===- GpuKernel.cpp - the variants of a program's GPU code -----------------------------------===//

#include "GpuKernel.h"
#include "tilewright/Tile/Tile.h"

using namespace mlir;
using tilewright::driver::CompiledArtifact;

namespace tilewright::driver {

static bool hasSymbol(func::FuncOp function, StringRef name) {
  for (unsigned position = 0; position < function.getNumArguments(); ++position)
    if (auto symbol = function.getArgAttrOfType<StringAttr>(position, tile::kSymbolAttr);
        symbol && symbol.getValue() == name)
      return true;
  return false;
}

llvm::Expected<std::shared_ptr<const CompiledArtifact>> GpuKernel::compile(PipelineOptions options,
                                                                           bool &isNew) {
  llvm::Expected<PipelineOptions> all = addEnvironment(std::move(options));
  if (!all)
    return all.takeError();
  func::FuncOp function = signature->function;
  for (const std::string &symbol : all->calls.divisibleSymbols)
    if (!hasSymbol(function, symbol))
      return makeProgramError("no shape of a parameter of '" + function.getName() +
                              "' has a symbol '" + symbol + "'");
  isNew = false;
  {
    std::lock_guard lock(variantsMutex);
    for (const std::shared_ptr<const CompiledArtifact> &variant : variants)
      if (variant->calls == all->calls)
        return variant;
  }
  llvm::Expected<CompiledArtifact> artifact = compileOrLoad(program->getModule(), &arch, *all);
  if (!artifact)
    return artifact.takeError();
  isNew = true;
  auto variant = std::make_shared<CompiledArtifact>(std::move(*artifact));
  NoFork noFork;
  std::lock_guard lock(variantsMutex);
  variants.push_back(variant);
  return variant;
}

llvm::Expected<std::shared_ptr<const CompiledArtifact>> GpuKernel::getCode(const CallFacts &calls) {
  PipelineOptions options;
  options.calls = calls;
  bool isNew = false;
  std::lock_guard lock(program->getMutex());
  return compile(std::move(options), isNew);
}

llvm::Error GpuKernel::compileFirst(const PipelineOptions &options) {
  bool isNew = false;
  std::lock_guard lock(program->getMutex());
  return compile(options, isNew).takeError();
}

std::vector<Decision> GpuKernel::getDecisions() const {
  std::vector<std::shared_ptr<const CompiledArtifact>> known;
  {
    std::lock_guard lock(variantsMutex);
    known = variants;
  }
  std::vector<Decision> all;
  std::vector<std::vector<std::string>> told;
  for (const std::shared_ptr<const CompiledArtifact> &variant : known) {
    const std::vector<std::string> &divisible = variant->calls.divisibleSymbols;
    if (llvm::is_contained(told, divisible))
      continue;
    told.push_back(divisible);
    llvm::append_range(all, variant->decisions);
  }
  return all;
}

} // namespace tilewright::driver
