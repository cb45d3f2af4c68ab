//===- Passes.td - the pass that re-verifies plans ------------------*- tablegen -*-===//
#ifndef TILEWRIGHT_PLANCHECK_PASSES_TD
#define TILEWRIGHT_PLANCHECK_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckPlans : Pass<"tile-check-plans"> {
  let summary = "Re-verify recorded access plans by enumeration";
  let description = [{
    Runs every distributed loop on paper and compares what the `#tile.access` plans of its accesses
    would touch with what its iterations name. The pass changes nothing; a plan that is wrong is an
    internal error on the access.

    ```mlir
    // error: internal error: the plan of 'dQ' (width 2) is wrong: slots 0, 1 of thread 0 lie 32
    // elements apart
    tile.atomic_element add %v, %dQ[%i, %j] {tile.access = #tile.access<width = 2, ...>} : ...
    ```
  }];
  let options = [
    Option<"arch", "arch", "std::string", [{"sm_80"}], "architecture whose instructions count">,
    Option<"alignment", "alignment", "int64_t", "16", "bytes that divide the address of arguments">];
}

#endif
