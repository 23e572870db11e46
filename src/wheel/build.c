/* Assembles a wheel: makes METADATA and WHEEL; archive.c orders the members and adds RECORD. */
#include "wheel/archive.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "lang/python/version.h"

struct wheel_building {
	struct arena *a;
	const struct wheel_spec *spec;
	struct wheel_name name;
	struct str info; /* "saxpy-1.0.dist-info" */
	bool pure;
	struct wheel_inputs inputs;
};

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
		if (op == operand)
			return false;
		for (size_t k = 0; k < w.n; k++)
			if (!ascii_alnum(w.p[k]) && !memchr("-.+", w.p[k], 3))
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

static struct err *metadata(struct wheel_building *w, struct str version, struct str *ret)
{
	BUF(b, w->a);
	const struct wheel_spec *s = w->spec;
	struct requirement parsed;
	TRY(add_header(&b, "Metadata-Version", S("2.4")));
	TRY(add_header(&b, "Name", s->name));
	TRY(add_header(&b, "Version", version));
	TRY(add_header(&b, "Summary", s->summary));
	TRY(add_header(
		&b, is_spdx(w->a, s->license) ? "License-Expression" : "License", s->license));
	struct strs files = {0};
	VEC_EACH (const struct wheel_file, f, &s->info)
		if (str_starts(f->name, S("licenses/")))
			strs_add(w->a, &files, str_sub(f->name, S("licenses/").n, f->name.n));
	strs_sort(&files);
	for (size_t i = 0; i < files.n; i++)
		TRY(add_header(&b, "License-File", files.v[i]));
	TRY(add_header(&b, "Requires-Python", s->requires_python));
	for (size_t i = 0; i < s->requires.n; i++) {
		struct str line = s->requires.v[i];
		TRY_CTX(requirement_parse(line, &parsed), "cannot require '%.*s'", STR(line));
		TRY(add_header(&b, "Requires-Dist", line));
	}
	*ret = buf_str(&b);
	return NULL;
}

/* ---- names and tags ---- */

static struct err *make_name(struct wheel_building *w, struct str *ret_version)
{
	const struct wheel_spec *s = w->spec;
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
	TRY_CTX(version_parse(w->a, s->version, &version), "cannot pack '%.*s'", STR(s->name));
	*ret_version = version_text(w->a, version);
	w->name = (struct wheel_name){
		.dist = wheel_normalise(w->a, s->name),
		.version = *ret_version,
		.python = s->python.n ? s->python : S("py3"),
		.abi = s->abi.n ? s->abi : S("none"),
	};
	w->info = str_fmt(w->a, "%.*s-%.*s.dist-info", STR(w->name.dist), STR(*ret_version));
	struct strs paths = {0};
	struct wheel_platform p;
	VEC_EACH (const struct wheel_file, f, &s->files)
		if (f->path.n)
			strs_add(w->a, &paths, f->path);
	TRY(wheel_platform(w->a, &paths, &p));
	w->pure = str_eq(p.tag, S("any"));
	w->name.platform = s->platform.n ? s->platform : p.tag;
	return NULL;
}

/* ---- content ---- */

static void add_text(struct wheel_building *w, const char *name, struct str content)
{
	*VEC_PUSH(w->a, &w->inputs) = (struct zip_input){
		.name = str_fmt(w->a, "%.*s/%s", STR(w->info), name),
		.content = content,
		.mode = 0644,
	};
}

static struct zip_input input_of(const struct wheel_file *f, struct str name)
{
	return (struct zip_input){
		.name = name,
		.path = f->path,
		.content = f->content,
		.mode = f->executable ? 0755 : 0644,
	};
}

struct err *wheel_build(
	struct arena *a, const struct wheel_spec *spec, struct str dir, struct str *ret_path)
{
	struct wheel_building w = {.a = a, .spec = spec};
	struct str version, text;
	struct wheel_name parsed;
	TRY(make_name(&w, &version));
	struct str file = wheel_name_text(a, &w.name);
	TRY(wheel_name_parse(a, file, &parsed));
	TRY(metadata(&w, version, &text));
	VEC_EACH (const struct wheel_file, f, &spec->files)
		*VEC_PUSH(a, &w.inputs) = input_of(f, f->name);
	VEC_EACH (const struct wheel_file, f, &spec->info)
		*VEC_PUSH(a, &w.inputs) =
			input_of(f, str_fmt(a, "%.*s/%.*s", STR(w.info), STR(f->name)));
	add_text(&w, "METADATA", text);
	add_text(&w, "WHEEL", wheel_text(a, &w.name, w.pure ? S("true") : S("false")));
	bool bill = !w.pure;
	VEC_EACH (const struct wheel_file, f, &spec->info)
		bill = bill && !str_starts(f->name, S("sboms/"));
	if (bill) {
		TRY(wheel_sbom(a, spec->name, w.name.version, &w.inputs, &text));
		add_text(&w, WHEEL_SBOM, text);
	}
	TRY(fs_mkdirs(dir));
	struct zip_writer zip = {
		.path = path_join(a, dir, file), .epoch = spec->epoch, .jobs = spec->jobs};
	w.inputs.info = w.info;
	TRY_CTX(wheel_write(a, &w.inputs, &zip), "cannot build the wheel '%.*s'", STR(file));
	*ret_path = zip.path;
	return NULL;
}
