//===- ParserImpl.h - the recursive-descent parser of PTX ------------------------------===//
//
// Split over three files: Parser.cpp (module level), ParseDeclaration.cpp (variables, registers,
// initializers) and ParseBody.cpp (scopes, instructions, operands). Every parse function returns
// false after recording the first error; later errors are consequences and are not kept.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_LIB_PTX_PARSERIMPL_H
#define VGPU_LIB_PTX_PARSERIMPL_H

#include "vgpu/Ptx/Lexer.h"
#include "vgpu/Ptx/Parser.h"
#include "llvm/ADT/Twine.h"

namespace vgpu::ptx {

class Parser {
public:
  Parser(llvm::StringRef text, llvm::StringRef fileName);
  bool parse();
  std::unique_ptr<Module> take() { return std::move(module); }
  const std::string &message() const { return error; }

private:
  // --- tokens
  void advance();
  bool fail(const llvm::Twine &message);
  bool failAt(uint32_t line, const llvm::Twine &message);
  bool expect(llvm::StringRef punct);
  bool accept(llvm::StringRef punct);
  bool acceptDotted(llvm::StringRef word);
  bool expectInteger(uint64_t &value);
  bool expectIdentifier(std::string &name);

  // --- Parser.cpp: module level
  bool parseTopLevel();
  bool parseDirective(llvm::StringRef word);
  bool parseFile();
  bool skipSection();
  bool parseFunction(bool isEntry);
  bool parseFormals(std::vector<Function::Formal> &formals);
  bool parsePerformanceDirectives();
  bool skipToSemicolon();

  // --- ParseDeclaration.cpp
  struct DeclaratorPrefix {
    Space space;
    Type type = Type::None;
    unsigned vectorWidth = 1;
    uint32_t alignBytes = 0;
    bool isExtern = false;
  };
  bool parseVariables(Space space, bool isExtern);
  bool parsePrefix(DeclaratorPrefix &prefix);
  bool parseDeclarator(const DeclaratorPrefix &prefix, Variable &variable);
  bool parseInitializer(Variable &variable);
  bool parseInitializerValue(Variable &variable, uint64_t &offset);
  bool parseRegisters();
  bool parseConstant(Operand &operand);
  bool parseConstantInteger(int64_t &value, unsigned least = 1);
  bool parseConstantTerm(int64_t &value);
  bool addVariable(std::unique_ptr<Variable> variable);

  // --- ParseBody.cpp
  bool parseBlock();
  bool parseStatement();
  bool parseLoc();
  bool parseLabelOrInstruction();
  bool parseBranchTargets(llvm::StringRef name);
  bool parseInstruction(Instruction &instruction);
  bool parseOperand(Operand &operand);
  bool parsePrimary(Operand &operand);
  bool parseName(Operand &operand);
  bool parseAddress(Operand &operand);

  // --- scopes
  struct Symbol {
    enum Kind { Reg, Var, TargetList } kind;
    uint32_t index;
    const Variable *variable;
  };
  struct LabelUse {
    std::string name;
    uint32_t line;
    bool inTargetList;
    uint32_t instruction, operand; ///< or: list, position
  };
  struct Scope {
    llvm::StringMap<Symbol> symbols;
    llvm::StringMap<uint32_t> labels;
    std::vector<LabelUse> uses;
  };
  const Symbol *lookup(llvm::StringRef name) const;
  bool closeScope();
  bool declareRegister(llvm::StringRef name, Type type);

  Lexer lexer;
  Token token, ahead;
  std::unique_ptr<Module> module;
  std::string error;
  Function *function = nullptr;
  std::vector<Scope> scopes;
  SourceLoc currentLoc;
  Instruction *currentInstruction = nullptr;
  uint64_t numRegisters = 0; ///< of all functions so far
  unsigned depth = 0;        ///< of nested blocks and constants: garbage must not exhaust the stack
  unsigned operandDepth = 0; ///< 1 in a direct operand of an instruction, more inside it
};

} // namespace vgpu::ptx

#endif // VGPU_LIB_PTX_PARSERIMPL_H
