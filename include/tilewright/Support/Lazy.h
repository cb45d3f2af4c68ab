//===- Lazy.h - a value computed on first use, once, by any thread ----------------*- C++ -*-===//

#ifndef TILEWRIGHT_SUPPORT_LAZY_H
#define TILEWRIGHT_SUPPORT_LAZY_H

#include <mutex>
#include <optional>

namespace tilewright {

/// Holds a value that is computed by the first caller of `get` and shared by all later ones. The
/// function must give the same value whoever calls it.
template <typename T> class Lazy {
public:
  template <typename ComputeT> const T &get(ComputeT &&compute) const {
    std::call_once(computed, [&] { value.emplace(compute()); });
    return *value;
  }

private:
  mutable std::once_flag computed;
  mutable std::optional<T> value;
};

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_LAZY_H
