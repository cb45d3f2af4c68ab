//===- HopperHarness.h - kernels around mbarriers, bulk copies and wgmma ----------------------===//
#ifndef VGPU_TEST_UNIT_HOPPERHARNESS_H
#define VGPU_TEST_UNIT_HOPPERHARNESS_H

#include "vgpu/Vgpu.h"
#include <string>
#include <vector>

namespace vgpu::test {

/// A kernel `k` with the given parameters and body, 16 KiB of shared memory `tile`, 16 mbarriers
/// `bar`, and registers %p0..., %h0... (16 bits), %r0..., %rd0....
std::string hopperKernel(const std::string &params, const std::string &body);

/// Runs it, in one block unless told otherwise; errors fail the test. It also runs in late mode: a
/// launch without findings must leave the same bytes there, and have none either.
LaunchResult runHopper(const std::string &text, unsigned threads,
                       llvm::ArrayRef<Argument> arguments, Dim3 grid = {},
                       std::optional<Dim3> cluster = {});
/// Runs it once, in one block, in this mode and without checks.
void runUnchecked(const std::string &text, unsigned threads, llvm::ArrayRef<Argument> arguments,
                  AsyncTime time);

/// The names of the findings, notes left out.
std::vector<std::string> kindsOf(const LaunchResult &result);
/// All findings as text, for messages.
std::string textOf(const LaunchResult &result);
/// The error of loading a kernel with this body, or "".
std::string loadError(const std::string &body);

} // namespace vgpu::test

#endif // VGPU_TEST_UNIT_HOPPERHARNESS_H
