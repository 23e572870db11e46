/* The texts of the dist-info folders of a set: names, extras, requirements, provenance, variants. See split.h. */
#include "base/fs.h"
#include "formats/node.h"
#include "wheel/split_int.h"

#define ANY_GPU "@GFXARCH@"

const char *const split_roles[] = {"host", "device", "family", "all", "variant", NULL};

bool split_is_host(const struct split_wheel *w)
{
	return w->role == SPLIT_HOST || w->role == SPLIT_VARIANT;
}

static struct str dashed(struct splitting *s, struct str name)
{
	return str_replace(s->a, name, S("_"), S("-"));
}

struct str split_project(struct splitting *s, struct str key)
{
	return str_fmt(s->a, "%.*s-%.*s", STR(s->prefix), STR(dashed(s, key)));
}

struct err *split_check_names(struct splitting *s)
{
	const struct split_request *q = s->q;
	struct requirement r;
	s->prefix = q->prefix;
	if (!s->prefix.n)
		s->prefix = str_fmt(s->a, "amd-%.*s-device",
			STR(dashed(s, wheel_normalise(s->a, s->w.name.dist))));
	const char *no_name = "--prefix '%.*s' is not the name of a project";
	TRY_CTX(requirement_parse(s->prefix, &r), no_name, STR(s->prefix));
	if (!str_eq(r.name, s->prefix))
		return err_new(E_USAGE, no_name, STR(s->prefix));
	for (size_t i = 0; i < q->requires.n; i++) {
		struct str text = q->requires.v[i];
		if (str_chr(text, '\n') < text.n || str_chr(text, '\r') < text.n)
			return err_new(E_USAGE, "--device-requires '%.*s' is more than one line",
				STR(text));
		TRY_CTX(requirement_parse(str_replace(s->a, text, S(ANY_GPU), S("gfx0")), &r),
			"--device-requires '%.*s' is no requirement", STR(text));
	}
	return NULL;
}

/* ---- GPUs and the wheels that they need ---- */

void split_list_served(struct splitting *s)
{
	strs_add_all(s->a, &s->done->serves, &s->done->gpus);
	TABLE_EACH (gpu, g)
		if (!g->is_generic && !g->removed && g->generic &&
			strs_has(&s->done->gpus, str_from(g->generic)))
			strs_put(s->a, &s->done->serves, str_from(g->name));
	targets_sort(&s->done->serves);
}

/* The wheels that a GPU's wheel needs beside the host wheel: its families, and generic code where a bundle has none
 * of its own; plain libraries contain that. */
static struct strs parents(struct splitting *s, struct str key)
{
	struct strs ret = {0};
	const struct gpu *gpu = gpu_by_name(key);
	VEC_EACH (const struct str, family, &s->families)
		if (slim_owner_covers(*family, key))
			strs_add(s->a, &ret, *family);
	if (!s->plain && strs_has(&s->lacking, key))
		strs_add(s->a, &ret, str_from(gpu->generic));
	return ret;
}

/* The wheels that a GPU needs. In kpack archives the runtime looks for generic code where a GPU's own archive has none; plain
 * wheels have the same files, so that only one is installed: the GPU's own, which has the generic code, too. */
static struct strs wheels_of(struct splitting *s, struct str gpu)
{
	struct strs ret = {0}, more = parents(s, gpu);
	bool own = strs_has(&s->done->gpus, gpu);
	strs_add(s->a, &ret, own ? gpu : str_from(gpu_by_name(gpu)->generic));
	for (size_t i = 0; i < more.n; i++)
		strs_put(s->a, &ret, more.v[i]);
	return ret;
}

static void require_all(
	struct splitting *s, struct buf *b, const struct strs *keys, struct str marker)
{
	VEC_EACH (const struct str, key, keys)
		buf_fmt(b, "Requires-Dist: %.*s == %.*s%s%.*s\n", STR(split_project(s, *key)),
			STR(s->version), marker.n ? "; " : "", STR(marker));
}

/* Adds the requirements of --device-requires: those that name a GPU, or the others. */
static void require_more(
	struct splitting *s, struct buf *b, struct str gpu, bool naming, struct str marker)
{
	for (size_t i = 0; i < s->q->requires.n; i++) {
		struct str text = s->q->requires.v[i], now;
		struct requirement r;
		if (str_contains(text, S(ANY_GPU)) != naming)
			continue;
		now = str_replace(s->a, text, S(ANY_GPU), dashed(s, gpu));
		err_free(requirement_parse(now, &r)); /* it was one before */
		if (!marker.n || !r.marker.n)
			buf_fmt(b, "Requires-Dist: %.*s%s%.*s\n", STR(now), marker.n ? " ; " : "",
				STR(marker));
		else
			buf_fmt(b, "Requires-Dist: %.*s%s%.*s%s%s%.*s%.*s ; (%.*s) and %.*s\n",
				STR(r.name), r.extras.n ? "[" : "", STR(r.extras),
				r.extras.n ? "]" : "", r.url.n ? " @ " : " ", STR(r.url),
				STR(r.specifier), STR(r.marker), STR(marker));
	}
}

/* ---- the host wheel ---- */

static struct str host_headers(struct splitting *s)
{
	BUF(b, s->a);
	struct strs all = {0};
	for (size_t i = 0; i < s->done->serves.n; i++) {
		struct str gpu = s->done->serves.v[i];
		struct strs wheels = wheels_of(s, gpu);
		struct str extra = str_fmt(s->a, "device-%.*s", STR(dashed(s, gpu)));
		struct str marker = str_fmt(s->a, "extra == \"%.*s\"", STR(extra));
		buf_fmt(&b, "Provides-Extra: %.*s\n", STR(extra));
		require_all(s, &b, &wheels, marker);
		if (!strs_has(&s->done->gpus, gpu)) /* it has no wheel that could require them */
			require_more(s, &b, gpu, true, marker);
	}
	if (s->all) {
		strs_add(s->a, &all, S("all"));
	} else {
		strs_add_all(s->a, &all, &s->done->gpus);
		strs_add_all(s->a, &all, &s->families);
	}
	buf_add(&b, S("Provides-Extra: device-all\n"));
	require_all(s, &b, &all, S("extra == \"device-all\""));
	return buf_str(&b);
}

/* The GPUs that an installer can find; adds the requirements of each to b. */
static struct strs list_variants(struct splitting *s, struct buf *b)
{
	struct strs values = {0};
	for (size_t i = 0; i < s->done->serves.n; i++) {
		struct str gpu = s->done->serves.v[i];
		const struct gpu *g = gpu_by_name(gpu);
		if (!g || g->is_generic)
			continue;
		struct strs wheels = wheels_of(s, gpu);
		strs_add(s->a, &values, gpu);
		require_all(s, b, &wheels,
			str_fmt(s->a, "\"amd :: gfx_arch :: %.*s\" in variant_properties",
				STR(gpu)));
	}
	strs_sort(&values);
	return values;
}

/* Its list of GPUs is indented as deep as it lies. */
struct str split_variants(struct splitting *s)
{
	BUF(ignored, s->a);
	BUF(lines, s->a);
	struct strs gpus = list_variants(s, &ignored);
	for (size_t i = 0; i < gpus.n; i++)
		buf_fmt(&lines, "%s\n%10s\"%.*s\"", i ? "," : "", "", STR(gpus.v[i]));
	if (gpus.n)
		buf_fmt(&lines, "\n%8s", "");
	struct str text = str_from(split_variants_table()->text);
	return str_replace(s->a, text, S("@GPUS@"), buf_str(&lines));
}

/* ---- device wheels ---- */

/* Its licences are those of the host wheel, whose METADATA is of a version that has their headers. */
static struct str device_metadata(struct splitting *s)
{
	static const char *const licences[] = {"License-Expression", "License", "License-File"};
	BUF(b, s->a);
	struct str key = s->now->key, version = dist_header_value(&s->headers, "Metadata-Version"),
		   python = dist_header_value(&s->headers, "Requires-Python");
	bool device = s->now->role == SPLIT_DEVICE,
	     naming = !gpu_by_name(key) || !gpu_by_name(key)->is_generic;
	struct strs more = device ? parents(s, key) : (struct strs){0};
	buf_fmt(&b, "Metadata-Version: %.*s\nName: %.*s\nVersion: %.*s\n",
		STR(str_starts(version, S("2.")) ? version : S("2.1")), STR(split_project(s, key)),
		STR(s->version));
	buf_fmt(&b, "Summary: Device code of %.*s for %.*s\n", STR(s->project), STR(key));
	for (unsigned i = 0; i < 3; i++)
		VEC_EACH (const struct dist_header, h, &s->headers)
			if (dist_header_is(h, licences[i]) && str_chr(h->value, '\n') == h->value.n)
				buf_fmt(&b, "%s: %.*s\n", licences[i], STR(h->value));
	if (python.n)
		buf_fmt(&b, "Requires-Python: %.*s\n", STR(python));
	buf_fmt(&b, "Requires-Dist: %.*s == %.*s\n", STR(s->project), STR(s->version));
	require_all(s, &b, &more, S(""));
	if (device && naming)
		require_more(s, &b, key, true, S(""));
	require_more(s, &b, key, false, S(""));
	return buf_str(&b);
}

struct str split_metadata(struct splitting *s)
{
	BUF(more, s->a);
	if (!split_is_host(s->now))
		return device_metadata(s);
	buf_add(&more, host_headers(s));
	if (s->now->role == SPLIT_VARIANT)
		(void)list_variants(s, &more);
	return wheel_with(s->a, s->metadata, buf_str(&more));
}

struct str split_provenance(struct splitting *s)
{
	bool host = s->now->role == SPLIT_HOST;
	struct split_part x = {.wheel = path_base(s->q->from),
		.set = s->set,
		.format = s->done->format,
		.role = str_from(split_roles[s->now->role]),
		.key = s->now->key,
		.keys = s->done->gpus,
		.headers = host ? host_headers(s) : S("")};
	for (size_t i = 0; i < s->w.members.n; i++) {
		const struct split_file *f = &s->files[i];
		if (f->fat)
			*VEC_PUSH(s->a, &x.members) = (struct split_member){f->m->zip->name,
				str_from(split_encodings[f->encoding]),
				host ? f->absent : (struct strs){0}};
	}
	return json_document(s->a, 2, split_part_fields, &x);
}
