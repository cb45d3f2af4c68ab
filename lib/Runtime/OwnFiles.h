//===- OwnFiles.h - files that only this user can have written ----------------------*- C++ -*-===//
//
// What a process executes in the name of its user must come from that user. A directory or file is
// *own* if it belongs to the user of this process and neither its group nor others may write to it.
// Everything is opened once and judged by its descriptor, so that what was judged is what is read.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_RUNTIME_OWNFILES_H
#define TILEWRIGHT_LIB_RUNTIME_OWNFILES_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <sys/stat.h>
#include <utility>

namespace tilewright::runtime {

/// A file descriptor that is closed with its owner; -1 if nothing was opened.
class Descriptor {
public:
  explicit Descriptor(int number = -1) : number(number) {}
  Descriptor(Descriptor &&other) : number(std::exchange(other.number, -1)) {}
  Descriptor &operator=(Descriptor &&other) {
    std::swap(number, other.number);
    return *this;
  }
  ~Descriptor();

  explicit operator bool() const { return number >= 0; }
  int get() const { return number; }

private:
  int number;
};

/// Why something is not own; empty if it is.
std::string findForeign(const struct stat &facts);

/// Opens an own directory, which is made with mode 0700 where there is none. Symbolic links on the
/// way count if this user or root made them. Where that fails, `problem` says why.
Descriptor openOwnDirectory(const std::string &path, std::string &problem);

enum class ReadResult {
  Absent,
  Foreign, ///< No regular file, a symbolic link, not own, or longer than the limit: not read.
  Whole
};

/// Reads an own regular file of at most `maxBytes` in `directory`. Never waits for a FIFO.
ReadResult readOwnFile(const Descriptor &directory, const std::string &name, uint64_t maxBytes,
                       std::string &bytes);

/// The folder for caches of this user: `XDG_CACHE_HOME`, else `.cache` in `HOME`, else in the home
/// that the system knows. A variable that is empty or relative is passed over. Empty if there is
/// none.
std::string findCacheFolder();

} // namespace tilewright::runtime

#endif // TILEWRIGHT_LIB_RUNTIME_OWNFILES_H
