//===- ExportTexts.cpp - the header and the description of an exported library ----------------===//

#include "ExportTexts.h"
#include "tilewright/Driver/ProgramError.h"
#include "tilewright/runtime.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using Parameter = tilewright::cpu::LibraryFunction::Parameter;

namespace tilewright::driver {

//===----------------------------------------------------------------------------------------===//
// Parameters in C
//===----------------------------------------------------------------------------------------===//

static Parameter findParameter(const rt::Parameter &parameter) {
  if (parameter.isTensor)
    return Parameter::Tensor;
  unsigned size = Log2_32(parameter.elementBytes); // 1, 2, 4, 8 bytes
  switch (parameter.numberClass) {
  case rt::NumberClass::Float:
    return parameter.elementBytes == 8 ? Parameter::Double : Parameter::Float;
  case rt::NumberClass::Signed:
    return Parameter(unsigned(Parameter::Int8) + size);
  case rt::NumberClass::Unsigned:
    return Parameter(unsigned(Parameter::UInt8) + size);
  case rt::NumberClass::Bool:
    return Parameter::Bool;
  }
  llvm_unreachable("unknown class of numbers");
}

Expected<std::vector<Parameter>> findParameters(const rt::Function &function) {
  std::vector<Parameter> found;
  for (const rt::Form &form : function.forms) {
    std::vector<Parameter> these;
    for (const rt::Parameter &parameter : form.signature.parameters)
      these.push_back(findParameter(parameter));
    if (&form == &function.forms.front())
      found = std::move(these);
    else if (found != these)
      return makeProgramError(
          "the shapes of '" + function.name +
          "' do not have the same parameters: all must have as many tensors and "
          "numbers, of the same types, in the same order");
  }
  return found;
}

static StringRef getCType(Parameter parameter) {
  static constexpr StringLiteral names[] = {
      "const DLTensor *", "bool ",     "int8_t ",   "int16_t ",  "int32_t ", "int64_t ",
      "uint8_t ",         "uint16_t ", "uint32_t ", "uint64_t ", "float ",   "double "};
  return names[unsigned(parameter)];
}

//===----------------------------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------------------------===//

/// The names of parameters as C takes them.
static std::string getCName(StringRef name) {
  static constexpr StringLiteral taken[] = {
      "stream", "error", "auto",   "bool",   "char", "const", "double",
      "float",  "for",   "if",     "int",    "long", "new",   "register",
      "return", "short", "signed", "static", "this", "void",  "while"};
  std::string made;
  for (char c : name)
    made += isAlnum(c) || c == '_' ? c : '_';
  if (made.empty() || isDigit(made.front()) || is_contained(taken, made))
    made = "p_" + made;
  return made;
}

/// `, strides (s, 1)` of a tensor that is declared with some.
static std::string listStrides(const rt::Parameter &parameter) {
  if (parameter.strides.empty())
    return "";
  auto text = [](const rt::Extent &stride) { return stride.text; };
  return ", strides (" + llvm::join(llvm::map_range(parameter.strides, text), ", ") + ")";
}

static void describeForm(raw_ostream &os, const rt::Form &form) {
  for (const rt::Parameter &parameter : form.signature.parameters) {
    os << " *   " << parameter.name << ": ";
    if (!parameter.isTensor)
      os << parameter.dtype << "\n";
    else
      os << parameter.dtype << " " << parameter.shapeText << listStrides(parameter)
         << (!parameter.isUsed     ? ", not used; may be null"
             : parameter.isWritten ? ", written"
                                   : "")
         << "\n";
  }
}

static void writeFunction(raw_ostream &os, const rt::Function &function,
                          ArrayRef<Parameter> parameters) {
  os << "\n/**\n";
  for (auto [number, form] : enumerate(function.forms)) {
    os << " * " << (number ? "Or:" : function.name) << "\n";
    describeForm(os, form);
  }
  os << " */\nint32_t " << function.name << "(";
  const rt::Signature &signature = function.forms.front().signature;
  for (auto [parameter, form] : zip_equal(parameters, signature.parameters))
    os << getCType(parameter) << getCName(form.name) << ", ";
  os << "void *stream, tw_error *error);\n";
}

std::string writeHeader(StringRef name, const rt::Image &image,
                        const cpu::LibraryInterface &interface) {
  std::string text, guard = "TILEWRIGHT_EXPORTED_" + name.upper() + "_H";
  raw_string_ostream os(text);
  os << "/* Kernels that Tilewright " << image.release
     << " exported. Tensors are dense, row-major, if no strides are\n"
        " * named; tilewright/runtime.h says how they are passed, what is returned, and where "
        "they\n"
        " * run. */\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << "#include <stdbool.h>\n#include <tilewright/runtime.h>\n\n"
     << "#if TW_ABI_VERSION != " << TW_ABI_VERSION << "\n#error \"" << name
     << ".h was made for version " << TW_ABI_VERSION << " of tilewright/runtime.h\"\n#endif\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (auto [function, parameters] : zip_equal(image.functions, interface.functions))
    writeFunction(os, function, parameters.parameters);
  os << "\n/** The library itself, for tw_open, tw_close and tw_call. */\nextern tw_library "
     << name << "_library;\n"
     << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return text;
}

//===----------------------------------------------------------------------------------------===//
// The description
//===----------------------------------------------------------------------------------------===//

static json::Array describe(ArrayRef<rt::Extent> extents) {
  json::Array described;
  for (const rt::Extent &extent : extents) {
    std::optional<int64_t> constant = extent.formula.getConstant();
    described.push_back(constant ? json::Value(*constant) : json::Value(extent.text));
  }
  return described;
}

static json::Value describe(const rt::Parameter &parameter, Parameter type) {
  json::Object object{{"name", parameter.name},
                      {"kind", parameter.isTensor ? "tensor" : "number"},
                      {"dtype", parameter.dtype},
                      {"c_type", getCType(type).trim()}};
  if (parameter.isTensor) {
    object["shape"] = describe(parameter.extents);
    if (!parameter.strides.empty())
      object["strides"] = describe(parameter.strides);
    object["is_written"] = parameter.isWritten;
    object["is_used"] = parameter.isUsed;
  }
  return object;
}

static json::Value describe(const rt::Form &form) {
  json::Array parameters, cpu, gpu;
  for (const rt::Parameter &parameter : form.signature.parameters)
    parameters.push_back(describe(parameter, findParameter(parameter)));
  for (const rt::CpuVariant &code : form.cpu)
    cpu.push_back(json::Object{{"target", code.target}, {"disjoint", code.assumesDisjoint}});
  for (const rt::GpuVariant &code : form.gpu) {
    json::Array divisible, kernels;
    for (unsigned symbol : code.divisible)
      divisible.push_back(form.signature.symbols[symbol].name);
    for (const rt::GpuKernel &kernel : code.kernels)
      kernels.push_back(json::Object{{"name", kernel.name},
                                     {"threads", kernel.numThreads},
                                     {"shared_bytes", kernel.sharedBytes},
                                     {"overlaps_launch", kernel.overlapsLaunch},
                                     {"tensor_maps", kernel.maps.size()}});
    bool isPtx = !code.code.empty() && code.code.back() == '\0' && code.code[0] != '\x7f';
    gpu.push_back(json::Object{{"arch", code.arch},
                               {"form", isPtx ? "ptx" : "cubin"},
                               {"disjoint", code.assumesDisjoint},
                               {"alignment", code.alignment},
                               {"divisible", std::move(divisible)},
                               {"kernels", std::move(kernels)}});
  }
  return json::Object{
      {"params", std::move(parameters)}, {"cpu", std::move(cpu)}, {"gpu", std::move(gpu)}};
}

std::string describeLibrary(StringRef name, const rt::Image &image) {
  json::Array functions;
  for (const rt::Function &function : image.functions) {
    json::Array forms;
    for (const rt::Form &form : function.forms)
      forms.push_back(describe(form));
    functions.push_back(json::Object{{"name", function.name}, {"forms", std::move(forms)}});
  }
  json::Object all{{"name", name},
                   {"release", image.release},
                   {"abi", TW_ABI_VERSION},
                   {"functions", std::move(functions)}};
  std::string text;
  raw_string_ostream(text) << formatv("{0:2}\n", json::Value(std::move(all)));
  return text;
}

} // namespace tilewright::driver
