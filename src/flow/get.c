/* Chooses a torch for some GPUs, finds its packages, and locks, fetches or installs them; see get.h. */
#include "flow/get.h"

#include <gnu/libc-version.h>

#include "base/fs.h"
#include "base/glob.h"
#include "base/proc.h"
#include "base/progress.h"
#include "know/address.h"
#include "know/compat.h"
#include "lang/python/requirement.h"
#include "machine/machine.h"

#define AMD_INDEX "amd-stable"

static const struct json_field package_fields[] = {
	FIELDS(struct get_package, name, version, by),
	FIELD("file", struct get_package, file.file),
	FIELD("url", struct get_package, file.url),
	FIELD("index", struct get_package, file.index),
	FIELD("sha256", struct get_package, file.sha256),
	FIELD("size", struct get_package, file.size),
	{.kind = FIELD_END},
};

const struct json_field get_fields[] = {
	FIELD_CONST("schema", "rocsmith.get/1"),
	FIELDS(struct get_done, names, gpus, python, machine, torch, rocm, indexes),
	FIELD_LIST("packages", struct get_done, packages, package_fields),
	FIELDS(struct get_done, size, size_all, lock, dir, environment, commands),
	{.kind = FIELD_END},
};

struct getting {
	struct arena *a;
	const struct get_request *q;
	struct get_done *done;
	struct get_search search;
	struct str program; /* the Python; "" = only its version is known */
	struct strs roots;
};

/* ---- what is wanted ---- */

/* A version need not be installed here if nothing is. */
static struct err *find_python(struct getting *g)
{
	struct host host;
	struct str word = g->q->python, env = g->q->install, version = word;
	if (!word.n && env.n && fs_exists(path_join(g->a, env, S("bin/python3"))))
		word = env;
	uint64_t minor;
	bool number = str_starts(word, S("3.")) && word.n <= 4 &&
		      str_u64(str_sub(word, 2, word.n), 10, &minor);
	if (!number || env.n) {
		TRY(host_read(g->a, word, &host));
		version = host.python_version;
		g->program = host.python;
	}
	if (!version.n)
		return err_hint(err_new(E_TOOL_MISSING, "there is no python3 here"),
			"--python 3.12 finds packages for that Python all the same");
	g->done->python = g->search.python = version;
	return NULL;
}

/* The best row of the table. Of those that serve the GPUs equally well the first, which is the newest, wins. */
static const struct compat_wheel *find_row(struct getting *g)
{
	const struct compat_wheel *best = NULL;
	struct strs others = g->q->gpus;
	others.v++;
	others.n--;
	for (unsigned worse = 0; !best && worse < 8; worse++)
		for (unsigned amd = 0; amd < 2; amd++) {
			struct compat_query q = {.target = g->q->gpus.v[0],
				.python = g->search.python,
				.how = worse & 1 ? COMPAT_GENERIC : COMPAT_EXACT,
				.amd = amd,
				.unsure = worse & 2,
				.blas = !(worse & 4),
				.also = &others,
				.torch = g->q->torch,
				.rocm = g->q->rocm};
			const struct compat_wheel *c = compat_find(&q);
			best = !best || (c && c < best) ? c : best;
		}
	return best;
}

/* "==2.14.*"; a version of a nightly is exact. */
static struct str pin(struct arena *a, struct str name, struct str version)
{
	bool whole = str_contains(version, S("a")) || str_contains(version, S("rc")) ||
		     str_contains(version, S("dev")) || str_contains(version, S("+"));
	return version.n ? str_fmt(a, "%.*s==%.*s%s", STR(name), STR(version), whole ? "" : ".*")
			 : name;
}

/* The requirements and the indexes. With an index of the user's, versions that the table does not have are possible. */
static struct err *find_roots(struct getting *g)
{
	struct arena *a = g->a;
	const struct get_request *q = g->q;
	struct get_done *done = g->done;
	struct str url, gpus = str_join(a, &q->gpus, S(",device-"));
	const struct compat_wheel *row = find_row(g);
	done->rocm = row ? str_from(row->rocm) : q->rocm;
	bool early = str_chr(q->rocm, 'a') < q->rocm.n || str_contains(q->rocm, S("rc"));
	if (!row && !q->index_url.n && !early) {
		struct str what = str_fmt(a, "%.*s%s%.*s", STR(q->torch),
			q->rocm.n ? " for ROCm " : "", STR(q->rocm));
		return err_hint(
			err_new(E_GFX,
				"no published torch %.*s%sis known that has code for "
				"%.*s and is for Python %.*s",
				STR(what), what.n ? " " : "",
				STR(str_join(a, &q->gpus, S(" and "))), STR(g->search.python)),
			"'rocsmith doctor --gpu %.*s' says what there is", STR(q->gpus.v[0]));
	}
	/* A request for more than the row says, such as 2.14.1, is met by the index. */
	bool rocm = q->rocm.n && (!row || row->amd), more = !row ||
							    q->torch.n > strlen(row->torch) ||
							    (rocm && q->rocm.n > strlen(row->rocm));
	VEC_EACH (const struct str, name, &q->names) {
		struct str root = S("");
		for (size_t i = 0; row && row->install[i]; i++) {
			struct str text = str_from(row->install[i]);
			if (str_eq(requirement_name(a, text), *name))
				root = str_replace(a, text, S("{gpu}"), gpus);
		}
		if (row && !root.n)
			return err_new(E_USAGE,
				"no '%.*s' is known that goes with torch %s of ROCm %s", STR(*name),
				row->torch, row->rocm);
		if (more)
			root = str_eq(*name, S("torch")) ? pin(a, *name, q->torch) : *name;
		strs_add(a, &g->roots, root);
	}
	if (more && rocm)
		strs_add(a, &g->roots, pin(a, S("rocm"), q->rocm));
	if (!q->index_url.n && row && !row->amd) {
		TRY(address_of(a, "torch", str_from(row->index), S(""), &url));
		strs_add(a, &done->indexes, url);
	}
	TRY(address_of(a,
		q->index_url.n ? AMD_INDEX : address_for_rocm(q->rocm.n ? q->rocm : done->rocm),
		S(""), q->index_url, &url));
	strs_put(a, &done->indexes, url);
	return NULL;
}

/* ---- what is found ---- */

/* Sets the sizes of all files, and their sums; the servers need not tell them. */
static struct err *count_bytes(struct getting *g, const struct archive_items *all)
{
	struct get_done *done = g->done;
	struct archive_items files = {0};
	size_t own = done->packages.n;
	bool known = true;
	VEC_EACH (const struct get_package, p, &done->packages)
		*VEC_PUSH(g->a, &files) = p->file;
	VEC_EACH (const struct archive_item, f, all)
		*VEC_PUSH(g->a, &files) = *f;
	TRY(index_sizes(g->a, &g->search.vendor, &files));
	for (size_t i = 0; i < files.n; i++) {
		known = known && files.v[i].size;
		if (i < own)
			done->packages.v[i].file.size = files.v[i].size;
		done->size_all += files.v[i].size;
		if (i + 1 == own)
			done->size = known ? done->size_all : 0;
	}
	done->size_all = known ? done->size_all : 0;
	return NULL;
}

/* Fetches files into a folder: all, or only those whose hash no index gives. */
static struct err *fetch_files(struct getting *g, struct str dir, bool all)
{
	struct archive_items items = {0};
	struct str cache = fs_place(g->a, FS_CACHE, S("get"));
	CLEANUP(fd_closep) int lock = -1;
	VEC_EACH (const struct get_package, p, &g->done->packages)
		if (all || !p->file.sha256.n)
			*VEC_PUSH(g->a, &items) = p->file;
	if (!items.n)
		return NULL;
	TRY(fs_place_check(FS_CACHE));
	TRY(fs_mkdirs(cache));
	TRY(progress_lock(path_join(g->a, cache, S("lock")), &lock, "gets packages"));
	dir = dir.n ? dir : cache;
	TRY(fs_mkdirs(dir));
	TRY(index_fetch(g->a, &g->search.vendor, &items, dir));
	VEC_EACH (const struct archive_item, i, &items)
		VEC_EACH (struct get_package, p, &g->done->packages)
			if (str_eq(p->name, i->name))
				p->file = *i;
	return NULL;
}

/* ---- installing ---- */

struct err *get_python(
	struct arena *a, struct str program, const char *module, const struct strs *words)
{
	static const char *const unset[] = {"PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX",
		"PIP_USER", "PIP_ROOT", "PIP_REQUIRE_HASHES", NULL};
	struct proc p = {.argv = str_split(a, str_fmt(a, "- -I -m %s", module), ' ')};
	struct proc_result r;
	strs_add_words(a, &p.setenv, unset);
	STRS_ADD(a, &p.setenv, S("PIP_NO_INPUT=1"), S("PIP_DISABLE_PIP_VERSION_CHECK=1"));
	p.argv.v[0] = program;
	strs_add_all(a, &p.argv, words);
	return proc_check(a, &p, &r);
}

/* Names the packages of the environment that the new ones do not replace, though they install the same files. */
static struct err *list_rivals(struct getting *g, struct strs *ret)
{
	static const char *const kinds[] = {
		"triton*", "pytorch-triton*", "amd-*-device-*", "rocm-sdk-device-*", NULL};
	struct machine m;
	TRY(machine_read_all(g->a, S(""), &m));
	VEC_EACH (const struct machine_python, py, &m.pythons) {
		if (!py->active)
			continue;
		if (m.nvidia && str_eq(py->torch.build, S("cuda")))
			return err_hint(err_new(E_USAGE,
						"torch %.*s of '%.*s' serves the NVIDIA card of "
						"this machine",
						STR(py->torch.version), STR(py->path)),
				"--install with the name of a new folder leaves it alone");
		VEC_EACH (const struct machine_package, x, &py->packages)
			if (glob_match_any(kinds, x->name) &&
				!VEC_FIND(struct get_package, &g->done->packages, name, x->name))
				strs_put(g->a, ret, x->name);
	}
	return NULL;
}

/* Everything is fetched first. A killed run leaves an environment that the next one completes. */
static struct err *install_files(struct getting *g)
{
	struct arena *a = g->a;
	struct str env = path_abs(a, g->q->install), python = path_join(a, env, S("bin/python3"));
	bool old = fs_exists(python);
	struct strs rivals = {0}, words = {0};
	if (fs_exists(env) && !fs_exists(path_join(a, env, S("pyvenv.cfg"))) &&
		!fs_exists(path_join(a, env, S("conda-meta"))))
		return err_hint(err_new(E_USAGE, "'%.*s' is not a virtual environment", STR(env)),
			"--install with the name of a new folder makes one");
	if (old)
		TRY(list_rivals(g, &rivals));
	TRY(fetch_files(g, S(""), true));
	if (!old) {
		strs_add(a, &words, env);
		TRY_CTX(get_python(a, g->program, "venv", &words),
			"cannot make the environment '%.*s'", STR(env));
	}
	if (rivals.n)
		TRY_CTX(get_python(a, python, "pip uninstall -y", &rivals),
			"cannot remove what the new packages replace from '%.*s'", STR(env));
	words.n = 0;
	VEC_EACH (const struct get_package, p, &g->done->packages)
		strs_add(a, &words, p->file.path);
	progress_note(S("Installing"), "%zu packages", words.n);
	TRY_CTX(get_python(a, python, "pip install --no-deps", &words),
		"cannot install into '%.*s'", STR(env));
	g->done->environment = env;
	return NULL;
}

struct err *get_run(struct arena *a, const struct get_request *q, struct get_done *ret)
{
	struct archive_items all = {0};
	struct getting g = {.a = a, .q = q, .done = ret};
	*ret = (struct get_done){.names = q->names, .gpus = q->gpus, .machine = S("x86_64")};
	struct str lock = q->dir.n ? path_join(a, q->dir, S("pylock.toml")) : q->lock, text,
		   glibc = str_from(gnu_get_libc_version()), config = {0};
	uint64_t minor = 0, python = 0;
	TRY(find_python(&g));
	TRY(find_roots(&g));
	(void)str_u64(str_sub(glibc, 2, glibc.n), 10, &minor);
	(void)str_u64(str_sub(ret->python, 2, ret->python.n), 10, &python);
	g.search.vendor.urls = ret->indexes;
	g.search.vendor.config = g.search.pip.config = &config;
	g.search.gpus = q->gpus;
	g.search.minor = (unsigned)python;
	g.search.glibc = (unsigned)minor;
	g.search.machine = ret->machine;
	TRY(get_resolve(a, &g.search, &g.roots, &ret->packages, &all));
	TRY(count_bytes(&g, &all));
	VEC_EACH (const struct get_package, p, &ret->packages)
		ret->torch = str_eq(p->name, S("torch")) ? p->version : ret->torch;
	if (lock.n) {
		text = str_shell(a, lock);
		strs_fmt(a, &ret->commands, "python3 -m pip install --no-deps -r %.*s", STR(text));
		strs_fmt(a, &ret->commands, "uv pip install -r %.*s", STR(text));
	}
	if (fs_writes_forbidden())
		return NULL;
	if (q->install.n)
		return install_files(&g);
	if (!lock.n)
		return NULL;
	TRY(fetch_files(&g, q->dir, q->dir.n));
	ret->dir = q->dir;
	ret->lock = lock;
	return fs_write(lock, get_lock(a, ret, q->dir.n), 0644 | FS_IF_CHANGED);
}
