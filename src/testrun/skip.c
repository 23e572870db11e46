/* Skip lists: YAML, a list of entries. Only exact ids, and each entry says why, for how long, and where it will be cured:
 * a list that grows by itself hides what a release breaks. */
#include "base/fs.h"
#include "know/predicate.h"
#include "testrun/testrun_int.h"

enum { SKIPS = 20000, LONGEST_TEXT = 4096 };

static struct err *read_text(
	const struct node *entry, const char *key, bool wanted, struct str *ret)
{
	TRY(node_want_text(entry, str_from(key), ret));
	if (wanted && !ret->n)
		return node_error(entry, E_SYNTAX, "an entry of a skip list needs '%s'", key);
	if (!str_is_plain(*ret, ""))
		return node_error(entry, E_SYNTAX, "'%s' has a control character", key);
	return ret->n > LONGEST_TEXT ? node_error(entry, E_SYNTAX, "'%s' is longer than %d bytes",
					       key, LONGEST_TEXT)
				     : NULL;
}

static struct err *check_date(const struct node *entry, const char *key, struct str date)
{
	return str_is_day(date)
		       ? NULL
		       : node_error(entry, E_SYNTAX, "'%s' is a date like 2026-11-29", key);
}

/* An id is that of a file, of a class or test in it, or of one case of a test. */
static struct err *check_id(const struct node *entry, struct str id)
{
	struct str file = str_sub(id, 0, str_find(id, S("::")));
	if (!path_is_inside(file) || !str_eq(path_ext(file), S(".py")))
		return err_hint(node_error(entry, E_SYNTAX, "'%.*s' is no id of a test", STR(id)),
			"an id is exact: test/test_torch.py::TestTorch::test_add, without the case "
			"in [] for all cases");
	if (strcspn(file.p, "*?[") < file.n)
		return node_error(
			entry, E_SYNTAX, "'%.*s' is a pattern, and ids are exact", STR(id));
	return NULL;
}

static struct err *read_entry(struct arena *a, const struct node *entry, struct test_skip *s)
{
	static const char *const keys[] = {
		"id", "gfx", "os", "torch", "python", "reason", "issue", "added", "expires", NULL};
	enum truth truth;
	if (entry->kind != NODE_MAP)
		return node_error(entry, E_SYNTAX, "an entry of a skip list is a map");
	TRY(node_check_keys(entry, keys));
	TRY(read_text(entry, "id", true, &s->id));
	TRY(read_text(entry, "reason", true, &s->reason));
	TRY(read_text(entry, "issue", true, &s->issue));
	TRY(read_text(entry, "added", true, &s->added));
	TRY(read_text(entry, "expires", true, &s->expires));
	TRY(read_text(entry, "os", false, &s->os));
	TRY(read_text(entry, "torch", false, &s->torch));
	TRY(read_text(entry, "python", false, &s->python));
	TRY(node_want_strs(a, entry, S("gfx"), &s->gfx));
	TRY(check_id(entry, s->id));
	TRY(check_date(entry, "added", s->added));
	TRY(check_date(entry, "expires", s->expires));
	struct err *e = predicate_version(a, S("1"), s->torch, &truth);
	e = e ? e : predicate_version(a, S("1"), s->python, &truth);
	if (e)
		return err_wrap(
			e, "'torch' or 'python' of '%.*s' is no range of versions", STR(s->id));
	if (str_cmp(s->expires, s->added) < 0)
		return node_error(
			entry, E_SYNTAX, "'%.*s' expires before it was added", STR(s->id));
	return NULL;
}

static struct err *skips_parse(
	struct arena *a, const struct node *doc, struct str today, struct test_skips *ret)
{
	const struct node *list = node_get(doc, S("skip"));
	if (!list || list->kind != NODE_LIST || doc->n != 1)
		return err_hint(
			node_error(doc, E_SYNTAX, "a skip list is 'skip:', and a list of entries"),
			"see SKIP LISTS in rocsmith-test(1)");
	NODE_EACH (entry, list) {
		struct test_skip s = {0};
		if (ret->n == SKIPS)
			return node_error(entry, E_LIMIT, "more than %d entries", SKIPS);
		TRY(read_entry(a, entry, &s));
		s.expired = str_cmp(s.expires, today) < 0;
		*VEC_PUSH(a, ret) = s;
	}
	return NULL;
}

static struct err *read_file(
	struct arena *a, struct str path, const struct test_evidence *e, struct test_skips *io)
{
	const struct node *doc;
	struct test_skips all = {0};
	struct strs gpus = str_split(a, e->gpu, ',');
	if (str_eq(path, S("known")))
		TRY(yaml_parse(a, testrun_skips, path, &doc));
	else
		TRY(yaml_read(a, path, &doc));
	TRY(skips_parse(a, doc, str_sub(e->started, 0, 10), &all));
	VEC_EACH (const struct test_skip, s, &all) {
		enum truth torch = TRUTH_YES, python = TRUTH_YES;
		if (s->torch.n)
			TRY_CTX(predicate_version(a, e->torch, s->torch, &torch),
				"cannot compare torch %.*s with '%.*s'", STR(e->torch), STR(path));
		if (s->python.n)
			TRY_CTX(predicate_version(a, e->python, s->python, &python),
				"cannot compare Python %.*s with '%.*s'", STR(e->python),
				STR(path));
		if ((!s->os.n || str_eq(s->os, S("linux"))) && torch == TRUTH_YES &&
			python == TRUTH_YES && predicate_gpus(&gpus, &s->gfx, false) == TRUTH_YES)
			*VEC_PUSH(a, io) = *s;
	}
	return NULL;
}

struct err *skips_read(
	struct arena *a, struct str path, const struct test_evidence *e, struct test_skips *io)
{
	struct strs files = {0};
	if (!fs_is_dir(path))
		return read_file(a, path, e, io);
	TRY(fs_list(a, path, &files));
	VEC_EACH (const struct str, name,
		&files) { /* not below: a folder may hold a link to itself */
		struct str file = path_join(a, path, *name);
		if (str_eq(path_ext(file), S(".yaml")) && !fs_is_dir(file))
			TRY(read_file(a, file, e, io));
	}
	return NULL;
}

bool test_id_below(struct str id, struct str above)
{
	return str_starts(id, above) &&
	       (id.n == above.n || id.p[above.n] == ':' || id.p[above.n] == '[');
}
