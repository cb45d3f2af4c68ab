//===- DenseCopies.cpp - strided tensors of a call as dense ones ------------------------------===//

#include "tilewright/Rt/DenseCopies.h"

#include <algorithm>
#include <cstring>

namespace tilewright::rt {

static bool isDense(const Argument &tensor) {
  int64_t expected = 1;
  for (size_t dim = tensor.shape.size(); dim-- > 0 && !tensor.strides.empty();) {
    if (tensor.shape[dim] == 0)
      return true; // without elements, any strides will do
    if (tensor.shape[dim] != 1 && tensor.strides[dim] != expected)
      return false;
    expected *= tensor.shape[dim];
  }
  return true;
}

/// Calls `function` with the offset of each element of the tensor, in row-major order, until it
/// returns false.
template <typename F> static bool forElements(const Argument &tensor, F function) {
  std::vector<int64_t> index(tensor.shape.size(), 0);
  int64_t offset = 0;
  while (true) {
    if (!function(offset))
      return false;
    size_t dim = tensor.shape.size();
    for (; dim > 0; --dim) {
      int64_t stride = tensor.strides[dim - 1];
      offset += stride;
      if (++index[dim - 1] < tensor.shape[dim - 1])
        break;
      offset -= tensor.shape[dim - 1] * stride;
      index[dim - 1] = 0;
    }
    if (dim == 0)
      return true;
  }
}

namespace {
/// The bytes from the first element of a tensor to the last one.
struct Span {
  uint64_t begin, end;

  static Span of(const Argument &tensor, int64_t elementBytes) {
    int64_t first = 0, last = 0;
    for (size_t dim = 0; dim < tensor.strides.size(); ++dim) {
      int64_t farthest = (tensor.shape[dim] - 1) * tensor.strides[dim] * elementBytes;
      (farthest < 0 ? first : last) += farthest;
    }
    auto base = reinterpret_cast<uint64_t>(tensor.data);
    return {base + first, base + last + elementBytes};
  }
};
} // namespace

/// Whether an element of `tensor` has a byte in common with `other`. Of dense tensors, the span says
/// it; the elements of a strided one are marked in a map of its bytes.
static bool shareElements(const Argument &tensor, int64_t elementBytes, const Argument &other,
                          Span otherSpan, int64_t otherBytes) {
  Span span = Span::of(tensor, elementBytes);
  if (span.begin >= otherSpan.end || otherSpan.begin >= span.end)
    return false;
  std::vector<bool> isTouched(span.end - span.begin);
  auto base = reinterpret_cast<uint64_t>(tensor.data);
  forElements(tensor, [&](int64_t offset) {
    size_t first = base + offset * elementBytes - span.begin;
    std::fill_n(isTouched.begin() + first, elementBytes, true);
    return true;
  });
  auto isFree = [&](uint64_t address) {
    for (int64_t byte = 0; byte < otherBytes; ++byte)
      if (address + byte >= span.begin && address + byte < span.end &&
          isTouched[address + byte - span.begin])
        return false;
    return true;
  };
  if (!isDense(other)) {
    auto start = reinterpret_cast<uint64_t>(other.data);
    return !forElements(other, [&](int64_t offset) { return isFree(start + offset * otherBytes); });
  }
  for (uint64_t address = std::max(otherSpan.begin, span.begin);
       address < std::min(otherSpan.end, span.end); ++address)
    if (isTouched[address - span.begin])
      return true;
  return false;
}

void DenseCopies::mark(const Signature &signature, std::span<Argument> arguments) {
  for (size_t position = 0; position < arguments.size(); ++position) {
    Argument &argument = arguments[position];
    argument.isPacked = position < signature.parameters.size() &&
                        argument.kind == Argument::Kind::Tensor && !argument.isOnGpu &&
                        !signature.parameters[position].strides.empty() &&
                        argument.shape.size() == argument.strides.size() && !isDense(argument);
  }
}

/// A tensor of the call that shares an element with `tensor`, which is to be copied, while the kernel
/// writes one of the two; null if there is none.
static const Binding::Tensor *findShared(const Binding::Tensor &tensor,
                                         std::span<const Argument> arguments,
                                         const Binding &binding) {
  for (const Binding::Tensor &other : binding.tensors) {
    if (&other == &tensor || other.bytes == 0 || (!tensor.isWritten && !other.isWritten))
      continue;
    const Argument &argument = arguments[other.position];
    auto address = reinterpret_cast<uint64_t>(argument.data);
    Span span = argument.isPacked ? Span::of(argument, other.elementBytes)
                                  : Span{address, address + other.bytes};
    if (shareElements(arguments[tensor.position], tensor.elementBytes, argument, span,
                      other.elementBytes))
      return &other;
  }
  return nullptr;
}

MaybeFailure DenseCopies::make(const Signature &signature, std::span<const Argument> arguments,
                               Binding &binding) {
  std::vector<const Binding::Tensor *> packed;
  for (const Binding::Tensor &tensor : binding.tensors)
    if (arguments[tensor.position].isPacked && tensor.bytes != 0)
      packed.push_back(&tensor);
  for (const Binding::Tensor *tensor : packed)
    if (const Binding::Tensor *other = findShared(*tensor, arguments, binding)) {
      auto [first, second] = std::minmax(tensor->position, other->position);
      return Failure{"parameter '" + signature.parameters[second].name + "': shares memory with '" +
                     signature.parameters[first].name +
                     "', and the kernel writes one of them; pass a copy"};
    }
  for (const Binding::Tensor *tensor : packed) {
    const Argument &argument = arguments[tensor->position];
    Copy &copy = copies.emplace_back();
    copy = {&argument, std::make_unique<char[]>(tensor->bytes), tensor->elementBytes,
            tensor->isWritten};
    char *to = copy.memory.get();
    forElements(argument, [&](int64_t offset) {
      std::memcpy(to, static_cast<char *>(argument.data) + offset * tensor->elementBytes,
                  tensor->elementBytes);
      to += tensor->elementBytes;
      return true;
    });
    binding.slots[tensor->position] = reinterpret_cast<uint64_t>(copy.memory.get());
  }
  return std::nullopt;
}

void DenseCopies::writeBack() const {
  for (const Copy &copy : copies) {
    if (!copy.isWritten)
      continue;
    const char *from = copy.memory.get();
    forElements(*copy.original, [&](int64_t offset) {
      std::memcpy(static_cast<char *>(copy.original->data) + offset * copy.elementBytes, from,
                  copy.elementBytes);
      from += copy.elementBytes;
      return true;
    });
  }
}

} // namespace tilewright::rt
