/* The writer of commands, over the rows of data/container.yaml. */
#include "base/fs.h"
#include "container/container.h"

/* ---- the entries of a root folder, for an engine that binds them one by one ---- */

/* The place of a bind, or a part of the way to it? */
enum relation { APART, SAME, ABOVE };

static enum relation relation_of(const struct container *c, struct str at)
{
	enum relation found = APART;
	VEC_EACH (const struct container_item, i, &c->items) {
		if (!str_eq(i->kind, S("bind")))
			continue;
		if (str_eq(i->at, at))
			return SAME;
		if (path_is_below(i->at, at))
			found = ABOVE;
	}
	return found;
}

/* Lists what to bind of a folder. A folder on the way to a bind is made in memory, and its entries are bound, since a
 * place cannot be made in one that is bound read-only. */
static struct err *add_entries(struct arena *a, struct str dir, struct container *c)
{
	static const char *const own[] = {"dev", "proc", "run", "sys", "tmp", NULL};
	struct strs names;
	TRY(fs_list(a, path_join(a, c->image, str_sub(dir, 1, dir.n)), &names));
	for (size_t i = 0; i < names.n; i++) {
		struct container_item e = {.kind = S("entry"), .at = path_join(a, dir, names.v[i])};
		struct stat st;
		e.from = path_join(a, c->image, str_sub(e.at, 1, e.at.n));
		if (dir.n == 1 && str_is_one_of(names.v[i], own))
			continue;
		if (!fs_try_lstat(e.from, &st))
			return err_errno("cannot look at '%.*s'", STR(e.from));
		enum relation r = relation_of(c, e.at);
		e.link = S_ISLNK(st.st_mode);
		if (r == SAME)
			continue;
		if (r == ABOVE && !S_ISDIR(st.st_mode))
			return err_hint(err_new(E_USAGE,
						"a bind leads through '%.*s', which is a "
						"link or file of the root folder",
						STR(e.at)),
				"give the place without the link");
		if (r == ABOVE)
			TRY(add_entries(a, e.at, c));
		if (e.link)
			TRY(fs_readlink(a, e.from, &e.from));
		if (r == APART)
			*VEC_PUSH(a, &c->items) = e;
	}
	return NULL;
}

/* ---- words ---- */

/* A field of a CSV file (RFC 4180), which podman and docker take for --mount. */
static struct str csv_field(struct arena *a, const char *key, struct str s)
{
	s = str_fmt(a, "%s=%.*s", key, STR(s));
	bool plain = str_until(s, ",\"\n") == s.n;
	return plain ? s : str_fmt(a, "\"%.*s\"", STR(str_replace(a, s, S("\""), S("\"\""))));
}

static struct str colons_quoted(struct arena *a, struct str s)
{
	return str_replace(a, str_replace(a, s, S("\\"), S("\\\\")), S(":"), S("\\:"));
}

static struct strs values_of(
	struct arena *a, const struct container *c, const struct container_item *i)
{
	static const char *const marks[] = {"ro-", "-ro", ",readonly"};
	struct strs list = {0};
	strs_add_all(a, &list, &c->values);
	if (!i)
		return list;
	strs_fmt(a, &list, "from=%.*s", STR(i->from));
	strs_fmt(a, &list, "at=%.*s", STR(i->at));
	strs_add(a, &list, i->readonly ? S("mode=ro") : S("mode=rw"));
	for (size_t k = 0; i->readonly && k < sizeof(marks) / sizeof(*marks); k++)
		strs_fmt(a, &list, "%s=%s", marks[k], marks[k]);
	strs_fmt(a, &list, "src=%.*s", STR(csv_field(a, "src", i->from)));
	strs_fmt(a, &list, "dst=%.*s", STR(csv_field(a, "dst", i->at)));
	strs_fmt(a, &list, "left=%.*s", STR(colons_quoted(a, i->from)));
	strs_fmt(a, &list, "right=%.*s", STR(colons_quoted(a, i->at)));
	return list;
}

static bool holds(struct arena *a, const struct container *c, const struct container_item *i,
	const char *when)
{
	struct strs words = str_split(a, str_from(when), ' '), have = {0};
	strs_add_all(a, &have, &c->words);
	if (i && i->link)
		strs_add(a, &have, S("link"));
	if (i && (str_chr(i->from, ':') < i->from.n || str_chr(i->at, ':') < i->at.n))
		strs_add(a, &have, S("colon"));
	for (size_t k = 0; k < words.n; k++) {
		bool no = words.v[k].p[0] == '!';
		if (strs_has(&have, str_sub(words.v[k], no, words.v[k].n)) == no)
			return false;
	}
	return true;
}

static struct err *write_part(struct arena *a, const struct container_part *p,
	const struct container_item *i, struct container *c)
{
	if (!holds(a, c, i, p->when))
		return NULL;
	if (p->refuse)
		return err_new(
			E_USAGE, "%s%s%.*s", p->refuse, i ? ": " : "", STR(i ? i->from : S("")));
	struct strs values = values_of(a, c, i);
	struct strs args = {0};
	for (const char *const *arg = p->args; *arg; arg++)
		strs_add(a, &args, str_fill(a, *arg, &values));
	strs_add_all(a, &c->argv, &args);
	if (p->why)
		strs_put(a, &c->reasons,
			str_fmt(a, "%.*s: %s", STR(str_join(a, &args, S(" "))), p->why));
	return NULL;
}

struct err *container_write(struct arena *a, struct container *c)
{
	strs_fmt(a, &c->values, "program=%s", c->engine->program);
	strs_fmt(a, &c->values, "image=%.*s", STR(c->image));
	if (c->engine->entries)
		TRY(add_entries(a, S("/"), c));
	TABLE_EACH (container_part, p) {
		struct strs engines = str_split(a, str_from(p->engines), ' ');
		if (!strs_has(&engines, str_from(c->engine->name)))
			continue;
		if (!p->each)
			TRY(write_part(a, p, NULL, c));
		VEC_EACH (const struct container_item, i, &c->items)
			if (p->each && str_eq(i->kind, str_from(p->each)))
				TRY(write_part(a, p, i, c));
	}
	return NULL;
}
