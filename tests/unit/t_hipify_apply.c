/* Applying a result, in place and as an overlay: what is written, kept, removed, refused, taken
 * back; and when nothing is to be done. The engine here upper-cases a list of files. */
#include "test.h"

#include <ctype.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "changes/manifest.h"

struct pair {
	const char *source, *output;
};

struct fixture {
	struct arena a;
	struct str dir, src, out;
	bool overlay, look;
	bool meanwhile;       /* somebody adds a file while the engine runs */
	bool some;            /* the engine looks at some of the sources only */
	struct pair pairs[8]; /* what the engine does; ends at the first without source */
	bool fails[8];
	const char *identity;
	struct change_set t;
	bool current; /* the last run had nothing to do */
};

static int setup(void **state)
{
	struct fixture *f = xmalloc(sizeof(*f));
	*f = (struct fixture){.identity = "1"};
	f->dir = test_dir(&f->a);
	f->src = path_join(&f->a, f->dir, S("src"));
	f->out = path_join(&f->a, f->dir, S("out"));
	assert_ok(fs_mkdirs(f->src));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	change_set_free(&f->t);
	test_dir_remove(f->dir);
	arena_free(&f->a);
	free(f);
	return 0;
}

static struct str in_src(struct fixture *f, const char *rel)
{
	return path_join(&f->a, f->src, str_from(rel));
}

static struct str in_out(struct fixture *f, const char *rel)
{
	return path_join(&f->a, f->overlay ? f->out : f->src, str_from(rel));
}

static void put_at(struct fixture *f, struct str path, const char *text, unsigned mode)
{
	(void)f;
	assert_ok(fs_mkdirs(path_dir(path)));
	assert_ok(fs_write(path, str_from(text), mode));
}

static void put(struct fixture *f, const char *rel, const char *text)
{
	put_at(f, in_src(f, rel), text, 0644);
}

/* ---- the engine ---- */

static struct str upper(struct arena *a, struct str s)
{
	char *p = str_z(a, s);
	for (size_t i = 0; i < s.n; i++)
		p[i] = (char)toupper((unsigned char)p[i]);
	return (struct str){p, s.n};
}

static void translate(struct fixture *f, struct session *s, const struct pair *p, bool fails)
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

static void engine(struct fixture *f, struct session *s)
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

static struct err *try_run(struct fixture *f)
{
	struct change_request o = {.dir = f->src,
		.out = f->overlay ? f->out : S(""),
		.in_place = !f->overlay,
		.look_only = f->look,
		.copies = true,
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

static void run(struct fixture *f)
{
	assert_ok(try_run(f));
}

static const struct change *file(struct fixture *f, const char *source)
{
	VEC_EACH (const struct change, i, &f->t)
		if (str_eq(i->source, str_from(source)))
			return i;
	fail_msg("no file '%s' in the result", source);
	return NULL;
}

static void assert_fails(struct fixture *f, const char *source, const char *why)
{
	const struct change *i = file(f, source);
	assert_int_equal(i->status, CHANGE_FAILED);
	if (!test_err_says(i->error, why)) {
		test_print_err(i->error);
		fail_msg("it does not say '%s'", why);
	}
}

static bool there(struct fixture *f, const char *rel)
{
	return fs_present(in_out(f, rel));
}

static struct stat status(struct str path)
{
	struct stat st;
	assert_ok(fs_lstat(path, &st));
	return st;
}

static struct strs restore(struct fixture *f, bool force)
{
	struct strs kept;
	assert_ok(changes_restore(&f->a, f->overlay ? f->out : f->src, force, &kept));
	return kept;
}

static enum change_state state_of(struct fixture *f, const char *output)
{
	struct change_entries all;
	assert_ok(changes_state(&f->a, f->overlay ? f->out : f->src, &all));
	VEC_EACH (const struct change_entry, e, &all)
		if (str_eq(e->output, str_from(output)))
			return e->state;
	fail_msg("'%s' is not known", output);
	return STATE_CURRENT;
}

/* All that is below dir, with types, modes, times, contents and, for files, the inode. */
static struct err *describe(void *user, const struct fs_entry *e, bool *prune)
{
	struct strs *list = ((void **)user)[0];
	struct arena *a = ((void **)user)[1];
	struct str dir = *(struct str *)((void **)user)[2], text = S("");
	(void)prune;
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

static struct str snapshot(struct fixture *f, struct str dir)
{
	struct strs list = {0};
	void *user[] = {&list, &f->a, &dir};
	assert_ok(fs_walk(dir, describe, user));
	return str_join(&f->a, &list, S("\n"));
}

#define PAIRS(f, ...) memcpy((f)->pairs, (struct pair[8]){__VA_ARGS__}, sizeof((f)->pairs))

/* The tree of most tests: k.cu gives hip/k.hip, m.h is replaced, same.h has nothing to change. */
static void usual(struct fixture *f)
{
	put(f, "k.cu", "cuda k");
	put(f, "same.h", "SAME");
	put_at(f, in_src(f, "sub/m.h"), "cuda m", 0755);
	PAIRS(f, {"k.cu", "hip/k.hip"}, {"sub/m.h", "sub/m.h"}, {"same.h", "same.h"});
}

/* ---- in place ---- */

static void originals_are_kept_and_modes_too(void **state)
{
	struct fixture *f = *state;
	usual(f);
	ino_t old = status(in_src(f, "sub/m.h")).st_ino;
	run(f);
	test_has(in_src(f, "hip/k.hip"), "CUDA K");
	test_has(in_src(f, "sub/m.h"), "CUDA M");
	test_has(in_src(f, ".rocsmith/originals/sub/m.h"), "cuda m");
	assert_int_equal(status(in_src(f, ".rocsmith/originals/sub/m.h")).st_ino, old);
	assert_int_equal(status(in_src(f, "sub/m.h")).st_mode & 07777, 0755);
	mode_t mask = umask(0);
	umask(mask);
	assert_int_equal(status(in_src(f, "hip/k.hip")).st_mode & 07777, 0666 & ~mask);
	assert_false(there(f, ".rocsmith/new"));
	test_has(in_src(f, ".rocsmith/.gitignore"), "*\n");
	assert_int_equal(file(f, "same.h")->status, CHANGE_UNCHANGED);
}

static void a_second_run_has_nothing_to_do(void **state)
{
	struct fixture *f = *state;
	for (int overlay = 0; overlay < 2; overlay++) {
		f->overlay = overlay;
		usual(f);
		usleep(20000);
		run(f);
		struct str before = snapshot(f, f->dir);
		run(f);
		assert_true(f->current);
		assert_int_equal(file(f, "k.cu")->status, CHANGE_SKIPPED);
		assert_int_equal(file(f, "same.h")->status, CHANGE_UNCHANGED);
		assert_str(snapshot(f, f->dir), before.p);
		before = snapshot(f, in_out(f, "hip"));
		f->identity = overlay ? "3" : "2"; /* all is computed, and nothing differs */
		run(f);
		assert_false(f->current);
		assert_int_equal(file(f, "k.cu")->status, CHANGE_SKIPPED);
		assert_str(snapshot(f, in_out(f, "hip")), before.p);
		if (!overlay)
			assert_ok(fs_remove_tree(f->src));
	}
}

static void a_change_anywhere_is_seen(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	run(f); /* folders that were fresh the first time */
	run(f);
	assert_true(f->current);
	put(f, "k.cu", "cudb k");
	run(f);
	assert_false(f->current);
	test_has(in_src(f, "hip/k.hip"), "CUDB K");
	put(f, "other", "");
	run(f);
	assert_false(f->current);
	put(f, "probe/x", "");
	run(f);
	assert_false(f->current);
	put(f, "hip/k.hip", "edited");
	run(f);
	assert_false(f->current);
	assert_ok(fs_remove(in_src(f, "hip/k.hip")));
	run(f);
	assert_true(!f->current && there(f, "hip/k.hip"));
	put(f, "same.h", "SAMe");
	run(f);
	assert_false(f->current);
	test_has(in_src(f, "same.h"), "SAME");
}

/* The same size within the same tick of the clock: times alone cannot tell. */
static void quick_changes_are_seen(void **state)
{
	struct fixture *f = *state;
	usual(f);
	for (unsigned i = 0; i < 40; i++) {
		struct str text = str_fmt(&f->a, "cuda %02u", i);
		put(f, "k.cu", text.p);
		run(f);
		test_has(in_src(f, "hip/k.hip"), upper(&f->a, text).p);
		put(f, "hip/k.hip", "XXXX XX");
		run(f);
		test_has(in_src(f, "hip/k.hip"), upper(&f->a, text).p);
	}
}

/* The folder was listed before, and is changed by us after it: neither hides what came between. */
static void what_comes_meanwhile_is_seen_next_time(void **state)
{
	struct fixture *f = *state;
	usual(f);
	usleep(20000);
	f->meanwhile = true;
	run(f);
	f->meanwhile = false;
	run(f);
	assert_false(f->current);
	run(f);
	assert_true(f->current);
}

static void restore_gives_the_tree_back_bit_by_bit(void **state)
{
	struct fixture *f = *state;
	usual(f);
	put(f, "hip/foreign.hip", "cuda f"); /* was there before us, and is replaced */
	PAIRS(f, {"k.cu", "new/deep/k.hip"}, {"sub/m.h", "sub/m.h"}, {"k.cu", "hip/foreign.hip"});
	struct str before = snapshot(f, f->src);
	run(f);
	test_has(in_src(f, "hip/foreign.hip"), "CUDA K");
	assert_int_equal(restore(f, false).n, 0);
	struct str after = snapshot(f, f->src);
	assert_str(after, before.p);
	struct strs kept;
	assert_err_says(
		changes_restore(&f->a, f->src, false, &kept), E_NOENT, "was not translated");
}

static void an_edit_of_a_replaced_file_is_a_new_source(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	put(f, "sub/m.h", "edited m");
	run(f);
	test_has(in_src(f, "sub/m.h"), "EDITED M");
	assert_str(str_join(&f->a, &f->t.edited, S(" ")), "sub/m.h");
	test_has(in_src(f, ".rocsmith/originals/sub/m.h"), "edited m");
	test_has(in_src(f, ".rocsmith/kept/sub/m.h"), "cuda m");
	assert_int_equal(restore(f, false).n, 0);
	test_has(in_src(f, "sub/m.h"), "edited m");
	test_has(in_src(f, ".rocsmith/kept/sub/m.h"), "cuda m");
}

static void an_edit_of_a_generated_file_is_set_aside(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	for (unsigned i = 1; i < 4; i++) {
		put(f, "hip/k.hip", str_fmt(&f->a, "edit %u", i).p);
		run(f);
		test_has(in_src(f, "hip/k.hip"), "CUDA K");
		assert_str(str_join(&f->a, &f->t.edited, S(" ")), "hip/k.hip");
	}
	test_has(in_src(f, ".rocsmith/kept/hip/k.hip"), "edit 1");
	test_has(in_src(f, ".rocsmith/kept/hip/k.hip.2"), "edit 2");
	test_has(in_src(f, ".rocsmith/kept/hip/k.hip.3"), "edit 3");
}

/* An output of a run that failed may have lost its folder: nothing can wait there to be put in
 * place, and that keeps nobody from the rest. */
static void a_folder_that_became_a_file_fails_alone(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->fails[1] = true;
	run(f);
	assert_ok(fs_remove_tree(in_src(f, "hip")));
	put(f, "hip", "mine");
	run(f);
	assert_fails(f, "k.cu", "Not a directory");
	run(f);
	assert_fails(f, "k.cu", "Not a directory");
	f->fails[1] = false;
	run(f);
	test_has(in_src(f, "sub/m.h"), "CUDA M");
	assert_int_equal(restore(f, false).n, 0);
	test_has(in_src(f, "sub/m.h"), "cuda m");
	test_has(in_src(f, "hip"), "mine");
	assert_false(there(f, ".rocsmith"));
}

/* Where a content waits beside its place something else may be: another file's second name, a pipe.
 */
static void what_waits_is_a_new_file(void **state)
{
	struct fixture *f = *state;
	usual(f);
	struct str k = fs_temp_name(&f->a, in_src(f, "hip/k.hip")),
		   m = fs_temp_name(&f->a, in_src(f, "sub/m.h"));
	put(f, "hip/other", "other");
	assert_ok(fs_link(in_src(f, "hip/other"), k));
	assert_int_equal(mkfifo(m.p, 0600), 0);
	run(f);
	test_has(in_src(f, "hip/other"), "other");
	test_has(in_src(f, "hip/k.hip"), "CUDA K");
	test_has(in_src(f, "sub/m.h"), "CUDA M");
	assert_false(fs_present(k) || fs_present(m));
}

/* The power fails before the intent is on the disk: the manifest before it is, and nothing that the
 * intent names was put in place. */
static void a_lost_intent_leaves_the_manifest_before_it(void **state)
{
	struct fixture *f = *state;
	usual(f);
	struct str before = snapshot(f, f->src), path = in_src(f, ".rocsmith/hipify.manifest"),
		   intent;
	struct str beside = fs_temp_name(&f->a, path);
	struct manifest *m;
	run(f);
	assert_ok(manifest_read(&f->a, f->src, &m));
	assert_ok(manifest_put(&f->a, m, f->src, &intent));
	assert_true(fs_present(beside));
	assert_int_equal(truncate(intent.p, 0), 0);
	run(f);
	assert_true(f->current);
	assert_int_equal(restore(f, false).n, 0);
	assert_str(snapshot(f, f->src), before.p);
	run(f);
	assert_false(fs_present(beside));
	assert_ok(fs_write(path, S(""), 0644));
	struct err *e = try_run(f);
	assert_err_says(e, E_CORRUPT, "cannot be used");
}

static void restore_keeps_what_was_edited(void **state)
{
	struct fixture *f = *state;
	usual(f);
	struct str before = snapshot(f, f->src);
	run(f);
	put(f, "hip/k.hip", "edit k");
	put(f, "sub/m.h", "edit m");
	struct strs kept = restore(f, false);
	assert_str(str_join(&f->a, &kept, S(" ")), "hip/k.hip sub/m.h");
	test_has(in_src(f, "hip/k.hip"), "edit k");
	test_has(in_src(f, "sub/m.h"), "edit m");
	assert_int_equal(restore(f, false).n, 2); /* they stay known */
	assert_int_equal(restore(f, true).n, 0);
	assert_str(snapshot(f, f->src), before.p);
}

static void what_has_no_source_any_more_is_taken_back(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	assert_ok(fs_remove(in_src(f, "k.cu")));
	PAIRS(f, {"k.cu", "hip/k.hip"}); /* and m.h is translated no longer */
	run(f);
	assert_str(str_join(&f->a, &f->t.removed, S(" ")), "hip/k.hip sub/m.h");
	assert_false(there(f, "hip"));
	test_has(in_src(f, "sub/m.h"), "cuda m");
	run(f);
	run(f);
	assert_true(f->current);
	assert_int_equal(restore(f, false).n, 0);
	test_has(in_src(f, "sub/m.h"), "cuda m");
}

static void a_failed_source_keeps_its_earlier_output(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	f->fails[0] = f->fails[1] = true;
	put(f, "k.cu", "cuda 2");
	run(f);
	test_has(in_src(f, "hip/k.hip"), "CUDA K");
	test_has(in_src(f, "sub/m.h"), "CUDA M");
	run(f);
	assert_false(f->current); /* what failed is tried again */
	f->fails[0] = f->fails[1] = false;
	run(f);
	test_has(in_src(f, "hip/k.hip"), "CUDA 2");
}

/* A setup.py with two extensions: each has a run of its own, in one folder. */
static void runs_of_other_sources_do_not_take_away(void **state)
{
	struct fixture *f = *state;
	f->some = true;
	for (int overlay = 0; overlay < 2; overlay++) {
		f->overlay = overlay;
		f->identity = "1";
		usual(f);
		run(f);
		f->identity = "2";
		put(f, "z.cu", "cuda z");
		PAIRS(f, {"z.cu", "hip/z.hip"});
		run(f);
		assert_true(there(f, "hip/k.hip") && there(f, "hip/z.hip"));
		test_has(in_out(f, "sub/m.h"), "CUDA M");
		put(f, "k.cu", "changed");
		assert_int_equal(state_of(f, "hip/k.hip"), STATE_STALE);
		assert_ok(fs_remove(in_src(f, "k.cu")));
		run(f);
		assert_true(!there(f, "hip/k.hip") && there(f, "hip/z.hip"));
		assert_int_equal(restore(f, false).n, 0);
		assert_false(there(f, "hip/z.hip"));
		test_has(in_src(f, "sub/m.h"), "cuda m");
	}
}

static void what_was_right_already_is_not_ours(void **state)
{
	struct fixture *f = *state;
	usual(f);
	put(f, "hip/k.hip", "CUDA K");
	struct str before = snapshot(f, f->src);
	run(f);
	assert_int_equal(file(f, "k.cu")->status, CHANGE_SKIPPED);
	run(f);
	restore(f, false);
	assert_str(snapshot(f, f->src), before.p);
}

static void links_are_followed_inside_only(void **state)
{
	struct fixture *f = *state;
	put(f, "real/x.h", "cuda x");
	put_at(f, path_join(&f->a, f->dir, S("elsewhere.h")), "cuda e", 0644);
	assert_ok(fs_symlink(S("real/x.h"), in_src(f, "in.h")));
	assert_ok(fs_symlink(S("../elsewhere.h"), in_src(f, "away.h")));
	assert_ok(fs_symlink(f->dir, in_src(f, "up")));
	put(f, "k.cu", "cuda k");
	PAIRS(f, {"in.h", "in.h"}, {"away.h", "away.h"}, {"k.cu", "up/k.hip"});
	struct str before = snapshot(f, f->dir);
	run(f);
	test_has(in_src(f, "real/x.h"), "CUDA X");
	assert_true(S_ISLNK(status(in_src(f, "in.h")).st_mode));
	assert_fails(f, "away.h", "a link that leads out of");
	assert_fails(f, "k.cu", "leads out of the folder");
	restore(f, false);
	assert_str(snapshot(f, f->dir), before.p);
}

static void outputs_outside_work_in_place(void **state)
{
	struct fixture *f = *state;
	put(f, "../lib/x.h", "cuda x");
	PAIRS(f, {"../lib/x.h", "../lib/x_hip.h"}, {"../lib/x.h", "../lib/hip/new/x.h"},
		{"../lib/x.h", "../lib/x.h"});
	run(f);
	test_has(in_src(f, "../lib/x_hip.h"), "CUDA X");
	test_has(in_src(f, "../lib/x.h"), "CUDA X");
	test_has(in_src(f, "../lib/hip/new/x.h"), "CUDA X");
	test_has(in_src(f, ".rocsmith/originals.up/1/lib/x.h"), "cuda x");
	run(f);
	run(f);
	assert_true(f->current);
	put(f, "../lib/x.h", "cuda y");
	run(f);
	assert_str(str_join(&f->a, &f->t.edited, S(" ")), "../lib/x.h");
	test_has(in_src(f, "../lib/x_hip.h"), "CUDA Y");
	restore(f, true);
	assert_false(there(f, "../lib/hip") || there(f, "../lib/x_hip.h"));
	test_has(in_src(f, "../lib/x.h"), "cuda y");
	put(f, "../lib/x.h", "cuda x");
	f->overlay = true;
	run(f);
	assert_fails(f, "../lib/x.h", "lies outside of");
}

static void a_bad_place_fails_alone(void **state)
{
	struct fixture *f = *state;
	usual(f);
	put(f, "hip", "a file");
	assert_ok(fs_mkdirs(in_src(f, "folder")));
	PAIRS(f, {"k.cu", "hip/k.hip"}, {"sub/m.h", "sub/m.h"}, {"same.h", "folder"},
		{"k.cu", ".rocsmith/x"});
	run(f);
	assert_fails(f, "k.cu", "cannot");
	assert_fails(f, "same.h", "in the way and no file");
	assert_int_equal(file(f, "sub/m.h")->status, CHANGE_OK);
	assert_int_equal(f->t.v[3].status, CHANGE_FAILED);
	test_has(in_src(f, "sub/m.h"), "CUDA M");
}

static void the_later_of_two_sources_wins(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "from a");
	put(f, "b.cu", "from b");
	PAIRS(f, {"a.cu", "x.hip"}, {"b.cu", "x.hip"});
	run(f);
	test_has(in_src(f, "x.hip"), "FROM B");
	f->identity = "2";
	run(f);
	assert_int_equal(file(f, "b.cu")->status, CHANGE_SKIPPED);
}

static void looking_writes_nothing(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->look = true;
	for (int overlay = 0; overlay < 2; overlay++) {
		f->overlay = overlay;
		struct str before = snapshot(f, f->dir);
		run(f);
		assert_int_equal(file(f, "k.cu")->status, CHANGE_OK);
		assert_str(snapshot(f, f->dir), before.p);
		f->look = false;
		run(f);
		f->look = true;
		before = snapshot(f, f->dir);
		run(f);
		assert_int_equal(file(f, "k.cu")->status, CHANGE_SKIPPED);
		assert_true(file(f, "k.cu")->text.p != NULL);
		assert_str(snapshot(f, f->dir), before.p);
		if (!overlay)
			restore(f, false);
	}
}

/* ---- overlay ---- */

static void an_overlay_is_the_whole_tree(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->overlay = true;
	put(f, "README", "read");
	put(f, ".git/config", "");
	put(f, "third/.git", "gitdir: x"); /* of a submodule */
	put_at(f, in_src(f, "run.sh"), "#!", 0755);
	assert_ok(fs_mkdirs(in_src(f, "empty/folder")));
	assert_ok(fs_symlink(S("nowhere"), in_src(f, "dangling")));
	assert_ok(fs_symlink(S("sub"), in_src(f, "folder-link")));
	struct str before = snapshot(f, f->src);
	run(f);
	test_has(in_out(f, "hip/k.hip"), "CUDA K");
	test_has(in_out(f, "k.cu"), "cuda k");
	test_has(in_out(f, "sub/m.h"), "CUDA M");
	test_has(in_out(f, "same.h"), "SAME");
	test_has(in_out(f, "README"), "read");
	assert_true(there(f, "empty/folder") && there(f, "dangling"));
	assert_true(!there(f, ".git") && there(f, "third/.git"));
	assert_true(S_ISLNK(status(in_out(f, "folder-link")).st_mode));
	assert_int_equal(status(in_out(f, "run.sh")).st_mode & 07777, 0755);
	assert_int_equal(status(in_out(f, "sub/m.h")).st_mode & 07777, 0755);
	struct stat a = status(in_src(f, "README")), b = status(in_out(f, "README"));
	assert_memory_equal(&a.st_mtim, &b.st_mtim, sizeof(a.st_mtim));
	assert_str(snapshot(f, f->src), before.p);
	assert_int_equal(restore(f, false).n, 0);
	assert_false(fs_present(f->out));
}

static void copies_follow_their_sources(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->overlay = true;
	put(f, "data/a", "one");
	put(f, "data/b", "two");
	assert_ok(fs_symlink(S("a"), in_src(f, "data/link")));
	run(f);
	struct stat old = status(in_out(f, "data/b"));
	put(f, "data/a", "ONE");
	assert_ok(fs_symlink(S("b"), in_src(f, "data/link")));
	put(f, "data/c", "three");
	run(f);
	test_has(in_out(f, "data/a"), "ONE");
	test_has(in_out(f, "data/c"), "three");
	test_has(in_out(f, "data/link"), "two");
	struct stat now = status(in_out(f, "data/b"));
	assert_int_equal(now.st_ino, old.st_ino);
	assert_ok(fs_remove_tree(in_src(f, "data")));
	run(f);
	assert_false(there(f, "data"));
	assert_int_equal(f->t.removed.n, 4);
}

static void files_of_others_in_an_overlay_stay(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->overlay = true;
	put(f, "README", "read");
	put_at(f, in_out(f, "README"), "mine", 0644);
	put_at(f, in_out(f, "hip/k.hip"), "mine", 0644);
	put_at(f, in_out(f, "sub/notes"), "mine", 0644);
	run(f);
	assert_fails(f, "README", "was not made by rocsmith");
	assert_fails(f, "k.cu", "was not made by rocsmith");
	test_has(in_out(f, "README"), "mine");
	test_has(in_out(f, "hip/k.hip"), "mine");
	test_has(in_out(f, "sub/m.h"), "CUDA M");
	restore(f, false);
	test_has(in_out(f, "sub/notes"), "mine");
	assert_false(there(f, "sub/m.h"));
}

static void an_edited_copy_is_made_anew_and_set_aside(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->overlay = true;
	put(f, "README", "read");
	run(f);
	put_at(f, in_out(f, "README"), "mine", 0644);
	run(f);
	test_has(in_out(f, "README"), "read");
	test_has(in_out(f, ".rocsmith/kept/README"), "mine");
	assert_str(str_join(&f->a, &f->t.edited, S(" ")), "README");
}

static void an_overlay_of_a_translated_tree_sees_the_originals(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	f->overlay = true;
	PAIRS(f, {"k.cu", "k.hip"});
	run(f);
	test_has(in_out(f, "k.hip"), "CUDA K");
	test_has(in_out(f, "sub/m.h"), "cuda m");
	assert_false(there(f, "hip/k.hip"));
}

static void an_overlay_may_lie_in_the_tree(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->overlay = true;
	f->out = in_src(f, "build/hip");
	run(f);
	test_has(in_out(f, "sub/m.h"), "CUDA M");
	assert_false(there(f, "build/hip"));
	run(f);
	run(f);
	assert_true(f->current);
}

static void a_folder_is_in_place_or_an_overlay(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	struct str src = f->src;
	f->overlay = true;
	f->src = path_join(&f->a, f->dir, S("src2"));
	f->out = src;
	usual(f);
	assert_err_says(try_run(f), E_USAGE, "was translated in place");
	f->out = path_join(&f->a, f->dir, S("out"));
	run(f);
	f->overlay = false;
	f->src = f->out;
	assert_err_says(try_run(f), E_USAGE, "is an output folder");
	f->src = src;
	f->overlay = true;
	f->out = f->dir;
	assert_err_says(try_run(f), E_USAGE, "contains the sources");
}

/* ---- state ---- */

static void states_are_told(void **state)
{
	struct fixture *f = *state;
	for (int overlay = 0; overlay < 2; overlay++) {
		f->overlay = overlay;
		usual(f);
		run(f);
		assert_int_equal(state_of(f, "hip/k.hip"), STATE_CURRENT);
		assert_int_equal(state_of(f, "sub/m.h"), STATE_CURRENT);
		put(f, "k.cu", "cuda 2");
		assert_int_equal(state_of(f, "hip/k.hip"), STATE_STALE);
		put(f, "k.cu", "cuda k"); /* only touched */
		assert_int_equal(state_of(f, "hip/k.hip"), STATE_CURRENT);
		assert_ok(fs_remove(in_src(f, "k.cu")));
		assert_int_equal(state_of(f, "hip/k.hip"), STATE_ORPHAN);
		put_at(f, in_out(f, "sub/m.h"), "edited", 0644);
		assert_int_equal(state_of(f, "sub/m.h"), STATE_EDITED);
		assert_ok(fs_remove(in_out(f, "hip/k.hip")));
		assert_int_equal(state_of(f, "hip/k.hip"), STATE_MISSING);
		restore(f, true);
	}
	struct change_entries all;
	assert_err(changes_state(&f->a, f->dir, &all), E_NOENT);
}

static void a_copied_tree_is_still_known(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	struct str to = path_join(&f->a, f->dir, S("moved"));
	assert_ok(fs_rename(f->src, to));
	f->src = to;
	assert_int_equal(state_of(f, "sub/m.h"), STATE_CURRENT);
	run(f);
	assert_false(f->current); /* patterns may depend on where it is */
	assert_int_equal(file(f, "k.cu")->status, CHANGE_SKIPPED);
	assert_int_equal(restore(f, false).n, 0);
	test_has(in_src(f, "sub/m.h"), "cuda m");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(originals_are_kept_and_modes_too),
		T(a_second_run_has_nothing_to_do),
		T(a_change_anywhere_is_seen),
		T(quick_changes_are_seen),
		T(what_comes_meanwhile_is_seen_next_time),
		T(restore_gives_the_tree_back_bit_by_bit),
		T(an_edit_of_a_replaced_file_is_a_new_source),
		T(an_edit_of_a_generated_file_is_set_aside),
		T(a_folder_that_became_a_file_fails_alone),
		T(what_waits_is_a_new_file),
		T(a_lost_intent_leaves_the_manifest_before_it),
		T(restore_keeps_what_was_edited),
		T(what_has_no_source_any_more_is_taken_back),
		T(a_failed_source_keeps_its_earlier_output),
		T(runs_of_other_sources_do_not_take_away),
		T(what_was_right_already_is_not_ours),
		T(links_are_followed_inside_only),
		T(outputs_outside_work_in_place),
		T(a_bad_place_fails_alone),
		T(the_later_of_two_sources_wins),
		T(looking_writes_nothing),
		T(an_overlay_is_the_whole_tree),
		T(copies_follow_their_sources),
		T(files_of_others_in_an_overlay_stay),
		T(an_edited_copy_is_made_anew_and_set_aside),
		T(an_overlay_of_a_translated_tree_sees_the_originals),
		T(an_overlay_may_lie_in_the_tree),
		T(a_folder_is_in_place_or_an_overlay),
		T(states_are_told),
		T(a_copied_tree_is_still_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
