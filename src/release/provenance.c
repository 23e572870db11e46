/* Provenance of wheels in the forms that others read; see release.h. Nothing is signed here: that takes an identity, which a
 * signing service gives. What is written is what such a service signs, and what it signed is passed on. */
#include "base/fs.h"
#include "base/hash.h"
#include "formats/node.h"
#include "release/release.h"

enum { ATTESTATIONS = 16, ATTESTATION = 1 << 20 };

/* ---- SLSA ---- */

struct slsa_thing {
	struct str name, sha256;
};
struct slsa_things VEC_OF(struct slsa_thing);
struct slsa { /* a statement */
	struct slsa_things subject, inputs;
	const char *type;
	const struct node *sdk;
	struct str rocsmith;
	const struct node *name, *version, *gpus, *python, *features, *rocm, *recipes;
};

static const struct json_field digest_fields[] = FIELDS_ONLY(struct slsa_thing, sha256);
static const struct json_field thing_fields[] = {
	FIELD("name", struct slsa_thing, name),
	FIELD_LAST(FIELD_PART("digest", digest_fields)),
};
#define ASKED(member) FIELD_AS_PARSED(#member, struct slsa, member)
static const struct json_field external_fields[] = {
	ASKED(name),
	ASKED(version),
	ASKED(gpus),
	ASKED(python),
	ASKED(features),
	ASKED(rocm),
	FIELD_LAST(ASKED(recipes)),
};
static const struct json_field internal_fields[] = {FIELD_LAST(ASKED(sdk))};
static const struct json_field definition_fields[] = {
	FIELD("buildType", struct slsa, type),
	FIELD_PART("externalParameters", external_fields),
	FIELD_PART("internalParameters", internal_fields),
	FIELD_LAST(FIELD_LIST("resolvedDependencies", struct slsa, inputs, thing_fields)),
};
static const struct json_field tool_fields[] = FIELDS_ONLY(struct slsa, rocsmith);
static const struct json_field builder_fields[] = {
	FIELD_CONST("id", "urn:rocsmith"),
	FIELD_LAST(FIELD_PART("version", tool_fields)),
};
static const struct json_field details_fields[] = {
	FIELD_LAST(FIELD_PART("builder", builder_fields)),
};
static const struct json_field predicate_fields[] = {
	FIELD_PART("buildDefinition", definition_fields),
	FIELD_LAST(FIELD_PART("runDetails", details_fields)),
};
static const struct json_field statement_fields[] = {
	FIELD_CONST("_type", "https://in-toto.io/Statement/v1"),
	FIELD_LIST("subject", struct slsa, subject, thing_fields),
	FIELD_CONST("predicateType", "https://slsa.dev/provenance/v1"),
	FIELD_LAST(FIELD_PART("predicate", predicate_fields)),
};

static void add_inputs(struct arena *a, struct slsa_things *to, const struct node *list)
{
	NODE_EACH (n, list) {
		struct str name = node_text(n, S("file"), node_text(n, S("name"), S(""))),
			   version = node_text(n, S("version"), S("")),
			   sha256 = node_text(n, S("sha256"), S(""));
		if (sha256.n)
			*VEC_PUSH(a, to) =
				(struct slsa_thing){str_fmt(a, "%.*s%s%.*s", STR(name),
							    version.n ? " " : "", STR(version)),
					sha256};
	}
}

struct err *release_statement(
	struct arena *a, const struct release_wheel *w, struct str record, struct str *ret)
{
	const struct node *doc = NULL;
	struct slsa s = {.type = "urn:rocsmith:rename:1", .rocsmith = S(ROCSMITH_VERSION)};
	*ret = S("");
	if (!record.n && !w->origin.n)
		return NULL;
	*VEC_PUSH(a, &s.subject) = (struct slsa_thing){w->file, w->sha256};
	if (w->origin.n)
		*VEC_PUSH(a, &s.inputs) = (struct slsa_thing){w->project, w->origin};
	if (record.n) {
		TRY(json_parse(a, record, str_fmt(a, "%.*s.json", STR(w->path)), &doc));
		if (!str_eq(node_text(node_get(doc, S("wheel")), S("sha256"), S("")), w->sha256))
			return err_new(E_HASH,
				"the record beside '%.*s' is that of another build of it",
				STR(w->path));
		s.type = "urn:rocsmith:build:1";
		s.rocsmith = node_text(doc, S("rocsmith"), s.rocsmith);
		s.sdk = node_get(doc, S("sdk"));
		s.name = node_get(doc, S("name"));
		s.version = node_get(doc, S("version"));
		s.gpus = node_get(doc, S("gpus"));
		s.python = node_get(doc, S("python"));
		s.features = node_get(doc, S("features"));
		s.rocm = node_get(doc, S("rocm"));
		s.recipes = node_get(doc, S("recipes"));
		add_inputs(a, &s.inputs, node_member(node_get(doc, S("source")), S("files")));
		add_inputs(a, &s.inputs, node_member(doc, S("with")));
		add_inputs(a, &s.inputs, node_member(doc, S("packages")));
	}
	*ret = json_document(a, 2, statement_fields, &s);
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
	NODE_EACH (s, node_member(doc, S("subject")))
		if (str_eq(node_text(s, S("name"), S("")), w->file) &&
			str_eq(node_text(node_get(s, S("digest")), S("sha256"), S("")), w->sha256))
			return NULL;
	return err_new(E_HASH, "'%.*s' is about another file than '%.*s'", STR(path), STR(w->path));
}

struct err *release_attested(struct arena *a, const struct release_wheel *w, struct str *ret)
{
	ARENA(tmp); /* it also holds the names of all other wheels there */
	struct strs names;
	struct str dir = path_dir(w->path), begin = str_fmt(&tmp, "%.*s.", STR(w->file)), text;
	const struct node *doc;
	BUF(b, &tmp);
	struct json j = {.out = &b};
	size_t n = 0;
	*ret = S("");
	TRY(fs_list(&tmp, dir, &names));
	/* the certificate alone tells who signed */
	buf_add(&b, S("{\"version\":1,\"attestation_bundles\":[{\"publisher\":{\"kind\":"
		      "\"certificate\"},"
		      "\"attestations\":"));
	json_open(&j, '[');
	VEC_EACH (const struct str, name, &names) {
		if (!str_starts(*name, begin) || !str_ends(*name, S(".attestation")))
			continue;
		struct str path = path_join(&tmp, dir, *name);
		if (++n > ATTESTATIONS)
			return err_new(E_LIMIT, "'%.*s' has more than %d attestations",
				STR(w->path), ATTESTATIONS);
		TRY(fs_read(&tmp, path, ATTESTATION, &text));
		TRY(json_parse(&tmp, text, path, &doc));
		TRY(check_subject(&tmp, w, path, doc));
		json_node(&j, doc);
	}
	json_close(&j);
	buf_add(&b, S("}]}"));
	if (n)
		*ret = str_dup(a, buf_str(&b));
	return NULL;
}
