//===- OptMain.cpp - runs passes on textual tile IR -------------------------------------------===//
//
// Registers only the dialects that Tilewright uses.
//
//===----------------------------------------------------------------------------------------===//

#include "tw-opt/OptMain.h"

#include "tilewright/Codegen/Cpu/Passes.h"
#include "tilewright/Codegen/Nvptx/Ptx.h"
#include "tilewright/Driver/Reproducer.h"
#include "tilewright/PlanCheck/PlanCheck.h"
#include "tilewright/Support/Guarded.h"
#include "tilewright/Threads/Passes.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include <unistd.h>

int tilewright::tools::runOpt(int argc, char **argv, llvm::function_ref<void()> registerMore) {
  mlir::DialectRegistry registry;
  registry.insert<tilewright::tile::TileDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::scf::SCFDialect>();
  // Thread code, for the passes that come after tile IR.
  registry.insert<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect, mlir::cf::ControlFlowDialect>();
  mlir::registerTransformsPasses();
  tilewright::registerTilewrightThreadsPasses();
  tilewright::registerTilewrightPasses();
  tilewright::registerTilewrightPlanCheckPasses();
  tilewright::registerTilewrightCodegenCpuPasses();
  tilewright::nvptx::registerTilewrightNvptxPasses();
  if (registerMore)
    registerMore();
  tilewright::driver::registerDriverPasses();
  // One thread, whose stops are caught.
  llvm::SmallVector<char *> arguments(argv, argv + argc);
  char oneThread[] = "--mlir-disable-threading";
  arguments.push_back(oneThread);
  int code = EXIT_FAILURE;
  std::optional<std::string> stop = tilewright::runGuarded([&] {
    code = mlir::asMainReturnCode(mlir::MlirOptMain(static_cast<int>(arguments.size()),
                                                    arguments.data(), "Tilewright pass driver\n",
                                                    registry));
  });
  if (!stop)
    return code;
  llvm::errs() << "internal error: " << *stop << "; this is our bug: report it with the input\n";
  _exit(EXIT_FAILURE); // a thread stands in what would be destroyed
}
