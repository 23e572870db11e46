/* METADATA and WHEEL: there, readable, complete, and in agreement with the file name. */
#include "base/version.h"
#include "verify/look.h"

enum { MAX_TEXT = 64 << 20 }; /* RECORD of the largest wheels: a few MiB */

bool look_text(struct look *l, const char *name, enum verify_id missing, struct str *ret)
{
	struct str path = str_fmt(l->a, "%.*s/%s", STR(l->info), name);
	const struct zip_member *m = zip_find(&l->zip, path);
	if (!m) {
		look_say(l, missing, path, "there is no %s in the wheel", name);
		return false;
	}
	struct err *e = zip_read(l->a, &l->zip, m, MAX_TEXT, ret);
	bool good = !e; /* what is wrong with it has been said by check_members() */
	if (e && e->code == E_LIMIT)
		look_say(l, V_ZIP_CONTENT, path, "%s", e->msg);
	err_free(e);
	return good;
}

/* ---- which folder ---- */

static bool in_list(const struct strs *list, struct str s)
{
	return list->n && str_eq(list->v[list->n - 1], s) ? true : strs_has(list, s);
}

static struct strs info_folders(struct look *l)
{
	struct strs ret = {0};
	VEC_EACH (const struct zip_member, m, &l->zip.members) {
		struct str folder, rest;
		bool inside = str_cut(m->name, '/', &folder, &rest);
		if (inside && str_ends(folder, S(".dist-info")) && !in_list(&ret, folder))
			strs_add(l->a, &ret, folder);
	}
	return ret;
}

static bool same_version(struct str x, struct str y)
{
	ARENA(tmp);
	const struct version *a, *b;
	struct err *e = version_parse(&tmp, x, &a), *f = version_parse(&tmp, y, &b);
	bool same = !e && !f ? version_cmp(a, b) == 0 : str_eq(x, y);
	err_free(e);
	err_free(f);
	return same;
}

static bool same_project(struct str x, struct str y)
{
	ARENA(tmp);
	return str_eq(wheel_normalise(&tmp, x), wheel_normalise(&tmp, y));
}

static void find_info(struct look *l)
{
	struct strs all = info_folders(l);
	if (!all.n) {
		look_say(l, V_INFO_MISSING, S(""), "there is no NAME-VERSION.dist-info folder");
		return;
	}
	l->info = all.v[0];
	for (size_t i = 1; i < all.n; i++)
		look_say(l, V_INFO_SEVERAL, all.v[i], "'%.*s' is a second dist-info folder",
			STR(all.v[i]));
	struct str stem = str_sub(l->info, 0, l->info.n - S(".dist-info").n), dist, version;
	bool dash = str_cut(stem, '-', &dist, &version);
	if (!l->named || (dash && same_project(dist, l->name.dist) &&
				 same_version(version, l->name.version)))
		return;
	look_say(l, V_INFO_NAME, l->info, "it should be named '%.*s-%.*s.dist-info'",
		STR(l->name.dist), STR(l->name.version));
}

/* ---- METADATA ---- */

static struct str metadata_path(struct look *l, const char *name)
{
	return str_fmt(l->a, "%.*s/%s", STR(l->info), name);
}

static const struct header *required(struct look *l, const struct headers *h, const char *field)
{
	const struct header *got = wheel_header(h, field);
	if (got && got->value.n)
		return got;
	look_say(l, V_META_FIELD, metadata_path(l, "METADATA"), "the field '%s' is missing", field);
	return NULL;
}

static void check_metadata_version(struct look *l, const struct headers *h)
{
	const struct header *got = required(l, h, "Metadata-Version");
	static const char *const known[] = {
		"1.0", "1.1", "1.2", "2.0", "2.1", "2.2", "2.3", "2.4", "2.5", NULL};
	for (size_t i = 0; got && known[i]; i++)
		if (str_eq(got->value, str_from(known[i])))
			return;
	if (got)
		look_say(l, V_META_FIELD, metadata_path(l, "METADATA"),
			"Metadata-Version '%.*s' is none that installers know", STR(got->value));
}

static void check_identity(struct look *l, const struct headers *h)
{
	struct str path = metadata_path(l, "METADATA");
	const struct header *name = required(l, h, "Name"), *version = required(l, h, "Version");
	if (name && l->named && !same_project(name->value, l->name.dist))
		look_say(l, V_META_NAME, path, "Name is '%.*s', the file name says '%.*s'",
			STR(name->value), STR(l->name.dist));
	if (!version)
		return;
	const struct version *parsed;
	struct err *e = version_parse(l->a, version->value, &parsed);
	if (e)
		look_say(l, V_META_FIELD, path, "Version '%.*s' is not one of PEP 440",
			STR(version->value));
	else if (l->named && !same_version(version->value, l->name.version))
		look_say(l, V_META_VERSION, path, "Version is '%.*s', the file name says '%.*s'",
			STR(version->value), STR(l->name.version));
	err_free(e);
}

static const char *deepest(const struct err *e)
{
	while (e->cause)
		e = e->cause;
	return e->msg;
}

static void check_requires(struct look *l, const struct header *h)
{
	struct requirement r;
	struct err *e = wheel_requirement_parse(l->a, h->value, &r);
	if (e)
		look_say(l, V_META_REQUIRES, metadata_path(l, "METADATA"), "line %u: '%.*s': %s",
			h->line, STR(h->value), deepest(e));
	else
		strs_add(l->a, &l->requires, wheel_normalise(l->a, r.name));
	err_free(e);
}

static void check_requires_python(struct look *l, const struct header *h)
{
	const struct version *any;
	bool match;
	struct err *e = version_parse(l->a, S("3"), &any);
	if (!e)
		e = version_match(any, h->value, &match);
	if (e)
		look_say(l, V_META_FIELD, metadata_path(l, "METADATA"),
			"line %u: Requires-Python '%.*s': %s", h->line, STR(h->value), deepest(e));
	err_free(e);
}

/* PEP 639: below licenses/ of the dist-info folder; older tools put them beside METADATA. */
static void check_license(struct look *l, const struct header *h)
{
	struct str at[] = {
		str_fmt(l->a, "%.*s/licenses/%.*s", STR(l->info), STR(h->value)),
		str_fmt(l->a, "%.*s/license_files/%.*s", STR(l->info), STR(h->value)),
		str_fmt(l->a, "%.*s/%.*s", STR(l->info), STR(h->value)),
	};
	for (unsigned i = 0; i < 3; i++)
		if (zip_find(&l->zip, at[i]))
			return;
	look_say(l, V_META_LICENSE, at[0], "METADATA names the License-File '%.*s'", STR(h->value));
}

static bool once_only(struct str key)
{
	static const char *const fields[] = {"metadata-version", "name", "version", "summary",
		"requires-python", "license", "license-expression", NULL};
	for (size_t i = 0; fields[i]; i++)
		if (str_eq(key, str_from(fields[i])))
			return true;
	return false;
}

static void check_fields(struct look *l, const struct headers *h)
{
	static const struct {
		const char *key;
		void (*check)(struct look *l, const struct header *h);
	} checks[] = {
		{.key = "requires-dist", .check = check_requires},
		{.key = "requires-python", .check = check_requires_python},
		{.key = "license-file", .check = check_license},
	};
	VEC_EACH (const struct header, it, h) {
		struct str key = str_lower(l->a, it->key);
		if (once_only(key) && wheel_header(h, key.p) != it)
			look_say(l, V_META_FIELD, metadata_path(l, "METADATA"),
				"line %u: a second '%.*s'", it->line, STR(it->key));
		for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
			if (str_eq(key, str_from(checks[i].key)))
				checks[i].check(l, it);
	}
}

static void check_metadata(struct look *l)
{
	struct str text;
	struct headers h;
	if (!look_text(l, "METADATA", V_META_MISSING, &text))
		return;
	struct err *e = wheel_headers_parse(l->a, text, &h);
	if (!e && utf8_end(text) < text.n)
		e = err_new(E_SYNTAX, "it is not valid UTF-8");
	if (e)
		look_say(l, V_META_SYNTAX, metadata_path(l, "METADATA"), "%s", e->msg);
	err_free(e);
	if (!h.n)
		return;
	check_metadata_version(l, &h);
	check_identity(l, &h);
	check_fields(l, &h);
}

/* ---- WHEEL ---- */

static void check_format(struct look *l, const struct headers *h)
{
	struct str path = metadata_path(l, "WHEEL"), major, minor;
	const struct header *got = wheel_header(h, "Wheel-Version");
	uint64_t n;
	if (!got)
		look_say(l, V_WHEEL_SYNTAX, path, "the field 'Wheel-Version' is missing");
	else if (!str_cut(got->value, '.', &major, &minor) || !str_u64(major, 10, &n) || n != 1)
		look_say(l, V_WHEEL_VERSION, path, "Wheel-Version is '%.*s', must be 1.x",
			STR(got->value));
	got = wheel_header(h, "Root-Is-Purelib");
	struct str value = got ? str_lower(l->a, got->value) : S("");
	l->pure = str_eq(value, S("true"));
	if (!l->pure && !str_eq(value, S("false")))
		look_say(l, V_WHEEL_SYNTAX, path, "Root-Is-Purelib must be 'true' or 'false'");
}

static void add_expanded(struct look *l, struct str tag, struct strs *list)
{
	struct strs parts = str_split(l->a, tag, '-');
	if (parts.n != 3) {
		strs_add(l->a, list, tag);
		return;
	}
	struct wheel_name n = {.python = parts.v[0], .abi = parts.v[1], .platform = parts.v[2]};
	struct strs more = wheel_tags(l->a, &n);
	for (size_t i = 0; i < more.n; i++)
		strs_add(l->a, list, more.v[i]);
}

static void check_wheel_tags(struct look *l, const struct headers *h)
{
	struct strs have = {0}, want = {0};
	VEC_EACH (const struct header, it, h)
		if (str_eq(str_lower(l->a, it->key), S("tag")))
			add_expanded(l, it->value, &have);
	if (!have.n) {
		look_say(l, V_WHEEL_SYNTAX, metadata_path(l, "WHEEL"), "there is no 'Tag' line");
		return;
	}
	if (!l->named)
		return;
	want = wheel_tags(l->a, &l->name);
	bool same = have.n == want.n;
	for (size_t i = 0; i < want.n; i++)
		same = same && strs_has(&have, want.v[i]);
	if (same)
		return;
	struct finding *f = look_say(l, V_WHEEL_TAGS, metadata_path(l, "WHEEL"),
		"it says %.*s, the file name %.*s", STR(str_join(l->a, &have, S(" "))),
		STR(str_join(l->a, &want, S(" "))));
	finding_fix(l->a, f, "rename and rewrite it in one step: wheel tags");
}

static void check_wheel(struct look *l)
{
	struct str text;
	struct headers h;
	if (!look_text(l, "WHEEL", V_WHEEL_MISSING, &text))
		return;
	struct err *e = wheel_headers_parse(l->a, text, &h);
	if (e)
		look_say(l, V_WHEEL_SYNTAX, metadata_path(l, "WHEEL"), "%s", e->msg);
	err_free(e);
	check_format(l, &h);
	check_wheel_tags(l, &h);
}

void check_dist_info(struct look *l)
{
	find_info(l);
	if (!l->info.n)
		return;
	check_metadata(l);
	check_wheel(l);
}
