/* Reader of libraries: ELF files, and the texts that replace them; see python.h. */
#include "machine/python.h"

#include "formats/kpack.h"

#define MAGIC "rocsmith-library 1"

enum { MAX_NEEDED = 200, MAX_TARGETS = 500, MAX_MODES = 20, BUNDLES = 5, WORK = 64 << 20 };

static void add_some(struct arena *a, struct strs *list, struct str s, size_t most)
{
	s = clean_text(a, s);
	if (s.n && list->n < most)
		strs_put(a, list, s);
}

bool library_parse(struct arena *a, struct str text, struct library *ret)
{
	struct str line, key, value, word;
	uint64_t n;
	*ret = (struct library){0};
	if (!str_next(&text, '\n', &line) || !str_eq(str_trim(line), S(MAGIC)))
		return false;
	while (str_next(&text, '\n', &line)) {
		str_cut(line, ' ', &key, &value);
		if (str_eq(key, S("needed")))
			add_some(a, &ret->needed, value, MAX_NEEDED);
		else if (str_eq(key, S("rpath")))
			ret->rpath = clean_long(a, value);
		else if (str_eq(key, S("runpath")))
			ret->runpath = clean_long(a, value);
		else if (str_eq(key, S("bundles")) && str_u64(value, 10, &n) && n <= BUNDLES)
			ret->bundles = (unsigned)n;
		else if (str_eq(key, S("archives")) && str_u64(value, 10, &n) && n <= MAX_TARGETS)
			ret->archives = (unsigned)n;
		else if (str_eq(key, S("empty")))
			add_some(a, &ret->empty, value, MAX_TARGETS);
		while (str_eq(key, S("targets")) && str_next(&value, ' ', &word))
			add_some(a, &ret->targets, word, MAX_TARGETS);
	}
	targets_sort(&ret->targets);
	return true;
}

/* ---- ELF ---- */

struct counting {
	struct arena *a;
	struct strs names;
	unsigned times[MAX_TARGETS], bundles;
};

static struct err *count_bundle(void *user, const struct bundle *b)
{
	struct counting *c = user;
	VEC_EACH (const struct bundle_entry, e, &b->entries) {
		size_t i = 0;
		while (i < c->names.n && !str_eq(c->names.v[i], e->target))
			i++;
		if (!e->target.n || !e->size || i == MAX_TARGETS)
			continue;
		if (i == c->names.n)
			strs_add(c->a, &c->names, clean_text(c->a, e->target));
		c->times[i]++;
	}
	return ++c->bundles < BUNDLES ? NULL : err_new(E_LIMIT, "these are enough");
}

/* Bytes of the decoded objects in a kpack archive; UINT64_MAX if it cannot be read. */
static uint64_t held_by(struct root *r, struct budget *budget, struct str path)
{
	ARENA(tmp);
	CLEANUP(fd_closep) int fd = -1;
	struct bytes src;
	struct kpack k = {0};
	uint64_t sum = 0;
	if (root_bytes(r, path, &fd, &src) != ROOT_OK)
		return UINT64_MAX;
	src.budget = budget;
	struct err *e = kpack_open(&tmp, &src, &k);
	VEC_EACH (const struct kpack_object, o, &k.objects)
		sum = o->size < UINT64_MAX / 2 - sum ? sum + o->size : UINT64_MAX / 2;
	sum = e ? UINT64_MAX : sum;
	err_free(e);
	return sum;
}

/* Is the archive `name` of one mode of a GPU ("gfx90a:xnack-") as good as empty beside that for all modes? */
static bool is_empty(
	struct root *r, struct budget *budget, struct str dir, struct str name, struct str end)
{
	size_t colon = str_chr(name, ':');
	struct str whole = str_fmt(r->a, "%.*s%.*s", STR(str_sub(name, 0, colon)), STR(end));
	uint64_t own = held_by(r, budget, path_join(r->a, dir, name)),
		 other = held_by(r, budget, path_join(r->a, dir, whole));
	return other != UINT64_MAX && own < other / 16;
}

/* Collects the GPUs for which kpack archives exist. Patterns are relative to the library, such as
 * ".kpack/blas_@GFXARCH@.kpack". */
static void read_archives(
	struct root *r, struct str path, const struct bytes *src, struct library *ret)
{
	struct kpack_host host = {0};
	struct str mark = S("@GFXARCH@");
	unsigned modes = 0;
	struct budget budget = {
		.work = WORK, .memory = 4 * WORK}; /* shared by all archives of a library */
	err_free(kpack_host_read(r->a, src, &host));
	ret->archives = host.patterns.n < MAX_TARGETS ? (unsigned)host.patterns.n : MAX_TARGETS;
	VEC_EACH (const struct str, p, &host.patterns) {
		struct strs names;
		struct str file = path_base(*p);
		size_t at = str_find(file, mark);
		struct str end = str_sub(file, at + mark.n, file.n);
		struct str dir = path_join(r->a, path_dir(path), path_dir(*p));
		root_list(r, dir, &names);
		for (size_t i = 0; at < file.n && i < names.n; i++) {
			struct str name = names.v[i], target = str_sub(name, at, name.n - end.n);
			if (name.n <= at + end.n || !str_ends(name, end) ||
				!str_starts(name, str_sub(file, 0, at)))
				continue;
			add_some(r->a, &ret->targets, target, MAX_TARGETS);
			if (str_chr(target, ':') < target.n && modes++ < MAX_MODES &&
				is_empty(r, &budget, dir, name, end))
				add_some(r->a, &ret->empty, target, MAX_MODES);
		}
	}
}

static struct err *read_elf(
	struct root *r, struct str path, const struct bytes *src, struct library *ret)
{
	struct elf e;
	struct elf_dynamic d;
	TRY(elf_open(r->a, src, &e));
	const struct elf_section *fat = elf_section(&e, S(".hip_fatbin"));
	if (fat) {
		struct counting c = {.a = r->a};
		uint64_t at = fat->offset;
		uint64_t end = at < UINT64_MAX - fat->size ? at + fat->size : 0;
		err_free(bundle_walk(src, &at, end, count_bundle, &c));
		ret->bundles = c.bundles;
		/* in more than half of the bundles: some sources may be compiled for some GPUs only */
		for (size_t i = 0; i < c.names.n; i++)
			if (2 * c.times[i] > c.bundles)
				add_some(r->a, &ret->targets, c.names.v[i], MAX_TARGETS);
	}
	if (elf_section(&e, S(".rocm_kpack_ref")))
		read_archives(r, path, src, ret);
	targets_sort(&ret->targets);
	TRY(elf_needs(r->a, &e, &d));
	VEC_EACH (const struct str, s, &d.needed)
		add_some(r->a, &ret->needed, *s, MAX_NEEDED);
	ret->runpath = clean_long(r->a, d.runpath);
	ret->rpath = d.runpath.n ? S("") : clean_long(r->a, d.rpath);
	return NULL;
}

enum root_status library_read(struct root *r, struct str path, struct library *ret)
{
	CLEANUP(fd_closep) int fd = -1;
	char head[64] = "";
	struct budget budget = {.work = WORK, .memory = WORK};
	struct bytes src;
	struct str text;
	*ret = (struct library){0};
	enum root_status s = root_bytes(r, path, &fd, &src);
	if (s != ROOT_OK)
		return s;
	src.budget = &budget;
	size_t n = src.size < sizeof(head) ? (size_t)src.size : sizeof(head);
	err_free(bytes_read(&src, head, n, 0));
	if (elf_is((struct str){head, n}))
		err_free(read_elf(r, path, &src, ret));
	else if (root_read(r, path, &text) != ROOT_OK || !library_parse(r->a, text, ret))
		return ROOT_BAD;
	if (!r->record)
		return ROOT_OK;
	BUF(b, r->a);
	buf_add(&b, S(MAGIC "\n"));
	VEC_EACH (const struct str, needed, &ret->needed)
		buf_fmt(&b, "needed %.*s\n", STR(*needed));
	if (ret->rpath.n)
		buf_fmt(&b, "rpath %.*s\n", STR(ret->rpath));
	if (ret->runpath.n)
		buf_fmt(&b, "runpath %.*s\n", STR(ret->runpath));
	if (ret->targets.n)
		buf_fmt(&b, "targets %.*s\n", STR(str_join(r->a, &ret->targets, S(" "))));
	if (ret->bundles)
		buf_fmt(&b, "bundles %u\n", ret->bundles);
	if (ret->archives)
		buf_fmt(&b, "archives %u\n", ret->archives);
	VEC_EACH (const struct str, target, &ret->empty)
		buf_fmt(&b, "empty %.*s\n", STR(*target));
	root_note(r, path, buf_str(&b));
	return ROOT_OK;
}
