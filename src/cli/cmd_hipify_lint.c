/* Looking for faults without translating: --lint-map in the tables of a torch and in a user's own pairs,
 * --lint in sources, which may assume waves of 32 lanes.
 */
#include "cli/cmd_hipify.h"

#include "base/fs.h"
#include "hipify/report/waves.h"
#include "hipify/torch/model/tables.h"
#include "plan/plan.h"
#include "term/out.h"

struct lint {
	struct str dir;             /* --lint */
	struct torch_source *torch; /* --lint-map */
	struct findings findings;
	size_t counts[SEV_ERROR + 1]; /* by severity */
};

static const struct json_field count_fields[] = {
	FIELD("error", struct lint, counts[SEV_ERROR]),
	FIELD("warning", struct lint, counts[SEV_WARNING]),
	FIELD("info", struct lint, counts[SEV_INFO]),
	{.kind = FIELD_END},
};
static const struct json_field lint_fields[] = {
	FIELD_CONST("schema", "rocsmith.hipify-lint/1"),
	FIELD_OPTIONAL("directory", struct lint, dir),
	FIELD_POINTER("torch", struct lint, torch, hipify_torch_fields),
	FIELD_LIST("findings", struct lint, findings, finding_fields),
	FIELD_PART("counts", count_fields),
	{.kind = FIELD_END},
};

static void print_findings(const struct findings *list)
{
	VEC_EACH (const struct finding, f, list) {
		out_fmt("%s: %.*s: %.*s [%s]\n", severity_name(f->severity), STR(f->path),
			STR(f->message), f->id);
		/* Of several in a row what to do is said once. */
		if (f + 1 == f_end || strcmp(f->id, f[1].id) != 0)
			VEC_EACH (const struct str, fix, &f->fix)
				out_fmt("    %.*s\n", STR(*fix));
	}
}

static void show(struct arena *a, struct lint *l, bool json, int *ret_status)
{
	VEC_EACH (const struct finding, f, &l->findings)
		l->counts[f->severity]++;
	if (l->counts[SEV_ERROR] || l->counts[SEV_WARNING])
		*ret_status = 1;
	if (json) {
		out_text(json_document(a, 2, lint_fields, l));
		return;
	}
	print_findings(&l->findings);
	if (l->torch)
		say_status(S("Checked"),
			"the tables of '%.*s'%s%.*s: %zu errors, %zu warnings, %zu notes",
			STR(l->torch->path), l->torch->version.n ? ", torch " : "",
			STR(l->torch->version), l->counts[SEV_ERROR], l->counts[SEV_WARNING],
			l->counts[SEV_INFO]);
	else
		say_status(S("Checked"), "'%.*s': %.*s where waves of 32 lanes are assumed",
			STR(l->dir), STR(human_count(a, l->findings.n, "place")));
}

struct err *hipify_lint_map(struct arena *a, const struct hipify_args *h, int *ret_status)
{
	struct hipify_options o;
	struct torch_source s;
	struct torch_tables t = {0};
	struct lint l = {.torch = &s};
	TRY(hipify_resolve_torch(a, h, &o));
	TRY(torch_open(a, o.torch, &s));
	TRY(torch_tables_lint(a, &s, &l.findings));
	if (o.map.n) {
		TRY(hipify_options_load_map(a, &o));
		TRY(torch_tables_read(a, &s, &t));
		TRY(torch_map_lint(a, o.map, o.map_text, &t, &l.findings));
	}
	s.algorithm = s.mappings; /* the file that was looked at */
	show(a, &l, h->common.json, ret_status);
	return NULL;
}

struct err *hipify_lint(struct arena *a, const struct hipify_args *h, int *ret_status)
{
	struct hipify_options o = h->o, described = {0};
	struct lint l = {.dir = o.dir};
	const char *why;
	struct strs file = {0};
	bool folder = fs_is_dir(o.dir);
	if (folder)
		TRY(plan_hipify_read(a, o.dir, &described));
	hipify_options_inherit(&o, &described);
	hipify_choose_mode(&o, &why);
	strs_add(a, &file, path_base(o.dir));
	struct waves_request q = {.dir = folder ? o.dir : path_dir(o.dir),
		.files = o.sources.n ? &o.sources
			 : folder    ? NULL
				     : &file,
		.exclude = o.exclude,
		.by_torch = hipify_by_torch(&o)};
	TRY(waves_find(a, &q, &l.findings));
	show(a, &l, h->common.json, ret_status);
	return NULL;
}
