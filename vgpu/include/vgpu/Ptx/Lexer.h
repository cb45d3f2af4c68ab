//===- Lexer.h - PTX text to tokens -----------------------------------------------------===//
//
// Dotted words are tokens of their own (".shared::cta"), so `%tid.x` and `ld.global.u32` are an
// identifier followed by dotted words that touch it. Comments and blanks vanish; each token keeps
// its line, which is what every message and finding refers to.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_PTX_LEXER_H
#define VGPU_PTX_LEXER_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace vgpu::ptx {

enum class TokenKind : uint8_t {
  End,
  Identifier, ///< add, %r1, $L__BB0_1, _ (sink)
  Dotted,     ///< .global, .shared::cta (text without the dot)
  Integer,    ///< decimal, 0x, 0b, octal; `U` suffix allowed
  Float,      ///< 0f3F800000, 0d..., 1.5e3; `bits` holds the IEEE pattern
  String,
  Punct, ///< one character, or "<<" / ">>"
  Invalid,
};

struct Token {
  TokenKind kind = TokenKind::End;
  llvm::StringRef text;
  uint32_t line = 1;
  bool touchesPrevious = false; ///< no blank between this token and the one before
  uint64_t integer = 0;         ///< Integer: value. Float: IEEE bits
  uint8_t floatBits = 0;        ///< Float: 32 or 64

  bool is(llvm::StringRef punct) const { return kind == TokenKind::Punct && text == punct; }
  bool isDotted(llvm::StringRef word) const { return kind == TokenKind::Dotted && text == word; }
};

class Lexer {
public:
  explicit Lexer(llvm::StringRef text) : text(text) {}
  Token next();

private:
  bool skipBlanks();
  Token lexNumber();
  Token make(TokenKind kind, size_t begin);

  llvm::StringRef text;
  size_t pos = 0;
  uint32_t line = 1;
};

} // namespace vgpu::ptx

#endif // VGPU_PTX_LEXER_H
