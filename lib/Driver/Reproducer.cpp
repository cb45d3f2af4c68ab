//===- Reproducer.cpp - what is left of a compilation that stopped ----------------------------===//

#include "tilewright/Driver/Reproducer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace tilewright::driver {

/// The program, with the pipeline that stopped in the form that MLIR's own reproducers have.
static std::string makeText(ModuleOp module, StringRef target, const CallFacts &calls) {
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  for (auto function : copy->getOps<func::FuncOp>())
    calls.annotate(function);
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  copy->print(os, flags);
  os << "\n{-#\n  external_resources: {\n    mlir_reproducer: {\n"
     << "      pipeline: \"builtin.module(tile-compile{target=" << target
     << " alignment=" << calls.argumentAlignment
     << " disjoint=" << (calls.disjointArguments ? "true" : "false")
     << " tensor-maps=" << (calls.tensorMaps ? "true" : "false") << "})\",\n"
     << "      disable_threading: true,\n      verify_each: true\n    }\n  }\n#-}\n";
  return text;
}

/// Writes into the working directory, or where that cannot be, among temporary files. Gives the
/// file's name; empty if it cannot be written.
static std::string writeFile(StringRef text) {
  std::string name = "tw-crash-" + llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, 16);
  name += ".mlir";
  SmallString<128> temporary;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, temporary);
  llvm::sys::path::append(temporary, name);
  for (StringRef path : {StringRef(name), temporary.str()}) {
    // Of an earlier stop; and a link that another user has put here must not lead us anywhere.
    llvm::sys::fs::remove(path);
    int descriptor;
    if (llvm::sys::fs::openFileForWrite(path, descriptor, llvm::sys::fs::CD_CreateNew,
                                        llvm::sys::fs::OF_Text))
      continue;
    llvm::raw_fd_ostream file(descriptor, /*shouldClose=*/true);
    file << text;
    file.close();
    if (!file.has_error())
      return path.str();
    file.clear_error();
  }
  return {};
}

std::string reportStop(ModuleOp module, StringRef target, const CallFacts &calls,
                       StringRef reason) {
  std::string report = reason.rtrim().str() + "; this is our bug: ";
  std::string file = writeFile(makeText(module, target, calls));
  if (file.empty())
    return report + "report it with the program";
  return report + "report it with the file of 'tw-opt --run-reproducer " + file + "'";
}

} // namespace tilewright::driver
