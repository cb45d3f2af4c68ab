//===- ParseBody.cpp - scopes, labels, instructions, operands --------------------------===//
//
// PTX scopes nest: inline assembly puts registers and labels in `{ }` and reuses their names, so a
// label is looked for in the innermost scope first and only then further out. A use may precede the
// label; it waits in its scope and moves outward when the scope closes without defining it.
//
//===-----------------------------------------------------------------------------------===//
#include "ParserImpl.h"
#include "llvm/ADT/StringExtras.h"

namespace vgpu::ptx {

const Parser::Symbol *Parser::lookup(llvm::StringRef name) const {
  for (size_t i = scopes.size(); i-- > 0;) {
    auto it = scopes[i].symbols.find(name);
    if (it != scopes[i].symbols.end())
      return &it->second;
  }
  return nullptr;
}

bool Parser::closeScope() {
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  for (LabelUse &use : scope.uses) {
    auto label = scope.labels.find(use.name);
    auto list = scope.symbols.find(use.name);
    bool isList = list != scope.symbols.end() && list->second.kind == Symbol::TargetList;
    if (label == scope.labels.end() && !isList) {
      if (scopes.size() <= 1) // only the module's scope is left
        return failAt(use.line, "unknown name '" + use.name + "'");
      scopes.back().uses.push_back(std::move(use));
      continue;
    }
    if (use.inTargetList) {
      if (isList)
        return failAt(use.line, "'" + use.name + "' is not a label");
      function->branchTargets[use.instruction][use.operand] = label->second;
      continue;
    }
    Operand &operand = function->body[use.instruction].operands[use.operand];
    operand.kind = isList ? Operand::Kind::Targets : Operand::Kind::Label;
    operand.index = isList ? list->second.index : label->second;
  }
  return true;
}

bool Parser::parseBlock() {
  if (!expect("{"))
    return false;
  if (++depth > 200)
    return fail("blocks are nested too deeply");
  scopes.emplace_back();
  while (!token.is("}")) {
    if (token.kind == TokenKind::End)
      return fail("'{' is not closed");
    if (!parseStatement())
      return false;
  }
  if (!closeScope())
    return false;
  --depth;
  advance();
  return true;
}

bool Parser::parseLoc() {
  uint64_t file, line, column;
  if (!expectInteger(file) || !expectInteger(line) || !expectInteger(column))
    return false;
  currentLoc = {static_cast<uint32_t>(file), static_cast<uint32_t>(line)};
  // `, function_name $L__info_string0 + 3, inlined_at 1 7 2`: the position itself is the one of the
  // inlined code, which is what a reader of a finding wants to see.
  while (token.is(",")) {
    advance();
    std::string word;
    if (!expectIdentifier(word))
      return false;
    uint64_t ignored;
    if (word == "function_name") {
      advance();
      if (accept("+") && !expectInteger(ignored))
        return false;
    } else if (word == "inlined_at") {
      if (!expectInteger(ignored) || !expectInteger(ignored) || !expectInteger(ignored))
        return false;
    } else {
      return fail("unknown '.loc' attribute '" + word + "'");
    }
  }
  return true;
}

bool Parser::parseStatement() {
  if (token.is("{"))
    return parseBlock();
  if (accept(";"))
    return true;
  if (token.kind != TokenKind::Dotted)
    return parseLabelOrInstruction();
  llvm::StringRef word = token.text;
  advance();
  if (word == "reg")
    return parseRegisters();
  if (word == "local")
    return parseVariables(Space::Local, false);
  if (word == "shared")
    return parseVariables(Space::Shared, false);
  if (word == "param")
    return parseVariables(Space::Param, false);
  if (word == "global")
    return parseVariables(Space::Global, false);
  if (word == "const")
    return parseVariables(Space::Const, false);
  if (word == "extern" && acceptDotted("shared"))
    return parseVariables(Space::Shared, true);
  if (word == "loc")
    return parseLoc();
  if (word == "file")
    return parseFile();
  if (word == "section")
    return skipSection();
  if (word == "pragma")
    return skipToSemicolon();
  return fail("unknown directive '." + word + "'");
}

bool Parser::parseBranchTargets(llvm::StringRef name) {
  uint32_t index = static_cast<uint32_t>(function->branchTargets.size());
  function->branchTargets.emplace_back();
  scopes.back().symbols.try_emplace(name, Symbol{Symbol::TargetList, index, nullptr});
  do {
    uint32_t line = token.line;
    std::string label;
    if (!expectIdentifier(label))
      return false;
    uint32_t position = static_cast<uint32_t>(function->branchTargets[index].size());
    function->branchTargets[index].push_back(0);
    scopes.back().uses.push_back({label, line, true, index, position});
  } while (accept(","));
  return expect(";");
}

bool Parser::parseLabelOrInstruction() {
  if (token.kind == TokenKind::Identifier && ahead.is(":")) {
    std::string name = token.text.str();
    uint32_t line = token.line;
    advance();
    advance();
    if (acceptDotted("branchtargets"))
      return parseBranchTargets(name);
    if (token.isDotted("callprototype") || token.isDotted("calltargets")) {
      // Named by indirect calls; the callees' own declarations say all that is needed.
      scopes.back().symbols.try_emplace(
          name, Symbol{Symbol::TargetList, static_cast<uint32_t>(function->branchTargets.size()),
                       nullptr});
      function->branchTargets.emplace_back();
      return skipToSemicolon();
    }
    uint32_t index = static_cast<uint32_t>(function->labels.size());
    function->labels.push_back({name, static_cast<uint32_t>(function->body.size()), line});
    if (!scopes.back().labels.try_emplace(name, index).second)
      return failAt(line, "label '" + name + "' is defined twice");
    return true;
  }
  Instruction instruction;
  if (!parseInstruction(instruction))
    return false;
  function->body.push_back(std::move(instruction));
  return true;
}

bool Parser::parseInstruction(Instruction &instruction) {
  instruction.line = token.line;
  instruction.loc = currentLoc;
  if (accept("@")) {
    instruction.isGuardNegated = accept("!");
    const Symbol *symbol = lookup(token.text);
    if (!symbol || symbol->kind != Symbol::Reg ||
        function->registers[symbol->index].type != Type::Pred)
      return fail("guard '" + token.text + "' is not a predicate register");
    instruction.guard = static_cast<int32_t>(symbol->index);
    advance();
  }
  if (token.kind != TokenKind::Identifier)
    return fail("expected an instruction, got '" + token.text + "'");
  instruction.line = token.line;
  instruction.parts.push_back(token.text.str());
  instruction.opcode = token.text.str();
  advance();
  // A blank may stand before a modifier: compilers print ` .L2::cache_hint`. No operand begins with
  // a dot and a letter.
  while (token.kind == TokenKind::Dotted &&
         (token.touchesPrevious || !llvm::isDigit(token.text.front()))) {
    instruction.parts.push_back(token.text.str());
    instruction.opcode += "." + token.text.str();
    advance();
  }
  currentInstruction = &instruction;
  while (!token.is(";")) {
    Operand operand;
    if (!parseOperand(operand))
      return false;
    instruction.operands.push_back(std::move(operand));
    if (!accept(",") && !token.is(";"))
      return fail("expected ',' or ';' after an operand of '" + instruction.opcode + "', got '" +
                  token.text + "'");
  }
  advance();
  currentInstruction = nullptr;
  return true;
}

bool Parser::parseOperand(Operand &operand) {
  if (++operandDepth > 16)
    return fail("operand is nested too deeply");
  if (!parsePrimary(operand))
    return false;
  if (token.is("|")) {
    ++operandDepth;
    advance();
    Operand pair;
    pair.kind = Operand::Kind::Pair;
    pair.elements.resize(2);
    pair.elements[0] = std::move(operand);
    if (!parsePrimary(pair.elements[1]))
      return false;
    operand = std::move(pair);
    --operandDepth;
  }
  --operandDepth;
  return true;
}

bool Parser::parsePrimary(Operand &operand) {
  if (token.is("[")) {
    advance();
    return parseAddress(operand);
  }
  bool isList = token.is("(") && ahead.kind != TokenKind::Integer && !ahead.is("-");
  if (token.is("{") || isList) {
    operand.kind = isList ? Operand::Kind::List : Operand::Kind::Vector;
    llvm::StringRef close = isList ? ")" : "}";
    advance();
    while (!token.is(close)) {
      operand.elements.emplace_back();
      if (!parseOperand(operand.elements.back()))
        return false;
      if (!accept(",") && !token.is(close))
        return fail("expected ',' or '" + close + "', got '" + token.text + "'");
    }
    advance();
    return true;
  }
  if (accept("!")) {
    operand.isNegated = true;
    return parseName(operand);
  }
  if (token.kind == TokenKind::Identifier)
    return parseName(operand);
  return parseConstant(operand);
}

bool Parser::parseName(Operand &operand) {
  std::string name;
  uint32_t line = token.line;
  if (!expectIdentifier(name))
    return false;
  if (name == "_") {
    operand.kind = Operand::Kind::Sink;
    return true;
  }
  if (token.kind == TokenKind::Dotted && token.touchesPrevious) {
    name += "." + token.text.str();
    advance();
  }
  if (const Symbol *symbol = lookup(name)) {
    if (symbol->kind == Symbol::Reg) {
      operand.kind = Operand::Kind::Register;
      operand.index = symbol->index;
      return true;
    }
    if (symbol->kind == Symbol::Var) {
      operand.kind = Operand::Kind::Variable;
      operand.variable = symbol->variable;
      operand.name = name;
      if (token.is("+") || token.is("-")) {
        int64_t offset = 0;
        if (!parseConstantInteger(offset))
          return false;
        operand.integer = static_cast<uint64_t>(offset);
      }
      return true;
    }
  }
  if (name == "WARP_SZ") {
    operand.kind = Operand::Kind::Integer;
    operand.integer = 32;
    return true;
  }
  operand.name = name;
  if (isSpecialRegister(name)) {
    operand.kind = Operand::Kind::Special;
    return true;
  }
  if (name[0] == '%')
    return failAt(line, "unknown register '" + name + "'");
  if (module->findFunction(name)) {
    operand.kind = Operand::Kind::Function;
    return true;
  }
  // A label, perhaps defined further down. Only direct operands of an instruction may be labels.
  operand.kind = Operand::Kind::Label;
  if (!currentInstruction || operandDepth != 1)
    return failAt(line, "unknown name '" + name + "'");
  scopes.back().uses.push_back({name, line, false, static_cast<uint32_t>(function->body.size()),
                                static_cast<uint32_t>(currentInstruction->operands.size())});
  return true;
}

bool Parser::parseAddress(Operand &operand) {
  operand.kind = Operand::Kind::Address;
  operand.elements.emplace_back();
  if (!parseOperand(operand.elements[0]))
    return false;
  Operand &base = operand.elements[0];
  if (base.kind == Operand::Kind::Variable) {
    operand.integer = base.integer;
    base.integer = 0;
  } else if (base.kind == Operand::Kind::Register && (token.is("+") || token.is("-"))) {
    int64_t offset = 0; // its sign belongs to its first term
    if (!parseConstantInteger(offset))
      return false;
    operand.integer = static_cast<uint64_t>(offset);
  } else if (base.kind == Operand::Kind::Label) {
    return fail("unknown name '" + base.name + "' in an address");
  }
  while (accept(",")) { // [tensorMap, {c0, c1}]
    operand.elements.emplace_back();
    if (!parseOperand(operand.elements.back()))
      return false;
  }
  return expect("]");
}

} // namespace vgpu::ptx
