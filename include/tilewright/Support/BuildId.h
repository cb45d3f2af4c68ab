//===- BuildId.h - which compiler this is -------------------------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_SUPPORT_BUILDID_H
#define TILEWRIGHT_SUPPORT_BUILDID_H

#include <string>

namespace tilewright {

/// Names the code that is running: the build ids that the linker wrote into the file with our code
/// and into LLVM's and MLIR's libraries. Two builds that could compile a program differently have
/// different names. A file without a build id is named by its path, size and time of change.
const std::string &getBuildId();

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_BUILDID_H
