//===- ParseLayout.cpp - any text given to the parser of layouts ------------------------------===//
//
// The first byte chooses the kind of text and the extents. What is refused has a message; what is
// accepted prints, parses again and prints the same. Layouts of small shapes are asked what passes
// ask: inverses, contiguity, injectivity, pictures.
//
//   layout-fuzz corpus/ test/fuzz/layouts -max_total_time=60
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Layout/Layout.h"
#include "tilewright/Layout/Notation.h"
#include "tilewright/Layout/Questions.h"

#include "llvm/Support/raw_ostream.h"

using namespace tilewright;

[[noreturn]] static void complain(llvm::StringRef what, llvm::StringRef text) {
  llvm::errs() << "layout-fuzz: " << what << "\n" << text << "\n";
  abort();
}

/// The message of an error must not be empty; the value, if there is one.
template <typename T> static std::optional<T> take(llvm::Expected<T> value, llvm::StringRef text) {
  if (value)
    return std::move(*value);
  if (llvm::toString(value.takeError()).empty())
    complain("refused without a word", text);
  return std::nullopt;
}

static std::string print(const ParsedMap &map) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printIndexNames(os, map.names);
  os << " -> ";
  printIndexExprs(os, map.outputs, map.names);
  return text;
}

static void tryMap(llvm::StringRef text) {
  std::optional<ParsedMap> map = take(parseIndexMap(text), text);
  if (!map)
    return;
  std::string first = print(*map);
  llvm::Expected<ParsedMap> again = parseIndexMap(first);
  if (!again)
    complain("what was printed does not parse: " + llvm::toString(again.takeError()), first);
  if (std::string second = print(*again); second != first)
    complain("printing again differs: " + second, first);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1)
    return 0;
  llvm::StringRef text(reinterpret_cast<const char *>(data + 1), size - 1);
  if (text.size() > 400)
    return 0; // proofs about longer ones take their time
  switch (data[0] % 3) {
  case 0:
    tryMap(text);
    break;
  case 1:
    (void)take(parseIndexPlacement(text), text);
    break;
  default:
    (void)take(parseIndexExpr(text, IndexNames::defaults(3, 1)), text);
  }
  return 0;
}
