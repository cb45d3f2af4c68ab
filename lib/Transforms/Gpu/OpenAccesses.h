//===- OpenAccesses.h - what a block's threads touched and nothing has ordered yet -----------===//
//
// The state of insert-orderings at one point of the program: accesses since the last barrier, and
// asynchronous accesses that are still under way. States of several paths merge into what may be
// open on any of them.
//
//   version   a multi-buffered tile is accessed at a number modulo its versions, a sum of index
//             values: k + 2 - lower. Two accesses meet unless the difference of their numbers is a
//             constant that the number of versions does not divide.
//   flight    how many groups were committed after that of the access: a wait that leaves so many
//             under way ends it. Copies, products and bulk stores form groups of their own. A bulk
//             copy to shared memory is waited for at the barrier of its version instead. A wait for
//             bulk stores may end what they read, and leave what they write under way.
//   private   registers of a thread, which only its own products share: a wait orders them, and no
//             barrier has to. Only what a product does to them is ever open.
//
// A loop's variable changes from iteration to iteration, and the state follows it: what was
// k + 2 in the last iteration is k + 1 in this one.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_GPU_OPENACCESSES_H
#define TILEWRIGHT_LIB_TRANSFORMS_GPU_OPENACCESSES_H

#include "tilewright/Tile/Tile.h"

namespace tilewright {

/// What runs on after its statement.
enum class FlightKind : uint8_t { Copy, Product, Bulk, Store };

/// An asynchronous access that no wait has ended.
struct Flight {
  int64_t younger = 0; ///< Groups that were committed after its own.
  /// iteration - upper of its `tile.async_group`: where this is not negative, nothing is copied.
  /// Nothing if that is not known here.
  std::optional<tile::IndexSum> excess;
  tile::GemmOp product;          ///< Null: a copy.
  mlir::Value barriers = {};     ///< Where a bulk copy arrives; null for copies that groups count.
  tile::BulkGroupOp stores = {}; ///< Bulk stores.

  friend bool operator==(const Flight &, const Flight &) = default;

  FlightKind getKind() const {
    if (stores)
      return FlightKind::Store;
    return product ? FlightKind::Product : barriers ? FlightKind::Bulk : FlightKind::Copy;
  }
};

struct OpenAccess {
  tile::EffectKind kind = tile::EffectKind::Write;
  tile::Combination combination = tile::Combination::Ordered;
  mlir::Value root;                      ///< Null: any memory.
  std::optional<tile::IndexSum> version; ///< Nothing: any, or the tile has only one.
  std::optional<Flight> flight;
  /// Iterations of the innermost loop since the access; nothing: it was made outside of it.
  std::optional<int64_t> iterations = 0;
  bool isPrivate = false; ///< Registers.
  /// No access: a thread has learned what other blocks did (an atomic that acquires), which holds for the
  /// others of its block once they have met.
  bool isLearned = false;

  friend bool operator==(const OpenAccess &, const OpenAccess &) = default;
  static OpenAccess get(const tile::Effect &effect);
  static OpenAccess getLearned();
  /// A write to the version of a tile, or the barrier of a row, that has this number (`tile.version`).
  static OpenAccess getWrite(mlir::Value tile, mlir::Value version);
};

/// Versions of a tile, or barriers of a row; 1 where a tile is not multi-buffered.
int64_t getNumVersions(mlir::Value root);
/// Whether two accesses to one root are certainly to different versions of it.
bool areOtherVersions(const OpenAccess &a, const OpenAccess &b);

/// A loop as the state sees it: its variable and bounds, if it has such and runs by steps of 1.
struct CountedLoop {
  mlir::Operation *op;
  mlir::Value variable; ///< Null: none.
  tile::IndexSum lower, upper;

  static CountedLoop get(mlir::Operation *op);
  /// How often the body runs, if that is a constant.
  std::optional<int64_t> getTrips() const;
  /// Whether the body certainly runs. The first region of a while loop always does.
  bool runsAtLeastOnce() const;
};

class OpenAccesses {
public:
  llvm::ArrayRef<OpenAccess> get() const { return accesses; }
  bool empty() const { return accesses.empty(); }
  /// Whether the same is open, in the same order.
  friend bool operator==(const OpenAccesses &, const OpenAccesses &) = default;
  /// Whether something of this kind is under way.
  bool has(FlightKind kind) const {
    return llvm::any_of(accesses, [&](const OpenAccess &access) {
      return access.flight && access.flight->getKind() == kind;
    });
  }

  void add(const OpenAccess &access);
  /// What is open on either path. Whether something was not known before.
  bool merge(const OpenAccesses &other);

  /// A barrier: what is over is ordered before all that follows.
  void meet();
  /// Asynchronous accesses form a group with those of `add` that follow.
  void commit(FlightKind kind);
  /// Ends the accesses of all groups but the last `pending`, for the thread that issued them.
  void wait(FlightKind kind, int64_t pending, bool readsOnly = false);
  /// All threads wait at the barrier of this version: what arrives there is over, for all of them.
  void arrive(mlir::Value barriers, mlir::Value version);
  /// The numbers of younger groups of copies under way, each once, greatest first.
  llvm::SmallVector<int64_t> getFlights() const;
  /// The fragments of products under way, each once.
  struct HeldRegisters {
    llvm::SmallVector<mlir::Value> sums, factors;
  };
  HeldRegisters getHeldRegisters() const;

  /// The same state in terms of a loop's variable at the start of its first iteration; after an
  /// iteration, at the start of the next one (`goesOn`) or where the loop is left; and after the loop.
  void enter(const CountedLoop &loop);
  void advance(const CountedLoop &loop, bool goesOn);
  void leave(const CountedLoop &loop);

private:
  llvm::SmallVector<OpenAccess> accesses;
};

} // namespace tilewright

#endif // TILEWRIGHT_LIB_TRANSFORMS_GPU_OPENACCESSES_H
