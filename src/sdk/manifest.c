/* sdk.json: what an SDK consists of. Written last by an install (fs_write: whole or not at all), so
 * that whatever has a manifest is complete. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "formats/json_write.h"
#include "formats/node.h"
#include "sdk/provider.h"

static const char schema[] = "rocsmith.sdk/1";

static struct err *read_package(struct arena *a, const struct node *n, struct sdk_manifest *m)
{
	struct sdk_package p = {
		.name = node_text(n, S("name"), S("")),
		.version = node_text(n, S("version"), S("")),
		.sha256 = node_text(n, S("sha256"), S("")),
		.record = node_text(n, S("record"), S("")),
		.files = node_u64(n, S("files"), 0),
		.bytes = node_u64(n, S("bytes"), 0),
	};
	if (!p.name.n || str_chr(p.name, '/') < p.name.n)
		return err_new(E_CORRUPT, "the manifest names a package '%.*s'", STR(p.name));
	*VEC_PUSH(a, &m->packages) = p;
	return NULL;
}

static struct err *read_doc(struct arena *a, const struct node *doc, struct sdk_manifest *m)
{
	if (!str_eq(node_text(doc, S("schema"), S("")), str_from(schema)))
		return err_new(E_CORRUPT, "the manifest is of another version of rocsmith");
	m->provider = node_text(doc, S("provider"), S(""));
	m->suite = node_text(doc, S("suite"), S(""));
	m->prefix = node_text(doc, S("prefix"), S(""));
	m->mirror = node_text(doc, S("mirror"), S(""));
	m->index_date = node_text(doc, S("index_date"), S(""));
	m->clang_version = node_text(doc, S("clang_version"), S(""));
	TRY(node_want_strs(a, doc, S("components"), &m->components));
	TRY(node_want_strs(a, doc, S("notes"), &m->notes));
	const struct node *packages = node_get(doc, S("packages"));
	for (size_t i = 0; packages && i < packages->n; i++)
		TRY(read_package(a, &packages->v[i], m));
	if (!m->provider.n)
		return err_new(E_CORRUPT, "the manifest names no provider");
	return NULL;
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

static void put_packages(struct json *j, const struct sdk_manifest *m)
{
	json_key(j, "packages");
	json_open(j, '[');
	VEC_EACH (struct sdk_package, p, &m->packages) {
		json_open(j, '{');
		json_put(j, "name", p->name);
		json_put(j, "version", p->version);
		json_put(j, "sha256", p->sha256);
		json_put(j, "record", p->record);
		json_put_u64(j, "files", p->files);
		json_put_u64(j, "bytes", p->bytes);
		json_close(j);
	}
	json_close(j);
}

struct err *sdk_manifest_write(struct arena *a, struct str dir, const struct sdk_manifest *m)
{
	BUF(out, a);
	struct json j = {.out = &out, .indent = 1};
	json_open(&j, '{');
	json_put(&j, "schema", str_from(schema));
	json_put(&j, "provider", m->provider);
	json_put(&j, "suite", m->suite);
	json_put(&j, "prefix", m->prefix);
	json_put(&j, "mirror", m->mirror);
	json_put(&j, "index_date", m->index_date);
	json_put(&j, "clang_version", m->clang_version);
	json_put_strs(&j, "components", &m->components);
	json_put_strs(&j, "notes", &m->notes);
	put_packages(&j, m);
	json_close(&j);
	buf_char(&out, '\n');
	return fs_write(path_join(a, dir, S("sdk.json")), buf_str(&out), 0644);
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
	struct str text = str_join(&tmp, &lines, S("\n"));
	struct digest d = hash_bytes(HASH_SHA256, text.p, text.n);
	return digest_hex(a, &d);
}
