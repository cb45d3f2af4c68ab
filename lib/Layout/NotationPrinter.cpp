//===- NotationPrinter.cpp - write index expressions with few parentheses -------------------===//

#include "tilewright/Layout/Notation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilewright;
using Kind = IndexExpr::Kind;

IndexNames IndexNames::defaults(unsigned numDims, unsigned numSymbols) {
  static constexpr llvm::StringLiteral kFewNames = "ijklmn";
  IndexNames names;
  for (unsigned dim = 0; dim < numDims; ++dim)
    names.dims.push_back(numDims <= kFewNames.size() ? std::string(1, kFewNames[dim])
                                                     : "d" + std::to_string(dim));
  for (unsigned symbol = 0; symbol < numSymbols; ++symbol)
    names.symbols.push_back("s" + std::to_string(symbol));
  return names;
}

namespace {

/// How tightly an expression holds together; an operand that binds looser gets parentheses.
enum Precedence { kXor, kSum, kProduct, kUnary, kOperand };

Precedence precedenceOf(const IndexExpr &expr) {
  switch (expr.getKind()) {
  case Kind::Xor:
    return kXor;
  case Kind::Sub:
    return expr.getLhs().isConstant(0) ? kUnary : kSum;
  case Kind::Add:
    return kSum;
  case Kind::Mul:
  case Kind::FloorDiv:
  case Kind::Mod:
    return kProduct;
  case Kind::Constant: // a negative literal is read as one operand: -4 * i
  case Kind::Dim:
  case Kind::Symbol:
  case Kind::Min:
  case Kind::Max:
    return kOperand;
  }
  llvm_unreachable("unknown kind of expression");
}

llvm::StringRef operatorOf(Kind kind) {
  switch (kind) {
  case Kind::Add:
    return " + ";
  case Kind::Sub:
    return " - ";
  case Kind::Mul:
    return " * ";
  case Kind::FloorDiv:
    return " // ";
  case Kind::Mod:
    return " % ";
  case Kind::Xor:
    return " ^ ";
  default:
    llvm_unreachable("not written with an operator");
  }
}

class Printer {
public:
  Printer(llvm::raw_ostream &os, const IndexNames &names) : os(os), names(names) {}

  /// Writes `expr` where an operand must bind at least as tightly as `least`.
  void print(const IndexExpr &expr, Precedence least) {
    Precedence own = precedenceOf(expr);
    if (own < least) {
      os << '(';
      print(expr, kXor);
      os << ')';
      return;
    }
    switch (expr.getKind()) {
    case Kind::Constant:
      os << *expr.getConstant();
      return;
    case Kind::Dim:
      return printName(names.dims, 'd', expr.getPosition());
    case Kind::Symbol:
      return printName(names.symbols, 's', expr.getPosition());
    case Kind::Min:
    case Kind::Max:
      os << (expr.getKind() == Kind::Min ? "min(" : "max(");
      print(expr.getLhs(), kXor);
      os << ", ";
      print(expr.getRhs(), kXor);
      os << ')';
      return;
    default:
      break;
    }
    if (own == kUnary) {
      os << '-';
      print(expr.getRhs(), kUnary);
      return;
    }
    print(expr.getLhs(), own);
    os << operatorOf(expr.getKind());
    print(expr.getRhs(), static_cast<Precedence>(own + 1)); // operators associate to the left
  }

private:
  void printName(llvm::ArrayRef<std::string> given, char letter, unsigned position) {
    if (position < given.size())
      os << given[position];
    else
      os << letter << position;
  }

  llvm::raw_ostream &os;
  const IndexNames &names;
};

} // namespace

void tilewright::printIndexExpr(llvm::raw_ostream &os, const IndexExpr &expr,
                                const IndexNames &names) {
  Printer(os, names).print(expr, kXor);
}

std::string tilewright::toString(const IndexExpr &expr, const IndexNames &names) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printIndexExpr(os, expr, names);
  return text;
}

void tilewright::printIndexExprs(llvm::raw_ostream &os, llvm::ArrayRef<IndexExpr> exprs,
                                 const IndexNames &names) {
  os << '(';
  llvm::interleaveComma(exprs, os, [&](const IndexExpr &expr) { printIndexExpr(os, expr, names); });
  os << ')';
}

void tilewright::printIndexNames(llvm::raw_ostream &os, const IndexNames &names) {
  os << '(' << llvm::join(names.dims, ", ") << ')';
  if (!names.symbols.empty())
    os << '[' << llvm::join(names.symbols, ", ") << ']';
}
