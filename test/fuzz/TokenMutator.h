//===- TokenMutator.h - changes a text token by token -------------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_TEST_FUZZ_TOKENMUTATOR_H
#define TILEWRIGHT_TEST_FUZZ_TOKENMUTATOR_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace tilewright::test {

/// A few random changes to the tokens of a textual IR: one deleted, doubled, exchanged with
/// another, or replaced by a number at the edge of its range or by a word of the dialect. Bytes
/// changed at random hardly ever get past the lexer.
std::string mutateTokens(llvm::StringRef text, uint64_t seed);

/// One of the programs of a lit test, those between `// -----` lines, without its comments: a
/// hundred small inputs take as long as the whole file.
std::string takePiece(llvm::StringRef text, uint64_t seed);

} // namespace tilewright::test

#endif // TILEWRIGHT_TEST_FUZZ_TOKENMUTATOR_H
