//===- DiskCache.cpp - results kept from one process to the next ------------------------------===//

#include "tilewright/Runtime/DiskCache.h"
#include "OwnFiles.h"
#include "tilewright/Support/Environment.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::runtime;
using environment::Variable;

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

} // namespace

std::optional<std::string> DiskCache::unpack(StringRef name, StringRef file) {
  if (file.size() < sizeof(Header))
    return std::nullopt;
  StringRef content = file.drop_front(sizeof(Header));
  Header header = makeHeader(name, content);
  if (std::memcmp(file.data(), &header, sizeof(header)) != 0)
    return std::nullopt;
  return content.str();
}

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
  Descriptor folder = openDirectory();
  if (!folder)
    return std::nullopt;
  std::string file;
  ReadResult result = readOwnFile(folder, name.str(), maxBytes + sizeof(Header), file);
  std::optional<std::string> content;
  if (result == ReadResult::Whole)
    content = unpack(name, file);
  if (content) {
    ++counts.hits;
    return content;
  }
  ++counts.misses;
  counts.foreign += result == ReadResult::Foreign;
  if (result == ReadResult::Whole) {
    ++counts.damaged;
    unlinkat(folder.get(), name.str().c_str(), 0);
  }
  return std::nullopt;
}

void DiskCache::fail(const std::string &text) {
  problem = "nothing is kept in the cache directory '" + directory + "': " + text;
}

/// Opened again for each entry: another process may have emptied, removed or replaced it.
Descriptor DiskCache::openDirectory() {
  std::string reason;
  Descriptor folder = openOwnDirectory(directory, reason);
  if (!folder)
    fail(reason);
  return folder;
}

/// Writes a new file with these bytes; its name, or nothing and `errno`.
static std::string writeTemporary(const Descriptor &folder, StringRef header, StringRef content) {
  static std::atomic<unsigned> numWritten{0};
  std::random_device random;
  std::string name;
  Descriptor file;
  for (int attempt = 0; attempt < 16 && !file; ++attempt) {
    name = (kTemporary + Twine(getpid()) + "-" + Twine(numWritten++) + "-" + Twine(random())).str();
    file = Descriptor(openat(folder.get(), name.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file && errno != EEXIST)
      return "";
  }
  if (!file)
    return "";
  for (StringRef rest : {header, content})
    while (!rest.empty()) {
      ssize_t count = write(file.get(), rest.data(), rest.size());
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0) {
        int reason = count < 0 ? errno : ENOSPC;
        unlinkat(folder.get(), name.c_str(), 0);
        errno = reason;
        return "";
      }
      rest = rest.drop_front(count);
    }
  return name;
}

void DiskCache::store(StringRef name, StringRef content) {
  if (directory.empty() || content.size() > maxBytes)
    return;
  std::lock_guard lock(mutex);
  Descriptor folder = openDirectory();
  if (!folder)
    return;
  Header header = makeHeader(name, content);
  std::string temporary = writeTemporary(
      folder, StringRef(reinterpret_cast<const char *>(&header), sizeof(header)), content);
  if (temporary.empty()) {
    fail(std::strerror(errno));
    return;
  }
  if (renameat(folder.get(), temporary.c_str(), folder.get(), name.str().c_str()) != 0) {
    fail(std::strerror(errno));
    unlinkat(folder.get(), temporary.c_str(), 0);
    return;
  }
  ++counts.stores;
  problem.clear();
  evict(folder);
}

//===----------------------------------------------------------------------------------------===//
// The bound
//===----------------------------------------------------------------------------------------===//

/// Whether a file's name is one that `makeName` makes. Other files are not ours to remove.
static bool isEntryName(StringRef name) {
  auto [kind, digest] = name.rsplit('-');
  return !kind.empty() && digest.size() == 40 &&
         llvm::all_of(digest, [](char c) { return isDigit(c) || (c >= 'a' && c <= 'f'); });
}

namespace {
struct StoredFile {
  std::string name;
  uint64_t bytes;
  struct timespec used;
};
} // namespace

/// The files of the store. What dead processes left half-made is removed on the way.
static std::vector<StoredFile> listFiles(const Descriptor &folder) {
  std::vector<StoredFile> files;
  // Opened again by its own name: a copied descriptor would share its position with others.
  int again = openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = again < 0 ? nullptr : fdopendir(again);
  if (!stream) {
    if (again >= 0)
      close(again);
    return files;
  }
  constexpr time_t kPatience = 600; // seconds
  time_t now = time(nullptr);
  while (const dirent *entry = readdir(stream)) {
    StringRef name = entry->d_name;
    struct stat facts = {};
    if (fstatat(folder.get(), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(facts.st_mode))
      continue;
    if (name.starts_with(kTemporary)) {
      if (now - facts.st_mtim.tv_sec > kPatience)
        unlinkat(folder.get(), entry->d_name, 0);
    } else if (isEntryName(name)) {
      files.push_back({name.str(), uint64_t(facts.st_size), facts.st_mtim});
    }
  }
  closedir(stream);
  return files;
}

/// Removes what was used longest ago until the rest fits.
void DiskCache::evict(const Descriptor &folder) {
  std::vector<StoredFile> files = listFiles(folder);
  uint64_t total = 0;
  for (const StoredFile &file : files)
    total += file.bytes;
  if (total <= maxBytes)
    return;
  llvm::sort(files, [](const StoredFile &a, const StoredFile &b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec, a.name) <
           std::tie(b.used.tv_sec, b.used.tv_nsec, b.name);
  });
  for (const StoredFile &file : files) {
    if (total <= maxBytes)
      return;
    unlinkat(folder.get(), file.name.c_str(), 0); // another process may have been faster
    total -= file.bytes;
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

/// A value that means nothing is reported where a compilation begins (environment::check).
template <typename T> static T valueOr(const Result<T> &value, T fallback) {
  return value ? *value : fallback;
}

static std::string chooseDirectory() {
  if (!isSharedEnabled || !valueOr(environment::readSwitch(Variable::Cache, true), true))
    return "";
  if (StringRef directory = environment::getText(Variable::CacheDir); !directory.empty())
    return directory.starts_with("/") ? directory.str() : "";
  std::string folder = findCacheFolder();
  return folder.empty() ? "" : folder + "/tilewright";
}

static uint64_t chooseMaxBytes() {
  constexpr uint64_t fallback = 512;
  return valueOr(environment::readNumber(Variable::CacheMb, fallback), fallback) << 20;
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
