//===- InterpTestPass.cpp - runs functions with arguments written in the IR -------------------===//
//
// `tw-opt -test-interpret` runs every function that has the attribute `interp.args`, a list of
//
//   dense<[1.0, 2.0]> : tensor<2xf32>    a tensor, whose contents are printed after the run
//   3 : index, 2.5 : f32                 a scalar
//
// and prints each tensor argument under its name; floats that `%.9g` cannot tell apart are the same
// value. Findings become remarks at the op, so that -verify-diagnostics checks them in place.
// With bounds=1 a line of radii follows each tensor.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Interp/Interp.h"
#include "tilewright/Interp/Numeric.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Pass/Pass.h"
#include "llvm/Support/Format.h"
#include <cstring>

using namespace mlir;
using namespace tilewright;

namespace {

/// A tensor argument's memory.
struct Memory {
  interp::TensorArgument argument;
  std::vector<char> bytes;

  uint64_t getBits(int64_t position, unsigned size) const {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + position * size, size);
    return bits;
  }
};

struct InterpTestPass : PassWrapper<InterpTestPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InterpTestPass)

  InterpTestPass() = default;
  InterpTestPass(const InterpTestPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-interpret"; }
  StringRef getDescription() const override {
    return "run functions that carry `interp.args` in the reference interpreter";
  }

  Option<bool> check{*this, "check", llvm::cl::init(true), llvm::cl::desc("watch the program")};
  Option<bool> bounds{*this, "bounds", llvm::cl::init(false), llvm::cl::desc("carry error radii")};
  Option<uint64_t> order{*this, "order", llvm::cl::init(0),
                         llvm::cl::desc("in which order roles take turns")};

  void runOnOperation() override;

private:
  LogicalResult run(func::FuncOp function, ArrayAttr described);
};

} // namespace

static Memory makeMemory(DenseElementsAttr attribute) {
  Memory memory;
  Type type = attribute.getElementType();
  unsigned size = tile::getStorageBytes(type);
  memory.argument.elementType = type;
  memory.argument.shape.assign(attribute.getType().getShape().begin(),
                               attribute.getType().getShape().end());
  memory.bytes.resize(attribute.getNumElements() * size);
  auto put = [&](size_t position, const APInt &bits) {
    uint64_t value = bits.getZExtValue();
    std::memcpy(memory.bytes.data() + position * size, &value, size);
  };
  if (isa<FloatType>(type))
    for (auto [position, value] : llvm::enumerate(attribute.getValues<APFloat>()))
      put(position, value.bitcastToAPInt());
  else
    for (auto [position, value] : llvm::enumerate(attribute.getValues<APInt>()))
      put(position, value);
  memory.argument.data = memory.bytes.data();
  return memory;
}

static void printElement(Type type, uint64_t bits) {
  llvm::raw_ostream &os = llvm::outs();
  if (auto real = dyn_cast<FloatType>(type)) {
    APFloat value(real.getFloatSemantics(), APInt(type.getIntOrFloatBitWidth(), bits));
    bool losesInfo;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    os << llvm::format("%.9g", value.convertToDouble());
    return;
  }
  APInt value(type.getIntOrFloatBitWidth(), bits, /*isSigned=*/false, /*implicitTrunc=*/true);
  value.print(os, !type.isUnsignedInteger() && !type.isInteger(1));
}

static void print(func::FuncOp function, unsigned position, const Memory &memory) {
  auto name = function.getArgAttrOfType<StringAttr>(position, tile::kNameAttr);
  llvm::outs() << (name ? name.getValue().str() : "arg" + std::to_string(position)) << " =";
  Type type = memory.argument.elementType;
  unsigned size = tile::getStorageBytes(type);
  for (size_t element = 0; element < memory.bytes.size() / size; ++element) {
    llvm::outs() << " ";
    printElement(type, memory.getBits(element, size));
  }
  llvm::outs() << "\n";
}

static void printRadii(const interp::TensorRadii &radii) {
  llvm::outs() << "radii of " << radii.argument << " =";
  for (double radius : radii.radii)
    llvm::outs() << llvm::format(" %.3g", radius);
  llvm::outs() << "\n";
}

static void report(func::FuncOp function, const interp::Finding &finding) {
  Location location = function.getLoc();
  if (!finding.file.empty())
    location =
        FileLineColLoc::get(function.getContext(), finding.file, finding.line, finding.column);
  interp::Finding placed = finding;
  placed.file.clear();
  emitRemark(location) << interp::toString(placed);
}

LogicalResult InterpTestPass::run(func::FuncOp function, ArrayAttr described) {
  SmallVector<std::pair<unsigned, Memory>> memories;
  SmallVector<interp::Argument> arguments;
  memories.reserve(described.size());
  for (auto [position, attribute] : llvm::enumerate(described)) {
    if (auto tensor = dyn_cast<DenseElementsAttr>(attribute)) {
      memories.emplace_back(position, makeMemory(tensor));
      arguments.push_back(memories.back().second.argument);
    } else if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
      arguments.push_back(integer.getValue().getSExtValue());
    } else if (auto real = dyn_cast<FloatAttr>(attribute)) {
      arguments.push_back(real.getValueAsDouble());
    } else {
      return function.emitError() << "'interp.args' holds dense tensors, integers and floats";
    }
  }
  interp::Options options;
  options.check = check;
  options.bounds = bounds;
  options.threadOrder = order;
  options.output = &llvm::outs();
  llvm::outs() << "@" << function.getName() << "\n";
  llvm::Expected<interp::Result> result = interp::run(function, arguments, options);
  if (!result)
    return function.emitError() << llvm::toString(result.takeError());
  for (const interp::Finding &finding : result->findings)
    report(function, finding);
  for (auto &[position, memory] : memories) {
    print(function, position, memory);
    for (const interp::TensorRadii &radii : result->radii)
      if (radii.argument == position)
        printRadii(radii);
  }
  return success();
}

/// One function after another: a pass on functions would run them at the same time and mix what
/// they print.
void InterpTestPass::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (auto described = function->getAttrOfType<ArrayAttr>("interp.args"))
      if (failed(run(function, described)))
        signalPassFailure();
}

namespace tilewright::test {
void registerInterpTestPass() { PassRegistration<InterpTestPass>(); }
} // namespace tilewright::test
