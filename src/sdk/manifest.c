/* sdk.json: what an SDK consists of. Written last by an install (fs_write: whole or not at all), so
 * that whatever has a manifest is complete. */
#include "base/fs.h"
#include "base/hash.h"
#include "formats/json_fields.h"
#include "formats/node.h"
#include "sdk/provider.h"
#include "target/target.h"

static const char schema[] = "rocsmith.sdk/1";

static const struct json_field package_fields[] = {
	FIELDS(struct sdk_package, name, version, sha256, record),
	FIELD_OPTIONAL("gpus", struct sdk_package, gpus),
	FIELDS(struct sdk_package, files, bytes),
	{.kind = FIELD_END},
};

static const struct json_field manifest_fields[] = {
	FIELD_CONST("schema", schema),
	FIELDS(struct sdk_manifest, provider, suite, prefix, mirror, index_date, clang_version,
		components, notes),
	FIELD_LIST("packages", struct sdk_manifest, packages, package_fields),
	{.kind = FIELD_END},
};

static struct err *read_doc(struct arena *a, const struct node *doc, struct sdk_manifest *m)
{
	if (!str_eq(node_text(doc, S("schema"), S("")), str_from(schema)))
		return err_new(E_CORRUPT, "the manifest is of another version of rocsmith");
	TRY(json_fields_read(a, doc, manifest_fields, m));
	VEC_EACH (const struct sdk_package, p, &m->packages)
		if (!p->name.n || str_chr(p->name, '/') < p->name.n)
			return err_new(
				E_CORRUPT, "the manifest names a package '%.*s'", STR(p->name));
	return m->provider.n ? NULL : err_new(E_CORRUPT, "the manifest names no provider");
}

struct err *sdk_manifest_read(struct arena *a, struct str dir, struct sdk_manifest *ret)
{
	*ret = (struct sdk_manifest){0};
	struct str path = path_join(a, dir, S(SDK_RECEIPT));
	if (!fs_exists(path))
		return NULL;
	const struct node *doc = NULL;
	struct err *e = json_read(a, path, &doc);
	if (!e)
		e = read_doc(a, doc, ret);
	if (!e)
		return NULL;
	*ret = (struct sdk_manifest){0};
	e = err_wrap(e, "cannot read the manifest '%.*s'", STR(path));
	e->code = E_CORRUPT;
	return err_hint(e, "'rocsmith sdk install' makes a new one");
}

struct str sdk_manifest_text(struct arena *a, const struct sdk_manifest *m)
{
	return json_document(a, 1, manifest_fields, m);
}

const struct sdk_package *sdk_manifest_package(const struct sdk_manifest *m, struct str name)
{
	VEC_EACH (struct sdk_package, p, &m->packages)
		if (str_eq(p->name, name))
			return p;
	return NULL;
}

struct strs sdk_manifest_gpus(struct arena *a, const struct sdk_manifest *m)
{
	struct strs gpus = {0};
	VEC_EACH (const struct sdk_package, p, &m->packages)
		strs_put_all(a, &gpus, &p->gpus);
	targets_sort(&gpus);
	return gpus;
}

struct str sdk_manifest_fingerprint(struct arena *a, const struct sdk_manifest *m)
{
	ARENA(tmp);
	struct strs lines = {0};
	VEC_EACH (struct sdk_package, p, &m->packages)
		strs_add(&tmp, &lines,
			str_fmt(&tmp, "%.*s %.*s %.*s", STR(p->name), STR(p->version),
				STR(p->sha256)));
	strs_sort(&lines);
	return sha256_hex(a, str_join(&tmp, &lines, S("\n")));
}
