//===- Buffers.cpp - what a buffer of the tile dialect is -----------------------------------===//

#include "tilewright/Tile/Buffers.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace tilewright::tile {

bool isElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned width = integer.getWidth();
    if (width == 1)
      return integer.isSignless();
    return !integer.isSigned() && (width == 8 || width == 16 || width == 32 || width == 64);
  }
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type, FloatTF32Type, Float8E4M3FNType,
             Float8E5M2Type>(type);
}

bool isScalarType(Type type) {
  return isa<IndexType>(type) || (isElementType(type) && !type.isUnsignedInteger());
}

bool isBufferType(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || !isa_and_present<SpaceAttr>(memref.getMemorySpace()) ||
      !memref.getLayout().isIdentity())
    return false;
  // A scalar variable may also hold an index: a mathematical integer that a loop carries.
  return isElementType(memref.getElementType()) ||
         (memref.getRank() == 0 && isa<IndexType>(memref.getElementType()) &&
          getSpace(memref) == Space::Local);
}

Type getScalarType(Type elementType) {
  if (elementType.isUnsignedInteger())
    return IntegerType::get(elementType.getContext(), elementType.getIntOrFloatBitWidth());
  return elementType;
}

int64_t getStorageBytes(Type elementType) {
  if (isa<IndexType>(elementType))
    return 8;
  return llvm::PowerOf2Ceil(llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8));
}

std::optional<int64_t> getStorageBytes(MemRefType type) {
  int64_t bytes = getStorageBytes(type.getElementType());
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(bytes, extent, bytes))
      return std::nullopt;
  return bytes;
}

Space getSpace(MemRefType type) { return cast<SpaceAttr>(type.getMemorySpace()).getValue(); }

MemRefType makeBufferType(ArrayRef<int64_t> shape, Type elementType, Space space) {
  return MemRefType::get(shape, elementType, MemRefLayoutAttrInterface(),
                         SpaceAttr::get(elementType.getContext(), space));
}

// Verifiers ask about buffers whose defining op is not verified yet, because it stands further down
// or in a block that nothing reaches: operands may be missing or of another type, and sources may
// form a circle.
Value getViewSource(Value buffer) {
  Operation *op = buffer.getDefiningOp();
  if (!isa_and_present<SliceOp, ViewOp>(op) || op->getNumOperands() == 0 ||
      !isBufferType(op->getOperand(0).getType()))
    return {};
  return op->getOperand(0);
}

Value getRoot(Value buffer) {
  llvm::SmallPtrSet<void *, 4> seen;
  while (Value source = getViewSource(buffer)) {
    if (!seen.insert(source.getAsOpaquePointer()).second)
      break;
    buffer = source;
  }
  return buffer;
}

/// The function whose argument this is, or null.
static FunctionOpInterface getFunctionOf(BlockArgument argument) {
  auto function = dyn_cast_if_present<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function || !argument.getOwner()->isEntryBlock() ||
      argument.getArgNumber() >= function.getNumArguments())
    return {};
  return function;
}

bool isOwnBuffer(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return bool(getFunctionOf(argument));
  return isa_and_present<AllocOp, BarrierAllocOp>(root.getDefiningOp());
}

StringRef getName(Value buffer) {
  Value root = getRoot(buffer);
  if (auto alloc = root.getDefiningOp<AllocOp>())
    return alloc.getNameAttr() ? alloc.getName() : "";
  if (auto barriers = root.getDefiningOp<BarrierAllocOp>())
    return barriers.getNameAttr() ? barriers.getName() : "";
  if (auto argument = dyn_cast<BlockArgument>(root))
    if (FunctionOpInterface function = getFunctionOf(argument))
      if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr))
        return name.getValue();
  return "";
}

std::string describeShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      shape, os,
      [&](int64_t extent) {
        if (ShapedType::isDynamic(extent))
          os << "?";
        else
          os << extent;
      },
      " x ");
  return text;
}

std::string describeElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (integer.getWidth() == 1)
      return "bool";
    return (integer.isUnsigned() ? "uint" : "int") + std::to_string(integer.getWidth());
  }
  return TypeSwitch<Type, std::string>(type)
      .Case([](IndexType) { return "index"; })
      .Case([](Float16Type) { return "float16"; })
      .Case([](BFloat16Type) { return "bfloat16"; })
      .Case([](Float32Type) { return "float32"; })
      .Case([](Float64Type) { return "float64"; })
      .Case([](FloatTF32Type) { return "tfloat32"; })
      .Case([](Float8E4M3FNType) { return "float8_e4m3fn"; })
      .Case([](Float8E5M2Type) { return "float8_e5m2"; })
      .Default([](Type other) {
        std::string text;
        llvm::raw_string_ostream(text) << other;
        return text;
      });
}

std::string describe(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  StringRef name = getName(buffer);
  std::string shape =
      describeShape(type.getShape()) + " " + describeElementType(type.getElementType());
  return name.empty() ? "a buffer (" + shape + ")" : ("'" + name + "' (" + shape + ")").str();
}

SmallVector<int64_t> dropUnitExtents(ArrayRef<int64_t> shape) {
  return llvm::to_vector(llvm::make_filter_range(shape, [](int64_t e) { return e != 1; }));
}

bool areCompatibleShapes(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  return lhs.size() == rhs.size() && llvm::all_of(llvm::zip_equal(lhs, rhs), [](auto pair) {
           auto [l, r] = pair;
           return l == r || ShapedType::isDynamic(l) || ShapedType::isDynamic(r);
         });
}

} // namespace tilewright::tile
