// The call interface: arguments that do not fit, findings as data, tensors too large to copy.

#include "InterpTestSupport.h"
#include <sys/mman.h>

using namespace tilewright::interp;
using mlir::FloatType;

namespace {

constexpr llvm::StringLiteral kCopy = R"mlir(
  func.func @copy(%a: memref<2xi32, #global> {tile.name = "A"},
                  %b: memref<?xi32, #global> {tile.name = "B", tile.shape = #tile.shape<"()[n] -> (2 * n)">},
                  %n: index {tile.symbol = "n"}) {
    %c1 = arith.constant 1 : index
    tile.kernel (%bx) in (%c1) threads [32] {
      tile.copy %a, %b : memref<2xi32, #global> to memref<?xi32, #global>
    }
    return
  })mlir";

/// Two blocks write their number behind the end of B, at [3 + bx], and into [0].
constexpr llvm::StringLiteral kNoisy = R"mlir(
  func.func @noisy(%b: memref<2xi32, #global> {tile.name = "B"}) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    tile.kernel (%bx) in (%c2) threads [32] {
      %i = arith.addi %bx, %c3 : index
      %v = arith.index_cast %bx : index to i32
      tile.store %v, %b[%i] : memref<2xi32, #global> loc("k.py":7:9)
      tile.store %v, %b[%c0] : memref<2xi32, #global> loc(callsite("macro.py":3:1 at "k.py":8:9))
    }
    return
  })mlir";

} // namespace

using RunTest = InterpTest;

TEST_F(RunTest, ArgumentsThatDoNotFitAreRefusedByName) {
  auto function = parse(kCopy);
  std::vector<int32_t> a(2), b(4), tooShort(1);
  std::vector<float> floats(2);
  auto float32 = mlir::Float32Type::get(&context);
  Argument n = int64_t(1);
  EXPECT_EQ(refusal(function, {tensor(a)}), "expected 3 arguments, got 1");
  EXPECT_EQ(refusal(function, {n, tensor(b), n}),
            "argument 0 ('A'): expected a tensor, got a scalar");
  EXPECT_EQ(refusal(function, {tensor(a), tensor(b), tensor(a)}),
            "argument 2 ('n'): expected a scalar, got a tensor");
  EXPECT_EQ(refusal(function, {tensor(a), tensor(b), 1.5}),
            "argument 2 ('n'): expected an integer, got a float");
  EXPECT_EQ(refusal(function, {tensor(floats, float32, {2}), tensor(b), n}),
            "argument 0 ('A'): expected int32, got float32");
  EXPECT_EQ(refusal(function, {tensor(tooShort), tensor(b), n}),
            "argument 0 ('A'): expected (2), got (1)");
  EXPECT_EQ(refusal(function, {tensor(a), tensor(b), int64_t(3)}),
            "argument 1 ('B'): expected (6), got (4)");
  EXPECT_EQ(refusal(function, {tensor(a), tensor(b), int64_t(-1)}),
            "argument 1 ('B'): its shape has an extent that is negative or too large");
}

TEST_F(RunTest, TensorsAreUpdatedInPlace) {
  auto function = parse(kCopy);
  std::vector<int32_t> a = {4, 5}, b = {0, 0};
  auto result = run(function, {tensor(a), tensor(b), int64_t(1)});
  ASSERT_TRUE(bool(result));
  EXPECT_EQ(b, a);
  EXPECT_TRUE(result->findings.empty());
  EXPECT_FALSE(result->stopped);
}

TEST_F(RunTest, OpsWithoutMeaningAreRefused) {
  auto function = parse("func.func @f(%m: memref<4xi32>) -> index {\n"
                        "  %c0 = arith.constant 0 : index\n"
                        "  %d = memref.dim %m, %c0 : memref<4xi32>\n"
                        "  return %d : index\n}");
  std::vector<int32_t> data(4);
  EXPECT_EQ(refusal(function, {tensor(data)}),
            "the interpreter cannot run 'memref.dim': it has no meaning in tile IR");
}

TEST_F(RunTest, FindingsSayWhereAndWhat) {
  auto function = parse(kNoisy);
  std::vector<int32_t> b(2);
  auto result = run(function, {tensor(b)});
  ASSERT_TRUE(bool(result));
  ASSERT_EQ(result->findings.size(), 2u);

  const Finding &outside = result->findings[0];
  EXPECT_EQ(outside.severity, Severity::Note);
  EXPECT_EQ(outside.kind, FindingKind::OutOfBounds);
  EXPECT_EQ(outside.file, "k.py");
  EXPECT_EQ(outside.line, 7u);
  EXPECT_EQ(outside.column, 9u);
  EXPECT_EQ(outside.buffer, "B");
  EXPECT_EQ(llvm::ArrayRef(outside.index), llvm::ArrayRef<int64_t>({3}));
  EXPECT_EQ(llvm::ArrayRef(outside.block), llvm::ArrayRef<int64_t>({0}));
  EXPECT_EQ(outside.count, 2u);

  const Finding &race = result->findings[1];
  EXPECT_EQ(race.kind, FindingKind::Race);
  EXPECT_EQ(toString(race), "macro.py:3: finding: block (1) writes element [0] of 'B', which block "
                            "(0) writes; block (1) [race]");
  EXPECT_TRUE(result->hasFindings());
}

TEST_F(RunTest, TheNumberOfFindingsIsLimited) {
  auto function = parse(kNoisy);
  std::vector<int32_t> b(2);
  Options options;
  options.maxFindings = 1;
  auto result = run(function, {tensor(b)}, options);
  ASSERT_TRUE(bool(result));
  EXPECT_EQ(result->findings.size(), 1u);
}

TEST_F(RunTest, WithoutChecksOnlyErrorsAreReported) {
  auto function = parse(kNoisy);
  std::vector<int32_t> b(2);
  Options options;
  options.check = false;
  auto result = run(function, {tensor(b)}, options);
  ASSERT_TRUE(bool(result));
  EXPECT_TRUE(result->findings.empty());
  EXPECT_EQ(b[0], 1);
}

TEST_F(RunTest, LargeTensorsCostWhatIsTouched) { // 16 GiB of addresses, a few pages of memory
  auto function = parse(R"mlir(
    func.func @far(%b: memref<4294967296xi32, #global> {tile.name = "B"}, %i: index, %v: i32) {
      %c1 = arith.constant 1 : index
      tile.kernel (%bx) in (%c1) threads [32] {
        tile.parallel (%j) in (2) {
          %k = arith.addi %i, %j : index
          tile.store %v, %b[%k] : memref<4294967296xi32, #global>
        }
      }
      return
    })mlir");
  int64_t count = int64_t(1) << 32;
  void *memory = mmap(nullptr, count * 4, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  TensorArgument argument;
  argument.data = memory;
  argument.shape = {count};
  auto result = run(function, {argument, count - 2, int64_t(77)});
  ASSERT_TRUE(bool(result));
  EXPECT_TRUE(result->findings.empty());
  EXPECT_EQ(static_cast<int32_t *>(memory)[count - 1], 77);
  EXPECT_EQ(static_cast<int32_t *>(memory)[count - 3], 0);
  munmap(memory, count * 4);
}

TEST_F(RunTest, Tf32OperandsAreRoundedAwayFromZeroOnTies) { // cvt.rna.tf32.f32
  auto function = parse(R"mlir(
    func.func @gemm(%a: memref<1x1xtf32, #global>, %b: memref<1x1xtf32, #global>,
                    %c: memref<1x1xf32, #global>, %d: memref<1x1xtf32, #global>) {
      %c1 = arith.constant 1 : index
      tile.kernel (%bx) in (%c1) threads [32] {
        tile.gemm %a, %b, %c : memref<1x1xtf32, #global>, memref<1x1xtf32, #global>, memref<1x1xf32, #global>
        tile.copy %a, %d : memref<1x1xtf32, #global> to memref<1x1xtf32, #global>
      }
      return
    })mlir");
  auto tf32 = mlir::FloatTF32Type::get(&context);
  auto float32 = mlir::Float32Type::get(&context);
  std::vector<float> a = {1.00048828125f}, b = {2}, c = {0}, d = {0}; // 1 + 2^-11
  auto result = run(function, {tensor(a, tf32, {1, 1}), tensor(b, tf32, {1, 1}),
                               tensor(c, float32, {1, 1}), tensor(d, tf32, {1, 1})});
  ASSERT_TRUE(bool(result));
  EXPECT_EQ(c[0], 2 * 1.0009765625f); // 1 + 2^-10
  EXPECT_EQ(d[0], a[0]);              // a copy moves bits
}

TEST_F(RunTest, EmptyTensorsAreLegal) {
  auto function = parse(R"mlir(
    func.func @empty(%a: memref<?xi32, #global> {tile.shape = #tile.shape<"()[n] -> (n)">},
                     %n: index {tile.symbol = "n"}) {
      %c1 = arith.constant 1 : index
      tile.kernel (%bx) in (%c1) threads [32] {
        tile.copy %a, %a : memref<?xi32, #global> to memref<?xi32, #global>
      }
      return
    })mlir");
  std::vector<int32_t> nothing;
  auto result = run(function, {tensor(nothing), int64_t(0)});
  ASSERT_TRUE(bool(result));
  EXPECT_TRUE(result->findings.empty());
}
