/* Reads the wheel that is split, and makes the texts of the new dist-info folders, with extras and requirements. See
 * split.h. */
#include "base/fs.h"
#include "base/hash.h"
#include "formats/node.h"
#include "wheel/split_int.h"

enum { OPEN = 200 }; /* most members that stay unpacked for the next wheel */

static const char *const roles[] = {"host", "device", "family", "all", "variant", NULL};
static const struct json_field wheel_fields[] = {
	FIELD("path", struct split_wheel, path),
	FIELD_ENUM("role", struct split_wheel, role, roles),
	FIELDS(struct split_wheel, key, members, size),
	{.kind = FIELD_END},
};
const struct json_field split_fields[] = {
	FIELD_CONST("schema", "rocsmith.split/1"),
	FIELDS(struct split_done, path, output, format, gpus),
	FIELD_LIST("wheels", struct split_done, wheels, wheel_fields),
	FIELD_OPTIONAL("variants", struct split_done, variants),
	FIELD("left", struct split_done, left),
	{.kind = FIELD_END},
};

struct err *split_info_read(struct splitting *s)
{
	struct dist_headers meta, wheel;
	struct str text;
	BUF(all, s->a);
	TRY(wheel_headers(s->a, &s->w, "METADATA", &s->metadata, &meta));
	TRY(wheel_headers(s->a, &s->w, "WHEEL", &text, &wheel));
	s->project = dist_header_value(&meta, "Name");
	s->version = dist_header_value(&meta, "Version");
	s->python = dist_header_value(&meta, "Requires-Python");
	s->pure = dist_header_value(&wheel, "Root-Is-Purelib");
	if (!s->project.n || !s->version.n)
		return err_new(
			E_WHEEL, "'%.*s/METADATA' has no name or no version", STR(s->w.info));
	VEC_EACH (const struct wheel_member, m, &s->w.members)
		buf_fmt(&all, "%.*s %.*s\n", STR(m->zip->name), STR(m->sha256));
	s->set = sha256_hex(s->a, buf_str(&all));
	return NULL;
}

/* ---- contents ---- */

struct err *split_open(struct splitting *s, struct split_file *f)
{
	if (!f->src.read) {
		TRY(zip_src(&s->w.zip, f->m->zip, &f->src, &f->fd));
		s->open += f->fd >= 0;
	}
	f->src.budget = &s->budget;
	return NULL;
}

void split_close(struct splitting *s, struct split_file *f)
{
	if (f->fd < 0 || s->open < OPEN)
		return;
	fd_closep(&f->fd);
	s->open--;
	f->src = (struct bytes){0};
}

/* ---- names and requirements ---- */

static struct str dashed(struct splitting *s, struct str name)
{
	return str_replace(s->a, name, S("_"), S("-"));
}

struct str split_name(struct splitting *s, struct str key)
{
	return str_fmt(s->a, "amd-%.*s-device-%.*s",
		STR(dashed(s, wheel_normalise(s->a, s->w.name.dist))), STR(dashed(s, key)));
}

/* The wheels that a GPU's wheel needs beside the host wheel: its families, and generic code, which plain libraries contain. */
static struct strs parents(struct splitting *s, struct str key)
{
	struct strs ret = {0};
	const struct gpu *gpu = gpu_by_name(key);
	struct str generic = str_from(gpu ? gpu->generic : NULL);
	VEC_EACH (const struct str, family, &s->families)
		if (slim_owner_covers(*family, key))
			strs_add(s->a, &ret, *family);
	if (!s->q->plain && strs_has(&s->done->gpus, generic))
		strs_add(s->a, &ret, generic);
	return ret;
}

static void require_all(
	struct splitting *s, struct buf *b, const struct strs *keys, struct str marker)
{
	VEC_EACH (const struct str, key, keys)
		buf_fmt(b, "Requires-Dist: %.*s == %.*s%s%.*s\n", STR(split_name(s, *key)),
			STR(s->version), marker.n ? "; " : "", STR(marker));
}

static struct str host_headers(struct splitting *s)
{
	BUF(b, s->a);
	struct strs all = {0};
	VEC_EACH (const struct str, gpu, &s->done->gpus) {
		struct strs more = {0}, up = parents(s, *gpu);
		struct str extra = str_fmt(s->a, "device-%.*s", STR(dashed(s, *gpu)));
		strs_add(s->a, &more, *gpu);
		strs_add_all(s->a, &more, &up);
		buf_fmt(&b, "Provides-Extra: %.*s\n", STR(extra));
		require_all(s, &b, &more, str_fmt(s->a, "extra == \"%.*s\"", STR(extra)));
	}
	if (s->all)
		strs_add(s->a, &all, S("all"));
	strs_add_all(s->a, &all, s->all ? &(struct strs){0} : &s->done->gpus);
	strs_add_all(s->a, &all, s->all ? &(struct strs){0} : &s->families);
	buf_add(&b, S("Provides-Extra: device-all\n"));
	require_all(s, &b, &all, S("extra == \"device-all\""));
	return buf_str(&b);
}

/* The GPUs that have code of their own or generic code; adds the requirements of each to b. */
static struct strs variants(struct splitting *s, struct buf *b)
{
	struct strs values = {0};
	for (size_t i = 0; i < gpu_count; i++) {
		struct str gpu = str_from(gpu_table()[i].name),
			   generic = str_from(gpu_table()[i].generic);
		struct strs keys = parents(s, gpu);
		bool own = strs_has(&s->done->gpus, gpu);
		if (gpu_table()[i].is_generic || (!own && !strs_has(&s->done->gpus, generic)))
			continue;
		strs_put(s->a, &keys, own ? gpu : generic);
		strs_add(s->a, &values, gpu);
		require_all(s, b, &keys,
			str_fmt(s->a, "\"amd :: gfx_arch :: %.*s\" in variant_properties",
				STR(gpu)));
	}
	strs_sort(&values);
	return values;
}

struct str split_variants(struct splitting *s)
{
	BUF(ignored, s->a);
	BUF(b, s->a);
	struct json j = {.out = &b, .indent = 2};
	struct strs values = variants(s, &ignored), names = {0};
	strs_add(s->a, &names, S("amd"));
	json_open(&j, '{');
	json_key(&j, "$schema");
	json_str(&j, S("https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json"));
	json_key(&j, "default-priorities");
	json_open(&j, '{');
	json_key(&j, "namespace");
	json_strs(&j, &names);
	json_close(&j);
	static const char *const keys[] = {"variants", SPLIT_LABEL, "amd"};
	for (unsigned i = 0; i < 3; i++) {
		json_key(&j, keys[i]);
		json_open(&j, '{');
	}
	json_key(&j, "gfx_arch");
	json_strs(&j, &values);
	for (unsigned i = 0; i < 4; i++)
		json_close(&j);
	buf_char(&b, '\n');
	return buf_str(&b);
}

/* New headers go behind the last one, or before the version if the last line has no line break. */
struct str split_host_metadata(struct splitting *s, bool variant)
{
	BUF(more, s->a);
	struct str text = s->metadata, rest = text, line;
	size_t at = text.n, version = 0, from = 0;
	for (; at == text.n && str_next(&rest, '\n', &line); from = text.n - rest.n) {
		at = str_trim(line).n ? at : from;
		version = str_starts(str_lower(s->a, line), S("version:")) ? from : version;
	}
	if (at == text.n && !str_ends(text, S("\n")))
		at = version;
	buf_add(&more, host_headers(s));
	if (variant)
		(void)variants(s, &more);
	return str_fmt(s->a, "%.*s%.*s%.*s", STR(str_sub(text, 0, at)), STR(buf_str(&more)),
		STR(str_sub(text, at, text.n)));
}

struct str split_device_metadata(struct splitting *s, const struct split_wheel *w)
{
	BUF(b, s->a);
	struct strs more = w->role == SPLIT_DEVICE ? parents(s, w->key) : (struct strs){0};
	buf_fmt(&b, "Metadata-Version: 2.1\nName: %.*s\nVersion: %.*s\n",
		STR(split_name(s, w->key)), STR(s->version));
	buf_fmt(&b, "Summary: Device code of %.*s for %.*s\n", STR(s->project), STR(w->key));
	if (s->python.n)
		buf_fmt(&b, "Requires-Python: %.*s\n", STR(s->python));
	buf_fmt(&b, "Requires-Dist: %.*s == %.*s\n", STR(s->project), STR(s->version));
	require_all(s, &b, &more, S(""));
	return buf_str(&b);
}

/* Makes WHEEL with the tags of the file's name; it is installed into the same folder as the host wheel. */
struct str split_device_wheel(struct splitting *s)
{
	BUF(b, s->a);
	struct strs tags = wheel_tags(s->a, &s->w.name);
	buf_fmt(&b, "Wheel-Version: 1.0\nGenerator: rocsmith " ROCSMITH_VERSION "\n");
	buf_fmt(&b, "Root-Is-Purelib: %.*s\n", STR(s->pure));
	if (s->w.name.build.n)
		buf_fmt(&b, "Build: %.*s\n", STR(s->w.name.build));
	VEC_EACH (const struct str, tag, &tags)
		buf_fmt(&b, "Tag: %.*s\n", STR(*tag));
	return buf_str(&b);
}

struct str split_manifest(struct splitting *s, const struct split_wheel *w)
{
	struct split_part x = {.wheel = path_base(s->q->from),
		.set = s->set,
		.format = s->done->format,
		.role = str_from(roles[w->role]),
		.key = w->key,
		.keys = s->done->gpus,
		.headers = w->role == SPLIT_HOST ? host_headers(s) : S("")};
	for (size_t i = 0; i < s->w.members.n; i++)
		if (s->files[i].fat)
			*VEC_PUSH(s->a, &x.members) = (struct split_member){
				s->files[i].m->zip->name,
				str_from(split_encodings[s->files[i].encoding]),
				w->role == SPLIT_HOST ? s->files[i].absent : (struct strs){0}};
	return json_document(s->a, 2, split_part_fields, &x);
}
