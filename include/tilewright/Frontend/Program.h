//===- Program.h - a traced function with the context that owns it ------------------*- C++ -*-===//

#ifndef TILEWRIGHT_FRONTEND_PROGRAM_H
#define TILEWRIGHT_FRONTEND_PROGRAM_H

#include "tilewright/Support/Forks.h"
#include "tilewright/Support/Guarded.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <mutex>
#include <string>

namespace tilewright::frontend {

/// Tile IR of one prim_func. Each program has a context of its own: programs are compiled in
/// parallel and freed whole.
class Program {
public:
  Program(std::shared_ptr<mlir::MLIRContext> context, mlir::OwningOpRef<mlir::ModuleOp> module)
      : context(std::move(context)), module(std::move(module)) {}

  mlir::ModuleOp getModule() const { return *module; }
  mlir::func::FuncOp getFunction() const {
    return *mlir::ModuleOp(*module).getOps<mlir::func::FuncOp>().begin();
  }
  std::string getText(bool withLocations) const;

  /// A copy, in a context of its own, that differs in a unit attribute of the function, as
  /// `tile.fast_math`; null if MLIR cannot read back what it wrote.
  std::unique_ptr<Program> withSetting(llvm::StringRef name, bool isSet) const;

  /// Held by whoever compiles or interprets the program: its context is for one thread at a time.
  using Lock = std::unique_lock<ForkedMutex>;
  /// Waits until the context is free, also of a compilation that was abandoned. The error is an
  /// interruption of the wait.
  llvm::Expected<Lock> lock() const;
  /// The context is in use until this work is over, though its caller lets go of the lock.
  void leaveTo(std::shared_ptr<AbandonableWork> work, const Lock &) const {
    abandoned = std::move(work);
  }

private:
  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mutable ForkedMutex mutex;
  mutable std::shared_ptr<AbandonableWork> abandoned; ///< Guarded by the mutex.
};

/// A context with the dialects of tile programs loaded.
std::unique_ptr<mlir::MLIRContext> makeContext();

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_PROGRAM_H
