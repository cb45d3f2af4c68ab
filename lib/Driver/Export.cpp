//===- Export.cpp - kernels as a library that needs no compiler -------------------------------===//

#include "tilewright/Driver/Export.h"
#include "ExportTexts.h"
#include "tilewright/Driver/Launches.h"
#include "tilewright/Rt/Image.h"
#include "tilewright/Support/ToError.h"
#include "tilewright/Tile/Tile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ArchiveWriter.h"

using namespace mlir;

namespace tilewright::driver {
namespace {

/// One library that is being made.
class Exporter {
public:
  Exporter(ArrayRef<ExportedFunction> functions, const ExportOptions &options)
      : functions(functions), options(options) {}

  llvm::Expected<ExportedLibrary> run();

private:
  llvm::Error checkNames() const;
  llvm::Expected<rt::Form> compile(const ExportedFunction &function,
                                   const ExportedFunction::Form &form);
  llvm::Error compileForHost(StringRef name, const Executable &program, rt::Form &form);
  llvm::Error compileForGpu(Executable &program, const Arch &arch, rt::Form &form);
  llvm::Expected<std::string> makeArchive(llvm::MemoryBuffer &interface);

  ArrayRef<ExportedFunction> functions;
  const ExportOptions &options;
  std::vector<std::string> entries; ///< Symbols of the host's code, and
  std::vector<std::string> objects; ///< the object files that define them.
};

} // namespace

//===----------------------------------------------------------------------------------------===//
// What a library can hold
//===----------------------------------------------------------------------------------------===//

static bool isIdentifier(StringRef name) {
  static constexpr StringLiteral keywords[] = {
      "auto",    "bool",  "break",    "case",   "char",     "class",  "const",  "continue",
      "default", "do",    "double",   "else",   "enum",     "extern", "float",  "for",
      "goto",    "if",    "inline",   "int",    "long",     "main",   "new",    "register",
      "return",  "short", "signed",   "sizeof", "static",   "struct", "switch", "this",
      "typedef", "union", "unsigned", "void",   "volatile", "while"};
  return !name.empty() && !llvm::isDigit(name.front()) && !llvm::is_contained(keywords, name) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

llvm::Error Exporter::checkNames() const {
  std::vector<std::string> names = {options.name};
  for (const ExportedFunction &function : functions)
    names.push_back(function.name);
  for (const std::string &name : names)
    if (!isIdentifier(name))
      return makeProgramError("'" + name +
                              "' cannot be the name of a function in C; name it "
                              "otherwise");
  llvm::sort(names.begin() + 1, names.end());
  auto twice = std::adjacent_find(names.begin() + 1, names.end());
  if (twice != names.end())
    return makeProgramError("two kernels of the library are called '" + *twice + "'");
  if (functions.empty())
    return makeProgramError("a library needs a kernel");
  if (options.cpus.empty() && options.archs.empty())
    return makeProgramError("a library needs a processor or an architecture to run on");
  return llvm::Error::success();
}

/// What the runtime of libraries cannot do for a kernel.
static llvm::Error checkForm(func::FuncOp function, const rt::Signature &signature) {
  if (!runtime::hasFormulasOfLayouts(function))
    return makeProgramError("'" + signature.name +
                            "' has a layout of run-time shape whose size has no formula; a library "
                            "could not check its calls");
  return llvm::Error::success();
}

//===----------------------------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------------------------===//

/// Whether some call may pass a tensor that is written and shares memory with another.
static bool mayOverlap(const rt::Signature &signature) {
  unsigned numTensors = 0;
  bool isWritten = false;
  for (const rt::Parameter &parameter : signature.parameters) {
    numTensors += parameter.isTensor && parameter.isUsed;
    isWritten |= parameter.isTensor && parameter.isUsed && parameter.isWritten;
  }
  return numTensors > 1 && isWritten;
}

llvm::Error Exporter::compileForHost(StringRef name, const Executable &program, rt::Form &form) {
  std::vector<bool> assumptions = {true};
  if (mayOverlap(form.signature))
    assumptions.push_back(false);
  for (const std::string &cpu : options.cpus) {
    PipelineOptions pipeline;
    pipeline.host = cpu::HostTarget::find(cpu);
    if (!pipeline.host)
      return makeProgramError("unknown processor '" + cpu +
                              "'; known are x86-64-v3, x86-64-v4 and host");
    for (bool areDisjoint : assumptions) {
      rt::CpuVariant &variant = form.cpu.emplace_back();
      variant.target = pipeline.host->cpu;
      variant.needs = cpu == "host"        ? rt::CpuFeatures::detect()
                      : cpu == "x86-64-v4" ? rt::CpuFeatures::getLevel4()
                                           : rt::CpuFeatures::getLevel3();
      variant.assumesDisjoint = areDisjoint;
      variant.entry = entries.size();
      pipeline.calls.disjointArguments = areDisjoint;
      pipeline.symbol = (options.name + "." + name + "." + Twine(entries.size())).str();
      llvm::Expected<frontend::Program::Lock> lock = program.getProgram()->lock();
      if (!lock)
        return toProgramError(lock.takeError());
      llvm::Expected<CompiledArtifact> artifact =
          compileOrLoad(program.getProgram(), *lock, /*arch=*/nullptr, pipeline);
      if (!artifact)
        return artifact.takeError();
      entries.push_back(cpu::getEntryName(pipeline.symbol));
      objects.push_back(std::move(artifact->code));
    }
  }
  return llvm::Error::success();
}

/// The kinds of calls that GPU code is made for, those that assume most first. The last one assumes
/// nothing that the check of arguments does not promise. A set that only differs in symbols or tensor
/// maps that the program does not have gives the same code again, and is dropped.
static std::vector<CallFacts> listFacts(const rt::Signature &signature) {
  CallFacts usual, least;
  least.tensorMaps = false;
  for (const rt::Parameter &parameter : signature.parameters)
    if (parameter.isTensor)
      least.argumentAlignment = std::min<int64_t>(least.argumentAlignment, parameter.elementBytes);
  CallFacts divisible = usual, withoutMaps = usual;
  for (unsigned symbol = 0; symbol < signature.numSymbolArguments; ++symbol)
    if (signature.symbols[symbol].isStride)
      divisible.divisibleSymbols.push_back(signature.symbols[symbol].name);
  withoutMaps.tensorMaps = false;
  std::vector<CallFacts> all = {divisible, usual, withoutMaps, least};
  least.disjointArguments = false;
  if (mayOverlap(signature))
    all.push_back(least);
  return all;
}

static std::vector<unsigned> findSymbols(const rt::Signature &signature,
                                         ArrayRef<std::string> names) {
  std::vector<unsigned> found;
  for (unsigned symbol = 0; symbol < signature.numSymbolArguments; ++symbol)
    if (llvm::is_contained(names, signature.symbols[symbol].name))
      found.push_back(symbol);
  return found;
}

llvm::Error Exporter::compileForGpu(Executable &program, const Arch &arch, rt::Form &form) {
  auto kernel = program.getKernel(("vgpu:" + arch.name).str());
  if (!kernel)
    return kernel.takeError();
  std::vector<rt::GpuVariant> variants;
  for (const CallFacts &facts : listFacts(form.signature)) {
    llvm::Expected<std::shared_ptr<const CompiledArtifact>> code = (*kernel)->getCode(facts);
    if (!code)
      return code.takeError();
    // Who assumes more and has the same code is of no use.
    llvm::erase_if(variants, [&](const rt::GpuVariant &known) {
      return StringRef(known.code).drop_back() == (*code)->code;
    });
    rt::GpuVariant &variant = variants.emplace_back();
    variant.arch = arch.name.str();
    variant.version = arch.version;
    variant.isExact = arch.name.ends_with("a");
    variant.assumesDisjoint = facts.disjointArguments;
    variant.alignment = facts.argumentAlignment;
    variant.divisible = findSymbols(form.signature, facts.divisibleSymbols);
    variant.kernels = describeKernels((*code)->kernels);
    variant.launches = (*code)->launches.describe();
    variant.code = (*code)->code + '\0';
  }
  for (rt::GpuVariant &variant : variants) {
    if (options.assemble) {
      llvm::Expected<std::string> cubin =
          options.assemble(variant.code.substr(0, variant.code.size() - 1), arch.name);
      if (!cubin)
        return toProgramError(cubin.takeError());
      rt::GpuVariant assembled = variant;
      assembled.isExact = true; // the driver compiles PTX for other GPUs
      assembled.code = std::move(*cubin);
      form.gpu.push_back(std::move(assembled));
    }
    form.gpu.push_back(std::move(variant));
  }
  return llvm::Error::success();
}

llvm::Expected<rt::Form> Exporter::compile(const ExportedFunction &function,
                                           const ExportedFunction::Form &source) {
  if (llvm::Error error = source.program->check())
    return error;
  func::FuncOp op = source.program->getProgram()->getFunction();
  rt::Form form;
  form.signature = runtime::describeSignature(op);
  if (llvm::Error error = checkForm(op, form.signature))
    return error;
  form.dependsOnBlockOrder = op.walk([](Operation *inner) {
                                 return isa<tile::AtomicOp, tile::AtomicElementOp>(inner)
                                            ? WalkResult::interrupt()
                                            : WalkResult::advance();
                               }).wasInterrupted();
  form.isDeterministic = source.isDeterministic;
  if (llvm::Error error = compileForHost(function.name, *source.program, form))
    return error;
  for (const std::string &name : options.archs) {
    const Arch *arch = tilewright::findArch(name);
    if (!arch)
      return makeProgramError("unknown architecture '" + name + "'; known are " + getArchNames());
    if (llvm::Error error = compileForGpu(*source.program, *arch, form))
      return error;
  }
  return form;
}

//===----------------------------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------------------------===//

llvm::Expected<std::string> Exporter::makeArchive(llvm::MemoryBuffer &interface) {
  std::vector<std::string> names;
  std::vector<llvm::NewArchiveMember> members;
  names.reserve(objects.size()); // members refer to them
  for (auto [number, object] : llvm::enumerate(objects))
    members.emplace_back(llvm::MemoryBufferRef(
        object, names.emplace_back(options.name + "_" + std::to_string(number) + ".o")));
  members.emplace_back(interface.getMemBufferRef());
  auto archive = llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NormalSymtab,
                                            llvm::object::Archive::K_GNU, /*Deterministic=*/true,
                                            /*Thin=*/false);
  if (!archive)
    return toProgramError(archive.takeError());
  return (*archive)->getBuffer().str();
}

llvm::Expected<ExportedLibrary> Exporter::run() {
  if (llvm::Error error = checkNames())
    return error;
  rt::Image image;
  image.release = options.release;
  cpu::LibraryInterface interface;
  ExportedLibrary library;
  for (const ExportedFunction &function : functions) {
    rt::Function &made = image.functions.emplace_back();
    made.name = function.name;
    for (const ExportedFunction::Form &form : function.forms) {
      llvm::Expected<rt::Form> compiled = compile(function, form);
      if (!compiled)
        return compiled.takeError();
      made.forms.push_back(std::move(*compiled));
    }
    llvm::Expected<std::vector<cpu::LibraryFunction::Parameter>> parameters = findParameters(made);
    if (!parameters)
      return parameters.takeError();
    interface.functions.push_back({function.name, std::move(*parameters)});
    library.symbols.push_back(function.name);
  }
  library.symbols.push_back(options.name + "_library");
  interface.name = options.name;
  interface.entries = entries;
  interface.image = rt::writeImage(image);
  auto object = cpu::emitInterface(interface);
  if (!object)
    return toProgramError(object.takeError());
  llvm::Expected<std::string> archive = makeArchive(**object);
  if (!archive)
    return archive.takeError();
  library.archive = std::move(*archive);
  library.header = writeHeader(options.name, image, interface);
  library.description = describeLibrary(options.name, image);
  return library;
}

llvm::Expected<ExportedLibrary> exportLibrary(ArrayRef<ExportedFunction> functions,
                                              const ExportOptions &options) {
  return Exporter(functions, options).run();
}

} // namespace tilewright::driver
