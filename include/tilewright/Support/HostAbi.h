//===- HostAbi.h - what compiled host code and the runtime say to each other --------*- C++ -*-===//
//
// Code compiled for the CPU is position independent and knows no symbol of ours: everything it
// needs from the runtime it reaches through one table of services that the caller passes in.
// Arguments and captured values travel as arrays of 8-byte slots: a pointer, an integer or a float,
// in its own type at the start of the slot.
//
//   entry(services, arguments)                 runs the host part of a function and
//     services->launch(services, block, …)     starts the grid of each kernel, which calls
//       block(captures, first, last, …)        for disjoint ranges of blocks on many threads
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SUPPORT_HOSTABI_H
#define TILEWRIGHT_SUPPORT_HOSTABI_H

#include <cstdint>

namespace tilewright::host {

struct Services;

/// The extents of a grid; the first one varies fastest in the number of a block.
struct Grid {
  int64_t extents[3];
  /// Not 0 where blocks may wait for each other (atomics with a memory order): each that waits needs a
  /// thread of its own.
  int64_t blocksTalk = 0;
};

/// What a block leaves at the start of its worker's memory is there when the worker runs the next
/// block of the same launch; the first one finds so many bytes zero.
constexpr int64_t kKeptBytes = 64;

/// Runs the blocks `first` to `last - 1` of a kernel. `arena` is memory of the calling worker,
/// 64-byte aligned, as large as the launch requested, and at least `kKeptBytes`.
using BlockFunction = void (*)(const uint64_t *captures, const Grid *grid, int64_t first,
                               int64_t last, uint8_t *arena, Services *services);

/// Runs the host part of a function on its arguments, one slot each.
using Entry = void (*)(Services *services, const uint64_t *arguments);

/// How the numbers of a print request are to be read.
enum class NumberKind : int64_t { None, Float, Signed, Unsigned };

/// A message and the elements of a tile, each as a double or a 64-bit integer, in row-major order.
/// A scalar has rank 0.
struct PrintRequest {
  const char *message;
  int64_t messageLength;
  NumberKind kind;
  int64_t rank;
  const int64_t *extents;
  const uint64_t *elements;
};

/// The order of the members is part of what is compiled in (Codegen/Cpu/Services.cpp).
struct Services {
  /// Runs all blocks of a grid and returns when they are done.
  void (*launch)(Services *services, BlockFunction block, const uint64_t *captures,
                 const Grid *grid, int64_t arenaBytes);
  /// Zero-free memory that lives as long as the call of the entry; null if there is none.
  void *(*allocate)(Services *services, int64_t bytes);
  /// The same for a block, 64-byte aligned: what the last call with this number on this thread gave
  /// is void. Does not return if there is no memory.
  void *(*allocateInBlock)(Services *services, int64_t number, int64_t bytes);
  /// Records an error of the statement at this location of the user's source; line 0 means unknown.
  /// Inside a block it does not return; in the host part the caller continues, and later launches
  /// do nothing. A character 1 in the message stands for `number`.
  void (*fail)(Services *services, const char *message, int64_t length, const char *file,
               int64_t fileLength, int64_t line, int64_t column, int64_t number);
  void (*print)(Services *services, const PrintRequest *request);
  /// Keeps other blocks from a row of a tensor while this one updates it. One row at a time;
  /// nothing may fail in between.
  void (*lockRow)(Services *services, const void *tensor, int64_t row);
  void (*unlockRow)(Services *services, const void *tensor, int64_t row);
  /// Called in each iteration of a loop over tile statements, to stop a launch. Does not return if
  /// the launch is to end. Touches no memory of the program; no lock may be held.
  void (*poll)(Services *services);
};

} // namespace tilewright::host

#endif // TILEWRIGHT_SUPPORT_HOSTABI_H
