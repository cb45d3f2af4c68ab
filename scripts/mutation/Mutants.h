//===- Mutants.h - mistakes that the environment switches on -----------------------------===//
//
// Only sources that scripts/mutate.py has rewritten include this file, in a tree of their own.
// Every mistake has a number; TILEWRIGHT_MUTANT names the one that is on. TILEWRIGHT_MUTANT_LOG
// names a file: the numbers that the process came to are appended to it when it ends.
//
//   if (a < b)          if (a < tw::Operator<'<'>{17} < b)       a < b, or a <= b in mutant 17
//   n + 1               n + (tw::mutant(18) ? 2 : 1)
//
// A binary operator keeps its precedence: `a + X + b` is read as `(a + X) + b`.
//===-------------------------------------------------------------------------------------===//
#pragma once
#pragma clang diagnostic ignored "-Weverything"

#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace tw {

inline constexpr int maxMutants = 1 << 14;

/// Which mutant is on, and which ones this process came to.
struct MutantState {
  int active = 0;
  const char *log = nullptr;
  bool reached[maxMutants] = {};

  MutantState() {
    if (const char *text = std::getenv("TILEWRIGHT_MUTANT"))
      active = std::atoi(text);
    log = std::getenv("TILEWRIGHT_MUTANT_LOG");
  }
  ~MutantState() {
    std::FILE *file = log ? std::fopen(log, "a") : nullptr;
    if (!file)
      return;
    for (int id = 0; id < maxMutants; ++id)
      if (reached[id])
        std::fprintf(file, "%d\n", id);
    std::fclose(file);
  }
};

inline MutantState &mutantState() {
  static MutantState state;
  return state;
}

/// Whether the mutant of this number is on.
inline bool mutant(int id) {
  MutantState &state = mutantState();
  state.reached[id] = true;
  return state.active == id;
}

/// A binary operator that another one takes the place of; `<` stands for `<=` and so on.
template <char Kind> struct Operator {
  int id;
};

template <char Kind, typename A> struct Half {
  A left;
  int id;
};

#define TW_MUTANT_OPERATOR(KIND, OP, OTHER)                                                        \
  template <typename A> Half<KIND, A> operator OP(A &&left, Operator<KIND> op) {                   \
    return {std::forward<A>(left), op.id};                                                         \
  }                                                                                                \
  template <typename A, typename B>                                                                \
  auto operator OP(Half<KIND, A> half, B &&right)                                                  \
      ->std::decay_t<decltype(std::forward<A>(half.left) OP std::forward<B>(right))> {             \
    using Result = std::decay_t<decltype(std::forward<A>(half.left) OP std::forward<B>(right))>;   \
    if constexpr (requires { Result(std::forward<A>(half.left) OTHER std::forward<B>(right)); }) { \
      if (mutant(half.id))                                                                         \
        return Result(std::forward<A>(half.left) OTHER std::forward<B>(right));                    \
    }                                                                                              \
    return std::forward<A>(half.left) OP std::forward<B>(right);                                   \
  }

TW_MUTANT_OPERATOR('<', <, <=)
TW_MUTANT_OPERATOR('l', <=, <)
TW_MUTANT_OPERATOR('>', >, >=)
TW_MUTANT_OPERATOR('g', >=, >)
TW_MUTANT_OPERATOR('=', ==, !=)
TW_MUTANT_OPERATOR('!', !=, ==)
TW_MUTANT_OPERATOR('+', +, -)
TW_MUTANT_OPERATOR('-', -, +)
TW_MUTANT_OPERATOR('*', *, +)
TW_MUTANT_OPERATOR('/', /, *)
TW_MUTANT_OPERATOR('%', %, /)

#undef TW_MUTANT_OPERATOR

} // namespace tw
