/* Reader and writer of the cut list; see cut_list.h. */
#include "target/cut_list.h"

#include "base/buf.h"
#include "base/fs.h"
#include "formats/node.h"

static const struct json_field sum_fields[] =
	FIELDS_ONLY(struct slim_sum, target, kept, objects, bytes);
static const struct json_field file_fields[] = FIELDS_ONLY(struct slim_done, path, before, after);
static const struct json_field refused_fields[] = FIELDS_ONLY(struct slim_refused, path, why);

const struct json_field slim_fields[] = {
	FIELD_CONST("schema", "rocsmith.slim/1"),
	FIELDS(struct slim_report, path, output, gpus, exact, strip_device, compress, runtime,
		without, before, after, stripped, unfinished),
	FIELD_LIST("targets", struct slim_report, targets, sum_fields),
	FIELD_LIST("files", struct slim_report, files, file_fields),
	FIELD_LIST("refused", struct slim_report, refused, refused_fields),
	FIELD_LIST("emptied", struct slim_report, emptied, refused_fields),
	FIELDS(struct slim_report, absent, restore, unlisted),
	{.kind = FIELD_END},
};

void slim_sum_add(struct arena *a, struct slim_sums *to, const struct slim_sum *s)
{
	ARENA(tmp);
	struct str key = str_fmt(&tmp, "%d%.*s", s->kept, STR(s->target));
	to->places.a = a;
	uintptr_t place = (uintptr_t)map_get(&to->places, key); /* plus one */
	if (place) {
		to->v[place - 1].objects += s->objects;
		to->v[place - 1].bytes += s->bytes;
		return;
	}
	struct slim_sum *x = VEC_PUSH(a, to);
	key = str_dup(a, key);
	*x = *s;
	x->target = str_sub(key, 1, key.n);
	map_put(&to->places, key, (void *)(uintptr_t)to->n);
}

struct str cut_list_text(struct arena *a, const struct slim_report *r)
{
	struct slim_report list = *r;
	list.path = path_base(r->path);
	list.output = path_base(r->output);
	list.runtime = path_base(r->runtime);
	list.restore.n = 0;
	list.unlisted = 0;
	return json_document(a, 2, slim_fields, &list);
}

struct err *cut_list_read(
	struct arena *a, struct str text, struct str name, struct slim_report *ret)
{
	const struct node *n;
	*ret = (struct slim_report){0};
	TRY(json_parse(a, text, name, &n));
	TRY(json_fields_read(a, n, slim_fields, ret));
	ret->restore = (struct strs){0};
	ret->unlisted = 0;
	return NULL;
}

struct str cut_list_describe(struct arena *a, struct str text)
{
	struct slim_report r;
	struct strs removed = {0};
	struct err *e = cut_list_read(a, text, S("the cut list"), &r);
	bool good = !e && (r.gpus.n || r.files.n);
	err_free(e);
	if (!good)
		return S("");
	VEC_EACH (const struct slim_sum, s, &r.targets)
		if (!s->kept)
			strs_add(a, &removed, s->target);
	targets_sort(&removed);
	struct str gone = str_join(a, &removed, S(", "));
	struct str gpus = r.gpus.n ? str_join(a, &r.gpus, S(", ")) : S("all GPUs");
	if (!gone.n)
		gone = r.stripped ? S("debug information and symbols") : S("files of other GPUs");
	return str_fmt(a, "%s %.*s: without %.*s",
		r.unfinished ? "unfinished: being slimmed for" : "slimmed for", STR(gpus),
		STR(gone));
}

void cut_list_head(struct buf *out, struct str text)
{
	struct str list = S("  \"targets\": [");
	size_t end = str_find(text, list);
	buf_add(out, str_sub(text, 0, end));
	if (end < text.n)
		buf_fmt(out, "%.*s]\n}\n", STR(list));
}
