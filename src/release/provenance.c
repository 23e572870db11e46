/* Provenance of wheels in the forms that others read; see release.h. Nothing is signed here: that takes an identity, which a
 * signing service gives. What is written is what such a service signs, and what it signed is passed on. */
#include "release/release.h"

#include "base/fs.h"
#include "base/hash.h"
#include "formats/node.h"

enum { STATEMENT = 16 << 20, ATTESTATIONS = 16 };

/* ---- SLSA ---- */

static void add_dependency(struct json *j, struct str name, struct str version, struct str sha256)
{
	ARENA(tmp);
	if (sha256.n != 64)
		return;
	json_open(j, '{');
	json_key(j, "name");
	json_str(j, version.n ? str_fmt(&tmp, "%.*s %.*s", STR(name), STR(version)) : name);
	json_key(j, "digest");
	json_open(j, '{');
	json_key(j, "sha256");
	json_str(j, sha256);
	json_close(j);
	json_close(j);
}

static void add_dependencies(struct json *j, const struct node *list, const char *name)
{
	if (list)
		NODE_EACH (n, list)
			add_dependency(j, node_text(n, str_from(name), S("")),
				node_text(n, S("version"), S("")),
				node_text(n, S("sha256"), S("")));
}

/* What the user asked for, as the build recorded it. */
static void add_parameters(struct json *j, const struct node *record)
{
	static const char *const asked[] = {
		"name", "version", "gpus", "python", "features", "rocm", "recipes"};
	json_open(j, '{');
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		const struct node *n = node_get(record, str_from(asked[i]));
		if (!n)
			continue;
		json_key(j, asked[i]);
		json_node(j, n);
	}
	json_close(j);
}

static void add_definition(struct json *j, const struct release_wheel *w, const struct node *record)
{
	const struct node *sdk = node_get(record, S("sdk"));
	json_key(j, "buildDefinition");
	json_open(j, '{');
	json_key(j, "buildType");
	json_str(j, record ? S("urn:rocsmith:build:1") : S("urn:rocsmith:rename:1"));
	json_key(j, "externalParameters");
	add_parameters(j, record);
	json_key(j, "internalParameters");
	json_open(j, '{');
	if (sdk) {
		json_key(j, "sdk");
		json_node(j, sdk);
	}
	json_close(j);
	json_key(j, "resolvedDependencies");
	json_open(j, '[');
	add_dependency(j, w->project, S(""), w->origin);
	add_dependencies(j, node_get(record, S("with")), "file");
	add_dependencies(j, node_get(record, S("packages")), "name");
	add_dependencies(j, node_get(node_get(record, S("source")), S("files")), "name");
	json_close(j);
	json_close(j);
}

struct err *release_statement(
	struct arena *a, const struct release_wheel *w, struct str record, struct str *ret)
{
	const struct node *doc = NULL;
	BUF(b, a);
	struct json j = {.out = &b, .indent = 2};
	*ret = S("");
	if (record.n) {
		TRY(json_parse(a, record, w->file, &doc));
		struct str sha256 = node_text(node_get(doc, S("wheel")), S("sha256"), S(""));
		if (!str_eq(sha256, w->sha256))
			return err_new(E_HASH,
				"the record beside '%.*s' is that of another build of it",
				STR(w->path));
	} else if (!w->origin.n) {
		return NULL;
	}
	json_open(&j, '{');
	json_key(&j, "_type");
	json_str(&j, S("https://in-toto.io/Statement/v1"));
	json_key(&j, "subject");
	json_open(&j, '[');
	add_dependency(&j, w->file, S(""), w->sha256);
	json_close(&j);
	json_key(&j, "predicateType");
	json_str(&j, S("https://slsa.dev/provenance/v1"));
	json_key(&j, "predicate");
	json_open(&j, '{');
	add_definition(&j, w, doc);
	json_key(&j, "runDetails");
	json_open(&j, '{');
	json_key(&j, "builder");
	json_open(&j, '{');
	json_key(&j, "id");
	json_str(&j, S("urn:rocsmith"));
	json_key(&j, "version");
	json_open(&j, '{');
	json_key(&j, "rocsmith");
	json_str(&j, node_text(doc, S("rocsmith"), S(ROCSMITH_VERSION)));
	while (j.depth)
		json_close(&j);
	buf_char(&b, '\n');
	*ret = buf_str(&b);
	return NULL;
}

/* ---- PEP 740 ---- */

/* E_HASH unless the signed statement is about this file. */
static struct err *check_subject(struct arena *a, const struct release_wheel *w, struct str path,
	const struct node *attestation)
{
	const struct node *doc, *envelope = node_get(attestation, S("envelope"));
	struct str text;
	if (node_u64(attestation, S("version"), 0) != 1 ||
		!node_text(envelope, S("signature"), S("")).n ||
		!node_get(attestation, S("verification_material")) ||
		!base64_read(a, node_text(envelope, S("statement"), S("")), &text))
		return err_new(E_SYNTAX, "'%.*s' is no attestation of PEP 740", STR(path));
	TRY(json_parse(a, text, path, &doc));
	const struct node *subjects = node_get(doc, S("subject"));
	if (subjects)
		NODE_EACH (s, subjects)
			if (str_eq(node_text(s, S("name"), S("")), w->file) &&
				str_eq(node_text(node_get(s, S("digest")), S("sha256"), S("")),
					w->sha256))
				return NULL;
	return err_new(E_HASH, "'%.*s' is about another file than '%.*s'", STR(path), STR(w->path));
}

struct err *release_attested(struct arena *a, const struct release_wheel *w, struct str *ret)
{
	struct strs names;
	struct str dir = path_dir(w->path), begin = str_fmt(a, "%.*s.", STR(w->file)), text;
	const struct node *doc;
	BUF(b, a);
	struct json j = {.out = &b};
	size_t n = 0;
	*ret = S("");
	TRY(fs_list(a, dir, &names));
	json_open(&j, '{');
	json_key(&j, "version");
	json_u64(&j, 1);
	json_key(&j, "attestation_bundles");
	json_open(&j, '[');
	json_open(&j, '{');
	json_key(&j, "publisher");
	json_open(&j, '{');
	json_key(&j, "kind");
	json_str(&j, S("certificate")); /* who signed is told by that alone */
	json_close(&j);
	json_key(&j, "attestations");
	json_open(&j, '[');
	VEC_EACH (const struct str, name, &names) {
		struct str path = path_join(a, dir, *name);
		if (!str_starts(*name, begin) || !str_ends(*name, S(".attestation")))
			continue;
		if (++n > ATTESTATIONS)
			return err_new(E_LIMIT, "'%.*s' has more than %d attestations",
				STR(w->path), ATTESTATIONS);
		TRY(fs_read(a, path, STATEMENT, &text));
		TRY(json_parse(a, text, path, &doc));
		TRY(check_subject(a, w, path, doc));
		json_node(&j, doc);
	}
	while (j.depth)
		json_close(&j);
	if (n)
		*ret = buf_str(&b);
	return NULL;
}
