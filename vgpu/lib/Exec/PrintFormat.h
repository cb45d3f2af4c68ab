//===- PrintFormat.h - printf of the device, from its format and its arguments ---------------===//
#ifndef VGPU_LIB_EXEC_PRINTFORMAT_H
#define VGPU_LIB_EXEC_PRINTFORMAT_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace vgpu {

/// Where the arguments of a printf come from: one after the other, each as wide as C promotes it
/// to, and for %s the text it points at.
class PrintArguments {
public:
  virtual ~PrintArguments() = default;
  virtual uint64_t next(unsigned bytes) = 0;
  virtual std::string text(uint64_t address) = 0;
};

/// What `format` prints. Conversions, flags, widths and precisions (`*` too) are C's; a conversion
/// that is not C's is printed as it stands. `count` becomes the number of arguments used.
std::string formatPrint(llvm::StringRef format, PrintArguments &arguments, unsigned &count);

} // namespace vgpu

#endif // VGPU_LIB_EXEC_PRINTFORMAT_H
