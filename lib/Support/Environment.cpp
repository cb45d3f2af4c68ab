//===- Environment.cpp - the variables that users set -----------------------------------------===//

#include "tilewright/Support/Environment.h"

#include "llvm/ADT/StringSwitch.h"
#include <cstdlib>
#include <optional>

using namespace llvm;
using namespace tilewright::environment;

namespace {

enum class Kind { Switch, Number, Choice, Text };

struct Entry {
  Variable variable;
  const char *name;
  Kind kind;
  uint64_t least = 0, most = 0; ///< of a number
  StringRef choice = {};        ///< the word that a choice may be
};

constexpr Entry table[] = {
    {Variable::Cache, "TILEWRIGHT_CACHE", Kind::Switch},
    {Variable::CacheDir, "TILEWRIGHT_CACHE_DIR", Kind::Text},
    {Variable::CacheMb, "TILEWRIGHT_CACHE_MB", Kind::Number, 0, uint64_t(1) << 40},
    {Variable::Check, "TILEWRIGHT_CHECK", Kind::Switch},
    {Variable::CheckPlans, "TILEWRIGHT_CHECK_PLANS", Kind::Switch},
    {Variable::CompileLimit, "TILEWRIGHT_COMPILE_SECONDS", Kind::Number, 1, 1 << 20},
    {Variable::Cpu, "TILEWRIGHT_CPU", Kind::Choice, 0, 0, "avx2"},
    {Variable::Deterministic, "TILEWRIGHT_DETERMINISTIC", Kind::Switch},
    {Variable::Libcuda, "TILEWRIGHT_LIBCUDA", Kind::Text},
    {Variable::Threads, "TILEWRIGHT_THREADS", Kind::Number, 1, 1024},
    {Variable::VgpuMode, "TILEWRIGHT_VGPU_MODE", Kind::Choice, 0, 0, "late"},
};

const Entry &entryOf(Variable variable) { return table[static_cast<unsigned>(variable)]; }

Error refuse(const Entry &entry, const Twine &expected) {
  return createStringError(Twine(entry.name) + " is '" + getText(entry.variable) + "'; it can be " +
                           expected);
}

std::optional<bool> parseSwitch(StringRef text) {
  return StringSwitch<std::optional<bool>>(text)
      .CasesLower({"0", "off", "no", "false"}, false)
      .CasesLower({"1", "on", "yes", "true"}, true)
      .Default(std::nullopt);
}

} // namespace

StringRef tilewright::environment::getText(Variable variable) {
  const char *value = std::getenv(entryOf(variable).name);
  return value ? value : "";
}

Expected<bool> tilewright::environment::readSwitch(Variable variable, bool fallback) {
  StringRef text = getText(variable);
  if (text.empty())
    return fallback;
  if (std::optional<bool> value = parseSwitch(text))
    return *value;
  return refuse(entryOf(variable), "1 or 0");
}

Expected<uint64_t> tilewright::environment::readNumber(Variable variable, uint64_t fallback) {
  const Entry &entry = entryOf(variable);
  StringRef text = getText(variable);
  if (text.empty())
    return fallback;
  uint64_t value = 0;
  if (text.getAsInteger(10, value) || value < entry.least || value > entry.most)
    return refuse(entry, "a number from " + Twine(entry.least) + " to " + Twine(entry.most));
  return value;
}

Error tilewright::environment::check() {
  for (const Entry &entry : table) {
    StringRef text = getText(entry.variable);
    switch (entry.kind) {
    case Kind::Switch:
      if (Error error = readSwitch(entry.variable, false).takeError())
        return error;
      break;
    case Kind::Number:
      if (Error error = readNumber(entry.variable, 0).takeError())
        return error;
      break;
    case Kind::Choice:
      if (!text.empty() && text != entry.choice)
        return refuse(entry, "'" + entry.choice + "' or empty");
      break;
    case Kind::Text:
      break;
    }
  }
  return Error::success();
}
