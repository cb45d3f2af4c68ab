//===- Answer.h - what a proof returns --------------------------------------------*- C++ -*-===//
//
// A question about a program is never answered by a `bool`: a procedure that gave up and a
// procedure that found a counterexample are different events, and only one of them may be shown
// to the user as a fact. An `Answer` is one of
//
//   yes                         proved for every index, thread and symbol in question
//   no, with a counterexample   refuted by concrete values, which the message can name
//   unknown, with a reason      not decided; callers must treat it as no
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SUPPORT_ANSWER_H
#define TILEWRIGHT_SUPPORT_ANSWER_H

#include "llvm/ADT/Twine.h"
#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace tilewright {

/// The outcome of a proof attempt. `CounterexampleT` holds the concrete values that refute the
/// property; it is plain text for properties whose refutation is only shown.
template <typename CounterexampleT = std::string> class [[nodiscard]] Answer {
public:
  static Answer yes() { return Answer(Yes{}); }
  static Answer no(CounterexampleT counterexample) { return Answer(std::move(counterexample)); }
  static Answer unknown(const llvm::Twine &reason) { return Answer(Unknown{reason.str()}); }

  bool isYes() const { return std::holds_alternative<Yes>(state); }
  bool isNo() const { return std::holds_alternative<CounterexampleT>(state); }
  bool isUnknown() const { return std::holds_alternative<Unknown>(state); }

  const CounterexampleT &getCounterexample() const {
    assert(isNo() && "only a refuted property has a counterexample");
    return std::get<CounterexampleT>(state);
  }

  /// Why the question stayed open, for remarks.
  const std::string &getReason() const {
    assert(isUnknown() && "only an open question has a reason");
    return std::get<Unknown>(state).reason;
  }

private:
  struct Yes {};
  struct Unknown {
    std::string reason;
  };
  using State = std::variant<Yes, Unknown, CounterexampleT>;
  explicit Answer(State state) : state(std::move(state)) {}

  State state;
};

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_ANSWER_H
