/* A tree of sources and an engine that upper-cases a list of them, for the tests of changes/: run()
 * applies what it made, in place or as an overlay. */
#pragma once

#include "test.h"

#include <ctype.h>
#include <sys/stat.h>

#include "base/vec.h"
#include "changes/changes.h"
#include "changes/view.h"

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_begin, fixture_end)

struct pair {
	const char *source, *output;
};

struct fixture {
	struct arena a;
	struct str dir, src, out;
	bool overlay, look;
	bool meanwhile;       /* somebody adds a file while the engine runs */
	bool worked_in;       /* as the request has it */
	bool some;            /* the engine looks at some of the sources only */
	struct pair pairs[8]; /* what the engine does; ends at the first without source */
	bool fails[8];
	const char *identity;
	struct change_set t;
	bool current; /* the last run had nothing to do */
};

static inline int fixture_begin(void **state)
{
	struct fixture *f = xmalloc(sizeof(*f));
	*f = (struct fixture){.identity = "1"};
	f->dir = test_dir(&f->a);
	f->src = path_join(&f->a, f->dir, S("src"));
	f->out = path_join(&f->a, f->dir, S("out"));
	assert_ok(fs_mkdirs(f->src));
	setenv("ROCSMITH_HOME", str_fmt(&f->a, "%.*s.home", STR(f->dir)).p, 1);
	*state = f;
	return 0;
}

static inline int fixture_end(void **state)
{
	struct fixture *f = *state;
	change_set_free(&f->t);
	test_dir_remove(f->dir);
	test_dir_remove(str_fmt(&f->a, "%.*s.home", STR(f->dir)));
	arena_free(&f->a);
	free(f);
	return 0;
}

static inline struct str in_src(struct fixture *f, const char *rel)
{
	return path_join(&f->a, f->src, str_from(rel));
}

static inline struct str in_out(struct fixture *f, const char *rel)
{
	return path_join(&f->a, f->overlay ? f->out : f->src, str_from(rel));
}

static inline void put_at(struct fixture *f, struct str path, const char *text, unsigned mode)
{
	(void)f;
	assert_ok(fs_mkdirs(path_dir(path)));
	assert_ok(fs_write(path, str_from(text), mode));
}

static inline void put(struct fixture *f, const char *rel, const char *text)
{
	put_at(f, in_src(f, rel), text, 0644);
}

/* ---- the engine ---- */

static inline struct str upper(struct arena *a, struct str s)
{
	char *p = str_z(a, s);
	for (size_t i = 0; i < s.n; i++)
		p[i] = (char)toupper((unsigned char)p[i]);
	return (struct str){p, s.n};
}

static inline void translate(struct fixture *f, struct session *s, const struct pair *p, bool fails)
{
	struct str path = path_clean(&f->a, in_src(f, p->source)), text;
	struct change *file = VEC_PUSH(&f->a, &f->t);
	file->source = str_from(p->source);
	file->output = str_from(p->output);
	struct err *e = view_read(&s->view, &f->a, path, &text);
	if (!e && fails)
		e = err_new(E_HIPIFY, "no");
	file->error = e;
	file->status = e ? CHANGE_FAILED : CHANGE_OK;
	if (e)
		return;
	file->text = upper(&f->a, text);
	if (str_eq(file->text, text) && str_eq(file->source, file->output)) {
		file->status = CHANGE_UNCHANGED;
		file->text = (struct str){0};
	}
}

static inline void engine(struct fixture *f, struct session *s)
{
	struct stat st;
	assert_ok(fs_stat(f->src, &st));
	view_note_dir(&s->view, f->src, &st);
	(void)view_exists(&s->view, in_src(f, "probe/x"));
	(void)view_exists(&s->view, in_src(f, "hip/k.hip"));
	for (size_t i = 0; i < 8 && f->pairs[i].source; i++)
		if (fs_present(in_src(f, f->pairs[i].source)))
			translate(f, s, &f->pairs[i], f->fails[i]);
	if (f->meanwhile)
		put(f, "late.cu", "cuda late");
}

static inline struct err *try_run(struct fixture *f)
{
	struct change_request o = {.dir = f->src,
		.out = f->overlay ? f->out : S(""),
		.in_place = !f->overlay,
		.look_only = f->look,
		.copies = true,
		.worked_in = f->worked_in,
		.earlier = f->some ? EARLIER_STAY_WITH_SOURCE : EARLIER_GO,
		.identity = str_from(f->identity),
		.failure = E_HIPIFY,
		.jobs = 2};
	struct session s;
	struct str report;
	change_set_free(&f->t);
	f->t = (struct change_set){0};
	f->current = false;
	struct err *e = session_open(&f->a, &o, &s);
	if (!e && !o.look_only)
		e = session_current(&s, &f->t, &report, &f->current);
	if (!e && !f->current) {
		engine(f, &s);
		e = session_apply(&s, &f->t, S("report\0of ours"));
	}
	if (!e && f->current)
		assert_true(str_eq(report, S("report\0of ours")));
	session_close(&s);
	return e;
}

static inline void run(struct fixture *f)
{
	assert_ok(try_run(f));
}

static inline const struct change *file(struct fixture *f, const char *source)
{
	VEC_EACH (const struct change, i, &f->t)
		if (str_eq(i->source, str_from(source)))
			return i;
	fail_msg("no file '%s' in the result", source);
	return NULL;
}

static inline void assert_fails(struct fixture *f, const char *source, const char *why)
{
	const struct change *i = file(f, source);
	assert_int_equal(i->status, CHANGE_FAILED);
	if (!test_err_says(i->error, why)) {
		test_print_err(i->error);
		fail_msg("it does not say '%s'", why);
	}
}

static inline bool there(struct fixture *f, const char *rel)
{
	return fs_present(in_out(f, rel));
}

static inline struct stat status(struct str path)
{
	struct stat st;
	assert_ok(fs_lstat(path, &st));
	return st;
}

static inline struct str journal(struct fixture *f)
{
	return changes_journal(&f->a, f->overlay ? f->out : f->src, S(""));
}

static inline struct strs restore(struct fixture *f, bool force)
{
	struct strs kept;
	assert_ok(changes_restore(&f->a, journal(f), force, &kept));
	return kept;
}

static inline enum change_state state_of(struct fixture *f, const char *output)
{
	struct change_entries all;
	assert_ok(changes_state(&f->a, journal(f), &all));
	VEC_EACH (const struct change_entry, e, &all)
		if (str_eq(e->output, str_from(output)))
			return e->state;
	fail_msg("'%s' is not known", output);
	return STATE_CURRENT;
}

/* All that is below dir, with types, modes, times, contents and, for files, the inode. */
static inline struct err *describe(void *user, struct fs_entry *e)
{
	struct strs *list = ((void **)user)[0];
	struct arena *a = ((void **)user)[1];
	struct str dir = *(struct str *)((void **)user)[2], text = S("");
	if (str_ends(e->path, S(".lock"))) /* it names who took it last */
		return NULL;
	if (S_ISREG(e->st.st_mode))
		TRY(fs_read(a, path_join(a, dir, e->path), 1 << 20, &text));
	if (S_ISLNK(e->st.st_mode))
		TRY(fs_readlink(a, path_join(a, dir, e->path), &text));
	bool reg = S_ISREG(e->st.st_mode);
	strs_add(a, list,
		str_fmt(a, "%.*s %o %ld.%ld %lu %.*s", STR(e->path), e->st.st_mode,
			reg ? e->st.st_mtim.tv_sec : 0, reg ? e->st.st_mtim.tv_nsec : 0,
			reg ? e->st.st_ino : 0, STR(text)));
	return NULL;
}

static inline struct str snapshot(struct fixture *f, struct str dir)
{
	struct strs list = {0};
	void *user[] = {&list, &f->a, &dir};
	assert_ok(fs_walk(dir, describe, user));
	return str_join(&f->a, &list, S("\n"));
}

#define PAIRS(f, ...) memcpy((f)->pairs, (struct pair[8]){__VA_ARGS__}, sizeof((f)->pairs))

/* The tree of most tests: k.cu gives hip/k.hip, m.h is replaced, same.h has nothing to change. */
static inline void usual(struct fixture *f)
{
	put(f, "k.cu", "cuda k");
	put(f, "same.h", "SAME");
	put_at(f, in_src(f, "sub/m.h"), "cuda m", 0755);
	PAIRS(f, {"k.cu", "hip/k.hip"}, {"sub/m.h", "sub/m.h"}, {"same.h", "same.h"});
}
