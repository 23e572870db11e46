/* Computes the platform tag: the demands of ELF files on the machine, by symbol versions and libraries.
 *
 * Source: PEP 600 (manylinux_X_Y: runs with glibc X.Y and the libraries that every such distribution has). The
 * libraries, and their GLIBCXX, CXXABI, GCC and ZLIB versions, are in
 * data/manylinux.yaml. GLIBC itself needs no table: the tag names it. */
#include "base/fs.h"
#include "wheel/wheel.h"

bool wheel_library_allowed(struct str soname)
{
	return str_is_one_of(soname, manylinux_libraries_table()->allowed);
}

struct str wheel_machine_name(uint16_t machine)
{
	TABLE_EACH (manylinux_machine, m)
		if (m->machine == machine)
			return str_from(m->name);
	return S("");
}

/* Parses dotted numbers, to be compared piece by piece; false when text is something else ("PRIVATE"). */
static bool dotted(struct str text, uint64_t ret[4])
{
	struct str piece;
	size_t n = 0;
	for (; n < 4 && str_next(&text, '.', &piece); n++)
		if (!str_u64(piece, 10, &ret[n]))
			return false;
	for (size_t i = n; i < 4; i++)
		ret[i] = 0;
	return n && !text.n;
}

unsigned wheel_version_minor(struct str version, bool *ret_glibc)
{
	static const char *const kinds[] = {"GLIBCXX_", "CXXABI_", "GCC_", "ZLIB_", "LIBATOMIC_"};
	enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) }; /* in the order of the table's columns */
	uint64_t v[4], max[4];
	size_t at = 0, k;
	*ret_glibc = str_starts(version, S("GLIBC_"));
	if (str_eq(version, S("GLIBC_ABI_DT_RELR")))
		return 36;
	if (*ret_glibc)
		return dotted(str_sub(version, 6, version.n), v) && v[0] == 2 && v[1] < UINT_MAX
			       ? (unsigned)v[1]
			       : UINT_MAX;
	while (at < KINDS && !str_starts(version, str_from(kinds[at])))
		at++;
	if (at == KINDS)
		return 0; /* a library outside of these namespaces is judged by its name alone */
	if (!dotted(str_sub(version, strlen(kinds[at]), version.n), v))
		return 0; /* "TM_1", "FLOAT128", "LDBL_1.3": even the oldest distributions have them */
	TABLE_EACH (manylinux_symbols, row) {
		if (!row->newest[at] || !dotted(str_from(row->newest[at]), max))
			continue;
		for (k = 0; k < 3 && v[k] == max[k];)
			k++;
		if (v[k] <= max[k])
			return row->minor;
	}
	return UINT_MAX;
}

static void add_version(
	struct arena *a, const struct wheel_elf *e, struct str version, struct wheel_platform *ret)
{
	bool glibc;
	unsigned minor = wheel_version_minor(version, &glibc);
	bool newest = glibc && (!ret->glibc.n || minor > ret->glibc_minor);
	if (minor == UINT_MAX ? ret->beyond.n > 0 : minor <= ret->minor && !newest)
		return;
	struct str by = str_fmt(a, "%.*s of '%.*s'", STR(version), STR(e->name));
	if (minor == UINT_MAX) {
		ret->beyond = by;
		return;
	}
	if (newest) {
		ret->glibc_minor = minor;
		ret->glibc = str_fmt(a, "2.%u", minor);
		ret->glibc_by = e->name;
	}
	if (minor > ret->minor) {
		ret->minor = minor;
		ret->minor_by = by;
	}
}

static struct str explain(struct arena *a, const struct wheel_platform *p)
{
	BUF(b, a);
	buf_fmt(&b, "%.*s: ", STR(p->tag));
	if (p->beyond.n)
		buf_fmt(&b, "no manylinux policy has %.*s, ", STR(p->beyond));
	if (p->outside.n)
		buf_fmt(&b, "%.*s %s not on the PEP 600 list, so no manylinux tag would be true; ",
			STR(str_join(a, &p->outside, S(", "))), p->outside.n > 1 ? "are" : "is");
	if (p->glibc.n)
		buf_fmt(&b, "the glibc needed is %.*s (by '%.*s')", STR(p->glibc),
			STR(p->glibc_by));
	else
		buf_fmt(&b, "no glibc version is asked for");
	if (p->minor_by.n && !str_starts(p->minor_by, S("GLIBC_")))
		buf_fmt(&b, ", raised by %.*s", STR(p->minor_by));
	return buf_str(&b);
}

/* The names by which the files find each other. */
static void put_names(struct map *inside, const struct wheel_elfs *elfs)
{
	VEC_EACH (const struct wheel_elf, e, elfs) {
		map_put(inside, e->dyn.soname, NULL);
		map_put(inside, path_base(e->name), NULL);
	}
}

struct err *wheel_platform_of(
	struct arena *a, const struct wheel_elfs *elfs, struct wheel_platform *ret)
{
	*ret = (struct wheel_platform){0};
	if (!elfs->n) {
		ret->tag = S("any");
		ret->why = S("any: there is no machine code in it");
		return NULL;
	}
	struct wheel_elf *first = elfs->v;
	struct str arch = wheel_machine_name(first->machine);
	if (!arch.n)
		return err_new(E_WHEEL,
			"'%.*s' is for a processor (ELF machine %u) without a wheel tag",
			STR(first->name), first->machine);
	MAP(inside, a);
	MAP(outside, a);
	put_names(&inside, elfs);
	VEC_EACH (const struct wheel_elf, e, elfs) {
		if (e->machine != first->machine)
			return err_new(E_WHEEL, "'%.*s' and '%.*s' are for different processors",
				STR(first->name), STR(e->name));
		for (size_t i = 0; i < e->dyn.needed.n; i++) {
			struct str lib = e->dyn.needed.v[i];
			if (!map_has(&inside, lib) && !wheel_library_musl(lib))
				ret->not_musl = lib;
			if (!wheel_library_allowed(lib) && !map_has(&inside, lib) &&
				map_put(&outside, lib, NULL))
				strs_add(a, &ret->outside, lib);
		}
		for (size_t i = 0; i < e->dyn.versions.n; i++)
			if (!map_has(&inside, e->dyn.versions.v[i].file))
				add_version(a, e, e->dyn.versions.v[i].version, ret);
	}
	strs_sort(&ret->outside);
	TABLE_EACH (manylinux_machine, m)
		if (m->machine == first->machine && ret->minor < m->floor)
			ret->minor = m->floor;
	if (ret->outside.n || ret->beyond.n)
		ret->tag = str_fmt(a, "linux_%.*s", STR(arch));
	else
		ret->tag = str_fmt(a, "manylinux_2_%u_%.*s", ret->minor, STR(arch));
	ret->why = explain(a, ret);
	return NULL;
}

/* A library of this machine, read where ld.so looks by default and remembered in `here`; NULL if there is none for this
 * processor. */
static const struct wheel_elf *library_here(
	struct arena *a, struct map *here, struct str soname, uint16_t machine)
{
	struct str arch = wheel_machine_name(machine);
	const struct str dirs[] = {str_fmt(a, "/lib/%.*s-linux-gnu", STR(arch)),
		str_fmt(a, "/usr/lib/%.*s-linux-gnu", STR(arch)), S("/lib64"), S("/usr/lib64"),
		S("/lib"), S("/usr/lib")};
	struct wheel_elf *found = NULL;
	if (!soname.n || str_chr(soname, '/') < soname.n)
		return NULL; /* a name that ld.so does not look for in its folders */
	if (map_has(here, soname))
		return map_get(here, soname);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]) && !found; i++) {
		CLEANUP(bytes_close) struct bytes_file in = {.fd = -1};
		struct wheel_elf *lib = NEW(a, struct wheel_elf);
		struct str path = path_join(a, dirs[i], soname);
		bool is_elf = false;
		if (!fs_is_file(path))
			continue;
		struct err *e = bytes_open(path, &in);
		e = e ? e : wheel_elf_read(a, &in.src, path, lib, &is_elf);
		found = !e && is_elf && lib->machine == machine ? lib : NULL;
		err_free(e);
	}
	map_put(here, soname, found);
	return found;
}

/* Adds the version that a file needs if the machine's library lacks it. */
static void add_lack(struct arena *a, struct str name, struct str version,
	const struct wheel_elf *lib, struct wheel_lacks *io)
{
	struct str kind = str_sub(version, 0, str_chr(version, '_') + 1);
	struct wheel_lack lack = {version, name, lib->name, S("")};
	uint64_t v[4];
	if (strs_has(&lib->dyn.offers, version))
		return;
	VEC_EACH (const struct str, has, &lib->dyn.offers) /* the oldest come first */
		if (str_starts(*has, kind) && dotted(str_sub(*has, kind.n, has->n), v))
			lack.newest = *has;
	*VEC_PUSH(a, io) = lack;
}

void wheel_lacks_here(struct arena *a, const struct wheel_elfs *elfs, struct wheel_lacks *ret)
{
	MAP(here, a);  /* soname -> struct wheel_elf of this machine, or NULL */
	MAP(asked, a); /* versions */
	MAP(inside, a);
	put_names(&inside, elfs);
	VEC_EACH (const struct wheel_elf, e, elfs)
		VEC_EACH (const struct elf_need_version, need, &e->dyn.versions) {
			if (map_has(&inside, need->file) || !map_put(&asked, need->version, NULL))
				continue;
			const struct wheel_elf *lib =
				library_here(a, &here, need->file, e->machine);
			if (lib)
				add_lack(a, e->name, need->version, lib, ret);
		}
}

static struct err *look_for_hip(void *calls, const struct elf_symbol *s)
{
	enum { LOCAL = 0 };
	if (s->bind != LOCAL && !s->section && str_starts(s->name, S("__hipRegister")))
		*(bool *)calls = true;
	return NULL;
}

struct err *wheel_elf_read(struct arena *a, const struct bytes *src, struct str name,
	struct wheel_elf *ret, bool *ret_elf)
{
	ARENA(tmp);
	char head[64];
	size_t n;
	struct elf elf;
	TRY(bytes_peek(src, head, sizeof(head), 0, &n));
	*ret_elf = elf_is((struct str){.p = head, .n = n});
	if (!*ret_elf)
		return NULL;
	TRY_CTX(elf_open(&tmp, src, &elf), "cannot read '%.*s'", STR(name));
	/* Code objects and cubins are data to the loader: EM_CUDA, EM_AMDGPU, EM_BPF. */
	*ret_elf = elf.machine != 190 && elf.machine != 224 && elf.machine != 247;
	if (!*ret_elf)
		return NULL;
	*ret = (struct wheel_elf){.name = name, .machine = elf.machine};
	TRY_CTX(elf_needs(a, &elf, &ret->dyn), "cannot read '%.*s'", STR(name));
	bool needs = false; /* if so, names of symbols, perhaps tens of megabytes, are not read */
	VEC_EACH (const struct str, soname, &ret->dyn.needed)
		needs = needs || str_starts(*soname, S("libamdhip64"));
	TRY_CTX(elf_symbols(&elf, !needs, look_for_hip, &ret->calls_hip), "cannot read '%.*s'",
		STR(name));
	return NULL;
}

struct err *wheel_platform(
	struct arena *a, const struct strs *elf_paths, struct wheel_platform *ret)
{
	struct wheel_elfs elfs = {0};
	VEC_EACH (const struct str, path, elf_paths) {
		CLEANUP(bytes_close) struct bytes_file in = {.fd = -1};
		struct wheel_elf e;
		bool is_elf;
		TRY(bytes_open(*path, &in));
		in.src.budget = NULL; /* a file that we made */
		TRY(wheel_elf_read(a, &in.src, *path, &e, &is_elf));
		if (is_elf)
			*VEC_PUSH(a, &elfs) = e;
	}
	return wheel_platform_of(a, &elfs, ret);
}

unsigned wheel_tag_glibc(struct str tag, struct str *ret_arch)
{
	uint64_t minor;
	TABLE_EACH (manylinux_tag, old) {
		struct str prefix = str_from(old->prefix);
		*ret_arch = str_sub(tag, prefix.n, tag.n);
		if (str_starts(tag, prefix))
			return old->minor;
	}
	struct str rest = str_sub(tag, S("manylinux_2_").n, tag.n), number;
	if (!str_starts(tag, S("manylinux_2_")) || !str_cut(rest, '_', &number, ret_arch))
		return 0;
	return str_u64(number, 10, &minor) && minor < 1000 ? (unsigned)minor : 0;
}

bool wheel_library_musl(struct str soname)
{
	return str_eq(soname, S("libc.so")) || str_starts(soname, S("libc.musl-"));
}

bool wheel_tag_musl(struct str tag, struct str *ret_arch)
{
	struct str kind, major, minor, rest;
	uint64_t n;
	return str_cut(tag, '_', &kind, &rest) && str_eq(kind, S("musllinux")) &&
	       str_cut(rest, '_', &major, &rest) && str_cut(rest, '_', &minor, ret_arch) &&
	       str_u64(major, 10, &n) && str_u64(minor, 10, &n);
}
