/* Writes a plan as JSON. The order of members is fixed, so that saved plans can be compared. */
#include "plan/plan_fields.h"

#define FIELD(s, k, t, member)                                                                     \
	{                                                                                          \
		.section = (s), .key = (k), .kind = (t), .off = offsetof(struct plan, member)      \
	}
#define WORD(s, k, member, list)                                                                   \
	{                                                                                          \
		.section = (s), .key = (k), .kind = PLAN_WORD,                                     \
		.off = offsetof(struct plan, member), .words = (list)                              \
	}

const struct plan_field plan_fields[] = {
	FIELD("project", "dir", PLAN_TEXT, project),
	FIELD("project", "name", PLAN_TEXT, name),
	FIELD("project", "version", PLAN_TEXT, version),
	FIELD("project", "summary", PLAN_TEXT, summary),
	FIELD("project", "license", PLAN_TEXT, license),
	FIELD(NULL, "gpus", PLAN_LIST, gpus),
	FIELD(NULL, "headers", PLAN_LIST, headers),
	FIELD(NULL, "external_headers", PLAN_LIST, external),
	FIELD(NULL, "includes", PLAN_LIST, includes),
	FIELD(NULL, "libraries", PLAN_LIST, libraries),
	FIELD(NULL, "defines", PLAN_LIST, defines),
	FIELD(NULL, "flags", PLAN_LIST, flags),
	FIELD("python", "tag", PLAN_TEXT, python_tag),
	FIELD("python", "abi", PLAN_TEXT, abi_tag),
	FIELD("python", "requires", PLAN_TEXT, requires_python),
	FIELD("python", "dependencies", PLAN_LIST, requires),
	FIELD("python", "headers", PLAN_BOOL, needs_python),
	FIELD("python", "dir", PLAN_TEXT, python_dir),
	FIELD("python", "files", PLAN_LIST, python_files),
	FIELD("sdk", "provider", PLAN_TEXT, sdk_provider),
	FIELD("sdk", "suite", PLAN_TEXT, sdk_suite),
	FIELD("sdk", "prefix", PLAN_TEXT, sdk_prefix),
	FIELD("sdk", "mirror", PLAN_TEXT, sdk_mirror),
	FIELD("sdk", "components", PLAN_LIST, sdk_components),
	WORD("hipify", "mode", hipify.mode, hipify_modes),
	FIELD("hipify", "torch", PLAN_TEXT, hipify.torch),
	FIELD("hipify", "sources", PLAN_LIST, hipify.sources),
	FIELD("hipify", "include_dirs", PLAN_LIST, hipify.include_dirs),
	FIELD("hipify", "ignore", PLAN_LIST, hipify.ignore),
	FIELD("hipify", "exclude", PLAN_LIST, hipify.exclude),
	FIELD("hipify", "extensions", PLAN_LIST, hipify.extra_extensions),
	FIELD("hipify", "map", PLAN_TEXT, hipify.map),
	FIELD("hipify", "map_text", PLAN_TEXT, hipify.map_text),
	WORD("hipify", "launches", hipify.launches, hipify_launches),
	FIELD("hipify", "rocm", PLAN_TEXT, hipify.rocm),
	FIELD("host", "native", PLAN_BOOL, host_native),
	FIELD("host", "libc", PLAN_TEXT, host.libc),
	FIELD("host", "include_dir", PLAN_TEXT, host.include_dir),
	FIELD("host", "gcc_dir", PLAN_TEXT, host.gcc_dir),
	FIELD("host", "triplet", PLAN_TEXT, host.triplet),
	FIELD("host", "python", PLAN_TEXT, host.python),
	FIELD("host", "python_version", PLAN_TEXT, host.python_version),
	FIELD("host", "python_include", PLAN_TEXT, host.python_include),
	FIELD("host", "python_tag", PLAN_TEXT, host.python_tag),
	FIELD("host", "python_abi", PLAN_TEXT, host.python_abi),
	FIELD("host", "ext_suffix", PLAN_TEXT, host.ext_suffix),
	{.key = NULL},
};

const char *const plan_lang_names[] = {
	[PLAN_HIP] = "hip", [PLAN_CXX] = "c++", [PLAN_C] = "c", [PLAN_C + 1] = NULL};

static void write_word(struct json *j, const struct plan_field *f, unsigned value)
{
	json_str(j, value ? str_from(f->words[value - 1]) : S(""));
}

static void write_field(struct json *j, const struct plan *p, const struct plan_field *f)
{
	const char *at = (const char *)p + f->off;
	json_key(j, f->key);
	if (f->kind == PLAN_TEXT)
		json_str(j, *(const struct str *)(const void *)at);
	else if (f->kind == PLAN_LIST)
		json_strs(j, (const struct strs *)(const void *)at);
	else if (f->kind == PLAN_BOOL)
		json_bool(j, *(const bool *)at);
	else
		write_word(j, f, *(const unsigned *)(const void *)at);
}

static bool same_section(const char *x, const char *y)
{
	return str_eq(str_from(x), str_from(y));
}

static void write_fields(struct json *j, const struct plan *p)
{
	const char *open = NULL;
	for (const struct plan_field *f = plan_fields; f->key; f++) {
		if (!same_section(open, f->section)) {
			if (open)
				json_close(j);
			open = f->section;
			if (open) {
				json_key(j, open);
				json_open(j, '{');
			}
		}
		write_field(j, p, f);
	}
	if (open)
		json_close(j);
}

static void write_sources(struct json *j, const struct plan *p)
{
	json_key(j, "sources");
	json_open(j, '[');
	VEC_EACH (const struct plan_source, s, &p->sources) {
		json_open(j, '{');
		json_put(j, "path", s->path);
		json_put(j, "output", s->output);
		json_put(j, "language", str_from(plan_lang_names[s->lang]));
		json_close(j);
	}
	json_close(j);
}

static void write_modules(struct json *j, const struct plan *p)
{
	json_key(j, "modules");
	json_open(j, '[');
	VEC_EACH (const struct plan_module, m, &p->modules) {
		json_open(j, '{');
		json_put(j, "name", m->name);
		json_put(j, "file", m->file);
		json_put_bool(j, "loader", m->loader);
		json_put(j, "loader_file", m->loader_file);
		json_key(j, "sources");
		json_open(j, '[');
		VEC_EACH (const size_t, i, &m->sources)
			json_str(j, p->sources.v[*i].path);
		json_close(j);
		json_close(j);
	}
	json_close(j);
}

static void write_reasons(struct json *j, const struct plan *p)
{
	json_key(j, "reasons");
	json_open(j, '[');
	VEC_EACH (const struct plan_reason, r, &p->reasons) {
		json_open(j, '{');
		json_put(j, "subject", r->subject);
		json_put(j, "choice", r->choice);
		json_put(j, "why", r->why);
		json_close(j);
	}
	json_close(j);
}

struct str plan_json(struct arena *a, const struct plan *p)
{
	BUF(b, a);
	struct json j = {.out = &b, .indent = 2};
	json_open(&j, '{');
	json_put(&j, "schema", S(PLAN_SCHEMA));
	write_fields(&j, p);
	write_sources(&j, p);
	write_modules(&j, p);
	write_reasons(&j, p);
	json_key(&j, "findings");
	findings_json(&j, &p->findings);
	json_close(&j);
	buf_char(&b, '\n');
	return str_dup(a, buf_str(&b));
}
