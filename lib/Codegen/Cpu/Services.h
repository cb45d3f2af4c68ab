//===- Services.h - calls of the runtime from compiled code -------------------------*- C++ -*-===//
//
// Compiled code reaches the runtime through a table of function pointers (Support/HostAbi.h) that
// it gets as an argument. Each function being built has its own `Services`.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_SERVICES_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_SERVICES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright::cpu {

/// The services of the runtime, by their positions in host::Services.
enum class Service : unsigned {
  Launch,
  Allocate,
  AllocateInBlock,
  Fail,
  Print,
  LockRow,
  UnlockRow,
  Poll
};

/// Constant strings of a module, named after the function that needs them.
class Texts {
public:
  Texts(mlir::ModuleOp module, std::string prefix) : module(module), prefix(std::move(prefix)) {}

  /// The address of a copy of `text`, which is not empty.
  mlir::Value make(mlir::ImplicitLocOpBuilder &b, llvm::StringRef text);

private:
  mlir::ModuleOp module;
  std::string prefix;
  unsigned count = 0;
};

class Services {
public:
  /// `table` is the function's argument with the services.
  Services(mlir::ImplicitLocOpBuilder &b, mlir::Value table, Texts &texts)
      : b(b), table(table), texts(texts) {}

  void call(Service member, llvm::ArrayRef<mlir::Value> operands);
  void poll();
  /// Memory for the whole launch.
  mlir::Value allocate(mlir::Value bytes);
  /// Memory of the worker, valid until the same statement asks again.
  mlir::Value allocateInBlock(mlir::Value bytes);
  /// Ends the launch with a message at the statement that is being lowered. `named`, of 64 bits,
  /// takes the place of a character 1 in the message.
  void fail(llvm::StringRef message, mlir::Value named = {});
  mlir::Value makeText(llvm::StringRef text) { return texts.make(b, text); }

private:
  mlir::ImplicitLocOpBuilder &b;
  mlir::Value table;
  Texts &texts;
  int64_t numAllocations = 0; ///< Of memory whose size only the launch knows.
};

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_SERVICES_H
