//===- DiskCache.h - results kept from one process to the next ----------------------*- C++ -*-===//
//
// One store for everything that is expensive to make and a function of its inputs: object code of
// the CPU, PTX, cubins, results of tuning. An entry is a file named by the digest of all that its
// content depends on, so entries never become stale: they only stop being used.
//
//   <directory>/<kind>-<digest of the key>     magic, length, checksum, content
//
// Safe with many processes at once: a file appears under its name by rename, complete. A file that
// is torn or damaged in any bit fails its checksum, is removed, and counts as absent. The store is
// bounded: after each new entry those that were used longest ago go until the sum fits.
//
// Its files are executed: a directory or an entry that belongs to another user, or that its group
// or others may write, is never read, and neither is anything but a regular file under an entry's
// name.
//
// A directory that cannot be used (not writable, full, not ours) is not an error: work continues
// without it, and `getProblem` says why.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RUNTIME_DISKCACHE_H
#define TILEWRIGHT_RUNTIME_DISKCACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace tilewright::runtime {

class Descriptor;

class DiskCache {
public:
  /// What happened since this store was opened.
  struct Counts {
    uint64_t hits = 0, misses = 0, stores = 0, damaged = 0, evictions = 0;
    /// Something under an entry's name that this user did not write; counted in `misses` too.
    uint64_t foreign = 0;
  };

  /// An empty directory is a store that keeps nothing.
  DiskCache(std::string directory, uint64_t maxBytes);

  /// The store of this process: `TILEWRIGHT_CACHE_DIR`, else `tilewright` in the user's cache
  /// folder; at most `TILEWRIGHT_CACHE_MB` (512). `TILEWRIGHT_CACHE=0` switches it off. The
  /// environment may change while the process runs.
  static std::shared_ptr<DiskCache> getShared();
  /// Switches the shared store off and on again.
  static void setEnabled(bool isEnabled);

  /// The name of an entry: all parts of `key` matter, and where one ends and the next begins.
  static std::string makeName(llvm::StringRef kind, llvm::ArrayRef<llvm::StringRef> key);

  /// The content of the bytes of an entry's file, if they are whole.
  static std::optional<std::string> unpack(llvm::StringRef name, llvm::StringRef file);

  std::optional<std::string> lookup(llvm::StringRef name);
  void store(llvm::StringRef name, llvm::StringRef content);

  const std::string &getDirectory() const { return directory; }
  Counts getCounts() const;
  /// Why entries are not kept; empty if they are.
  std::string getProblem() const;

private:
  Descriptor openDirectory();
  void fail(const std::string &text);
  void evict(const Descriptor &folder);

  const std::string directory;
  const uint64_t maxBytes;
  mutable std::mutex mutex;
  std::string problem;
  Counts counts;
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_RUNTIME_DISKCACHE_H
