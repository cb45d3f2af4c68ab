//===- Environment.cpp - the variables that users set -----------------------------------------===//

#include "tilewright/Support/Environment.h"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>

using namespace tilewright;
using namespace tilewright::environment;

namespace {

enum class Kind { Switch, Number, Choice, Text };

struct Entry {
  Variable variable;
  const char *name;
  Kind kind;
  uint64_t least = 0, most = 0; ///< of a number
  std::string_view choice = {}; ///< the word that a choice may be
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

Failure refuse(const Entry &entry, const std::string &expected) {
  return {std::string(entry.name) + " is '" + std::string(getText(entry.variable)) +
          "'; it can be " + expected};
}

std::optional<bool> parseSwitch(std::string_view text) {
  std::string lower;
  for (unsigned char letter : text)
    lower += char(std::tolower(letter));
  for (const char *word : {"0", "off", "no", "false"})
    if (lower == word)
      return false;
  for (const char *word : {"1", "on", "yes", "true"})
    if (lower == word)
      return true;
  return std::nullopt;
}

} // namespace

std::string_view tilewright::environment::getText(Variable variable) {
  const char *value = std::getenv(entryOf(variable).name);
  return value ? value : "";
}

Result<bool> tilewright::environment::readSwitch(Variable variable, bool fallback) {
  std::string_view text = getText(variable);
  if (text.empty())
    return fallback;
  if (std::optional<bool> value = parseSwitch(text))
    return *value;
  return refuse(entryOf(variable), "1 or 0");
}

Result<uint64_t> tilewright::environment::readNumber(Variable variable, uint64_t fallback) {
  const Entry &entry = entryOf(variable);
  std::string_view text = getText(variable);
  if (text.empty())
    return fallback;
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < entry.least ||
      value > entry.most)
    return refuse(entry, "a number from " + std::to_string(entry.least) + " to " +
                             std::to_string(entry.most));
  return value;
}

MaybeFailure tilewright::environment::check() {
  for (const Entry &entry : table) {
    std::string_view text = getText(entry.variable);
    switch (entry.kind) {
    case Kind::Switch:
      if (Result<bool> value = readSwitch(entry.variable, false); !value)
        return value.takeFailure();
      break;
    case Kind::Number:
      if (Result<uint64_t> value = readNumber(entry.variable, 0); !value)
        return value.takeFailure();
      break;
    case Kind::Choice:
      if (!text.empty() && text != entry.choice)
        return refuse(entry, "'" + std::string(entry.choice) + "' or empty");
      break;
    case Kind::Text:
      break;
    }
  }
  return std::nullopt;
}
