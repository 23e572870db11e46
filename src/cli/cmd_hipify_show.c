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

struct str hipify_untranslated_text(struct arena *a, struct str dir, const struct untranslated *u)
{
	struct str path = hipify_in_dir(a, dir, u->path);
	bool name = str_chr(u->suggestion, ' ') == u->suggestion.n;
	struct str why = S("");
	if (u->suggestion.n && u->since.n)
		why = str_fmt(a, " (%.*s, since ROCm %.*s)", STR(u->suggestion), STR(u->since));
	else if (u->suggestion.n)
		why = str_fmt(a, name ? " (near it: %.*s)" : " (%.*s)", STR(u->suggestion));
	return str_fmt(a, "%.*s:%u:%u: '%.*s' is not translated%.*s", STR(path), u->line, u->col,
		STR(u->name), STR(why));
}

/* ---- JSON ---- */

const struct json_field hipify_untranslated_fields[] = {
	FIELDS(struct untranslated, path, line, name),
	FIELD("column", struct untranslated, col),
	FIELD_OPTIONAL("certain", struct untranslated, certain),
	FIELD_OPTIONAL("suggestion", struct untranslated, suggestion),
	FIELD_OPTIONAL("since", struct untranslated, since),
	{.kind = FIELD_END},
};

const struct json_field hipify_torch_fields[] = {
	FIELDS(struct torch_source, path, version, known, fingerprint, generation),
	FIELD("file", struct torch_source, algorithm.path),
	{.kind = FIELD_END},
};

/* ---- failures ---- */

/* Why a source failed, in one line. */
static struct str reason(struct arena *a, const struct err *e)
{
	BUF(b, a);
	if (e->path && e->line && e->col)
		buf_fmt(&b, "%s:%u:%u: ", e->path, e->line, e->col);
	else if (e->path && e->line)
		buf_fmt(&b, "%s:%u: ", e->path, e->line);
	for (; e; e = e->cause)
		buf_fmt(&b, "%s%s", e->msg, e->cause ? ": " : "");
	return str_dup(a, buf_str(&b));
}

struct err *hipify_failures(struct arena *a, struct hipify_tree *t)
{
	VEC(struct change *) failed = {0};
	VEC_EACH (struct change, f, &t->changes)
		if (f->status == CHANGE_FAILED)
			*VEC_PUSH(a, &failed) = f;
	if (!failed.n)
		return NULL;
	if (failed.n == 1) {
		struct change *f = failed.v[0];
		struct err *e = err_new(E_HIPIFY, "'%.*s' could not be translated", STR(f->source));
		e->cause = f->error;
		f->error = NULL;
		return e;
	}
	for (size_t i = 0; i < failed.n; i++)
		say_warning("%.*s", STR(reason(a, failed.v[i]->error)));
	return err_new(
		E_HIPIFY, "%zu of %zu sources could not be translated", failed.n, t->changes.n);
}
