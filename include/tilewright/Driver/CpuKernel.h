//===- CpuKernel.h - a program compiled for the host, ready to be called ------------*- C++ -*-===//
//
// Joins the CPU backend (Codegen/Cpu) and the CPU device (Runtime): compiles a program once, or
// finds what an earlier process compiled (Runtime/DiskCache.h), turns checked arguments into slots,
// and picks the variant of the code that fits them.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_CPUKERNEL_H
#define TILEWRIGHT_DRIVER_CPUKERNEL_H

#include "tilewright/Codegen/Cpu/HostCode.h"
#include "tilewright/Driver/Pipeline.h"
#include "tilewright/Runtime/Arguments.h"
#include "tilewright/Runtime/CpuDevice.h"
#include "tilewright/Support/Forks.h"

#include <atomic>

namespace tilewright::driver {

/// Arguments in the form that compiled code takes, one slot each, and what must be known of tensors
/// to tell whether their addresses fit. A call with equal shapes and dtypes differs only in
/// addresses and scalars, so that one of these is made once and its slots are changed.
struct CpuArguments {
  struct Tensor {
    unsigned position; ///< In the slots.
    int64_t bytes;     ///< What it occupies.
    int64_t elementBytes;
    bool isWritten;
  };
  llvm::SmallVector<uint64_t, 12> slots;
  llvm::SmallVector<Tensor, 8> tensors;
};

/// An argument as compiled code takes it.
uint64_t toSlot(const runtime::BoundArgument &argument);

class CompiledCpuKernel {
public:
  struct Options {
    cpu::CompileOptions code;
    /// Which passes are shown, and to whom.
    PipelineOptions passes;

    /// Code that is shown is always compiled.
    bool isShown() const { return code.dump || passes.afterPass; }
  };

  /// Compiles the one function of `module` for a caller who holds `moduleMutex`, which keeps the
  /// module's context to one thread. Both must outlive the result: a call whose tensors overlap
  /// takes the mutex and compiles a second variant.
  static llvm::Expected<std::unique_ptr<CompiledCpuKernel>>
  compile(mlir::ModuleOp module, ForkedMutex &moduleMutex, const Options &options);

  /// The slots of arguments that `runtime::bindArguments` checked.
  CpuArguments makeArguments(llvm::ArrayRef<runtime::BoundArgument> arguments) const;

  /// Runs the kernel. May be called from several threads at once.
  llvm::Error run(const CpuArguments &arguments, const runtime::CpuRunOptions &runOptions = {});

  /// How long each phase of the compilation took, for calls without overlap.
  const std::vector<PhaseTime> &getPhases() const { return disjoint.phases; }
  /// Whether the code of calls without overlap was found on disk.
  bool isFromCache() const { return disjoint.isFromCache; }
  /// What the compiler decided, up to now: a call may need another variant.
  std::vector<Decision> getDecisions() const;
  /// Whether calls print.
  bool hasPrints() const { return printsSomething; }

private:
  /// How a compilation went.
  struct Code {
    std::vector<PhaseTime> phases;
    std::vector<Decision> decisions;
  };
  /// The program compiled under one assumption.
  struct Variant : Code {
    std::unique_ptr<cpu::HostCode> code;
    std::atomic<host::Entry> entry = nullptr; ///< Set last: who sees it may use all the others.
    bool isFromCache = false;
  };

  CompiledCpuKernel(mlir::ModuleOp module, ForkedMutex &moduleMutex, const Options &options);
  llvm::Error makeVariant(Variant &variant, bool assumeDisjoint);
  llvm::Expected<std::string> compileGuarded(Variant &variant, const Options &variantOptions);
  llvm::Expected<std::string> compileVariant(Code &variant, const Options &variantOptions);
  llvm::Error linkVariant(Variant &variant, llvm::StringRef object);
  llvm::Expected<host::Entry> getOverlappingEntry();
  llvm::Error checkAlignment(const CpuArguments &arguments) const;

  mlir::ModuleOp module;
  ForkedMutex &moduleMutex;
  mlir::func::FuncOp function;
  Options options;
  llvm::SmallVector<bool> isWritten; ///< Which tensor arguments the program changes.
  /// Blocks update what they share, so that their order can show in a result: in the rounding of a
  /// sum, or in the previous value that an update returns.
  bool dependsOnBlockOrder;
  bool printsSomething;
  Variant disjoint, overlapping;
};

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_CPUKERNEL_H
