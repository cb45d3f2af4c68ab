//===- Atomics.cpp - updates of one element by many threads ----------------------------------===//
//
// Written as PTX, one instruction where the ISA has it and a loop of compare-and-swap elsewhere, on
// the word around an element of 8 bits. LLVM 22 drops the memory order of float16 additions,
// expands 16-bit compare-and-swap through a plain read of the word (a race), and has no `red`.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowerings.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Tile/InternalError.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

/// The type of `atom.add.TYPE` and its siblings; empty where PTX has no such instruction (PTX ISA,
/// atom).
static std::string atomicType(AtomicKind kind, Type elementType, const Arch &arch) {
  int64_t width = getStorageBits(elementType);
  std::string bits = std::to_string(width);
  if (auto floatType = dyn_cast<FloatType>(elementType)) {
    if (kind != AtomicKind::Add)
      return kind == AtomicKind::Exchange && width >= 32 ? "b" + bits : "";
    if (floatType.isF16())
      return "noftz.f16";
    if (floatType.isBF16())
      return arch.hasBf16Atomics ? "noftz.bf16" : "";
    return isStorageFloat(elementType) ? "" : "f" + bits;
  }
  if (width < 32)
    return "";
  switch (kind) {
  case AtomicKind::Add:
    return "u" + bits;
  case AtomicKind::Max:
  case AtomicKind::Min:
    return (elementType.isUnsignedInteger() ? "u" : "s") + bits;
  default:
    return "b" + bits;
  }
}

static StringRef atomicName(AtomicKind kind) {
  return kind == AtomicKind::Exchange ? "exch" : stringifyAtomicKind(kind);
}

/// The constraint letter of a register in inline PTX.
static std::string constraintOf(Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type) && width >= 32)
    return width == 32 ? "f" : "d";
  return width == 16 ? "h" : width == 32 ? "r" : "l";
}

/// An address as a base and a constant number of bytes, which instructions take as an immediate.
/// LLVM does not look into inline PTX; it would keep every such sum in a register of its own.
/// `operand` is the number of the base in the text that comes second.
static std::pair<Value, std::string> splitAddress(Value address, unsigned operand) {
  std::string text = "[$" + std::to_string(operand);
  auto offset = address.getDefiningOp<LLVM::GEPOp>();
  if (!offset || !offset.getDynamicIndices().empty() || offset.getRawConstantIndices().size() != 1)
    return {address, text + "]"};
  int64_t bytes = offset.getElemType().getIntOrFloatBitWidth() / 8;
  int64_t distance = offset.getRawConstantIndices().front() * bytes;
  return {offset.getBase(), text + "+" + std::to_string(distance) + "]"};
}

/// One instruction `opcode [address], operands`; gives the old value, or nothing for `red`.
static Value atomicInstruction(Emitter &e, StringRef opcode, Value address,
                               ArrayRef<Value> operands, Type resultType) {
  ImplicitLocOpBuilder &b = e.b;
  auto [base, operand] = splitAddress(address, resultType ? 1 : 0);
  std::string text = opcode.str() + (resultType ? " $0, " : " ") + operand, constraints;
  if (resultType)
    constraints = "=" + constraintOf(resultType) + ",";
  constraints += "l";
  SmallVector<Value> arguments{base};
  for (Value operand : operands) {
    text += ", $" + std::to_string(arguments.size() + (resultType ? 1 : 0));
    constraints += "," + constraintOf(operand.getType());
    arguments.push_back(operand);
  }
  auto op = LLVM::InlineAsmOp::create(
      b, resultType ? TypeRange(resultType) : TypeRange(), arguments, text + ";",
      constraints + ",~{memory}", /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  return resultType ? op.getResult(0) : Value();
}

/// `.acq_rel.gpu.global`: order, scope and space of an atomic. A sequentially consistent one
/// follows a fence.
static std::string atomicQualifiers(Emitter &e, const Storage &storage, MemoryOrder order) {
  ImplicitLocOpBuilder &b = e.b;
  if (order == MemoryOrder::SeqCst)
    LLVM::InlineAsmOp::create(
        b, TypeRange(), ValueRange(), storage.isGlobal ? "fence.sc.gpu;" : "fence.sc.cta;",
        "~{memory}", true, false, LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  // Relaxed at the scope of the GPU is what PTX means without a word.
  if (order == MemoryOrder::Relaxed)
    return storage.isGlobal ? ".global." : ".relaxed.cta.shared.";
  StringRef sem = order == MemoryOrder::Consume  ? "acquire"
                  : order == MemoryOrder::SeqCst ? "acq_rel"
                                                 : stringifyMemoryOrder(order);
  return ("." + sem + (storage.isGlobal ? ".gpu.global." : ".cta.shared.")).str();
}

/// The element that an update leaves, as it is stored.
static Value updatedElement(Emitter &e, AtomicKind kind, Type elementType, Value old,
                            Value operand) {
  ImplicitLocOpBuilder &b = e.b;
  if (kind == AtomicKind::Exchange)
    return operand;
  Type working = isStorageFloat(elementType) ? Type(b.getF32Type()) : elementType;
  auto number = [&](Value stored) {
    return convertScalar(e, fromStorage(e, stored, elementType), elementType, working,
                         Rounding::NearestEven, false);
  };
  Value result = combine(e, kind, number(old), number(operand), working, /*propagate=*/false);
  return toStorage(e, convertScalar(e, result, working, elementType, Rounding::NearestEven, false),
                   elementType);
}

/// An update by compare-and-swap; gives the old element. An element of 8 bits is a part of the word
/// around it. The first read is atomic too: a plain one would race with the updates of other
/// threads.
static Value updateByCas(Emitter &e, AtomicKind kind, const Storage &storage, Value address,
                         Value operand, MemoryOrder order) {
  ImplicitLocOpBuilder &b = e.b;
  unsigned own = operand.getType().getIntOrFloatBitWidth(), width = std::max(own, 16u);
  Type bits = b.getIntegerType(width), element = operand.getType();
  auto convert = [&](Value value, Type type) -> Value {
    return value.getType() == type ? value : LLVM::BitcastOp::create(b, type, value).getResult();
  };
  auto constant = [&](Type type, int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  Value shift; // of the element in its word
  if (own < width) {
    Value number = LLVM::PtrToIntOp::create(b, b.getI64Type(), address);
    Value odd = arith::AndIOp::create(b, number, constant(b.getI64Type(), 1));
    Value back = arith::SubIOp::create(b, constant(b.getI64Type(), 0), odd);
    address = LLVM::GEPOp::create(b, address.getType(), b.getI8Type(), address,
                                  ArrayRef<LLVM::GEPArg>{back});
    shift = arith::MulIOp::create(b, arith::TruncIOp::create(b, bits, odd), constant(bits, own));
  }
  auto extract = [&](Value word) -> Value {
    if (!shift)
      return convert(word, element);
    return arith::TruncIOp::create(b, element, arith::ShRUIOp::create(b, word, shift));
  };
  auto insert = [&](Value word, Value value) -> Value {
    if (!shift)
      return convert(value, bits);
    Value mask = arith::ShLIOp::create(b, constant(bits, (1 << own) - 1), shift);
    Value rest = arith::AndIOp::create(b, word, arith::XOrIOp::create(b, mask, constant(bits, -1)));
    Value moved = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, bits, value), shift);
    return arith::OrIOp::create(b, rest, moved);
  };
  std::string qualifiers = atomicQualifiers(e, storage, order), name = "b" + std::to_string(width);
  std::string load = storage.isGlobal ? "ld.relaxed.gpu.global." : "ld.relaxed.cta.shared.";
  auto first =
      LLVM::InlineAsmOp::create(b, TypeRange(bits), address, load + name + " $0, [$1];",
                                "=" + constraintOf(bits) + ",l,~{memory}", true, false,
                                LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  auto loop = scf::WhileOp::create(b, TypeRange(bits), first.getResults());
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, bits, b.getLoc());
  Value expected = before->getArgument(0);
  Value updated = updatedElement(e, kind, storage.elementType, extract(expected), operand);
  Value seen = atomicInstruction(e, "atom" + qualifiers + "cas." + name, address,
                                 {expected, insert(expected, updated)}, bits);
  Value failed = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, seen, expected);
  scf::ConditionOp::create(b, failed, ValueRange(seen));
  Block *after = b.createBlock(&loop.getAfter(), {}, bits, b.getLoc());
  scf::YieldOp::create(b, after->getArguments());
  b.setInsertionPointAfter(loop);
  return extract(loop.getResult(0));
}

/// Two bytes at a time, as they are updated: padding after an odd tile is cleared, too.
bool clearTiles(Thread &t) {
  ImplicitLocOpBuilder &b = t.b;
  SmallVector<AllocOp> tiles;
  t.kernel.walk([&](AllocOp alloc) {
    if (alloc->hasAttr(kClearedAttr))
      tiles.push_back(alloc);
  });
  if (tiles.empty())
    return false;
  auto extra = t.kernel->getAttrOfType<IntegerAttr>(kExtraThreadsAttr);
  int64_t numThreads = t.kernel.getNumThreads() + (extra ? extra.getInt() : 0);
  Type pair = b.getI16Type();
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(pair));
  for (AllocOp alloc : tiles) {
    int64_t pairs = llvm::divideCeil(analysis::getPlacedBytes(alloc), 2);
    int64_t offset = alloc->getAttrOfType<IntegerAttr>(kOffsetAttr).getInt();
    Value base = LLVM::GEPOp::create(b, t.arena.getType(), b.getI8Type(), t.arena,
                                     ArrayRef<LLVM::GEPArg>{int32_t(offset)});
    auto loop = scf::ForOp::create(b, t.threadId, t.index(pairs), t.index(numThreads));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value address = LLVM::GEPOp::create(b, t.arena.getType(), pair, base,
                                        ArrayRef<LLVM::GEPArg>{t.i64(loop.getInductionVar())});
    LLVM::StoreOp::create(b, zero, address);
  }
  // A bulk copy may fill such a tile, or one that shares its bytes, through the asynchronous proxy.
  if (t.arch.hasBulkCopies)
    fenceProxy(t, b.getUnitAttr());
  return true;
}

/// Updates an element; gives its old value if that is used.
Value updateElement(Emitter &e, AtomicKind kind, const Storage &storage, Value address,
                    Value operand, MemoryOrder order, bool isUsed) {
  ImplicitLocOpBuilder &b = e.b;
  std::string type = atomicType(kind, storage.elementType, e.arch);
  if (type.empty())
    return updateByCas(e, kind, storage, address, operand, order);
  // `red` has relaxed and release forms only.
  bool isRed = !isUsed && kind != AtomicKind::Exchange &&
               (order == MemoryOrder::Relaxed || order == MemoryOrder::Release);
  std::string opcode = (isRed ? "red" : "atom") + atomicQualifiers(e, storage, order) +
                       atomicName(kind).str() + "." + type;
  Type own = operand.getType();
  bool asBits = own.getIntOrFloatBitWidth() == 16 || StringRef(type).starts_with("b");
  Type passed = asBits ? Type(b.getIntegerType(own.getIntOrFloatBitWidth())) : own;
  if (passed != own)
    operand = LLVM::BitcastOp::create(b, passed, operand);
  Value old = atomicInstruction(e, opcode, address, operand, isRed ? Type() : passed);
  return !old || passed == own ? old : LLVM::BitcastOp::create(b, own, old).getResult();
}

LogicalResult lowerAtomic(Thread &t, Operation *op, AtomicKind kind, Value value, Value buffer,
                          ValueRange indices, MemoryOrder order, Value result) {
  ImplicitLocOpBuilder &b = t.b;
  const Storage &root = t.storageOf(getRoot(buffer));
  Storage storage = root; // as the buffer sees it
  SmallVector<Value> coordinates;
  Value byte; // inside the root's element, through a view
  if (changesElement(buffer)) {
    storage.elementType = cast<MemRefType>(buffer.getType()).getElementType();
    if (failed(checkViews(t, op)))
      return failure();
    if (!isOnePiece(t, buffer))
      return op->emitError() << "an atomic on a view of '" << tile::getName(buffer) << "': its "
                             << describeElementType(storage.elementType)
                             << " elements lie in pieces, where the layout of '"
                             << tile::getName(buffer) << "' puts those of "
                             << describeElementType(root.elementType)
                             << "; update the buffer itself, or leave the layout out";
    storage.safeValue = cast<TypedAttr>(b.getZeroAttr(getScalarType(storage.elementType)));
    std::tie(coordinates, byte) = byteCoordinates(t, buffer, t.mappedAll(indices), 0);
  } else {
    coordinates = rootCoordinates(t, buffer, indices);
  }
  bool isUsed = result && !result.use_empty();
  if (isUsed && (!t.iteration || t.iteration->isOwner))
    return emitInternalError(op) << "one thread has the previous value of an atomic and "
                                    "others need it";
  Value operand = toStorage(t, t.mapped(value), storage.elementType);
  auto update = [&]() -> Value {
    Value address = addressOf(t, root, coordinates);
    if (byte)
      address = LLVM::GEPOp::create(b, address.getType(), b.getI8Type(), address,
                                    ArrayRef<LLVM::GEPArg>{t.i64(byte)});
    return updateElement(t, kind, storage, address, operand, order, isUsed);
  };
  Value condition = inBounds(t, root, coordinates);
  if (isUsed) {
    // A dropped atomic gives the safe value.
    if (!condition) {
      t.define(result, fromStorage(t, update(), storage.elementType));
      return success();
    }
    auto branch =
        scf::IfOp::create(b, TypeRange(getScalarType(storage.elementType)), condition, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    scf::YieldOp::create(b, fromStorage(t, update(), storage.elementType));
    b.setInsertionPointToStart(&branch.getElseRegion().front());
    scf::YieldOp::create(b, arith::ConstantOp::create(b, storage.safeValue).getResult());
    t.define(result, branch.getResult(0));
    return success();
  }
  t.guarded(t.both(t.writerCondition(), condition), [&] { update(); });
  return success();
}

/// Adds neighbouring elements by one `red` (access::getAtomicWidth says which there are).
void updateVector(Emitter &e, const Storage &storage, Value address, ArrayRef<Value> operands) {
  ImplicitLocOpBuilder &b = e.b;
  SmallVector<Value> words(operands);
  std::string type = "f32";
  if (getStorageBytes(storage.elementType) == 2) { // pairs are one operand
    words.clear();
    type = storage.elementType.isBF16() ? "noftz.bf16x2" : "noftz.f16x2";
    for (size_t i = 0; i < operands.size(); i += 2)
      words.push_back(
          LLVM::BitcastOp::create(b, b.getI32Type(), packVector(e, operands.slice(i, 2))));
  }
  std::string text = "red" + atomicQualifiers(e, storage, MemoryOrder::Relaxed) + "add.";
  std::string list, constraints = "l";
  // `add.noftz.v2.f16x2`: the vector stands in front of the type.
  if (words.size() > 1) {
    StringRef rest = type;
    if (rest.consume_front("noftz."))
      text += "noftz.";
    text += "v" + std::to_string(words.size()) + "." + rest.str();
  } else {
    text += type;
  }
  for (auto [position, word] : llvm::enumerate(words)) {
    list += (position ? ", $" : "$") + std::to_string(position + 1);
    constraints += "," + constraintOf(word.getType());
  }
  auto [base, operand] = splitAddress(address, 0);
  text += " " + operand + ", " + (words.size() > 1 ? "{" + list + "};" : list + ";");
  SmallVector<Value> arguments{base};
  arguments.append(words);
  LLVM::InlineAsmOp::create(b, TypeRange(), arguments, text, constraints + ",~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
}

LogicalResult lowerReducerUpdate(Thread &t, ReducerUpdateOp op) {
  auto alloc = getRoot(op.getBuffer()).getDefiningOp<AllocOp>();
  static constexpr std::pair<ReduceKind, AtomicKind> kinds[] = {
      {ReduceKind::Sum, AtomicKind::Add}, {ReduceKind::Max, AtomicKind::Max},
      {ReduceKind::Min, AtomicKind::Min}, {ReduceKind::And, AtomicKind::And},
      {ReduceKind::Or, AtomicKind::Or},   {ReduceKind::Xor, AtomicKind::Xor}};
  for (auto [reduce, atomic] : kinds)
    if (alloc.getReducer() == reduce)
      return lowerAtomic(t, op, atomic, op.getValue(), op.getBuffer(), op.getIndices(),
                         MemoryOrder::Relaxed, Value());
  return unsupported(op) << "this kind of reducer";
}

} // namespace tilewright::nvptx
