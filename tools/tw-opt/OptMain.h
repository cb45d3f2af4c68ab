//===- OptMain.h - the program tw-opt as a function ---------------------------------*- C++ -*-===//
//
// A wheel has one shared object, which contains LLVM once. So the tools are functions: an executable of
// the build tree calls one, and so does an entry point of the Python package.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TOOLS_TW_OPT_OPTMAIN_H
#define TILEWRIGHT_TOOLS_TW_OPT_OPTMAIN_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tilewright::tools {

/// Runs tw-opt with these arguments; its exit status. `registerMore` adds passes. A process calls
/// it once, and does nothing with LLVM afterwards.
int runOpt(int argc, char **argv, llvm::function_ref<void()> registerMore = {});

} // namespace tilewright::tools

#endif // TILEWRIGHT_TOOLS_TW_OPT_OPTMAIN_H
