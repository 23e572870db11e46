/* Plans a set of projects that are built one after another; see set.h. */
#include "flow/set.h"

#include "base/fs.h"
#include "wheel/wheel.h"

#define PINS "PYTORCH_EXTRA_INSTALL_REQUIREMENTS"

bool set_is(struct str word)
{
	return str_chr(word, ',') < word.n && !fs_exists(word);
}

static struct set_member *find_member(struct build_set *set, struct str name)
{
	return VEC_FIND(struct set_member, &set->v, name, name);
}

static bool all_there(struct build_set *set, const struct strs *names)
{
	bool all = true;
	VEC_EACH (const struct str, name, names)
		all = all && find_member(set, *name);
	return all;
}

/* The members in the order in which they need each other; descriptions name nothing in a circle. */
static struct err *put_in_order(struct arena *a, struct str list, struct build_set *ret)
{
	VEC(struct set_member) all = {0};
	struct strs names = {0};
	struct str word;
	while (str_next(&list, ',', &word)) {
		if (!word.n || strs_has(&names, word))
			return err_new(E_USAGE, "'%.*s' is %s in the list of projects", STR(word),
				word.n ? "twice" : "empty");
		strs_add(a, &names, word);
	}
	VEC_EACH (const struct str, name, &names) {
		struct set_member *m = VEC_PUSH(a, &all);
		struct strs after = {0};
		*m = (struct set_member){.name = *name};
		TRY(plan_known_after(a, *name, &after));
		VEC_EACH (const struct str, other, &after)
			if (strs_has(&names, *other))
				strs_add(a, &m->after, *other);
	}
	for (size_t i = 0; i < all.n; i++) { /* the first that waits for none of the others */
		struct set_member *next = NULL;
		VEC_EACH (struct set_member, m, &all)
			if (!next && !find_member(ret, m->name) && all_there(ret, &m->after))
				next = m;
		if (!next)
			return err_new(E_INTERNAL, "the descriptions of '%.*s' need each other",
				STR(str_join(a, &names, S(", "))));
		*VEC_PUSH(a, &ret->v) = *next;
	}
	return NULL;
}

/* The sources of each member, of "NAME=WHERE,NAME=WHERE" or of the lock file. */
static struct err *share_sources(struct arena *a, struct str words, struct build_set *set)
{
	struct str word, name, where;
	while (str_next(&words, ',', &word)) {
		struct set_member *m =
			str_cut(word, '=', &name, &where) ? find_member(set, name) : NULL;
		if (!m)
			return err_hint(
				err_new(E_USAGE, "'%.*s' of --source names no project of the set",
					STR(word)),
				"write --source NAME=WHERE,NAME=WHERE, or give a lock file with "
				"--lock");
		m->request.source = str_dup(a, where);
	}
	return NULL;
}

/* Adds the wheel of a member to those of --with: a promised one until it is built. */
static void take_wheel(struct arena *a, const struct set_member *m, struct plan_request *q)
{
	struct str wheel = m->wheel;
	if (!wheel.n) {
		wheel = str_fmt(
			a, "%.*s-%.*s-py3-none-any.whl", STR(m->name), STR(m->wish.plan.version));
		strs_add(a, &q->promised, wheel);
	}
	strs_add(a, &q->with, wheel);
}

struct err *set_renew(struct arena *a, struct build_set *set, struct set_member *io)
{
	struct plan_request q = io->request;
	struct str pins = S("");
	struct wheel_name n;
	q.with = (struct strs){0};
	strs_add_all(a, &q.with, &io->request.with);
	VEC_EACH (const struct str, name, &io->after) {
		const struct set_member *m = find_member(set, *name);
		struct str version = m->wish.plan.version;
		if (m->wheel.n)
			TRY(wheel_name_parse(a, m->wheel, &n));
		version = m->wheel.n ? n.version : version;
		if (!str_eq(*name, S("torch"))) {
			pins = str_fmt(a, "%.*s%s%.*s==%.*s", STR(pins), pins.n ? "|" : "",
				STR(*name), STR(version));
			continue;
		}
		take_wheel(a, m, &q);
		VEC_EACH (const struct str, pinned, &m->after) /* no index has it */
			take_wheel(a, find_member(set, *pinned), &q);
	}
	TRY_CTX(plan_make(a, &q, &io->wish), "cannot plan '%.*s'", STR(io->name));
	struct plan_foreign *f = io->wish.plan.foreign;
	if (!f)
		return err_new(E_PLAN, "'%.*s' has no build system of its own", STR(io->name));
	struct str *line = strs_variable(&f->env, S(PINS));
	if (pins.n && line)
		*line = str_fmt(a, "%.*s|%.*s", STR(*line), STR(pins));
	else if (pins.n)
		strs_fmt(a, &f->env, PINS "=%.*s", STR(pins));
	return NULL;
}

struct err *set_open(struct arena *a, const struct plan_request *q, struct str dir, unsigned jobs,
	struct build_set *ret)
{
	*ret = (struct build_set){0};
	if (q->lock.n && q->source.n)
		return err_new(E_USAGE, "--lock and --source both say where the sources are");
	TRY(put_in_order(a, q->dir, ret));
	VEC_EACH (struct set_member, m, &ret->v) {
		m->request = *q;
		m->request.dir = m->name;
		m->request.source =
			q->lock.n ? str_fmt(a, "git:%.*s#%.*s", STR(q->lock), STR(m->name)) : S("");
		m->dir = dir.n ? path_join(a, path_abs(a, dir), m->name) : S("");
	}
	TRY(share_sources(a, q->source, ret));
	VEC_EACH (struct set_member, m, &ret->v) {
		struct forecast *f = &m->forecast, *all = &ret->all;
		TRY(set_renew(a, ret, m));
		build_forecast(a, &m->wish, m->dir, jobs, f);
		m->finished = fs_is_file(path_join(a, f->dir, S("state/done")));
		if (!f->known)
			continue;
		if (!all->known) {
			*all = *f;
			all->cpu = all->seconds = 0;
			all->disk = 0;
		}
		all->cpu += m->finished ? 0 : f->cpu;
		all->seconds += m->finished ? 0 : f->seconds;
		all->disk += f->disk; /* nothing for a finished one */
		all->sdk = all->sdk > f->sdk ? all->sdk : f->sdk;
		all->memory = all->memory > f->memory ? all->memory : f->memory;
	}
	return NULL;
}
