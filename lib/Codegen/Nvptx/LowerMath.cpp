//===- LowerMath.cpp - functions of floats on a GPU -------------------------------------------===//
//
// PTX has correctly rounded + - * / sqrt and fma; every other function of the `math` dialect is one
// of the device library (DeviceMath/), float32 and float64 alike; narrower floats come here as
// float32. One function has an instruction that is good enough: exp2 on float32 is ex2.approx.f32,
// which keeps subnormals. It is what CUDA's exp2f consists of, and for that the CUDA C++
// Programming Guide ("Mathematical Functions") states 2 units in the last place over the full
// range. Under fast math float32 functions with an approximate instruction use it:
//
//   exp x      ex2.approx.ftz (x log2 e)      a result below 2^-126 is 0
//   exp2 x     ex2.approx.ftz x
//   log x      lg2.approx x * ln 2            log2, log10 alike
//   tanh x     tanh.approx x
//   sin, cos   sin.approx, cos.approx
//   sqrt       sqrt.approx
//   rsqrt      rsqrt.approx
//   x / y      div.full x, y
//
// and sums of products may be contracted. Floor division of index values, which LLVM has not, is
// written out here too. The interpreter's table of error radii (Interp/Bounds)
// states the errors of both columns.
//
//===----------------------------------------------------------------------------------------===//

#include "EmitSteps.h"
#include "tilewright/Codegen/Nvptx/Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numbers>

namespace tilewright::nvptx {
#define GEN_PASS_DEF_LOWERMATH
#include "tilewright/Codegen/Nvptx/Passes.h.inc"
} // namespace tilewright::nvptx

using namespace mlir;

namespace tilewright::nvptx {

namespace {

class MathLowering {
public:
  MathLowering(ModuleOp module, bool fastMath)
      : module(module), b(module.getLoc(), module.getContext()), fastMath(fastMath) {}

  void run() {
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (op->getNumResults() == 1 && op->getResult(0).getType().isIntOrIndexOrFloat())
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      b.setInsertionPoint(op);
      b.setLoc(op->getLoc());
      Type type = op->getResult(0).getType();
      Value value = fastMath && type.isF32() ? buildFast(op) : Value();
      if (!value)
        value = buildPrecise(op);
      if (value) {
        op->replaceAllUsesWith(ValueRange(value));
        op->erase();
      } else if (auto arith = dyn_cast<arith::ArithFastMathInterface>(op); arith && fastMath) {
        op->setAttr(
            arith.getFastMathAttrName(),
            arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::contract));
      }
    }
  }

private:
  Value buildPrecise(Operation *op);
  Value buildFast(Operation *op);
  Value buildPower(math::PowFOp op);
  Value buildIntegerPower(math::IPowIOp op);
  Value buildFloorDivision(arith::FloorDivSIOp op);

  /// A function of the device library.
  Value call(StringRef function, Type type, ValueRange operands);
  /// `opcode $0, $1, …` on float32.
  Value instruction(StringRef opcode, ValueRange operands);
  /// The most frequent instruction, which LLVM knows: inline PTX takes it several times as long.
  Value exponential(StringRef opcode, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, b.getF32Type(), b.getStringAttr("llvm.nvvm." + opcode),
                                         operands)
        .getResult(0);
  }
  Value constant(Type type, double value) {
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  }
  Value multiply(Value lhs, Value rhs) { return arith::MulFOp::create(b, lhs, rhs); }

  ModuleOp module;
  ImplicitLocOpBuilder b;
  bool fastMath;
};

Value MathLowering::call(StringRef function, Type type, ValueRange operands) {
  std::string name = ("__tw_" + function + "_" + (type.isInteger() ? "i" : "f") +
                      Twine(type.getIntOrFloatBitWidth()))
                         .str();
  return callDeviceLibrary(b, module, name, type, operands);
}

Value MathLowering::instruction(StringRef opcode, ValueRange operands) {
  std::string text = (opcode + " $0").str(), constraints = "=f";
  for (size_t i = 1; i <= operands.size(); ++i) {
    text += ", $" + std::to_string(i);
    constraints += ",f";
  }
  auto code = LLVM::InlineAsmOp::create(
      b, b.getF32Type(), operands, text + ";", constraints, /*has_side_effects=*/false,
      /*is_align_stack=*/false, LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  return code.getResult(0);
}

/// Small whole exponents are products with at most two roundings.
Value MathLowering::buildPower(math::PowFOp op) {
  Value base = op.getLhs();
  APFloat exponent(0.0);
  if (matchPattern(op.getRhs(), m_ConstantFloat(&exponent))) {
    double value = exponent.convertToDouble();
    if (value == 0)
      return constant(op.getType(), 1);
    if (value == 1)
      return base;
    if (value == 2)
      return multiply(base, base);
    if (value == 3)
      return multiply(multiply(base, base), base);
    if (value == -1)
      return arith::DivFOp::create(b, constant(op.getType(), 1), base);
  }
  return call("pow", op.getType(), op->getOperands());
}

/// The low digits of a product do not depend on the width.
Value MathLowering::buildIntegerPower(math::IPowIOp op) {
  Type wide = b.getI64Type(), type = op.getType();
  auto widen = [&](Value value) -> Value {
    return type == wide ? value : arith::ExtSIOp::create(b, wide, value).getResult();
  };
  Value power = call("ipow", wide, {widen(op.getLhs()), widen(op.getRhs())});
  return type == wide ? power : arith::TruncIOp::create(b, type, power).getResult();
}

/// One less than the truncated quotient where that is inexact and negative. The divisor of an index
/// expression is never 0.
Value MathLowering::buildFloorDivision(arith::FloorDivSIOp op) {
  Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(op.getType(), 0));
  auto isNegative = [&](Value value) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, value, zero);
  };
  Value quotient = arith::DivSIOp::create(b, op.getLhs(), op.getRhs());
  Value rest = arith::RemSIOp::create(b, op.getLhs(), op.getRhs());
  Value isInexact = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, zero);
  Value signsDiffer = arith::XOrIOp::create(b, isNegative(rest), isNegative(op.getRhs()));
  Value isAbove = arith::AndIOp::create(b, isInexact, signsDiffer);
  Value minusOne = arith::ConstantOp::create(b, b.getIntegerAttr(op.getType(), -1));
  Value below = arith::AddIOp::create(b, quotient, minusOne);
  return arith::SelectOp::create(b, isAbove, below, quotient);
}

Value MathLowering::buildPrecise(Operation *op) {
  Type type = op->getResult(0).getType();
  auto library = [&](StringRef function) {
    return type.isF32() || type.isF64() ? call(function, type, op->getOperands()) : Value();
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return library("exp"); })
      .Case([&](math::Exp2Op) {
        return type.isF32() ? exponential("ex2.approx.f32", op->getOperands()) : library("exp2");
      })
      .Case([&](math::LogOp) { return library("log"); })
      .Case([&](math::Log2Op) { return library("log2"); })
      .Case([&](math::Log10Op) { return library("log10"); })
      .Case([&](math::Log1pOp) { return library("log1p"); })
      .Case([&](math::SinOp) { return library("sin"); })
      .Case([&](math::CosOp) { return library("cos"); })
      .Case([&](math::TanOp) { return library("tan"); })
      .Case([&](math::TanhOp) { return library("tanh"); })
      .Case([&](math::SinhOp) { return library("sinh"); })
      .Case([&](math::CoshOp) { return library("cosh"); })
      .Case([&](math::AtanOp) { return library("atan"); })
      .Case([&](math::Atan2Op) { return library("atan2"); })
      .Case([&](math::ErfOp) { return library("erf"); })
      .Case([&](arith::RemFOp) { return library("fmod"); })
      .Case([&](math::PowFOp power) { return buildPower(power); })
      .Case([&](math::IPowIOp power) { return buildIntegerPower(power); })
      .Case([&](arith::FloorDivSIOp division) { return buildFloorDivision(division); })
      .Case([&](math::RsqrtOp root) {
        Value squareRoot = math::SqrtOp::create(b, root.getOperand());
        return arith::DivFOp::create(b, constant(type, 1), squareRoot);
      })
      .Default([](Operation *) { return Value(); });
}

Value MathLowering::buildFast(Operation *op) {
  auto log = [&](double scale) {
    Value binary = instruction("lg2.approx.f32", op->getOperand(0));
    return scale == 1 ? binary : multiply(binary, constant(b.getF32Type(), scale));
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp exp) {
        Value scaled = multiply(exp.getOperand(), constant(b.getF32Type(), std::numbers::log2e));
        return exponential("ex2.approx.ftz.f32", scaled);
      })
      .Case([&](math::Exp2Op) { return exponential("ex2.approx.ftz.f32", op->getOperands()); })
      .Case([&](math::LogOp) { return log(std::numbers::ln2); })
      .Case([&](math::Log2Op) { return log(1); })
      .Case([&](math::Log10Op) { return log(std::numbers::ln2 / std::numbers::ln10); })
      .Case([&](math::TanhOp) { return instruction("tanh.approx.f32", op->getOperands()); })
      .Case([&](math::SinOp) { return instruction("sin.approx.f32", op->getOperands()); })
      .Case([&](math::CosOp) { return instruction("cos.approx.f32", op->getOperands()); })
      .Case([&](math::SqrtOp) { return instruction("sqrt.approx.f32", op->getOperands()); })
      .Case([&](math::RsqrtOp) { return instruction("rsqrt.approx.f32", op->getOperands()); })
      .Case([&](arith::DivFOp) { return instruction("div.full.f32", op->getOperands()); })
      .Default([](Operation *) { return Value(); });
}

/// Maxima and minima, of pairs too, are instructions that order -0 below +0 and have NaN as the
/// language wants it. `arith-expand` would make comparisons of them that do not know a zero's sign.
void lowerExtremes(ModuleOp module) {
  module.walk([](Operation *op) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    auto make = [&]<typename Intrinsic>(Intrinsic) -> Value {
      return Intrinsic::create(b, op->getResult(0).getType(), op->getOperand(0), op->getOperand(1));
    };
    Value value = llvm::TypeSwitch<Operation *, Value>(op)
                      .Case([&](arith::MaxNumFOp) { return make(LLVM::MaxNumOp()); })
                      .Case([&](arith::MinNumFOp) { return make(LLVM::MinNumOp()); })
                      .Case([&](arith::MaximumFOp) { return make(LLVM::MaximumOp()); })
                      .Case([&](arith::MinimumFOp) { return make(LLVM::MinimumOp()); })
                      .Default([](Operation *) { return Value(); });
    if (!value)
      return;
    op->replaceAllUsesWith(ValueRange(value));
    op->erase();
  });
}

struct LowerMathPass : impl::LowerMathBase<LowerMathPass> {
  using LowerMathBase::LowerMathBase;

  void runOnOperation() override {
    MathLowering(getOperation(), fastMath).run();
    lowerExtremes(getOperation());
  }
};

} // namespace

LLVM::CallOp callExternal(ImplicitLocOpBuilder &b, ModuleOp module, StringRef function, Type result,
                          ValueRange operands) {
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(function);
  if (!callee) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    SmallVector<Type> parameters(operands.getTypes());
    callee = LLVM::LLVMFuncOp::create(b, function, LLVM::LLVMFunctionType::get(result, parameters));
  }
  return LLVM::CallOp::create(b, callee, operands);
}

Value callDeviceLibrary(ImplicitLocOpBuilder &b, ModuleOp module, StringRef function, Type result,
                        ValueRange operands) {
  return callExternal(b, module, function, result, operands).getResult();
}

} // namespace tilewright::nvptx
