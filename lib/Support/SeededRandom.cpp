//===- SeededRandom.cpp - random choices that a seed replays --------------------------------===//

#include "tilewright/Support/SeededRandom.h"
#include <bit>
#include <cassert>

using namespace tilewright;

SeededRandom::SeededRandom(uint64_t seed) {
  // splitmix64 spreads the seed, so that neighbouring seeds give unrelated sequences.
  for (uint64_t &word : state) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t mixed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    word = mixed ^ (mixed >> 31);
  }
}

uint64_t SeededRandom::next() {
  uint64_t result = std::rotl(state[1] * 5, 7) * 9;
  uint64_t shifted = state[1] << 17;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= shifted;
  state[3] = std::rotl(state[3], 45);
  return result;
}

int64_t SeededRandom::uniform(int64_t low, int64_t high) {
  assert(low <= high && "empty range");
  uint64_t count = uint64_t(high) - uint64_t(low) + 1;
  if (count == 0) // all 2^64 values
    return int64_t(next());
  // Refuse the last, incomplete round of values, so that none is more likely than another.
  uint64_t limit = -count % count;
  uint64_t value = next();
  while (value < limit)
    value = next();
  return int64_t(uint64_t(low) + value % count);
}
