//===- Executable.h - a program with its kernels, one for each engine ---------------*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_EXECUTABLE_H
#define TILEWRIGHT_DRIVER_EXECUTABLE_H

#include "tilewright/Driver/Engine.h"

#include <map>

namespace tilewright::driver {

/// Owns a program and keeps what engines made of it, so that each compiles it once. Several threads
/// may use it at once.
class Executable {
public:
  explicit Executable(std::unique_ptr<frontend::Program> program) : program(std::move(program)) {}

  /// A program from the text of its tile IR. The error is at a line of the text.
  static llvm::Expected<std::shared_ptr<Executable>> parse(const std::string &text);

  const std::shared_ptr<frontend::Program> &getProgram() const { return program; }

  /// Runs the checks that every engine wants (Pipeline.h). The error is the program's.
  llvm::Error check(const PipelineOptions &options = {}) const;

  /// The program on an engine (Engine.h names the devices), compiled on first use.
  llvm::Expected<std::shared_ptr<CompiledKernel>> getKernel(llvm::StringRef device);

  /// Code that `options` have shown; it is compiled anew and not kept.
  llvm::Expected<std::shared_ptr<const CompiledArtifact>>
  compileShown(llvm::StringRef device, const PipelineOptions &options) const;

  /// Code for an architecture, for calls in which 16 divides the shape symbols `divisible`. It is
  /// shown if `options` say so, else compiled once.
  llvm::Expected<std::shared_ptr<const CompiledArtifact>>
  getGpuCode(llvm::StringRef arch, const std::vector<std::string> &divisible,
             PipelineOptions options = {});

  /// Checks the arguments of a call without making anything ready for it.
  llvm::Error checkArguments(llvm::ArrayRef<runtime::CallArgument> arguments) const;

  /// The tile IR. Printing makes attributes, so it waits until the context is free; the error is
  /// an interruption of the wait.
  llvm::Expected<std::string> getText(bool withLocations) const;

  /// A copy, in a context of its own, that differs in a unit attribute of the function, as
  /// `tile.fast_math`.
  llvm::Expected<std::shared_ptr<Executable>> withSetting(llvm::StringRef name, bool isSet) const;

private:
  struct Slot {
    ForkedMutex mutex; ///< Held while the kernel is compiled.
    std::shared_ptr<CompiledKernel> kernel;
  };
  std::shared_ptr<Slot> getSlot(llvm::StringRef device);

  const std::shared_ptr<frontend::Program> program;
  ForkedMutex slotsMutex;                             ///< Held shortly.
  std::map<std::string, std::shared_ptr<Slot>> slots; ///< By device.
};

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_EXECUTABLE_H
