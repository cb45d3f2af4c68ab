//===- GpuKernel.cpp - the variants of a program's GPU code -----------------------------------===//

#include "GpuKernel.h"
#include "tilewright/Tile/InternalError.h"
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

llvm::Expected<std::shared_ptr<const CompiledArtifact>>
GpuKernel::compile(PipelineOptions options, const frontend::Program::Lock &lock, bool &isNew) {
  isNew = false;
  {
    std::lock_guard lock(variantsMutex);
    for (const std::shared_ptr<const CompiledArtifact> &variant : variants)
      if (variant->calls == options.calls)
        return variant;
  }
  llvm::Expected<PipelineOptions> all = addEnvironment(std::move(options));
  if (!all)
    return all.takeError();
  func::FuncOp function = signature->function;
  for (const std::string &symbol : all->calls.divisibleSymbols)
    if (!hasSymbol(function, symbol))
      return makeProgramError("no shape of a parameter of '" + function.getName() +
                              "' has a symbol '" + symbol + "'");
  llvm::Expected<CompiledArtifact> artifact = compileOrLoad(program, lock, &arch, *all);
  if (!artifact)
    return artifact.takeError();
  isNew = true;
  auto variant = std::make_shared<CompiledArtifact>(std::move(*artifact));
  NoFork noFork;
  std::lock_guard variantsLock(variantsMutex);
  variants.push_back(variant);
  return variant;
}

llvm::Expected<std::shared_ptr<const CompiledArtifact>> GpuKernel::getCode(const CallFacts &calls) {
  PipelineOptions options;
  options.calls = calls;
  bool isNew = false;
  llvm::Expected<frontend::Program::Lock> lock = program->lock();
  if (!lock)
    return toProgramError(lock.takeError());
  return compile(std::move(options), *lock, isNew);
}

llvm::Error GpuKernel::compileFirst(const PipelineOptions &options) {
  bool isNew = false;
  llvm::Expected<frontend::Program::Lock> lock = program->lock();
  if (!lock)
    return toProgramError(lock.takeError());
  return compile(options, *lock, isNew).takeError();
}

std::vector<Decision> GpuKernel::getDecisions() const {
  std::vector<std::shared_ptr<const CompiledArtifact>> known;
  {
    std::lock_guard lock(variantsMutex);
    known = variants;
  }
  std::vector<Decision> all;
  std::vector<std::pair<std::vector<std::string>, bool>> told;
  for (const std::shared_ptr<const CompiledArtifact> &variant : known) {
    std::pair facts(variant->calls.divisibleSymbols, variant->calls.tensorMaps);
    if (llvm::is_contained(told, facts))
      continue;
    told.push_back(std::move(facts));
    llvm::append_range(all, variant->decisions);
  }
  return all;
}

llvm::Error makeUnexpectedMapsError() {
  return toProgramError(makeInternalError("code without tensor maps has tensor maps"));
}

} // namespace tilewright::driver
