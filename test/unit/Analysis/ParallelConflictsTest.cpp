//===- ParallelConflictsTest.cpp - the conflict check against all pairs of iterations ---------===//
//
// Random loops of a few accesses, written as text and simulated here: every access of every
// iteration is listed, and any two of them are compared. Nothing of the analysis is used.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/ParallelConflicts.h"
#include "tilewright/Support/SeededRandom.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::analysis;

namespace {

/// `(a * i + b * j + c * k + d) // quotient % modulus`, with k the variable of an inner loop.
struct RandomIndex {
  int64_t a, b, c, d, quotient, modulus;

  static RandomIndex get(SeededRandom &random) {
    int64_t widths[] = {1, 1, 1, 2, 3, 4, 8};
    auto factor = [&] { return random.oneIn(3) ? 0 : random.uniform(-2, 4); };
    return {factor(),
            factor(),
            factor(),
            random.uniform(0, 8),
            random.pick<int64_t>(widths),
            random.oneIn(2) ? 1000 : random.uniform(1, 9)};
  }

  int64_t evaluate(int64_t i, int64_t j, int64_t k) const {
    auto floorDiv = [](int64_t x, int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); };
    int64_t quotientValue = floorDiv(a * i + b * j + c * k + d, quotient);
    return quotientValue - modulus * floorDiv(quotientValue, modulus);
  }

  /// Operations that leave the value in `%<name>`.
  std::string text(const std::string &name) const {
    std::string code;
    llvm::raw_string_ostream os(code);
    auto constant = [&](const char *suffix, int64_t value) {
      os << "%" << name << suffix << " = arith.constant " << value << " : index\n";
    };
    auto op = [&](const std::string &result, const char *op, const std::string &lhs,
                  const std::string &rhs) {
      os << "%" << result << " = " << op << " " << lhs << ", " << rhs << " : index\n";
    };
    constant("ca", a);
    constant("cb", b);
    constant("cc", c);
    constant("cd", d);
    constant("cq", quotient);
    constant("cm", modulus);
    op(name + "0", "arith.muli", "%i", "%" + name + "ca");
    op(name + "1", "arith.muli", "%j", "%" + name + "cb");
    op(name + "2", "arith.muli", c ? "%k" : "%i", "%" + name + "cc");
    op(name + "3", "arith.addi", "%" + name + "0", "%" + name + "1");
    op(name + "4", "arith.addi", "%" + name + "3", "%" + name + "2");
    op(name + "5", "arith.addi", "%" + name + "4", "%" + name + "cd");
    op(name + "6", "tile.floordiv", "%" + name + "5", "%" + name + "cq");
    op(name, "tile.floormod", "%" + name + "6", "%" + name + "cm");
    return code;
  }
};

enum class Kind { Load, StoreConstant, StoreIndex, Atomic };

struct RandomAccess {
  Kind kind;
  RandomIndex index, value;
  std::optional<RandomIndex> guard; ///< The access happens where this is below 3,
  bool inElse = false;              ///< or where it is not.
  int64_t constant = 0;

  bool happens(int64_t i, int64_t j, int64_t k) const {
    return !guard || (guard->evaluate(i, j, k) < 3) != inElse;
  }
};

struct RandomLoop {
  int64_t rows, columns, trips;
  std::vector<RandomAccess> accesses;

  explicit RandomLoop(SeededRandom &random)
      : rows(random.uniform(1, 5)), columns(random.uniform(1, 5)), trips(random.uniform(1, 3)) {
    for (int64_t count = random.uniform(1, 3); count > 0; --count) {
      RandomAccess access{Kind(random.uniform(0, 3)), RandomIndex::get(random),
                          RandomIndex::get(random), std::nullopt};
      if (random.oneIn(3))
        access.guard = RandomIndex::get(random);
      access.inElse = random.oneIn(2);
      access.constant = random.uniform(0, 1);
      // The value of a store in an inner loop may not depend on its variable: the analysis compares
      // iterations of the outer one.
      access.value.c = 0;
      accesses.push_back(access);
    }
  }

  std::string text() const;
  bool hasConflict() const;
};

} // namespace

std::string RandomLoop::text() const {
  std::string code;
  llvm::raw_string_ostream os(code);
  os << "func.func @f(%B: memref<64xi32, #tile.space<global>>) {\n"
     << "%lo = arith.constant 0 : index\n%one = arith.constant 1 : index\n"
     << "%three = arith.constant 3 : index\n"
     << "%trips = arith.constant " << trips << " : index\n"
     << "tile.parallel (%i, %j) in (" << rows << ", " << columns << ") {\n"
     << "scf.for %k = %lo to %trips step %one {\n";
  for (auto [number, access] : llvm::enumerate(accesses)) {
    std::string id = std::to_string(number);
    os << access.index.text("at" + id) << access.value.text("x" + id);
    os << "%v" << id << " = tile.cast %x" << id << " from index to i32\n";
    os << "%c" << id << " = arith.constant " << access.constant << " : i32\n";
    if (access.guard) {
      os << access.guard->text("g" + id);
      os << "%if" << id << " = arith.cmpi slt, %g" << id << ", %three : index\n";
      os << "scf.if %if" << id << " {\n" << (access.inElse ? "} else {\n" : "");
    }
    std::string at = "%B[%at" + id + "] : memref<64xi32, #tile.space<global>>\n";
    switch (access.kind) {
    case Kind::Load:
      os << "%r" << id << " = tile.load " << at;
      break;
    case Kind::StoreConstant:
      os << "tile.store %c" << id << ", " << at;
      break;
    case Kind::StoreIndex:
      os << "tile.store %v" << id << ", " << at;
      break;
    case Kind::Atomic:
      os << "%r" << id << " = tile.atomic_element add %v" << id << ", " << at;
      break;
    }
    os << (access.guard ? "}\n" : "");
  }
  os << "}\n}\nreturn\n}\n";
  return code;
}

bool RandomLoop::hasConflict() const {
  struct Event {
    int64_t iteration, element, value;
    size_t access;
  };
  std::vector<Event> events;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t k = 0; k < trips; ++k)
        for (auto [number, access] : llvm::enumerate(accesses))
          if (access.happens(i, j, k)) {
            int64_t value = access.kind == Kind::StoreConstant ? access.constant
                                                               : access.value.evaluate(i, j, k);
            events.push_back({i * columns + j, access.index.evaluate(i, j, k), value, number});
          }
  auto isStore = [](Kind kind) { return kind == Kind::StoreConstant || kind == Kind::StoreIndex; };
  for (const Event &a : events)
    for (const Event &b : events) {
      if (a.iteration == b.iteration || a.element != b.element)
        continue;
      Kind first = accesses[a.access].kind, second = accesses[b.access].kind;
      if (first == Kind::Load || (first == Kind::Atomic && second == Kind::Atomic))
        continue;
      // Values of two statements are compared only if both are constants.
      bool comparable =
          a.access == b.access || (first == Kind::StoreConstant && second == Kind::StoreConstant);
      if (isStore(first) && isStore(second) && comparable && a.value == b.value)
        continue;
      return true;
    }
  return false;
}

TEST(ParallelConflictsProperty, AgreesWithAllPairsOfIterations) {
  MLIRContext context;
  context.loadDialect<tile::TileDialect, arith::ArithDialect, func::FuncDialect, scf::SCFDialect>();
  uint64_t seed = GTEST_FLAG_GET(random_seed); // 0 unless given
  SCOPED_TRACE("replay with --gtest_random_seed=" + std::to_string(seed));
  SeededRandom random(seed + 1);
  int64_t numConflicts = 0;
  constexpr int64_t kLoops = 2000;
  for (int64_t count = 0; count < kLoops; ++count) {
    RandomLoop loop(random);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(loop.text(), ParserConfig(&context));
    ASSERT_TRUE(module) << loop.text();
    std::optional<ParallelConflict> found;
    module->walk([&](tile::ParallelOp op) { found = findParallelConflict(op); });
    ASSERT_EQ(found.has_value(), loop.hasConflict()) << loop.text();
    numConflicts += found.has_value();
  }
  // Both answers must be common, or the test proves nothing.
  EXPECT_GT(numConflicts, kLoops / 10);
  EXPECT_LT(numConflicts, kLoops * 9 / 10);
}

TEST(ParallelConflictsTest, NamesIterationsAndElement) {
  MLIRContext context;
  context.loadDialect<tile::TileDialect, arith::ArithDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @f(%A: memref<4x6xf32, #tile.space<global>> {tile.name = "A"}) {
      %c3 = arith.constant 3 : index
      tile.parallel (%i, %j) in (4, 6) {
        %low = tile.floormod %j, %c3 : index
        %x = tile.load %A[%i, %j] : memref<4x6xf32, #tile.space<global>>
        tile.store %x, %A[%i, %low] : memref<4x6xf32, #tile.space<global>>
      }
      return
    })",
                                                             ParserConfig(&context));
  ASSERT_TRUE(module);
  std::optional<ParallelConflict> found;
  module->walk([&](tile::ParallelOp op) { found = findParallelConflict(op); });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->firstKind, tile::EffectKind::Write);
  EXPECT_EQ(found->secondKind, tile::EffectKind::Write);
  EXPECT_EQ(found->firstIteration, (SmallVector<int64_t, 4>{0, 0}));
  EXPECT_EQ(found->secondIteration, (SmallVector<int64_t, 4>{0, 3}));
  EXPECT_EQ(found->element, (SmallVector<int64_t, 4>{0, 0}));
}
