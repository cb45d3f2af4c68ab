//===- Passes.td - passes on tile IR --------------------------------*- tablegen -*-===//
#ifndef TILEWRIGHT_TRANSFORMS_PASSES_TD
#define TILEWRIGHT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckParallel : Pass<"tile-check-parallel"> {
  let summary = "Refuse T.Parallel loops whose iterations are not independent";
  let description = [{
    Iterations of `tile.parallel` may not read or write what another iteration writes, atomics and
    equal values excepted. The pass changes nothing; it fails with both statements, both iterations
    and the element.

    ```mlir
    tile.parallel (%i) in (64) {
      %h = tile.floordiv %i, %c2 : index
      %v = tile.load %A[%i] : ...
      tile.store %v, %B[%h] : ...      // error: (0) writes and (1) writes the same element of 'B'[0]
    }
    ```
  }];
}

#endif
