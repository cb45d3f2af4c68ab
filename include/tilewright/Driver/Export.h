//===- Export.h - kernels as a library that needs no compiler -----------------------*- C++ -*-===//
//
// Compiles kernels ahead of time: for each processor and architecture that was named, and for each
// kind of call, and puts the code with what its calls need to know (Rt/Image.h) into files that a
// program in C or C++ links. docs/internals/rationale/exported-libraries.md says why they look as
// they do.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_EXPORT_H
#define TILEWRIGHT_DRIVER_EXPORT_H

#include "tilewright/Driver/Executable.h"

namespace tilewright::driver {

/// A function of a library: one kernel, for several shapes if there are several programs.
struct ExportedFunction {
  struct Form {
    std::shared_ptr<Executable> program;
    bool isDeterministic = false; ///< Blocks run one after another, if that can show.
  };
  std::string name;
  std::vector<Form> forms;
};

struct ExportOptions {
  std::string
      name; ///< Of the library: of its files, and of its tw_library with "_library" after it.
  /// Processors of the host: "x86-64-v3", "x86-64-v4", "host".
  std::vector<std::string> cpus = {"x86-64-v4", "x86-64-v3"};
  std::vector<std::string> archs; ///< Of GPUs.
  std::string release;            ///< Of the compiler.
  /// Makes a cubin of PTX for an architecture; without it libraries have PTX only.
  std::function<llvm::Expected<std::string>(const std::string &ptx, llvm::StringRef arch)> assemble;
};

/// The files of a library, as bytes.
struct ExportedLibrary {
  std::string header, archive, description; ///< NAME.h, NAME.a, NAME.json
  std::vector<std::string> symbols;         ///< That the header declares.
};

/// Errors are ProgramErrors.
llvm::Expected<ExportedLibrary> exportLibrary(llvm::ArrayRef<ExportedFunction> functions,
                                              const ExportOptions &options);

/// What a linker makes of an archive.
struct LinkOptions {
  std::string archive, output;      ///< Paths.
  std::string library;              ///< Its name.
  bool isShared = true;             ///< A shared library; else one object file.
  std::string runtimeFolder;        ///< That of libtilewright_rt, for a shared library.
  std::vector<std::string> symbols; ///< That a shared library offers.
};
/// Has the system's linker make the file.
llvm::Error linkLibrary(const LinkOptions &options);

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_EXPORT_H
