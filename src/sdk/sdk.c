/* Names, opening, checking and removing of SDKs; see sdk.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/progress.h"
#include "sdk/provider.h"

enum { MAX_RECORD = 256 << 20 };

struct str sdk_name(struct arena *a, const struct sdk_spec *spec)
{
	struct str suite = spec->suite.n ? spec->suite : S("sid");
	return str_fmt(a, "debian-%.*s", STR(suite));
}

struct str sdk_dir(struct arena *a, struct str name)
{
	return path_join(a, fs_place(a, FS_DATA, S("sdk")), name);
}

/* "compiler" is part of every debian SDK: the rest is of no use without. */
struct strs sdk_wanted(struct arena *a, const struct sdk_spec *spec)
{
	struct strs out = {0};
	strs_add(a, &out, S("compiler"));
	for (size_t i = 0; i < spec->components.n; i++)
		if (!strs_has(&out, spec->components.v[i]))
			strs_add(a, &out, spec->components.v[i]);
	return out;
}

struct err *sdk_lock(struct arena *a, struct str name, int *ret_fd)
{
	struct str dir = fs_place(a, FS_DATA, S("sdk"));
	TRY(fs_mkdirs(dir));
	struct str path = str_fmt(a, "%.*s/%.*s.lock", STR(dir), STR(name));
	struct err *e = fs_lock(path, false, ret_fd);
	if (!e || e->code != E_LOCKED)
		return e;
	err_free(e);
	progress_note(S("Waiting"), "for another rocsmith that installs '%.*s'", STR(name));
	return fs_lock(path, true, ret_fd);
}

struct err *sdk_names(struct arena *a, struct strs *ret)
{
	struct strs names = {0};
	struct str dir = fs_place(a, FS_DATA, S("sdk"));
	*ret = (struct strs){0};
	if (fs_is_dir(dir))
		TRY(fs_list(a, dir, &names));
	for (size_t i = 0; i < names.n; i++) {
		struct str manifest = str_fmt(a, "%.*s/%.*s/sdk.json", STR(dir), STR(names.v[i]));
		if (names.v[i].p[0] != '.' && fs_exists(manifest))
			strs_add(a, ret, names.v[i]);
	}
	return NULL;
}

/* ---- opening ---- */
struct err *sdk_open_tree(struct arena *a, struct str root, struct sdk *ret)
{
	ret->root = root;
	TRY(layout_find(a, S("/opt/rocm"), ret));
	/* the real folder, so that clang names it in what it prints and writes */
	struct str link = str_fmt(a, "%.*s/opt/rocm/llvm", STR(root)), llvm;
	TRY(fs_readlink(a, link, &llvm));
	struct str bin = path_clean(a, path_join(a, S("/opt/rocm"), path_join(a, llvm, S("bin"))));
	ret->clang = path_join(a, bin, S("clang++"));
	ret->bundler = path_join(a, bin, S("clang-offload-bundler"));
	ret->lld = path_join(a, bin, S("ld.lld"));
	ret->path.v[0] = bin;
	ret->sandbox = true;
	ret->runner = sandbox_choose(a, ret);
	return NULL;
}

/* ---- providers ---- */
static const struct sdk_provider *const providers[] = {&sdk_debian, &sdk_prefix};
enum { PROVIDERS = sizeof(providers) / sizeof(providers[0]) };

struct err *sdk_find_provider(const struct sdk_spec *spec, const struct sdk_provider **ret)
{
	ARENA(tmp);
	struct strs known = {0};
	for (size_t i = 0; i < PROVIDERS; i++) {
		struct str name = str_from(providers[i]->name);
		*ret = providers[i];
		if (!spec->provider.n || str_eq(spec->provider, name))
			return NULL;
		strs_add(&tmp, &known, name);
	}
	struct err *e = err_new(E_USAGE, "unknown provider '%.*s'", STR(spec->provider));
	return err_hint(e, "known: %.*s", STR(str_join(&tmp, &known, S(", "))));
}

struct err *sdk_spec_parse(struct arena *a, struct str word, struct sdk_spec *ret)
{
	for (size_t i = 0; i < PROVIDERS; i++) {
		*ret = (struct sdk_spec){.provider = str_from(providers[i]->name)};
		if (providers[i]->parse(word, ret)) {
			ret->suite = str_dup(a, ret->suite);
			ret->prefix = str_dup(a, ret->prefix);
			return NULL;
		}
	}
	struct err *e = err_new(E_USAGE, "unknown SDK '%.*s'", STR(word));
	return err_hint(e, "write debian, debian:sid, debian:experimental or prefix:/opt/rocm");
}

struct err *sdk_open(struct arena *a, const struct sdk_spec *spec, struct sdk *ret)
{
	const struct sdk_provider *provider;
	TRY(sdk_find_provider(spec, &provider));
	return provider->open(a, spec, ret);
}

struct err *sdk_open_installed(struct arena *a, const struct sdk_spec *spec, struct sdk *ret)
{
	struct str name = sdk_name(a, spec);
	struct sdk_manifest m;
	TRY(sdk_manifest_read(a, sdk_dir(a, name), &m));
	struct strs want = sdk_wanted(a, spec);
	if (!m.provider.n) {
		struct err *e = err_new(E_SDK, "the SDK '%.*s' is not installed", STR(name));
		return err_hint(e, "rocsmith sdk install debian --suite %.*s --components %.*s",
			STR(str_sub(name, sizeof("debian-") - 1, name.n)),
			STR(str_join(a, &want, S(","))));
	}
	for (size_t i = 0; i < spec->components.n; i++) {
		struct str c = spec->components.v[i];
		if (strs_has(&m.components, c))
			continue;
		struct err *e = err_new(
			E_SDK, "the SDK '%.*s' lacks the component '%.*s'", STR(name), STR(c));
		return err_hint(e, "rocsmith sdk install debian --suite %.*s --components %.*s",
			STR(m.suite), STR(c));
	}
	*ret = (struct sdk){.name = name, .provider = m.provider, .suite = m.suite};
	ret->dir = sdk_dir(a, name);
	TRY_CTX(sdk_open_tree(a, path_join(a, ret->dir, S("root")), ret),
		"cannot use the SDK '%.*s'", STR(name));
	ret->index_date = m.index_date;
	ret->notes = m.notes;
	ret->requested = m.components;
	ret->fingerprint = sdk_manifest_fingerprint(a, &m);
	ret->packages = m.packages.n;
	VEC_EACH (const struct sdk_package, p, &m.packages)
		ret->bytes += p->bytes;
	*VEC_PUSH(a, &ret->components) =
		(struct sdk_component){.name = S("clang"), .version = m.clang_version};
	return NULL;
}

static struct err *default_name(struct arena *a, struct str *ret)
{
	const char *env = getenv("ROCSMITH_SDK");
	struct strs names;
	*ret = str_from(env);
	if (ret->n)
		return NULL;
	TRY(sdk_names(a, &names));
	if (!names.n) {
		struct err *e = err_new(E_SDK, "no SDK is installed");
		return err_hint(e, "rocsmith sdk install debian --suite sid --components compiler");
	}
	*ret = strs_has(&names, S("debian-sid")) ? S("debian-sid") : names.v[0];
	return NULL;
}

struct err *sdk_open_name(struct arena *a, struct str name, struct sdk *ret)
{
	struct sdk_spec spec;
	const struct sdk_provider *provider;
	if (!name.n)
		TRY(default_name(a, &name));
	struct err *e = sdk_spec_parse(a, name, &spec);
	if (!e) {
		TRY(sdk_find_provider(&spec, &provider));
		struct str dir = sdk_dir(a, sdk_name(a, &spec));
		if (!provider->resolve || fs_exists(path_join(a, dir, S("sdk.json"))))
			return provider->open(a, &spec, ret);
	}
	err_free(e);
	e = err_new(E_SDK, "there is no SDK '%.*s'", STR(name));
	return err_hint(e, "'rocsmith sdk list' shows what is installed");
}

struct err *sdk_remove(struct arena *a, struct str name)
{
	struct str dir = sdk_dir(a, name);
	if (!name.n || str_chr(name, '/') < name.n || name.p[0] == '.')
		return err_new(E_USAGE, "'%.*s' is no SDK of ours", STR(name));
	CLEANUP(fd_closep) int lock = -1;
	TRY(sdk_lock(a, name, &lock));
	struct str stage = str_fmt(a, "%.*s/.%.*s.new", STR(path_dir(dir)), STR(name));
	if (!fs_is_dir(dir) && !fs_is_dir(stage))
		return err_new(E_NOENT, "there is no SDK '%.*s'", STR(name));
	TRY(fs_remove(path_join(a, dir, S("sdk.json")))); /* first: no half SDK is ever opened */
	TRY(fs_remove_tree(dir));
	TRY(fs_remove_tree(stage));
	return fs_remove_tree(path_join(a, fs_place(a, FS_CACHE, S("sdk")), name));
}

/* ---- damage ---- */
struct damage {
	struct str root;
	bool deep;
	struct findings *findings;
};

static struct err *tell(
	struct arena *a, const struct damage *d, struct str path, enum record_state state)
{
	if (!d->findings)
		return NULL;
	bool gone = state == RECORD_MISSING;
	struct finding *f = finding_add(a, d->findings,
		gone ? "sdk-file-missing" : "sdk-file-changed", SEV_ERROR, str_dup(a, path));
	finding_say(
		a, f, "'%.*s' %s", STR(path), gone ? "is missing" : "is not what was installed");
	finding_fix(a, f, "rocsmith sdk install");
	return NULL;
}

static struct err *check_package(struct arena *a, const struct damage *d,
	const struct sdk_package *p, struct str dir, bool *ret_bad)
{
	ARENA(tmp);
	struct str path = str_fmt(&tmp, "%.*s/records/%.*s", STR(dir), STR(p->name)), text;
	TRY(fs_read_opt(&tmp, path, MAX_RECORD, &text));
	struct digest h = hash_bytes(HASH_SHA256, text.p ? text.p : "", text.n);
	*ret_bad = !text.p || !str_eq(digest_hex(&tmp, &h), p->record);
	if (*ret_bad)
		return tell(a, d, path, text.p ? RECORD_CHANGED : RECORD_MISSING);
	struct record r;
	bool bad;
	while (record_next(&text, &r, &bad)) {
		enum record_state state;
		TRY(record_compare(d->root, &r, d->deep, &state));
		*ret_bad = *ret_bad || state != RECORD_OK;
		if (state != RECORD_OK)
			TRY(tell(a, d, r.path, state));
	}
	return cancel_check();
}

/* What an earlier check found, if nobody has repaired it yet. */
static struct err *remembered(struct arena *a, struct str dir, struct strs *ret)
{
	struct str text, line;
	TRY(fs_read_opt(a, path_join(a, dir, S("damaged")), MAX_RECORD, &text));
	while (text.p && str_next(&text, '\n', &line))
		if (line.n && !strs_has(ret, line))
			strs_add(a, ret, line);
	return NULL;
}

struct err *sdk_find_damage(
	struct arena *a, struct str dir, bool deep, struct strs *ret_packages, struct findings *ret)
{
	struct sdk_manifest m;
	struct damage d = {.root = path_join(a, dir, S("root")), .deep = deep, .findings = ret};
	TRY(sdk_manifest_read(a, dir, &m));
	if (!deep)
		TRY(remembered(a, dir, ret_packages));
	CLEANUP(progress_endp) struct progress *bar = NULL;
	if (deep)
		bar = progress_begin(S("Checking"), path_base(dir), UNIT_ITEMS, m.packages.n);
	VEC_EACH (struct sdk_package, p, &m.packages) {
		bool bad;
		TRY(check_package(a, &d, p, dir, &bad));
		if (bad && !strs_has(ret_packages, p->name))
			strs_add(a, ret_packages, p->name);
		progress_add(bar, 1, p->name);
	}
	return NULL;
}

static struct err *remember(struct arena *a, struct str dir, const struct strs *packages)
{
	struct str path = path_join(a, dir, S("damaged"));
	if (!packages->n)
		return fs_remove(path);
	return fs_write(path, str_join(a, packages, S("\n")), 0644);
}

struct err *sdk_check(struct arena *a, struct str name, struct findings *ret)
{
	struct sdk_manifest m;
	struct strs packages = {0};
	struct str dir = sdk_dir(a, name);
	TRY(sdk_manifest_read(a, dir, &m));
	if (!m.provider.n)
		return err_new(E_SDK, "the SDK '%.*s' is not installed", STR(name));
	CLEANUP(fd_closep) int lock = -1;
	TRY(sdk_lock(a, name, &lock));
	TRY(sdk_find_damage(a, dir, true, &packages, ret));
	return remember(a, dir, &packages);
}
