/* Known projects: descriptions that rocsmith ships (recipes/projects/), and the sources that they are
 * applied to. */
#include "base/fs.h"
#include "base/version.h"
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

/* ---- whose sources ---- */

static struct str missing_mark(struct arena *a, const struct strs *marks, struct str dir)
{
	VEC_EACH (const struct str, mark, marks)
		if (!fs_exists(path_join(a, dir, *mark)))
			return *mark;
	return S("");
}

/* Is this folder's content that of the description? */
static struct err *has_marks(struct arena *a, const struct description *d, bool *ret)
{
	const struct node *root;
	struct strs marks = {0};
	TRY(yaml_parse(a, d->text, d->config, &root));
	TRY(node_want_strs(a, root, S("marks"), &marks));
	*ret = !missing_mark(a, &marks, d->dir).n;
	return NULL;
}

static struct err *not_known(struct arena *a, const struct plan_request *r)
{
	struct strs names = known_names(a);
	struct str near = suggest(r->dir, &names);
	struct err *e = err_new(
		E_USAGE, "%s is for known projects, and '%.*s' is none", "--source", STR(r->dir));
	if (near.n)
		err_hint(e, "did you mean '%.*s'?", STR(near));
	return err_hint(e, "known are: %.*s", STR(str_join(a, &names, S(", "))));
}

struct err *known_resolve(struct arena *a, const struct plan_request *r, struct description *ret)
{
	bool here = false;
	struct str text = text_of(r->dir);
	*ret = (struct description){.dir = r->dir, .config = r->config};
	if (!text.p)
		return r->source.n ? not_known(a, r) : NULL;
	ret->known = true;
	if (!r->config.n) {
		ret->config = str_fmt(a, "%.*s.yaml", STR(r->dir));
		ret->text = text;
	}
	if (r->source.n) {
		ret->dir = r->source;
		return NULL;
	}
	TRY(has_marks(a, &(struct description){r->dir, S("torch.yaml"), text, true}, &here));
	return here ? NULL
		    : err_hint(err_new(E_PLAN, "no sources of '%.*s' are given", STR(r->dir)),
			      "name the folder that holds them: --source DIR");
}

/* ---- do they fit? ---- */

/* "2.6.0" of "2.6.0a0+git1", and of "'2.6.0'". */
static struct str release_of(struct arena *a, struct str text)
{
	size_t n = 0;
	text = str_trim(text);
	if (text.n && (text.p[0] == '\'' || text.p[0] == '"'))
		text = str_sub(text, 1, text.n);
	while (n < text.n && (ascii_digit(text.p[n]) || text.p[n] == '.'))
		n++;
	while (n && text.p[n - 1] == '.')
		n--;
	return str_dup(a, str_sub(text, 0, n));
}

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
			*ret_version = release_of(a, str_sub(text, from, text.n));
	}
	return NULL;
}

struct err *known_python(struct arena *a, const struct project *p, const struct plan *plan)
{
	const struct str release = plan->foreign->release, python = plan->host.python_version;
	VEC_EACH (const struct release, r, &p->releases) {
		bool of, fits;
		TRY(when_version(a, release, r->version, &of));
		if (!of || !release.n)
			continue;
		TRY(when_version(a, python, r->python, &fits));
		if (fits)
			return NULL;
		return err_hint(err_new(E_PLAN, "'%.*s' %.*s is for Python %.*s, not for %.*s",
					STR(plan->name), STR(release), STR(r->python), STR(python)),
			"name another one with --python");
	}
	return NULL;
}
