//===- Parser.cpp - module level: directives, functions, debug sections ----------------===//
#include "ParserImpl.h"
#include "llvm/ADT/StringSet.h"

namespace vgpu::ptx {

Parser::Parser(llvm::StringRef text, llvm::StringRef fileName) : lexer(text) {
  module = std::make_unique<Module>();
  module->fileName = fileName.str();
  module->sourceFiles.emplace_back();
  scopes.emplace_back();
  ahead = lexer.next();
  advance();
}

void Parser::advance() {
  token = ahead;
  ahead = lexer.next();
}

bool Parser::failAt(uint32_t line, const llvm::Twine &message) {
  if (error.empty())
    error = (llvm::Twine(module->fileName) + ":" + llvm::Twine(line) + ": error: " + message).str();
  return false;
}
bool Parser::fail(const llvm::Twine &message) { return failAt(token.line, message); }

bool Parser::expect(llvm::StringRef punct) {
  if (accept(punct))
    return true;
  return fail("expected '" + punct + "', got '" + token.text + "'");
}
bool Parser::accept(llvm::StringRef punct) {
  if (!token.is(punct))
    return false;
  advance();
  return true;
}
bool Parser::acceptDotted(llvm::StringRef word) {
  if (!token.isDotted(word))
    return false;
  advance();
  return true;
}
bool Parser::expectInteger(uint64_t &value) {
  if (token.kind != TokenKind::Integer)
    return fail("expected an integer, got '" + token.text + "'");
  value = token.integer;
  advance();
  return true;
}
bool Parser::expectIdentifier(std::string &name) {
  if (token.kind != TokenKind::Identifier)
    return fail("expected a name, got '" + token.text + "'");
  name = token.text.str();
  advance();
  return true;
}

bool Parser::parse() {
  while (token.kind != TokenKind::End)
    if (!parseTopLevel())
      return false;
  if (module->version.empty())
    return failAt(1, "not a PTX module: no '.version' directive");
  return true;
}

bool Parser::parseTopLevel() {
  if (token.kind != TokenKind::Dotted)
    return fail("expected a directive, got '" + token.text + "'");
  llvm::StringRef word = token.text;
  advance();
  return parseDirective(word);
}

bool Parser::skipToSemicolon() {
  while (token.kind != TokenKind::End && !token.is(";"))
    advance();
  return expect(";");
}

bool Parser::parseDirective(llvm::StringRef word) {
  if (word == "version") {
    // Printed as a decimal number; keep its spelling.
    module->version = token.text.str();
    advance();
    return true;
  }
  if (word == "target") {
    if (!expectIdentifier(module->target))
      return false;
    std::string ignored;
    while (accept(","))
      if (!expectIdentifier(ignored))
        return false;
    return true;
  }
  if (word == "address_size") {
    uint64_t bits;
    if (!expectInteger(bits))
      return false;
    return bits == 64 || fail("expected '.address_size 64', got " + llvm::Twine(bits));
  }
  if (word == "file")
    return parseFile();
  if (word == "section")
    return skipSection();
  if (word == "loc")
    return parseLoc();
  if (word == "pragma" || word == "alias")
    return skipToSemicolon();
  // What is qualified comes next, in a turn of its own: a recursion could exhaust the stack.
  auto isDirectiveNext = [&] {
    return token.kind == TokenKind::Dotted ||
           fail("expected a directive, got '" + token.text + "'");
  };
  if (word == "visible" || word == "weak" || word == "common")
    return isDirectiveNext();
  if (word == "extern") {
    if (token.isDotted("func"))
      return isDirectiveNext();
    llvm::StringRef space = token.text;
    advance();
    if (space == "shared")
      return parseVariables(Space::Shared, true);
    if (space == "global")
      return parseVariables(Space::Global, true);
    if (space == "const")
      return parseVariables(Space::Const, true);
    return fail("expected a state space after '.extern', got '." + space + "'");
  }
  if (word == "global")
    return parseVariables(Space::Global, false);
  if (word == "const")
    return parseVariables(Space::Const, false);
  if (word == "shared")
    return parseVariables(Space::Shared, false);
  if (word == "entry")
    return parseFunction(true);
  if (word == "func")
    return parseFunction(false);
  return fail("unknown directive '." + word + "'");
}

bool Parser::parseFile() {
  uint64_t index;
  if (!expectInteger(index))
    return false;
  if (token.kind != TokenKind::String)
    return fail("expected a file name after '.file'");
  if (index > 65535)
    return fail("file index " + llvm::Twine(index) + " is too large");
  if (module->sourceFiles.size() <= index)
    module->sourceFiles.resize(index + 1);
  module->sourceFiles[index] = token.text.drop_front().drop_back().str();
  advance();
  uint64_t ignored;
  while (accept(","))
    if (!expectInteger(ignored))
      return false;
  return true;
}

/// Debug information; its bytes do not concern execution.
bool Parser::skipSection() {
  if (token.kind == TokenKind::Dotted || token.kind == TokenKind::Identifier)
    advance();
  if (!token.is("{"))
    return true;
  unsigned nesting = 0;
  do {
    if (token.is("{"))
      ++nesting;
    if (token.is("}"))
      --nesting;
    if (token.kind == TokenKind::End)
      return fail("'.section' is not closed");
    advance();
  } while (nesting != 0);
  return true;
}

bool Parser::parseFormals(std::vector<Function::Formal> &formals) {
  if (!expect("("))
    return false;
  while (!token.is(")")) {
    bool isRegister = acceptDotted("reg");
    if (!isRegister && !acceptDotted("param"))
      return fail("expected '.param' or '.reg', got '" + token.text + "'");
    DeclaratorPrefix prefix{isRegister ? Space::Reg : Space::Param};
    auto variable = std::make_unique<Variable>();
    if (!parsePrefix(prefix) || !parseDeclarator(prefix, *variable))
      return false;
    Function::Formal formal;
    if (isRegister) {
      formal.reg = static_cast<int32_t>(function->registers.size());
      if (!declareRegister(variable->name, prefix.type))
        return false;
    } else {
      formal.variable = variable.get();
      if (!addVariable(std::move(variable)))
        return false;
    }
    formals.push_back(formal);
    if (!accept(",") && !token.is(")"))
      return fail("expected ',' or ')' in a parameter list, got '" + token.text + "'");
  }
  return expect(")");
}

/// More than any launch has; the product of three fits 64 bits.
static constexpr uint64_t maxExtent = 1 << 20;

bool Parser::parsePerformanceDirectives() {
  while (token.kind == TokenKind::Dotted) {
    llvm::StringRef word = token.text;
    advance();
    if (word == "noreturn" || word == "explicitcluster" || word == "blocksareclusters") {
      function->needsCluster |= word != "noreturn";
      continue;
    }
    if (word == "pragma") {
      if (!skipToSemicolon())
        return false;
      continue;
    }
    std::array<uint32_t, 3> ignored;
    std::array<uint32_t, 3> *extents = word == "reqntid"             ? &function->requiredThreads
                                       : word == "maxntid"           ? &function->maxThreads
                                       : word == "reqnctapercluster" ? &function->requiredCluster
                                                                     : &ignored;
    if (extents == &ignored && word != "minnctapersm" && word != "maxnctapersm" &&
        word != "maxnreg" && word != "maxclusterrank")
      return fail("unknown directive '." + word + "'");
    *extents = {1, 1, 1};
    for (unsigned i = 0;; ++i) {
      uint64_t value;
      if (!expectInteger(value))
        return false;
      if (i >= 3)
        return fail("'." + word + "' takes at most 3 extents");
      if (value > maxExtent)
        return fail("'." + word + "': expected a number up to " + llvm::Twine(maxExtent) +
                    ", got " + llvm::Twine(value));
      (*extents)[i] = static_cast<uint32_t>(value);
      if (!accept(","))
        break;
    }
    if (word == "maxnreg")
      function->maxRegisters = ignored[0];
    else if (word == "minnctapersm")
      function->minBlocks = ignored[0];
    else if (word == "maxclusterrank")
      function->maxClusterRank = ignored[0];
  }
  return true;
}

bool Parser::parseFunction(bool isEntry) {
  module->functions.push_back(std::make_unique<Function>());
  function = module->functions.back().get();
  function->isEntry = isEntry;
  function->line = token.line;
  function->index = static_cast<uint32_t>(module->functions.size() - 1);
  currentLoc = {};
  scopes.emplace_back();
  if (token.is("(") && !parseFormals(function->results))
    return false;
  if (!expectIdentifier(function->name))
    return false;
  module->functionsByName.try_emplace(function->name, function);
  if (token.is("(") && !parseFormals(function->params))
    return false;
  if (!parsePerformanceDirectives())
    return false;
  if (token.is("{")) {
    if (const Function *other = module->findFunction(function->name);
        other && other != function && other->hasBody)
      return fail("'" + function->name + "' is defined twice");
    function->hasBody = true;
    module->functionsByName[function->name] = function;
    if (!parseBlock())
      return false;
  } else if (!expect(";")) {
    return false;
  }
  if (!closeScope())
    return false;
  function = nullptr;
  return true;
}

llvm::Expected<std::unique_ptr<Module>> parseModule(llvm::StringRef text,
                                                    llvm::StringRef fileName) {
  Parser parser(text, fileName);
  if (!parser.parse())
    return llvm::createStringError(parser.message());
  return parser.take();
}

bool isSpecialRegister(llvm::StringRef name) {
  static const llvm::StringSet<> names = {"%tid.x",
                                          "%tid.y",
                                          "%tid.z",
                                          "%tid.w",
                                          "%ntid.x",
                                          "%ntid.y",
                                          "%ntid.z",
                                          "%ntid.w",
                                          "%ctaid.x",
                                          "%ctaid.y",
                                          "%ctaid.z",
                                          "%ctaid.w",
                                          "%nctaid.x",
                                          "%nctaid.y",
                                          "%nctaid.z",
                                          "%nctaid.w",
                                          "%laneid",
                                          "%warpid",
                                          "%nwarpid",
                                          "%smid",
                                          "%nsmid",
                                          "%gridid",
                                          "%lanemask_eq",
                                          "%lanemask_le",
                                          "%lanemask_lt",
                                          "%lanemask_ge",
                                          "%lanemask_gt",
                                          "%clock",
                                          "%clock_hi",
                                          "%clock64",
                                          "%globaltimer",
                                          "%globaltimer_lo",
                                          "%globaltimer_hi",
                                          "%dynamic_smem_size",
                                          "%total_smem_size",
                                          "%aggr_smem_size",
                                          "%is_explicit_cluster",
                                          "%clusterid.x",
                                          "%clusterid.y",
                                          "%clusterid.z",
                                          "%nclusterid.x",
                                          "%nclusterid.y",
                                          "%nclusterid.z",
                                          "%cluster_ctaid.x",
                                          "%cluster_ctaid.y",
                                          "%cluster_ctaid.z",
                                          "%cluster_nctaid.x",
                                          "%cluster_nctaid.y",
                                          "%cluster_nctaid.z",
                                          "%cluster_ctarank",
                                          "%cluster_nctarank",
                                          "WARP_SZ"};
  return names.contains(name);
}

} // namespace vgpu::ptx
