//===- Parser.h - PTX text to a module --------------------------------------------------===//
//
// Accepts PTX up to ISA 9.x as LLVM, nvcc and Triton print it. Refuses with
// `file:line: error: ...`; never crashes on garbage (test/fuzz keeps it so).
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_PTX_PARSER_H
#define VGPU_PTX_PARSER_H

#include "vgpu/Ptx/Module.h"
#include "llvm/Support/Error.h"

namespace vgpu::ptx {

llvm::Expected<std::unique_ptr<Module>> parseModule(llvm::StringRef text, llvm::StringRef fileName);

/// True for the name of a special register ("%tid.x", "%laneid", "WARP_SZ").
bool isSpecialRegister(llvm::StringRef name);

} // namespace vgpu::ptx

#endif // VGPU_PTX_PARSER_H
