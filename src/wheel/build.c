/* Assembles a wheel: makes METADATA and WHEEL; archive.c orders the members and adds RECORD. */
#include "wheel/rewrite.h"

#include "lang/python/version.h"

struct err *wheel_epoch(int64_t *ret)
{
	const char *env = getenv("SOURCE_DATE_EPOCH");
	uint64_t seconds = 315532800;
	if (env && *env && (!str_u64(str_from(env), 10, &seconds) || seconds > INT64_MAX))
		return err_hint(err_new(E_USAGE, "SOURCE_DATE_EPOCH is '%s'", env),
			"it must be a number of seconds since 1970");
	*ret = (int64_t)seconds;
	return NULL;
}

/* ---- METADATA and WHEEL ---- */

static struct err *add_header(struct buf *b, const char *field, struct str value)
{
	if (!value.n)
		return NULL;
	for (size_t i = 0; i < value.n; i++)
		if ((unsigned char)value.p[i] < ' ' && value.p[i] != '\t')
			return err_new(E_WHEEL, "%s '%.*s' has a line break or control character",
				field, STR(value));
	if (utf8_end(value) != value.n)
		return err_new(E_WHEEL, "%s is not valid UTF-8", field);
	buf_fmt(b, "%s: %.*s\n", field, STR(value));
	return NULL;
}

/* Could this be an SPDX expression? Anything else goes to "License" as free text. */
static bool is_spdx(struct arena *a, struct str license)
{
	struct strs words = str_split(a, license, ' ');
	bool operand = true;
	for (size_t i = 0; i < words.n; i++, operand = !operand) {
		struct str w = words.v[i];
		bool op = str_eq(w, S("AND")) || str_eq(w, S("OR")) || str_eq(w, S("WITH"));
		if (op == operand || !str_made_of(w, "-.+"))
			return false;
	}
	return words.n % 2 == 1;
}

void wheel_add_tags(struct buf *b, const struct wheel_name *n)
{
	ARENA(tmp);
	struct strs tags = wheel_tags(&tmp, n);
	if (n->build.n)
		buf_fmt(b, "Build: %.*s\n", STR(n->build));
	VEC_EACH (const struct str, tag, &tags)
		buf_fmt(b, "Tag: %.*s\n", STR(*tag));
}

struct str wheel_text(struct arena *a, const struct wheel_name *n, struct str pure)
{
	BUF(b, a);
	buf_fmt(&b, "Wheel-Version: 1.0\nGenerator: rocsmith " ROCSMITH_VERSION "\n");
	buf_fmt(&b, "Root-Is-Purelib: %.*s\n", STR(pure));
	wheel_add_tags(&b, n);
	return buf_str(&b);
}

static struct err *metadata(
	struct arena *a, const struct wheel_spec *s, struct str version, struct str *ret)
{
	BUF(b, a);
	struct requirement parsed;
	TRY(add_header(&b, "Metadata-Version", S("2.4")));
	TRY(add_header(&b, "Name", s->name));
	TRY(add_header(&b, "Version", version));
	TRY(add_header(&b, "Summary", s->summary));
	TRY(add_header(&b, is_spdx(a, s->license) ? "License-Expression" : "License", s->license));
	struct strs files = {0};
	VEC_EACH (const struct zip_input, f, &s->info)
		if (str_starts(f->name, S("licenses/")))
			strs_add(a, &files, str_sub(f->name, S("licenses/").n, f->name.n));
	strs_sort(&files);
	for (size_t i = 0; i < files.n; i++)
		TRY(add_header(&b, "License-File", files.v[i]));
	TRY(add_header(&b, "Requires-Python", s->requires_python));
	VEC_EACH (const struct str, extra, &s->extras)
		TRY(add_header(&b, "Provides-Extra", *extra));
	for (size_t i = 0; i < s->requires.n; i++) {
		struct str line = s->requires.v[i];
		TRY_CTX(requirement_parse(line, &parsed), "cannot require '%.*s'", STR(line));
		TRY(add_header(&b, "Requires-Dist", line));
	}
	*ret = buf_str(&b);
	return NULL;
}

/* ---- names and tags ---- */

static struct err *make_name(
	struct arena *a, const struct wheel_spec *s, struct wheel_name *ret, bool *ret_pure)
{
	const struct version *version;
	struct requirement parsed;
	struct err *e = requirement_parse(s->name, &parsed);
	bool named = !e && str_eq(parsed.name, s->name);
	err_free(e);
	if (!named)
		return err_hint(
			err_new(E_WHEEL, "'%.*s' is not a name for a Python project", STR(s->name)),
			"letters, digits, '-', '_' and '.' are allowed, a letter or digit at both "
			"ends");
	TRY_CTX(version_parse(a, s->version, &version), "cannot pack '%.*s'", STR(s->name));
	*ret = (struct wheel_name){
		.dist = wheel_normalise(a, s->name),
		.version = version_text(a, version),
		.python = s->python.n ? s->python : S("py3"),
		.abi = s->abi.n ? s->abi : S("none"),
	};
	struct strs paths = {0};
	struct wheel_platform p = {.tag = s->platform};
	VEC_EACH (const struct zip_input, f, &s->files)
		if (f->path.n)
			strs_add(a, &paths, f->path);
	if (!p.tag.n)
		TRY(wheel_platform(a, &paths, &p));
	ret->platform = p.tag;
	*ret_pure = str_eq(ret->platform, S("any"));
	return NULL;
}

/* ---- content ---- */

struct err *wheel_build(
	struct arena *a, const struct wheel_spec *spec, struct str dir, struct str *ret_path)
{
	struct rewrite x = {.a = a, .epoch = spec->epoch, .jobs = spec->jobs};
	struct wheel_name name, parsed;
	struct str text;
	bool pure = false;
	TRY(make_name(a, spec, &name, &pure));
	struct str file = wheel_name_text(a, &name);
	TRY(wheel_name_parse(a, file, &parsed));
	TRY(metadata(a, spec, name.version, &text));
	x.to = path_join(a, dir, file);
	x.out.info = str_fmt(a, "%.*s-%.*s" DIST_INFO, STR(name.dist), STR(name.version));
	rewrite_text(&x, "METADATA", text);
	rewrite_text(&x, "WHEEL", wheel_text(a, &name, pure ? S("true") : S("false")));
	VEC_EACH (const struct zip_input, f, &spec->files)
		*VEC_PUSH(a, &x.out) = *f;
	bool bill = !pure;
	VEC_EACH (const struct zip_input, f, &spec->info) {
		struct zip_input *in = VEC_PUSH(a, &x.out);
		*in = *f;
		in->name = path_join(a, x.out.info, f->name);
		bill = bill && !str_starts(f->name, S("sboms/"));
	}
	VEC_EACH (struct zip_input, in, &x.out)
		in->mode = in->mode ? in->mode : 0644;
	if (bill) {
		TRY(wheel_sbom(a, spec->name, name.version, &x.out, &text));
		rewrite_text(&x, WHEEL_SBOM, text);
	}
	TRY_CTX(rewrite_write(&x), "cannot build the wheel '%.*s'", STR(file));
	*ret_path = x.to;
	return NULL;
}
