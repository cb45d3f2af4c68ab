//===- OwnFiles.cpp - files that only this user can have written ------------------------------===//

#include "OwnFiles.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstdlib>
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

Descriptor tilewright::runtime::openOwnDirectory(const std::string &path, std::string &problem) {
  if (std::error_code error =
          sys::fs::create_directories(path, /*IgnoreExisting=*/true, sys::fs::owner_all)) {
    problem = error.message();
    return Descriptor();
  }
  // A link that the user made to another folder is fine: what it leads to is judged.
  Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
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
