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

def CheckFragments : Pass<"tile-check-fragments"> {
  let summary = "Refuse fragments whose element is picked by a loaded value";
  let description = [{
    A fragment lives in registers, and a register has no address: its index must be known once loops
    are unrolled. The pass changes nothing; it fails where an index depends on memory.
  }];
}

def ExpandStatements : Pass<"tile-expand-statements"> {
  let summary = "Write copies, fills, tile atomics and im2col as tile.parallel loops";
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def FlattenLoops : Pass<"tile-flatten-loops"> {
  let summary = "Make one loop of a loop of elements inside another";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def UnrollFragmentLoops : Pass<"tile-unroll-fragment-loops"> {
  let summary = "Unroll serial loops whose variable indexes a fragment, so that registers have names";
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def ShrinkLoops : Pass<"tile-shrink-loops"> {
  let summary = "Leave out the iterations of loops that a branch on their variables skips";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def InferLayouts : Pass<"tile-infer-layouts"> {
  let summary = "Decide who holds each tile and who runs each iteration";
  let options = [
    Option<"arch", "arch", "std::string", [{"sm_80"}], "architecture whose instructions count">,
    Option<"alignment", "alignment", "int64_t", "16", "bytes that divide the address of arguments">];
}

def PlanAccesses : Pass<"tile-plan-accesses"> {
  let summary = "Choose and record the width of every access";
  let options = [
    Option<"arch", "arch", "std::string", [{"sm_80"}], "architecture whose instructions count">,
    Option<"alignment", "alignment", "int64_t", "16", "bytes that divide the address of arguments">];
}

def PlanPipeline : Pass<"tile-plan-pipeline"> {
  let summary = "Issue the copies of pipelined loops ahead of time, asynchronously";
  let options = [Option<"disjoint", "disjoint", "bool", "true",
                        "arguments of which one is written share no memory">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def PlanSharedMemory : Pass<"tile-plan-shared-memory"> {
  let summary = "Give every shared tile its place in the block's arena";
  let options = [Option<"arch", "arch", "std::string", [{"sm_80"}], "architecture whose limit holds">];
}

def InsertBarriers : Pass<"tile-insert-barriers"> {
  let summary = "Order conflicting accesses of a block's threads";
  let options = [Option<"disjoint", "disjoint", "bool", "true",
                        "arguments of which one is written share no memory">];
}

def FlattenBranches : Pass<"tile-flatten-branches"> {
  let summary = "Compute both sides of a choice between elements of tiles";
  let description = [{
    In element-wise loops, a branch with results whose sides only load elements of tiles that exist,
    with little arithmetic, becomes a selection.

    ```mlir
    %x = scf.if %c -> (f32) {               %a = tile.load %s[%i, %j] : ...
      %a = tile.load %s[%i, %j] : ...  ->   %x = arith.select %c, %a, %zero : f32
      scf.yield %a : f32
    } else { scf.yield %zero : f32 }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TurnTiles : Pass<"tile-turn-tiles"> {
  let summary = "Keep products of a changing right operand turned around";
  let description = [{
    A product whose right operand is transposed and changes in every turn of a loop, while the left
    one stays, becomes the transposed product. Tiles that loops and copies touch together with the
    result are turned around with it, if each of their uses allows it.

    ```mlir
    tile.gemm %q, %k, %s transpose_b : ...        tile.gemm %k, %q, %s transpose_b : ...
    tile.reduce max %s, %m dim 1 : ...       ->   tile.reduce max %s, %m dim 0 : ...
    tile.gemm %s, %v, %o : ...                    tile.gemm %s, %v, %o transpose_a : ...
    ```
  }];
}

def FuseLoops : Pass<"tile-fuse-loops"> {
  let summary = "Make one loop of neighbouring statements that go over the same elements";
  let description = [{
    Copies, fills, element-wise loops and reductions along the last dimension whose iterations
    touch, of all that they write, only elements of their own, run as one loop. Values stay in
    registers between them, and tiles that nobody reads any more are not stored.

    ```mlir
    tile.copy %X, %x : ...                      // one loop over 16 x 4096 elements
    tile.reduce sum %x, %total dim 1 clear : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def WalkRows : Pass<"tile-walk-rows"> {
  let summary = "Run a chain of statements row by row, so that a row stays in the caches";
  let description = [{
    Neighbouring loops over tiles of several long rows whose iterations touch, of all that they
    write, only their own row, become one loop over rows. A tile that is used nowhere else then
    needs room for one row.

    ```mlir
    tile.parallel (%i, %j) in (64, 4096) { ... }      scf.for %i = %c0 to %c64 step %c1 {
    tile.parallel (%i) in (64) { ... }           ->     tile.parallel (%j) in (4096) { ... }
    tile.parallel (%i, %j) in (64, 4096) { ... }        tile.parallel (%z) in (1) { ... }
                                                        tile.parallel (%j) in (4096) { ... }
                                                      }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def RereadRows : Pass<"tile-reread-rows"> {
  let summary = "Read a row of a tensor again instead of keeping a copy of it";
  let description = [{
    A tile of one long row that one loop fills with elements of a tensor, and that later loops of
    the same block read, goes: they read the tensor, which the kernel writes nowhere.

    ```mlir
    tile.parallel (%j) in (4096) {                    tile.parallel (%j) in (4096) {
      %v = tile.load %X[%i, %j]                         %v = tile.load %X[%i, %j]
      tile.store %v, %x[%c0, %j]                        ...
      ...                                             }
    }                                            ->   tile.parallel (%j) in (4096) {
    tile.parallel (%j) in (4096) {                      %v = tile.load %X[%i, %j]
      %v = tile.load %x[%c0, %j]                        ...
      ...                                             }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif
