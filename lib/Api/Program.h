//===- Program.h - what a Program of the C++ interface is ------------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_API_PROGRAM_H
#define TILEWRIGHT_API_PROGRAM_H

#include "tilewright/Driver/Executable.h"
#include "tilewright/Frontend/Values.h"
#include "tilewright/tilewright.h"

namespace tw {

struct Program::Impl {
  std::shared_ptr<tilewright::driver::Executable> executable;
};

Error toError(const tilewright::frontend::UserError &report);

} // namespace tw

#endif // TILEWRIGHT_API_PROGRAM_H
