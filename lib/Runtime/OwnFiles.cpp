//===- OwnFiles.cpp - files that only this user can have written ------------------------------===//

#include "OwnFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace tilewright::runtime;

Descriptor::~Descriptor() {
  if (number >= 0)
    close(number);
}

std::string tilewright::runtime::findForeign(const struct stat &facts) {
  if (facts.st_uid != geteuid())
    return "it belongs to another user";
  if (facts.st_mode & S_IWOTH)
    return "everybody may write to it";
  if (facts.st_mode & S_IWGRP)
    return "its group may write to it";
  return "";
}

static Descriptor openPath(int folder, const std::string &name, int flags) {
  return Descriptor(openat(folder, name.c_str(), flags | O_CLOEXEC));
}

/// What stands at `name` in a folder, a link itself; a directory is made where there is nothing.
static Descriptor openOrMake(const Descriptor &folder, const std::string &name) {
  Descriptor found = openPath(folder.get(), name, O_PATH | O_NOFOLLOW);
  if (found || errno != ENOENT)
    return found;
  if (mkdirat(folder.get(), name.c_str(), 0700) != 0 && errno != EEXIST)
    return Descriptor();
  return openPath(folder.get(), name, O_PATH | O_NOFOLLOW);
}

/// Where a link leads to; empty and `errno` if that cannot be read.
static std::string readLink(const Descriptor &link) {
  char text[PATH_MAX];
  ssize_t size = readlinkat(link.get(), "", text, sizeof(text));
  return std::string(text, size > 0 ? size : 0);
}

namespace {
/// Goes along a path step by step. Links are followed by hand: one that another user made would
/// lead to any directory of this user, such as one that was unpacked.
class PathWalk {
public:
  explicit PathWalk(StringRef path) { add(path); }

  /// The directory at the end, or none and `problem`.
  Descriptor run(std::string &problem);

private:
  void add(StringRef path) {
    if (path.starts_with("/"))
      folder = openPath(AT_FDCWD, "/", O_PATH | O_DIRECTORY);
    SmallVector<StringRef> names;
    path.split(names, '/', -1, /*KeepEmpty=*/false);
    for (StringRef name : llvm::reverse(names))
      rest.push_back(name.str());
  }

  Descriptor folder;             ///< Up to here; an empty path has none.
  std::vector<std::string> rest; ///< The names that come, the next one last.
};
} // namespace

Descriptor PathWalk::run(std::string &problem) {
  constexpr unsigned mostLinks = 40; // as many as Linux follows
  for (unsigned numLinks = 0; folder && !rest.empty();) {
    std::string name = std::move(rest.back());
    rest.pop_back();
    Descriptor next = openOrMake(folder, name);
    struct stat facts = {};
    if (!next || fstat(next.get(), &facts) != 0) {
      problem = std::strerror(errno);
      return Descriptor();
    }
    if (!S_ISLNK(facts.st_mode)) {
      folder = std::move(next);
      continue;
    }
    if (facts.st_uid != geteuid() && facts.st_uid != 0) {
      problem = "the symbolic link '" + name + "' on the way belongs to another user";
      return Descriptor();
    }
    std::string target = readLink(next);
    if (target.empty() || ++numLinks > mostLinks) {
      problem = std::strerror(target.empty() ? errno : ELOOP);
      return Descriptor();
    }
    add(target);
  }
  return std::move(folder);
}

Descriptor tilewright::runtime::openOwnDirectory(const std::string &path, std::string &problem) {
  Descriptor found = PathWalk(path).run(problem);
  if (!problem.empty())
    return Descriptor();
  Descriptor directory = openPath(found.get(), ".", O_RDONLY | O_DIRECTORY);
  struct stat facts = {};
  if (!directory || fstat(directory.get(), &facts) != 0) {
    problem = errno == ENOTDIR ? "it is not a directory" : std::strerror(errno);
    return Descriptor();
  }
  problem = findForeign(facts);
  return problem.empty() ? std::move(directory) : Descriptor();
}

/// Everything that the file has, up to `expected` bytes; fewer if it is shorter by now.
static std::string readAll(int file, size_t expected) {
  std::string bytes(expected, '\0');
  size_t filled = 0;
  while (filled < expected) {
    ssize_t count = read(file, bytes.data() + filled, expected - filled);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    filled += count;
  }
  bytes.resize(filled);
  return bytes;
}

ReadResult tilewright::runtime::readOwnFile(const Descriptor &directory, const std::string &name,
                                            uint64_t maxBytes, std::string &bytes) {
  // Opening a FIFO would wait for a writer, and opening a device may do anything: O_NONBLOCK.
  Descriptor file(openat(directory.get(), name.c_str(),
                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!file)
    return errno == ENOENT ? ReadResult::Absent : ReadResult::Foreign;
  struct stat facts = {};
  if (fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) || !findForeign(facts).empty() ||
      uint64_t(facts.st_size) > maxBytes)
    return ReadResult::Foreign;
  bytes = readAll(file.get(), facts.st_size);
  futimens(file.get(), nullptr); // used just now; a read-only store stays as it is
  return ReadResult::Whole;
}

/// The home that the system's list of users has.
static std::string findListedHome() {
  long size = sysconf(_SC_GETPW_R_SIZE_MAX);
  std::vector<char> buffer(size > 0 ? size : 16384);
  struct passwd entry, *found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found ||
      !found->pw_dir)
    return "";
  return found->pw_dir;
}

std::string tilewright::runtime::findCacheFolder() {
  auto isUsable = [](StringRef path) { return sys::path::is_absolute(path); };
  const char *folder = std::getenv("XDG_CACHE_HOME");
  if (folder && isUsable(folder))
    return folder;
  const char *variable = std::getenv("HOME");
  std::string home = variable && isUsable(variable) ? variable : findListedHome();
  return isUsable(home) ? home + "/.cache" : "";
}
