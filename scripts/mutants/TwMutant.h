//===- Mutant.h - which of the mutants of this build is switched on -----------------------------===//
//
// Only the copy of the sources that scripts/mutants makes includes this header. The file that
// TW_MUTANTS names is shared by all processes of a run: its first four bytes are the number of the
// mutant that is on (0: none), and byte 16 + N becomes 1 when code reaches mutant N.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_MUTANT_H
#define TILEWRIGHT_MUTANT_H

#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tw {

inline constexpr unsigned kMutantBytes = 1U << 16;

inline unsigned char *mutantTable() {
  static unsigned char *const table = [] {
    static unsigned char unused[kMutantBytes];
    const char *path = std::getenv("TW_MUTANTS");
    const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
      return static_cast<unsigned char *>(unused);
    void *shared = mmap(nullptr, kMutantBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return shared == MAP_FAILED ? static_cast<unsigned char *>(unused)
                                : static_cast<unsigned char *>(shared);
  }();
  return table;
}

inline bool mutant(unsigned number) {
  volatile unsigned char *table = mutantTable();
  table[16 + number] = 1;
  return *reinterpret_cast<volatile unsigned *>(table) == number;
}

} // namespace tw

#endif
