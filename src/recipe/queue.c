/* Reads the files of a queue, and brings them into the copy of a build; see queue.h. */
#include "recipe/queue.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "formats/diff.h"
#include "formats/json_fields.h"
#include "lang/python/dist_info.h"
#include "lang/python/version.h"
#include "source/source.h"

enum { MAX_PATCH = 64 << 20, MAX_LIST = 1 << 20, MAX_PATCHES = 10000 };

static const struct json_field repo_fields[] =
	FIELDS_ONLY(struct queue_repo, path, name, now, base, hipify);
static const struct json_field patch_fields[] =
	FIELDS_ONLY(struct queue_patch, repo, file, hipified, sha256, state, commit, detail);
const struct json_field queue_fields[] = {
	FIELD_CONST("schema", "rocsmith.queue/1"),
	FIELDS(struct queue, tree, dir, patchset, hash),
	FIELD_LIST("repos", struct queue, repos, repo_fields),
	FIELD_LIST("patches", struct queue, patches, patch_fields),
	{.kind = FIELD_END},
};

struct queue_walk {
	struct arena *a;
	struct queue *q;
	struct str dir;        /* QUEUE/PATCHSET */
	struct map submodules; /* their paths; a stranger's .gitmodules may name any number */
};

/* Adds the paths of submodules below rel, parents first, whether they are there or not. */
static void find_submodules(struct queue_walk *w, struct str rel)
{
	struct arena *a = w->a;
	struct str text = {0}, list = path_join(a, rel, S(".gitmodules"));
	struct strs paths = {0};
	err_free(fs_read_below(a, w->q->tree, list, MAX_LIST, &text));
	source_submodule_paths(a, text, &paths);
	VEC_EACH (const struct str, below, &paths) {
		struct str path = path_clean(a, path_join(a, rel, *below));
		if (map_put(&w->submodules, path, w))
			find_submodules(w, path);
	}
}

/* ---- reading ---- */

/* Does git take the line for the beginning of another mail? It has a rule of its own: "From ", and a time of day behind it. */
static bool begins_mail(struct str line)
{
	bool is = false;
	if (!str_starts(line, S("From ")))
		return false;
	for (size_t at = 5; at + 7 <= line.n; at++) { /* "9:08:07" is enough */
		const char *t = &line.p[at];
		is = is || (ascii_digit(t[0]) && ascii_digit(t[2]) && ascii_digit(t[3]) &&
				   t[4] == ':' && ascii_digit(t[5]) && ascii_digit(t[6]));
	}
	return is;
}

/* A mail's headers can say that its text is in parts, or in a code: git applies then what nobody sees in the file. */
static struct err *check_mail(struct arena *a, struct str mail, struct str name)
{
	static const char *const codes[] = {"boundary=", "base64", "quoted-printable", NULL};
	struct dist_headers headers;
	struct str line;
	TRY_CTX(dist_headers_parse(a, mail, &headers), "'%.*s' is no mail", STR(name));
	VEC_EACH (const struct dist_header, h, &headers) {
		bool content = str_starts(str_lower(a, h->key), S("content-"));
		if (content && str_contains_one_of(str_lower(a, h->value), codes))
			return err_new(E_SOURCE, "the patch '%.*s' is encoded: '%.*s: %.*s'",
				STR(name), STR(h->key), STR(h->value));
	}
	while (str_next(&mail, '\n', &line))
		if (begins_mail(line))
			return err_new(E_SOURCE, "the patch '%.*s' holds several patches: '%.*s'",
				STR(name), STR(line));
	return headers.n ? NULL : err_new(E_SOURCE, "the patch '%.*s' has no headers", STR(name));
}

static struct err *check_patch(struct arena *a, struct str text, struct str name)
{
	static const char date[] = " Mon Sep 17 00:00:00 2001"; /* git knows its own mails by it */
	static const char *const never[][2] = {
		{"\nBinary files ", "names a binary file without its content"},
		{"\n+Subproject commit ",
			"moves a submodule: its patches have a folder of their own"},
		{"\n-Subproject commit ", "removes or moves a submodule"},
		{" Mon Sep 17 00:00:00 2001\n", "holds several patches"}};
	struct str first = str_sub(text, 0, str_chr(text, '\n'));
	struct str diff = str_sub(text, str_find(text, S("\ndiff --git ")), text.n);
	if (str_starts(first, S("From ")) && str_ends(first, S("\r")))
		return err_new(E_SOURCE, "all lines of the patch '%.*s' end in CRLF", STR(name));
	if (!str_starts(first, S("From ")) || !str_ends(first, str_from(date)) || !diff.n)
		return err_new(E_SOURCE, "'%.*s' is not a patch of 'git format-patch'", STR(name));
	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
		if (str_contains(diff, str_from(never[i][0])))
			return err_new(E_SOURCE, "the patch '%.*s' %s", STR(name), never[i][1]);
	return check_mail(a, str_sub(text, first.n + 1, text.n), name);
}

/* Reads the patches of REPO/base or REPO/hipified. */
static struct err *read_set(const struct queue_walk *w, struct str repo, struct str set)
{
	struct arena *a = w->a;
	struct str series = path_join(a, set, S("series")), text = {0}, line;
	struct strs names = {0}, all;
	TRY(fs_list(a, path_join(a, w->dir, set), &all));
	if (strs_has(&all, S("series")))
		TRY(fs_read_below(a, w->dir, series, MAX_LIST, &text));
	while (str_next(&text, '\n', &line)) {
		line = str_trim(str_sub(line, 0, str_chr(line, '#')));
		if (line.n && (!strs_has(&all, line) || !strs_put(a, &names, line)))
			return err_new(E_SOURCE, "'%.*s' names '%.*s', which is %s", STR(series),
				STR(line), strs_has(&all, line) ? "in it already" : "not there");
	}
	for (size_t i = 0; i < all.n && !text.p; i++)
		if (str_ends(all.v[i], S(".patch")))
			strs_add(a, &names, all.v[i]);
	VEC_EACH (const struct str, name, &names) {
		struct queue_patch *p = VEC_PUSH(a, &w->q->patches);
		*p = (struct queue_patch){.repo = repo, .file = path_join(a, set, *name)};
		p->hipified = str_ends(set, S("/hipified"));
		p->state = S("waiting");
		if (w->q->patches.n > MAX_PATCHES)
			return err_new(E_LIMIT, "the queue '%.*s' has more than %d patches",
				STR(w->q->dir), MAX_PATCHES);
		TRY(fs_read_below(a, w->dir, p->file, MAX_PATCH, &p->text));
		TRY(check_patch(a, p->text, p->file));
		p->sha256 = sha256_hex(a, p->text);
	}
	return NULL;
}

static struct err *visit_set(void *user, struct fs_entry *e)
{
	const struct queue_walk *w = user;
	struct queue *q = w->q;
	struct str set = str_dup(w->a, e->path), name = path_dir(set), repo = S("");
	struct str last = path_base(set);
	if (!S_ISDIR(e->st.st_mode) || (!str_eq(last, S("base")) && !str_eq(last, S("hipified"))))
		return NULL;
	e->prune = true;
	if (!str_eq(name, path_base(q->tree)) && map_has(&w->submodules, name))
		repo = name;
	struct queue_repo *r = VEC_FIND(struct queue_repo, &q->repos, path, repo);
	r = r ? r : VEC_PUSH(w->a, &q->repos);
	if ((r->name.n && !str_eq(r->name, name)) || (!repo.n && str_chr(name, '/') < name.n))
		return err_new(E_USAGE,
			"the queue has patches for '%.*s', which is neither '%.*s' nor a "
			"submodule of it",
			STR(name), STR(q->tree));
	*r = (struct queue_repo){.path = repo, .name = name};
	return read_set(w, repo, set);
}

struct err *queue_version(struct arena *a, struct str tree, struct str *ret)
{
	TRY(fs_read_opt(a, path_join(a, tree, S("version.txt")), MAX_LIST, ret));
	*ret = ret->p ? version_release(*ret) : S("");
	return NULL;
}

struct err *queue_open(struct arena *a, struct queue *q)
{
	struct queue_walk w = {.a = a, .q = q, .submodules = {.a = a}};
	struct strs names, sets = {0};
	struct str asked = q->patchset;
	BUF(all, a);
	TRY(fs_list(a, q->dir, &names));
	VEC_EACH (const struct str, n, &names)
		if (n->p[0] != '.' && fs_is_dir(path_join(a, q->dir, *n)))
			strs_add(a, &sets, *n);
	if (!asked.n)
		TRY(queue_version(a, q->tree, &q->patchset));
	if (!strs_has(&sets, q->patchset)) {
		struct err *e = err_new(E_USAGE, "the queue '%.*s' has %s%.*s", STR(q->dir),
			sets.n ? "patches for " : "no folders", STR(str_join(a, &sets, S(", "))));
		if (asked.n || sets.n != 1)
			return err_near(
				err_hint(e, "--patchset names the folder to use"), asked, &sets);
		err_free(e);
		q->patchset = sets.v[0];
	}
	q->repos.n = q->patches.n = 0;
	*VEC_PUSH(a, &q->repos) = (struct queue_repo){.path = S("")};
	w.dir = path_join(a, q->dir, q->patchset);
	find_submodules(&w, S(""));
	TRY(fs_walk(w.dir, visit_set, &w));
	VEC_EACH (const struct queue_patch, p, &q->patches)
		buf_fmt(&all, "%.*s %.*s\n", STR(p->file), STR(p->sha256));
	q->hash = sha256_hex(a, buf_str(&all));
	return NULL;
}

void queue_repos(struct arena *a, struct queue *q)
{
	struct queue_walk w = {.a = a, .q = q, .submodules = {.a = a}};
	find_submodules(&w, S(""));
	*VEC_PUSH(a, &q->repos) = (struct queue_repo){.path = S(""), .name = path_base(q->tree)};
	for (size_t i = 0; i < w.submodules.n; i++) {
		struct str path = w.submodules.v[i].key;
		if (fs_present(path_join(a, path_join(a, q->tree, path), S(".git"))))
			*VEC_PUSH(a, &q->repos) = (struct queue_repo){.path = path, .name = path};
	}
}

/* ---- the copy of a build ---- */

/* A file that comes and goes is not written. The old array stays: texts in it are in use. */
static void forget(struct arena *a, struct change_set *set, struct str output)
{
	struct change_set all = *set;
	*set = (struct change_set){.removed = all.removed, .edited = all.edited};
	VEC_EACH (const struct change, c, &all)
		if (!str_eq(c->output, output))
			*VEC_PUSH(a, set) = *c;
}

struct err *queue_changes(struct arena *a, const struct queue *q, bool hipified, struct view *view,
	struct change_set *ret)
{
	struct diff diff;
	struct diff_result r;
	VEC_EACH (const struct queue_patch, p, &q->patches) {
		if (p->hipified != hipified)
			continue;
		TRY(diff_parse(a, p->text, p->file, DIFF_PATCH, &diff));
		size_t files = 0;
		for (struct str t = p->text; str_contains(t, S("\ndiff --git ")); files++)
			t = str_sub(t, str_find(t, S("\ndiff --git ")) + 1, t.n);
		if (files != diff.n)
			return err_new(E_SOURCE, "the patch '%.*s' adds or removes an empty file",
				STR(p->file));
		VEC_EACH (const struct diff_file, f, &diff) {
			struct str rel = path_join(a, p->repo, f->path), *text = NEW(a, struct str);
			struct str path = path_join(a, view->root, rel), old = {0};
			if (view_exists(view, path) && !view_leads_out(view, path))
				TRY(view_read(view, a, path, &old));
			TRY(diff_apply(a, f, old, &r));
			if (r.fit == DIFF_NOT)
				return err_detail(
					err_new(E_SOURCE, "the patch '%.*s' does not fit '%.*s'",
						STR(p->file), STR(rel)),
					str_join(a, &r.notes, S("\n")));
			if (r.fit == DIFF_THERE)
				continue;
			*text = r.text;
			map_put(q->texts, path, f->removes ? NULL : text);
			if (f->removes)
				forget(a, ret, rel);
			if (f->removes)
				strs_add(a, &view->hidden, path);
			else
				*VEC_PUSH(a, ret) = (struct change){
					.source = rel, .output = rel, .text = r.text};
		}
	}
	return NULL;
}
