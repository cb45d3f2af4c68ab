// The interpreter does not trust declared effects. Here it runs programs whose declarations were
// tampered with after resolution, as a wrong `getTileEffects` would make them.

#include "InterpTestSupport.h"
#include "Machine.h"

using namespace tilewright::interp;

namespace {

constexpr llvm::StringLiteral kProgram = R"mlir(
  func.func @f(%a: memref<4x4xi32, #global> {tile.name = "A"}) {
    %c1 = arith.constant 1 : index
    tile.kernel (%bx) in (%c1) threads [32] {
      %s = tile.alloc "s" : memref<2x4xi32, #shared>
      %rows = tile.slice %a[1, 0] [2, 4] [1, 1] : memref<4x4xi32, #global> to memref<2x4xi32, #global>
      tile.copy %rows, %s : memref<2x4xi32, #global> to memref<2x4xi32, #shared> loc("k.py":5:7)
    }
    return
  })mlir";

class EffectsTest : public InterpTest {
protected:
  /// Runs the program after `tamper` changed the effects of its copy: first A's read, then s's
  /// write.
  std::string runTampered(llvm::function_ref<void(std::vector<DeclaredEffect> &)> tamper) {
    auto function = parse(kProgram);
    Options options;
    llvm::Expected<Program> program = resolve(function, options);
    if (!program)
      return llvm::toString(program.takeError());
    for (Body &body : program->bodies)
      for (Step &step : body.steps)
        if (llvm::isa<tilewright::tile::CopyOp>(step.op))
          tamper(step.effects);
    Machine machine(*program, options);
    Storage &storage = machine.addStorage(function.getArgument(0));
    storage.shape = {4, 4};
    storage.physicalElements = 16;
    storage.bytes = reinterpret_cast<uint8_t *>(data.data());
    machine.views[program->argumentSlots[0]] = View::whole(storage, Format::I32, storage.shape);
    machine.run(program->bodies.front());
    std::string text;
    for (const Finding &finding : machine.findings.take())
      text += toString(finding) + "\n";
    return text;
  }

  std::vector<int32_t> data = std::vector<int32_t>(16);
};

} // namespace

TEST_F(EffectsTest, TrueDeclarationsAreSilent) {
  EXPECT_EQ(runTampered([](std::vector<DeclaredEffect> &effects) {
              ASSERT_EQ(effects.size(), 2u);
              ASSERT_TRUE(effects[0].ranges.has_value());
            }),
            "");
}

TEST_F(EffectsTest, MissingReadIsReported) {
  EXPECT_EQ(
      runTampered([](std::vector<DeclaredEffect> &effects) { effects.erase(effects.begin()); }),
      "k.py:5: error: internal error: 'tile.copy' reads element [1, 0] of 'A', which its effects "
      "do not declare; block (0) [undeclared_effect]\n");
}

TEST_F(EffectsTest, WriteDeclaredAsReadIsReported) {
  std::string text =
      runTampered([](std::vector<DeclaredEffect> &effects) { effects[1].access = Access::Read; });
  EXPECT_NE(text.find("writes element [0, 0] of 's', which its effects do not declare"),
            std::string::npos)
      << text;
}

TEST_F(EffectsTest, TooSmallRegionIsReportedAtTheFirstElementOutside) {
  std::string text = runTampered(
      [](std::vector<DeclaredEffect> &effects) { (*effects[0].ranges)[1].size.constant = 3; });
  EXPECT_NE(text.find("reads element [1, 3] of 'A', which its effects do not declare"),
            std::string::npos)
      << text;
}

TEST_F(EffectsTest, LargerRegionIsSilent) {
  EXPECT_EQ(runTampered([](std::vector<DeclaredEffect> &effects) { effects[0].ranges.reset(); }),
            "");
}
