//===- ExportTexts.h - the header and the description of an exported library --------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_DRIVER_EXPORTTEXTS_H
#define TILEWRIGHT_LIB_DRIVER_EXPORTTEXTS_H

#include "tilewright/Codegen/Cpu/HostCode.h"
#include "tilewright/Rt/Image.h"

namespace tilewright::driver {

/// How the parameters of a function look in C. All forms of a function must look the same.
llvm::Expected<std::vector<cpu::LibraryFunction::Parameter>>
findParameters(const rt::Function &function);

/// NAME.h, in C.
std::string writeHeader(llvm::StringRef name, const rt::Image &image,
                        const cpu::LibraryInterface &interface);

/// NAME.json: what the library has, for tools.
std::string describeLibrary(llvm::StringRef name, const rt::Image &image);

} // namespace tilewright::driver

#endif // TILEWRIGHT_LIB_DRIVER_EXPORTTEXTS_H
