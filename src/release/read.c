/* Reads wheels, and what their names and METADATA say; see release.h. */
#include "release/release.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "base/progress.h"
#include "devcode/devcode.h"
#include "lang/python/version.h"

struct release_paths { /* wheels below a folder */
	struct arena *a;
	struct str dir;
	struct strs *found;
};

static struct err *visit_wheel(void *user, struct fs_entry *e)
{
	struct release_paths *p = user;
	bool hidden = str_starts(path_base(e->path), S("."));
	e->prune = hidden && S_ISDIR(e->st.st_mode);
	bool ours = str_ends(e->path, S(".whl")) || release_is_sdist(e->path);
	if (hidden || !S_ISREG(e->st.st_mode) || !ours)
		return cancel_check();
	if (p->found->n == RELEASE_WHEELS)
		return err_new(E_LIMIT, "there are more than %d wheels", RELEASE_WHEELS);
	strs_add(p->a, p->found, path_join(p->a, p->dir, str_dup(p->a, e->path)));
	return NULL;
}

struct err *release_describe(struct arena *a, struct release_wheel *io)
{
	const struct dist_headers *h = &io->headers;
	struct str name, version;
	TRY(release_file_name(a, io->file, &name, &version));
	TRY_CTX(dist_headers_parse(a, io->metadata, &io->headers),
		"cannot read the METADATA of '%.*s'", STR(io->file));
	struct str project = dist_header_value(h, "Name");
	io->version = dist_header_value(h, "Version");
	io->requires_python = dist_header_value(h, "Requires-Python");
	io->project = package_name(a, project, '-');
	if (str_eq(wheel_normalise(a, project), wheel_normalise(a, name)) &&
		wheel_same_version(io->version, version))
		return NULL;
	return err_new(E_WHEEL, "'%.*s' has the METADATA of '%.*s' %.*s", STR(io->file),
		STR(project), STR(io->version));
}

/* Memory for the wheel itself and its code is freed again: there may be many wheels. */
static struct err *read_wheel(struct arena *a, struct str path, struct release_wheel *ret)
{
	ARENA(tmp);
	CLEANUP(wheel_close) struct wheel w = {.zip.fd = -1};
	CLEANUP(fd_closep) int fd = -1;
	struct str text;
	struct dist_headers h;
	struct devcode code = {0};
	struct stat st;
	*ret = (struct release_wheel){.file = path_base(path), .path = path};
	TRY(fs_lstat(path, &st));
	if (!S_ISREG(st.st_mode))
		return err_new(E_WHEEL, "'%.*s' is not a file", STR(path));
	if (release_is_sdist(ret->file)) {
		TRY(release_read_sdist(a, path, &ret->metadata));
	} else {
		TRY(wheel_open(&tmp, path, &w));
		TRY(wheel_headers(&tmp, &w, "METADATA", &text, &h));
		ret->metadata = str_dup(a, text);
	}
	TRY(release_describe(a, ret));
	if (!release_is_sdist(ret->file))
		TRY(devcode_scan(&tmp, path, 0, &code));
	VEC_EACH (const struct str, gpu, &code.served)
		strs_add(a, &ret->gpus, str_dup(a, *gpu));
	targets_sort(&ret->gpus);
	TRY(fs_open(path, &fd));
	ret->state = fs_exact_state(a, str_fmt(&tmp, "/proc/self/fd/%d", fd));
	TRY(sha256_file(a, str_fmt(&tmp, "/proc/self/fd/%d", fd), &ret->sha256));
	ret->size = (uint64_t)st.st_size;
	ret->time = st.st_mtime;
	return release_attested(a, ret, &ret->provenance);
}

struct err *release_read(struct arena *a, const struct strs *paths, struct release_set *ret)
{
	struct strs found = {0};
	MAP(known, a);
	*ret = (struct release_set){0};
	VEC_EACH (const struct str, path, paths) {
		size_t before = found.n;
		struct release_paths p = {.a = a, .dir = *path, .found = &found};
		if (!fs_is_dir(*path))
			strs_add(a, &found, *path);
		else
			TRY(fs_walk(*path, visit_wheel, &p));
		if (found.n == before)
			return err_new(E_NOENT, "there is no wheel in '%.*s'", STR(*path));
	}
	CLEANUP(progress_endp)
	struct progress *bar = progress_begin(S("Reading"), S("wheels"), UNIT_ITEMS, found.n);
	VEC_EACH (const struct str, path, &found) {
		struct release_wheel w;
		TRY_CTX(read_wheel(a, *path, &w), "cannot release '%.*s'", STR(*path));
		if (map_put(&known, str_fmt(a, "%.*s %.*s", STR(w.sha256), STR(w.file)), NULL))
			*VEC_PUSH(a, ret) = w;
		progress_add(bar, 1, path_base(*path));
	}
	return NULL;
}

struct str release_device(struct str project)
{
	struct str mark = S("-device-");
	struct str gpu = str_sub(project, str_find(project, mark) + mark.n, project.n);
	return str_starts(gpu, S("gfx")) || str_eq(gpu, S("all")) ? gpu : S("");
}

struct str release_python(struct arena *a, struct str tag)
{
	return str_starts(tag, S("cp3")) && tag.n > 3
		       ? str_fmt(a, "3.%.*s", STR(str_sub(tag, 3, tag.n)))
		       : S("");
}

bool release_fits(struct arena *a, const struct release_wheel *w, struct str python)
{
	struct wheel_name n;
	struct str rest, tag;
	uint64_t have[2], want[2];
	bool fits = false;
	CLEANUP(err_freep) struct err *e = wheel_name_parse(a, w->file, &n);
	for (rest = e ? S("") : n.python; str_next(&rest, '.', &tag);) {
		struct str of = release_python(a, tag);
		bool later = str_contains(n.abi, S("abi3")) && str_numbers(of, have, 2) == 2 &&
			     str_numbers(python, want, 2) == 2 && have[1] <= want[1];
		fits = fits || !of.n || !python.n || str_eq(of, python) || later;
	}
	return fits;
}

struct strs release_pythons(struct arena *a, const struct release_set *set)
{
	struct strs all = {0};
	VEC_EACH (const struct release_wheel, w, set) {
		struct wheel_name n;
		struct str tag;
		CLEANUP(err_freep) struct err *e = wheel_name_parse(a, w->file, &n);
		for (struct str rest = e ? S("") : n.python; str_next(&rest, '.', &tag);)
			if (release_python(a, tag).n)
				strs_put(a, &all, release_python(a, tag));
	}
	if (!all.n)
		strs_add(a, &all, S(""));
	strs_sort(&all);
	return all;
}
