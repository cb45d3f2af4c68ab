//===- Mutant.h - which of the mutants of this build are switched on ----------------------------===//
//
// Only the copy of the sources that scripts/mutants makes includes this header. The file that
// TW_MUTANTS names is shared by all processes of a run: byte N is 1 while mutant N is on, and byte
// kMutants + N becomes 1 when code reaches mutant N.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_MUTANT_H
#define TILEWRIGHT_MUTANT_H

#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tw {

inline constexpr unsigned kMutants = 1U << 15, kMutantBytes = 2 * kMutants;

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

inline void note(unsigned number) {
  volatile unsigned char *table = mutantTable();
  table[kMutants + number] = 1;
}

inline bool isOn(unsigned number) {
  volatile unsigned char *table = mutantTable();
  return table[number] != 0;
}

inline bool mutant(unsigned number) {
  note(number);
  return isOn(number);
}

/// Whether the mutant is on; only then it is reached, unless `told` notes it.
inline bool switched(unsigned number) { return isOn(number) && mutant(number); }

/// Whether the mutant is on; it is reached if its value differs here.
inline bool differs(unsigned number, bool doesDiffer) {
  if (doesDiffer)
    note(number);
  return isOn(number);
}

/// `value`; the mutant is reached if that is `when`.
inline bool told(unsigned number, bool when, bool value) {
  if (value == when)
    note(number);
  return value;
}

/// `value`, or with the mutant `constant`; it is reached if they differ.
inline bool always(unsigned number, bool constant, bool value) {
  if (value != constant)
    note(number);
  return isOn(number) ? constant : value;
}

} // namespace tw

#endif
