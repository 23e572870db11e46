/* Version specifiers of PEP 440 (">=1.0,!=1.3.*"), one clause at a time; see version.h. */
#include <string.h>

#include "base/version_int.h"

enum op { OP_COMPATIBLE, OP_EQ, OP_NE, OP_LE, OP_GE, OP_LT, OP_GT, OP_SAME };

/* Longest first where one starts another. */
static const struct {
	struct str text;
	enum op op;
} ops[] = {
	{.text = S_INIT("==="), .op = OP_SAME},
	{.text = S_INIT("~="), .op = OP_COMPATIBLE},
	{.text = S_INIT("=="), .op = OP_EQ},
	{.text = S_INIT("!="), .op = OP_NE},
	{.text = S_INIT("<="), .op = OP_LE},
	{.text = S_INIT(">="), .op = OP_GE},
	{.text = S_INIT("<"), .op = OP_LT},
	{.text = S_INIT(">"), .op = OP_GT},
};

struct clause {
	enum op op;
	bool wildcard; /* "==1.2.*" */
	struct version v;
	struct str text; /* of the version, for OP_SAME */
};

/* "1.2.*": nothing but a release (and an epoch) goes before the star. */
static bool wildcard_fits(const struct clause *c)
{
	const struct version *v = &c->v;
	return (c->op == OP_EQ || c->op == OP_NE) && !v->pre && !v->post.n && !v->dev.n &&
	       !v->local.n;
}

static bool parse_clause(struct arena *a, struct str text, struct clause *c)
{
	size_t n = sizeof(ops) / sizeof(*ops), i = 0;
	while (i < n && !str_starts(text, ops[i].text))
		i++;
	if (i == n)
		return false;
	*c = (struct clause){.op = ops[i].op};
	c->text = str_trim(str_sub(text, ops[i].text.n, text.n));
	if (c->op == OP_SAME)
		return c->text.n && str_chr(c->text, ' ') == c->text.n;
	struct str v = c->text;
	c->wildcard = str_ends(v, S(".*"));
	if (c->wildcard)
		v.n -= 2;
	if (!version_scan(a, v, &c->v) || (c->wildcard && !wildcard_fits(c)))
		return false;
	if (c->op == OP_COMPATIBLE)
		return c->v.release.n >= 2 && !c->v.local.n;
	return !c->v.local.n || c->op == OP_EQ || c->op == OP_NE;
}

static struct str place(const struct strs *release, size_t i)
{
	return i < release->n ? release->v[i] : S("0");
}

/* v begins with the first n places of the release of p. */
static bool has_prefix(const struct version *v, const struct version *p, size_t n)
{
	if (!str_eq(v->epoch, p->epoch))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!str_eq(place(&v->release, i), p->release.v[i]))
			return false;
	return true;
}

/* Without a local part in the clause, that of the version does not count. */
static bool equal(const struct version *v, const struct clause *c)
{
	if (c->wildcard)
		return has_prefix(v, &c->v, c->v.release.n);
	return c->v.local.n ? version_cmp(v, &c->v) == 0 : version_cmp_public(v, &c->v) == 0;
}

/* "<V" excludes pre-releases of V, unless V is one itself: then it is "<V.dev0". */
static bool less(const struct version *v, const struct version *than)
{
	struct version first = *than;
	if (!version_is_prerelease(than))
		first.dev = S("0");
	return version_cmp(v, &first) < 0;
}

/* ">V" excludes post-releases of V, unless V is one itself, and local versions of V. */
static bool greater(const struct version *v, const struct version *than)
{
	if (version_cmp_public(v, than) <= 0)
		return false;
	if (than->post.n || than->dev.n || !v->post.n)
		return true;
	struct version base = *v;
	base.post = base.dev = S("");
	return version_cmp_public(&base, than) != 0;
}

/* "~=2.2" is ">=2.2,==2.*". */
static bool compatible(const struct version *v, const struct version *with)
{
	struct version prefix = {.epoch = with->epoch, .release = with->release};
	return version_cmp_public(v, with) >= 0 && has_prefix(v, &prefix, with->release.n - 1);
}

static bool same_text(const struct version *v, struct str text)
{
	ARENA(tmp);
	return str_eq(str_lower(&tmp, text), str_lower(&tmp, version_text(&tmp, v)));
}

static bool fulfils(const struct version *v, const struct clause *c)
{
	switch (c->op) {
	case OP_COMPATIBLE:
		return compatible(v, &c->v);
	case OP_EQ:
		return equal(v, c);
	case OP_NE:
		return !equal(v, c);
	case OP_LE:
		return version_cmp_public(v, &c->v) <= 0;
	case OP_GE:
		return version_cmp_public(v, &c->v) >= 0;
	case OP_LT:
		return less(v, &c->v);
	case OP_GT:
		return greater(v, &c->v);
	case OP_SAME:
		break;
	}
	return same_text(v, c->text);
}

struct err *version_match(const struct version *v, struct str specifier, bool *ret)
{
	ARENA(tmp);
	struct str rest = specifier, text;
	bool all = true;
	while (str_next(&rest, ',', &text)) {
		struct clause c;
		text = str_trim(text);
		if (!text.n)
			continue;
		if (!parse_clause(&tmp, text, &c))
			return err_new(E_SYNTAX, "'%.*s' is not a version specifier", STR(text));
		all = all && fulfils(v, &c);
	}
	*ret = all;
	return NULL;
}
