/* Makes the bill of materials of a new wheel: CycloneDX 1.6 as JSON, for the folder sboms of its dist-info (PEP 770).
 * The same files give the same bill. Source: the JSON schema of CycloneDX 1.6, ECMA-424. */
#include <stdlib.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "formats/json_fields.h"
#include "formats/node.h"
#include "lang/python/version.h"
#include "wheel/archive.h"

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
	const struct zip_input *const *a = x, *const *b = y;
	return str_cmp((*a)->name, (*b)->name);
}

static struct err *add_piece(void *user, const void *p, size_t n, bool *stop)
{
	(void)stop;
	hash_add(user, p, n);
	return NULL;
}

static struct err *write_file(struct arena *a, struct json *j, const struct zip_input *f)
{
	struct digest d;
	TRY(cancel_check());
	if (f->path.n) {
		TRY(hash_file(HASH_SHA256, f->path, &d));
	} else if (!f->member || !sha256_from_base64url(f->sha256, &d)) { /* RECORD has it */
		struct hash *h = hash_new(HASH_SHA256);
		hash_add(h, f->content.p, f->content.n);
		struct err *e = f->member ? zip_stream(f->zip, f->member, add_piece, h) : NULL;
		d = hash_end(h);
		TRY(e);
	}
	open_component(j, "file", f->name);
	json_key(j, "hashes");
	json_open(j, '[');
	json_open(j, '{');
	text(j, "alg", S("SHA-256"));
	text(j, "content", digest_hex(a, &d));
	for (unsigned i = 0; i < 3; i++)
		json_close(j);
	return NULL;
}

static void write_subject(struct arena *a, struct json *j, struct str name, struct str version)
{
	struct str public, local;
	bool plus = str_cut(version, '+', &public, &local);
	struct str purl = str_fmt(a, "pkg:pypi/%.*s@%.*s%s%.*s", STR(package_name(a, name, '-')),
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
	open_component(j, "library", name);
	text(j, "version", version);
	text(j, "purl", purl);
	json_close(j);
	json_close(j);
}

struct err *wheel_sbom(struct arena *a, struct str name, struct str version,
	const struct wheel_inputs *files, struct str *ret)
{
	BUF(b, a);
	struct json json = {.out = &b, .indent = 2}, *j = &json;
	const struct zip_input **v = arena_array(a, files->n + 1, sizeof(struct zip_input *));
	size_t n = 0;
	VEC_EACH (const struct zip_input, f, files)
		/* it may hold third-party code */
		if (str_contains(f->name, S(".so")) || f->mode & 0111)
			v[n++] = f;
	qsort(v, n, sizeof(struct zip_input *), by_name);
	json_open(j, '{');
	text(j, "$schema", S("http://cyclonedx.org/schema/bom-1.6.schema.json"));
	text(j, "bomFormat", S("CycloneDX"));
	text(j, "specVersion", S("1.6"));
	json_key(j, "version");
	json_u64(j, 1);
	write_subject(a, j, name, version);
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

struct err *wheel_sbom_renew(struct arena *a, struct wheel_inputs *w)
{
	enum { MOST = 1 << 20 };
	struct str dist, version, old, name = path_join(a, w->info, S(WHEEL_SBOM));
	const struct node *top = NULL;
	struct zip_input *at = NULL;
	VEC_EACH (struct zip_input, in, w)
		at = in->member && str_eq(in->name, name) ? in : at;
	if (!at || at->member->size > MOST)
		return NULL;
	TRY(zip_read(a, at->zip, at->member, MOST, &old));
	err_free(json_parse(a, old, at->name, &top)); /* one that cannot be read is not ours */
	name = node_text(node_get(node_get(top, S("metadata")), S("component")), S("name"), S(""));
	(void)dist_stem_cut(w->info, &dist, &version);
	if (!str_eq(wheel_normalise(a, name), wheel_normalise(a, dist)))
		return NULL;
	*at = (struct zip_input){.name = at->name, .mode = 0644};
	return wheel_sbom(a, name, version, w, &at->content);
}
