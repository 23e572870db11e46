/* The pristine view of a tree that was translated in place: what it hides, whose bytes it reads,
 * and what it notes. */

#include <sys/stat.h>
#include <unistd.h>

#include "base/pool.h"
#include "base/vec.h"
#include "changes/manifest.h"
#include "changes/view.h"

/* k.cu gave hip/k.hip; m.h was replaced; n.h was replaced and edited since. */
#define KIT_MORE                                                                                   \
	struct manifest m;                                                                         \
	struct view v;
#include "unit/kit.h"

static void made(struct fixture *f, const char *output, const char *text, bool replaced)
{
	*VEC_PUSH(&f->a, &f->m.made) = (struct made){
		.output = str_from(output), .replaced = replaced, .hash = sum_of(str_from(text))};
}

static int begin(void **state)
{
	struct fixture *f = kit_new(state);
	f->m = (struct manifest){.a = &f->a, .by_output = {.a = &f->a}};
	f->m.journal = changes_journal(&f->a, f->dir, S(""));
	put(f, "k.cu", "cuda k");
	put(f, "hip/k.hip", "hip k");
	put(f, "m.h", "hip m");
	put(f, ".rocsmith/originals/m.h", "cuda m");
	put(f, "n.h", "edited n");
	put(f, ".rocsmith/originals/n.h", "cuda n");
	put(f, "build/out/x.h", "x");
	made(f, "hip/k.hip", "hip k", false);
	made(f, "m.h", "hip m", true);
	made(f, "n.h", "hip n", true);
	assert_ok(sum_of_original(at(f, ".rocsmith/originals/m.h"), &f->m.made.v[1].original));
	VEC_EACH (struct made, e, &f->m.made)
		map_put(&f->m.by_output, e->output, e);
	view_open(&f->v, f->dir, &f->m);
	strs_add(&f->a, &f->v.hidden, at(f, "build/out"));
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	view_close(&f->v);
	return teardown(state);
}

static void reads(struct fixture *f, const char *rel, const char *want)
{
	struct str text;
	assert_ok(view_read(&f->v, &f->a, at(f, rel), &text));
	assert_str(text, want);
}

static void originals_are_read(void **state)
{
	struct fixture *f = *state;
	reads(f, "k.cu", "cuda k");
	reads(f, "m.h", "cuda m");
}

static void what_somebody_edited_is_a_new_source(void **state)
{
	struct fixture *f = *state;
	reads(f, "m.h", "cuda m");
	assert_int_equal(view_edited(&f->v, &f->a).n, 0);
	reads(f, "n.h", "edited n");
	struct strs edited = view_edited(&f->v, &f->a);
	assert_str(str_join(&f->a, &edited, S(" ")), "n.h");
}

static void an_original_that_is_gone_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct str text;
	assert_ok(fs_remove(at(f, ".rocsmith/originals/m.h")));
	assert_err_says(view_read(&f->v, &f->a, at(f, "m.h"), &text), E_CORRUPT, "is gone");
}

static void outputs_and_our_folders_are_hidden(void **state)
{
	struct fixture *f = *state;
	assert_true(view_hides(&f->v, at(f, "hip/k.hip")));
	assert_true(view_hides(&f->v, at(f, ".rocsmith")));
	assert_true(view_hides(&f->v, at(f, ".rocsmith/originals/m.h")));
	assert_true(view_hides(&f->v, at(f, "build/out")));
	assert_true(view_hides(&f->v, at(f, "build/out/x.h")));
	assert_false(view_hides(&f->v, at(f, "build/outer")));
	assert_false(view_hides(&f->v, at(f, "build")));
	assert_false(view_hides(&f->v, at(f, "m.h")));
	assert_false(view_hides(&f->v, at(f, "k.cu")));
	assert_false(view_hides(&f->v, S("/elsewhere/hip/k.hip")));
}

static void existence_is_that_of_the_view(void **state)
{
	struct fixture *f = *state;
	assert_true(view_exists(&f->v, at(f, "k.cu")));
	assert_true(view_exists(&f->v, at(f, "m.h")));
	assert_false(view_exists(&f->v, at(f, "hip/k.hip")));
	assert_false(view_exists(&f->v, at(f, "none")));
}

static const struct seen *noted(struct fixture *f, const char *path, enum seen_kind kind)
{
	struct manifest all = {0};
	view_noted(&f->v, &f->a, &all);
	VEC_EACH (const struct seen, s, &all.seen)
		if (s->kind == kind && str_eq(s->path, str_from(path)))
			return s;
	return NULL;
}

static void looks_are_noted(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	reads(f, "k.cu", "cuda k");
	reads(f, "m.h", "cuda m");
	view_exists(&f->v, at(f, "none"));
	view_exists(&f->v, S("/"));
	assert_ok(fs_stat(f->dir, &st));
	view_note_dir(&f->v, f->dir, &st);
	const struct seen *s = noted(f, "k.cu", SEEN_FILE);
	struct sum want = sum_of(S("cuda k"));
	assert_true(s && sum_eq(&s->hash, &want) && s->sig.size == 6);
	assert_non_null(noted(f, ".rocsmith/originals/m.h", SEEN_FILE));
	assert_null(noted(f, "m.h", SEEN_FILE));
	assert_true(noted(f, "none", SEEN_PROBE)->absent);
	assert_false(noted(f, "/", SEEN_PROBE)->absent);
	assert_int_equal(noted(f, ".", SEEN_DIR)->sig.ino, st.st_ino);
}

/* What was looked at first is what the result stands on. */
static void the_first_look_counts(void **state)
{
	struct fixture *f = *state;
	reads(f, "k.cu", "cuda k");
	put(f, "k.cu", "cuda k 2");
	reads(f, "k.cu", "cuda k 2");
	assert_int_equal(noted(f, "k.cu", SEEN_FILE)->sig.size, 6);
}

static void an_overlays_manifest_hides_nothing(void **state)
{
	struct fixture *f = *state;
	f->m.kind = BASE_OVERLAY;
	view_close(&f->v);
	view_open(&f->v, f->dir, &f->m);
	assert_false(view_hides(&f->v, at(f, "hip/k.hip")));
	reads(f, "m.h", "hip m");
}

static void a_plain_view_notes_nothing(void **state)
{
	struct fixture *f = *state;
	struct view plain = {.root = f->dir};
	struct str text;
	assert_ok(view_read(&plain, &f->a, at(f, "k.cu"), &text));
	assert_str(text, "cuda k");
	assert_true(view_exists(&plain, at(f, "k.cu")));
	assert_int_equal(view_edited(&plain, &f->a).n, 0);
	assert_err(view_read(&plain, &f->a, at(f, "none"), &text), E_NOENT);
}

struct job {
	struct view *v;
	struct str path;
};

static struct err *read_job(struct arena *tmp, void *user)
{
	struct job *j = user;
	struct str text;
	TRY(view_read(j->v, tmp, j->path, &text));
	view_exists(j->v, j->path);
	return NULL;
}

static void threads_may_read(void **state)
{
	struct fixture *f = *state;
	struct job jobs[64];
	for (size_t i = 0; i < 64; i++) {
		struct str name = str_fmt(&f->a, "f%zu", i % 16);
		if (i < 16)
			put(f, name.p, "text");
		jobs[i] = (struct job){&f->v, at(f, name.p)};
	}
	assert_ok(pool_each(4, jobs, 64, sizeof(*jobs), read_job));
	for (size_t i = 0; i < 16; i++)
		assert_non_null(noted(f, str_fmt(&f->a, "f%zu", i).p, SEEN_FILE));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		T(originals_are_read),
		T(what_somebody_edited_is_a_new_source),
		T(an_original_that_is_gone_is_an_error),
		T(outputs_and_our_folders_are_hidden),
		T(existence_is_that_of_the_view),
		T(looks_are_noted),
		T(the_first_look_counts),
		T(an_overlays_manifest_hides_nothing),
		T(a_plain_view_notes_nothing),
		T(threads_may_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
