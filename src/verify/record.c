/* RECORD against the members: every file listed once, with the right hash and size, none missing
 * and none too many. Source: the recording-installed-projects and binary distribution
 * specifications. */
#include "verify/look.h"

struct listing {
	struct look *l;
	struct map members; /* name -> struct look_member */
	struct map listed;  /* path -> struct record_entry */
	struct str self;
	struct str signatures[2]; /* RECORD.jws, RECORD.p7s: never listed */
};

static bool is_folder(struct str name)
{
	return name.n && name.p[name.n - 1] == '/';
}

static bool is_hex_of(struct str text, const struct digest *d)
{
	ARENA(tmp);
	return str_eq(str_lower(&tmp, text), digest_hex(&tmp, d));
}

static void check_hash(struct look *l, const struct record_entry *e, const struct look_member *m)
{
	struct str want = digest_base64url(l->a, &m->digest),
		   algorithm = str_lower(l->a, e->algorithm);
	static const char *const good[] = {
		"sha384", "sha512", "sha3_256", "sha3_384", "sha3_512", "blake2b", "blake2s", NULL};
	if (str_eq(algorithm, S("sha256")) && str_eq(e->hash, want))
		return;
	for (size_t i = 0; good[i]; i++)
		if (str_eq(algorithm, str_from(good[i]))) {
			look_say(l, V_RECORD_UNCHECKED, e->path, "its %s is not checked", good[i]);
			return;
		}
	if (!str_eq(algorithm, S("sha256"))) {
		look_say(l, V_RECORD_FORM, e->path, "line %u: '%.*s' is too weak or unknown",
			e->line, STR(e->algorithm));
		return;
	}
	/* Right value, wrong letters: padding, the other base64 alphabet, hexadecimal. */
	struct str bare = e->hash;
	while (str_ends(bare, S("=")))
		bare.n--;
	if (str_eq(bare, want) || is_hex_of(e->hash, &m->digest))
		look_say(l, V_RECORD_FORM, e->path, "line %u: '%.*s' should be '%.*s'", e->line,
			STR(e->hash), STR(want));
	else
		look_say(l, V_RECORD_HASH, e->path, "its sha256 is %.*s, RECORD says %.*s",
			STR(want), STR(e->hash));
}

static void check_size(struct look *l, const struct record_entry *e, const struct look_member *m)
{
	uint64_t size;
	if (!e->size.n)
		return; /* optional */
	if (!str_u64(e->size, 10, &size) || size != m->zip->size)
		look_say(l, V_RECORD_SIZE, e->path, "it has %llu bytes, RECORD says '%.*s'",
			(unsigned long long)m->zip->size, STR(e->size));
}

static bool path_leads_out(struct str path)
{
	struct str rest = path, piece;
	if (!path.n || path.p[0] == '/' || str_chr(path, '\\') < path.n)
		return true;
	while (str_next(&rest, '/', &piece))
		if (str_eq(piece, S("..")))
			return true;
	return false;
}

static void check_self(struct look *l, const struct record_entry *e)
{
	if (e->hash.n || e->algorithm.n || e->size.n)
		look_say(l, V_RECORD_SELF, e->path, "RECORD lists itself with a hash or size");
}

/* Returns true when the entry has no hash: said once for all of them. */
static bool check_entry(struct listing *s, const struct record_entry *e)
{
	struct look *l = s->l;
	struct look_member *m = map_get(&s->members, e->path);
	if (path_leads_out(e->path))
		look_say(l, V_RECORD_PATH, e->path, "line %u: the path leads out of the wheel",
			e->line);
	else if (map_get(&s->listed, e->path))
		look_say(l, V_RECORD_TWICE, e->path, "line %u: it is listed already", e->line);
	else if (!m)
		look_say(
			l, V_RECORD_ABSENT, e->path, "RECORD lists it, the wheel has no such file");
	map_put(&s->listed, e->path, (void *)(uintptr_t)e);
	if (!m)
		return false;
	if (str_eq(e->path, s->self)) {
		check_self(l, e);
		return false;
	}
	check_size(l, e, m);
	if (!e->hash.n)
		return true;
	if (m->read)
		check_hash(l, e, m);
	return false;
}

static void check_entries(struct listing *s, const struct record *r)
{
	size_t bare = 0;
	const struct record_entry *first = NULL;
	VEC_EACH (const struct record_entry, e, r) {
		if (!check_entry(s, e))
			continue;
		first = first ? first : e;
		bare++;
	}
	if (!bare)
		return;
	struct finding *f = look_say(s->l, V_RECORD_NO_HASH, first->path,
		"RECORD has no hash for it%s", bare > 1 ? " and others" : "");
	if (bare > 1)
		finding_say(s->l->a, f, "RECORD has no hash for it and %zu more files", bare - 1);
	finding_fix(s->l->a, f, "repack it: wheel unpack, then wheel pack");
}

static void check_unlisted(struct listing *s)
{
	for (size_t i = 0; i < s->l->n; i++) {
		struct str name = s->l->members[i].zip->name;
		bool signature = str_eq(name, s->signatures[0]) || str_eq(name, s->signatures[1]);
		if (is_folder(name) || signature || map_get(&s->listed, name))
			continue;
		bool self = str_eq(name, s->self);
		look_say(s->l, self ? V_RECORD_SELF : V_RECORD_UNLISTED, name,
			self ? "RECORD does not list itself" : "RECORD does not list it");
	}
}

void check_record(struct look *l)
{
	struct str text;
	struct record r;
	struct listing s = {.l = l, .members.a = l->a, .listed.a = l->a};
	if (!l->info.n || !look_text(l, "RECORD", V_RECORD_MISSING, &text))
		return;
	s.self = str_fmt(l->a, "%.*s/RECORD", STR(l->info));
	s.signatures[0] = str_fmt(l->a, "%.*s.jws", STR(s.self));
	s.signatures[1] = str_fmt(l->a, "%.*s.p7s", STR(s.self));
	struct err *e = wheel_record_parse(l->a, text, &r);
	if (e) {
		look_say(l, V_RECORD_SYNTAX, s.self, "%s", e->msg);
		err_free(e);
		return;
	}
	for (size_t i = 0; i < l->n; i++)
		if (!l->members[i].zip->dir)
			map_put(&s.members, l->members[i].zip->name, &l->members[i]);
	check_entries(&s, &r);
	check_unlisted(&s);
}
