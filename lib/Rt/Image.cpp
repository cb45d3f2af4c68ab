//===- Image.cpp - what an exported library says about its kernels ----------------------------===//
//
// One function a struct lists its fields; the writer and the reader walk the same list. Numbers have
// 8 bytes, lists and texts their length first. A checksum comes first of all.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Rt/Image.h"

#include <algorithm>
#include <cstring>

namespace tilewright::rt {
namespace {

template <typename A> void fields(A &a, Formula::Step &s) { a(s.op, s.value); }
template <typename A> void fields(A &a, Extent &e) {
  a(e.formula, e.text, e.symbol, e.factor, e.constant, e.divisor, e.isKnown);
}
template <typename A> void fields(A &a, Parameter &p) {
  a(p.name, p.dtype, p.numberClass, p.bits, p.elementBytes, p.isTensor, p.isUsed, p.isWritten,
    p.extents, p.shapeText, p.strides, p.positions, p.layoutText);
}
template <typename A> void fields(A &a, Symbol &s) { a(s.name, s.isUsed, s.isStride); }
template <typename A> void fields(A &a, Signature &s) {
  a(s.name, s.parameters, s.symbols, s.numSymbolArguments);
}
template <typename A> void fields(A &a, TensorMapRecipe &m) {
  a(m.argument, m.type, m.extents, m.strideBytes, m.box, m.steps, m.swizzleBytes, m.fillsNan,
    m.promotionBytes);
}
template <typename A> void fields(A &a, GpuKernel &k) {
  a(k.name, k.numThreads, k.sharedBytes, k.maps, k.overlapsLaunch);
}
template <typename A> void fields(A &a, LaunchFormulas::Workspace &w) {
  a(w.name, w.elementBytes, w.extents);
}
template <typename A> void fields(A &a, LaunchFormulas &l) { a(l.grids, l.workspaces); }
template <typename A> void fields(A &a, CpuFeatures &f) {
  for (uint32_t &word : f.words)
    a(word);
}
template <typename A> void fields(A &a, CpuVariant &v) {
  a(v.target, v.needs, v.assumesDisjoint, v.entry);
}
template <typename A> void fields(A &a, GpuVariant &v) {
  a(v.arch, v.version, v.isExact, v.assumesDisjoint, v.alignment, v.divisible, v.kernels,
    v.launches, v.code);
}
template <typename A> void fields(A &a, Form &f) {
  a(f.signature, f.dependsOnBlockOrder, f.isDeterministic, f.cpu, f.gpu);
}
template <typename A> void fields(A &a, Function &f) { a(f.name, f.forms); }
template <typename A> void fields(A &a, Image &i) { a(i.release, i.functions); }

template <typename T>
concept Number = std::is_integral_v<T> || std::is_enum_v<T>;

class Writer {
public:
  template <typename... Ts> void operator()(Ts &...values) { (write(values), ...); }
  std::string take() { return std::move(bytes); }

private:
  template <typename T> void write(T &value) {
    if constexpr (Number<T>) {
      auto number = uint64_t(value);
      bytes.append(reinterpret_cast<const char *>(&number), sizeof(number));
    } else {
      fields(*this, value);
    }
  }
  void writeCount(uint64_t count) { write(count); }
  void write(std::string &text) {
    writeCount(text.size());
    bytes += text;
  }
  template <typename T> void write(std::vector<T> &values) {
    writeCount(values.size());
    for (T &value : values)
      write(value);
  }
  template <typename T> void write(std::optional<T> &value) {
    writeCount(value.has_value());
    if (value)
      write(*value);
  }
  void write(Formula &formula) {
    std::vector<Formula::Step> steps(formula.getSteps().begin(), formula.getSteps().end());
    write(steps);
  }

  std::string bytes;
};

class Reader {
public:
  explicit Reader(std::span<const unsigned char> bytes) : bytes(bytes) {}
  template <typename... Ts> void operator()(Ts &...values) { (read(values), ...); }
  /// Whether all was there, and nothing more.
  bool isGood() const { return !hasFailed && bytes.empty(); }

private:
  template <typename T> void read(T &value) {
    if constexpr (Number<T>) {
      uint64_t number = 0;
      if (bytes.size() < sizeof(number))
        return fail();
      std::memcpy(&number, bytes.data(), sizeof(number));
      bytes = bytes.subspan(sizeof(number));
      value = T(number);
      hasFailed |= uint64_t(value) != number;
    } else {
      fields(*this, value);
    }
  }
  uint64_t readCount() {
    uint64_t count = 0;
    read(count);
    if (count > bytes.size()) // whatever is counted has at least a byte
      fail();
    return hasFailed ? 0 : count;
  }
  void read(std::string &text) {
    uint64_t count = readCount();
    text.assign(reinterpret_cast<const char *>(bytes.data()), count);
    bytes = bytes.subspan(count);
  }
  template <typename T> void read(std::vector<T> &values) {
    uint64_t count = readCount();
    values.clear();
    for (uint64_t position = 0; position < count && !hasFailed; ++position)
      read(values.emplace_back());
  }
  template <typename T> void read(std::optional<T> &value) {
    if (readCount())
      read(value.emplace());
  }
  void read(Formula &formula) {
    std::vector<Formula::Step> steps;
    read(steps);
    std::optional<Formula> made = Formula::make(std::move(steps));
    if (!made)
      return fail();
    formula = std::move(*made);
  }
  void fail() { hasFailed = true, bytes = {}; }

  std::span<const unsigned char> bytes;
  bool hasFailed = false;
};

/// FNV-1a over words of 8 bytes: a damaged file is noticed, nothing more is promised.
uint64_t sum(std::span<const unsigned char> bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  while (!bytes.empty()) {
    uint64_t word = 0;
    size_t count = std::min(bytes.size(), sizeof(word));
    std::memcpy(&word, bytes.data(), count);
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 32;
    bytes = bytes.subspan(count);
  }
  return hash;
}

std::span<const unsigned char> asBytes(std::string_view text) {
  return {reinterpret_cast<const unsigned char *>(text.data()), text.size()};
}

/// Whether the numbers of a form name what exists.
bool isConsistent(const Form &form, unsigned numEntries) {
  const Signature &signature = form.signature;
  size_t numSymbols = signature.symbols.size();
  auto areGood = [&](const std::vector<Extent> &extents) {
    return std::ranges::all_of(extents, [&](const Extent &extent) {
      return extent.formula.getNumSymbols() <= numSymbols &&
             (extent.factor == 0 || extent.symbol < numSymbols) && extent.divisor > 0;
    });
  };
  return signature.numSymbolArguments <= numSymbols &&
         std::ranges::all_of(signature.parameters,
                             [&](const Parameter &parameter) {
                               return areGood(parameter.extents) && areGood(parameter.strides) &&
                                      parameter.elementBytes > 0;
                             }) &&
         std::ranges::all_of(form.cpu,
                             [&](const CpuVariant &code) { return code.entry < numEntries; }) &&
         std::ranges::all_of(form.gpu, [&](const GpuVariant &code) {
           return std::ranges::all_of(
                      code.divisible,
                      [&](unsigned symbol) { return symbol < signature.numSymbolArguments; }) &&
                  code.alignment > 0 && !code.code.empty() &&
                  std::ranges::all_of(code.launches.grids,
                                      [](const auto &grid) { return grid.size() <= 3; });
         });
}

} // namespace

std::string writeImage(const Image &image) {
  Writer writer;
  writer(const_cast<Image &>(image)); // it only reads
  std::string content = writer.take();
  uint64_t check = sum(asBytes(content));
  return std::string(reinterpret_cast<const char *>(&check), sizeof(check)) + content;
}

Result<Image> readImage(std::span<const unsigned char> bytes, unsigned numEntries) {
  uint64_t check = 0;
  if (bytes.size() >= sizeof(check)) {
    std::memcpy(&check, bytes.data(), sizeof(check));
    bytes = bytes.subspan(sizeof(check));
    Reader reader(bytes);
    Image image;
    if (check == sum(bytes))
      reader(image);
    bool isGood = check == sum(bytes) && reader.isGood();
    for (const Function &function : image.functions)
      for (const Form &form : function.forms)
        isGood &= isConsistent(form, numEntries);
    if (isGood)
      return image;
  }
  return Failure{"its description is damaged"};
}

} // namespace tilewright::rt
