/* Finds the versions and files of a set of packages; see get.h. */
#include <limits.h>

#include "base/glob.h"
#include "base/proc.h"
#include "base/progress.h"
#include "flow/get.h"
#include "lang/python/version.h"
#include "target/target.h"
#include "wheel/wheel.h"

#define DEVICE "device-"
#define ALL_GPUS S(DEVICE "all")

struct get_candidate { /* a file that this Python and machine can use */
	struct archive_item file;
	struct str version;
	const struct version *v;
	unsigned rank; /* the best tag has the highest; 0 = a source distribution */
};

struct get_wish {
	struct str text, by;
	struct requirement r;
};

struct get_wishes VEC_OF(struct get_wish);

struct get_project {
	struct str name, missing; /* missing: why no index has it */
	bool asked, asked_pip;
	VEC(struct get_candidate) candidates;
	struct get_wishes wishes; /* each specifier once, over all tries since the last ban */
	struct strs banned;       /* versions whose requirements cannot be met */
	/* the state of one try */
	const struct get_candidate *chosen;
	bool met; /* its requirements are known */
	struct str by;
	struct strs extras;
	/* the metadata of this candidate */
	const struct get_candidate *known;
	struct dist_headers headers;
};

struct resolving {
	struct arena *a;
	const struct get_search *s;
	VEC(struct get_project *) projects;
	const struct version *python;
	struct progress *bar;
};

/* Only the indexes of PyTorch and ROCm are asked for these. */
static bool is_vendors(struct str name)
{
	static const char *const theirs[] = {"rocm", "rocm-*", "amd-*", "torch", "torchvision",
		"torchaudio", "triton*", "pytorch-triton*", NULL};
	return glob_match_any(theirs, name) && !str_eq(name, S("rocm-bootstrap"));
}

static struct get_project *project_of(struct resolving *r, struct str name)
{
	struct str key = package_name(r->a, name, '-');
	for (size_t i = 0; i < r->projects.n; i++)
		if (str_eq(r->projects.v[i]->name, key))
			return r->projects.v[i];
	struct get_project *ret = NEW(r->a, struct get_project);
	ret->name = key;
	*VEC_PUSH(r->a, &r->projects) = ret;
	return ret;
}

/* ---- files ---- */

/* The better one of a tag's Python and ABI, for CPython 3.minor; 0 = it cannot be used. */
static unsigned rank_tag(struct str python, struct str abi, uint64_t minor)
{
	uint64_t n = 0;
	bool none = str_eq(abi, S("none")), stable = str_eq(abi, S("abi3"));
	struct str digits = str_sub(python, 3, python.n);
	if (digits.n && !str_u64(digits, 10, &n))
		return 0;
	if (str_starts(python, S("py3")))
		return none && n <= minor ? 1 : 0;
	if (!str_starts(python, S("cp3")) || !digits.n || n > minor || (n < minor && !stable))
		return 0;
	return stable ? 3 : none ? 2 : str_eq(abi, python) ? 4 : 0;
}

static unsigned rank_wheel(struct resolving *r, const struct wheel_name *w)
{
	struct strs tags = wheel_tags(r->a, w);
	struct str python, abi, platform, arch, rest;
	unsigned best = 0;
	VEC_EACH (const struct str, tag, &tags) {
		str_cut(*tag, '-', &python, &rest);
		str_cut(rest, '-', &abi, &platform);
		unsigned glibc = wheel_tag_glibc(platform, &arch),
			 rank = rank_tag(python, abi, r->s->minor);
		bool old = glibc && (glibc == UINT_MAX || glibc <= r->s->glibc);
		if ((str_eq(platform, S("any")) || (old && str_eq(arch, r->s->machine))) &&
			rank > best)
			best = rank;
	}
	return best;
}

/* Adds the file to its project if this Python and machine can use it; files with strange names are passed over. */
static void add_candidate(struct resolving *r, const struct archive_item *file)
{
	static const char *const sources[] = {".tar.gz", ".zip", NULL};
	struct get_candidate c = {.file = *file};
	struct wheel_name w;
	bool fits = true, wheel = str_ends(file->file, S(".whl"));
	struct err *e = NULL;
	if (wheel) {
		e = wheel_name_parse(r->a, file->file, &w);
		c.version = e ? S("") : w.version;
		c.rank = e ? 0 : rank_wheel(r, &w);
	} else {
		struct str stem = file->file;
		for (size_t i = 0; sources[i]; i++)
			if (str_ends(file->file, str_from(sources[i])))
				stem.n = file->file.n - strlen(sources[i]);
		c.version = str_sub(stem, str_rchr(stem, '-') + 1, stem.n);
	}
	if (!e)
		e = version_parse(r->a, c.version, &c.v);
	if (!e)
		e = version_match(r->python, file->requires_python, &fits);
	if (!e && fits && (c.rank || !wheel)) {
		c.version = version_text(r->a, c.v);
		*VEC_PUSH(r->a, &project_of(r, file->name)->candidates) = c;
	}
	err_free(e);
}

static struct err *ask(struct resolving *r, const struct index_job *job, const struct strs *names)
{
	struct archive_items files = {0};
	struct index_missings missing = {0};
	if (names->n)
		TRY(index_lists(r->a, job, names, &files, &missing));
	VEC_EACH (const struct archive_item, f, &files)
		add_candidate(r, f);
	VEC_EACH (const struct index_missing, m, &missing) {
		struct get_project *p = project_of(r, m->project);
		p->missing = str_fmt(
			r->a, "%.*s%s%.*s", STR(p->missing), p->missing.n ? "; " : "", STR(m->why));
	}
	return NULL;
}

/* Reads the lists of files of all projects that these requirements name. */
static struct err *ask_for(struct resolving *r, const struct get_wishes *wishes)
{
	struct strs vendor = {0}, pip = {0};
	VEC_EACH (const struct get_wish, w, wishes) {
		struct get_project *p = project_of(r, w->r.name);
		if (!p->asked)
			strs_add(r->a, &vendor, p->name);
		p->asked = true;
	}
	if (r->projects.n > GET_PACKAGES)
		return err_new(E_LIMIT, "more than %d packages are required", GET_PACKAGES);
	TRY(ask(r, &r->s->vendor, &vendor));
	VEC_EACH (const struct str, name, &vendor) {
		struct get_project *p = project_of(r, *name);
		p->asked_pip = is_vendors(*name);
		if (!p->candidates.n && !p->asked_pip)
			strs_add(r->a, &pip, *name);
		p->asked_pip = p->asked_pip || !p->candidates.n;
	}
	return ask(r, &r->s->pip, &pip);
}

/* ---- choosing ---- */

/* Files that were withdrawn are only for those who pin them. */
static bool is_allowed(const struct get_project *p, const struct get_candidate *c)
{
	bool match = !strs_has(&p->banned, c->version), pinned = false;
	for (size_t i = 0; i < p->wishes.n && match; i++) {
		struct str specifier = p->wishes.v[i].r.specifier;
		struct err *e = version_match(c->v, specifier, &match);
		match = match && !e;
		err_free(e);
		pinned = pinned ||
			 (str_starts(specifier, S("==")) && !str_contains(specifier, S("*")));
	}
	return match && (pinned || !c->file.yanked);
}

static bool is_better(const struct get_candidate *x, const struct get_candidate *y)
{
	if (!y || !x->rank != !y->rank)
		return !y || x->rank;
	if (version_is_pre(x->v) != version_is_pre(y->v))
		return !version_is_pre(x->v);
	int order = version_cmp(x->v, y->v);
	return order ? order > 0 : x->rank > y->rank;
}

static const struct get_candidate *best_of_project(const struct get_project *p)
{
	const struct get_candidate *best = NULL;
	VEC_EACH (const struct get_candidate, c, &p->candidates)
		if (is_allowed(p, c) && is_better(c, best))
			best = c;
	return best;
}

static struct err *none_fits(struct resolving *r, const struct get_project *p)
{
	struct strs wanted = {0}, seen = {0};
	VEC_EACH (const struct get_wish, w, &p->wishes)
		strs_add(r->a, &wanted,
			w->by.n ? str_fmt(r->a, "'%.*s' of %.*s", STR(w->text), STR(w->by))
				: str_fmt(r->a, "'%.*s'", STR(w->text)));
	VEC_EACH (const struct get_candidate, c, &p->candidates)
		if (seen.n < 12)
			strs_put(r->a, &seen, c->version);
	struct str all = str_join(r->a, &wanted, S(", "));
	if (!p->candidates.n && p->missing.n)
		return err_wrap(err_new(E_SOURCE, "%.*s", STR(p->missing)),
			"no index has '%.*s', for %.*s", STR(p->name), STR(all));
	return err_new(E_PLAN, "no file of '%.*s' is for %.*s, CPython %.*s and %.*s%s%.*s",
		STR(p->name), STR(all), STR(r->s->python), STR(r->s->machine),
		seen.n ? "; there are files of " : "", STR(str_join(r->a, &seen, S(", "))));
}

/* Bans the version of a package that wants of p what there is not, if it has others; then all begins anew. */
static bool ban_parent(struct resolving *r, const struct get_project *p)
{
	for (size_t i = 0; i < p->wishes.n; i++) {
		struct get_project *parent =
			p->wishes.v[i].by.n ? project_of(r, p->wishes.v[i].by) : NULL;
		if (!parent || !parent->chosen)
			continue;
		strs_add(r->a, &parent->banned, parent->chosen->version);
		if (best_of_project(parent)) {
			for (size_t n = 0; n < r->projects.n; n++)
				r->projects.v[n]->wishes.n = 0;
			return true;
		}
		parent->banned.n--;
	}
	return false;
}

/* Chooses the file of a project. *ret_again: there was none, so a version of another project was banned. */
static struct err *choose_file(struct resolving *r, struct get_project *p, bool *ret_again)
{
	struct strs one = {0};
	p->chosen = best_of_project(p);
	if (!p->chosen && !p->asked_pip) { /* the vendor's copies are too old */
		p->asked_pip = true;
		strs_add(r->a, &one, p->name);
		TRY(ask(r, &r->s->pip, &one));
		p->chosen = best_of_project(p);
	}
	*ret_again = !p->chosen && ban_parent(r, p);
	return p->chosen || *ret_again ? NULL : none_fits(r, p);
}

static struct err *take_metadata(
	struct resolving *r, struct get_project *p, const struct index_metadata *m)
{
	struct str name = p->chosen->file.file;
	if (m->why.n && p->chosen->rank) /* a source distribution may have none */
		return err_wrap(err_new(E_NOENT, "%.*s", STR(m->why)),
			"cannot read the metadata of '%.*s'", STR(name));
	p->headers = (struct dist_headers){0};
	TRY_CTX(dist_headers_parse(r->a, m->text, &p->headers),
		"the metadata of '%.*s' are malformed", STR(name));
	p->known = p->chosen;
	progress_add(r->bar, 1, p->name);
	return NULL;
}

/* Reads the metadata of the chosen files that are the vendor's, or of those that are not, in one go. */
static struct err *read_metadata(struct resolving *r, const struct get_wishes *wishes, bool vendors)
{
	VEC(struct get_project *) projects = {0};
	struct archive_items files = {0};
	struct index_metadatas got = {0};
	VEC_EACH (const struct get_wish, w, wishes) {
		struct get_project *p = project_of(r, w->r.name);
		bool twice = false;
		for (size_t i = 0; i < projects.n; i++)
			twice = twice || projects.v[i] == p;
		if (twice || p->known == p->chosen || is_vendors(p->name) != vendors)
			continue;
		*VEC_PUSH(r->a, &projects) = p;
		*VEC_PUSH(r->a, &files) = p->chosen->file;
	}
	if (files.n)
		TRY(index_metadata(r->a, vendors ? &r->s->vendor : &r->s->pip, &files, &got));
	for (size_t i = 0; i < projects.n; i++)
		TRY(take_metadata(r, projects.v[i], &got.v[i]));
	return NULL;
}

/* ---- requirements ---- */

static struct err *put_wish(struct resolving *r, struct get_wishes *to, struct get_wish w)
{
	if (w.r.url.n)
		return err_new(E_PLAN, "'%.*s' requires '%.*s' from an address of its own",
			STR(w.by), STR(w.r.name));
	*VEC_PUSH(r->a, to) = w;
	return NULL;
}

static struct err *add_wish(
	struct resolving *r, struct get_wishes *to, struct str text, struct str by)
{
	struct get_wish w = {.text = text, .by = by};
	TRY_CTX(requirement_parse(text, &w.r), "'%.*s'%s%.*s is no requirement", STR(text),
		by.n ? " of " : "", STR(by));
	return put_wish(r, to, w);
}

/* Is the requirement that of an extra? */
static bool is_of_extra(struct resolving *r, const struct requirement *q, struct str extra)
{
	return requirement_may_hold(q, r->s->python, r->s->machine, extra) &&
	       !requirement_may_hold(q, r->s->python, r->s->machine, S(""));
}

/* Does an extra of this GPU want the wheel of its family, which only the extra of all GPUs names? */
static bool is_of_family(struct resolving *r, const struct requirement *q, struct str extra)
{
	struct str name = package_name(r->a, q->name, '_');
	size_t at = str_find(name, S("_device_"));
	struct str gpu = str_sub(extra, strlen(DEVICE), extra.n);
	return at < name.n && str_starts(extra, S(DEVICE)) && is_of_extra(r, q, ALL_GPUS) &&
	       slim_owner_covers(str_sub(name, at + 8, name.n), gpu);
}

/* Adds the requirements of a package ("": no extra). The source distribution `rocm` makes its own when it is built; if its
 * metadata have none, they are those that TheRock's template makes. */
static struct err *expand(
	struct resolving *r, struct get_project *p, struct str extra, struct get_wishes *ret)
{
	if (str_eq(p->name, S("rocm")) && !dist_header(&p->headers, "Requires-Dist"))
		return add_wish(r, ret,
			str_fmt(r->a, "rocm-sdk-%.*s==%.*s", STR(extra.n ? extra : S("core")),
				STR(p->chosen->version)),
			p->name);
	VEC_EACH (const struct dist_header, h, &p->headers) {
		struct get_wish w = {.text = h->value, .by = p->name};
		if (!dist_header_is(h, "Requires-Dist"))
			continue;
		TRY_CTX(dist_header_requirement(r->a, h, &w.r), "'%.*s' requires '%.*s'",
			STR(p->name), STR(h->value));
		if (extra.n ? is_of_extra(r, &w.r, extra) || is_of_family(r, &w.r, extra)
			    : requirement_may_hold(&w.r, r->s->python, r->s->machine, S("")))
			TRY(put_wish(r, ret, w));
	}
	return NULL;
}

/* The extras that a requirement asks for, with these GPUs in the place of all. */
static struct err *list_extras(struct resolving *r, const struct get_project *p,
	const struct get_wish *w, struct strs *ret)
{
	struct strs words = str_split(r->a, w->r.extras, ','), has = {0};
	bool device = false;
	VEC_EACH (const struct dist_header, h, &p->headers)
		if (dist_header_is(h, "Provides-Extra"))
			strs_put(r->a, &has, package_name(r->a, str_trim(h->value), '-'));
	VEC_EACH (const struct str, word, &words) {
		struct str extra = package_name(r->a, str_trim(*word), '-');
		bool all = str_eq(extra, ALL_GPUS) || str_eq(extra, S("device"));
		device = device || all || str_starts(extra, S(DEVICE));
		if (extra.n && !all)
			strs_put(r->a, ret, extra);
	}
	device = device || (!w->by.n && strs_has(&has, ALL_GPUS));
	for (size_t i = 0; device && i < r->s->gpus.n; i++)
		strs_put(r->a, ret, str_fmt(r->a, DEVICE "%.*s", STR(r->s->gpus.v[i])));
	for (size_t i = 0; i < ret->n && has.n; i++) {
		struct str extra = ret->v[i];
		struct strs others = {0};
		if (!str_starts(extra, S(DEVICE)) || strs_has(&has, extra))
			continue;
		VEC_EACH (const struct str, x, &has)
			if (str_starts(*x, S(DEVICE)) && !str_eq(*x, ALL_GPUS))
				strs_put(r->a, &others, str_sub(*x, strlen(DEVICE), x->n));
		targets_sort(&others);
		return err_new(E_GFX,
			"%.*s %.*s of '%.*s' has no code for %.*s; it has some for %.*s",
			STR(p->name), STR(p->chosen->version), STR(p->chosen->file.index),
			STR(str_sub(extra, strlen(DEVICE), extra.n)),
			STR(others.n ? str_join(r->a, &others, S(", ")) : S("no GPU")));
	}
	return NULL;
}

/* Notes a requirement with its project. Is the version that was chosen before still allowed? */
static bool note_wish(struct resolving *r, const struct get_wish *w)
{
	struct get_project *p = project_of(r, w->r.name);
	bool known = !w->r.specifier.n ||
		     VEC_FIND(struct get_wish, &p->wishes, r.specifier, w->r.specifier);
	if (!known || !p->wishes.n)
		*VEC_PUSH(r->a, &p->wishes) = *w;
	return !p->chosen || is_allowed(p, p->chosen);
}

/* Chooses what meets these requirements together. *ret_again: a version that was chosen before does not, or was banned. */
static struct err *choose_files(
	struct resolving *r, const struct get_wishes *wishes, bool *ret_again)
{
	VEC_EACH (const struct get_wish, w, wishes)
		*ret_again = !note_wish(r, w) || *ret_again;
	for (size_t i = 0; i < wishes->n && !*ret_again; i++) {
		struct get_project *p = project_of(r, wishes->v[i].r.name);
		if (!p->chosen)
			TRY(choose_file(r, p, ret_again));
	}
	if (*ret_again)
		return NULL;
	TRY(read_metadata(r, wishes, true));
	return read_metadata(r, wishes, false);
}

/* Adds the requirements that follow from one that is met. */
static struct err *follow_wish(
	struct resolving *r, const struct get_wish *w, struct get_wishes *next)
{
	struct get_project *p = project_of(r, w->r.name);
	struct strs extras = {0};
	if (!p->met) {
		p->met = true;
		p->by = w->by;
		TRY(expand(r, p, S(""), next));
	}
	TRY(list_extras(r, p, w, &extras));
	VEC_EACH (const struct str, extra, &extras)
		if (strs_put(r->a, &p->extras, *extra))
			TRY(expand(r, p, *extra, next));
	return NULL;
}

static struct err *try_once(struct resolving *r, const struct strs *roots, bool *ret_again)
{
	struct get_wishes now = {0}, next;
	VEC_EACH (const struct str, root, roots)
		TRY(add_wish(r, &now, *root, S("")));
	for (size_t i = 0; i < r->projects.n; i++) {
		r->projects.v[i]->chosen = NULL;
		r->projects.v[i]->met = false;
		r->projects.v[i]->extras.n = 0;
	}
	for (*ret_again = false; now.n && !*ret_again; now = next) {
		next = (struct get_wishes){0};
		TRY(cancel_check());
		TRY(ask_for(r, &now));
		TRY(choose_files(r, &now, ret_again));
		for (size_t i = 0; i < now.n && !*ret_again; i++)
			TRY(follow_wish(r, &now.v[i], &next));
	}
	return NULL;
}

/* Lists the files that the extra of all GPUs would have added to those that were chosen. */
static struct err *list_all_gpus(struct resolving *r, struct archive_items *ret)
{
	struct get_wishes more = {0};
	size_t before = r->projects.n;
	for (size_t i = 0; i < before; i++) {
		struct get_project *p = r->projects.v[i];
		if (p->chosen)
			TRY(expand(r, p, ALL_GPUS, &more));
	}
	TRY(ask_for(r, &more));
	VEC_EACH (const struct get_wish, w, &more) {
		struct get_project *p = project_of(r, w->r.name);
		if (p->chosen || p->wishes.n)
			continue;
		*VEC_PUSH(r->a, &p->wishes) = *w;
		const struct get_candidate *c = best_of_project(p);
		if (c)
			*VEC_PUSH(r->a, ret) = c->file;
	}
	return NULL;
}

struct err *get_resolve(struct arena *a, const struct get_search *s, const struct strs *roots,
	struct get_packages *ret, struct archive_items *ret_all)
{
	struct resolving r = {.a = a, .s = s};
	struct strs names = {0};
	struct err *e = NULL;
	bool again = true;
	CLEANUP(progress_endp)
	struct progress *bar = progress_begin(S("Resolving"), S("packages"), UNIT_NONE, 0);
	r.bar = bar;
	TRY(version_parse(a, s->python, &r.python));
	for (unsigned n = 0; again && !e; n++)
		e = n < GET_TRIES ? try_once(&r, roots, &again)
				  : err_new(E_PLAN, "no set of versions was found in %d tries",
					    GET_TRIES);
	TRY(e);
	for (size_t i = 0; i < r.projects.n; i++)
		if (r.projects.v[i]->chosen)
			strs_add(a, &names, r.projects.v[i]->name);
	strs_sort(&names);
	VEC_EACH (const struct str, name, &names) {
		const struct get_project *p = project_of(&r, *name);
		*VEC_PUSH(a, ret) = (struct get_package){.name = *name,
			.version = p->chosen->version,
			.by = p->by,
			.file = p->chosen->file};
	}
	return list_all_gpus(&r, ret_all);
}
