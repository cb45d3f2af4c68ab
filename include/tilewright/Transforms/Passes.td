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

    ```mlir
    %k = tile.load %I[%i] : ...
    %v = tile.load %f[%k] : ...      // error: 'f' is a fragment: its index must be known …
    ```
  }];
}

def CheckBlocks : Pass<"tile-check-blocks"> {
  let summary = "Refuse kernels whose blocks certainly race";
  let description = [{
    Blocks of the grid may not read or write what another block writes, atomics and equal values
    excepted. The pass changes nothing; it fails where two blocks certainly do, with the statements,
    the blocks and the element.

    ```mlir
    tile.kernel (%bx) in (%c4) threads [64] {
      %a = tile.slice %A[%row, 0] [1, 64] [1, 1] drop [0] : ...    // a row of the block's own
      tile.copy %a, %B : ...     // error: blocks (0) and (1) both write 'B'[0], each with …
    }
    ```
  }];
}

def CheckUnwritten : Pass<"tile-check-unwritten"> {
  let summary = "Refuse reads of tiles that no statement has written";
  let description = [{
    A tile that is read, or accumulated into, when no statement on any path before writes any of its
    elements holds no value. The pass changes nothing; it fails at the read and says what to add.

    ```mlir
    %c = tile.alloc "c" : memref<64x64xf32, #tile.space<fragment>>
    tile.gemm %a, %b, %c : ...      // error: 'c' is read before anything writes it; …
    ```
  }];
}

def CheckBounds : Pass<"tile-check-bounds"> {
  let summary = "Refuse accesses that certainly leave their on-chip tile";
  let description = [{
    An on-chip tile has no elements outside its extents, and no safe value there. The pass changes
    nothing; it fails at an access that leaves its tile at some point of the program, whatever the
    data, and names the element and the iteration.

    ```mlir
    tile.parallel (%i, %j) in (8, 16) {
      %k = arith.addi %j, %c2 : index
      %v = tile.load %s[%i, %k] : memref<8x16xf32, #tile.space<shared>>
                                     // error: read of 's' at [0, 16] is outside its extents (8, 16)
    ```
  }];
}

def GuardTiles : Pass<"tile-guard-tiles"> {
  let summary = "Test accesses of on-chip tiles whose indices do not prove that they stay inside";
  let description = [{
    An access of an on-chip tile that may leave its extents gets an assertion for each dimension
    without a proof. Proofs use the ranges of loops, the branches around the access, and `T.assume`.

    ```mlir
    %k = tile.cast %v from i32 to index      ->    %k = tile.cast %v from i32 to index
    %x = tile.load %s[%k] : ...                    %b = arith.cmpi ult, %k, %c16 : index
                                                   tile.assert %b, "an index of 's' is …"
                                                   %x = tile.load %s[%k] : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def GuardBlocks : Pass<"tile-guard-blocks"> {
  let summary = "Stop launches whose blocks certainly race";
  let description = [{
    Blocks that certainly race in each launch are refused by `tile-check-blocks`. Where the grid has
    them in some launches only, since its extent is known at run time, an assertion stops these.

    ```mlir
    tile.kernel (%bx) in (%n) threads [64] {      tile.kernel (%bx) in (%n) threads [64] {
                                            ->      %b = arith.cmpi sle, %n, %c1 : index
                                                    tile.assert %b, "blocks (0) and (1) both write …"
      tile.copy %s, %B : ...                        tile.copy %s, %B : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def GuardIndices : Pass<"tile-guard-indices"> {
  let summary = "Check index values whose range does not prove that they have 64 bits";
  let description = [{
    Index values are mathematical integers; engines compute them in 64 bits. Where the range of a
    value does not prove that it fits, an assertion does: it compares the value, computed in float64
    as well, with 2^62. Ordinary programs get none.

    ```mlir
    scf.for %i = %c0 to %n step %c1 {      scf.for %i = %c0 to %n step %c1 {    // %n: any int64
      %j = arith.muli %i, %c4 : index  ->    %j = arith.muli %i, %c4 : index
      ...                                    tile.assert |f64(%i) * 4| <= 2^62, "…"
    }                                      }
    ```
  }];
  let options = [Option<"hostPart", "host-part", "bool", "true",
                        "what stands before kernels can fail; else kernels check it">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ExpandStatements : Pass<"tile-expand-statements"> {
  let summary = "Write copies, fills, tile atomics and im2col as tile.parallel loops";
  let description = [{
    Copies, fills, atomics on tiles, im2col and the end of a reducer are loops over independent
    elements. As `tile.parallel` they are distributed, vectorised and checked like the loops that
    users write. A statement that moves a part of a buffer onto another part of the same buffer
    goes through a fragment.

    ```mlir
    tile.copy %a, %b : ...      ->    tile.parallel (%i, %j) in (64, 32) {
                                        %v = tile.load %a[%i, %j] : ...
                                        tile.store %v, %b[%i, %j] : ...
                                      }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def FlattenLoops : Pass<"tile-flatten-loops"> {
  let summary = "Make one loop of a loop of elements inside another";
  let description = [{
    An element-wise loop inside another becomes one more variable of the outer loop, so that the
    access planner sees both. Where the outer loop does more than that, the inner loop is unrolled,
    or becomes serial if it is long.

    ```mlir
    tile.parallel (%i) in (64) {            ->    tile.parallel (%i, %e) in (64, 4) {
      tile.parallel (%e) in (4) { ... }             ...
    }                                             }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def UnrollFragmentLoops : Pass<"tile-unroll-fragment-loops"> {
  let summary = "Unroll serial loops over parts of fragments, and of shared tiles that gemms multiply";
  let description = [{
    A fragment lives in registers, and a register has no address: an index that a serial loop moves
    must become a constant. Loops with constant bounds are unrolled; other fragments go to shared
    memory later. Tensor cores read parts of a shared tile as they are if it is known where these start, so
    short loops over such parts of an operand of a gemm are unrolled, too.

    ```mlir
    scf.for %k = %c0 to %c2 step %c1 {      ->    tile.store %x, %f[%c0] : ...
      tile.store %x, %f[%k] : ...                 tile.store %x, %f[%c1] : ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def ShrinkLoops : Pass<"tile-shrink-loops"> {
  let summary = "Leave out the iterations of loops that a branch on their variables skips";
  let description = [{
    Iterations that a branch around the whole body skips are left out, so that no iteration names
    an element that does not exist.

    ```mlir
    tile.parallel (%i) in (32) {            ->    tile.parallel (%i) in (16) {
      %c = arith.cmpi slt, %i, %c16 : index         ...
      scf.if %c { ... }                           }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def InferLayouts : Pass<"tile-infer-layouts"> {
  let summary = "Decide who holds each tile and who runs each iteration";
  let description = [{
    Constraints flow from the strictest outward: annotations of the user; gemms, whose accumulators
    and register operands have the layout of the instruction; loops and reductions that touch a
    placed fragment; free loops. A use that a fragment's layout does not satisfy gets a converted
    copy, with a remark.

    ```mlir
    %c = tile.alloc "c" : ...    ->    %c = tile.alloc "c" {tile.placement = #tile.fragment<…>} : ...
    tile.parallel (%i) in (64)         tile.parallel (%i) in (64) … {tile.distribution = …}
    tile.gemm %a, %b, %c : ...         tile.gemm %a, %b, %c {tile.warps = array<i64: 2, 2>} : ...
    ```
  }];
  let options = [
    Option<"arch", "arch", "std::string", [{"sm_80"}], "architecture whose instructions count">,
    Option<"alignment", "alignment", "int64_t", "16", "bytes that divide the address of arguments">];
}

def StageStores : Pass<"tile-stage-stores"> {
  let summary = "Store and add results of gemms through shared memory where TMA can take them from there";
  let description = [{
    A thread of a gemm's result holds pairs of elements. Written to a tensor, they are many narrow
    stores or atomics. Where the access planner proves that TMA stores or adds the tile by one thread's
    instructions, the result goes to a tile in shared memory first. A result in 16 bits is worth that
    always (stmatrix), an addition too; other stores stay as they are. A remark says what was decided.

    ```mlir
    tile.parallel { load %c; store %C }    ->    tile.parallel { load %c; store %staged }
                                                 tile.parallel { load %staged; store %C }
    ```
  }];
  let options = [
    Option<"arch", "arch", "std::string", [{"sm_80"}], "architecture to plan for">,
    Option<"alignment", "alignment", "int64_t", "16", "a divisor of the arguments' addresses">,
    Option<"disjoint", "disjoint", "bool", "true",
           "no argument that is written shares memory">,
    Option<"bulk", "bulk", "bool", "true", "launches make tensor maps">];
}

def PlanAccesses : Pass<"tile-plan-accesses"> {
  let summary = "Choose and record the width of every access";
  let description = [{
    Asks the access planner (Access/Planner.h) for the width of each access of each distributed
    loop, and for the way in which gemms read operands from shared memory. The answer is an
    attribute for the passes that follow and a remark for the user.

    Copies of pipelined loops that TMA may do (Access/Bulk.h) get a `tile.bulk` plan, their kernel
    the tensor maps that the launcher has to make; a remark says why a copy has none.

    ```mlir
    %v = tile.load %q[%i, %j] : ...    ->    %v = tile.load %q[%i, %j] {tile.access = <width = 8, …>} : ...
    tile.parallel … { copy A -> S }    ->    tile.parallel … {tile.bulk = #tile.bulk<map = 0 …>}
    ```
  }];
  let options = [
    Option<"arch", "arch", "std::string", [{"sm_80"}], "architecture whose instructions count">,
    Option<"alignment", "alignment", "int64_t", "16", "bytes that divide the address of arguments">,
    Option<"disjoint", "disjoint", "bool", "true",
           "no argument that is written shares memory">,
    Option<"bulk", "bulk", "bool", "true", "launches make tensor maps">];
}

def PlanPipeline : Pass<"tile-plan-pipeline"> {
  let summary = "Issue the copies of pipelined loops ahead of time, asynchronously";
  let description = [{
    In a `tile.pipelined` loop with n stages, a copy from global to shared memory that depends only
    on the loop's variable is issued n - 1 iterations ahead. Its tile gets n versions, which are a
    leading dimension; the body is not peeled. The pass states which group of copies serves which
    iteration; `tile-insert-orderings` places the waits and barriers. A copy that cannot move stays,
    and a remark says why.

    Bulk copies (`tile.bulk`) whose tiles have the same last reader arrive at barriers of their own,
    one for each version, and readers wait for them. Where products read the tiles, a second row of
    barriers tells a producer that a version has been read (`tile-split-roles`).

    ```mlir
    tile.pipelined %k = %a to %b stages 2 {    ->    tile.async_group %a below %b { copy A[a] -> S[0] }
      copy A[k] -> S                                 tile.pipelined %k = %a to %b stages 2 {
      use S                                            %now = tile.version %k from %a ahead 0 of 2
    }                                                  %next = tile.version %k from %a ahead 1 of 2
                                                       tile.async_group %k1 below %b { copy A[k + 1] -> S[next] }
                                                       use S[now]
                                                     }
    ```
  }];
  let options = [
    Option<"disjoint", "disjoint", "bool", "true",
           "no argument that is written shares memory">,
    Option<"roles", "roles", "bool", "true", "bulk copies may have a producer warp">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def StartBulk : Pass<"tile-start-bulk"> {
  let summary = "Give bulk copies outside of pipelines somebody who starts them";
  let description = [{
    A copy or an addition from a shared tile to a tensor that the access planner proved to be a bulk
    copy (`tile.bulk`, `tile.span`) becomes a `tile.bulk_group`: one thread starts it, and its effects
    last until a `tile.bulk_wait`, which `tile-insert-orderings` places.

    ```mlir
    tile.parallel ... {tile.bulk = ...}    ->    tile.bulk_group {
                                                   tile.parallel ... {tile.bulk = ...}
                                                 }
    ```

    A copy from a tensor to a shared tile outside of pipelines becomes a `tile.async_group` on a barrier of
    its own. The threads wait for it in front of the first statement that touches the tile. Copies that
    follow each other share the barrier.

    ```mlir
    tile.parallel ... {tile.bulk = ...}    ->    tile.async_group %c0 below %c1 on %full[%c0] : !row {
                                                   tile.parallel ... {tile.bulk = ...}
                                                 }
    tile.gemm %s, ...                            tile.barrier_wait %full[%c0] parity %c0 : !row
                                                 tile.gemm %s, ...
    ```
  }];
  let options = [Option<"arch", "arch", "std::string", [{"sm_80"}], "architecture whose shared memory holds the barriers">];
}

def PlanSharedMemory : Pass<"tile-plan-shared-memory"> {
  let summary = "Give every shared tile its offset in the block's arena";
  let description = [{
    Tiles that are never live at the same time share bytes. The total is checked against the
    architecture; the error lists the share of each tile. A tile whose bytes are updated one by one
    atomically starts as zeros (`tile.cleared`): such an update reads the byte beside its own.

    ```mlir
    %a = tile.alloc "a" : ...    ->    %a = tile.alloc "a" {tile.offset = 0 : i64} : ...
    %b = tile.alloc "b" : ...          %b = tile.alloc "b" {tile.offset = 8192 : i64} : ...
    ```
  }];
  let options = [Option<"arch", "arch", "std::string", [{"sm_80"}], "architecture whose limit holds">];
}

def InsertOrderings : Pass<"tile-insert-orderings"> {
  let summary = "Order conflicting accesses of a block's threads by barriers and waits";
  let description = [{
    Two statements of a block conflict when one writes memory that the other touches. Every
    conflicting pair, pairs over the back edge of a loop included, gets a barrier between; one
    barrier serves all hazards that are open where it stands. Where the first of the two is an
    asynchronous copy, the thread that issued it waits for its group in front of the barrier, with as
    many younger groups still under way as is right. Versions of a multi-buffered tile conflict only
    with themselves. An arrival at a barrier by number whose threads wait right after is marked
    (`tile.at_wait`): one instruction does both.

    ```mlir
    tile.async_group %i below %n { … store %s }        tile.async_group %i below %n { … store %s }
    tile.gemm %s, %k, %c                         ->     tile.async_wait 0
                                                        tile.barrier            // %s: written above
                                                        tile.gemm %s, %k, %c
    ```
  }];
  let options = [Option<"disjoint", "disjoint", "bool", "true",
                        "no argument that is written shares memory">];
}

def SplitRoles : Pass<"tile-split-roles"> {
  let summary = "Move bulk copies that wait for their readers to threads of their own";
  let description = [{
    Groups of bulk copies that start after a barrier of their readers move to a producer, a `tile.role`
    that runs the control flow around them again. The producer waits until the version has
    been read that it overwrites. It is one warp, or a warpgroup that gives registers away where those of the
    program's threads would not suffice.

    ```mlir
    tile.pipelined %k = %a to %b stages 2 {             tile.pipelined %k = %a to %b stages 2 {
      tile.async_group %k … on %full[%v] after %empty     tile.barrier_wait %full[%v] parity %p
      tile.barrier_wait %full[%v] parity %p          ->   …
      …                                                   tile.barrier_arrive %empty[%v] by_warp
      tile.barrier_arrive %empty[%v] by_warp            }
    }                                                   tile.role "producer" threads 32 {
                                                          tile.pipelined %k = %a to %b stages 2 {
                                                            tile.barrier_wait %empty[%v] parity %q
                                                            tile.async_group %k … on %full[%v]
                                                          }
                                                        }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def PlanLaunch : Pass<"tile-plan-launch"> {
  let summary = "Decide whether blocks start in clusters, and beside the launch before";
  let description = [{
    The blocks of `T.ClusterKernel` start together where every launch allows it. A kernel with
    `T.pdl_sync` may start while the launch before it runs, where its threads touch no global memory
    in front of that statement. A remark says what stands in the way.

    ```mlir
    tile.kernel grid(%c4, %c2) threads 128 {    ->    tile.kernel ... {
      tile.hint "cluster" {x = 2 : i64, …}              …
      tile.hint "pdl_sync"                            } {tile.cluster = array<i64: 2, 1, 1>,
    }                                                    tile.overlaps_launch}
    ```
  }];
  let options = [Option<"arch", "arch", "std::string", [{"sm_80"}], "architecture that may have clusters">];
}

def ShareCopies : Pass<"tile-share-copies"> {
  let summary = "Let one block of a cluster copy what several of them read";
  let description = [{
    A copy of a producer that depends on no block number along some dimensions of the cluster, in loops and
    branches that do not either, is the same in all blocks along them. One block copies for all
    (`tile.multicast`), and what it overwrites is released by all. So is a copy outside of loops, into memory
    that nothing has used before. A program may name the blocks (`tile.cluster_mask`); the others copy their own.

    ```mlir
    tile.barrier_alloc "empty" arrivals [4, 4]          tile.barrier_alloc "empty" arrivals [8, 8]
    tile.barrier_wait %empty[%v] parity %q              tile.barrier_wait %empty[%v] … {tile.multicast = [0]}
    tile.async_group %k … on %full[%v] {         ->     tile.async_group %k … on %full[%v] {
      tile.parallel … // A[%by, %k]                       tile.parallel … {tile.multicast = array<i64: 0>}
    }                                                   }
    tile.barrier_arrive %empty[%v] by_warp              tile.barrier_arrive %empty[%v] by_warp {tile.multicast = …}
    ```
  }];
}

def ScheduleProducts : Pass<"tile-schedule-products"> {
  let summary = "Let products run beside the next iteration of their loop";
  let description = [{
    In a loop whose copies a producer issues, moves what an iteration does last to the next one, so that
    a product has work beside it. With one product that is the release of its tiles: product k starts
    before product k - 1 has ended. With two that have work between them, it is the second one: in
    attention, `O += P V` of iteration k - 1 runs beside the softmax of iteration k. The first
    iteration is peeled. Besides, warpgroups may take turns at issuing products (`tile.turn`). A model
    of the machine predicts the cycles of each order, and the best one is taken. A remark says why a loop
    keeps its order.

    ```mlir
    tile.pipelined %k = %a to %b stages 3 {             // a < b
      tile.barrier_wait %full[%v] parity %p             tile.barrier_wait %full[%v0] parity %p0
      tile.gemm %s[%v], …, %c {tile.async}              tile.gemm %s[%v0], …, %c {tile.async}
      tile.barrier_arrive %empty[%v] by_warp       ->   tile.pipelined %k = %a + 1 to %b stages 3 {
    }                                                     tile.barrier_wait %full[%v] parity %p
                                                          tile.gemm %s[%v], …, %c {tile.async}
                                                          tile.barrier_arrive %empty[%v - 1] by_warp
                                                        }
                                                        tile.barrier_arrive %empty[%b - 1] by_warp
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def PeelMasks : Pass<"tile-peel-masks"> {
  let summary = "Split a loop where a mask begins to matter";
  let description = [{
    A test of each element that holds for whole tiles until some iteration, as `row >= column` of causal
    attention does, is taken out of the iterations in which it always holds: the loop becomes two, of
    which only the second one tests. Done for loops with products whose copies a producer issues.

    ```mlir
    tile.pipelined %k = %a to %b stages 2 {        tile.pipelined %k = %a to %split stages 2 {
      tile.parallel (%i, %j) in (128, 128) {         tile.parallel (%i, %j) in (128, 128) {
        %x = arith.cmpi sge, %row, %column             %x = arith.constant true
        …                                    ->        …
      }                                              }
    }                                              }
                                                   tile.pipelined %k = %split to %b stages 2 { … }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ClearProducts : Pass<"tile-clear-products"> {
  let summary = "Let products ignore sums that would start as zeros";
  let description = [{
    Where a loop writes zeros to all of an accumulator and the next statement that touches it is a product
    of warpgroups, the product clears it (`clear`), and the loop goes: the first instruction does not read
    its sums.

    ```mlir
    tile.parallel (%i, %j) in (128, 128) {         tile.gemm %q, %k, %s clear %true : ...
      tile.store %zero, %s[%i, %j]          ->
    }
    tile.gemm %q, %k, %s : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def CheckSchedule : Pass<"tile-check-schedule"> {
  let summary = "Prove that roles which wait for each other go on";
  let description = [{
    A producer and the threads of the program meet at barriers. The pass proves that each version of a
    tile is acquired, filled, waited for and released once in every iteration of equal loops of both,
    that counts of arrivals and parities fit, and that the statements, as a marked graph, have no
    cycle without a token. It changes nothing; what fails is an internal error.

    ```mlir
    tile.pipelined %k = %a to %b stages 2 {
      tile.barrier_wait %full[%v] parity %p      // "filled": no token
      …
      tile.barrier_arrive %empty[%v] by_warp     // "read": a token for each of the 2 versions
    }
    tile.role "producer" threads 32 { tile.pipelined … { wait %empty; async_group on %full } }
    ```
  }];
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

def TransposeTiles : Pass<"tile-transpose-tiles"> {
  let summary = "Keep the result of a product with a changing right operand transposed";
  let description = [{
    A product whose right operand is transposed and changes in every iteration of a loop, while the
    left one stays, becomes the transposed product. Tiles that loops and copies touch together with
    the result are transposed with it, if each of their uses allows it.

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
    registers between them, and tiles that nothing reads any more are not stored.

    ```mlir
    tile.copy %X, %x : ...                      // one loop over 16 x 4096 elements
    tile.reduce sum %x, %total dim 1 clear : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def FuseRowLoops : Pass<"tile-fuse-row-loops"> {
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

def ForwardRowCopies : Pass<"tile-forward-row-copies"> {
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

def CoarsenLoops : Pass<"tile-coarsen-loops"> {
  let summary = "Let products on the CPU take several steps of their loop at once";
  let description = [{
    A loop with constant bounds that only copies neighbouring parts of tensors into tiles and
    multiplies these, each product into a tile of sums of its own, makes fewer and longer steps.
    Sums are formed in the same order. Tensors are not written by the kernel.

    ```mlir
    tile.pipelined %k = 0 to 32 {           tile.pipelined %n = 0 to 1 {
      %s = tile.slice %A[0, 32 * %k]          %s = tile.slice %A[0, 32 * (32 * %n)]
        [128, 32] ...                   ->      [128, 1024] ...
      tile.copy %s, %a : ...                  tile.copy %s, %a : ...
      tile.gemm %a, %b, %c : ...              tile.gemm %a, %b, %c : ...
    }                                       }
    ```
  }];
  let options = [Option<"maxBytes", "max-bytes", "int64_t", "1048576",
                        "what the tiles of one loop may take">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PlanCpuOperands : Pass<"tile-plan-cpu-operands"> {
  let summary = "Decide where products on the CPU find their operands";
  let description = [{
    For each tile that one copy fills and products read: which packed forms the copy makes
    (`tile.prepares`, which gemms name by number), whether the tile itself is never filled because
    nothing needs it (`tile.direct`; what is in the form of "panels" the product packs), and whether
    it is kept for the next block of a worker (`tile.kept`). Products that the host computes by dot products of narrow elements are marked
    (`tile.dots`), and among them those that its matrix unit computes (`tile.matrix_unit`).

    ```mlir
    tile.copy %As, %a : ...         ->   tile.copy %As, %a {tile.direct, tile.prepares = [
    tile.gemm %a, %b, %c : ...             {form = "left", id = 0, sum = f32} ]} : ...
                                         tile.gemm %a, %b, %c {tile.prepared_a = 0} : ...
    ```
  }];
  let options = [
    Option<"disjoint", "disjoint", "bool", "true",
           "no argument that is written shares memory">,
    Option<"vectorWidth", "vector-width", "int64_t", "8", "float32 elements of the widest vector">,
    Option<"bf16Dots", "bf16-dots", "bool", "false", "the host multiplies pairs of bfloat16">,
    Option<"int8Dots", "int8-dots", "bool", "false", "the host multiplies quadruples of bytes">,
    Option<"bf16Tiles", "bf16-tiles", "bool", "false", "the host has a matrix unit for bfloat16">,
    Option<"int8Tiles", "int8-tiles", "bool", "false", "the host has a matrix unit for bytes">];
}

def PlanCpuPrefetches : Pass<"tile-plan-cpu-prefetches"> {
  let summary = "Prefetch what the next iteration copies and what accumulators are added to";
  let description = [{
    What a copy that stands directly in a pipelined loop reads is prefetched by the gemm before it, on
    its way. If there is none, what it reads in the next iteration is a slice of its own, which the last
    gemm prefetches, or the copy if no gemm reads the tile. A gemm also prefetches the region that its
    accumulator will be added to, and the last one in the last iteration what the next block copies
    before the loop and what is written after it.

    ```mlir
    %s = tile.slice %A[%k, 0] ...          %next = arith.minsi %k + 1, %n - 1
    tile.copy %s, %a : ...            ->   %t = tile.slice %A[%next, 0] ... {tile.id = 0}
    tile.gemm %a, %b, %c : ...             tile.copy %s, %a {tile.prefetched} : ...
                                           tile.gemm %a, %b, %c {tile.prefetches = [0]} : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PlanCpuAccumulators : Pass<"tile-plan-cpu-accumulators"> {
  let summary = "Skip the fill and the copy-out of accumulators where that is unobservable";
  let description = [{
    A loop of products that sums up in a filled tile starts from one row of the fill value. If a copy
    to a tensor is all that follows, and nothing can see the difference, the last iteration writes to
    the tensor. A loop that may have no iteration keeps both under that condition. A loop that
    multiplies the rows of an accumulator is left to the gemm after it (`tile.scaled_by`).

    ```mlir
    tile.fill %zero, %c : ...              %row = tile.alloc "c" {tile.id = 0} : 1 x 64
    tile.pipelined %k = ... {              tile.fill %zero, %row : ...
      tile.gemm %a, %b, %c : ...      ->   %C = tile.slice ... {tile.id = 1}
    }                                      tile.pipelined %k = ... {
    %C = tile.slice ...                      tile.gemm %a, %b, %c {tile.starts_at = 0,
    tile.copy %c, %C : ...                     tile.writes_to = 1, tile.sums_over_loop} : ...
                                           }
    ```
  }];
  let options = [Option<"disjoint", "disjoint", "bool", "true",
                        "no argument that is written shares memory">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PlanCpuRows : Pass<"tile-plan-cpu-rows"> {
  let summary = "Stream long rows of tensors that are larger than the caches";
  let description = [{
    Element-wise loops over such rows read them ahead and write one of them past the caches. Where a
    later loop works on the row, it prefetches the next one.

    ```mlir
    tile.parallel (%j) in (4096) {         tile.parallel (%j) in (4096)
                                               attributes {tile.streams_rows} {
      %v = tile.load %X[%i, %j] : ...  ->    %v = tile.load %X[%i, %j] {tile.streamed} : ...
      ...                                    ...
    }                                      }
    ```
  }];
}

def PlanCpuUpdates : Pass<"tile-plan-cpu-updates"> {
  let summary = "Update tensors by rows under locks where a kernel does nothing else with them";
  let description = [{
    A tensor that a kernel touches only by relaxed updates of whole tiles needs no atomic
    instructions: each row is updated under a lock, by vectors.

    ```mlir
    tile.atomic add %t, %part : ...    ->    tile.atomic add %t, %part {tile.locks_rows} : ...
    ```
  }];
  let options = [Option<"disjoint", "disjoint", "bool", "true",
                        "no argument that is written shares memory">];
}

def ShareValues : Pass<"tile-share-values"> {
  let summary = "Compute once what the code of a thread or of the host computes twice";
  let description = [{
    Common subexpressions of structured code, and loads that are repeated before anything is written;
    what nothing uses is erased. Takes time in proportion to the code, which MLIR's pass of this kind
    does not where many loads of one element stand in a block.

    ```mlir
    %a = arith.addi %i, %one : i64
    %x = llvm.load %p : !llvm.ptr -> f32     ->    %a = arith.addi %i, %one : i64
    %b = arith.addi %i, %one : i64                 %x = llvm.load %p : !llvm.ptr -> f32
    %y = llvm.load %p : !llvm.ptr -> f32
    ```
  }];
}

def LowerToBlocks : Pass<"tile-lower-to-blocks"> {
  let summary = "Write structured loops and branches as blocks";
  let description = [{
    MLIR's patterns for structured control flow, from the last operation of a block to the first. MLIR's
    own pass begins with the first; its time grows with the square of the branches of a block.

    ```mlir
    scf.if %c {                            cf.cond_br %c, ^bb1, ^bb2
      llvm.store %x, %p : f32, !llvm.ptr   ^bb1:
    }                                ->      llvm.store %x, %p : f32, !llvm.ptr
                                             cf.br ^bb2
                                           ^bb2:
    ```
  }];
  let options = [Option<"rotateFrom", "rotate-from", "int64_t", "0",
                        "how many loops of a module test at their end; 0: they never do">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect"];
}

#endif
