//===- Passes.td - the lowering to host code as a pass --------------*- tablegen -*-===//
#ifndef TILEWRIGHT_CODEGEN_CPU_PASSES_TD
#define TILEWRIGHT_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToHost : Pass<"tile-lower-to-host", "::mlir::ModuleOp"> {
  let summary = "Lower tile IR to loops, vectors and memory accesses of the host";
  let description = [{
    Replaces every function by a host function and one block function a kernel, made of scf, arith,
    math, vector and LLVM operations (Codegen/Cpu/Lower.h). Decisions that span statements are read
    from the attributes that the `tile-plan-cpu-*` passes leave; without them code is correct and
    slower.

    ```mlir
    func.func @f(%A: ...) {                llvm.func @f.entry(%services: !llvm.ptr, %args: !llvm.ptr)
      tile.kernel (%bx) in (%g) ... {  ->  llvm.func internal @f.kernel0(...) {
        tile.fill %zero, %t : ...            scf.for %block = ... { scf.for ... { llvm.store ... } }
      }                                    }
    }
    ```
  }];
  let options = [
    Option<"disjoint", "disjoint", "bool", "true",
           "no argument that is written shares memory">,
    Option<"vectorWidth", "vector-width", "int64_t", "8", "float32 elements of the widest vector">,
    Option<"range", "range", "bool", "false", "the host has VRANGEPS (AVX512-DQ)">,
    Option<"tilesInSoftware", "tiles-in-software", "bool", "false",
           "functions stand for the instructions of the matrix unit">,
    Option<"readAheadBytes", "read-ahead-bytes", "int64_t", "8192",
           "how far ahead rows of large tensors are prefetched">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif
