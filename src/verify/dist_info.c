/* Checks METADATA and WHEEL: present, readable, complete, and in agreement with the file name. */
#include "lang/python/version.h"
#include "verify/exam.h"

/* ---- METADATA ---- */

static const struct dist_header *required(
	struct exam *x, const struct dist_headers *h, const char *field)
{
	const struct dist_header *got = dist_header(h, field);
	if (got && got->value.n)
		return got;
	exam_say(x, V_META_FIELD, exam_path(x, "METADATA"), "the field '%s' is missing", field);
	return NULL;
}

static void check_identity(struct exam *x, const struct dist_headers *h)
{
	static const char *const known[] = {
		"1.0", "1.1", "1.2", "2.0", "2.1", "2.2", "2.3", "2.4", "2.5", NULL};
	struct str path = exam_path(x, "METADATA");
	const struct dist_header *format = required(x, h, "Metadata-Version");
	if (format && !str_is_one_of(format->value, known))
		exam_say(x, V_META_FIELD, path,
			"Metadata-Version '%.*s' is not one that installers know",
			STR(format->value));
	const struct dist_header *name = required(x, h, "Name"),
				 *version = required(x, h, "Version");
	struct str project = name ? wheel_normalise(x->a, name->value) : S("");
	if (name && x->named && !str_eq(project, wheel_normalise(x->a, x->name.dist)))
		exam_say(x, V_META_NAME, path, "Name is '%.*s', the file name says '%.*s'",
			STR(name->value), STR(x->name.dist));
	x->verdict->project = project;
	if (!version)
		return;
	x->verdict->version = version->value;
	const struct version *parsed;
	struct err *e = version_parse(x->a, version->value, &parsed);
	if (e)
		exam_say(x, V_META_FIELD, path, "Version '%.*s' is not one of PEP 440",
			STR(version->value));
	else if (x->named && !wheel_same_version(version->value, x->name.version))
		exam_say(x, V_META_VERSION, path, "Version is '%.*s', the file name says '%.*s'",
			STR(version->value), STR(x->name.version));
	err_free(e);
}

/* Does a Provides-Extra offer each extra that a marker names (extra == "a" or extra == 'b')? */
static void check_extras(struct exam *x, struct str marker)
{
	const struct map *known = &x->verdict->extras;
	for (size_t at; (at = str_find(marker, S("extra"))) < marker.n;) {
		marker = str_trim(str_sub(marker, at + S("extra").n, marker.n));
		if (!str_starts(marker, S("==")))
			continue;
		struct str rest = str_trim(str_sub(marker, 2, marker.n)), name;
		char quote = rest.n ? rest.p[0] : 0;
		rest = str_sub(rest, 1, rest.n);
		name = str_sub(rest, 0, str_chr(rest, quote));
		if ((quote == '"' || quote == '\'') && !map_has(known, wheel_normalise(x->a, name)))
			exam_say(x, V_META_EXTRA, exam_path(x, "METADATA"),
				"a requirement is for the extra '%.*s', which no Provides-Extra "
				"names",
				STR(name));
	}
}

/* Checks that a License-File exists: below licenses/ of the dist-info folder (PEP 639), or beside METADATA, where older
 * tools put it. */
static void check_license(struct exam *x, const struct dist_header *h)
{
	static const char *const folders[] = {"licenses/", "license_files/", ""};
	struct str at[3];
	for (unsigned i = 0; i < 3; i++) {
		at[i] = str_fmt(x->a, "%.*s/%s%.*s", STR(x->info), folders[i], STR(h->value));
		if (zip_find(&x->zip, at[i]))
			return;
	}
	exam_say(x, V_META_LICENSE, at[0], "METADATA names the License-File '%.*s'", STR(h->value));
}

static void check_field(struct exam *x, const struct dist_header *h)
{
	struct requirement r;
	const struct version *any;
	bool match;
	struct err *e = NULL;
	struct str path = exam_path(x, "METADATA");
	if (dist_header_is(h, "requires-dist")) {
		e = requirement_parse(h->value, &r);
		if (e)
			exam_say(x, V_META_REQUIRES, path, "line %u: '%.*s': %s", h->line,
				STR(h->value), err_root(e)->msg);
		else
			*VEC_PUSH(x->a, &x->verdict->requires) = r;
	} else if (dist_header_is(h, "requires-python")) {
		e = version_parse(x->a, S("3"), &any);
		if (!e)
			e = version_match(any, h->value, &match);
		if (e)
			exam_say(x, V_META_FIELD, path, "line %u: Requires-Python '%.*s': %s",
				h->line, STR(h->value), err_root(e)->msg);
	} else if (dist_header_is(h, "license-file")) {
		check_license(x, h);
	} else if (dist_header_is(h, "provides-extra")) {
		map_put(&x->verdict->extras, wheel_normalise(x->a, h->value), NULL);
	}
	err_free(e);
}

static void check_metadata(struct exam *x)
{
	static const char *const once[] = {"metadata-version", "name", "version", "summary",
		"requires-python", "license", "license-expression", NULL};
	struct str text, path = exam_path(x, "METADATA");
	struct dist_headers h;
	MAP(seen, x->a);
	if (!exam_text(x, "METADATA", V_META_MISSING, &text))
		return;
	struct err *e = dist_headers_parse(x->a, text, &h);
	if (!e && utf8_end(text) < text.n)
		e = err_new(E_SYNTAX, "it is not valid UTF-8");
	bool bad = e;
	if (e)
		exam_say(x, V_META_SYNTAX, path, "%s", e->msg);
	err_free(e);
	if (bad && !h.n)
		return;
	check_identity(x, &h);
	x->verdict->extras.a = x->a;
	VEC_EACH (const struct dist_header, it, &h) {
		struct str key = str_lower(x->a, it->key);
		if (!map_put(&seen, key, NULL) && str_is_one_of(key, once))
			exam_say(x, V_META_FIELD, path, "line %u: a second '%.*s'", it->line,
				STR(it->key));
		check_field(x, it);
	}
	VEC_EACH (const struct requirement, r, &x->verdict->requires)
		check_extras(x, r->marker);
}

/* ---- the version of ROCm ---- */

/* Is it the ROCm of "+rocm7.12.0"? A shorter one stands for all of its patch releases. */
static bool same_rocm(struct str mine, struct str other)
{
	other = str_sub(other, 0, str_chr(other, '+'));
	return wheel_same_version(mine, other) ||
	       (str_starts(other, mine) && str_starts(str_sub(other, mine.n, other.n), S(".")));
}

/* Whoever renames a release candidate has to rename what it requires, too. */
static void check_rocm(struct exam *x)
{
	enum { TEXT = 1 << 16 };
	struct str base, local, text, mark = S("check_version="), version = x->verdict->version;
	const struct version *any;
	(void)str_cut(version, '+', &base, &local);
	struct str mine = str_sub(local, str_find(local, S("rocm")) + S("rocm").n, local.n);
	struct err *e = version_parse(x->a, mine, &any);
	bool none = e;
	err_free(e);
	if (none)
		return;
	VEC_EACH (const struct requirement, r, &x->verdict->requires) {
		struct str name = package_name(x->a, r->name, '-'), s = str_trim(r->specifier);
		struct str want = str_trim(str_sub(s, 2, s.n));
		bool exact = str_starts(s, S("==")) && str_until(s, ",*") == s.n &&
			     !str_starts(want, S("="));
		if (exact && (str_eq(name, S("rocm")) || str_starts(name, S("rocm-"))) &&
			!same_rocm(mine, want))
			exam_say(x, V_ROCM_MIXED, exam_path(x, "METADATA"),
				"its version %.*s names ROCm %.*s, and it requires '%.*s%.*s'",
				STR(version), STR(mine), STR(r->name), STR(r->specifier));
	}
	VEC_EACH (const struct zip_member, m, &x->zip.members) {
		if (!str_eq(path_base(m->name), S("_rocm_init.py")) || m->unsafe || m->size > TEXT)
			continue;
		e = zip_read(x->a, &x->zip, m, TEXT, &text);
		text = e ? S("") : str_sub(text, str_find(text, mark) + mark.n, text.n);
		err_free(e); /* check_members() has reported it */
		char quote = text.n ? text.p[0] : 0;
		struct str want = str_sub(text, 1, 1 + str_chr(str_sub(text, 1, text.n), quote));
		if ((quote == '"' || quote == '\'') && str_chr(want, '*') == want.n &&
			!same_rocm(mine, want))
			exam_say(x, V_ROCM_MIXED, m->name,
				"its version %.*s names ROCm %.*s, and this file wants %.*s",
				STR(version), STR(mine), STR(want));
	}
}

/* ---- WHEEL ---- */

static void check_wheel(struct exam *x)
{
	struct str text, path = exam_path(x, "WHEEL"), major, minor;
	struct dist_headers h;
	struct strs have = {0}, want = wheel_tags(x->a, &x->name);
	uint64_t n;
	if (!exam_text(x, "WHEEL", V_WHEEL_MISSING, &text))
		return;
	struct err *e = dist_headers_parse(x->a, text, &h);
	if (e)
		exam_say(x, V_WHEEL_SYNTAX, path, "%s", e->msg);
	err_free(e);
	const struct dist_header *got = dist_header(&h, "Wheel-Version");
	if (!got)
		exam_say(x, V_WHEEL_SYNTAX, path, "the field 'Wheel-Version' is missing");
	else if (!str_cut(got->value, '.', &major, &minor) || !str_u64(major, 10, &n) || n != 1)
		exam_say(x, V_WHEEL_VERSION, path, "Wheel-Version is '%.*s', must be 1.x",
			STR(got->value));
	got = dist_header(&h, "Root-Is-Purelib");
	struct str pure = got ? str_lower(x->a, got->value) : S("");
	x->pure = str_eq(pure, S("true"));
	if (!x->pure && !str_eq(pure, S("false")))
		exam_say(x, V_WHEEL_SYNTAX, path, "Root-Is-Purelib must be 'true' or 'false'");
	VEC_EACH (const struct dist_header, it, &h)
		if (have.n < WHEEL_TAGS && dist_header_is(it, "tag"))
			wheel_tags_add(x->a, it->value, &have);
	bool same = have.n == want.n;
	for (size_t i = 0; i < want.n; i++)
		same = same && strs_has(&have, want.v[i]);
	if (!have.n)
		exam_say(x, V_WHEEL_SYNTAX, path, "there is no 'Tag' line");
	else if (have.n >= WHEEL_TAGS || want.n >= WHEEL_TAGS)
		exam_say(x, V_WHEEL_TAGS, path, "%d tags or more", WHEEL_TAGS);
	else if (x->named && !same)
		finding_fix(x->a,
			exam_say(x, V_WHEEL_TAGS, path, "it says %.*s, the file name %.*s",
				STR(str_join(x->a, &have, S(" "))),
				STR(str_join(x->a, &want, S(" ")))),
			"rocsmith wheel retag --python-tag %.*s --abi-tag %.*s --platform-tag %.*s "
			"%.*s",
			STR(str_shell(x->a, x->name.python)), STR(str_shell(x->a, x->name.abi)),
			STR(str_shell(x->a, x->name.platform)), STR(str_shell(x->a, x->path)));
}

void check_dist_info(struct exam *x)
{
	MAP(all, x->a);
	bool own = false;
	VEC_EACH (const struct zip_member, m, &x->zip.members) {
		struct str folder, rest;
		bool inside = str_cut(m->name, '/', &folder, &rest);
		if (inside && str_ends(folder, S(DIST_INFO)))
			map_put(&all, folder, NULL);
	}
	if (!all.n) {
		exam_say(x, V_INFO_MISSING, S(""), "there is no NAME-VERSION.dist-info folder");
		return;
	}
	/* the folder that fits the file's name, or else the first one */
	x->info = all.v[0].key;
	for (size_t i = 0; i < all.n && x->named && !own; i++) {
		own = wheel_owns_info(&x->name, all.v[i].key);
		x->info = own ? all.v[i].key : x->info;
	}
	for (size_t i = 0; i < all.n; i++)
		if (!str_eq(all.v[i].key, x->info))
			exam_say(x, V_INFO_SEVERAL, all.v[i].key,
				"'%.*s' is a second dist-info folder", STR(all.v[i].key));
	if (x->named && !own)
		exam_say(x, V_INFO_NAME, x->info, "it should be named '%.*s-%.*s.dist-info'",
			STR(x->name.dist), STR(x->name.version));
	check_metadata(x);
	check_rocm(x);
	check_wheel(x);
}
