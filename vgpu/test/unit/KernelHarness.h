//===- KernelHarness.h - run one instruction on many operands ---------------------------------===//
#ifndef VGPU_TEST_UNIT_KERNELHARNESS_H
#define VGPU_TEST_UNIT_KERNELHARNESS_H

#include "vgpu/Vgpu.h"
#include <string>
#include <vector>

namespace vgpu::test {

/// An instruction sequence on registers %a, %b, %c (read from memory) and %d (written back), with
/// their PTX types.
struct Snippet {
  std::string code;
  std::string d = "b32", a = "b32", b = "b32", c = "b32";
};

/// Operands of one thread; results come back in the same order, zero-extended to 64 bits.
struct Operands {
  uint64_t a = 0, b = 0, c = 0;
};

/// Runs the snippet once per operand triple, 64 threads a block. Fails the test on errors and
/// findings.
std::vector<uint64_t> run(const Snippet &snippet, const std::vector<Operands> &operands);

/// All triples of the given values; b and c default to a single zero.
std::vector<Operands> cross(const std::vector<uint64_t> &a, const std::vector<uint64_t> &b = {0},
                            const std::vector<uint64_t> &c = {0});

extern const std::vector<uint64_t> corners32; ///< integers at the edges of 32 bits
extern const std::vector<uint64_t> corners64;
extern const std::vector<uint64_t> floats32; ///< zeros, subnormals, ties, infinities, NaN
extern const std::vector<uint64_t> floats16;

} // namespace vgpu::test

#endif // VGPU_TEST_UNIT_KERNELHARNESS_H
