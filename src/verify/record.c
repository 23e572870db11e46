/* Compares RECORD with the members: every file is listed once, with the right hash and size, none missing and none too
 * many. Source: the specifications of recording installed projects and of the binary distribution format. */
#include "verify/exam.h"

struct listing {
	struct exam *x;
	struct map members;      /* name -> struct exam_member */
	struct exam_member none; /* stands for paths that only RECORD has */
	struct str self;
};

static void check_hash(struct exam *x, const struct dist_row *e, const struct exam_member *m)
{
	ARENA(tmp);
	struct str want = digest_base64url(&tmp, &m->digest),
		   algorithm = str_lower(&tmp, e->algorithm);
	static const char *const good[] = {
		"sha384", "sha512", "sha3_256", "sha3_384", "sha3_512", "blake2b", "blake2s", NULL};
	if (str_is_one_of(algorithm, good)) {
		exam_say(x, V_RECORD_UNCHECKED, e->path, "its %.*s is not checked", STR(algorithm));
		return;
	}
	if (!str_eq(algorithm, S("sha256"))) {
		exam_say(x, V_RECORD_FORM, e->path, "line %u: '%.*s' is too weak or unknown",
			e->line, STR(e->algorithm));
		return;
	}
	if (str_eq(e->hash, want))
		return;
	/* The right hash in another form: with padding, or hexadecimal. */
	struct str bare = e->hash;
	while (str_ends(bare, S("=")))
		bare.n--;
	if (str_eq(bare, want) || str_eq(str_lower(&tmp, e->hash), digest_hex(&tmp, m->digest)))
		exam_say(x, V_RECORD_FORM, e->path, "line %u: '%.*s' should be '%.*s'", e->line,
			STR(e->hash), STR(want));
	else
		exam_say(x, V_RECORD_HASH, e->path, "its sha256 is %.*s, RECORD says %.*s",
			STR(want), STR(e->hash));
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

/* Returns true when the row has no hash; the caller reports all of them once. */
static bool check_entry(struct listing *s, const struct dist_row *e)
{
	struct exam *x = s->x;
	struct exam_member *m = map_get(&s->members, e->path);
	bool there = m && m != &s->none;
	if (path_leads_out(e->path))
		exam_say(x, V_RECORD_PATH, e->path, "line %u: the path leads out of the wheel",
			e->line);
	else if (m && m->listed)
		exam_say(x, V_RECORD_TWICE, e->path, "line %u: it is listed already", e->line);
	else if (!m)
		exam_say(
			x, V_RECORD_ABSENT, e->path, "RECORD lists it, the wheel has no such file");
	if (!m)
		map_put(&s->members, e->path, &s->none);
	if (!there)
		return false;
	m->listed = true;
	if (str_eq(e->path, s->self)) {
		if (e->hash.n || e->algorithm.n || e->size.n)
			exam_say(x, V_RECORD_SELF, e->path,
				"RECORD lists itself with a hash or size");
		return false;
	}
	uint64_t size;
	if (e->size.n && (!str_u64(e->size, 10, &size) || size != m->zip->size))
		exam_say(x, V_RECORD_SIZE, e->path, "it has %llu bytes, RECORD says '%.*s'",
			(unsigned long long)m->zip->size, STR(e->size));
	if (!e->hash.n)
		return true;
	if (m->read)
		check_hash(x, e, m);
	return false;
}

void check_record(struct exam *x)
{
	enum { MORE_ROWS = 1000 };
	struct str text, jws = exam_path(x, "RECORD.jws"), p7s = exam_path(x, "RECORD.p7s");
	struct listing s = {.x = x, .members.a = x->a, .none.listed = true};
	struct dist_record r;
	if (!x->info.n || !exam_text(x, "RECORD", V_RECORD_MISSING, &text))
		return;
	s.self = exam_path(x, "RECORD");
	struct err *e = dist_record_parse(x->a, text, 2 * x->n + MORE_ROWS, &r);
	if (e) {
		exam_say(x, V_RECORD_SYNTAX, s.self, "%s", e->msg);
		err_free(e);
		return;
	}
	for (size_t i = 0; i < x->n; i++)
		if (!x->members[i].zip->dir)
			map_put(&s.members, x->members[i].zip->name, &x->members[i]);
	size_t bare = 0, hashed = 0;
	const struct dist_row *first = NULL;
	VEC_EACH (const struct dist_row, row, &r) {
		bool none = check_entry(&s, row);
		first = none && !bare ? row : first;
		bare += none;
		hashed += row->hash.n > 0 || row->algorithm.n > 0;
	}
	struct finding *f = NULL;
	if (bare && hashed)
		f = exam_say(x, V_RECORD_NO_HASH, first->path,
			"RECORD has no hash for %.*s (the first is this one), but for %zu others",
			STR(human_count(x->a, bare, "file")), hashed);
	else if (bare)
		f = exam_say(x, V_RECORD_NO_HASH, s.self,
			"it has no hash for any of its %zu files: nothing tells whether they are "
			"what "
			"was packed",
			bare);
	if (f &&
		!hashed) /* a packer that hashes nothing; a single row without one may hide a change */
		f->severity = SEV_WARNING;
	if (f)
		finding_fix(x->a, f,
			"if you trust it: python3 -m zipfile -e %.*s tree && rocsmith wheel pack "
			"tree",
			STR(str_shell(x->a, x->path)));
	for (size_t i = 0; i < x->n; i++) {
		struct str name = x->members[i].zip->name;
		const struct exam_member *m = map_get(&s.members, name);
		if (!m || m->listed || str_eq(name, jws) || str_eq(name, p7s))
			continue; /* signatures are never listed */
		bool self = str_eq(name, s.self);
		exam_say(x, self ? V_RECORD_SELF : V_RECORD_UNLISTED, name,
			self ? "RECORD does not list itself" : "RECORD does not list it");
	}
}
