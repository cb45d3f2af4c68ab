//===- DiskCache.cpp - results kept from one process to the next ------------------------------===//

#include "tilewright/Runtime/DiskCache.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <vector>

using namespace llvm;
using namespace tilewright::runtime;

namespace {

constexpr char kMagic[8] = {'T', 'W', 'C', 'A', 'C', 'H', 'E', '1'};
constexpr StringLiteral kTemporary = "new-";

/// In front of the content.
struct Header {
  char magic[8];
  uint64_t bytes;
  uint8_t checksum[32];
};

/// Of the content and of the name, so that a file under another's name is refused too.
BLAKE3Result<32> checksumOf(StringRef name, StringRef content) {
  BLAKE3 hasher;
  hasher.update(name);
  hasher.update(content);
  return hasher.final<32>();
}

Header makeHeader(StringRef name, StringRef content) {
  Header header;
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.bytes = content.size();
  BLAKE3Result<32> checksum = checksumOf(name, content);
  std::memcpy(header.checksum, checksum.data(), checksum.size());
  return header;
}

/// The content of a file's bytes if they are whole.
std::optional<std::string> readContent(StringRef name, StringRef file) {
  Header header;
  if (file.size() < sizeof(header))
    return std::nullopt;
  StringRef content = file.drop_front(sizeof(header));
  header = makeHeader(name, content);
  if (std::memcmp(file.data(), &header, sizeof(header)) != 0)
    return std::nullopt;
  return content.str();
}

} // namespace

DiskCache::DiskCache(std::string directory, uint64_t maxBytes)
    : directory(std::move(directory)), maxBytes(maxBytes) {}

std::string DiskCache::makeName(StringRef kind, ArrayRef<StringRef> key) {
  BLAKE3 hasher;
  for (StringRef part : key) {
    uint64_t size = part.size();
    hasher.update(ArrayRef(reinterpret_cast<const uint8_t *>(&size), sizeof(size)));
    hasher.update(part);
  }
  return kind.str() + "-" + toHex(hasher.final<20>(), /*LowerCase=*/true);
}

//===----------------------------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------------------------===//

std::optional<std::string> DiskCache::lookup(StringRef name) {
  if (directory.empty())
    return std::nullopt;
  std::lock_guard lock(mutex);
  if (!prepareDirectory())
    return std::nullopt;
  std::string path = pathOf(name);
  // A private copy: a mapped file that somebody truncates would take the process down.
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false,
                                    /*IsVolatile=*/true);
  if (!file) {
    ++counts.misses;
    return std::nullopt;
  }
  std::optional<std::string> content = readContent(name, (*file)->getBuffer());
  if (!content) {
    ++counts.misses;
    ++counts.damaged;
    sys::fs::remove(path);
    return std::nullopt;
  }
  ++counts.hits;
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0); // used just now; a read-only store stays as it is
  return content;
}

bool DiskCache::fail(const std::string &text) {
  problem = "nothing is kept in the cache directory '" + directory + "': " + text;
  return false;
}

bool DiskCache::prepareDirectory() {
  if (isPrepared)
    return true;
  if (std::error_code error =
          sys::fs::create_directories(directory, /*IgnoreExisting=*/true, sys::fs::owner_all))
    return fail(error.message());
  struct stat facts = {};
  if (stat(directory.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode))
    return fail("it is not a directory");
  // Its files are executed.
  if (facts.st_mode & S_IWOTH)
    return fail("everybody may write to it");
  return isPrepared = true;
}

void DiskCache::store(StringRef name, StringRef content) {
  if (directory.empty() || content.size() > maxBytes)
    return;
  std::lock_guard lock(mutex);
  if (!prepareDirectory())
    return;
  int descriptor = -1;
  SmallString<128> temporary;
  std::string pattern = pathOf(kTemporary) + "%%%%%%%%%%%%";
  std::error_code error = sys::fs::createUniqueFile(pattern, descriptor, temporary);
  if (error == std::errc::no_such_file_or_directory) { // somebody has emptied the cache
    isPrepared = false;
    if (!prepareDirectory())
      return;
    error = sys::fs::createUniqueFile(pattern, descriptor, temporary);
  }
  if (error) {
    fail(error.message());
    return;
  }
  Header header = makeHeader(name, content);
  raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os.write(reinterpret_cast<const char *>(&header), sizeof(header));
  os << content;
  os.close();
  error = os.error();
  os.clear_error();
  if (!error)
    error = sys::fs::rename(temporary, pathOf(name));
  if (error) {
    fail(error.message());
    sys::fs::remove(temporary);
    return;
  }
  ++counts.stores;
  problem.clear();
  evict();
}

//===----------------------------------------------------------------------------------------===//
// The bound
//===----------------------------------------------------------------------------------------===//

/// Removes what was used longest ago until the rest fits, and what dead processes left half-made.
void DiskCache::evict() {
  struct Entry {
    std::string path;
    uint64_t bytes;
    sys::TimePoint<> used;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  auto now = std::chrono::system_clock::now();
  std::error_code error;
  for (sys::fs::directory_iterator it(directory, error), end; it != end && !error;
       it.increment(error)) {
    sys::fs::file_status facts;
    if (sys::fs::status(it->path(), facts) || facts.type() != sys::fs::file_type::regular_file)
      continue;
    if (sys::path::filename(it->path()).starts_with(kTemporary)) {
      if (now - facts.getLastModificationTime() > std::chrono::minutes(10))
        sys::fs::remove(it->path());
      continue;
    }
    entries.push_back({it->path(), facts.getSize(), facts.getLastModificationTime()});
    total += facts.getSize();
  }
  if (total <= maxBytes)
    return;
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  for (const Entry &entry : entries) {
    if (total <= maxBytes)
      return;
    sys::fs::remove(entry.path); // another process may have been faster
    total -= entry.bytes;
    ++counts.evictions;
  }
}

DiskCache::Counts DiskCache::getCounts() const {
  std::lock_guard lock(mutex);
  return counts;
}

std::string DiskCache::getProblem() const {
  std::lock_guard lock(mutex);
  return problem;
}

//===----------------------------------------------------------------------------------------===//
// The shared store
//===----------------------------------------------------------------------------------------===//

static bool isSharedEnabled = true;

static std::string chooseDirectory() {
  const char *wanted = std::getenv("TILEWRIGHT_CACHE");
  if (!isSharedEnabled || (wanted && StringRef(wanted) == "0"))
    return "";
  if (const char *directory = std::getenv("TILEWRIGHT_CACHE_DIR"))
    return directory;
  SmallString<128> folder;
  if (!sys::path::cache_directory(folder))
    return "";
  sys::path::append(folder, "tilewright");
  return folder.str().str();
}

static uint64_t chooseMaxBytes() {
  constexpr uint64_t fallback = 512;
  uint64_t megabytes = fallback;
  const char *text = std::getenv("TILEWRIGHT_CACHE_MB");
  if (text && StringRef(text).getAsInteger(10, megabytes))
    megabytes = fallback;
  return std::min<uint64_t>(megabytes, uint64_t(1) << 40) << 20;
}

static std::mutex &sharedMutex() {
  static std::mutex mutex;
  return mutex;
}

void DiskCache::setEnabled(bool isEnabled) {
  std::lock_guard lock(sharedMutex());
  isSharedEnabled = isEnabled;
}

std::shared_ptr<DiskCache> DiskCache::getShared() {
  static auto *shared = new std::shared_ptr<DiskCache>;
  std::lock_guard lock(sharedMutex());
  std::string directory = chooseDirectory();
  uint64_t maxBytes = chooseMaxBytes();
  if (!*shared || (*shared)->directory != directory || (*shared)->maxBytes != maxBytes)
    *shared = std::make_shared<DiskCache>(directory, maxBytes);
  return *shared;
}
