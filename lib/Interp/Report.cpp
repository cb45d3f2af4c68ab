//===- Report.cpp - findings: where they are, what they say -----------------------------------===//

#include "Machine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

llvm::StringRef tilewright::interp::getName(FindingKind kind) {
  switch (kind) {
  case FindingKind::Uninitialized:
    return "uninitialized";
  case FindingKind::OutOfBounds:
    return "out_of_bounds";
  case FindingKind::ParallelConflict:
    return "parallel_conflict";
  case FindingKind::Race:
    return "race";
  case FindingKind::SameValue:
    return "same_value";
  case FindingKind::DivisionByZero:
    return "division_by_zero";
  case FindingKind::IndexOverflow:
    return "index_overflow";
  case FindingKind::Assume:
    return "assume";
  case FindingKind::Assert:
    return "assert";
  case FindingKind::BadExtent:
    return "bad_extent";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::UndeclaredEffect:
    return "undeclared_effect";
  }
  llvm_unreachable("unknown kind");
}

llvm::StringRef tilewright::interp::getName(Severity severity) {
  switch (severity) {
  case Severity::Note:
    return "note";
  case Severity::Finding:
    return "finding";
  case Severity::Error:
    return "error";
  }
  llvm_unreachable("unknown severity");
}

static std::string join(llvm::ArrayRef<int64_t> numbers, char open, char close) {
  std::string text(1, open);
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(numbers, os);
  os << close;
  return text;
}

std::string tilewright::interp::inParentheses(llvm::ArrayRef<int64_t> numbers) {
  return join(numbers, '(', ')');
}
std::string tilewright::interp::inBrackets(llvm::ArrayRef<int64_t> numbers) {
  return join(numbers, '[', ']');
}

std::string tilewright::interp::toString(const Finding &finding) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!finding.file.empty())
    os << finding.file << ":" << finding.line << ": ";
  os << getName(finding.severity) << ": " << finding.message;
  if (!finding.block.empty())
    os << "; block " << inParentheses(finding.block);
  if (finding.count > 1)
    os << ", " << finding.count << " times";
  os << " [" << getName(finding.kind) << "]";
  return text;
}

bool Result::hasFindings() const {
  return llvm::any_of(findings, [](const Finding &f) { return f.severity != Severity::Note; });
}

/// The innermost position in a file: a macro's own line rather than its call.
static FileLineColLoc findPosition(Location location) {
  if (auto position = dyn_cast<FileLineColLoc>(location))
    return position;
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    FileLineColLoc callee = findPosition(call.getCallee());
    return callee ? callee : findPosition(call.getCaller());
  }
  if (auto named = dyn_cast<NameLoc>(location))
    return findPosition(named.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (FileLineColLoc position = findPosition(part))
        return position;
  return {};
}

std::string tilewright::interp::describeLocation(Operation *op) {
  FileLineColLoc position = findPosition(op->getLoc());
  if (!position)
    return "an unknown line";
  return (position.getFilename().getValue() + ":" + Twine(position.getLine())).str();
}

Finding *Findings::add(Severity severity, FindingKind kind, Operation *op, const Storage *storage) {
  Finding *&entry = known[{op, storage, static_cast<unsigned>(kind)}];
  if (entry) {
    ++entry->count;
    return nullptr;
  }
  // An error ends the run and is told however much was told before.
  if (entries.size() >= limit && severity != Severity::Error)
    return nullptr;
  entry = &entries.emplace_back();
  entry->severity = severity;
  entry->kind = kind;
  if (FileLineColLoc position = findPosition(op->getLoc())) {
    entry->file = position.getFilename().str();
    entry->line = position.getLine();
    entry->column = position.getColumn();
  }
  return entry;
}

std::vector<Finding> Findings::take() {
  known.clear();
  return {std::make_move_iterator(entries.begin()), std::make_move_iterator(entries.end())};
}

void Machine::report(Severity severity, FindingKind kind, const Step &step,
                     const llvm::Twine &message) {
  if (shadowDepth)
    return;
  if (Finding *finding = findings.add(severity, kind, step.op, nullptr)) {
    finding->message = message.str();
    if (kernel)
      finding->block.assign(kernel->block.begin(), kernel->block.end());
  }
}

void Machine::note(FindingKind kind, const Step &step, const llvm::Twine &message) {
  report(Severity::Note, kind, step, message);
}
void Machine::find(FindingKind kind, const Step &step, const llvm::Twine &message) {
  report(Severity::Finding, kind, step, message);
}
void Machine::fail(FindingKind kind, const Step &step, const llvm::Twine &message) {
  report(Severity::Error, kind, step, message);
  stopped = true;
}

void Machine::reportElement(Severity severity, FindingKind kind, const Step &step, const View &view,
                            llvm::ArrayRef<int64_t> coordinates,
                            llvm::function_ref<std::string()> message) {
  if (shadowDepth)
    return;
  Finding *finding = findings.add(severity, kind, step.op, view.storage);
  if (!finding)
    return;
  finding->message = message();
  finding->buffer = view.storage->name;
  finding->index.assign(coordinates.begin(), coordinates.end());
  if (kernel)
    finding->block.assign(kernel->block.begin(), kernel->block.end());
}
