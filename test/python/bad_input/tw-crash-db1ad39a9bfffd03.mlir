#loc1 = loc("thread_memory_in_parallel.py":7:10)
#loc2 = loc("thread_memory_in_parallel.py":8:5)
#loc5 = loc("thread_memory_in_parallel.py":11:9)
module {
  func.func @main(%arg0: memref<64xf32, #tile.space<global>> {tile.name = "A", tile.shape = #tile.shape<"() -> (64)">} loc("thread_memory_in_parallel.py":7:10)) {
    %c1 = arith.constant 1 : index loc(#loc2)
    tile.kernel (%bx loc("thread_memory_in_parallel.py":8:5)) in (%c1) threads [64] {
      %own = tile.alloc "own" : memref<4xf32, #tile.space<local>> loc(#loc3)
      %0 = tile.thread_id 0 loc(#loc4)
      %c0 = arith.constant 0 : index loc(#loc4)
      %1 = tile.cast %0 from index to f32 loc(#loc4)
      tile.store %1, %own[%c0] : memref<4xf32, #tile.space<local>> loc(#loc4)
      tile.parallel (%i loc("thread_memory_in_parallel.py":11:9)) in (64) {
        %2 = tile.load %arg0[%i] : memref<64xf32, #tile.space<global>> loc(#loc6)
        %c1_0 = arith.constant 1 : index loc(#loc6)
        tile.store %2, %own[%c1_0] : memref<4xf32, #tile.space<local>> loc(#loc6)
      } loc(#loc5)
    } loc(#loc2)
    return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc("thread_memory_in_parallel.py":7:1)
#loc3 = loc("thread_memory_in_parallel.py":9:9)
#loc4 = loc("thread_memory_in_parallel.py":10:9)
#loc6 = loc("thread_memory_in_parallel.py":12:13)

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(tile-compile{target=cpu alignment=16 disjoint=true tensor-maps=true})",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
