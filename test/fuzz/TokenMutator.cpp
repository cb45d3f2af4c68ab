//===- TokenMutator.cpp - changes a text token by token ---------------------------------------===//

#include "TokenMutator.h"
#include "tilewright/Support/SeededRandom.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <vector>

using namespace llvm;
using namespace tilewright;

/// Words, numbers with their sign, whole strings, and single marks; blanks are marks.
static std::vector<std::string> split(StringRef text) {
  std::vector<std::string> tokens;
  auto isWord = [](char c) { return isAlnum(c) || c == '_' || c == '.' || c == '$'; };
  while (!text.empty()) {
    size_t length = 1;
    if (isWord(text[0]) ||
        (StringRef("%#@!^-").contains(text[0]) && text.size() > 1 && isWord(text[1])))
      length += text.drop_front().take_while(isWord).size();
    else if (text[0] == '"')
      length = std::min(text.size(),
                        text.find('"', 1) == StringRef::npos ? text.size() : text.find('"', 1) + 1);
    tokens.push_back(text.take_front(length).str());
    text = text.drop_front(length);
  }
  return tokens;
}

static const StringRef kWords[] = {"tile.kernel",
                                   "tile.parallel",
                                   "tile.pipelined",
                                   "tile.alloc",
                                   "tile.slice",
                                   "tile.view",
                                   "tile.load",
                                   "tile.store",
                                   "tile.copy",
                                   "tile.fill",
                                   "tile.gemm",
                                   "tile.reduce",
                                   "tile.cumsum",
                                   "tile.atomic",
                                   "tile.atomic_element",
                                   "tile.reducer_update",
                                   "tile.finalize_reducer",
                                   "tile.im2col",
                                   "tile.annotate_layout",
                                   "tile.annotate_safe_value",
                                   "tile.use_swizzle",
                                   "tile.hint",
                                   "tile.assume",
                                   "tile.print",
                                   "tile.assert",
                                   "tile.floordiv",
                                   "tile.floormod",
                                   "tile.truncdiv",
                                   "tile.truncmod",
                                   "tile.shl",
                                   "tile.shr",
                                   "tile.cast",
                                   "tile.bitcast",
                                   "tile.yield",
                                   "scf.if",
                                   "scf.for",
                                   "arith.addi",
                                   "arith.muli",
                                   "index",
                                   "f32",
                                   "f16",
                                   "i1",
                                   "i8",
                                   "ui8",
                                   "f8E4M3FN",
                                   "tf32",
                                   "vector<4xf32>",
                                   "tensor<?xf32>",
                                   "memref<*xf32>",
                                   "memref<f32, #tile.space<local>>",
                                   "memref<?x4xf32, #tile.space<global>>",
                                   "memref<8xf32, #tile.space<shared>>",
                                   "#tile.space<fragment>",
                                   "()",
                                   "({})",
                                   "unit",
                                   "array<i64: 1, 2>",
                                   "dense<0> : tensor<2xi32>",
                                   "0",
                                   "1",
                                   "-1",
                                   "2",
                                   "4096",
                                   "9223372036854775807",
                                   "-9223372036854775808",
                                   "18446744073709551616",
                                   "4611686018427387904"};

std::string test::takePiece(StringRef text, uint64_t seed) {
  SmallVector<StringRef> pieces, lines;
  text.split(pieces, "// -----");
  SeededRandom random(seed);
  pieces[random.uniform(0, pieces.size() - 1)].split(lines, "\n");
  llvm::erase_if(lines, [](StringRef line) { return line.ltrim().starts_with("//"); });
  return join(lines, "\n");
}

std::string test::mutateTokens(StringRef text, uint64_t seed) {
  SeededRandom random(seed);
  std::vector<std::string> tokens = split(text);
  if (tokens.empty())
    tokens.push_back("module");
  for (int64_t count = random.uniform(1, 4); count > 0 && !tokens.empty(); --count) {
    size_t at = random.uniform(0, tokens.size() - 1), other = random.uniform(0, tokens.size() - 1);
    switch (random.uniform(0, 5)) {
    case 0:
      tokens.erase(tokens.begin() + at);
      break;
    case 1:
      tokens.insert(tokens.begin() + at, tokens[other]);
      break;
    case 2:
      std::swap(tokens[at], tokens[other]);
      break;
    case 3:
      tokens[at] = tokens[other];
      break;
    default: { // words only in the place of words
      for (size_t tries = 0; tries < 8 && tokens[at].size() < 2; ++tries)
        at = random.uniform(0, tokens.size() - 1);
      tokens[at] = random.pick<StringRef>(kWords).str();
      break;
    }
    }
  }
  return join(tokens, "");
}
