/* Gives a wheel another version wherever its texts name that of its set; see archive.h. */
#include "lang/python/fnmatch.h"
#include "lang/python/version.h"
#include "wheel/archive.h"

/* The offset of a version from `at` on, as a whole one; text.n if the text names it no more. "7.13.0rc2" is in
 * "+rocm7.13.0rc2", but not in "17.13.0rc2" or "7.13.0rc2.post1"; "7.13.*" is no longer one than "7.13". */
static size_t find_version(struct str text, size_t at, struct str version)
{
	for (;; at++) {
		at += str_find(str_sub(text, at, text.n), version);
		if (at == text.n)
			return at;
		size_t end = at + version.n;
		char before = at ? text.p[at - 1] : 0, after = end < text.n ? text.p[end] : 0;
		char next = end + 1 < text.n ? text.p[end + 1] : 0;
		bool longer =
			ascii_alnum(after) || ((after == '.' || after == '-') && ascii_alnum(next));
		if (!ascii_digit(before) && before != '.' && !longer)
			return at;
	}
}

bool wheel_names_version(struct str text, struct str version)
{
	return find_version(text, 0, version) < text.n;
}

static struct str replace_version(struct arena *a, struct str text, const struct wheel_rename *r)
{
	BUF(b, a);
	size_t at = r->old.n ? find_version(text, 0, r->old) : text.n, done = 0;
	if (at == text.n)
		return text;
	for (; at < text.n; at = find_version(text, done, r->old)) {
		buf_add(&b, str_sub(text, done, at));
		buf_add(&b, r->now);
		done = at + r->old.n;
	}
	buf_add(&b, str_sub(text, done, text.n));
	return buf_str(&b);
}

struct str wheel_with_versions(
	struct arena *a, struct str text, const struct wheel_renames *renames)
{
	VEC_EACH (const struct wheel_rename, r, renames)
		text = replace_version(a, text, r);
	return text;
}

bool wheel_has_versions(struct arena *a, struct str member)
{
	TABLE_EACH (wheel_version_file, f) {
		struct py_glob g = py_glob_new(a, str_from(f->glob));
		if (py_glob_match(&g, member))
			return true;
	}
	return false;
}

void wheel_renames_local(struct arena *a, struct str old, struct str now, struct wheel_renames *ret)
{
	struct str base, was = S(""), is = S("");
	size_t i = 0;
	(void)str_cut(old, '+', &base, &was);
	(void)str_cut(now, '+', &base, &is);
	if (!was.n) /* "1.0" may be the version of anything */
		return;
	*VEC_PUSH(a, ret) = (struct wheel_rename){old, now};
	if (!is.n)
		return;
	*VEC_PUSH(a, ret) = (struct wheel_rename){was, is};
	/* "rocm7.12.0rc1" is a build for "7.12.0rc1", which requirements name */
	while (i < was.n && i < is.n && was.p[i] == is.p[i] && !ascii_digit(was.p[i]))
		i++;
	if (i && i < was.n && i < is.n && ascii_digit(was.p[i]) && ascii_digit(is.p[i]))
		*VEC_PUSH(a, ret) =
			(struct wheel_rename){str_sub(was, i, was.n), str_sub(is, i, is.n)};
}

struct err *wheel_renames_read(struct arena *a, const struct strs *words, struct wheel_renames *ret)
{
	const struct version *v;
	VEC_EACH (const struct str, word, words) {
		struct wheel_rename r;
		if (!str_cut(*word, '=', &r.old, &r.now))
			return err_new(E_USAGE, "a version becomes another by OLD=NEW, not '%.*s'",
				STR(*word));
		TRY_CTX(version_parse(a, r.old, &v), "'%.*s' is no version", STR(r.old));
		TRY_CTX(version_parse(a, r.now, &v), "'%.*s' is no version", STR(r.now));
		*VEC_PUSH(a, ret) = r;
	}
	return NULL;
}

/* Requirements keep ranges such as ">=7.12.0rc1": only what names the version exactly follows it, and of the projects
 * that are renamed. If these are not known: ROCm's own, and those that name a local version. */
static struct str new_requirement(struct arena *a, const struct wheel_request *q, struct str value)
{
	struct requirement r;
	struct err *e = requirement_parse(value, &r);
	bool exact = !e && str_contains(r.specifier, S("=="));
	struct str name = e ? S("") : wheel_normalise(a, r.name);
	bool ours = q->projects ? strs_has(q->projects, name)
				: str_starts(name, S("rocm")) || str_contains(r.specifier, S("+"));
	err_free(e);
	return exact && ours ? wheel_with_versions(a, value, &q->renames) : value;
}

struct str wheel_new_metadata(struct arena *a, const struct wheel_request *q, struct str text,
	const struct dist_headers *h, struct str version)
{
	BUF(b, a);
	size_t done = 0;
	VEC_EACH (const struct dist_header, it, h) {
		struct str now = it->value;
		bool folded =
			str_chr(it->value, '\n') < it->value.n; /* it is no part of the text */
		if (dist_header_is(it, "version") && version.n)
			now = version;
		else if (dist_header_is(it, "requires-dist") && !folded)
			now = new_requirement(a, q, it->value);
		if (folded || str_eq(now, it->value))
			continue;
		size_t at = (size_t)(it->value.p - text.p);
		buf_add(&b, str_sub(text, done, at));
		buf_add(&b, now);
		done = at + it->value.n;
	}
	buf_add(&b, str_sub(text, done, text.n));
	return buf_str(&b);
}
