//===- Lower.h - tile IR becomes loops and vectors for the host ---------------------*- C++ -*-===//
//
// The first half of the CPU backend: from a module of tile IR to one of scf, arith, math, vector
// and LLVM memory operations, which HostCode.h turns into machine code. Kept apart so that it can
// be read, printed and tested without running anything.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_CODEGEN_CPU_LOWER_H
#define TILEWRIGHT_CODEGEN_CPU_LOWER_H

#include "tilewright/Tile/CallFacts.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilewright::cpu {

struct LowerOptions {
  /// What holds for every call of the code; the launcher makes sure.
  CallFacts calls;
  /// Elements of the widest float32 vector of the host: 16 with AVX-512, 8 with AVX2.
  unsigned vectorWidth = 8;
  /// The host picks the greater of two numbers with a NaN on neither side (AVX512-DQ).
  bool hasRange = false;
  /// Instructions of the matrix unit are calls of functions that do the same (Rt/TileUnit.h).
  bool tilesInSoftware = false;
  /// How far ahead rows of large tensors are prefetched.
  int64_t readAheadBytes = 8192;
};

/// The name of the host function built for the function `name`; its type is host::Entry.
std::string getEntryName(llvm::StringRef name);

/// Builds a new module with the host code of every function of `module`, in dialects that
/// `loadHostDialects` has loaded. Null if an error was emitted.
mlir::OwningOpRef<mlir::ModuleOp> lowerToHost(mlir::ModuleOp module, const LowerOptions &options);

/// Loads the dialects that the lowering and the translation to LLVM IR need.
void loadHostDialects(mlir::MLIRContext &context);

} // namespace tilewright::cpu

#endif // TILEWRIGHT_CODEGEN_CPU_LOWER_H
