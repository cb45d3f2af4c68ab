//===- Image.h - what an exported library says about its kernels --------------------*- C++ -*-===//
//
// An exported library holds machine code of the host, and beside it one piece of data that says all
// else: parameters, which code is for which processor and which calls, PTX, how to launch it. The
// compiler writes it (Driver/Export.h), the runtime reads it at the first call.
//
// A function may have several forms: one kernel compiled for several shapes. A call runs the first
// form whose parameters its arguments fit.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RT_IMAGE_H
#define TILEWRIGHT_RT_IMAGE_H

#include "tilewright/Rt/CpuFeatures.h"
#include "tilewright/Rt/GpuCode.h"

namespace tilewright::rt {

/// Code of the host. Of those that a processor and a call allow, the first one runs.
struct CpuVariant {
  std::string target; ///< "x86-64-v3", "x86-64-v4", or LLVM's name of a processor.
  CpuFeatures needs;
  bool assumesDisjoint = true; ///< No tensor that is written shares memory with another.
  unsigned entry = 0;          ///< Its number among the entries of the library.
};

/// Code of a GPU. Of those that a GPU and a call allow, the first one runs whose tensor maps can be
/// made.
struct GpuVariant {
  std::string arch;     ///< "sm_90a"
  int64_t version = 0;  ///< 90
  bool isExact = false; ///< For GPUs of exactly this version, not for later ones.
  bool assumesDisjoint = true;
  int64_t alignment = 16;          ///< Bytes that divide the address of every tensor.
  std::vector<unsigned> divisible; ///< Symbols that 16 divides.
  std::vector<GpuKernel> kernels;
  LaunchFormulas launches;
  std::string code; ///< PTX, ended with 0, or a cubin.
};

struct Form {
  Signature signature;
  /// Blocks update what they share, so that their order can show in a result.
  bool dependsOnBlockOrder = false;
  bool isDeterministic = false; ///< They run one after another.
  std::vector<CpuVariant> cpu;
  std::vector<GpuVariant> gpu;
};

struct Function {
  std::string name;
  std::vector<Form> forms;
};

struct Image {
  std::string release; ///< Of the compiler.
  std::vector<Function> functions;
};

std::string writeImage(const Image &image);
/// The image of a library with so many entries; an error if the bytes are not what `writeImage` wrote.
Result<Image> readImage(std::span<const unsigned char> bytes, unsigned numEntries);

} // namespace tilewright::rt

#endif // TILEWRIGHT_RT_IMAGE_H
