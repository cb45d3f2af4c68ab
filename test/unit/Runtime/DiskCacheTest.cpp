//===- DiskCacheTest.cpp - the store survives damage, crowds and full disks -------------------===//

#include "tilewright/Runtime/DiskCache.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tilewright::runtime;

namespace {

constexpr uint64_t kMegabyte = 1 << 20;

class DiskCacheTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tw-cache", folder)); }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(llvm::StringRef name) const { return (folder + "/" + name).str(); }
  std::string read(llvm::StringRef name) const {
    return (*llvm::MemoryBuffer::getFile(path(name)))->getBuffer().str();
  }
  void write(llvm::StringRef name, llvm::StringRef bytes) const {
    std::error_code error;
    llvm::raw_fd_ostream(path(name), error) << bytes;
    ASSERT_FALSE(error);
  }

  llvm::SmallString<128> folder;
};

} // namespace

TEST_F(DiskCacheTest, KeepsEntriesBetweenInstances) {
  std::string name = DiskCache::makeName("cpu", {"key"});
  DiskCache(folder.str().str(), kMegabyte).store(name, "content");
  DiskCache again(folder.str().str(), kMegabyte);
  EXPECT_EQ(again.lookup(name), "content");
  EXPECT_EQ(again.lookup(DiskCache::makeName("cpu", {"other"})), std::nullopt);
  EXPECT_EQ(again.getCounts().hits, 1u);
  EXPECT_EQ(again.getCounts().misses, 1u);
}

TEST_F(DiskCacheTest, NamesDependOnKindAndOnEveryPart) {
  std::set<std::string> names{
      DiskCache::makeName("cpu", {"ab", "c"}), DiskCache::makeName("cpu", {"a", "bc"}),
      DiskCache::makeName("cpu", {"abc"}), DiskCache::makeName("cpu", {"abc", ""}),
      DiskCache::makeName("ptx", {"abc"})};
  EXPECT_EQ(names.size(), 5u);
}

TEST_F(DiskCacheTest, EveryDamagedByteAndEveryShorterFileIsAMiss) {
  std::string name = DiskCache::makeName("cpu", {"key"});
  DiskCache cache(folder.str().str(), kMegabyte);
  cache.store(name, "some content");
  std::string whole = read(name);
  for (size_t position = 0; position < whole.size(); ++position) {
    std::string damaged = whole;
    damaged[position] ^= 0x10;
    write(name, damaged);
    EXPECT_EQ(cache.lookup(name), std::nullopt) << "byte " << position;
    write(name, whole.substr(0, position));
    EXPECT_EQ(cache.lookup(name), std::nullopt) << "first " << position << " bytes";
    EXPECT_FALSE(llvm::sys::fs::exists(path(name)));
  }
  EXPECT_EQ(cache.getCounts().damaged, 2 * whole.size());
  write(name, whole);
  EXPECT_EQ(cache.lookup(name), "some content");
}

TEST_F(DiskCacheTest, AFileUnderAnothersNameIsAMiss) {
  DiskCache cache(folder.str().str(), kMegabyte);
  std::string first = DiskCache::makeName("cpu", {"1"}), second = DiskCache::makeName("cpu", {"2"});
  cache.store(first, "content");
  write(second, read(first));
  EXPECT_EQ(cache.lookup(second), std::nullopt);
}

TEST_F(DiskCacheTest, WhatWasUsedLongestAgoGoesFirst) {
  std::string content(300, 'x');
  DiskCache cache(folder.str().str(), 4 * (content.size() + 48));
  auto nameOf = [](int key) { return DiskCache::makeName("cpu", {std::to_string(key)}); };
  auto setAge = [&](int key, int seconds) {
    struct timespec times[2] = {{time(nullptr) - seconds, 0}, {time(nullptr) - seconds, 0}};
    utimensat(AT_FDCWD, path(nameOf(key)).c_str(), times, 0);
  };
  for (int key = 0; key < 4; ++key) {
    cache.store(nameOf(key), content);
    setAge(key, 100 - key);
  }
  EXPECT_TRUE(cache.lookup(nameOf(0))); // the oldest is used again
  cache.store(nameOf(4), content);
  EXPECT_EQ(cache.getCounts().evictions, 1u);
  EXPECT_FALSE(cache.lookup(nameOf(1)));
  for (int key : {0, 2, 3, 4})
    EXPECT_TRUE(cache.lookup(nameOf(key))) << key;
}

TEST_F(DiskCacheTest, UnusableDirectoriesAreAProblemAndNoError) {
  std::string name = DiskCache::makeName("cpu", {"key"});
  write("file", "");
  DiskCache inFile(path("file"), kMegabyte);
  inFile.store(name, "content");
  EXPECT_EQ(inFile.lookup(name), std::nullopt);
  EXPECT_NE(inFile.getProblem().find("nothing is kept"), std::string::npos);

  llvm::sys::fs::create_directory(path("open"));
  chmod(path("open").c_str(), 0777);
  DiskCache open(path("open"), kMegabyte);
  open.store(name, "content");
  EXPECT_NE(open.getProblem().find("everybody may write"), std::string::npos);

  DiskCache none("", kMegabyte);
  none.store(name, "content");
  EXPECT_EQ(none.lookup(name), std::nullopt);
  EXPECT_EQ(none.getProblem(), "");
}

TEST_F(DiskCacheTest, ADirectoryThatSomebodyRemovedIsMadeAgain) {
  std::string name = DiskCache::makeName("cpu", {"key"});
  DiskCache cache(path("cache"), kMegabyte);
  cache.store(name, "first");
  ASSERT_FALSE(llvm::sys::fs::remove_directories(path("cache")));
  EXPECT_EQ(cache.lookup(name), std::nullopt);
  cache.store(name, "second");
  EXPECT_EQ(cache.getProblem(), "");
  EXPECT_EQ(cache.lookup(name), "second");
}

TEST_F(DiskCacheTest, ManyProcessesWriteAndReadOneEntry) {
  std::string name = DiskCache::makeName("cpu", {"key"}), content(100000, 'y');
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    pid_t pid = fork();
    if (pid == 0) {
      DiskCache cache(folder.str().str(), kMegabyte);
      bool isGood = true;
      for (int turn = 0; turn < 50; ++turn) {
        cache.store(name, content);
        isGood &= cache.lookup(name) == content;
      }
      _exit(isGood && cache.getCounts().damaged == 0 ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
}
