/* Stand-ins for libraries under names that are usually links: some libraries open "libamdhip64.so", and a wheel cannot
 * hold links. See fat_int.h. */
#include <elf.h>

#include "wheel/fat_int.h"

struct image {
	Elf64_Ehdr head;
	Elf64_Phdr segments[3];
	Elf64_Shdr sections[4];
	Elf64_Sym none;
	Elf64_Dyn dynamic[8];
};

enum { ORIGIN = 1, DYNSYM = 9, DYNAMIC = 17, DYNSTR = 26, NAMES = 34 }; /* offsets in `names` */
static const char names[] = "\0$ORIGIN\0.dynsym\0.dynamic\0.dynstr";

#define AT(member) offsetof(struct image, member)
#define SIZE(member) sizeof(((struct image *)NULL)->member)

/* Makes an image without code that needs the library: dlsym() searches needed libraries, too. */
struct str fat_stand_in(struct arena *a, uint16_t machine, struct str name, struct str library)
{
	const uint64_t strings = sizeof(struct image), size = NAMES + name.n + library.n + 2;
	const uint64_t end = strings + size;
	const struct image image = {
		.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_DYN,
			.e_machine = machine,
			.e_version = EV_CURRENT,
			.e_phoff = AT(segments),
			.e_shoff = AT(sections),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 3,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 4,
			.e_shstrndx = 3},
		.segments = {{PT_LOAD, PF_R | PF_W, 0, 0, 0, end, end, 0x10000},
			{PT_DYNAMIC, PF_R | PF_W, AT(dynamic), AT(dynamic), AT(dynamic),
				SIZE(dynamic), SIZE(dynamic), 8},
			{PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16}},
		.sections = {[1] = {DYNSYM, SHT_DYNSYM, SHF_ALLOC, AT(none), AT(none), SIZE(none),
				     3, 1, 8, SIZE(none)},
			[2] = {DYNAMIC, SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, AT(dynamic),
				AT(dynamic), SIZE(dynamic), 3, 0, 8, sizeof(Elf64_Dyn)},
			[3] = {DYNSTR, SHT_STRTAB, SHF_ALLOC, strings, strings, size, 0, 0, 1, 0}},
		.dynamic = {{DT_NEEDED, {NAMES + name.n + 1}}, {DT_SONAME, {NAMES}},
			{DT_RUNPATH, {ORIGIN}}, {DT_SYMTAB, {AT(none)}}, {DT_STRTAB, {strings}},
			{DT_STRSZ, {size}}, {DT_SYMENT, {SIZE(none)}}},
	};
	BUF(b, a);
	buf_add(&b, (struct str){.p = (const char *)&image, .n = sizeof(image)});
	buf_add(&b, (struct str){.p = names, .n = sizeof(names)});
	buf_fmt(&b, "%.*s%c%.*s%c", STR(name), 0, STR(library), 0);
	return buf_str(&b);
}
