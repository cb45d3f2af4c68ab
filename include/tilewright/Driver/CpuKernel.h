//===- CpuKernel.h - a program compiled for the host, ready to be called --------------*- C++
//-*-===//
//
// Joins the CPU backend (Codegen/Cpu) and the CPU device (Runtime): compiles a program once, turns
// checked arguments into slots, and picks the variant of the code that fits them.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_CPUKERNEL_H
#define TILEWRIGHT_DRIVER_CPUKERNEL_H

#include "tilewright/Codegen/Cpu/HostCode.h"
#include "tilewright/Runtime/Arguments.h"
#include "tilewright/Runtime/CpuDevice.h"

#include <mutex>

namespace tilewright::driver {

class CompiledCpuKernel {
public:
  using Options = cpu::CompileOptions;

  /// Compiles the one function of `module`, which must outlive the result: a call whose tensors
  /// overlap compiles a second variant.
  static llvm::Expected<std::unique_ptr<CompiledCpuKernel>> compile(mlir::ModuleOp module,
                                                                    const Options &options);

  /// Runs the kernel on arguments that `runtime::bindArguments` checked. May be called from several
  /// threads at once.
  llvm::Error run(llvm::ArrayRef<runtime::BoundArgument> arguments,
                  const runtime::CpuRunOptions &runOptions = {});

  /// How long each phase of the last compilation took.
  const std::vector<cpu::Phase> &getPhases() const { return phases; }

private:
  /// The program compiled under one assumption.
  struct Variant {
    std::unique_ptr<cpu::HostCode> code;
    host::Entry entry = nullptr;
  };

  CompiledCpuKernel(mlir::ModuleOp module, const Options &options);
  llvm::Error compileVariant(Variant &variant, bool assumeDisjoint);
  llvm::Error checkAlignment(llvm::ArrayRef<runtime::BoundArgument> arguments) const;
  bool hasOverlap(llvm::ArrayRef<runtime::BoundArgument> arguments) const;

  mlir::ModuleOp module;
  mlir::func::FuncOp function;
  Options options;
  llvm::SmallVector<bool> isWritten; ///< Which tensor arguments the program changes.
  std::vector<cpu::Phase> phases;
  Variant disjoint, overlapping;
  std::mutex mutex; ///< Guards the second variant's compilation.
};

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_CPUKERNEL_H
