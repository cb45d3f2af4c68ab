//===- BuildId.cpp - which compiler this is ---------------------------------------------------===//

#include "tilewright/Support/BuildId.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

using namespace llvm;

namespace {

/// The id in the notes of a loaded file; empty if it has none.
StringRef findBuildId(const dl_phdr_info &file) {
  for (const ElfW(Phdr) &segment : ArrayRef(file.dlpi_phdr, file.dlpi_phnum)) {
    if (segment.p_type != PT_NOTE)
      continue;
    const auto *notes = reinterpret_cast<const char *>(file.dlpi_addr + segment.p_vaddr);
    // Each note: a header, its name, its content; both padded to 4 bytes.
    for (size_t offset = 0; offset + sizeof(ElfW(Nhdr)) <= segment.p_memsz;) {
      const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(notes + offset);
      size_t name = offset + sizeof(*note), content = name + alignTo(note->n_namesz, 4);
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4)
        return StringRef(notes + content, note->n_descsz);
      offset = content + alignTo(note->n_descsz, 4);
    }
  }
  return {};
}

bool holdsAddress(const dl_phdr_info &file, uintptr_t address) {
  for (const ElfW(Phdr) &segment : ArrayRef(file.dlpi_phdr, file.dlpi_phnum))
    if (segment.p_type == PT_LOAD && address - (file.dlpi_addr + segment.p_vaddr) < segment.p_memsz)
      return true;
  return false;
}

std::string describeFile(const dl_phdr_info &file) {
  StringRef id = findBuildId(file);
  if (!id.empty())
    return toHex(id);
  const char *path = file.dlpi_name[0] ? file.dlpi_name : "/proc/self/exe";
  struct stat facts = {};
  stat(path, &facts);
  return std::string(path) + ":" + std::to_string(facts.st_size) + ":" +
         std::to_string(facts.st_mtim.tv_sec) + "." + std::to_string(facts.st_mtim.tv_nsec);
}

int addFile(dl_phdr_info *file, size_t, void *data) {
  StringRef path = file->dlpi_name;
  bool isLibrary = path.contains("libLLVM") || path.contains("libMLIR");
  if (isLibrary || holdsAddress(*file, reinterpret_cast<uintptr_t>(&tilewright::getBuildId)))
    *static_cast<std::string *>(data) += describeFile(*file) + " ";
  return 0;
}

} // namespace

const std::string &tilewright::getBuildId() {
  static const std::string id = [] {
    std::string text;
    dl_iterate_phdr(addFile, &text);
    return text;
  }();
  return id;
}
