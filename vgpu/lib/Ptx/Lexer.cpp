//===- Lexer.cpp - PTX text to tokens ---------------------------------------------------===//
#include "vgpu/Ptx/Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>
#include <cstring>

namespace vgpu::ptx {

static bool isIdentifierStart(char c) {
  return llvm::isAlpha(c) || c == '_' || c == '$' || c == '%';
}
static bool isIdentifierBody(char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; }

bool Lexer::skipBlanks() {
  size_t start = pos;
  while (pos < text.size()) {
    char c = text[pos];
    if (c == '\n') {
      ++line;
      ++pos;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++pos;
    } else if (text.substr(pos).starts_with("//")) {
      pos = std::min(text.find('\n', pos), text.size());
    } else if (text.substr(pos).starts_with("/*")) {
      size_t end = text.find("*/", pos + 2);
      end = end == llvm::StringRef::npos ? text.size() : end + 2;
      line += text.slice(pos, end).count('\n');
      pos = end;
    } else {
      break;
    }
  }
  return pos == start;
}

Token Lexer::make(TokenKind kind, size_t begin) {
  Token token;
  token.kind = kind;
  token.text = text.slice(begin, pos);
  token.line = line;
  return token;
}

Token Lexer::lexNumber() {
  size_t begin = pos;
  llvm::StringRef rest = text.substr(pos);
  auto isHexFloat = [&](char lower, char upper) {
    return rest.size() > 2 && rest[0] == '0' && (rest[1] == lower || rest[1] == upper) &&
           llvm::isHexDigit(rest[2]);
  };
  if (isHexFloat('f', 'F') || isHexFloat('d', 'D')) {
    bool isSingle = rest[1] == 'f' || rest[1] == 'F';
    size_t digits = isSingle ? 8 : 16;
    pos += 2;
    while (pos < text.size() && pos - begin - 2 < digits && llvm::isHexDigit(text[pos]))
      ++pos;
    Token token = make(TokenKind::Float, begin);
    token.floatBits = isSingle ? 32 : 64;
    if (token.text.drop_front(2).getAsInteger(16, token.integer))
      token.kind = TokenKind::Invalid;
    return token;
  }
  while (pos < text.size() && llvm::isAlnum(text[pos]))
    ++pos;
  bool isDecimal = llvm::all_of(text.slice(begin, pos),
                                [](char c) { return llvm::isDigit(c) || c == 'e' || c == 'E'; });
  bool hasExponent = text.slice(begin, pos).find_first_of("eE") != llvm::StringRef::npos;
  bool hasFraction = isDecimal && pos < text.size() && text[pos] == '.' &&
                     (pos + 1 >= text.size() || !llvm::isAlpha(text[pos + 1]) ||
                      text[pos + 1] == 'e' || text[pos + 1] == 'E');
  if (isDecimal && (hasFraction || hasExponent)) {
    if (hasFraction) {
      ++pos;
      while (pos < text.size() && llvm::isAlnum(text[pos]))
        ++pos;
    }
    if ((text[pos - 1] == 'e' || text[pos - 1] == 'E') && pos < text.size() &&
        (text[pos] == '-' || text[pos] == '+')) {
      ++pos;
      while (pos < text.size() && llvm::isDigit(text[pos]))
        ++pos;
    }
    Token token = make(TokenKind::Float, begin);
    double value;
    if (token.text.getAsDouble(value))
      token.kind = TokenKind::Invalid;
    else
      std::memcpy(&token.integer, &value, sizeof(value));
    token.floatBits = 64;
    return token;
  }
  Token token = make(TokenKind::Integer, begin);
  llvm::StringRef digits = token.text;
  digits.consume_back("U");
  unsigned radix = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    char mark = digits[1];
    radix = (mark == 'x' || mark == 'X') ? 16 : (mark == 'b' || mark == 'B') ? 2 : 8;
    digits = digits.drop_front(radix == 8 ? 1 : 2);
  }
  if (digits.getAsInteger(radix, token.integer))
    token.kind = TokenKind::Invalid;
  return token;
}

Token Lexer::next() {
  bool touches = skipBlanks() && pos != 0;
  Token token;
  size_t begin = pos;
  if (pos >= text.size()) {
    token = make(TokenKind::End, begin);
  } else if (isIdentifierStart(text[pos])) {
    ++pos;
    while (pos < text.size() && isIdentifierBody(text[pos]))
      ++pos;
    token = make(TokenKind::Identifier, begin);
  } else if (text[pos] == '.' && pos + 1 < text.size() &&
             (llvm::isAlnum(text[pos + 1]) || text[pos + 1] == '_')) {
    ++pos;
    while (pos < text.size() && (isIdentifierBody(text[pos]) ||
                                 (text.substr(pos).starts_with("::") && pos + 2 < text.size() &&
                                  isIdentifierBody(text[pos + 2]))))
      pos += text[pos] == ':' ? 2 : 1;
    token = make(TokenKind::Dotted, begin);
    token.text = token.text.drop_front();
  } else if (llvm::isDigit(text[pos])) {
    token = lexNumber();
  } else if (text[pos] == '"') {
    size_t end = text.find('"', pos + 1);
    pos = end == llvm::StringRef::npos ? text.size() : end + 1;
    token = make(end == llvm::StringRef::npos ? TokenKind::Invalid : TokenKind::String, begin);
  } else {
    bool isPair = text.substr(pos).starts_with("<<") || text.substr(pos).starts_with(">>");
    pos += isPair ? 2 : 1;
    token = make(TokenKind::Punct, begin);
  }
  token.touchesPrevious = touches;
  return token;
}

} // namespace vgpu::ptx
