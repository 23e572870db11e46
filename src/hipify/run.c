/* The whole of a translation: session, engine, apply. */
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"
#include "hipify/apply.h"
#include "hipify/standalone.h"

/* An output folder among the sources would be translated itself by the next run. */
static struct err *check_inside(struct arena *a, const struct hipify_options *o)
{
	if (!o->out.n || o->in_place || o->only.n)
		return NULL;
	struct str dir = path_abs(a, o->dir), out = path_abs(a, o->out);
	struct str rel = path_rel(a, out, dir);
	for (size_t i = 0; i < o->exclude.n; i++)
		if (str_eq(rel, o->exclude.v[i]) ||
			str_starts(rel, str_fmt(a, "%.*s/", STR(o->exclude.v[i]))))
			return NULL;
	if (!path_is_inside(rel) || str_eq(rel, S(".")))
		return NULL;
	return err_hint(err_new(E_USAGE, "the output folder '%.*s' is inside '%.*s'", STR(o->out),
				STR(o->dir)),
		"give a folder outside, or leave it out with --exclude %.*s", STR(rel));
}

static void add(struct buf *b, const char *name, struct str value)
{
	buf_fmt(b, "%s=%zu:", name, value.n);
	buf_add(b, value);
	buf_char(b, '\n');
}

static void add_all(struct buf *b, const char *name, const struct strs *list)
{
	for (size_t i = 0; i < list->n; i++)
		add(b, name, list->v[i]);
}

/* Another build of rocsmith may translate otherwise, whatever its version says. */
static void add_program(struct buf *b)
{
	struct stat st;
	add(b, "version", S(ROCSMITH_VERSION));
	if (stat("/proc/self/exe", &st) == 0)
		buf_fmt(b, "program=%lld %lld.%09ld\n", (long long)st.st_size,
			(long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

/* All on which a result depends besides the files. */
static struct str identity_of(struct arena *a, const struct hipify_options *o)
{
	BUF(b, a);
	add_program(&b);
	buf_fmt(&b, "mode=%d in_place=%d\n", (int)o->mode, o->in_place);
	add_all(&b, "only", &o->only);
	add_all(&b, "exclude", &o->exclude);
	add(&b, "rocm", o->rocm);
	return buf_str(&b);
}

static struct err *run_engine(
	const struct hipify_options *o, struct hipify_session *s, struct hipify_tree *ret)
{
	TRY(standalone_run(s->a, o, &s->view, ret));
	return session_apply(s, ret);
}

static struct err *run(const struct hipify_options *o, struct hipify_session *s, bool quick,
	struct hipify_tree *ret)
{
	bool current = false;
	if (quick && !o->look_only)
		TRY(session_current(s, ret, &current));
	return current ? NULL : run_engine(o, s, ret);
}

static struct err *run_in_session(
	struct arena *a, const struct hipify_options *o, bool quick, struct hipify_tree *ret)
{
	struct hipify_session s;
	*ret = (struct hipify_tree){0};
	struct err *e = check_inside(a, o);
	if (e)
		return e;
	e = session_open(a, o, identity_of(a, o), &s);
	if (!e)
		e = run(o, &s, quick, ret);
	session_close(&s);
	return e;
}

struct err *hipify_run(struct arena *a, const struct hipify_options *o, struct hipify_tree *ret)
{
	return run_in_session(a, o, true, ret);
}

/* A build wants to know more of a tree than a manifest tells: it is always computed. */
struct err *hipify_tree(struct arena *a, const struct hipify_options *o, struct hipify_tree *ret)
{
	return run_in_session(a, o, false, ret);
}
