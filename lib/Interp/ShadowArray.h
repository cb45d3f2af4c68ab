//===- ShadowArray.h - zeroed memory that costs only what is touched --------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_INTERP_SHADOWARRAY_H
#define TILEWRIGHT_LIB_INTERP_SHADOWARRAY_H

#include <cstddef>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <type_traits>
#include <utility>

namespace tilewright::interp {

/// An array of zeroed elements. Large ones are mapped without reserving memory, so that the shadow
/// of a tensor of gigabytes costs the pages that a program really touches.
template <typename T> class ShadowArray {
  static_assert(std::is_trivially_copyable_v<T>, "all-zero bytes must be a value");

public:
  ShadowArray() = default;
  explicit ShadowArray(size_t count) : count(count) {
    if (count == 0)
      return;
    if (isMapped()) {
      void *memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      elements = memory == MAP_FAILED ? nullptr : static_cast<T *>(memory);
    } else {
      elements = static_cast<T *>(std::calloc(count, sizeof(T)));
    }
    if (!elements)
      throw std::bad_alloc();
  }
  ShadowArray(ShadowArray &&other) noexcept
      : elements(std::exchange(other.elements, nullptr)), count(std::exchange(other.count, 0)) {}
  ShadowArray &operator=(ShadowArray &&other) noexcept {
    std::swap(elements, other.elements);
    std::swap(count, other.count);
    return *this;
  }
  ~ShadowArray() {
    if (elements && isMapped())
      munmap(elements, count * sizeof(T));
    else
      std::free(elements);
  }

  bool empty() const { return count == 0; }
  size_t size() const { return count; }
  T *data() { return elements; }
  const T *data() const { return elements; }
  T &operator[](size_t position) { return elements[position]; }
  const T &operator[](size_t position) const { return elements[position]; }

private:
  static constexpr size_t kMapBytes = size_t(1) << 20;
  bool isMapped() const { return count * sizeof(T) >= kMapBytes; }

  T *elements = nullptr;
  size_t count = 0;
};

} // namespace tilewright::interp

#endif // TILEWRIGHT_LIB_INTERP_SHADOWARRAY_H
