/* Finds the description of a known project among those that rocsmith ships (recipes/projects/), and the sources that it
 * describes. */
#include "base/fs.h"
#include "lang/python/version.h"
#include "plan/plan_int.h"

enum { MAX_FILE = 4 << 20 };

extern const struct str project_texts[];
extern const char *const project_texts_files[];
extern const size_t project_texts_count;

static struct strs known_names(struct arena *a)
{
	struct strs names = {0};
	for (size_t i = 0; i < project_texts_count; i++) {
		struct str file = str_from(project_texts_files[i]);
		strs_add(a, &names, str_dup(a, str_sub(file, 0, str_rchr(file, '.'))));
	}
	return names;
}

static struct str text_of(struct str name)
{
	ARENA(tmp);
	struct strs names = known_names(&tmp);
	for (size_t i = 0; i < names.n; i++)
		if (str_eq(names.v[i], name))
			return project_texts[i];
	return (struct str){0};
}

bool plan_known_cost(struct arena *a, struct str name, struct plan_cost *ret)
{
	const struct node *root, *cost;
	struct str text = text_of(name);
	*ret = (struct plan_cost){0};
	struct err *e = text.p ? yaml_parse(a, text, name, &root) : err_new(E_NOENT, "unknown");
	if (!e && (cost = node_get(root, S("cost"))))
		e = json_fields_read(a, cost, plan_cost_fields, ret);
	err_free(e);
	return ret->memory != 0;
}

struct err *plan_known_after(struct arena *a, struct str name, struct strs *ret)
{
	struct project p;
	struct strs names = known_names(a);
	struct description d = {
		.dir = S("."), .config = name, .text = text_of(name), .known = true};
	if (!d.text.p) {
		struct err *e =
			err_new(E_USAGE, "a set has known projects, and '%.*s' is none", STR(name));
		return err_near(e, name, &names)->hints
			       ? e
			       : err_hint(e, "known projects: %.*s",
					 STR(str_join(a, &names, S(", "))));
	}
	TRY(project_read(a, &d, &p));
	*ret = p.after;
	return NULL;
}

/* ---- finding the sources ---- */

static struct str missing_mark(struct arena *a, const struct strs *marks, struct str dir)
{
	VEC_EACH (const struct str, mark, marks)
		if (!fs_exists(path_join(a, dir, *mark)))
			return *mark;
	return S("");
}

static struct err *not_known(struct arena *a, const struct plan_request *r)
{
	struct strs names = known_names(a);
	struct err *e =
		r->source.n ? err_new(E_USAGE, "--source is for known projects, and '%.*s' is none",
				      STR(r->dir))
			    : err_new(E_NOENT, "no such project folder '%.*s'", STR(r->dir));
	if (err_near(e, r->dir, &names)->hints || !r->source.n)
		return e;
	return err_hint(err_hint(e, "known projects: %.*s", STR(str_join(a, &names, S(", ")))),
		"for another project, give its sources instead of a folder: '%.*s'",
		STR(r->source));
}

/* The version of the project that fits this torch, the first one of a range: "1.6.0" for "==1.6.*", "2.11.0" for
 * ">=2.11"; "" = any, or unknown. */
static struct err *version_for(
	struct arena *a, const struct project *p, struct str torch, struct str *ret)
{
	*ret = S("");
	VEC_EACH (const struct release, r, &p->releases) {
		struct str range = str_sub(r->version, 0, str_chr(r->version, ','));
		bool fits;
		if (!r->torch.n || !torch.n)
			continue;
		TRY(when_version(a, torch, r->torch, &fits));
		if (!fits)
			continue;
		range = str_sub(range, str_until(range, ASCII_DIGITS), range.n);
		*ret = str_replace(a, range, S(".*"), S(""));
		if (ret->n && str_count(*ret, '.') < 2)
			*ret = str_fmt(a, "%.*s.0", STR(*ret));
		if (ret->n)
			return NULL;
	}
	return NULL;
}

/* Adds the complete commands that fetch the sources from origins we cannot fetch from. */
static struct err *hint_origins(
	struct arena *a, struct err *e, const struct project *p, struct str version)
{
	struct str series = str_sub(version, 0, str_rchr(version, '.'));
	VEC_EACH (const struct origin, o, &p->origins) {
		struct str ref =
			str_replace(a, o->ref, S("@version@"), version.n ? version : S("VERSION"));
		ref = str_replace(a, ref, S("@series@"), version.n ? series : S("X.Y"));
		if (o->git.n)
			err_hint(e, "git clone --recurse-submodules --branch %.*s %.*s", STR(ref),
				STR(o->git));
	}
	return e;
}

static struct err *fetch(struct arena *a, const struct plan_request *r,
	const struct source_spec *spec, bool patches, struct description *ret)
{
	const struct source_request q = {.spec = *spec,
		.patches = patches,
		.mirror = r->mirror,
		.keyring = r->keyring,
		.python = r->python,
		.refresh = r->refresh};
	TRY_CTX(source_fetch(a, &q, &ret->tree), "cannot get the sources '%.*s'", STR(spec->text));
	ret->dir = ret->tree.dir;
	if (spec->kind == SOURCE_DIR)
		ret->tree = (struct source_tree){0};
	return NULL;
}

struct err *known_check_with(const struct plan_request *r)
{
	VEC_EACH (const struct str, w, &r->with) {
		if (!str_ends(*w, S(".whl")))
			return err_hint(
				err_new(E_USAGE, "'%.*s' of --with is not a wheel", STR(*w)),
				"wheels end in .whl");
		if (!fs_is_file(*w) && !strs_has(&r->promised, *w))
			return err_new(E_NOENT, "no wheel '%.*s'", STR(*w));
	}
	return NULL;
}

static struct err *fetch_known(struct arena *a, const struct plan_request *r,
	const struct project *p, struct description *ret)
{
	struct source_spec spec;
	struct str version, word = r->source;
	bool patches = true, has = word.n > 0;
	struct err *e = version_for(a, p, known_torch(&r->with), &version);
	struct err *missing = e ? known_check_with(r) : NULL; /* as a pattern that matched none */
	if (missing) {
		err_free(e);
		e = missing;
	}
	TRY(e);
	/* the first origin that we can fetch from and that has the version; origins are listed newest first */
	VEC_EACH (const struct origin, o, &p->origins) {
		if (o->word.n && !has)
			TRY(when_version(a, version, o->version, &has));
		if (has && !word.n)
			word = o->word;
	}
	if (!word.n) {
		e = err_new(E_PLAN, "no sources of '%.*s' are given", STR(r->dir));
		err_hint(e, "name the folder that holds them: --source DIR");
		if (!version.n)
			err_hint(e, "its version depends on the torch: --with torch-*.whl");
		return hint_origins(a, e, p, version);
	}
	TRY(source_spec_parse(a, word, &spec));
	VEC_EACH (const struct origin, o, &p->origins)
		if (str_eq(o->word, str_sub(word, 0, str_chr(word, '='))))
			patches = !o->upstream;
	return fetch(a, r, &spec, patches, ret);
}

struct err *known_resolve(struct arena *a, const struct plan_request *r, struct description *ret)
{
	struct project p;
	struct source_spec spec;
	struct str text = text_of(r->dir);
	*ret = (struct description){.dir = r->dir, .config = r->config};
	if (!text.p) { /* not a known project: r->dir is its folder, or an origin of its sources */
		if (r->source.n)
			return not_known(a, r);
		if (fs_is_dir(r->dir))
			return NULL;
		TRY(source_spec_parse(a, r->dir, &spec));
		if (spec.kind != SOURCE_DIR)
			return fetch(a, r, &spec, true, ret);
		return fs_exists(r->dir) ? NULL : not_known(a, r);
	}
	ret->known = true;
	if (!r->config.n) {
		ret->config = str_fmt(a, "%.*s.yaml", STR(r->dir));
		ret->text = text;
	}
	struct description d = *ret;
	d.dir = S(".");
	TRY(project_read(a, &d, &p));
	if (r->source.n || missing_mark(a, &p.marks, r->dir).n)
		return fetch_known(a, r, &p, ret);
	return NULL; /* r->dir is also a folder, and has these sources */
}

/* ---- checks of sources, torch and Python ---- */

struct err *known_check(struct arena *a, const struct project *p, struct str *ret_version)
{
	struct str missing = missing_mark(a, &p->marks, p->dir), text;
	*ret_version = p->version;
	if (missing.n)
		return err_new(E_PROJECT,
			"'%.*s' does not hold the sources of '%.*s': there is no %.*s", STR(p->dir),
			STR(p->name), STR(missing));
	VEC_EACH (const struct version_place, at, &p->version_from) {
		if (ret_version->n)
			break;
		TRY(fs_read_opt(a, path_join(a, p->dir, at->file), MAX_FILE, &text));
		size_t from = text.p ? str_find(text, at->behind) + at->behind.n : 0;
		if (text.p && from <= text.n)
			*ret_version = version_release(str_sub(text, from, text.n));
	}
	return NULL;
}

struct str known_torch(const struct strs *with)
{
	VEC_EACH (const struct str, wheel, with) {
		struct str name = path_base(*wheel), project, version;
		if (str_next(&name, '-', &project) && str_next(&name, '-', &version) &&
			str_eq(project, S("torch")))
			return str_sub(version, 0, str_chr(version, '+'));
	}
	return S("");
}

/* Fails with E_PLAN if a version is out of range: "torch 2.6.0 is for Python >=3.9,<3.14, not for 3.14". */
static struct err *check_fit(
	struct arena *a, const struct plan *plan, const char *what, struct str range, struct str is)
{
	bool fits;
	TRY(when_version(a, is, range, &fits));
	return fits ? NULL
		    : err_new(E_PLAN, "'%.*s' %.*s is for %s %.*s, not for %.*s", STR(plan->name),
			      STR(plan->foreign->release), what, STR(range), STR(is));
}

struct err *known_fits(struct arena *a, const struct project *p, const struct plan *plan)
{
	struct str torch = known_torch(&plan->foreign->with), version;
	bool of = false;
	TRY(version_for(a, p, torch, &version));
	if (strs_has(&p->after, S("torch")) && !torch.n)
		return err_hint(
			err_new(E_PLAN, "'%.*s' is built against a torch, and none is given",
				STR(plan->name)),
			"name the wheel of a torch for ROCm: --with torch-*.whl");
	for (size_t i = 0; i < p->releases.n && plan->foreign->release.n && !of; i++) {
		const struct release *r = &p->releases.v[i];
		TRY(when_version(a, plan->foreign->release, r->version, &of));
		if (!of)
			continue;
		struct err *e = check_fit(a, plan, "torch", r->torch, torch);
		if (e) {
			err_hint(e, "take sources of the release that belongs to this torch");
			return version.n ? hint_origins(a, e, p, version) : e;
		}
		e = check_fit(a, plan, "Python", r->python, plan->host.python_version);
		if (e)
			return err_hint(e, "name another one with --python");
	}
	return NULL;
}
