//===- Types.cpp - names and widths of PTX types ---------------------------------------===//
#include "vgpu/Ptx/Types.h"
#include "llvm/ADT/StringSwitch.h"

namespace vgpu::ptx {

namespace {
struct TypeInfo {
  Type type;
  llvm::StringLiteral name;
  uint8_t bits;
  bool isSigned, isFloat, isBits;
};

constexpr TypeInfo typeTable[] = {
    {Type::None, "", 0, false, false, false},
    {Type::Pred, "pred", 1, false, false, false},
    {Type::B1, "b1", 1, false, false, true},
    {Type::B8, "b8", 8, false, false, true},
    {Type::B16, "b16", 16, false, false, true},
    {Type::B32, "b32", 32, false, false, true},
    {Type::B64, "b64", 64, false, false, true},
    {Type::B128, "b128", 128, false, false, true},
    {Type::U4, "u4", 4, false, false, false},
    {Type::U8, "u8", 8, false, false, false},
    {Type::U16, "u16", 16, false, false, false},
    {Type::U32, "u32", 32, false, false, false},
    {Type::U64, "u64", 64, false, false, false},
    {Type::S4, "s4", 4, true, false, false},
    {Type::S8, "s8", 8, true, false, false},
    {Type::S16, "s16", 16, true, false, false},
    {Type::S32, "s32", 32, true, false, false},
    {Type::S64, "s64", 64, true, false, false},
    {Type::F16, "f16", 16, true, true, false},
    {Type::F16x2, "f16x2", 32, true, true, false},
    {Type::BF16, "bf16", 16, true, true, false},
    {Type::BF16x2, "bf16x2", 32, true, true, false},
    {Type::TF32, "tf32", 32, true, true, false},
    {Type::F32, "f32", 32, true, true, false},
    {Type::F32x2, "f32x2", 64, true, true, false},
    {Type::F64, "f64", 64, true, true, false},
    {Type::E4M3, "e4m3", 8, true, true, false},
    {Type::E5M2, "e5m2", 8, true, true, false},
    {Type::E4M3x2, "e4m3x2", 16, true, true, false},
    {Type::E5M2x2, "e5m2x2", 16, true, true, false},
    {Type::U16x2, "u16x2", 32, false, false, false},
    {Type::S16x2, "s16x2", 32, true, false, false},
};

const TypeInfo &info(Type type) { return typeTable[static_cast<unsigned>(type)]; }
} // namespace

std::optional<Type> parseType(llvm::StringRef name) {
  for (const TypeInfo &entry : typeTable)
    if (!entry.name.empty() && entry.name == name)
      return entry.type;
  return std::nullopt;
}

llvm::StringRef typeName(Type type) { return info(type).name; }
unsigned bitWidth(Type type) { return info(type).bits; }
bool isSigned(Type type) { return info(type).isSigned; }
bool isFloat(Type type) { return info(type).isFloat; }
bool isBits(Type type) { return info(type).isBits; }

llvm::StringRef spaceName(Space space) {
  constexpr llvm::StringLiteral names[] = {"generic", "reg",   "global", "shared",
                                           "local",   "param", "const"};
  return names[static_cast<unsigned>(space)];
}

} // namespace vgpu::ptx
