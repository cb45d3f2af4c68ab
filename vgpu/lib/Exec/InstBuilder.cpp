//===- InstBuilder.cpp - reading modifiers and operands of one instruction ---------------===//
#include "KernelDecoder.h"
#include "vgpu/Memory/AddressMap.h"
#include <cstring>

using namespace vgpu::ptx;

namespace vgpu {

InstBuilder::InstBuilder(KernelDecoder &kernel, const Instruction &source)
    : source(source), kernel(kernel) {
  inst.line = source.line;
  inst.loc = source.loc;
  inst.source = &source;
}

bool InstBuilder::fail(const llvm::Twine &message) {
  return kernel.fail(source.line, "'" + source.opcode + "': " + message);
}

llvm::StringRef InstBuilder::peek() const {
  return atEnd() ? llvm::StringRef() : llvm::StringRef(source.parts[modifier]);
}

bool InstBuilder::accept(llvm::StringRef word) {
  if (atEnd() || peek() != word)
    return false;
  ++modifier;
  return true;
}

int InstBuilder::acceptOneOf(llvm::ArrayRef<llvm::StringRef> words) {
  for (size_t i = 0; i < words.size(); ++i)
    if (accept(words[i]))
      return static_cast<int>(i);
  return -1;
}

std::optional<Type> InstBuilder::acceptType() {
  std::optional<Type> type = parseType(peek());
  if (type)
    ++modifier;
  return type;
}

Type InstBuilder::expectType() {
  if (std::optional<Type> type = acceptType())
    return *type;
  fail("expected a type, got '" + (atEnd() ? llvm::StringRef("nothing") : peek()) + "'");
  return Type::None;
}

bool InstBuilder::acceptOrdering() {
  static constexpr std::pair<llvm::StringLiteral, MemoryOrder> orders[] = {
      {"weak", MemoryOrder::Weak},       {"volatile", MemoryOrder::Volatile},
      {"relaxed", MemoryOrder::Relaxed}, {"acquire", MemoryOrder::Acquire},
      {"release", MemoryOrder::Release}, {"acq_rel", MemoryOrder::AcqRel},
      {"sc", MemoryOrder::SeqCst},
  };
  static constexpr std::pair<llvm::StringLiteral, MemoryScope> scopes[] = {
      {"cta", MemoryScope::Cta},
      {"cluster", MemoryScope::Cluster},
      {"gpu", MemoryScope::Gpu},
      {"sys", MemoryScope::Sys},
  };
  accept("mmio");
  auto acceptOrder = [&] {
    for (const auto &[name, order] : orders)
      if (accept(name)) {
        inst.order = static_cast<uint8_t>(order);
        if (order == MemoryOrder::Volatile)
          inst.scope = static_cast<uint8_t>(MemoryScope::Sys);
        return;
      }
  };
  acceptOrder();
  for (const auto &[name, scope] : scopes)
    if (accept(name)) {
      inst.scope = static_cast<uint8_t>(scope);
      break;
    }
  acceptOrder(); // Triton writes `atom.global.gpu.acq_rel`
  return true;
}

Space InstBuilder::acceptSpace() {
  static constexpr std::pair<llvm::StringLiteral, Space> spaces[] = {
      {"global", Space::Global},      {"shared", Space::Shared},
      {"shared::cta", Space::Shared}, {"shared::cluster", Space::Shared},
      {"local", Space::Local},        {"param", Space::Param},
      {"param::entry", Space::Param}, {"param::func", Space::Param},
      {"const", Space::Const},
  };
  for (const auto &[name, space] : spaces)
    if (accept(name)) {
      inst.mayBeRemote |= name == "shared::cluster";
      return space;
    }
  inst.mayBeRemote = true;
  return Space::Generic;
}

bool InstBuilder::expectOperands(size_t least, size_t most) {
  if (numOperands() >= least && numOperands() <= most)
    return true;
  return fail("expected " + llvm::Twine(least) +
              (most > least ? " to " + llvm::Twine(most) : llvm::Twine("")) + " operands, got " +
              llvm::Twine(numOperands()));
}

llvm::ArrayRef<Operand> InstBuilder::elements(const Operand &operand) {
  if (operand.kind == Operand::Kind::Vector || operand.kind == Operand::Kind::Pair ||
      operand.kind == Operand::Kind::List)
    return operand.elements;
  return operand;
}

static uint64_t literalBits(const Operand &operand, Type type) {
  if (operand.kind != Operand::Kind::Float)
    return operand.integer;
  bool wantsSingle = bitWidth(type) == 32;
  if (operand.floatBits == 64 && wantsSingle) {
    double wide;
    std::memcpy(&wide, &operand.integer, 8);
    float narrow = static_cast<float>(wide);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    return bits;
  }
  if (operand.floatBits == 32 && bitWidth(type) == 64) {
    float narrow;
    uint32_t bits32 = static_cast<uint32_t>(operand.integer);
    std::memcpy(&narrow, &bits32, 4);
    double wide = narrow;
    uint64_t bits;
    std::memcpy(&bits, &wide, 8);
    return bits;
  }
  return operand.integer;
}

/// Registers of 128 bits, and the literals that mean the same with and without a sign.
bool InstBuilder::makeWords(const Operand &operand, std::array<Slot, 2> &words) {
  if (operand.kind == Operand::Kind::Register) {
    Slot slot = kernel.registerSlot(operand.index);
    words = wordsOf(slot);
    return slot.bytes == 16 ||
           fail("operand '" + kernel.currentFunction().registers[operand.index].name + "' has " +
                llvm::Twine(slot.bytes * 8) + " bits, expected 128");
  }
  if (operand.kind == Operand::Kind::Integer && operand.integer >> 63 == 0) {
    words = {kernel.constantSlot(operand.integer, 8), kernel.constantSlot(0, 8)};
    return true;
  }
  return fail("expected a 128-bit register");
}

bool InstBuilder::addWideDst(const Operand &operand) {
  std::array<Slot, 2> words;
  if (operand.kind == Operand::Kind::Sink)
    return addDst(operand, Type::B64) && addDst(operand, Type::B64);
  if (operand.kind != Operand::Kind::Register)
    return fail("expected a register as destination");
  if (!makeWords(operand, words))
    return false;
  for (const Slot &word : words)
    dsts.push_back({word, Role::Data});
  return true;
}

bool InstBuilder::addWideSrc(const Operand &operand) {
  std::array<Slot, 2> words;
  if (!makeWords(operand, words))
    return false;
  for (const Slot &word : words)
    srcs.push_back({word, Role::Data});
  return true;
}

bool InstBuilder::makeSlot(const Operand &operand, Type type, bool anyWidth, Slot &slot) {
  bool isWide =
      operand.kind == Operand::Kind::Register && kernel.registerSlot(operand.index).bytes == 16;
  if (isWide || type == Type::B128)
    return fail("128 bits are only moved, loaded, stored, exchanged and compared-and-swapped");
  unsigned bytes = type == Type::Pred ? 0 : byteWidth(type);
  switch (operand.kind) {
  case Operand::Kind::Register: {
    Type have = kernel.registerType(operand.index);
    slot = kernel.registerSlot(operand.index);
    slot.isNegated = operand.isNegated;
    const std::string &name = kernel.currentFunction().registers[operand.index].name;
    if ((have == Type::Pred) != (type == Type::Pred))
      return fail("operand '" + name + "' is " + typeName(have) + ", expected " + typeName(type));
    if (operand.isNegated && have != Type::Pred)
      return fail("'!' needs a predicate, got '" + name + "'");
    if (slot.bytes != bytes && !(anyWidth && slot.bytes >= bytes))
      return fail("operand '" + name + "' has " + llvm::Twine(slot.bytes * 8) + " bits, expected " +
                  llvm::Twine(bytes * 8));
    return true;
  }
  case Operand::Kind::Special: {
    unsigned have = 0;
    slot = kernel.specialSlot(operand.name, have);
    if (have == 0)
      return fail("special register '" + operand.name + "' is not supported here");
    // A 64-bit counter may be read as 32 bits and the other way round is refused.
    if (have != bytes && !(have == 8 && bytes == 4))
      return fail("special register '" + operand.name + "' has " + llvm::Twine(have * 8) +
                  " bits, expected " + llvm::Twine(bytes * 8));
    return true;
  }
  case Operand::Kind::Integer:
  case Operand::Kind::Float:
    if (operand.kind == Operand::Kind::Integer && isFloat(type) && bitWidth(type) >= 32 &&
        type != Type::F16x2 && type != Type::BF16x2)
      return fail("expected a floating-point constant, got an integer");
    if (type == Type::Pred) {
      slot = kernel.constantSlot(operand.integer ? fullMask : 0, 0);
      slot.isNegated = operand.isNegated;
      return true;
    }
    slot = kernel.constantSlot(literalBits(operand, type), bytes);
    return true;
  case Operand::Kind::Variable: {
    VariableAddress found;
    if (!kernel.addressOf(*operand.variable, source.line, found))
      return false;
    if (bytes != 8 && bytes != 4)
      return fail("address of '" + operand.name + "' needs 64 or 32 bits");
    slot = kernel.constantSlot(found.address + operand.integer, bytes);
    return true;
  }
  case Operand::Kind::Sink:
    slot = Slot();
    slot.isSink = true;
    slot.bytes = static_cast<uint8_t>(bytes);
    return true;
  case Operand::Kind::Function:
    slot = kernel.constantSlot(
        functionBase + kernel.module().functionIndex(kernel.module().findFunction(operand.name)),
        bytes);
    return bytes == 8 || fail("the address of a function needs 64 bits");
  default:
    return fail("unexpected kind of operand");
  }
}

bool InstBuilder::addDst(const Operand &operand, Type type, bool anyWidth) {
  Slot slot;
  if (operand.kind != Operand::Kind::Register && operand.kind != Operand::Kind::Sink)
    return fail("expected a register as destination");
  if (!makeSlot(operand, type, anyWidth, slot))
    return false;
  dsts.push_back({slot, Role::Data});
  return true;
}

bool InstBuilder::addSrc(const Operand &operand, Type type, Role role, bool anyWidth) {
  Slot slot;
  if (operand.kind == Operand::Kind::Sink)
    return fail("'_' cannot be read");
  if (!makeSlot(operand, type, anyWidth, slot))
    return false;
  srcs.push_back({slot, role});
  return true;
}

bool InstBuilder::addAddress(const Operand &operand, int64_t &offset) {
  if (operand.kind != Operand::Kind::Address || operand.elements.empty())
    return fail("expected an address in brackets");
  const Operand &base = operand.elements[0];
  offset = static_cast<int64_t>(operand.integer);
  Slot slot;
  if (base.kind == Operand::Kind::Variable) {
    VariableAddress found;
    if (!kernel.addressOf(*base.variable, source.line, found))
      return false;
    if (inst.space == Space::Param && found.space == Space::Local)
      inst.space = Space::Local;
    // A variable named without its space in a generic access: its generic address.
    uint64_t address = found.address;
    if (inst.space == Space::Generic)
      address += windowBase(found.space);
    slot = kernel.constantSlot(address, 8);
  } else if (base.kind == Operand::Kind::Register) {
    slot = kernel.registerSlot(base.index);
    if (slot.bytes != 8 && slot.bytes != 4)
      return fail("an address needs a 32- or 64-bit register");
  } else if (base.kind == Operand::Kind::Integer) {
    slot = kernel.constantSlot(base.integer, 8);
  } else {
    return fail("expected a register or a variable as address");
  }
  srcs.push_back({slot, Role::Control});
  return true;
}

bool InstBuilder::addAddress(const Operand &operand) {
  // Destinations come first in `slots`, so the index is fixed up when the instruction is emitted.
  inst.addressSlot = static_cast<uint8_t>(srcs.size());
  return addAddress(operand, inst.immediate);
}

bool InstBuilder::isPredicate(const Operand &operand) const {
  return operand.kind == Operand::Kind::Register &&
         kernel.registerType(operand.index) == Type::Pred;
}

bool InstBuilder::constantOperand(const Operand &operand, uint64_t limit, uint64_t &value) {
  if (operand.kind != Operand::Kind::Integer || operand.integer >= limit)
    return fail("expected a constant below " + llvm::Twine(limit));
  value = operand.integer;
  return true;
}

} // namespace vgpu
