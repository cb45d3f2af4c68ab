//===- Vgpu.h - run PTX without a GPU, and catch what hardware hides --------------------------===//
//
// The front door. Load PTX text, describe a launch, run it; the result is what the kernel wrote to
// its arguments, the findings of the checks, and counters.
//
//   auto module = vgpu::parsePtx(text, "saxpy.ptx");
//   vgpu::LaunchConfig config;
//   config.entry = "saxpy";
//   config.grid.x = 4;
//   config.block.x = 256;
//   auto result = vgpu::launch(**module, config, {vgpu::Argument::scalar(1024),
//                                                 vgpu::Argument::buffer(y, bytes, "y")});
//
// Errors (unknown instruction, bad launch) are llvm::Error; defects of the kernel are findings.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_VGPU_H
#define VGPU_VGPU_H

#include "vgpu/Counters/Counters.h"
#include "vgpu/Events/Finding.h"
#include "vgpu/Exec/TensorMap.h"
#include "vgpu/Machine/Launch.h"
#include "vgpu/Ptx/Parser.h"
#include <cstring>

namespace vgpu {

/// A loaded PTX file: parsed, and every kernel in it decoded.
class Module {
public:
  const ptx::Module &ptx() const { return *source; }
  const Program *findKernel(llvm::StringRef name) const;
  /// Why a kernel that is in the file cannot be run; empty if it can. Other kernels of the file
  /// can.
  std::string whyUnsupported(llvm::StringRef name) const { return unsupported.lookup(name); }
  llvm::ArrayRef<std::unique_ptr<Program>> kernels() const { return programs; }

private:
  friend llvm::Expected<std::unique_ptr<Module>> loadModule(llvm::StringRef, llvm::StringRef);
  std::unique_ptr<ptx::Module> source;
  std::vector<std::unique_ptr<Program>> programs;
  llvm::StringMap<std::string> unsupported;
};

/// Parses and decodes; an instruction that is not known is an error that names it and its line.
llvm::Expected<std::unique_ptr<Module>> parsePtx(llvm::StringRef text, llvm::StringRef fileName);

/// One kernel argument: bytes by value, a pointer to memory of the host, or a tensor map of such
/// memory. Memory that several arguments name has one device address.
struct Argument {
  enum class Kind : uint8_t { Bytes, Buffer, TensorMap } kind = Kind::Bytes;
  std::vector<uint8_t> bytes; ///< Bytes: must have the parameter's size
  void *host = nullptr;       ///< Buffer, TensorMap: updated in place
  uint64_t sizeBytes = 0;
  uint64_t offsetBytes = 0; ///< the pointer passed, or the map's element 0, is this far into it
  std::string name;         ///< for messages; the parameter's name if empty
  vgpu::TensorMap map;      ///< TensorMap: all but the address

  template <class T> static Argument scalar(T value) {
    Argument argument;
    argument.bytes.resize(sizeof(T));
    std::memcpy(argument.bytes.data(), &value, sizeof(T));
    return argument;
  }
  static Argument raw(llvm::ArrayRef<uint8_t> bytes) {
    Argument argument;
    argument.bytes.assign(bytes.begin(), bytes.end());
    return argument;
  }
  static Argument buffer(void *host, uint64_t sizeBytes, std::string name = "") {
    Argument argument;
    argument.kind = Kind::Buffer;
    argument.host = host;
    argument.sizeBytes = sizeBytes;
    argument.name = std::move(name);
    return argument;
  }
  static Argument tensorMap(vgpu::TensorMap map, void *host, uint64_t sizeBytes,
                            std::string name = "") {
    Argument argument = buffer(host, sizeBytes, std::move(name));
    argument.kind = Kind::TensorMap;
    argument.map = std::move(map);
    return argument;
  }
};

struct LaunchResult {
  std::vector<Finding> findings; ///< sorted; notes included (Finding::isNote)
  Counters counters;
  std::string output;                  ///< what the kernel printed (vprintf), block after block
  std::optional<AccessSite> lastWrite; ///< of LaunchConfig::watch; empty: not written
  /// Of LaunchConfig::trace, as EventTrace::take has it; empty: the block did not run.
  std::optional<llvm::json::Value> trace;
  bool isComplete = true; ///< false: a fault, deadlock or the step limit ended the launch early

  bool isClean() const {
    return llvm::none_of(findings, [](const Finding &finding) { return !finding.isNote; });
  }
};

/// Checks the launch against the kernel and the architecture's limits, then runs it.
llvm::Expected<LaunchResult> launch(const Module &module, const LaunchConfig &config,
                                    llvm::ArrayRef<Argument> arguments);

} // namespace vgpu

#endif // VGPU_VGPU_H
