//===- Cache.cpp - the disk cache in Python ---------------------------------------------------===//

#include "Bindings.h"
#include "tilewright/Runtime/DiskCache.h"
#include "tilewright/Support/BuildId.h"

using namespace tilewright;
using namespace tilewright::bindings;
using runtime::DiskCache;

/// The compiler's build is part of every key.
static std::string makeName(const std::string &kind, const std::vector<std::string> &key) {
  std::vector<llvm::StringRef> parts{getBuildId()};
  parts.insert(parts.end(), key.begin(), key.end());
  return DiskCache::makeName(kind, parts);
}

static nb::dict getStatus() {
  std::shared_ptr<DiskCache> cache = DiskCache::getShared();
  DiskCache::Counts counts = cache->getCounts();
  nb::dict status;
  status["directory"] = cache->getDirectory();
  status["problem"] = cache->getProblem();
  status["hits"] = counts.hits;
  status["misses"] = counts.misses;
  status["stores"] = counts.stores;
  status["damaged"] = counts.damaged;
  status["foreign"] = counts.foreign;
  status["evictions"] = counts.evictions;
  return status;
}

void tilewright::bindings::bindCache(nb::module_ &module) {
  module.def("cache_lookup",
             [](const std::string &kind, const std::vector<std::string> &key) -> nb::object {
               std::optional<std::string> found =
                   DiskCache::getShared()->lookup(makeName(kind, key));
               if (!found)
                 return nb::none();
               return nb::bytes(found->data(), found->size());
             });
  module.def("cache_store",
             [](const std::string &kind, const std::vector<std::string> &key, nb::bytes content) {
               DiskCache::getShared()->store(makeName(kind, key),
                                             llvm::StringRef(content.c_str(), content.size()));
             });
  module.def("cache_status", &getStatus);
  module.def("set_cache_enabled", &DiskCache::setEnabled);
}
