/* What the answers of hipify share: paths as the user sees them, names that stay, failures, and the
 * members of the JSON objects that occur in several of them.
 */
#include "cli/cmd_hipify.h"

#include "base/fs.h"
#include "term/out.h"

struct str hipify_in_dir(struct arena *a, struct str dir, struct str path)
{
	return dir.n && !str_eq(dir, S(".")) ? path_join(a, dir, path) : path;
}

struct str hipify_left_text(struct arena *a, struct str dir, const struct untranslated *l)
{
	struct str path = hipify_in_dir(a, dir, l->path);
	bool name = l->suggestion.n && str_chr(l->suggestion, ' ') == l->suggestion.n;
	struct str why = S("");
	if (l->suggestion.n && l->since.n)
		why = str_fmt(a, " (%.*s, since ROCm %.*s)", STR(l->suggestion), STR(l->since));
	else if (l->suggestion.n)
		why = str_fmt(a, name ? " (near it: %.*s)" : " (%.*s)", STR(l->suggestion));
	return str_fmt(a, "%.*s:%u:%u: '%.*s' is not translated%.*s", STR(path), l->line, l->col,
		STR(l->name), STR(why));
}

/* ---- JSON ---- */

void hipify_json_left(
	struct arena *a, struct json *j, struct str dir, const struct untranslated_list *left)
{
	json_key(j, "untranslated");
	json_open(j, '[');
	VEC_EACH (const struct untranslated, l, left) {
		json_open(j, '{');
		json_put(j, "path", hipify_in_dir(a, dir, l->path));
		json_put_u64(j, "line", l->line);
		json_put(j, "name", l->name);
		json_put_u64(j, "column", l->col);
		if (l->suggestion.n)
			json_put(j, "suggestion", l->suggestion);
		if (l->since.n)
			json_put(j, "since", l->since);
		json_close(j);
	}
	json_close(j);
}

void hipify_json_torch(struct json *j, const struct hipify_torch *t)
{
	json_key(j, "torch");
	json_open(j, '{');
	json_put(j, "path", t->path);
	json_put(j, "version", t->version);
	json_put_bool(j, "known", t->known);
	json_put(j, "fingerprint", t->fingerprint);
	json_put_u64(j, "generation", t->generation);
	json_put(j, "file", t->file);
	json_close(j);
}

void hipify_print_json(struct buf *b)
{
	out_text(buf_str(b));
	out_text(S("\n"));
}

/* ---- warnings and failures ---- */

void hipify_warn_unknown(const struct hipify_torch *t)
{
	if (t->known || !t->file.n)
		return;
	say_warning("'%.*s' is none of the releases that are known (fingerprint %.*s): the rules "
		    "of %s are used",
		STR(t->file), STR(str_sub(t->fingerprint, 0, 16)),
		t->generation == 1 ? "torch up to 2.10" : "torch 2.11 and later");
	say_hint("--verify compares the result with that torch's own Python; --engine torch runs "
		 "it instead");
}

/* Why a source failed, in one line. */
static struct str reason(struct arena *a, const struct err *e)
{
	BUF(b, a);
	if (e->path && e->line)
		buf_fmt(&b, "%s:%u:", e->path, e->line);
	if (e->path && e->line && e->col)
		buf_fmt(&b, "%u:", e->col);
	if (b.n)
		buf_char(&b, ' ');
	for (; e; e = e->cause)
		buf_fmt(&b, "%s%s", e->msg, e->cause ? ": " : "");
	return str_dup(a, buf_str(&b));
}

struct err *hipify_failures(struct arena *a, struct hipify_tree *t)
{
	size_t n = 0;
	struct change *last = NULL;
	VEC_EACH (struct change, f, &t->changes) {
		n += f->status == CHANGE_FAILED;
		last = f->status == CHANGE_FAILED ? f : last;
	}
	if (!last)
		return NULL;
	VEC_EACH (const struct change, f, &t->changes)
		if (n > 1 && f->status == CHANGE_FAILED)
			say_warning("%.*s", STR(reason(a, f->error)));
	if (n > 1)
		return err_new(
			E_HIPIFY, "%zu of %zu sources could not be translated", n, t->changes.n);
	struct err *e = err_new(E_HIPIFY, "'%.*s' could not be translated", STR(last->source));
	e->cause = last->error;
	last->error = NULL;
	return e;
}
