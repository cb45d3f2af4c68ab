//===- DiskCacheTest.cpp - the store survives damage, crowds and full disks -------------------===//

#include "tilewright/Runtime/DiskCache.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <grp.h>
#include <set>
#include <sys/stat.h>
#include <sys/sysmacros.h>
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

  mode_t modeOf(llvm::StringRef name) const {
    struct stat facts = {};
    return stat(path(name).c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
  }
  /// Runs `check` in a process of another user.
  static void asUser(uid_t user, llvm::function_ref<bool()> check) {
    pid_t pid = fork();
    if (pid == 0)
      _exit(setgroups(0, nullptr) == 0 && setgid(user) == 0 && setuid(user) == 0 && check() ? 0
                                                                                            : 1);
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
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

  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0); // no writer to wait for
  DiskCache inPipe(path("pipe"), kMegabyte);
  inPipe.store(name, "content");
  EXPECT_NE(inPipe.getProblem(), "");

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

TEST_F(DiskCacheTest, OnlyTheUserMayReadAndWrite) {
  std::string name = DiskCache::makeName("cpu", {"key"});
  mode_t before = umask(0);
  DiskCache(path("a/b"), kMegabyte).store(name, "content");
  umask(before);
  EXPECT_EQ(modeOf("a"), 0700u);
  EXPECT_EQ(modeOf("a/b"), 0700u);
  EXPECT_EQ(modeOf("a/b/" + name), 0600u);
}

TEST_F(DiskCacheTest, WhatOthersMayWriteIsNotRead) {
  std::string name = DiskCache::makeName("cpu", {"key"});
  DiskCache cache(folder.str().str(), kMegabyte);
  cache.store(name, "content");
  for (mode_t mode : {0660, 0606, 0666}) {
    chmod(path(name).c_str(), mode);
    EXPECT_EQ(cache.lookup(name), std::nullopt) << mode;
  }
  EXPECT_EQ(cache.getCounts().foreign, 3u);
  chmod(path(name).c_str(), 0644);
  EXPECT_EQ(cache.lookup(name), "content");
  for (auto [mode, text] :
       {std::pair(0770, "its group may write"), {0707, "everybody may write"}}) {
    chmod(folder.c_str(), mode);
    EXPECT_EQ(cache.lookup(name), std::nullopt) << mode;
    EXPECT_NE(cache.getProblem().find(text), std::string::npos) << cache.getProblem();
  }
}

TEST_F(DiskCacheTest, WhatIsNoRegularFileIsPassedOver) {
  std::string name = DiskCache::makeName("cpu", {"key"});
  DiskCache cache(folder.str().str(), kMegabyte);
  cache.store(name, "content");
  std::string real = path("real");
  ASSERT_EQ(rename(path(name).c_str(), real.c_str()), 0);
  auto expectMissAndRepair = [&](const char *what) {
    EXPECT_EQ(cache.lookup(name), std::nullopt) << what;
    cache.store(name, "new");
    EXPECT_EQ(cache.lookup(name), "new") << what;
    unlink(path(name).c_str());
  };
  ASSERT_EQ(symlink(real.c_str(), path(name).c_str()), 0);
  expectMissAndRepair("symbolic link");
  ASSERT_EQ(mkfifo(path(name).c_str(), 0600), 0);
  expectMissAndRepair("FIFO");                                       // used to wait for ever
  if (mknod(path(name).c_str(), S_IFCHR | 0600, makedev(1, 5)) == 0) // /dev/zero, only for root
    expectMissAndRepair("device");
  ASSERT_EQ(mkdir(path(name).c_str(), 0700), 0);
  EXPECT_EQ(cache.lookup(name), std::nullopt);
  cache.store(name, "new");
  EXPECT_NE(cache.getProblem(), "");
}

TEST_F(DiskCacheTest, AFileThatClaimsMoreThanTheBoundIsNotRead) {
  std::string name = DiskCache::makeName("cpu", {"key"});
  DiskCache cache(folder.str().str(), kMegabyte);
  cache.store(name, "content");
  ASSERT_EQ(truncate(path(name).c_str(), off_t(1) << 40), 0); // takes no place on disk
  EXPECT_EQ(cache.lookup(name), std::nullopt);
}

TEST_F(DiskCacheTest, FilesOfTheUserAreNeverEvicted) {
  write("thesis.tex", std::string(1000, 'x'));
  DiskCache cache(folder.str().str(), 100);
  for (int key = 0; key < 4; ++key)
    cache.store(DiskCache::makeName("cpu", {std::to_string(key)}), "content");
  EXPECT_EQ(cache.getCounts().evictions, 3u);
  EXPECT_TRUE(llvm::sys::fs::exists(path("thesis.tex")));
}

TEST_F(DiskCacheTest, NothingOfAnotherUserIsRead) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can act as two users";
  constexpr uid_t other = 65534;
  std::string name = DiskCache::makeName("cpu", {"key"});
  chmod(folder.c_str(), 0755);
  ASSERT_EQ(mkdir(path("shared").c_str(), 0775), 0);
  ASSERT_EQ(chown(path("shared").c_str(), 0, other), 0);
  chmod(path("shared").c_str(), 0775);
  // The other user makes a store of their own and puts its entry where their group may write.
  asUser(other, [&] {
    std::string own = path("shared/own");
    DiskCache(own, kMegabyte).store(name, "poison");
    return rename((own + "/" + name).c_str(), path("shared/" + name).c_str()) == 0;
  });
  EXPECT_EQ(DiskCache(path("shared"), kMegabyte).lookup(name), std::nullopt);
  chmod(path("shared").c_str(), 0700); // now ours alone, but the entry stays what it was
  DiskCache ours(path("shared"), kMegabyte);
  EXPECT_EQ(ours.lookup(name), std::nullopt);
  EXPECT_EQ(ours.getCounts().foreign, 1u);
  DiskCache theirs(path("shared/own"), kMegabyte);
  EXPECT_EQ(theirs.lookup(name), std::nullopt);
  EXPECT_NE(theirs.getProblem().find("another user"), std::string::npos) << theirs.getProblem();
  // The other way round: a store of root is nothing that the other user executes.
  ours.store(name, "content");
  chmod(path("shared").c_str(), 0755);
  chmod(path("shared/" + name).c_str(), 0644);
  asUser(other, [&] { return !DiskCache(path("shared"), kMegabyte).lookup(name); });
}

TEST_F(DiskCacheTest, LinksOfTheUserLeadToTheDirectory) {
  std::string name = DiskCache::makeName("cpu", {"key"});
  ASSERT_EQ(mkdir(path("real").c_str(), 0700), 0);
  ASSERT_EQ(symlink(path("real").c_str(), path("absolute").c_str()), 0);
  ASSERT_EQ(symlink("absolute/../real", path("relative").c_str()), 0);
  ASSERT_EQ(symlink("loop", path("loop").c_str()), 0);
  DiskCache(path("absolute/a/b"), kMegabyte).store(name, "content");
  EXPECT_EQ(DiskCache(path("relative//./a/b"), kMegabyte).lookup(name), "content");
  EXPECT_EQ(modeOf("real/a"), 0700u);
  DiskCache loop(path("loop"), kMegabyte);
  EXPECT_EQ(loop.lookup(name), std::nullopt);
  EXPECT_NE(loop.getProblem(), "");
}

/// It led to any directory of this user, also to one whose files somebody else had packed.
TEST_F(DiskCacheTest, LinksOfAnotherUserAreNotFollowed) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can act as two users";
  std::string name = DiskCache::makeName("cpu", {"key"});
  DiskCache(path("unpacked"), kMegabyte).store(name, "poison");
  chmod(folder.c_str(), 0755);
  ASSERT_EQ(mkdir(path("open").c_str(), 0777), 0);
  chmod(path("open").c_str(), 0777);
  asUser(65534, [&] { return symlink("../unpacked", path("open/cache").c_str()) == 0; });
  for (const char *at : {"open/cache", "open/cache/inside"}) {
    DiskCache linked(path(at), kMegabyte);
    linked.store(name, "content");
    EXPECT_EQ(linked.lookup(name), std::nullopt);
    EXPECT_NE(linked.getProblem().find("'cache' on the way belongs to another user"),
              std::string::npos)
        << linked.getProblem();
  }
  EXPECT_EQ(modeOf("unpacked/inside"), 0u);
}

TEST_F(DiskCacheTest, AnEmptyOrRelativeHomeIsNotTheCurrentDirectory) {
  pid_t pid = fork();
  if (pid == 0) { // the environment is the child's own
    bool isGood = chdir(folder.c_str()) == 0;
    unsetenv("TILEWRIGHT_CACHE_DIR");
    auto directoryWith = [](const char *home, const char *cache) {
      setenv("HOME", home, 1);
      setenv("XDG_CACHE_HOME", cache, 1);
      return DiskCache::getShared()->getDirectory();
    };
    isGood &= directoryWith("/h", "/c") == "/c/tilewright";
    isGood &= directoryWith("/h", "") == "/h/.cache/tilewright";
    isGood &= directoryWith("/h", "c") == "/h/.cache/tilewright";
    std::string fallback = directoryWith("", "");
    isGood &= fallback.empty() || fallback[0] == '/';
    isGood &= directoryWith("h", "c") == fallback;
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    isGood &= DiskCache::getShared()->getDirectory() == fallback;
    setenv("TILEWRIGHT_CACHE_DIR", "cache", 1);
    isGood &= DiskCache::getShared()->getDirectory().empty();
    _exit(isGood ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
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

TEST_F(DiskCacheTest, ADirectoryThatIsReplacedIsJudgedAgain) {
  std::string name = DiskCache::makeName("cpu", {"key"});
  DiskCache cache(path("cache"), kMegabyte);
  cache.store(name, "content");
  ASSERT_EQ(rename(path("cache").c_str(), path("open").c_str()), 0);
  chmod(path("open").c_str(), 0777);
  ASSERT_EQ(symlink(path("open").c_str(), path("cache").c_str()), 0);
  EXPECT_EQ(cache.lookup(name), std::nullopt);
  EXPECT_NE(cache.getProblem().find("everybody may write"), std::string::npos);
  chmod(path("open").c_str(), 0700); // a link to a folder that is the user's own is fine
  EXPECT_EQ(cache.lookup(name), "content");
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
