//===- CpuDevice.cpp - runs code that was compiled for the host -------------------------------===//

#include "tilewright/Runtime/CpuDevice.h"

#include "llvm/Support/raw_ostream.h"

using namespace tilewright;
using namespace tilewright::runtime;

char LaunchError::ID = 0;

void LaunchError::log(llvm::raw_ostream &os) const {
  if (line)
    os << file << ":" << line << ":" << column << ": error: ";
  os << message;
}

llvm::Error tilewright::runtime::runOnCpu(host::Entry entry, llvm::ArrayRef<uint64_t> arguments,
                                          const CpuRunOptions &options) {
  rt::CpuRunOptions run;
  run.isDeterministic = options.isDeterministic;
  run.poll = options.poll;
  if (options.output)
    run.print = [&](std::string_view line) { *options.output << line; };
  if (std::optional<rt::RunFailure> failure = rt::runOnCpu(entry, arguments.data(), run))
    return llvm::make_error<LaunchError>(failure->message, failure->file, failure->line,
                                         failure->column);
  return llvm::Error::success();
}
