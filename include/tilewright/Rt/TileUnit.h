//===- TileUnit.h - the matrix unit of a processor (AMX) ----------------------------*- C++ -*-===//
//
// AMX has eight tile registers of 16 rows of 64 bytes and instructions that multiply them. A process
// must ask the system for them, since they add 8 KiB to the state of each of its threads: once, for
// all of its threads and for the children that it forks. Without the permission their first use is
// a SIGILL.
//
// The registers belong to a thread, and the system saves them at a switch and at a signal. A signal
// handler, or a library that is called, may configure them anew. So compiled code configures them,
// calls nothing, and releases them (Codegen/Cpu/TileProducts.h).
//
// The functions below do what the instructions do, step by step as Intel's manual has it (volume 2,
// and volume 1, chapter 18), for tests on machines without them: `TILEWRIGHT_CPU=amx-in-software`
// has code call them. What an instruction would fault at ends the process with a message.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RT_TILEUNIT_H
#define TILEWRIGHT_RT_TILEUNIT_H

#include <cstdint>

namespace tilewright::rt {

inline constexpr int kNumTiles = 8, kTileRows = 16, kTileRowBytes = 64;

/// What LDTILECFG reads.
struct TileConfig {
  uint8_t palette = 1;
  uint8_t startRow = 0;
  uint8_t reserved[14] = {};
  uint16_t rowBytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

/// What the elements of two tiles are that are multiplied.
enum class TileProduct : int32_t {
  Bf16,
  SignedSigned,
  SignedUnsigned,
  UnsignedSigned,
  UnsignedUnsigned
};

/// Whether the system lets this process use the registers, and products come out right (a child
/// process tries them). The first call requests it; false where the processor or the system does not
/// know them.
bool mayUseTileUnit();

/// Whether each product of the instructions gives the bits of the functions below on a sample, as a
/// child process finds. False where that cannot be found out.
bool checkTileUnit();

} // namespace tilewright::rt

extern "C" {
void tw_tile_config(const void *config);
void tw_tile_release();
void tw_tile_zero(int32_t tile);
void tw_tile_load(int32_t tile, const void *address, int64_t stride);
void tw_tile_store(int32_t tile, void *address, int64_t stride);
/// sum += a * b.
void tw_tile_multiply(int32_t kind, int32_t sum, int32_t a, int32_t b);
}

#endif // TILEWRIGHT_RT_TILEUNIT_H
