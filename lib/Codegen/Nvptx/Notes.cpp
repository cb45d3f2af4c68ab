//===- Notes.cpp - printing and assertions ---------------------------------------------------===//
//
// Both are functions of CUDA's device runtime, called as nvcc calls them: vprintf takes a format
// and a buffer of arguments, each aligned to its size; __assertfail ends the launch. One thread
// prints, in the form of the interpreter.
//
//===----------------------------------------------------------------------------------------===//

#include "EmitSteps.h"
#include "Lowerings.h"

#include "mlir/IR/Location.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

/// A constant text on the device, as a generic pointer.
static Value textPointer(Emitter &e, StringRef text) {
  ImplicitLocOpBuilder &b = e.b;
  constexpr unsigned kGlobalSpace = 1;
  std::string bytes = text.str() + '\0', symbol;
  for (LLVM::GlobalOp global : e.module.getOps<LLVM::GlobalOp>())
    if (auto known = dyn_cast_if_present<StringAttr>(global.getValueOrNull());
        known && known.getValue() == bytes)
      symbol = global.getSymName().str();
  if (symbol.empty()) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(e.module.getBody());
    unsigned number = 0;
    do
      symbol = "tilewright_text" + std::to_string(number++);
    while (e.module.lookupSymbol(symbol));
    LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()),
                           /*isConstant=*/true, LLVM::Linkage::Internal, symbol,
                           b.getStringAttr(bytes), /*alignment=*/1, kGlobalSpace);
  }
  Value pointer = LLVM::AddressOfOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), kGlobalSpace), symbol);
  return LLVM::AddrSpaceCastOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), pointer);
}

/// One call of vprintf with arguments of 64 bits.
static void printText(Emitter &e, StringRef format, ArrayRef<Value> values = {}) {
  ImplicitLocOpBuilder &b = e.b;
  Value arguments = LLVM::ZeroOp::create(b, LLVM::LLVMPointerType::get(b.getContext()));
  if (!values.empty()) {
    arguments = e.allocateStack(b.getI64Type(), values.size());
    for (auto [position, value] : llvm::enumerate(values))
      LLVM::StoreOp::create(b, value,
                            LLVM::GEPOp::create(b, arguments.getType(), b.getI64Type(), arguments,
                                                ArrayRef<LLVM::GEPArg>{int32_t(position)}));
  }
  callExternal(b, e.module, "vprintf", b.getI32Type(), {textPointer(e, format), arguments});
}

static void printElement(Emitter &e, StringRef before, Value value, Type elementType,
                         StringRef after) {
  ImplicitLocOpBuilder &b = e.b;
  bool isFloat = isa<FloatType>(elementType);
  bool isUnsigned = elementType.isUnsignedInteger() || elementType.isInteger(1);
  Type wide = isFloat ? Type(b.getF64Type()) : Type(b.getI64Type());
  StringRef conversion = isFloat ? "%.9g" : isUnsigned ? "%llu" : "%lld";
  Value promoted = convertScalar(e, value, elementType, wide, Rounding::NearestEven, false);
  printText(e, (before + conversion + after).str(), promoted);
}

LogicalResult lowerPrint(Thread &t, PrintOp op) {
  ImplicitLocOpBuilder &b = t.b;
  std::string text; // as a format
  for (char c : op.getMessage())
    text += c == '%' ? std::string("%%") : std::string(1, c);
  Value printed = op.getValue();
  if (!printed) {
    t.guarded(t.writerCondition(), [&] { printText(t, text + "\n"); });
    return success();
  }
  if (!text.empty())
    text += " ";
  auto type = dyn_cast<MemRefType>(printed.getType());
  if (!type) {
    t.guarded(t.writerCondition(),
              [&] { printElement(t, text, t.mapped(printed), printed.getType(), "\n"); });
    return success();
  }
  const Storage &storage = t.storageOf(getRoot(printed));
  if (storage.kind == Storage::Kind::Variable) {
    t.guarded(t.writerCondition(), [&] {
      printElement(t, text, t.loadRegister(storage, 0), storage.elementType, "\n");
    });
    return success();
  }
  if (!type.hasStaticShape())
    return unsupported(op) << "'T.print' of a tile whose extents are known only at run time";
  if (storage.kind != Storage::Kind::Memory)
    return unsupported(op) << "'T.print' of a tile in registers";
  if (failed(checkViews(t, op)))
    return failure();
  SmallVector<Value> coordinates;
  auto printDim = [&](auto &&self) -> void {
    int64_t dim = coordinates.size();
    if (dim == type.getRank()) {
      return printElement(t, "", loadElement(t, printed, coordinates), type.getElementType(), "");
    }
    printText(t, "[");
    auto loop = scf::ForOp::create(b, t.index(0), t.index(type.getDimSize(dim)), t.index(1));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value position = loop.getInductionVar();
      t.guarded(arith::CmpIOp::create(b, arith::CmpIPredicate::ne, position, t.index(0)),
                [&] { printText(t, ", "); });
      coordinates.push_back(position);
      self(self);
      coordinates.pop_back();
    }
    printText(t, "]");
  };
  t.guarded(t.writerCondition(), [&] {
    if (!text.empty())
      printText(t, text);
    printDim(printDim);
    printText(t, "\n");
  });
  return success();
}

void lowerAssert(Thread &t, AssertOp op) {
  ImplicitLocOpBuilder &b = t.b;
  std::string file;
  int32_t line = 0;
  op.getLoc()->walk([&](Location location) {
    auto position = dyn_cast<FileLineColLoc>(location);
    if (!position)
      return WalkResult::advance();
    file = position.getFilename().str();
    line = position.getLine();
    return WalkResult::interrupt();
  });
  Value holds = t.mapped(op.getCondition());
  Value one = arith::ConstantOp::create(b, b.getBoolAttr(true));
  t.guarded(arith::XOrIOp::create(b, holds, one), [&] {
    Value number = LLVM::ConstantOp::create(b, b.getI32IntegerAttr(line));
    Value charBytes = LLVM::ConstantOp::create(b, b.getI64IntegerAttr(1));
    callExternal(b, t.module, "__assertfail", LLVM::LLVMVoidType::get(b.getContext()),
                 {textPointer(t, op.getMessage()), textPointer(t, file), number,
                  textPointer(t, t.function.getName()), charBytes});
  });
}

} // namespace tilewright::nvptx
