/* Finds the set that a wheel is a part of: by our provenance file, or by guessing, for wheels that AMD's splitter made.
 * See split.h. */
#include "base/proc.h"
#include "formats/kpack.h"
#include "formats/node.h"
#include "lang/python/version.h"
#include "wheel/rewrite.h"
#include "wheel/split.h"

static const struct json_field member_fields[] = {
	FIELDS(struct split_member, path, encoding),
	FIELD_LAST(FIELD_OPTIONAL("absent", struct split_member, absent)),
};
const struct json_field split_part_fields[] = {
	FIELD_CONST("schema", "rocsmith.split-part/1"),
	FIELDS(struct split_part, wheel, set, format, role, key, keys, headers),
	FIELD_LAST(FIELD_LIST("members", struct split_part, members, member_fields)),
};

const char *const split_encodings[4] = {"raw", "ccob1", "ccob2", "ccob3"};

enum bundle_encoding split_encoding(struct str name)
{
	enum bundle_encoding e = BUNDLE_RAW;
	for (unsigned i = 1; i < 4; i++)
		e = str_eq(name, str_from(split_encodings[i])) ? (enum bundle_encoding)i : e;
	return e;
}

struct err *split_part_read(
	struct arena *a, const struct wheel *w, struct split_part *ret, bool *ret_is)
{
	struct str text, path = path_join(a, w->info, S(SPLIT_MANIFEST));
	const struct zip_member *m = zip_find(&w->zip, path);
	const struct node *n;
	*ret = (struct split_part){0};
	*ret_is = m != NULL;
	if (!m)
		return NULL;
	TRY(zip_read(a, &w->zip, m, WHEEL_TEXT, &text));
	TRY_CTX(json_parse(a, text, path, &n), "cannot read '%.*s'", STR(w->zip.path));
	TRY_CTX(json_fields_read(a, n, split_part_fields, ret), "cannot read '%.*s'",
		STR(w->zip.path));
	return NULL;
}

/* ---- without a provenance file ---- */

#define DEVICE "_device_"

/* The name of a set without a provenance file: "torch 2.9". */
static struct str set_of(struct arena *a, struct str name, struct str text)
{
	const struct version *v;
	struct err *e = version_parse(a, text, &v);
	struct str version = e ? text : version_text(a, v);
	err_free(e);
	return str_fmt(a, "%.*s %.*s", STR(name), STR(version));
}

static struct err *is_marked(
	struct arena *a, const struct wheel *w, const struct zip_member *m, bool *ret)
{
	CLEANUP(fd_closep) int fd = -1;
	char bytes[64];
	struct str head = {.p = bytes};
	struct bytes src;
	struct budget budget;
	struct kpack_host h;
	*ret = false;
	TRY(cancel_check());
	TRY(zip_peek(&w->zip, m, bytes, sizeof(bytes), &head.n));
	if (!elf_is(head) && !pe_is(head))
		return NULL;
	TRY(zip_src(&w->zip, m, &src, &fd));
	budget_set(&budget, m->size);
	src.budget = &budget;
	struct err *e = kpack_host_read(a, &src, &h);
	*ret = !e && h.name.n;
	bool damaged = e && (e->code == E_ELF || e->code == E_FORMAT);
	err_free(damaged ? e : NULL);
	return damaged ? NULL : e;
}

/* A device wheel belongs to the host wheel in its first requirement of a single version that is not a device wheel
 * itself. */
struct err *split_part_guess(
	struct arena *a, const struct wheel *w, struct split_part *ret, bool *ret_is)
{
	struct dist_headers headers;
	struct requirement r;
	struct str text, name = wheel_normalise(a, w->name.dist);
	size_t at = str_find(name, S(DEVICE));
	*ret = (struct split_part){.wheel = path_base(w->zip.path), .format = S("kpack")};
	if (at == name.n) {
		ret->role = S("host");
		ret->set = set_of(a, name, w->name.version);
		VEC_EACH (const struct wheel_member, m, &w->members) {
			bool is;
			TRY_CTX(is_marked(a, w, m->zip, &is), "cannot read '%.*s'",
				STR(m->zip->name));
			if (is)
				*VEC_PUSH(a, &ret->members) =
					(struct split_member){.path = m->zip->name};
		}
		*ret_is = ret->members.n;
		return NULL;
	}
	ret->role = S("device");
	ret->key = str_sub(name, at + S(DEVICE).n, name.n);
	TRY(wheel_headers(a, w, "METADATA", &text, &headers));
	VEC_EACH (const struct dist_header, h, &headers) {
		if (!dist_header_is(h, "requires-dist"))
			continue;
		TRY(dist_header_requirement(a, h, &r));
		struct str host = wheel_normalise(a, r.name);
		if (!ret->set.n && str_starts(r.specifier, S("==")) &&
			!str_contains(host, S(DEVICE)))
			ret->set =
				set_of(a, host, str_trim(str_sub(r.specifier, 2, r.specifier.n)));
	}
	*ret_is = ret->set.n;
	return NULL;
}

static bool is_added(void *user, struct arena *a, const struct dist_header *h)
{
	(void)user;
	struct str name = wheel_requires(a, h);
	return str_eq(name, S("rocm_bootstrap")) || str_contains(name, S(DEVICE)) ||
	       (dist_header_is(h, "provides-extra") && str_starts(h->value, S("device-")));
}

struct err *split_without(struct arena *a, struct str text, struct str *ret)
{
	return wheel_without(a, text, is_added, NULL, ret);
}
