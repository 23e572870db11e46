/* The receipt of an SDK, sdk.json, lists the packages of its tree and their GPUs. An install writes it last, so that an
 * SDK with a receipt is complete. */
#include "base/fs.h"
#include "base/hash.h"
#include "formats/json_fields.h"
#include "formats/node.h"
#include "sdk/provider.h"
#include "target/target.h"

static const char schema[] = "rocsmith.sdk/1";

static const struct json_field package_fields[] = {
	FIELDS(struct sdk_package, name, version, sha256),
	FIELD("record", struct sdk_package, list_sha256),
	FIELD_OPTIONAL("gpus", struct sdk_package, gpus),
	FIELDS(struct sdk_package, files, bytes),
	{.kind = FIELD_END},
};

static const struct json_field receipt_fields[] = {
	FIELD_CONST("schema", schema),
	FIELDS(struct sdk_receipt, provider, suite, prefix, mirror, index_date, clang_version,
		components, notes),
	FIELD_LIST("packages", struct sdk_receipt, packages, package_fields),
	{.kind = FIELD_END},
};

struct err *sdk_receipt_read(struct arena *a, struct str dir, struct sdk_receipt *ret)
{
	const struct node *doc = NULL;
	struct str path = path_join(a, dir, S(SDK_RECEIPT));
	*ret = (struct sdk_receipt){0};
	if (!fs_exists(path))
		return NULL;
	struct err *e = json_read(a, path, &doc);
	if (!e && !str_eq(node_text(doc, S("schema"), S("")), str_from(schema)))
		e = err_new(E_CORRUPT, "it was written by another version of rocsmith");
	if (!e)
		e = json_fields_read(a, doc, receipt_fields, ret);
	if (!e && !ret->provider.n)
		e = err_new(E_CORRUPT, "it names no provider");
	VEC_EACH (const struct sdk_package, p, &ret->packages)
		if (!e && (!p->name.n || str_chr(p->name, '/') < p->name.n))
			e = err_new(E_CORRUPT, "it names a package '%.*s'", STR(p->name));
	if (!e)
		return NULL;
	*ret = (struct sdk_receipt){0};
	e = err_wrap(e, "cannot read '%.*s', which describes the SDK", STR(path));
	e->code = E_CORRUPT;
	return err_hint(e, "'rocsmith sdk remove %.*s' removes it, then install it again",
		STR(path_base(dir)));
}

struct str sdk_receipt_text(struct arena *a, const struct sdk_receipt *m)
{
	return json_document(a, 1, receipt_fields, m);
}

const struct sdk_package *sdk_receipt_package(const struct sdk_receipt *m, struct str name)
{
	return VEC_FIND(struct sdk_package, &m->packages, name, name);
}

struct strs sdk_receipt_gpus(struct arena *a, const struct sdk_receipt *m)
{
	struct strs gpus = {0};
	VEC_EACH (const struct sdk_package, p, &m->packages)
		strs_put_all(a, &gpus, &p->gpus);
	targets_sort(&gpus);
	return gpus;
}

struct str sdk_receipt_fingerprint(struct arena *a, const struct sdk_receipt *m)
{
	ARENA(tmp);
	struct strs lines = {0};
	VEC_EACH (struct sdk_package, p, &m->packages)
		strs_fmt(&tmp, &lines, "%.*s %.*s %.*s", STR(p->name), STR(p->version),
			STR(p->sha256));
	strs_sort(&lines);
	return sha256_hex(a, str_join(&tmp, &lines, S("\n")));
}

/* ---- lists of GPUs ---- */
struct err *gpus_parse(struct arena *a, const struct strs *words, struct strs *ret)
{
	struct targets targets;
	*ret = (struct strs){0};
	if (!words->n || strs_has(words, S("all")))
		return NULL;
	TRY(targets_parse(a, words, &targets));
	VEC_EACH (const struct target, t, &targets)
		strs_put(a, ret, t->name);
	targets_sort(ret);
	return NULL;
}

bool gpus_cover(const struct strs *have, const struct strs *want)
{
	bool all = !have->n || want->n;
	for (size_t i = 0; have->n && i < want->n; i++)
		all = all && strs_has(have, want->v[i]);
	return all;
}
