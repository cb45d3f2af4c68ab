/*===- OldGlibc.c - what Debian 12's C library has and 2.34 has not ---------------------------===//
 *
 * The shared runtime goes into wheels, which run where glibc is 2.34 or later (manylinux_2_34), and
 * contains GCC's unwinder. As compiled against 2.36, the unwinder asks _dl_find_object (2.35) where the
 * tables of the object that contains an address are. This one looks for it among all loaded objects,
 * as older unwinders do.
 *
 *===-----------------------------------------------------------------------------------------===*/

#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier): names the functions below
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#ifdef DLFO_STRUCT_HAS_EH_DBASE // glibc is new enough that the unwinder asks

struct Search {
  ElfW(Addr) address;
  struct dl_find_object *result;
};

/* Called for each object; 1 ends the search. */
static int lookAt(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size;
  struct Search *search = data;
  const ElfW(Phdr) *code = NULL, *tables = NULL;
  for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    ElfW(Addr) start = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && search->address - start < segment->p_memsz)
      code = segment;
    if (segment->p_type == PT_GNU_EH_FRAME)
      tables = segment;
  }
  if (!code)
    return 0;
  ElfW(Addr) start = object->dlpi_addr + code->p_vaddr;
  search->result->dlfo_flags = 0;
  search->result->dlfo_map_start = (void *)start;
  search->result->dlfo_map_end = (void *)(start + code->p_memsz);
  search->result->dlfo_link_map = NULL;
  search->result->dlfo_eh_frame = tables ? (void *)(object->dlpi_addr + tables->p_vaddr) : NULL;
  return 1;
}

__attribute__((visibility("hidden"))) int _dl_find_object(void *address, struct dl_find_object *result) {
  struct Search search = {(ElfW(Addr))address, result};
  return dl_iterate_phdr(lookAt, &search) == 1 && result->dlfo_eh_frame ? 0 : -1;
}

#endif
