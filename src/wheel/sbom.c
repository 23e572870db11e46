/* The bill of materials of a wheel that we make: CycloneDX 1.6 as JSON, for the folder sboms of its dist-info (PEP 770).
 * Nothing in it changes from one build to the next. Source: the JSON schema of CycloneDX 1.6, ECMA-424. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/version.h"
#include "formats/json_fields.h"
#include "wheel/wheel.h"

static void text(struct json *j, const char *key, struct str s)
{
	json_key(j, key);
	json_str(j, s);
}

static void open_component(struct json *j, const char *type, struct str name)
{
	json_open(j, '{');
	text(j, "type", str_from(type));
	text(j, "name", name);
}

static int by_name(const void *x, const void *y)
{
	const struct wheel_file *const *a = x, *const *b = y;
	return str_cmp((*a)->name, (*b)->name);
}

static struct err *write_file(struct arena *a, struct json *j, const struct wheel_file *f)
{
	struct digest d = hash_bytes(HASH_SHA256, f->content.p, f->content.n);
	if (f->path.n)
		TRY(hash_file(HASH_SHA256, f->path, &d));
	open_component(j, "file", f->name);
	json_key(j, "hashes");
	json_open(j, '[');
	json_open(j, '{');
	text(j, "alg", S("SHA-256"));
	text(j, "content", digest_hex(a, &d));
	json_close(j);
	json_close(j);
	json_close(j);
	return NULL;
}

static void write_subject(struct arena *a, struct json *j, const struct wheel_spec *s)
{
	struct str public, local;
	bool plus = str_cut(s->version, '+', &public, &local);
	struct str purl = str_fmt(a, "pkg:pypi/%.*s@%.*s%s%.*s", STR(package_name(a, s->name, '-')),
		STR(public), plus ? "%2B" : "", STR(local));
	json_key(j, "metadata");
	json_open(j, '{');
	json_key(j, "tools");
	json_open(j, '{');
	json_key(j, "components");
	json_open(j, '[');
	open_component(j, "application", S("rocsmith"));
	text(j, "version", S(ROCSMITH_VERSION));
	json_close(j);
	json_close(j);
	json_close(j);
	json_key(j, "component");
	open_component(j, "library", s->name);
	text(j, "version", s->version);
	text(j, "purl", purl);
	json_close(j);
	json_close(j);
}

struct err *wheel_sbom(struct arena *a, const struct wheel_spec *s, struct str *ret)
{
	BUF(b, a);
	struct json json = {.out = &b, .indent = 2}, *j = &json;
	const struct wheel_file **v = arena_array(a, s->files.n + 1, sizeof(struct wheel_file *));
	size_t n = 0;
	VEC_EACH (const struct wheel_file, f, &s->files)
		if (str_contains(f->name, S(".so")) ||
			f->executable) /* what may hold others' code */
			v[n++] = f;
	qsort(v, n, sizeof(struct wheel_file *), by_name);
	json_open(j, '{');
	text(j, "$schema", S("http://cyclonedx.org/schema/bom-1.6.schema.json"));
	text(j, "bomFormat", S("CycloneDX"));
	text(j, "specVersion", S("1.6"));
	json_key(j, "version");
	json_u64(j, 1);
	write_subject(a, j, s);
	json_key(j, "components");
	json_open(j, '[');
	for (size_t i = 0; i < n; i++)
		TRY(write_file(a, j, v[i]));
	json_close(j);
	json_close(j);
	buf_char(&b, '\n');
	*ret = buf_str(&b);
	return NULL;
}
