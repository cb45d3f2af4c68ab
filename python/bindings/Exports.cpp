//===- Exports.cpp - kernels as a library, from Python ----------------------------------------===//

#include "Bindings.h"
#include "tilewright/Driver/Export.h"

#include <nanobind/stl/shared_ptr.h>

using namespace tilewright;
using namespace tilewright::bindings;
using driver::Executable;

/// [(name, [(program, is_deterministic)])].
static std::vector<driver::ExportedFunction> toFunctions(nb::list list) {
  std::vector<driver::ExportedFunction> functions;
  for (nb::handle item : list) {
    driver::ExportedFunction &function = functions.emplace_back();
    function.name = nb::cast<std::string>(item[0]);
    for (nb::handle form : nb::cast<nb::list>(item[1]))
      function.forms.push_back(
          {nb::cast<std::shared_ptr<Executable>>(form[0]), nb::cast<bool>(form[1])});
  }
  return functions;
}

/// Gives {header, archive, description, symbols}. `assemble(ptx, arch)` gives the bytes of a cubin;
/// None leaves them out.
static nb::dict exportLibrary(nb::list list, const std::string &name,
                              const std::vector<std::string> &cpus,
                              const std::vector<std::string> &archs, const std::string &release,
                              nb::object assemble) {
  std::vector<driver::ExportedFunction> functions = toFunctions(list);
  driver::ExportOptions options{name, cpus, archs, release, {}};
  std::optional<nb::python_error> raised;
  if (!assemble.is_none())
    options.assemble = [&](const std::string &ptx,
                           llvm::StringRef arch) -> llvm::Expected<std::string> {
      WithGil lock;
      try {
        auto cubin = nb::cast<nb::bytes>(assemble(ptx, arch.str()));
        return std::string(cubin.c_str(), cubin.size());
      } catch (nb::python_error &error) {
        raised.emplace(std::move(error));
        return llvm::createStringError("the PTX was not assembled");
      }
    };
  auto library = [&] {
    WithoutGil others;
    return driver::exportLibrary(functions, options);
  }();
  if (!library && raised) {
    llvm::consumeError(library.takeError());
    throw std::move(*raised);
  }
  driver::ExportedLibrary files = unwrap(std::move(library));
  nb::dict result;
  result["header"] = files.header;
  result["archive"] = nb::bytes(files.archive.data(), files.archive.size());
  result["description"] = files.description;
  result["symbols"] = files.symbols;
  return result;
}

static void linkLibrary(const std::string &archive, const std::string &output,
                        const std::string &library, bool isShared, const std::string &runtimeFolder,
                        const std::vector<std::string> &symbols) {
  llvm::Error error = [&] {
    WithoutGil others;
    return driver::linkLibrary({archive, output, library, isShared, runtimeFolder, symbols});
  }();
  if (error)
    throw driver::takeReport(std::move(error));
}

void tilewright::bindings::bindExports(nb::module_ &module) {
  module.def("export_library", &exportLibrary, nb::arg("functions"), nb::arg("name"),
             nb::arg("cpus"), nb::arg("archs"), nb::arg("release"), nb::arg("assemble").none(),
             "The files of a library with these kernels.");
  module.def("link_library", &linkLibrary, nb::arg("archive"), nb::arg("output"),
             nb::arg("library"), nb::arg("is_shared"), nb::arg("runtime_folder"),
             nb::arg("symbols"),
             "Has the system's linker make a .so or .o of a library's archive.");
}
