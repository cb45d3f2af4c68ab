"""Mixture of experts, routing: the two best experts of each token, and its place in their lists.

The place is the result of an atomic addition (`return_prev`), so the order within a list is free.

usage: python examples/moe_routing.py, or tw run examples/moe_routing.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit
def moe_routing(tokens, experts, top=2, block=32):
    @T.prim_func
    def main(
        Logits: T.Tensor((tokens, experts), "float32"),
        Count: T.Tensor((experts,), "int32"),
        List: T.Tensor((experts, tokens), "int32"),  # the tokens of each expert
        Weight: T.Tensor((tokens, top), "float32"),
    ):
        with T.Kernel(T.ceildiv(tokens, block), threads=128) as bx:
            x = T.alloc_fragment((block, experts), "float32")
            candidates = T.alloc_fragment((block, experts), "int32")
            largest = T.alloc_fragment((block,), "float32")
            expert = T.alloc_fragment((block,), "int32")
            total = T.alloc_fragment((block,), "float32")
            T.copy(Logits[bx * block, 0], x)
            for i, j in T.Parallel(block, experts):
                x[i, j] = T.exp(x[i, j])
            T.reduce_sum(x, total, dim=1)
            for step in T.serial(top):
                T.reduce_max(x, largest, dim=1)
                for i, j in T.Parallel(block, experts):
                    candidates[i, j] = T.if_then_else(x[i, j] == largest[i], j, experts)
                T.reduce_min(candidates, expert, dim=1)
                for i, j in T.Parallel(block, experts):
                    if j == expert[i]:
                        x[i, j] = 0
                for i in T.Parallel(block):
                    if bx * block + i < tokens:
                        Weight[bx * block + i, step] = largest[i] / total[i]
                        place = T.atomic_add(Count[expert[i]], 1, return_prev=True)
                        List[expert[i], place] = bx * block + i

    return main


def main():
    tokens, experts, top = 100, 8, 2
    logits = np.random.default_rng(0).standard_normal((tokens, experts)).astype(np.float32)
    count = np.zeros(experts, np.int32)
    lists = np.zeros((experts, tokens), np.int32)
    weight = np.zeros((tokens, top), np.float32)
    moe_routing(tokens, experts, top)(logits, count, lists, weight)
    order = np.argsort(-logits, axis=1, kind="stable")[:, :top]
    softmax = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    for expert in range(experts):
        wanted = np.flatnonzero((order == expert).any(1))
        assert np.array_equal(np.sort(lists[expert, : count[expert]]), wanted)
    error = np.abs(weight - np.take_along_axis(softmax, order, axis=1)).max()
    print(f"{count} tokens for the experts; largest error of a weight {error:.1e}")
    assert error < 1e-6


if __name__ == "__main__":
    main()
