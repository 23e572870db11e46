/* Makes the bill of materials of a new wheel: CycloneDX 1.6 as JSON, for the folder sboms of its dist-info (PEP 770).
 * The same files give the same bill. Source: the JSON schema of CycloneDX 1.6, ECMA-424. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "formats/node.h"
#include "lang/python/version.h"
#include "wheel/archive.h"

struct sbom_hash {
	struct str alg, content;
};

struct sbom_component {
	const char *type;
	struct str name, version, purl; /* "": left out */
	VEC(struct sbom_hash) hashes;
};

struct sbom_components VEC_OF(struct sbom_component);

struct sbom {
	unsigned version; /* number of the bill's edition */
	struct sbom_components tools, files;
	struct sbom_component wheel;
};

static const struct json_field hash_fields[] = FIELDS_ONLY(struct sbom_hash, alg, content);
static const struct json_field component_fields[] = {
	FIELDS(struct sbom_component, type, name),
	FIELD_OPTIONAL("version", struct sbom_component, version),
	FIELD_OPTIONAL("purl", struct sbom_component, purl),
	FIELD_LAST(FIELD_LIST_OPTIONAL("hashes", struct sbom_component, hashes, hash_fields)),
};
static const struct json_field tool_fields[] = {
	FIELD_LAST(FIELD_LIST("components", struct sbom, tools, component_fields)),
};
static const struct json_field metadata_fields[] = {
	FIELD_PART("tools", tool_fields),
	FIELD_LAST(FIELD_STRUCT("component", struct sbom, wheel, component_fields)),
};
static const struct json_field sbom_fields[] = {
	FIELD_CONST("$schema", "http://cyclonedx.org/schema/bom-1.6.schema.json"),
	FIELD_CONST("bomFormat", "CycloneDX"),
	FIELD_CONST("specVersion", "1.6"),
	FIELD("version", struct sbom, version),
	FIELD_PART("metadata", metadata_fields),
	FIELD_LAST(FIELD_LIST("components", struct sbom, files, component_fields)),
};

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

struct err *wheel_sbom(struct arena *a, struct str name, struct str version,
	const struct wheel_inputs *files, struct str *ret)
{
	struct sbom bill = {
		.version = 1, .wheel = {.type = "library", .name = name, .version = version}};
	const struct zip_input **v = arena_array(a, files->n + 1, sizeof(struct zip_input *));
	struct str public, local;
	size_t n = 0;
	bool plus = str_cut(version, '+', &public, &local);
	bill.wheel.purl = str_fmt(a, "pkg:pypi/%.*s@%.*s%s%.*s", STR(package_name(a, name, '-')),
		STR(public), plus ? "%2B" : "", STR(local));
	*VEC_PUSH(a, &bill.tools) = (struct sbom_component){
		.type = "application", .name = S("rocsmith"), .version = S(ROCSMITH_VERSION)};
	VEC_EACH (const struct zip_input, f, files)
		/* it may hold third-party code */
		if (str_contains(f->name, S(".so")) || f->mode & 0111)
			v[n++] = f;
	qsort(v, n, sizeof(struct zip_input *), by_name);
	for (size_t i = 0; i < n; i++) {
		const struct zip_input *f = v[i];
		struct digest d;
		struct sbom_component x = {.type = "file", .name = f->name};
		TRY(cancel_check());
		if (f->path.n) {
			TRY(hash_file(HASH_SHA256, f->path, &d));
		} else if (!f->member ||
			   !sha256_from_base64url(f->sha256, &d)) { /* RECORD has it */
			struct hash *h = hash_new(HASH_SHA256);
			hash_add(h, f->content.p, f->content.n);
			struct err *e =
				f->member ? zip_stream(f->zip, f->member, add_piece, h) : NULL;
			d = hash_end(h);
			TRY(e);
		}
		*VEC_PUSH(a, &x.hashes) = (struct sbom_hash){S("SHA-256"), digest_hex(a, d)};
		*VEC_PUSH(a, &bill.files) = x;
	}
	*ret = json_document(a, 2, sbom_fields, &bill);
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
