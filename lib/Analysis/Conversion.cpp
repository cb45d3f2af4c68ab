//===- Conversion.cpp - from one register layout to another inside a warp --------------------===//
//
// For each lane t and slot s of the result, the tables name a lane and a slot of the source. With
// s = 2^k h + l, both must be linear in the bits of t and l, apart from a constant of h:
//
//   lane(t, l) = A t ^ B l ^ a(h)          slot(t, l) = C t ^ D l ^ c(h)
//
// In round r, lane t takes slot l = r ^ E t of its result. Its source is then M t ^ B r ^ a with
// M = A ^ B E, and what it takes is N t ^ D r ^ c with N = C ^ D E. All takers of a lane must want
// the same slot of it: N = F M for some F, which is `pre`. E, which is `post`, is searched for, the
// fewest bits first; where lanes hold copies, a taker may also turn to another copy.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/Conversion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <map>

namespace tilewright::analysis {

static constexpr int64_t kLanes = int64_t(1) << LaneWord::kLaneBits;

int64_t LaneWord::at(int64_t lane) const {
  int64_t word = 0;
  for (unsigned bit = 0; bit < kLaneBits; ++bit)
    if (lane >> bit & 1)
      word ^= columns[bit];
  return word;
}

int64_t LaneWord::parityMask(unsigned bit) const {
  int64_t mask = 0;
  for (unsigned b = 0; b < kLaneBits; ++b)
    mask |= (columns[b] >> bit & 1) << b;
  return mask;
}

bool LaneWord::isZero() const { return *this == LaneWord(); }

bool LaneWord::isIdentity() const {
  for (unsigned bit = 0; bit < kLaneBits; ++bit)
    if (columns[bit] != int64_t(1) << bit)
      return false;
  return true;
}

bool ExchangePlan::staysInThread() const {
  return source.isIdentity() &&
         llvm::all_of(rounds, [](const Round &round) { return round.laneMask == 0; });
}

int64_t ExchangePlan::countShuffles(int64_t elementBytes) const {
  constexpr int64_t kWordBytes = 4;
  std::map<int64_t, int64_t> bytes; // for each source lane
  for (const Round &round : rounds)
    if (!source.isIdentity() || round.laneMask != 0)
      bytes[round.laneMask] += elementBytes;
  int64_t words = 0;
  for (auto [mask, count] : bytes)
    words += llvm::divideCeil(count, kWordBytes);
  return words;
}

int64_t ExchangePlan::countSelects(int64_t sourceSlots) const {
  auto stages = [](const LaneWord &word) {
    int64_t any = 0;
    for (int64_t column : word.columns)
      any |= column;
    return llvm::popcount(uint64_t(any));
  };
  return stages(pre) * sourceSlots + stages(post) * int64_t(rounds.size());
}

namespace {

/// Where a slot of the result finds its element.
struct Origin {
  int64_t lane = 0, slot = 0;
};

/// The origins of all lanes and slots, the same for every warp. Of many copies of an element the
/// one whose lane differs least is taken, which keeps linear layouts linear.
std::optional<std::vector<Origin>> findOrigins(const OwnerTable &from, const OwnerTable &to) {
  if (from.threads != to.threads || from.threads % kLanes)
    return std::nullopt;
  std::vector<Origin> origins(kLanes * to.slots);
  std::vector<std::pair<int64_t, Origin>> held; // of one warp, by element
  auto isLess = [](const auto &x, const auto &y) { return x.first < y.first; };
  for (int64_t first = 0; first < to.threads; first += kLanes) {
    held.clear();
    for (int64_t lane = 0; lane < kLanes; ++lane)
      for (int64_t slot = 0; slot < from.slots; ++slot)
        if (int64_t element = from.at(first + lane, slot); element >= 0)
          held.push_back({element, {lane, slot}});
    llvm::sort(held, [](const auto &x, const auto &y) {
      return std::tuple(x.first, x.second.lane, x.second.slot) <
             std::tuple(y.first, y.second.lane, y.second.slot);
    });
    for (int64_t lane = 0; lane < kLanes; ++lane)
      for (int64_t slot = 0; slot < to.slots; ++slot) {
        int64_t element = to.at(first + lane, slot);
        auto range =
            std::equal_range(held.begin(), held.end(), std::pair(element, Origin()), isLess);
        if (element < 0 || range.first == range.second)
          return std::nullopt;
        auto nearest = std::min_element(range.first, range.second, [&](auto &x, auto &y) {
          return (x.second.lane ^ lane) < (y.second.lane ^ lane);
        });
        Origin &origin = origins[lane * to.slots + slot];
        if (first == 0)
          origin = nearest->second;
        else if (origin.lane != nearest->second.lane || origin.slot != nearest->second.slot)
          return std::nullopt;
      }
  }
  return origins;
}

/// The linear form above.
struct LinearOrigins {
  LaneWord lane, slot;                          // A, C
  llvm::SmallVector<int64_t, 8> laneOf, slotOf; // B, D: a column for each low bit of the slot
  llvm::SmallVector<Origin, 4> constants;       // a, c: one for each high part
  llvm::SmallVector<int64_t, 5> copies;         // lanes that differ so hold the same
};

/// The bits of the lane in which copies of the source differ.
llvm::SmallVector<int64_t, 5> findCopies(const OwnerTable &from) {
  llvm::SmallVector<int64_t, 5> copies;
  for (int64_t bit = 1; bit < kLanes; bit *= 2) {
    bool isCopy = true;
    for (int64_t thread = 0; isCopy && thread < from.threads; ++thread)
      for (int64_t slot = 0; slot < from.slots; ++slot)
        isCopy &= from.at(thread, slot) == from.at(thread ^ bit, slot);
    if (isCopy)
      copies.push_back(bit);
  }
  return copies;
}

std::optional<LinearOrigins> readLinear(llvm::ArrayRef<Origin> origins, int64_t slots) {
  LinearOrigins form;
  unsigned lowBits = llvm::countr_zero(uint64_t(slots));
  auto at = [&](int64_t lane, int64_t slot) { return origins[lane * slots + slot]; };
  Origin zero = at(0, 0);
  for (unsigned bit = 0; bit < LaneWord::kLaneBits; ++bit) {
    form.lane.columns[bit] = at(int64_t(1) << bit, 0).lane ^ zero.lane;
    form.slot.columns[bit] = at(int64_t(1) << bit, 0).slot ^ zero.slot;
  }
  for (unsigned bit = 0; bit < lowBits; ++bit) {
    form.laneOf.push_back(at(0, int64_t(1) << bit).lane ^ zero.lane);
    form.slotOf.push_back(at(0, int64_t(1) << bit).slot ^ zero.slot);
  }
  for (int64_t high = 0; high < slots >> lowBits; ++high)
    form.constants.push_back(at(0, high << lowBits));
  for (int64_t lane = 0; lane < kLanes; ++lane)
    for (int64_t slot = 0; slot < slots; ++slot) {
      Origin expected = form.constants[slot >> lowBits];
      expected.lane ^= form.lane.at(lane);
      expected.slot ^= form.slot.at(lane);
      for (unsigned bit = 0; bit < lowBits; ++bit)
        if (slot >> bit & 1) {
          expected.lane ^= form.laneOf[bit];
          expected.slot ^= form.slotOf[bit];
        }
      if (at(lane, slot).lane != expected.lane || at(lane, slot).slot != expected.slot)
        return std::nullopt;
    }
  return form;
}

int64_t apply(llvm::ArrayRef<int64_t> columns, int64_t word) {
  int64_t image = 0;
  for (auto [bit, column] : llvm::enumerate(columns))
    if (word >> bit & 1)
      image ^= column;
  return image;
}

/// F with F M = N, if there is one.
std::optional<LaneWord> divide(const LaneWord &n, const LaneWord &m) {
  // Gauss: pairs of an image under M and one under N, reduced to distinct leading bits.
  std::array<std::optional<std::pair<int64_t, int64_t>>, LaneWord::kLaneBits> basis;
  for (unsigned bit = 0; bit < LaneWord::kLaneBits; ++bit) {
    int64_t image = m.columns[bit], wanted = n.columns[bit];
    for (int pivot = LaneWord::kLaneBits - 1; pivot >= 0; --pivot) {
      if (!(image >> pivot & 1))
        continue;
      if (!basis[pivot]) {
        basis[pivot] = {image, wanted};
        wanted = image = 0;
        break;
      }
      image ^= basis[pivot]->first;
      wanted ^= basis[pivot]->second;
    }
    if (image == 0 && wanted != 0)
      return std::nullopt;
  }
  // Where no image leads with a bit, F is free: zero.
  LaneWord f;
  for (unsigned pivot = 0; pivot < LaneWord::kLaneBits; ++pivot)
    if (basis[pivot]) {
      int64_t below = basis[pivot]->first ^ (int64_t(1) << pivot);
      f.columns[pivot] = basis[pivot]->second ^ f.at(below);
    }
  return f;
}

/// Tries all E and all choices of copies with `left` more bits, from lane bit `start` on.
std::optional<ExchangePlan> search(LinearOrigins &form, int64_t fromSlots, LaneWord &post,
                                   unsigned start, unsigned left) {
  if (left > 0) {
    for (unsigned lane = start; lane < LaneWord::kLaneBits; ++lane) {
      for (int64_t copy : form.copies) {
        form.lane.columns[lane] ^= copy;
        if (auto plan = search(form, fromSlots, post, lane + 1, left - 1))
          return plan;
        form.lane.columns[lane] ^= copy;
      }
      for (unsigned bit = 0; bit < form.laneOf.size(); ++bit) {
        post.columns[lane] = int64_t(1) << bit;
        if (auto plan = search(form, fromSlots, post, lane + 1, left - 1))
          return plan;
        post.columns[lane] = 0;
      }
    }
    return std::nullopt;
  }
  ExchangePlan plan;
  plan.post = post;
  LaneWord wanted;
  for (unsigned lane = 0; lane < LaneWord::kLaneBits; ++lane) {
    plan.source.columns[lane] = form.lane.columns[lane] ^ apply(form.laneOf, post.columns[lane]);
    wanted.columns[lane] = form.slot.columns[lane] ^ apply(form.slotOf, post.columns[lane]);
  }
  std::optional<LaneWord> pre = divide(wanted, plan.source);
  if (!pre)
    return std::nullopt;
  plan.pre = *pre;
  for (const Origin &constant : form.constants)
    for (int64_t low = 0; low < int64_t(1) << form.laneOf.size(); ++low) {
      int64_t laneMask = apply(form.laneOf, low) ^ constant.lane;
      int64_t name = pre->at(laneMask) ^ apply(form.slotOf, low) ^ constant.slot;
      plan.rounds.push_back({name, laneMask});
    }
  // Renaming is a permutation of the source's slots only if it stays among them.
  for (unsigned bit = 0; bit < 32; ++bit)
    if (pre->parityMask(bit) && fromSlots % (int64_t(2) << bit))
      return std::nullopt;
  for (const ExchangePlan::Round &round : plan.rounds)
    if (round.name >= fromSlots)
      return std::nullopt;
  return plan;
}

} // namespace

std::optional<ExchangePlan> planExchange(const OwnerTable &from, const OwnerTable &to) {
  if (to.slots == 0)
    return std::nullopt;
  std::optional<std::vector<Origin>> origins = findOrigins(from, to);
  std::optional<LinearOrigins> form = origins ? readLinear(*origins, to.slots) : std::nullopt;
  if (!form)
    return std::nullopt;
  form->copies = findCopies(from);
  LaneWord post;
  for (unsigned bits = 0; bits <= LaneWord::kLaneBits; ++bits)
    if (auto plan = search(*form, from.slots, post, 0, bits))
      return plan;
  return std::nullopt;
}

} // namespace tilewright::analysis
