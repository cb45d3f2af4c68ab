//===- ParseDeclaration.cpp - variables, registers, initializers -----------------------===//
#include "ParserImpl.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

namespace vgpu::ptx {

/// Larger declarations are refused: they are mistakes, and their initializer would exhaust memory.
static constexpr uint64_t maxVariableBytes = uint64_t(1) << 32;
static constexpr uint64_t maxRegisters = 1 << 20;
static constexpr uint64_t maxModuleRegisters = 1 << 22;

bool Parser::parsePrefix(DeclaratorPrefix &prefix) {
  while (token.kind == TokenKind::Dotted) {
    llvm::StringRef word = token.text;
    if (std::optional<Type> type = parseType(word)) {
      prefix.type = *type;
    } else if (word == "align") {
      advance();
      uint64_t value;
      if (!expectInteger(value))
        return false;
      if (!llvm::isPowerOf2_64(value) || value > (1 << 20))
        return fail("alignment " + llvm::Twine(value) + " is not a power of two up to 1048576");
      prefix.alignBytes = static_cast<uint32_t>(value);
      continue;
    } else if (word == "v2" || word == "v4" || word == "v8") {
      prefix.vectorWidth = word[1] - '0';
    } else if (word == "ptr" || word == "global" || word == "shared" || word == "local" ||
               word == "const" || word == "generic") {
      // `.param .u64 .ptr .global .align 16 p`: a promise about the pointee. The alignment that
      // follows is the pointee's, not the parameter's.
      advance();
      if (acceptDotted("align")) {
        uint64_t ignored;
        if (!expectInteger(ignored))
          return false;
      }
      continue;
    } else if (word == "attribute") {
      advance();
      if (!expect("("))
        return false;
      while (token.kind != TokenKind::End && !token.is(")"))
        advance();
      if (!expect(")"))
        return false;
      continue;
    } else if (word == "texref" || word == "samplerref" || word == "surfref") {
      return fail("'." + word +
                  "' is not supported: textures and surfaces are outside the "
                  "virtual GPU");
    } else {
      return fail("unexpected '." + word + "' in a declaration");
    }
    advance();
  }
  if (prefix.type == Type::None)
    return fail("a declaration needs a type, got '" + token.text + "'");
  return true;
}

bool Parser::parseDeclarator(const DeclaratorPrefix &prefix, Variable &variable) {
  variable.line = token.line;
  if (!expectIdentifier(variable.name))
    return false;
  uint64_t elements = prefix.vectorWidth;
  unsigned elementBytes = byteWidth(prefix.type);
  while (accept("[")) {
    variable.isArray = true;
    if (accept("]")) {
      variable.isUnsizedArray = true;
      continue;
    }
    int64_t extent = 0;
    if (!parseConstantInteger(extent) || !expect("]"))
      return false;
    if (extent < 0 || (extent && elements > maxVariableBytes / static_cast<uint64_t>(extent)))
      return fail("'" + variable.name + "' is larger than 4 GiB");
    elements *= static_cast<uint64_t>(extent);
  }
  variable.space = prefix.space;
  variable.elementType = prefix.type;
  variable.isExtern = prefix.isExtern;
  variable.sizeBytes = variable.isUnsizedArray ? 0 : elements * elementBytes;
  variable.alignBytes =
      prefix.alignBytes ? prefix.alignBytes : std::max(1u, elementBytes * prefix.vectorWidth);
  if (variable.sizeBytes > maxVariableBytes)
    return fail("'" + variable.name + "' is larger than 4 GiB");
  return true;
}

bool Parser::parseVariables(Space space, bool isExtern) {
  DeclaratorPrefix prefix{space};
  prefix.isExtern = isExtern;
  if (!parsePrefix(prefix))
    return false;
  do {
    auto variable = std::make_unique<Variable>();
    if (!parseDeclarator(prefix, *variable))
      return false;
    if (accept("=") && !parseInitializer(*variable))
      return false;
    if (!addVariable(std::move(variable)))
      return false;
  } while (accept(","));
  return expect(";");
}

bool Parser::addVariable(std::unique_ptr<Variable> variable) {
  auto &owner = function ? function->variables : module->variables;
  auto inserted =
      scopes.back().symbols.try_emplace(variable->name, Symbol{Symbol::Var, 0, variable.get()});
  if (!inserted.second) {
    // An extern declaration may be repeated, and followed by its definition.
    const Variable *previous = inserted.first->second.variable;
    if (!previous || !previous->isExtern)
      return fail("'" + variable->name + "' is declared twice");
    if (variable->isExtern)
      return true;
    inserted.first->second.variable = variable.get();
  }
  if (!function) {
    variable->isOfModule = true;
    module->variablesByName[variable->name] = variable.get();
  }
  owner.push_back(std::move(variable));
  return true;
}

bool Parser::parseInitializer(Variable &variable) {
  uint64_t offset = 0;
  if (!parseInitializerValue(variable, offset))
    return false;
  if (variable.isUnsizedArray && !variable.isExtern) {
    variable.sizeBytes = offset;
    variable.isUnsizedArray = false;
  }
  return true;
}

bool Parser::parseInitializerValue(Variable &variable, uint64_t &offset) {
  unsigned bytes = byteWidth(variable.elementType);
  if (accept("{")) {
    if (++depth > 64)
      return fail("initializer is nested too deeply");
    while (!token.is("}")) {
      if (!parseInitializerValue(variable, offset))
        return false;
      if (!accept(",") && !token.is("}"))
        return fail("expected ',' or '}' in an initializer, got '" + token.text + "'");
    }
    --depth;
    return expect("}");
  }
  if (!variable.isUnsizedArray && offset + bytes > variable.sizeBytes)
    return fail("too many initializers for '" + variable.name + "'");
  uint64_t bits = 0;
  bool isGeneric = token.text == "generic" && ahead.is("(");
  if (isGeneric) {
    advance();
    advance();
  }
  if (token.kind == TokenKind::Identifier) {
    Variable::Relocation relocation{offset, token.text.str(), 0, isGeneric,
                                    static_cast<uint8_t>(bytes)};
    advance();
    if (isGeneric && !expect(")"))
      return false;
    if ((token.is("+") || token.is("-")) && !parseConstantInteger(relocation.addend))
      return false;
    variable.relocations.push_back(std::move(relocation));
  } else {
    Operand value;
    if (!parseConstant(value))
      return false;
    bits = value.integer;
    if (value.kind == Operand::Kind::Float && value.floatBits == 64 && bytes == 4) {
      double wide;
      std::memcpy(&wide, &bits, sizeof(wide));
      float narrow = static_cast<float>(wide);
      uint32_t pattern;
      std::memcpy(&pattern, &narrow, sizeof(pattern));
      bits = pattern;
    }
    if (isGeneric && !expect(")"))
      return false;
  }
  variable.initializer.resize(offset + bytes);
  std::memcpy(variable.initializer.data() + offset, &bits, std::min<size_t>(bytes, 8));
  offset += bytes;
  return true;
}

bool Parser::declareRegister(llvm::StringRef name, Type type) {
  if (function->registers.size() >= maxRegisters)
    return fail("more than " + llvm::Twine(maxRegisters) + " registers");
  if (++numRegisters > maxModuleRegisters)
    return fail("more than " + llvm::Twine(maxModuleRegisters) + " registers in all functions");
  uint32_t index = static_cast<uint32_t>(function->registers.size());
  if (!scopes.back().symbols.try_emplace(name, Symbol{Symbol::Reg, index, nullptr}).second)
    return fail("'" + name + "' is declared twice");
  function->registers.push_back({name.str(), type});
  return true;
}

bool Parser::parseRegisters() {
  DeclaratorPrefix prefix{Space::Reg};
  if (!parsePrefix(prefix))
    return false;
  do {
    std::string name;
    if (!expectIdentifier(name))
      return false;
    if (accept("<")) {
      uint64_t count;
      if (!expectInteger(count) || !expect(">"))
        return false;
      if (count > maxRegisters)
        return fail("more than " + llvm::Twine(maxRegisters) + " registers");
      for (uint64_t i = 0; i < count; ++i)
        if (!declareRegister(name + std::to_string(i), prefix.type))
          return false;
    } else if (prefix.vectorWidth > 1) {
      for (unsigned i = 0; i < prefix.vectorWidth; ++i)
        if (!declareRegister(name + "." + std::string(1, "xyzw"[i % 4]), prefix.type))
          return false;
    } else if (!declareRegister(name, prefix.type)) {
      return false;
    }
  } while (accept(","));
  return expect(";");
}

/// A constant expression of integers, or one float.
bool Parser::parseConstant(Operand &operand) {
  bool isNegative = token.is("-") && ahead.kind == TokenKind::Float;
  if (isNegative)
    advance();
  if (token.kind == TokenKind::Float) {
    operand.kind = Operand::Kind::Float;
    operand.integer = token.integer;
    operand.floatBits = token.floatBits;
    if (isNegative)
      operand.integer ^= uint64_t(1) << (operand.floatBits - 1);
    advance();
    return true;
  }
  int64_t sum = 0;
  if (!parseConstantInteger(sum))
    return false;
  operand.kind = Operand::Kind::Integer;
  operand.integer = static_cast<uint64_t>(sum);
  return true;
}

/// How tightly an operator of constants binds, as in C; 0 for any other token.
static unsigned precedenceOf(const Token &token) {
  if (token.kind != TokenKind::Punct)
    return 0;
  return llvm::StringSwitch<unsigned>(token.text)
      .Cases({"*", "/"}, 6)
      .Cases({"+", "-"}, 5)
      .Cases({"<<", ">>"}, 4)
      .Case("&", 3)
      .Case("^", 2)
      .Case("|", 1)
      .Default(0);
}

/// In 64 bits, which wrap; nothing where the result has no meaning.
static std::optional<int64_t> evaluate(llvm::StringRef op, int64_t left, int64_t right) {
  uint64_t a = static_cast<uint64_t>(left), b = static_cast<uint64_t>(right);
  auto wrap = [](uint64_t bits) { return static_cast<int64_t>(bits); };
  switch (op[0]) {
  case '+':
    return wrap(a + b);
  case '-':
    return wrap(a - b);
  case '*':
    return wrap(a * b);
  case '/':
    if (right == 0)
      return std::nullopt;
    return right == -1 ? wrap(0 - a) : left / right;
  case '<':
    return b >= 64 ? 0 : wrap(a << b);
  case '>':
    return left >> std::min<uint64_t>(b, 63);
  case '&':
    return wrap(a & b);
  case '^':
    return wrap(a ^ b);
  default:
    return wrap(a | b);
  }
}

/// Integers, operators that bind at least as tightly as `least`, and parentheses.
bool Parser::parseConstantInteger(int64_t &value, unsigned least) {
  if (!parseConstantTerm(value))
    return false;
  for (unsigned precedence; (precedence = precedenceOf(token)) >= least;) {
    llvm::StringRef op = token.text;
    advance();
    int64_t right;
    if (!parseConstantInteger(right, precedence + 1))
      return false;
    std::optional<int64_t> result = evaluate(op, value, right);
    if (!result)
      return fail("division by zero in a constant");
    value = *result;
  }
  return true;
}

bool Parser::parseConstantTerm(int64_t &value) {
  if (++depth > 64)
    return fail("constant expression is nested too deeply");
  bool isGood;
  if (accept("-")) {
    isGood = parseConstantTerm(value);
    value = static_cast<int64_t>(0 - static_cast<uint64_t>(value));
  } else if (accept("+")) {
    isGood = parseConstantTerm(value);
  } else if (accept("~")) {
    isGood = parseConstantTerm(value);
    value = ~value;
  } else if (accept("(")) {
    isGood = parseConstantInteger(value) && expect(")");
  } else if (token.kind == TokenKind::Integer) {
    value = static_cast<int64_t>(token.integer);
    advance();
    isGood = true;
  } else if (token.text == "WARP_SZ") {
    value = 32;
    advance();
    isGood = true;
  } else {
    isGood = fail("expected a constant, got '" + token.text + "'");
  }
  --depth;
  return isGood;
}

} // namespace vgpu::ptx
