/* Files that a recipe has made anew by a program of this machine, never by one of the tree.
 *
 * flatbuffers: the header of a schema by the flatc that belongs to the headers in use, as PyTorch's
 * tools/gen_flatbuffers.sh does it (github.com/pytorch/pytorch).
 */
#include "base/fs.h"
#include "base/proc.h"
#include "recipe/recipe_int.h"

enum { FILE_LIMIT = 64 << 20, SECONDS = 60 };

bool generate_known(struct str what)
{
	return str_eq(what, S("flatbuffers"));
}

static struct str find_program(struct trial *t, struct str name)
{
	struct arena *a = t->w->a;
	VEC_EACH (const struct str, dir, &t->w->facts.path) {
		struct str path = path_join(a, *dir, name);
		if (fs_is_file(path))
			return path;
	}
	return t->w->facts.path.n ? S("") : proc_find(a, name);
}

/* "FLATBUFFERS_VERSION_MAJOR == 23 &&" and so on, of a generated header. */
static bool is_of(struct arena *a, struct str text, struct str version)
{
	static const char *const names[] = {"MAJOR", "MINOR", "REVISION"};
	for (size_t i = 0; i < 3; i++) {
		struct str number = S(""), mark;
		(void)str_next(&version, '.', &number);
		mark = str_fmt(a, "FLATBUFFERS_VERSION_%s == %.*s", names[i], STR(number));
		size_t at = str_find(text, mark) + mark.n;
		if (at > text.n || (at < text.n && ascii_digit(text.p[at])))
			return false;
	}
	return true;
}

static struct err *run(
	struct trial *t, const struct recipe_step *s, struct str flatc, struct str *ret)
{
	struct arena *a = t->w->a;
	struct str schema, dir, name = path_base(s->from);
	TRY(trial_text(t, s->from, &schema));
	if (!schema.p)
		return err_new(E_RECIPE, "there is no %.*s", STR(s->from));
	TRY(fs_tempdir(a, S(""), &dir));
	struct proc p = {.cwd = dir, .timeout = SECONDS};
	struct proc_result result;
	proc_arg(a, &p, flatc.p, "--cpp", "--gen-mutable", "--scoped-enums", "-o", ".", "-c",
		str_z(a, name), NULL);
	struct err *e = fs_stage(path_join(a, dir, name), schema, 0644);
	if (!e)
		e = proc_check(a, &p, &result);
	if (!e)
		e = fs_read(a, path_join(a, dir, path_base(s->file)), FILE_LIMIT, ret);
	return err_join(e, fs_remove_tree(dir));
}

/* A header that is right stays as it is. */
struct err *generate(struct trial *t, const struct recipe_step *s, bool *ret)
{
	struct arena *a = t->w->a;
	const struct found *have = trial_found(t, s->version);
	struct str version = have ? have->version : S(""), text = {0};
	struct str flatc = find_program(t, S("flatc"));
	*ret = true;
	TRY(fs_read_opt(a, path_join(a, t->w->request->tree, s->file), FILE_LIMIT, &text));
	if (text.p && is_of(a, text, version)) {
		trial_put(t, s->file, text);
		return NULL;
	}
	*ret = flatc.n > 0;
	if (!flatc.n)
		t->why = str_fmt(a,
			"flatc %.*s makes the header, and it is not installed (Debian: "
			"flatbuffers-compiler)",
			STR(version));
	if (!flatc.n || !t->w->make)
		return NULL;
	TRY_CTX(run(t, s, flatc, &text), "cannot make %.*s", STR(s->file));
	*ret = is_of(a, text, version);
	if (*ret)
		trial_put(t, s->file, str_fmt(a, "%.*s// @generated\n", STR(text)));
	else
		t->why = str_fmt(a, "%.*s is not the flatc of version %.*s that the headers want",
			STR(flatc), STR(version));
	return NULL;
}
