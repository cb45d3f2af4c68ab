//===- Passes.td - code generation for GPUs as passes --------------*- tablegen -*-===//
#ifndef TILEWRIGHT_CODEGEN_NVPTX_PASSES_TD
#define TILEWRIGHT_CODEGEN_NVPTX_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToThreads : Pass<"tile-lower-to-threads", "::mlir::ModuleOp"> {
  let summary = "Write the code of one thread for each kernel";
  let description = [{
    Takes functions whose layouts, accesses, pipelines, shared memory and orderings are decided, and
    leaves one `llvm.func` for each kernel: the LLVM and NVVM dialects with `scf`, `arith` and `math`
    for what is not special to the GPU. No decision is made here: an op is lowered as its attributes
    say. A thread's share of a fragment is a stack array that only constants index.

    ```mlir
    func.func @f(%a: …) {                    llvm.func @f_kernel(%a: !llvm.ptr<1>) attributes {nvvm.kernel} {
      tile.kernel (%bx) in (%n) … {     ->     %tid = nvvm.read.ptx.sreg.tid.x
        tile.barrier                           nvvm.barrier0
      }                                        llvm.return
    }                                        }
    ```
  }];
  let options = [
    Option<"arch", "arch", "std::string", [{"sm_80"}], "architecture whose instructions count">,
    Option<"alignment", "alignment", "int64_t", "16", "bytes that divide the address of arguments">,
    Option<"disjoint", "disjoint", "bool", "true",
           "no argument that is written shares memory">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

def LowerMath : Pass<"tile-lower-math", "::mlir::ModuleOp"> {
  let summary = "Lower functions of floats to the device library and to instructions";
  let description = [{
    A function of the `math` dialect that PTX has no precise instruction for becomes a call of the
    device library. Under fast math it becomes an approximate instruction, if there is one, and sums
    of products may be contracted. Maxima and minima become the LLVM operations whose NaNs and zeros
    are the language's.

    ```mlir
    %e = math.exp %x : f32       ->    %e = llvm.call @__tw_exp_f32(%x) : (f32) -> f32
    %m = arith.maxnumf %e, %y : f32    %m = llvm.intr.maxnum(%e, %y) : (f32, f32) -> f32
    ```
  }];
  let options = [
    Option<"fastMath", "fast-math", "bool", "false", "approximate functions and contraction">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def ConvertToLlvm : Pass<"tile-convert-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert what is left of a thread's code to the LLVM dialect";
  let description = [{
    Applies MLIR's conversions of `arith`, `cf`, `math` and `nvvm` together, once `scf` is gone. One
    conversion is faster than one for each dialect.

    ```mlir
    %c = arith.addi %a, %b : i32      ->    %c = llvm.add %a, %b : i32
    cf.br ^next                             llvm.br ^next
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif
