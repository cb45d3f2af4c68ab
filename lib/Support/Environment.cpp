//===- Environment.cpp - the variables that users set -----------------------------------------===//

#include "tilewright/Support/Environment.h"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <unistd.h>

using namespace tilewright;
using namespace tilewright::environment;

namespace {

enum class Kind { Switch, Number, Choice, Library, Folder };

struct Entry {
  Variable variable;
  const char *name;
  Kind kind;
  uint64_t least = 0, most = 0; ///< of a number
  std::string_view words = {};  ///< what a choice may be, between bars
};

constexpr Entry table[] = {
    {Variable::Cache, "TILEWRIGHT_CACHE", Kind::Switch},
    {Variable::CacheDir, "TILEWRIGHT_CACHE_DIR", Kind::Folder},
    {Variable::CacheMb, "TILEWRIGHT_CACHE_MB", Kind::Number, 0, uint64_t(1) << 40},
    {Variable::Check, "TILEWRIGHT_CHECK", Kind::Switch},
    {Variable::CheckPlans, "TILEWRIGHT_CHECK_PLANS", Kind::Switch},
    {Variable::CompileLimit, "TILEWRIGHT_COMPILE_SECONDS", Kind::Number, 1, 1 << 20},
    {Variable::Core, "TILEWRIGHT_CORE", Kind::Choice, 0, 0, "sapphirerapids|znver4|znver5|haswell"},
    {Variable::Cpu, "TILEWRIGHT_CPU", Kind::Choice, 0, 0,
     "avx2|no-amx|amx-in-software|bf16-dots|bf16-widened"},
    {Variable::Deterministic, "TILEWRIGHT_DETERMINISTIC", Kind::Switch},
    {Variable::L2Kb, "TILEWRIGHT_L2_KB", Kind::Number, 64, 1 << 20},
    {Variable::Libcuda, "TILEWRIGHT_LIBCUDA", Kind::Library},
    {Variable::Threads, "TILEWRIGHT_THREADS", Kind::Number, 1, 1024},
    {Variable::VgpuMode, "TILEWRIGHT_VGPU_MODE", Kind::Choice, 0, 0, "late"},
};

const Entry &entryOf(Variable variable) { return table[static_cast<unsigned>(variable)]; }

Failure refuse(const Entry &entry, const std::string &expected) {
  return {std::string(entry.name) + " is '" + std::string(getText(entry.variable)) +
          "'; it can be " + expected};
}

/// Splits what a choice may be into its words, and calls `visit` with each.
template <typename F> void forWords(const Entry &entry, F visit) {
  for (std::string_view left = entry.words; !left.empty();) {
    size_t end = left.find('|');
    visit(left.substr(0, end));
    left = end == left.npos ? std::string_view() : left.substr(end + 1);
  }
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

static MaybeFailure checkChoice(const Entry &entry) {
  std::string_view text = getText(entry.variable);
  bool isKnown = text.empty();
  std::string list;
  forWords(entry, [&](std::string_view word) {
    isKnown |= word == text;
    list += "'" + std::string(word) + "', ";
  });
  if (isKnown)
    return std::nullopt;
  list.resize(list.size() - 2);
  return refuse(entry, list + " or empty");
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
      if (MaybeFailure failure = checkChoice(entry))
        return failure;
      break;
    case Kind::Library: // a name without a folder is looked up by the system
      if (text.find('/') != text.npos && access(std::string(text).c_str(), R_OK) != 0)
        return refuse(entry, "a library that can be read, or 'none'");
      break;
    case Kind::Folder: // what is read there must not depend on the current directory
      if (!text.empty() && text[0] != '/')
        return refuse(entry, "a path that begins with '/'");
      break;
    }
  }
  return std::nullopt;
}
