/* What was done, as the JSON of `rocsmith slim` and as the manifest that stays with the result; see slim.h. */
#include "base/fs.h"
#include "formats/node.h"
#include "slim/slim_int.h"

static const struct json_field sum_fields[] =
	FIELDS_ONLY(struct slim_sum, target, kept, objects, bytes);
static const struct json_field file_fields[] = FIELDS_ONLY(struct slim_done, path, before, after);

const struct json_field slim_fields[] = {
	FIELD_CONST("schema", "rocsmith.slim/1"),
	FIELDS(struct slim_report, path, output, gpus, exact, strip_device, compress, runtime,
		without, before, after, stripped, unfinished),
	FIELD_LIST("targets", struct slim_report, targets, sum_fields),
	FIELD_LIST("files", struct slim_report, files, file_fields),
	{.kind = FIELD_END},
};

void slim_sum_add(struct arena *a, struct slim_sums *to, const struct slim_sum *s)
{
	VEC_EACH (struct slim_sum, x, to) {
		if (x->kept != s->kept || !str_eq(x->target, s->target))
			continue;
		x->objects += s->objects;
		x->bytes += s->bytes;
		return;
	}
	struct slim_sum *x = VEC_PUSH(a, to);
	*x = *s;
	x->target = str_dup(a, s->target);
}

void slim_note(struct arena *a, struct slim_report *r, struct str path, uint64_t before,
	const struct slim_plan *p)
{
	uint64_t after = p ? p->after : 0;
	r->before += before;
	r->after += after;
	r->stripped += p ? p->stripped : 0;
	for (size_t i = 0; p && i < p->targets.n; i++)
		slim_sum_add(a, &r->targets, &p->targets.v[i]);
	if (!p || p->changed)
		*VEC_PUSH(a, &r->files) = (struct slim_done){str_dup(a, path), before, after};
}

/* By generation. */
static struct str removed(struct arena *a, const struct slim_report *r)
{
	struct strs names = {0};
	VEC_EACH (const struct slim_sum, s, &r->targets)
		if (!s->kept)
			strs_add(a, &names, s->target);
	targets_sort(&names);
	return str_join(a, &names, S(", "));
}

struct err *slim_check_served(
	struct arena *a, const struct slim_report *r, const struct slim_keep *k)
{
	VEC_EACH (const struct slim_sum, s, &r->targets)
		if (s->bytes && slim_keeps(k, s->target))
			return NULL;
	if (!r->targets.n)
		return NULL;
	return err_hint(err_new(E_GFX, "'%.*s' has no code for %.*s: nothing would be left",
				STR(r->path), STR(str_join(a, &r->gpus, S(", ")))),
		"it has code for %.*s", STR(removed(a, r)));
}

struct err *slim_check_without(const struct slim_report *r)
{
	VEC_EACH (const struct str, glob, &r->without) {
		const struct strs one = {.v = (struct str *)(uintptr_t)glob, .n = 1};
		const struct slim_keep only = {.without = &one};
		bool hit = false;
		VEC_EACH (const struct slim_done, f, &r->files)
			hit = hit || (!f->after && slim_leaves_out(&only, f->path));
		if (!hit)
			return err_new(E_USAGE, "nothing in '%.*s' has a name like '%.*s'",
				STR(r->path), STR(*glob));
	}
	return NULL;
}

struct str slim_manifest(struct arena *a, const struct slim_report *r)
{
	struct slim_report m = *r;
	m.path = path_base(r->path);
	m.output = path_base(r->output);
	m.runtime = path_base(r->runtime);
	return json_document(a, 2, slim_fields, &m);
}

static struct str gone_files(const struct slim_report *r)
{
	return r->stripped ? S("debug information and symbols") : S("files of other GPUs");
}

struct str slim_manifest_text(struct arena *a, struct str text)
{
	const struct node *n;
	struct slim_report r = {0};
	struct err *e = json_parse(a, text, S("the manifest"), &n);
	if (!e)
		e = json_fields_read(a, n, slim_fields, &r);
	bool good = !e && (r.gpus.n || r.files.n);
	err_free(e);
	struct str gone = good ? removed(a, &r) : S("");
	struct str gpus = r.gpus.n ? str_join(a, &r.gpus, S(", ")) : S("all GPUs");
	return !good ? S("")
		     : str_fmt(a, "%s %.*s: without %.*s",
			       r.unfinished ? "unfinished: being slimmed for" : "slimmed for",
			       STR(gpus), STR(gone.n ? gone : gone_files(&r)));
}
