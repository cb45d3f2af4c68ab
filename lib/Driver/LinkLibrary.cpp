//===- LinkLibrary.cpp - the system's linker on the archive of an exported library ------------===//

#include "tilewright/Driver/Export.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilewright::driver {

/// The first of these programs that is installed.
static Expected<std::string> findProgram(ArrayRef<StringRef> names, StringRef what) {
  for (StringRef name : names)
    if (ErrorOr<std::string> path = sys::findProgramByName(name))
      return *path;
  return makeProgramError(what + " needs a linker, and none of " + join(names, ", ") +
                          " is installed; the archive (.a) needs none");
}

/// A name for a file that does not exist yet.
static Expected<std::string> makeTemporary(StringRef suffix, StringRef content) {
  SmallString<128> path;
  int descriptor = -1;
  if (std::error_code code = sys::fs::createTemporaryFile("tilewright", suffix, descriptor, path))
    return makeProgramError("cannot write a temporary file: " + code.message());
  raw_fd_ostream(descriptor, /*shouldClose=*/true) << content;
  return path.str().str();
}

/// Runs a program; the error has its words.
static Error execute(ArrayRef<std::string> command) {
  Expected<std::string> log = makeTemporary("log", "");
  if (!log)
    return log.takeError();
  scope_exit removeLog([&] { sys::fs::remove(*log); });
  SmallVector<StringRef> arguments(command.begin(), command.end());
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(*log), StringRef(*log)};
  std::string problem;
  int code = sys::ExecuteAndWait(command.front(), arguments, std::nullopt, redirects,
                                 /*SecondsToWait=*/600, /*MemoryLimit=*/0, &problem);
  if (code == 0)
    return Error::success();
  if (ErrorOr<std::unique_ptr<MemoryBuffer>> words = MemoryBuffer::getFile(*log);
      words && !(*words)->getBuffer().trim().empty())
    problem = (*words)->getBuffer().trim().str();
  return makeProgramError("'" + sys::path::filename(command.front()) +
                          "' could not link the "
                          "library: " +
                          problem);
}

static Error linkObject(const LinkOptions &options) {
  Expected<std::string> linker = findProgram({"ld", "ld.lld", "ld.lld-22"}, "an object file (.o)");
  if (!linker)
    return linker.takeError();
  return execute({*linker, "-r", "-o", options.output, "--whole-archive", options.archive});
}

static Error linkShared(const LinkOptions &options) {
  Expected<std::string> compiler =
      findProgram({"cc", "gcc", "clang", "clang-22"}, "a shared library (.so)");
  if (!compiler)
    return compiler.takeError();
  std::string exports = "{ global: tilewright_library;";
  for (const std::string &symbol : options.symbols)
    exports += " " + symbol + ";";
  Expected<std::string> map = makeTemporary("map", exports + " local: *; };\n");
  if (!map)
    return map.takeError();
  scope_exit removeMap([&] { sys::fs::remove(*map); });
  return execute({*compiler, "-shared", "-o", options.output, "-Wl,--whole-archive",
                  options.archive, "-Wl,--no-whole-archive", "-Wl,--no-as-needed",
                  "-L" + options.runtimeFolder, "-ltilewright_rt", "-lm",
                  "-Wl,-soname," + options.library + ".so",
                  "-Wl,-rpath,$ORIGIN:" + options.runtimeFolder,
                  "-Wl,--defsym=tilewright_library=" + options.library + "_library",
                  "-Wl,--version-script=" + *map, "-Wl,-z,noexecstack"});
}

Error linkLibrary(const LinkOptions &options) {
  return options.isShared ? linkShared(options) : linkObject(options);
}

} // namespace tilewright::driver
