//===- Notes.cpp - annotations, assertions, printing ------------------------------------------===//

#include "Machine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

/// Annotations take effect for a whole kernel (Control.cpp); hints never do.
static void ignore(Machine &, const Step &) {}

static void checkAssumption(Machine &machine, const Step &step) {
  if (machine.options.check && !machine.getDeciding(step, 0, "an assumption"))
    machine.find(FindingKind::Assume, step, "an assumption does not hold");
}

static void checkAssertion(Machine &machine, const Step &step) {
  if (!machine.getDeciding(step, 0, "an assertion"))
    machine.fail(FindingKind::Assert, step,
                 "assertion failed: " + cast<tile::AssertOp>(step.op).getMessage());
}

static void printValue(llvm::raw_ostream &os, Format format, const Scalar &value) {
  if (isFloat(format))
    os << llvm::format("%.9g", value.real);
  else if (isUnsigned(format))
    os << asUnsigned(value.integer, getBits(format));
  else
    os << value.integer;
}

/// `[[1, 2], [3, 4]]`
static void printTile(llvm::raw_ostream &os, Format format, llvm::ArrayRef<int64_t> extents,
                      llvm::ArrayRef<Cell> cells) {
  if (extents.empty())
    return printValue(os, format, unpack(format, cells.front()));
  size_t stride = extents.front() ? cells.size() / extents.front() : 0;
  os << "[";
  for (int64_t index = 0; index < extents.front(); ++index) {
    os << (index ? ", " : "");
    printTile(os, format, extents.drop_front(), cells.slice(index * stride, stride));
  }
  os << "]";
}

static void print(Machine &machine, const Step &step) {
  if (machine.shadowDepth)
    return;
  machine.beginStatement(step);
  auto op = cast<tile::PrintOp>(step.op);
  llvm::raw_ostream &os = machine.options.output ? *machine.options.output : llvm::outs();
  os << op.getMessage();
  if (mlir::Value operand = op.getValue()) {
    os << (op.getMessage().empty() ? "" : " ");
    if (tile::isBufferType(operand.getType())) {
      const View &view = machine.viewOf(step, 0);
      printTile(os, view.format, view.extents, machine.readTile(step, view));
    } else {
      printValue(os, step.from, machine.get(step, 0));
    }
  }
  os << "\n";
}

bool tilewright::interp::resolveNote(Operation *op, Step &step) {
  step.run = llvm::TypeSwitch<Operation *, Handler>(op)
                 .Case<tile::AnnotateLayoutOp, tile::AnnotateSafeValueOp, tile::UseSwizzleOp,
                       tile::HintOp>([](auto) { return ignore; })
                 .Case([](tile::AssumeOp) { return checkAssumption; })
                 .Case([](tile::AssertOp) { return checkAssertion; })
                 .Case([&](tile::PrintOp printed) {
                   if (printed.getValue())
                     step.from = getFormat(printed.getValue().getType());
                   return print;
                 })
                 .Default([](Operation *) { return nullptr; });
  return step.run != nullptr;
}
