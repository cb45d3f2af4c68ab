//===- HostCpu.cpp - whether this machine can run the virtual GPU ----------------------------===//
//
// The library is compiled for x86-64-v3 (AVX2, FMA, F16C, BMI). This file and FrontDoor.cpp,
// through which everybody comes in, are compiled for every x86-64, so that an older processor gets
// a message and no illegal instruction.
//
//===-----------------------------------------------------------------------------------===//
#include "vgpu/HostCpu.h"

const char *vgpu::whyHostCannotRun() {
#ifdef VGPU_NEEDS_X86_64_V3
  if (!__builtin_cpu_supports("x86-64-v3"))
    return "the virtual GPU was built for x86-64-v3 (AVX2, FMA, F16C, BMI2), which this processor "
           "does not have; build it with -DTW_VGPU_AVX2=OFF";
#endif
  return nullptr;
}
