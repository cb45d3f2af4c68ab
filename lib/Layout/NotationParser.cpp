//===- NotationParser.cpp - read index expressions, maps and placements ---------------------===//
//
// A recursive-descent parser, one function per line of the grammar in Notation.h. Messages name the
// whole text, the column (from 1), what was expected and what stands there.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Layout/Notation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilewright;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;
using Kind = IndexExpr::Kind;

namespace {

class Parser {
public:
  explicit Parser(StringRef text) : text(text), rest(text) { skipSpace(); }

  IndexNames names;
  /// The replica's name while a placement is read; it is the dim after the logical ones.
  std::string replicaName;

  Expected<IndexExpr> parseExpr();
  Error parseHead();
  Error parseOutputs(llvm::SmallVectorImpl<IndexExpr> &outputs);
  Error parsePlacement(ParsedPlacement &placement);
  Error expectEnd() { return rest.empty() ? Error::success() : fail("expected the end"); }
  Error expect(StringRef token) {
    return consume(token) ? Error::success() : fail("expected '" + token + "'");
  }

private:
  Expected<IndexExpr> parseXor();
  Expected<IndexExpr> parseSum();
  Expected<IndexExpr> parseProduct();
  Expected<IndexExpr> parseUnary();
  Expected<IndexExpr> parseOperand();
  Expected<IndexExpr> parseCall(Kind kind);
  Expected<IndexExpr> parseName(StringRef name, StringRef at);
  Expected<IndexExpr> parseNumber(bool negative);
  Expected<IndexExpr> parseLeftToRight(llvm::ArrayRef<std::pair<StringRef, Kind>> operators,
                                       llvm::function_ref<Expected<IndexExpr>()> parseNext);
  Error parseNewNames(llvm::SmallVectorImpl<std::string> &list, StringRef close);

  void skipSpace() { rest = rest.ltrim(); }
  bool consume(StringRef token);
  StringRef consumeName();
  /// Fails where an operator of Python stands that index expressions do not have.
  Error refuseForeignOperator();
  Error fail(const Twine &problem) { return failAt(rest, problem); }
  Error failAt(StringRef at, const Twine &problem);

  StringRef text; ///< All of it, for messages and columns.
  StringRef rest; ///< Not read yet; starts with no space.
  unsigned depth = 0;
};

bool isNameStart(char c) { return llvm::isAlpha(c) || c == '_'; }
bool isNamePart(char c) { return llvm::isAlnum(c) || c == '_'; }

bool Parser::consume(StringRef token) {
  if (!rest.starts_with(token))
    return false;
  // A word must end where it ends: `rep` does not start `repeat`.
  if (isNameStart(token.front()) && token.size() < rest.size() && isNamePart(rest[token.size()]))
    return false;
  rest = rest.drop_front(token.size());
  skipSpace();
  return true;
}

StringRef Parser::consumeName() {
  if (rest.empty() || !isNameStart(rest.front()))
    return {};
  StringRef name = rest.take_while(isNamePart);
  rest = rest.drop_front(name.size());
  skipSpace();
  return name;
}

Error Parser::failAt(StringRef at, const Twine &problem) {
  std::string found = "the end";
  if (!at.empty()) {
    StringRef token = isNamePart(at.front()) ? at.take_while(isNamePart) : at.take_front(1);
    found = "'" + token.str() + "'";
  }
  size_t column = at.data() - text.data() + 1;
  return llvm::createStringError("in '" + text + "', column " + Twine(column) + ": " + problem +
                                 ", got " + found);
}

Error Parser::refuseForeignOperator() {
  static constexpr std::pair<StringRef, StringRef> kForeign[] = {
      {"**", "'*'"}, {"<<", "'*'"}, {">>", "'//'"}, {"&", "'%'"}, {"/", "'//'"},
  };
  if (rest.starts_with("//"))
    return Error::success();
  for (auto [foreign, instead] : kForeign)
    if (rest.starts_with(foreign))
      return fail("expected " + instead + " in place of '" + foreign + "'");
  return Error::success();
}

Expected<IndexExpr> Parser::parseLeftToRight(llvm::ArrayRef<std::pair<StringRef, Kind>> operators,
                                             llvm::function_ref<Expected<IndexExpr>()> parseNext) {
  Expected<IndexExpr> first = parseNext();
  if (!first)
    return first;
  IndexExpr result = *first;
  while (true) {
    if (Error error = refuseForeignOperator())
      return error;
    StringRef at = rest;
    const auto *found = llvm::find_if(
        operators, [&](auto &op) { return !rest.starts_with("->") && consume(op.first); });
    if (found == operators.end())
      return result;
    Expected<IndexExpr> next = parseNext();
    if (!next)
      return next;
    result = IndexExpr::binary(found->second, result, *next);
    if (!result.isWithinLimits())
      return failAt(at, "expression has more than " + Twine(IndexExpr::kMaxDepth) + " levels or " +
                            Twine(IndexExpr::kMaxTreeSize) + " operations");
  }
}

Expected<IndexExpr> Parser::parseExpr() { return parseXor(); }

Expected<IndexExpr> Parser::parseXor() {
  return parseLeftToRight({{"^", Kind::Xor}}, [&] { return parseSum(); });
}

Expected<IndexExpr> Parser::parseSum() {
  return parseLeftToRight({{"+", Kind::Add}, {"-", Kind::Sub}}, [&] { return parseProduct(); });
}

Expected<IndexExpr> Parser::parseProduct() {
  return parseLeftToRight({{"*", Kind::Mul}, {"//", Kind::FloorDiv}, {"%", Kind::Mod}},
                          [&] { return parseUnary(); });
}

Expected<IndexExpr> Parser::parseUnary() {
  // Each nested operand passes here, so this is where runaway nesting is caught.
  if (++depth > IndexExpr::kMaxDepth)
    return fail("expression has more than " + Twine(IndexExpr::kMaxDepth) + " levels");
  llvm::scope_exit leave([&] { --depth; });
  if (!consume("-"))
    return parseOperand();
  if (!rest.empty() && llvm::isDigit(rest.front()))
    return parseNumber(/*negative=*/true);
  Expected<IndexExpr> positive = parseUnary();
  if (!positive)
    return positive;
  return 0 - *positive;
}

Expected<IndexExpr> Parser::parseOperand() {
  StringRef at = rest;
  if (consume("(")) {
    Expected<IndexExpr> inner = parseExpr();
    if (!inner)
      return inner;
    if (Error error = expect(")"))
      return error;
    return inner;
  }
  if (!rest.empty() && llvm::isDigit(rest.front()))
    return parseNumber(/*negative=*/false);
  StringRef name = consumeName();
  if (name.empty())
    return fail("expected a number, a name or '('");
  if (name == "min" && rest.starts_with("("))
    return parseCall(Kind::Min);
  if (name == "max" && rest.starts_with("("))
    return parseCall(Kind::Max);
  return parseName(name, at);
}

Expected<IndexExpr> Parser::parseCall(Kind kind) {
  if (Error error = expect("("))
    return error;
  Expected<IndexExpr> lhs = parseExpr();
  if (!lhs)
    return lhs;
  if (Error error = expect(","))
    return error;
  Expected<IndexExpr> rhs = parseExpr();
  if (!rhs)
    return rhs;
  if (Error error = expect(")"))
    return error;
  return IndexExpr::binary(kind, *lhs, *rhs);
}

Expected<IndexExpr> Parser::parseName(StringRef name, StringRef at) {
  if (const auto *dim = llvm::find(names.dims, name); dim != names.dims.end())
    return IndexExpr::dim(dim - names.dims.begin());
  if (!replicaName.empty() && name == replicaName)
    return IndexExpr::dim(names.dims.size());
  if (const auto *symbol = llvm::find(names.symbols, name); symbol != names.symbols.end())
    return IndexExpr::symbol(symbol - names.symbols.begin());
  llvm::SmallVector<std::string> known(names.dims.begin(), names.dims.end());
  if (!replicaName.empty())
    known.push_back(replicaName);
  known.append(names.symbols.begin(), names.symbols.end());
  if (known.empty())
    return failAt(at, "expected a number, as no names are declared");
  return failAt(at, "expected one of the names " + llvm::join(known, ", "));
}

Expected<IndexExpr> Parser::parseNumber(bool negative) {
  StringRef at = rest;
  StringRef digits = rest.take_while(llvm::isDigit);
  rest = rest.drop_front(digits.size());
  if (!rest.empty() && isNamePart(rest.front()))
    return fail("expected an operator after the number " + digits);
  skipSpace();
  std::string literal = (negative ? "-" : "") + digits.str();
  int64_t value;
  if (StringRef(literal).getAsInteger(10, value))
    return failAt(at, "expected a number that fits in 64 bits");
  return IndexExpr(value);
}

/// Reads `i, j` up to and with `close`, refusing a name that is taken.
Error Parser::parseNewNames(llvm::SmallVectorImpl<std::string> &list, StringRef close) {
  if (consume(close))
    return Error::success();
  while (true) {
    StringRef at = rest;
    StringRef name = consumeName();
    if (name.empty())
      return failAt(at, "expected a name");
    if (llvm::is_contained(names.dims, name) || llvm::is_contained(names.symbols, name))
      return failAt(at, "expected a name not used before");
    list.push_back(name.str());
    if (consume(close))
      return Error::success();
    if (!consume(","))
      return fail("expected ',' or '" + close + "'");
  }
}

/// Reads `(i, j)` and, if present, `[n]`.
Error Parser::parseHead() {
  if (Error error = expect("("))
    return error;
  if (Error error = parseNewNames(names.dims, ")"))
    return error;
  if (consume("["))
    return parseNewNames(names.symbols, "]");
  return Error::success();
}

/// Reads `(a, b)`.
Error Parser::parseOutputs(llvm::SmallVectorImpl<IndexExpr> &outputs) {
  if (Error error = expect("("))
    return error;
  if (consume(")"))
    return Error::success();
  while (true) {
    Expected<IndexExpr> output = parseExpr();
    if (!output)
      return output.takeError();
    outputs.push_back(*output);
    if (consume(")"))
      return Error::success();
    if (!consume(","))
      return fail("expected an operator, ',' or ')'");
  }
}

/// Reads what follows the head: `rep r of 2 -> thread a, slot b`.
Error Parser::parsePlacement(ParsedPlacement &placement) {
  if (consume("rep")) {
    StringRef at = rest;
    replicaName = consumeName().str();
    if (replicaName.empty() || llvm::is_contained(names.dims, replicaName))
      return failAt(at, "expected a new name for the replica index");
    if (Error error = expect("of"))
      return error;
    at = rest;
    Expected<IndexExpr> count = parseNumber(/*negative=*/false);
    if (!count)
      return count.takeError();
    placement.replicas = *count->getConstant();
    if (placement.replicas < 1)
      return failAt(at, "expected at least 1 replica");
  }
  if (Error error = expect("->"))
    return error;
  if (Error error = expect("thread"))
    return error;
  Expected<IndexExpr> thread = parseExpr();
  if (!thread)
    return thread.takeError();
  placement.thread = *thread;
  if (Error error = expect(","))
    return error;
  if (Error error = expect("slot"))
    return error;
  Expected<IndexExpr> slot = parseExpr();
  if (!slot)
    return slot.takeError();
  placement.slot = *slot;
  return Error::success();
}

} // namespace

Expected<IndexExpr> tilewright::parseIndexExpr(StringRef text, const IndexNames &names) {
  Parser parser(text);
  parser.names = names;
  Expected<IndexExpr> expr = parser.parseExpr();
  if (!expr)
    return expr;
  if (Error error = parser.expectEnd())
    return error;
  return expr;
}

Expected<ParsedMap> tilewright::parseIndexMap(StringRef text) {
  Parser parser(text);
  ParsedMap map;
  if (Error error = parser.parseHead())
    return error;
  if (Error error = parser.expect("->"))
    return error;
  if (Error error = parser.parseOutputs(map.outputs))
    return error;
  if (Error error = parser.expectEnd())
    return error;
  map.names = std::move(parser.names);
  return map;
}

Expected<ParsedPlacement> tilewright::parseIndexPlacement(StringRef text) {
  Parser parser(text);
  ParsedPlacement placement;
  if (Error error = parser.parseHead())
    return error;
  if (Error error = parser.parsePlacement(placement))
    return error;
  if (Error error = parser.expectEnd())
    return error;
  placement.names = std::move(parser.names);
  return placement;
}
