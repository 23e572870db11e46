/* Checks bills of materials (PEP 770): those in dist-info/sboms must be readable, describe this version, and have the
 * right hashes of the files that they name. CycloneDX 1.x, and SPDX 2.x and 3.x as JSON, are read; other forms are
 * not. */
#include "formats/node.h"
#include "verify/exam.h"

static void check_cyclonedx(struct exam *x, struct str path, const struct node *top)
{
	const struct node *it = node_get(node_get(top, S("metadata")), S("component"));
	const struct node *components = node_get(top, S("components"));
	struct str name = node_text(it, S("name"), S("")),
		   version = node_text(it, S("version"), S(""));
	if (str_eq(wheel_normalise(x->a, name), x->verdict->project) && version.n &&
		x->verdict->version.n && !wheel_same_version(version, x->verdict->version))
		exam_say(x, V_SBOM_SUBJECT, path,
			"it is about version %.*s of '%.*s', the wheel is %.*s", STR(version),
			STR(name), STR(x->verdict->version));
	/* a component of type "file", as `rocsmith build` writes it, is the member of its name */
	for (size_t i = 0; components && i < components->n; i++) {
		ARENA(tmp);
		const struct node *c = &components->v[i], *hashes = node_get(c, S("hashes"));
		struct str want = S("");
		if (!str_eq(node_text(c, S("type"), S("")), S("file")) || !hashes)
			continue;
		NODE_EACH (h, hashes)
			if (str_eq(node_text(h, S("alg"), S("")), S("SHA-256")))
				want = str_lower(&tmp, node_text(h, S("content"), S("")));
		name = node_text(c, S("name"), S(""));
		const struct zip_member *z = zip_find(&x->zip, name);
		const struct exam_member *m = z ? &x->members[z - x->zip.members.v] : NULL;
		if (want.n && m && m->read && !str_eq(digest_hex(&tmp, m->digest), want))
			exam_say(x, V_SBOM_FILE, path, "the sha256 of '%.*s' is not the one listed",
				STR(name));
	}
}

static struct err *check_one(struct exam *x, const struct zip_member *m)
{
	enum { MOST = 4 << 20, WORK = 20 };
	ARENA(tmp);
	struct str text;
	const struct node *top = NULL;
	if (m->size > MOST)
		return NULL; /* real ones have a thirtieth of that */
	TRY(budget_work(x->zip.src.budget, WORK * m->size));
	struct err *e = zip_read(&tmp, &x->zip, m, MOST, &text);
	if (!e)
		e = json_parse(&tmp, text, m->name, &top);
	bool cyclone = top && str_eq(node_text(top, S("bomFormat"), S("")), S("CycloneDX"));
	if (!e && !cyclone && !node_get(top, S("spdxVersion")) && !node_get(top, S("@context")))
		e = err_new(E_FORMAT, "it is neither CycloneDX nor SPDX");
	budget_return(x->zip.src.budget, m->size);
	if (e && e->code == E_ZIP) { /* check_members() has reported it */
		err_free(e);
		return NULL;
	}
	if (e && e->code != E_SYNTAX && e->code != E_FORMAT)
		return e; /* too costly, or interrupted */
	if (e)
		exam_say(x, V_SBOM_SYNTAX, m->name, "%s", err_root(e)->msg);
	else if (cyclone)
		check_cyclonedx(x, m->name, top);
	err_free(e);
	return NULL;
}

struct err *check_sbom(struct exam *x)
{
	struct str dir = exam_path(x, "sboms/");
	VEC_EACH (const struct zip_member, m, &x->zip.members)
		if (x->info.n && !m->unsafe && !m->dir && str_starts(m->name, dir) &&
			str_ends(m->name, S(".json")))
			TRY(check_one(x, m));
	return NULL;
}
