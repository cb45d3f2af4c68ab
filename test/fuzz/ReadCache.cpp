//===- ReadCache.cpp - any bytes where the cache expects an entry -----------------------------===//
//
// A file of any content under an entry's name must be a miss, unless it is what `store` wrote. The
// first byte chooses: most inputs are the content of a file whose checksum is right, as that of
// another version of the compiler would be, or are unpacked in memory; one in 32 goes to the disk.
//
//   cache-fuzz corpus/ -max_total_time=60
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Driver/CompiledArtifact.h"
#include "tilewright/Runtime/DiskCache.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilewright;
using runtime::DiskCache;

[[noreturn]] static void complain(llvm::StringRef what) {
  llvm::errs() << "cache-fuzz: " << what << "\n";
  abort();
}

static std::string makeFolder() {
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("tw-cache-fuzz", folder))
    complain("no directory for the cache");
  return folder.str().str();
}

static void storeAndFind(DiskCache &cache, llvm::StringRef name, llvm::StringRef bytes) {
  cache.store(name, bytes);
  if (cache.lookup(name) != bytes)
    complain("an entry that was stored is not found");
}

static void findFile(DiskCache &cache, llvm::StringRef name, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream(cache.getDirectory() + "/" + name.str(), error) << bytes;
  if (cache.lookup(name) != DiskCache::unpack(name, bytes))
    complain("the file and its bytes are read differently");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string folder = makeFolder();
  static DiskCache cache(folder, 1 << 20);
  static const std::string name = DiskCache::makeName("cpu", {"key"});
  if (size < 1)
    return 0;
  llvm::StringRef bytes(reinterpret_cast<const char *>(data + 1), size - 1);
  unsigned choice = data[0] % 64;
  if (choice == 0)
    storeAndFind(cache, name, bytes);
  else if (choice == 1)
    findFile(cache, name, bytes);
  else if (choice % 4 == 0)
    (void)DiskCache::unpack(name, bytes);
  else
    (void)driver::parseArtifact(bytes);
  return 0;
}
