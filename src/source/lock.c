/* Reads and writes lock files and TheRock's manifests; see checkout.h. Both come from strangers: what they say is checked
 * before git sees it. */
#include "archive/git.h"
#include "base/fs.h"
#include "formats/node.h"
#include "source/checkout.h"

enum { MAX_LOCK = 4 << 20 };

static const struct json_field module_fields[] =
	FIELDS_ONLY(struct checkout_module, path, url, commit);
static const struct json_field project_fields[] = {
	FIELDS(struct checkout_project, name, origin, ref, commit, tree, hipified, tables, version,
		pinned_by),
	FIELD_LIST("submodules", struct checkout_project, submodules, module_fields),
	{.kind = FIELD_END},
};
const struct json_field checkout_lock_fields[] = {
	FIELD_CONST("schema", "rocsmith.lock/1"),
	FIELD_LIST("projects", struct checkout_lock, projects, project_fields),
	{.kind = FIELD_END},
};

struct checkout_project *checkout_find(const struct checkout_lock *l, struct str name)
{
	return VEC_FIND(struct checkout_project, &l->projects, name, name);
}

/* Checks what git will be given, and that each project comes once. */
static struct err *check(struct str path, const struct checkout_lock *l)
{
	VEC_EACH (const struct checkout_project, p, &l->projects) {
		if (checkout_find(l, p->name) != p)
			return err_new(E_SYNTAX, "'%.*s' has two entries for '%.*s'", STR(path),
				STR(p->name));
		if (!git_is_sha(p->commit))
			return err_new(E_SYNTAX,
				"'%.*s': the commit of '%.*s' is not a whole commit id: '%.*s'",
				STR(path), STR(p->name), STR(p->commit));
		TRY_CTX(git_check_url(p->origin, true), "cannot use '%.*s'", STR(path));
		if (p->ref.n)
			TRY_CTX(git_check_ref(p->ref), "cannot use '%.*s'", STR(path));
	}
	return NULL;
}

struct err *checkout_lock_parse(
	struct arena *a, struct str text, struct str path, struct checkout_lock *ret)
{
	const struct node *doc;
	*ret = (struct checkout_lock){0};
	TRY(json_parse(a, text, path, &doc));
	TRY(json_fields_read(a, doc, checkout_lock_fields, ret));
	return check(path, ret);
}

struct err *checkout_lock_read(struct arena *a, struct str path, struct checkout_lock *ret)
{
	struct str text;
	*ret = (struct checkout_lock){0};
	TRY(fs_read_opt(a, path, MAX_LOCK, &text));
	return text.p ? checkout_lock_parse(a, text, path, ret) : NULL;
}

struct err *checkout_lock_write(struct arena *a, struct str root, const struct checkout_lock *l)
{
	struct str text = json_document(a, 2, checkout_lock_fields, l);
	return fs_write(path_join(a, root, S("rocsmith.lock")), text, 0644 | FS_IF_CHANGED);
}

/* ---- manifests ---- */
static const struct json_field manifest_fields[] = {
	FIELD_OPTIONAL("repo", struct checkout_project, origin),
	FIELD_OPTIONAL("commit", struct checkout_project, commit),
	FIELD_OPTIONAL("branch", struct checkout_project, ref),
	FIELD_OPTIONAL("version", struct checkout_project, version),
	{.kind = FIELD_END},
};

struct err *checkout_manifest_parse(
	struct arena *a, struct str text, struct str path, struct checkout_lock *ret)
{
	const struct node *doc, *entry;
	*ret = (struct checkout_lock){0};
	TRY(json_parse(a, text, path, &doc));
	struct str schema = node_text(doc, S("schema_version"), S("1"));
	if (!str_eq(schema, S("1")))
		return err_new(E_SYNTAX, "'%.*s' is a manifest of schema %.*s, and only 1 is known",
			STR(path), STR(schema));
	TABLE_EACH (checkout_known, k) {
		struct checkout_project p = {
			.name = str_from(k->name), .pinned_by = S("the manifest")};
		if (!(entry = node_get(doc, str_from(k->manifest))))
			continue;
		for (const struct json_field *f = manifest_fields; f->key; f++)
			TRY(node_want_text(entry, str_from(f->key), (void *)((char *)&p + f->off)));
		*VEC_PUSH(a, &ret->projects) = p;
	}
	return check(path, ret);
}

struct str checkout_manifest(struct arena *a, const struct checkout_lock *l)
{
	BUF(out, a);
	struct json j = {.out = &out, .indent = 2};
	json_open(&j, '{');
	json_key(&j, "schema_version");
	json_u64(&j, 1);
	TABLE_EACH (checkout_known, k) {
		const struct checkout_project *found = checkout_find(l, str_from(k->name));
		if (!found)
			continue;
		struct checkout_project p = *found;
		if (git_is_sha(p.ref))
			p.ref = S("");
		json_key(&j, k->manifest);
		json_struct(&j, manifest_fields, &p);
	}
	json_close(&j);
	buf_char(&out, '\n');
	return buf_str(&out);
}
