/* The state that the files of the fat wheel share; fat.h is the interface. */
#pragma once

#include "base/progress.h"
#include "formats/elf_edit.h"
#include "wheel/fat.h"

struct fat_lib {              /* an ELF file of the new wheel */
	struct str site;      /* its installed path below site-packages; "" elsewhere */
	size_t input;         /* index in fat.x.in */
	struct wheel_elf elf; /* needed libraries are listed by their new names */
	bool sdk;
	struct elf_changes changes; /* new names of needed libraries, and search paths */
	struct strs dirs;           /* folders below site-packages that have the needed libraries */
	bool served;                /* a library of the SDK is among those that it needs */
	bool bare;                  /* has no SONAME */
};

struct fat {
	struct arena *a;
	const struct fat_request *q;
	struct fat_report *r;
	struct wheel w;
	struct rewrite x; /* x.in grows by what comes from the SDK */
	struct progress *progress;
	struct str root; /* real path of the SDK */
	bool windows;
	struct str folder; /* folder in the wheel that gets the SDK's libraries */
	struct map found;  /* names of libraries in the SDK -> struct str path */
	struct map names;  /* names of libraries in the wheel -> index in libs + 1 */
	VEC(struct fat_lib) libs;
	struct map taken; /* paths in the wheel of side files that were considered */
};

/* data/fat.yaml */
struct fat_opened {
	const char *by, *opens;
};
struct fat_beside {
	const char *by, *at;
};
struct fat_alias {
	const char *by, *name;
};
TABLE(fat_opened);
TABLE(fat_beside);
TABLE(fat_alias);

/* fat_alias.c: the ELF file of that name: opening it loads the library, which lies beside it. machine: e_machine of both. */
struct str fat_stand_in(struct arena *a, uint16_t machine, struct str name, struct str library);
/* fat_find.c: adds the libraries and files of the SDK that belong to the wheel. */
MUST_USE struct err *fat_find(struct fat *fat);
