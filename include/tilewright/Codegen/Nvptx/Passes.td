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
           "arguments of which one is written share no memory">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif
