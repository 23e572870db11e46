/* sdk.json: what an SDK consists of. Written last by an install (fs_write: whole or not at all), so
 * that whatever has a manifest is complete. */
#include "base/fs.h"
#include "base/hash.h"
#include "formats/json_fields.h"
#include "formats/node.h"
#include "sdk/provider.h"

static const char schema[] = "rocsmith.sdk/1";

static const struct json_field package_fields[] = {
	FIELD("name", struct sdk_package, name),
	FIELD("version", struct sdk_package, version),
	FIELD("sha256", struct sdk_package, sha256),
	FIELD("record", struct sdk_package, record),
	FIELD("files", struct sdk_package, files),
	FIELD("bytes", struct sdk_package, bytes),
	{.kind = FIELD_END},
};

static const struct json_field manifest_fields[] = {
	FIELD_CONST("schema", schema),
	FIELD("provider", struct sdk_manifest, provider),
	FIELD("suite", struct sdk_manifest, suite),
	FIELD("prefix", struct sdk_manifest, prefix),
	FIELD("mirror", struct sdk_manifest, mirror),
	FIELD("index_date", struct sdk_manifest, index_date),
	FIELD("clang_version", struct sdk_manifest, clang_version),
	FIELD("components", struct sdk_manifest, components),
	FIELD("notes", struct sdk_manifest, notes),
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
	struct str path = path_join(a, dir, S("sdk.json"));
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

struct err *sdk_manifest_write(struct arena *a, struct str dir, const struct sdk_manifest *m)
{
	return fs_write(
		path_join(a, dir, S("sdk.json")), json_document(a, 1, manifest_fields, m), 0644);
}

const struct sdk_package *sdk_manifest_package(const struct sdk_manifest *m, struct str name)
{
	VEC_EACH (struct sdk_package, p, &m->packages)
		if (str_eq(p->name, name))
			return p;
	return NULL;
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
