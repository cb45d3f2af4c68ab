//===- HostCpu.h - whether this machine can run the virtual GPU ------------------------------===//
#ifndef VGPU_HOSTCPU_H
#define VGPU_HOSTCPU_H

namespace vgpu {

/// What the processor lacks of the instructions that the library was compiled for, as a sentence;
/// null if it has them all.
const char *whyHostCannotRun();

} // namespace vgpu

#endif // VGPU_HOSTCPU_H
