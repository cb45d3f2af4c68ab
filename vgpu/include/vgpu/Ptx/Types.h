//===- Types.h - scalar types and state spaces of PTX ----------------------------------===//
//
// PTX ISA, "Fundamental types" and "State spaces". A register remembers only its width; an
// instruction says how its bits are read.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_PTX_TYPES_H
#define VGPU_PTX_TYPES_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace vgpu::ptx {

enum class Type : uint8_t {
  None,
  Pred,
  B1,
  B8,
  B16,
  B32,
  B64,
  B128,
  U4,
  U8,
  U16,
  U32,
  U64,
  S4,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F32x2,
  F64,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
  U16x2,
  S16x2,
};

enum class Space : uint8_t { Generic, Reg, Global, Shared, Local, Param, Const };

/// The type spelled by a modifier without its dot ("s32"), if it is one.
std::optional<Type> parseType(llvm::StringRef name);
llvm::StringRef typeName(Type type);

/// Bits one value occupies; 0 for None, 1 for Pred.
unsigned bitWidth(Type type);
/// Bytes in memory (sub-byte types take one byte here; their users know better).
inline unsigned byteWidth(Type type) { return (bitWidth(type) + 7) / 8; }

bool isSigned(Type type);
bool isFloat(Type type);
/// True for .bN, which carries bits without saying how to read them.
bool isBits(Type type);

llvm::StringRef spaceName(Space space);

} // namespace vgpu::ptx

#endif // VGPU_PTX_TYPES_H
