//===- Remarks.cpp - decisions of the compiler, for readers and for programs ------------------===//

#include "tilewright/Tile/Remarks.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

void tilewright::tile::describeRemark(InFlightDiagnostic &diagnostic, StringRef kind,
                                      StringRef buffer, ArrayRef<RemarkFact> data) {
  Diagnostic &remark = *diagnostic.getUnderlyingDiagnostic();
  MLIRContext *context = remark.getLocation().getContext();
  Builder b(context);
  NamedAttrList facts;
  for (const RemarkFact &fact : data)
    facts.set(fact.name, fact.number ? Attribute(b.getI64IntegerAttr(*fact.number))
                                     : Attribute(b.getStringAttr(fact.text)));
  NamedAttrList all;
  all.set("kind", b.getStringAttr(kind));
  all.set("buffer", b.getStringAttr(buffer));
  all.set("data", facts.getDictionary(context));
  remark.getMetadata().emplace_back(Attribute(all.getDictionary(context)));
}

DictionaryAttr tilewright::tile::getRemarkFacts(Diagnostic &diagnostic) {
  for (const DiagnosticArgument &argument : diagnostic.getMetadata())
    if (argument.getKind() == DiagnosticArgument::DiagnosticArgumentKind::Attribute)
      if (auto facts = dyn_cast<DictionaryAttr>(argument.getAsAttribute()))
        return facts;
  return {};
}
