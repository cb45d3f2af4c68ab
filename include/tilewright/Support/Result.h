//===- Result.h - a value, or why there is none -------------------------------------*- C++ -*-===//
//
// What code without LLVM returns: the runtime of exported libraries (Rt) and what it needs from
// this room. Code with LLVM turns it into llvm::Expected (Support/ToError.h).
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SUPPORT_RESULT_H
#define TILEWRIGHT_SUPPORT_RESULT_H

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tilewright {

/// Why something could not be done, as a message for the user.
struct Failure {
  std::string message;
};

/// Of a function that has no value to give: nothing if all went well.
using MaybeFailure = std::optional<Failure>;

template <typename T> class [[nodiscard]] Result {
public:
  template <typename U>
    requires std::convertible_to<U, T>
  Result(U &&value) : content(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Failure failure) : content(std::in_place_index<1>, std::move(failure)) {}

  explicit operator bool() const { return content.index() == 0; }
  T &operator*() { return std::get<0>(content); }
  const T &operator*() const { return std::get<0>(content); }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }
  /// Of a result without a value.
  const Failure &getFailure() const { return std::get<1>(content); }
  Failure takeFailure() { return std::move(std::get<1>(content)); }

private:
  std::variant<T, Failure> content;
};

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_RESULT_H
