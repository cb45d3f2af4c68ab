//===- Passes.td - passes on programs that name their threads --------*- tablegen -*-===//
#ifndef TILEWRIGHT_THREADS_PASSES_TD
#define TILEWRIGHT_THREADS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlaceIterationArrays : Pass<"tile-place-iteration-arrays", "::mlir::ModuleOp"> {
  let summary = "Make the arrays of the iterations of a loop the rows of one tile";
  let description = [{
    No program says which thread runs an iteration of a `tile.parallel`. An array of threads that is
    allocated in such a loop, or whose elements are used in a single one only, is one for each
    iteration. All of them become one fragment with a row for each iteration. A loop of run-time
    extents is an error: a fragment has constant extents.

    ```mlir
    %a = tile.alloc "a" : memref<8xf32, ...     %a = tile.alloc "a" : memref<64x8xf32, #fragment>
    tile.parallel (%i) in (64) {                tile.parallel (%i) in (64) {
      tile.store %x, %a[%k] : ...         ──▶     tile.store %x, %a[%i, %k] : ...
    }                                           }
    ```
  }];
}

def KeepTiles : Pass<"tile-keep-tiles", "::mlir::ModuleOp"> {
  let summary = "Save tiles to global memory while the blocks of a grid meet";
  let description = [{
    A grid sync ends the launch (`tile-split-grid`), and with it every tile. A tile of the block that
    may be read after the sync with values from before is saved to a workspace before it, and read
    back after it. Memory of single threads, variables and reducers are not saved: `tile-split-grid`
    refuses a kernel that would need it.

    ```mlir
                                          %w = tile.alloc "t"(%n) : memref<?x64xf32, #global>
    tile.kernel (%b) in (%n) ... {        tile.kernel (%b) in (%n) ... {
      tile.copy %A, %t : ...                tile.copy %A, %t : ...
      tile.grid_sync                ──▶     tile.copy %t, %w[%b, 0] : ...
      tile.copy %t, %B : ...                tile.grid_sync
    }                                       tile.copy %w[%b, 0], %t : ...
                                            tile.copy %t, %B : ...
                                          }
    ```
  }];
}

def SplitGrid : Pass<"tile-split-grid", "::mlir::ModuleOp"> {
  let summary = "Split a kernel whose blocks meet into several launches";
  let description = [{
    Launches follow one another, so all blocks of the first are done when the second begins. The
    second launch recomputes the numbers, views and reads of constant tensors that it needs. A tile
    is a new one in each launch; a tile that may be read after the sync with values from before is
    an error, if `tile-keep-tiles` did not save it.

    ```mlir
    tile.kernel (%b) in (%n) threads [64] {       tile.kernel (%b) in (%n) threads [64] {
      tile.copy %t, %A : ...                        tile.copy %t, %A : ...
      tile.grid_sync                        ──▶   }
      tile.copy %A, %u : ...                      tile.kernel (%b) in (%n) threads [64] {
    }                                               tile.copy %A, %u : ...
                                                  }
    ```
  }];
}

def AssignRoles : Pass<"tile-assign-roles", "::mlir::ModuleOp"> {
  let summary = "Give the roles of a program code of their own";
  let description = [{
    Threads that take the same side of every branch on their number form a role. If barriers order
    all that roles do to each other, and no role can wait for ever, each role becomes a `tile.role`
    that its warps run beside the others, and its barriers stay. The pass plays the roles through to
    find out. A conflict outside loops that no barrier orders gets one more barrier, with a remark. Any
    other kernel stays as it is, with a remark, for `tile-merge-roles`.

    ```mlir
    scf.for %k = %c0 to %n step %c1 {             tile.role "ws0" threads 128 {
      scf.if %consumer {                            scf.for %k = %c0 to %n step %c1 {
        tile.barrier_wait %ready[%c0] ...             tile.barrier_wait %ready[%c0] ...
        tile.gemm ...                                 tile.gemm ...
        tile.barrier_arrive %free[%c0] ...   ──▶      tile.barrier_arrive %free[%c0] ...
      } else {                                      }
        tile.barrier_wait %free[%c0] ...          } {tile.first_thread = 0, tile.meeting = 1}
        tile.copy ...                             tile.role "ws1" threads 128 {
        tile.barrier_arrive %ready[%c0] ...         ...
      }                                           } {tile.first_thread = 128, tile.meeting = 2}
    }
    ```
  }];
  let options = [
    Option<"disjoint", "disjoint", "bool", "true", "arguments share no memory">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def MergeRoles : Pass<"tile-merge-roles", "::mlir::ModuleOp"> {
  let summary = "Interleave roles that wait for each other at barriers";
  let description = [{
    Roles are branches on the thread index that stand next to each other. They run in the order of
    the text, until one waits for what another one does; then the next role goes on. Loops in which
    roles wait for each other, with the same bounds, become one loop. The pass plays the first
    iteration of each loop through to find the order, and tries it. The waits remain, and are checked
    when the program runs. Where a wait is not met in the trial, or cannot be told, roles become
    machines: their statements are cut at waits into pieces, a loop around all roles runs each from
    its next piece on until a wait is not met, and an assertion ends a program in which all wait.

    ```mlir
    scf.if %producer {                            scf.for %k = %c0 to %n step %c1 {
      scf.for %k = %c0 to %n step %c1 {             scf.if %producer {
        tile.barrier_wait %free[%c0] ...              tile.barrier_wait %free[%c0] ...
        tile.copy ...                                 tile.copy ...
        tile.barrier_arrive %ready[%c0] ...           tile.barrier_arrive %ready[%c0] ...
      }                                     ──▶     }
    } else {                                        scf.if %consumer {
      scf.for %k = %c0 to %n step %c1 {               tile.barrier_wait %ready[%c0] ...
        tile.barrier_wait %ready[%c0] ...             tile.gemm ...
        tile.gemm ...                                 tile.barrier_arrive %free[%c0] ...
        tile.barrier_arrive %free[%c0] ...          }
      }                                           }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def CountArrivals : Pass<"tile-count-arrivals", "::mlir::ModuleOp"> {
  let summary = "Turn barriers into counters of arrivals";
  let description = [{
    Once the statements of all roles stand in one order, nothing has to block: what a wait is for
    has happened, or never will. A barrier becomes a counter in shared memory, an arrival an
    increment, and a wait an assertion, so that a program whose order does not hold stops with an
    error at the wait.

    ```mlir
    %b = tile.barrier_alloc "b" arrivals [128]    %b = tile.alloc "b" : memref<1xi32, #shared>
    ...                                           tile.fill %zero, %b : ...
    tile.barrier_arrive %b[%c0] : ...             scf.if %each_thread {
                                            ──▶     tile.atomic_element add %one, %b[%c0] : ...
                                                  }
    tile.barrier_wait %b[%c0] parity %p : ...     %n = tile.load %b[%c0] : ...
                                                  tile.assert %met, "this wait is not met: ..."
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SpreadThreads : Pass<"tile-spread-threads", "::mlir::ModuleOp"> {
  let summary = "Write statements of single threads as loops over the threads";
  let description = [{
    A statement that differs between threads becomes a `tile.parallel` over the threads of the
    block. Statements share a loop where no thread can see how far the others are: none touches what
    another one writes. Where they do, the loop is cut, also inside uniform loops and inside
    branches on the thread index, whose condition then guards each part. A loop that threads leave at
    different times becomes one that all go round as often as the last of them. Memory of a thread
    becomes a row of a fragment, which the thread itself holds; a row whose elements are picked by
    values of the run lives in shared memory. An array that all threads fill alike is the block's:
    variables, or a shared tile. A tile statement stays one statement of the whole block.

    ```mlir
    %t = tile.thread_id 0                       tile.parallel (%t) in (128) {
    %v = tile.load %A[%t] : ...                   %v = tile.load %A[%t] : ...
    tile.store %v, %local[%c0] : ...      ──▶     tile.store %v, %local[%t, %c0] : ...
    tile.store %v, %s[%t] : ...                   tile.store %v, %s[%t] : ...
    %w = tile.load %s[%u] : ...                 }
    tile.store %w, %B[%t] : ...                 tile.parallel (%t) in (128) { ... }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

#endif
