//===- Decisions.cpp - what the compiler decided, kept with the code --------------------------===//

#include "tilewright/Driver/Decisions.h"
#include "tilewright/Tile/Remarks.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

using namespace mlir;
namespace json = llvm::json;

namespace tilewright::driver {

/// A remark with what it says for programs.
static Decision toDecision(Diagnostic &remark) {
  Decision decision;
  decision.message = remark.str();
  if (auto position = remark.getLocation()->findInstanceOf<FileLineColLoc>()) {
    decision.file = position.getFilename().str();
    decision.line = position.getLine();
    decision.column = position.getColumn();
  }
  DictionaryAttr facts = tile::getRemarkFacts(remark);
  if (!facts)
    return decision;
  decision.kind = cast<StringAttr>(facts.get("kind")).str();
  decision.buffer = cast<StringAttr>(facts.get("buffer")).str();
  for (NamedAttribute fact : cast<DictionaryAttr>(facts.get("data"))) {
    if (auto number = dyn_cast<IntegerAttr>(fact.getValue()))
      decision.data[fact.getName().getValue()] = number.getInt();
    else
      decision.data[fact.getName().getValue()] = cast<StringAttr>(fact.getValue()).str();
  }
  return decision;
}

/// A copy that became asynchronous: what was said about its load names the instruction that it has
/// now, and what was said about its store is no longer so. A bulk copy has no accesses of threads.
static void replaceByAsyncCopy(std::vector<Decision> &decisions, const Decision &copy) {
  std::optional<StringRef> source = copy.data.getString("copies");
  std::optional<StringRef> now = copy.data.getString("instruction");
  auto isSameStatement = [&](const Decision &other) {
    return other.kind == "access" && other.file == copy.file && other.line == copy.line &&
           other.column == copy.column;
  };
  bool isBulk = now && (now->starts_with("cp.async.bulk") || now->starts_with("cp.reduce"));
  llvm::erase_if(decisions, [&](const Decision &other) {
    StringRef was = other.data.getString("instruction").value_or("");
    bool isStore = other.buffer == copy.buffer &&
                   (was.starts_with("st.shared") || was.starts_with("st.global") ||
                    was.starts_with("red.global"));
    bool isLoad =
        other.buffer == source && (was.starts_with("ld.global") || was.starts_with("ld.shared"));
    return isSameStatement(other) && (isStore || (isBulk && isLoad));
  });
  for (Decision &other : decisions) {
    std::optional<StringRef> was = other.data.getString("instruction");
    if (!isSameStatement(other) || other.buffer != source || !was || !was->starts_with("ld.global"))
      continue;
    size_t at = other.message.find(was->str());
    if (at != std::string::npos)
      other.message.replace(at, was->size(), now->str());
    other.data["instruction"] = now->str();
  }
}

DecisionCollector::DecisionCollector(MLIRContext *context, std::vector<Decision> &decisions)
    : handler(context, [&decisions](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Remark)
          return failure();
        Decision decision = toDecision(diagnostic);
        if (decision.data.getString("copies"))
          replaceByAsyncCopy(decisions, decision);
        decisions.push_back(std::move(decision));
        return success();
      }) {}

json::Value toJSON(const Decision &decision) {
  return json::Object{{"file", decision.file},
                      {"line", decision.line},
                      {"column", decision.column},
                      {"message", decision.message},
                      {"kind", decision.kind},
                      {"buffer", decision.buffer},
                      {"data", json::Object(decision.data)}};
}

bool fromJSON(const json::Value &value, Decision &decision, json::Path path) {
  json::ObjectMapper map(value, path);
  const json::Object *object = value.getAsObject();
  const json::Object *data = object ? object->getObject("data") : nullptr;
  if (data)
    decision.data = *data;
  return map && data && map.map("file", decision.file) && map.map("line", decision.line) &&
         map.map("column", decision.column) && map.map("message", decision.message) &&
         map.map("kind", decision.kind) && map.map("buffer", decision.buffer);
}

} // namespace tilewright::driver
