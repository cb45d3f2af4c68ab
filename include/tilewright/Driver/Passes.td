//===- Passes.td - whole compilations as passes, for tw-opt --------*- tablegen -*-===//
#ifndef TILEWRIGHT_DRIVER_PASSES_TD
#define TILEWRIGHT_DRIVER_PASSES_TD

include "mlir/Pass/PassBase.td"

def Compile : Pass<"tile-compile", "::mlir::ModuleOp"> {
  let summary = "Check and compile a module for the CPU or a GPU, and keep no code";
  let description = [{
    Runs what a call from Python runs, so that the reproducer of a failed compilation
    (`tw-opt --run-reproducer`) takes the same way. The module stays as it is.

    ```mlir
    // tw-opt --tile-compile=target=sm_80 kernel.mlir
    func.func @f(%a: memref<64xf32, #tile.space<global>>) { … }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", [{"cpu"}], "'cpu' or an architecture">,
    Option<"alignment", "alignment", "int64_t", "16",
           "bytes that divide the address of every tensor">,
    Option<"disjoint", "disjoint", "bool", "true",
           "no tensor that is written shares memory with another">,
    Option<"tensorMaps", "tensor-maps", "bool", "true", "launches can encode tensor maps">];
}

#endif
