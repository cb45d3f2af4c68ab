//===- HostCode.h - machine code for the host, front door of the room ---------------*- C++ -*-===//
//
// The CPU backend: tile IR ▶ loops and vectors (Lower.h) ▶ LLVM IR, optimised for the host ▶ object
// code ▶ linked into the process by ORC. No compiler or linker is started. What compiled code needs
// while it runs it gets from the caller (Support/HostAbi.h); threads and memory are the runtime's.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_CODEGEN_CPU_HOSTCODE_H
#define TILEWRIGHT_CODEGEN_CPU_HOSTCODE_H

#include "tilewright/Codegen/Cpu/Lower.h"
#include "tilewright/Support/HostAbi.h"
#include "tilewright/Support/PhaseTime.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::cpu {

/// The processor that code is made for.
struct HostTarget {
  std::string cpu;          ///< LLVM's name, e.g. `znver4`.
  std::string features;     ///< `+avx2,-avx512f,…`
  unsigned vectorWidth = 8; ///< float32 elements of the widest vector.
  /// Adds products of two bfloat16 (AVX512-BF16) or four bytes (AVX512-VNNI) at a time, and gains by
  /// it.
  bool hasBf16Dots = false;
  bool hasInt8Dots = false;
  /// Multiplies tiles in registers (AMX), and the system lets this process.
  bool hasBf16Tiles = false;
  bool hasInt8Tiles = false;
  bool tilesInSoftware = false;                ///< See LowerOptions.
  bool hasRange = false;                       ///< See LowerOptions.
  int64_t productsPerCycle = 16;               ///< Of float32, that a core adds.
  int64_t secondCacheBytes = int64_t(1) << 20; ///< Of a core.
  int64_t readAheadBytes = 8192;               ///< See LowerOptions.

  /// What code depends on beside `cpu` and `features`, for names of cache entries.
  std::string getChoices() const;

  /// This machine. `TILEWRIGHT_CPU` leaves instructions out, so that all paths can be tested.
  static HostTarget detect();
  /// "x86-64-v3" (AVX2), "x86-64-v4" (AVX-512) or "host", this machine; nothing for another name.
  static std::optional<HostTarget> find(llvm::StringRef name);
};

struct CompileOptions {
  HostTarget target = HostTarget::detect();
  /// Gets the name of each phase and the text it leaves: "host" (MLIR), "llvm" and "asm".
  std::function<void(llvm::StringRef phase, llvm::StringRef text)> dump;
};

/// Why a program has no code for the host, at the user's line if there is one.
class CompileError : public llvm::ErrorInfo<CompileError> {
public:
  static char ID;
  std::string message, file;
  int64_t line = 0, column = 0;
  bool isInternal = false; ///< Our mistake, not the program's.

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
};

/// Makes one CompileError of the errors that are emitted while it lives, at the location of the first.
class ErrorCollector {
public:
  explicit ErrorCollector(mlir::MLIRContext *context);

  /// What was collected; if that is nothing, an internal error.
  llvm::Error takeError(llvm::StringRef fallback);

private:
  std::unique_ptr<CompileError> error = std::make_unique<CompileError>();
  mlir::ScopedDiagnosticHandler handler;
};

/// Compiles the host functions of a module in the LLVM dialect, which is consumed, to an object file
/// in memory.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
emitObject(mlir::ModuleOp host, const CompileOptions &options,
           std::vector<PhaseTime> *phases = nullptr);

/// A function of an exported library's interface (tilewright/runtime.h).
struct LibraryFunction {
  /// How a parameter arrives, and what it becomes: a tw_value of this kind.
  enum class Parameter {
    Tensor,
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float,
    Double
  };
  std::string name;
  std::vector<Parameter> parameters;
};

/// What an exported library has beside the code of its kernels.
struct LibraryInterface {
  std::string name;
  std::string image;                ///< Rt/Image.h
  std::vector<std::string> entries; ///< Symbols of host::Entry functions.
  std::vector<LibraryFunction> functions;
};

/// An object file with the interface: the functions of its header, and the tw_library.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> emitInterface(const LibraryInterface &library);

/// Object code linked into this process; it lives as long as this does.
class HostCode {
public:
  static llvm::Expected<std::unique_ptr<HostCode>> link(std::unique_ptr<llvm::MemoryBuffer> object);
  ~HostCode();

  /// The entry of the function `name`.
  llvm::Expected<host::Entry> lookup(llvm::StringRef name) const;

private:
  struct Linker;
  explicit HostCode(std::unique_ptr<Linker> linker);
  std::unique_ptr<Linker> linker;
};

} // namespace tilewright::cpu

#endif // TILEWRIGHT_CODEGEN_CPU_HOSTCODE_H
