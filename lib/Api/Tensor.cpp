//===- Tensor.cpp - tensors and errors of the C++ interface -----------------------------------===//

#include "tilewright/tilewright.h"

#include <array>
#include <cstdlib>
#include <cstring>

#ifndef TW_RELEASE
#define TW_RELEASE "0"
#endif

namespace tw {

static std::string describe(const Location &location) {
  if (!location.line)
    return "";
  return location.file + ":" + std::to_string(location.line) + ":" +
         std::to_string(location.column) + ": ";
}

std::string Error::str() const {
  std::string text = describe(location) + "error: " + message;
  for (const Note &note : notes)
    text += "\n" + describe(note.location) + "note: " + note.message;
  return text;
}

std::string Finding::str() const {
  static constexpr std::array<const char *, 3> names = {"error", "finding", "note"};
  std::string text = describe(location) + names[size_t(severity)] + ": " + message;
  if (count > 1)
    text += " (" + std::to_string(count) + " times)";
  return text + " [" + kind + "]";
}

static constexpr std::array<std::pair<std::string_view, size_t>, 15> kTypes = {{
    {"bool", 1},
    {"int8", 1},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"uint8", 1},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"float8_e4m3fn", 1},
    {"float8_e5m2", 1},
    {"float16", 2},
    {"bfloat16", 2},
    {"float32", 4},
    {"float64", 8},
}};

std::string_view name(DType dtype) { return kTypes[size_t(dtype)].first; }
size_t size_of(DType dtype) { return kTypes[size_t(dtype)].second; }

size_t Tensor::size() const {
  size_t count = 1;
  for (int64_t extent : extents)
    count *= extent > 0 ? size_t(extent) : 0;
  return count;
}

Tensor Tensor::view(void *data, DType dtype, Shape shape) {
  Tensor tensor;
  tensor.memory = data;
  tensor.extents = std::move(shape);
  tensor.type = dtype;
  return tensor;
}

Tensor Tensor::view_on_gpu(void *data, DType dtype, Shape shape) {
  Tensor tensor = view(data, dtype, std::move(shape));
  tensor.isOnGpu = true;
  return tensor;
}

Tensor Tensor::zeros(DType dtype, Shape shape) {
  Tensor tensor = view(nullptr, dtype, std::move(shape));
  size_t bytes = (tensor.bytes() + 127) / 64 * 64;
  void *memory = std::aligned_alloc(64, bytes);
  if (!memory)
    throw std::bad_alloc();
  std::memset(memory, 0, bytes);
  tensor.owner = std::shared_ptr<void>(memory, std::free);
  tensor.memory = memory;
  return tensor;
}

Tensor Tensor::clone() const {
  Tensor copy = zeros(type, extents);
  if (!isOnGpu && memory)
    std::memcpy(copy.memory, memory, bytes());
  return copy;
}

const char *version() { return TW_RELEASE; }

} // namespace tw
