//===- Program.cpp - resolves a function once into steps and slots ----------------------------===//

#include "Scheduled.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

Format tilewright::interp::getFormat(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return Format::Bool;
    case 8:
      return isUnsigned ? Format::U8 : Format::I8;
    case 16:
      return isUnsigned ? Format::U16 : Format::I16;
    case 32:
      return isUnsigned ? Format::U32 : Format::I32;
    default:
      return isUnsigned ? Format::U64 : Format::I64;
    }
  }
  return llvm::TypeSwitch<Type, Format>(type)
      .Case([](Float8E4M3FNType) { return Format::F8E4M3FN; })
      .Case([](Float8E5M2Type) { return Format::F8E5M2; })
      .Case([](Float16Type) { return Format::F16; })
      .Case([](BFloat16Type) { return Format::BF16; })
      .Case([](FloatTF32Type) { return Format::TF32; })
      .Case([](Float32Type) { return Format::F32; })
      .Case([](Float64Type) { return Format::F64; })
      .Default([](Type) { return Format::Index; });
}

namespace {

/// Walks the IR once, in program order: values are defined before they are used.
class Resolver {
public:
  Resolver(Program &program, const Options &options, bool fastMath)
      : program(program), options(options), fastMath(fastMath) {}

  llvm::Error resolveFunction(func::FuncOp function) {
    collectGranules(function);
    collectIterationArrays(function);
    llvm::Expected<Body *> body = resolveBlock(function.getBody().front());
    if (!body)
      return body.takeError();
    program.argumentSlots.assign((*body)->arguments.begin(), (*body)->arguments.end());
    return llvm::Error::success();
  }

private:
  llvm::Expected<Body *> resolveBlock(Block &block);
  llvm::Error resolveOp(Operation &op, Body &body);
  void resolveEffects(Step &step);
  SlotSum resolveSum(const tile::IndexSum &sum) const;
  void collectGranules(func::FuncOp function);
  void collectIterationArrays(func::FuncOp function);

  Slot define(mlir::Value value);
  Slot lookup(mlir::Value value) const { return program.slots.at(value); }

  static llvm::Error refuse(Operation &op, const Twine &why) {
    return llvm::createStringError("the interpreter cannot run '" + op.getName().getStringRef() +
                                   "': " + why);
  }

  Program &program;
  const Options &options;
  bool fastMath;
  llvm::DenseMap<Operation *, SmallVector<mlir::Value>> iterationArrays; ///< By loop.
};

} // namespace

Slot Resolver::define(mlir::Value value) {
  Slot slot;
  if (isa<MemRefType>(value.getType())) {
    slot = program.numViews++;
  } else {
    slot = program.initialValues.size();
    program.initialValues.emplace_back();
  }
  program.slots[value] = slot;
  return slot;
}

void Resolver::collectGranules(func::FuncOp function) {
  function.walk([&](Operation *op) {
    for (mlir::Value value : op->getOperands()) {
      auto type = dyn_cast<MemRefType>(value.getType());
      if (!type || !tile::isBufferType(type))
        continue;
      unsigned bytes = tile::getStorageBytes(type.getElementType());
      auto [it, isNew] = program.granules.try_emplace(tile::getRoot(value), bytes);
      it->second = std::min(it->second, bytes);
    }
  });
}

/// The loops of independent iterations around an operation, the outermost first.
static SmallVector<Operation *> getLoops(Operation *op) {
  SmallVector<Operation *> loops;
  while ((op = op->getParentOfType<tile::ParallelOp>()))
    loops.push_back(op);
  return llvm::to_vector(llvm::reverse(loops));
}

/// An array whose elements are used in one `T.Parallel` only belongs to an iteration of it, of the
/// innermost such loop.
void Resolver::collectIterationArrays(func::FuncOp function) {
  function.walk([&](tile::AllocOp alloc) {
    MemRefType type = alloc.getBuffer().getType();
    if (tile::getSpace(type) != tile::Space::Local || type.getRank() == 0 || alloc->use_empty())
      return;
    SmallVector<Operation *> common = getLoops(*alloc->user_begin());
    for (Operation *user : alloc->getUsers()) {
      SmallVector<Operation *> loops = getLoops(user);
      if (!isa<tile::LoadOp, tile::StoreOp>(user))
        loops.clear();
      while (!common.empty() &&
             (loops.size() < common.size() || loops[common.size() - 1] != common.back()))
        common.pop_back();
    }
    if (!common.empty() && !common.back()->isProperAncestor(alloc))
      iterationArrays[common.back()].push_back(alloc.getBuffer());
  });
}

/// The value of a constant, which then needs no step.
static std::optional<Scalar> getConstant(Operation &op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant)
    return std::nullopt;
  if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
    return Scalar::ofInteger(
        wrap(integer.getValue().getSExtValue(), getBits(getFormat(integer.getType()))));
  if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
    return Scalar::ofReal(decodeFloat(getFormat(real.getType()), [&] {
      uint64_t bits = real.getValue().bitcastToAPInt().getZExtValue();
      bool isTf32 = isa<FloatTF32Type>(real.getType());
      return isTf32 ? bits << 13 : bits; // 19 bits, kept in the upper ones of 32
    }()));
  return std::nullopt;
}

llvm::Expected<Body *> Resolver::resolveBlock(Block &block) {
  Body &body = program.bodies.emplace_back();
  for (BlockArgument argument : block.getArguments())
    body.arguments.push_back(define(argument));
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      for (mlir::Value operand : op.getOperands())
        body.yields.push_back(lookup(operand));
    } else if (std::optional<Scalar> constant = getConstant(op)) {
      program.initialValues[define(op.getResult(0))] = *constant;
    } else if (llvm::Error error = resolveOp(op, body)) {
      return error;
    }
  }
  return &body;
}

llvm::Error Resolver::resolveOp(Operation &op, Body &body) {
  Step step;
  step.op = &op;
  for (mlir::Value operand : op.getOperands())
    step.in.push_back(lookup(operand));
  for (Region &region : op.getRegions()) {
    if (region.empty()) { // scf.if without else
      step.bodies.push_back(&program.bodies.emplace_back());
      continue;
    }
    if (!region.hasOneBlock())
      return refuse(op, "its region has more than one block");
    llvm::Expected<Body *> nested = resolveBlock(region.front());
    if (!nested)
      return nested.takeError();
    step.bodies.push_back(*nested);
  }
  for (mlir::Value result : op.getResults())
    step.out.push_back(define(result));
  for (mlir::Value array : iterationArrays.lookup(&op))
    step.ownArrays.push_back(lookup(array));

  bool isKnown = resolveArith(&op, step) || resolveMathFunction(&op, step) ||
                 resolveCast(&op, step) || resolveBuffer(&op, step) || resolveAtomic(&op, step) ||
                 resolveStatement(&op, step) || resolveGemm(&op, step) || resolveNote(&op, step) ||
                 resolveControl(&op, step) || resolveThreads(&op, step) ||
                 resolveSchedule(&op, step);
  if (!isKnown)
    return refuse(op, "it has no meaning in tile IR");
  if (auto kernel = dyn_cast<tile::KernelOp>(op); kernel && options.bounds && isScheduled(kernel))
    return refuse(op, "error radii are those of the program as written, not of its schedule");
  if (options.bounds)
    resolveBound(&op, step, fastMath);
  if (options.check)
    resolveEffects(step);
  body.steps.push_back(std::move(step));
  return llvm::Error::success();
}

SlotSum Resolver::resolveSum(const tile::IndexSum &sum) const {
  SlotSum result;
  result.constant = sum.constant;
  for (auto [value, factor] : sum.terms)
    result.terms.emplace_back(lookup(value), factor);
  return result;
}

void Resolver::resolveEffects(Step &step) {
  auto declared = dyn_cast<tile::TileEffectsOpInterface>(step.op);
  if (!declared)
    return;
  SmallVector<tile::Effect> effects;
  declared.getTileEffects(effects);
  for (const tile::Effect &effect : effects) {
    DeclaredEffect &resolved = step.effects.emplace_back();
    resolved.access = static_cast<Access>(effect.kind);
    resolved.root = lookup(effect.root);
    if (effect.region.isWhole())
      continue;
    resolved.ranges.emplace();
    for (const tile::DimRange &range : *effect.region.ranges)
      resolved.ranges->push_back({resolveSum(range.offset), resolveSum(range.size), range.step});
  }
}

llvm::Expected<Program> tilewright::interp::resolve(func::FuncOp function, const Options &options) {
  if (!function.getBody().hasOneBlock())
    return llvm::createStringError("the interpreter runs functions of one block");
  Program program;
  Resolver resolver(program, options, function->hasAttr("tile.fast_math"));
  if (llvm::Error error = resolver.resolveFunction(function))
    return error;
  return program;
}
