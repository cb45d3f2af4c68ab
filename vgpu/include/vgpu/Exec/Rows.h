//===- Rows.h - loops over the lanes of a row --------------------------------------------===//
//
// The inner loops of all plain instructions. Results are computed for all 32 lanes (reading
// inactive lanes is harmless) and written for the active ones, so that the common case is straight
// SIMD code.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_EXEC_ROWS_H
#define VGPU_EXEC_ROWS_H

#include "vgpu/Machine/Warp.h"

namespace vgpu {

/// Writes `value(lane)` to the active lanes of a row.
template <class T, class Value>
inline __attribute__((always_inline)) void writeRow(T *dst, uint32_t mask, Value value) {
  if (mask == fullMask) {
    T result[warpSize];
    for (unsigned i = 0; i < warpSize; ++i)
      result[i] = value(i);
    std::memcpy(dst, result, sizeof(result));
    return;
  }
  T result[warpSize];
  for (unsigned i = 0; i < warpSize; ++i)
    result[i] = value(i);
  for (unsigned i = 0; i < warpSize; ++i)
    dst[i] = (mask >> i & 1) ? result[i] : dst[i];
}

/// The lanes for which `holds(lane)` is true, as a mask.
template <class Holds> inline __attribute__((always_inline)) uint32_t collectMask(Holds holds) {
  uint8_t flags[warpSize];
  for (unsigned i = 0; i < warpSize; ++i)
    flags[i] = holds(i) ? 1 : 0;
  uint32_t mask = 0;
  for (unsigned i = 0; i < warpSize; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, flags + i, sizeof(eight));
    // Bit 8k of each byte k is moved to bit 56 + k by one multiplication.
    mask |= static_cast<uint32_t>((eight * 0x0102040810204080ull) >> 56) << i;
  }
  return mask;
}

template <class D, class A, class Op>
inline __attribute__((always_inline)) void unaryRow(Warp &w, const Inst &in, uint32_t mask, Op op) {
  const A *a = w.row<A>(in.src(0));
  writeRow(w.row<D>(in.dst(0)), mask, [=](unsigned i) { return op(a[i]); });
}
template <class D, class A, class B, class Op>
inline __attribute__((always_inline)) void binaryRow(Warp &w, const Inst &in, uint32_t mask,
                                                     Op op) {
  const A *a = w.row<A>(in.src(0));
  const B *b = w.row<B>(in.src(1));
  writeRow(w.row<D>(in.dst(0)), mask, [=](unsigned i) { return op(a[i], b[i]); });
}
template <class D, class A, class B, class C, class Op>
inline __attribute__((always_inline)) void ternaryRow(Warp &w, const Inst &in, uint32_t mask,
                                                      Op op) {
  const A *a = w.row<A>(in.src(0));
  const B *b = w.row<B>(in.src(1));
  const C *c = w.row<C>(in.src(2));
  writeRow(w.row<D>(in.dst(0)), mask, [=](unsigned i) { return op(a[i], b[i], c[i]); });
}

} // namespace vgpu

#endif // VGPU_EXEC_ROWS_H
