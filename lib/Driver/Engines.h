//===- Engines.h - the four engines, for Engine.cpp ---------------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_DRIVER_ENGINES_H
#define TILEWRIGHT_LIB_DRIVER_ENGINES_H

#include "tilewright/Driver/Engine.h"

#include <chrono>

namespace tilewright::driver {

std::shared_ptr<Engine> makeInterpreterEngine();
std::shared_ptr<Engine> makeCpuEngine();
std::shared_ptr<Engine> makeVirtualGpuEngine(const Arch &arch);
/// The error says why there is no such GPU.
llvm::Expected<std::shared_ptr<Engine>> makeCudaEngine(int device);

/// `options` with what the environment asks of code; an error names a variable whose value means
/// nothing. TILEWRIGHT_CHECK checks everything, TILEWRIGHT_CHECK_PLANS only what is decided while
/// compiling.
llvm::Expected<PipelineOptions> addEnvironment(PipelineOptions options);

/// How long a run takes.
class Stopwatch {
public:
  double getSeconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

private:
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace tilewright::driver

#endif // TILEWRIGHT_LIB_DRIVER_ENGINES_H
