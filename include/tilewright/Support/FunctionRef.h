//===- FunctionRef.h - a reference to a callable, without LLVM ----------------------*- C++ -*-===//

#ifndef TILEWRIGHT_SUPPORT_FUNCTIONREF_H
#define TILEWRIGHT_SUPPORT_FUNCTIONREF_H

#include <type_traits>
#include <utility>

namespace tilewright {

/// Calls something that lives longer than this; copies and allocates nothing.
template <typename Signature> class FunctionRef;

template <typename R, typename... Args> class FunctionRef<R(Args...)> {
public:
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
  FunctionRef(F &&function)
      : object(const_cast<void *>(static_cast<const void *>(&function))),
        invoke([](void *object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F> *>(object))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return invoke(object, std::forward<Args>(args)...); }

private:
  void *object;
  R (*invoke)(void *, Args...);
};

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_FUNCTIONREF_H
