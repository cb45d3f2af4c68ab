//===- Conversion.h - from one register layout to another inside a warp -------------*- C++ -*-===//
//
// Where two fragments hold the same elements on different threads of the same warp, lanes exchange
// them by shuffles. A shuffle gives every lane one word of one other lane, so an exchange is a
// number of rounds, each of which lets every lane offer one of its slots and take one of its own:
//
//   pre:    slots of a lane are renamed, by the xor of a word that depends on the lane
//   round:  the lane takes what another lane offers under a name that all lanes agree on
//   post:   what was taken is renamed in the same manner
//
// All three are linear over the bits of lanes and slots: a transposition of 2 x 2 blocks between
// two lanes is one bit of each, and so are the layouts of tensor cores among themselves.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ANALYSIS_CONVERSION_H
#define TILEWRIGHT_ANALYSIS_CONVERSION_H

#include "tilewright/Analysis/Distribution.h"

namespace tilewright::analysis {

/// A word of the lane's number: the xor of `columns[b]` over its set bits.
struct LaneWord {
  static constexpr unsigned kLaneBits = 5;
  std::array<int64_t, kLaneBits> columns = {};

  int64_t at(int64_t lane) const;
  /// The bits of the lane whose parity is a bit of the word.
  int64_t parityMask(unsigned bit) const;
  bool isZero() const;
  bool isIdentity() const;
  friend bool operator==(const LaneWord &, const LaneWord &) = default;
};

/// How a warp turns one fragment into another.
struct ExchangePlan {
  LaneWord pre;    ///< Name n of a lane is its source slot n ^ pre.
  LaneWord source; ///< Without the constant of the round: the lane that a lane takes from.
  LaneWord post;   ///< Slot s of the result is what round s ^ post took.
  struct Round {
    int64_t name;     ///< Which name is offered by all lanes.
    int64_t laneMask; ///< The constant of `source`.
  };
  llvm::SmallVector<Round> rounds; ///< One for each slot of the result.

  /// Whether nothing leaves its thread.
  bool staysInThread() const;
  /// Instructions with elements of so many bytes: shuffles (small elements share words) and
  /// selections.
  int64_t countShuffles(int64_t elementBytes) const;
  int64_t countSelects(int64_t sourceSlots) const;
};

/// Nothing if an element would leave its warp, or no such rounds exist.
std::optional<ExchangePlan> planExchange(const OwnerTable &from, const OwnerTable &to);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_CONVERSION_H
