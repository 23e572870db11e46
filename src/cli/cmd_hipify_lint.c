/* hipify --lint-map: faults in the tables of a torch, and in a user's own pairs. */
#include "cli/cmd_hipify.h"

#include "base/fs.h"
#include "hipify/torch/model/tables.h"
#include "term/out.h"

enum { MAP_LIMIT = 16 << 20 };

struct tally {
	size_t n[SEV_ERROR + 1]; /* by severity */
};

static struct tally count(const struct findings *list)
{
	struct tally t = {0};
	VEC_EACH (const struct finding, f, list)
		t.n[f->severity]++;
	return t;
}

static void print_json(struct arena *a, const struct torch_source *s, const struct findings *list)
{
	BUF(b, a);
	struct json j = {.out = &b, .indent = 2};
	struct tally t = count(list);
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.hipify-lint/1"));
	hipify_json_torch(&j, &(struct hipify_torch){.path = s->path,
				      .version = s->version,
				      .known = s->known,
				      .fingerprint = s->fingerprint,
				      .generation = s->generation,
				      .file = s->mappings.path});
	json_key(&j, "findings");
	findings_json(&j, list);
	json_key(&j, "counts");
	json_open(&j, '{');
	for (int i = SEV_ERROR; i >= SEV_INFO; i--)
		json_put_u64(&j, severity_name((enum severity)i), t.n[i]);
	json_close(&j);
	json_close(&j);
	hipify_print_json(&b);
}

static void print_text(const struct torch_source *s, const struct findings *list)
{
	struct tally t = count(list);
	VEC_EACH (const struct finding, f, list) {
		out_fmt("%s: %.*s: %.*s [%s]\n", severity_name(f->severity), STR(f->path),
			STR(f->message), f->id);
		VEC_EACH (const struct str, fix, &f->fix)
			out_fmt("    %.*s\n", STR(*fix));
	}
	say_status(S("Checked"), "the tables of '%.*s'%s%.*s: %zu errors, %zu warnings, %zu notes",
		STR(s->path), s->version.n ? ", torch " : "", STR(s->version), t.n[SEV_ERROR],
		t.n[SEV_WARNING], t.n[SEV_INFO]);
}

static struct err *lint_own(struct arena *a, const struct hipify_options *o,
	const struct torch_source *s, struct findings *ret)
{
	struct torch_tables t = {0};
	struct str text = o->map_text;
	if (!o->map.n)
		return NULL;
	if (!text.p)
		TRY(fs_read(a, o->map, MAP_LIMIT, &text));
	TRY(torch_tables_read(a, s, &t));
	return torch_map_lint(a, o->map, text, &t, ret);
}

struct err *hipify_lint(struct arena *a, const struct hipify_args *h, int *ret_status)
{
	struct hipify_options o;
	struct torch_source s;
	struct findings list = {0};
	TRY(hipify_resolve_torch(a, h, &o));
	TRY(torch_open(a, o.torch, &s));
	TRY(torch_tables_lint(a, &s, &list));
	TRY(lint_own(a, &o, &s, &list));
	if (h->common.json)
		print_json(a, &s, &list);
	else
		print_text(&s, &list);
	if (list.n && findings_worst(&list) >= SEV_WARNING)
		*ret_status = 1;
	return NULL;
}
