/* Writes a plan as JSON. The order of members is fixed, so that saved plans can be compared. */
#include "plan/plan_int.h"

#define ROW(s, k, t, member)                                                                       \
	{                                                                                          \
		.section = (s), .key = (k), .kind = (t), .off = offsetof(struct plan, member)      \
	}
#define WORD(s, k, member, list)                                                                   \
	{                                                                                          \
		.section = (s), .key = (k), .kind = PLAN_WORD,                                     \
		.off = offsetof(struct plan, member), .words = (list)                              \
	}

const struct plan_field plan_fields[] = {
	ROW("project", "dir", PLAN_TEXT, project),
	ROW("project", "name", PLAN_TEXT, name),
	ROW("project", "version", PLAN_TEXT, version),
	ROW("project", "summary", PLAN_TEXT, summary),
	ROW("project", "license", PLAN_TEXT, license),
	ROW(NULL, "gpus", PLAN_LIST, gpus),
	ROW(NULL, "headers", PLAN_LIST, headers),
	ROW(NULL, "external_headers", PLAN_LIST, external),
	ROW(NULL, "includes", PLAN_LIST, includes),
	ROW(NULL, "libraries", PLAN_LIST, libraries),
	ROW(NULL, "defines", PLAN_LIST, defines),
	ROW(NULL, "flags", PLAN_LIST, flags),
	ROW("python", "tag", PLAN_TEXT, python_tag),
	ROW("python", "abi", PLAN_TEXT, abi_tag),
	ROW("python", "requires", PLAN_TEXT, requires_python),
	ROW("python", "dependencies", PLAN_LIST, requires),
	ROW("python", "headers", PLAN_BOOL, needs_python),
	ROW("python", "dir", PLAN_TEXT, python_dir),
	ROW("python", "files", PLAN_LIST, python_files),
	ROW("sdk", "provider", PLAN_TEXT, sdk.provider),
	ROW("sdk", "suite", PLAN_TEXT, sdk.suite),
	ROW("sdk", "prefix", PLAN_TEXT, sdk.prefix),
	ROW("sdk", "mirror", PLAN_TEXT, sdk.mirror),
	ROW("sdk", "components", PLAN_LIST, sdk.components),
	WORD("hipify", "mode", hipify.mode, hipify_modes),
	ROW("hipify", "torch", PLAN_TEXT, hipify.torch),
	ROW("hipify", "sources", PLAN_LIST, hipify.sources),
	ROW("hipify", "include_dirs", PLAN_LIST, hipify.include_dirs),
	ROW("hipify", "ignore", PLAN_LIST, hipify.ignore),
	ROW("hipify", "exclude", PLAN_LIST, hipify.exclude),
	ROW("hipify", "extensions", PLAN_LIST, hipify.extra_extensions),
	ROW("hipify", "map", PLAN_TEXT, hipify.map),
	ROW("hipify", "map_text", PLAN_TEXT, hipify.map_text),
	WORD("hipify", "launches", hipify.launches, hipify_launches),
	ROW("hipify", "rocm", PLAN_TEXT, hipify.rocm),
	ROW("host", "native", PLAN_BOOL, host_native),
	ROW("host", "libc", PLAN_TEXT, host.libc),
	ROW("host", "include_dir", PLAN_TEXT, host.include_dir),
	ROW("host", "gcc_dir", PLAN_TEXT, host.gcc_dir),
	ROW("host", "triplet", PLAN_TEXT, host.triplet),
	ROW("host", "python", PLAN_TEXT, host.python),
	ROW("host", "python_version", PLAN_TEXT, host.python_version),
	ROW("host", "python_include", PLAN_TEXT, host.python_include),
	ROW("host", "python_tag", PLAN_TEXT, host.python_tag),
	ROW("host", "python_abi", PLAN_TEXT, host.python_abi),
	ROW("host", "ext_suffix", PLAN_TEXT, host.ext_suffix),
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
