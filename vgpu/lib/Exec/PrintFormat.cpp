//===- PrintFormat.cpp - printf of the device, from its format and its arguments -------------===//
#include "PrintFormat.h"
#include <algorithm>
#include <bit>
#include <cstdio>
#include <vector>

namespace vgpu {

namespace {

/// The host's printf on one argument, of a conversion that has been checked.
template <class T> std::string printOne(const std::string &conversion, T value) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
  int length = std::snprintf(nullptr, 0, conversion.c_str(), value);
  if (length < 0)
    return "";
  std::vector<char> buffer(size_t(length) + 1);
  std::snprintf(buffer.data(), buffer.size(), conversion.c_str(), value);
#pragma clang diagnostic pop
  return std::string(buffer.data(), size_t(length));
}

/// Reads the conversions of a format one by one.
class FormatReader {
public:
  FormatReader(llvm::StringRef format, PrintArguments &arguments)
      : rest(format), arguments(arguments) {}
  std::string run();
  unsigned count = 0;

private:
  uint64_t next(unsigned bytes) {
    ++count;
    return arguments.next(bytes);
  }
  void takeNumber(std::string &conversion);
  std::string convert();
  llvm::StringRef rest;
  PrintArguments &arguments;
};

/// Widths and precisions beyond this are cut to it: they would print nothing but blanks.
constexpr int64_t maxField = 4096;

/// CUDA's limit; conversions of more arguments are printed as they stand in the format.
constexpr unsigned maxArguments = 32;

/// A width or precision: digits, or `*`, which is an argument.
void FormatReader::takeNumber(std::string &conversion) {
  if (rest.consume_front("*")) {
    int64_t number = static_cast<int32_t>(next(4));
    conversion += std::to_string(std::clamp(number, -maxField, maxField));
    return;
  }
  llvm::StringRef digits = rest.take_while([](char c) { return c >= '0' && c <= '9'; });
  rest = rest.drop_front(digits.size());
  int64_t number = 0;
  if (digits.getAsInteger(10, number) || number <= maxField)
    conversion += digits.size() <= 8 ? digits : llvm::StringRef("4096");
  else
    conversion += std::to_string(maxField);
}

/// What follows a '%'.
std::string FormatReader::convert() {
  llvm::StringRef begin = rest;
  std::string conversion = "%";
  llvm::StringRef flags =
      rest.take_while([](char c) { return llvm::StringRef("-+ #0").contains(c); });
  conversion += flags;
  rest = rest.drop_front(flags.size());
  takeNumber(conversion);
  if (rest.consume_front(".")) {
    conversion += '.';
    takeNumber(conversion);
  }
  bool isLong = false;
  llvm::StringRef size;
  for (llvm::StringRef length : {"hh", "h", "ll", "l", "j", "z", "t"})
    if (rest.consume_front(length)) {
      isLong = length[0] != 'h';
      size = isLong ? "ll" : length;
      break;
    }
  char kind = rest.empty() ? '\0' : rest.front();
  rest = rest.drop_front(rest.empty() ? 0 : 1);
  // Only integers have sizes: to the host's printf "%lld" is a long long, but "%llf" a long double
  // and "%lls" a text of wide characters. CUDA's prints a double and a text.
  if (llvm::StringRef("diuoxX").contains(kind))
    conversion += size;
  conversion += kind;
  switch (kind) {
  case '%':
    return "%";
  case 'd':
  case 'i':
    return isLong ? printOne(conversion, static_cast<long long>(next(8)))
                  : printOne(conversion, static_cast<int>(next(4)));
  case 'u':
  case 'o':
  case 'x':
  case 'X':
    return isLong ? printOne(conversion, static_cast<unsigned long long>(next(8)))
                  : printOne(conversion, static_cast<unsigned>(next(4)));
  case 'c':
    return printOne(conversion, static_cast<int>(next(4)));
  case 'f':
  case 'F':
  case 'e':
  case 'E':
  case 'g':
  case 'G':
  case 'a':
  case 'A':
    return printOne(conversion, std::bit_cast<double>(next(8)));
  case 'p':
    return printOne(conversion, reinterpret_cast<void *>(next(8)));
  case 's':
    return printOne(conversion, arguments.text(next(8)).c_str());
  default: // not a conversion
    return "%" + begin.drop_back(rest.size()).str();
  }
}

std::string FormatReader::run() {
  std::string text;
  while (!rest.empty()) {
    size_t percent = rest.find('%');
    text += rest.take_front(percent);
    rest = rest.drop_front(std::min(percent, rest.size()));
    if (rest.consume_front("%"))
      text += count < maxArguments ? convert() : "%";
  }
  return text;
}

} // namespace

std::string formatPrint(llvm::StringRef format, PrintArguments &arguments, unsigned &count) {
  FormatReader reader(format, arguments);
  std::string text = reader.run();
  count = reader.count;
  return text;
}

} // namespace vgpu
