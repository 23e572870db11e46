/* Finds the address of a package index; see address.h. */
#include "know/address.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/vec.h"
#include "formats/node.h"

#define FOLDER "{index}"
enum { ADDRESS_MAX = 2000, CONFIG_MAX = 1 << 16 };

/* It stands between quotes in commands that people paste. */
static struct err *check_mirror(struct str url, const char *origin)
{
	static const char *const schemes[] = {"https://", "http://", "file:///", NULL};
	const struct str special = S("\"'\\`$<>|&;()");
	bool plain = url.n < ADDRESS_MAX && str_starts_one_of(url, schemes);
	for (size_t i = 0; i < url.n; i++)
		plain = plain && url.p[i] > ' ' && url.p[i] < 0x7f &&
			str_chr(special, url.p[i]) == special.n;
	return plain ? NULL
		     : err_hint(err_new(E_USAGE, "%s is not the address of an index", origin),
			       "it is one http://, https:// or file:// URL without blanks, quotes "
			       "and other characters of a shell");
}

/* The mirror that the user has for the vendor's index; "" if none. */
static struct err *mirror_of(
	struct arena *a, const struct address *x, struct str option, struct str *ret)
{
	static const char *const top[] = {"indexes", NULL}, *const vendors[] = {
								    "amd", "torch", NULL};
	const char *variable = getenv(x->variable), *origin = "the value of --index-url";
	struct str path = fs_place(a, FS_CONFIG, S("config.yaml")), text = {0};
	const struct node *config;
	*ret = option;
	if (!ret->n) {
		*ret = str_from(variable);
		origin = x->variable;
	}
	if (!ret->n && fs_exists(path)) {
		TRY(fs_place_check(FS_CONFIG));
		TRY(fs_read_opt(a, path, CONFIG_MAX, &text));
		TRY(yaml_parse(a, text, path, &config));
		TRY(node_check_keys(config, top));
		const struct node *indexes = node_get(config, S("indexes"));
		if (indexes)
			TRY(node_check_keys(indexes, vendors));
		TRY(node_want_text(indexes, str_from(x->vendor), ret));
		origin = str_fmt(a, "'%s' in '%.*s'", x->vendor, STR(path)).p;
	}
	return ret->n ? check_mirror(*ret, origin) : NULL;
}

static struct str address_with(
	struct arena *a, const struct address *x, struct str mirror, struct str folder)
{
	struct str url = mirror.n ? mirror : str_from(x->url);
	if (!x->folder && !str_contains(url, S(FOLDER)))
		url = str_fmt(a, "%.*s%s" FOLDER, STR(url), str_ends(url, S("/")) ? "" : "/");
	return str_replace(a, url, S(FOLDER), x->folder ? str_from(x->folder) : folder);
}

struct err *address_of(
	struct arena *a, const char *name, struct str folder, struct str option, struct str *ret)
{
	TABLE_EACH (address, x) {
		if (strcmp(x->name, name) != 0)
			continue;
		TRY(mirror_of(a, x, option, ret));
		*ret = address_with(a, x, *ret, folder);
		return NULL;
	}
	return err_new(E_INTERNAL, "no address is named '%s'", name);
}

const char *address_variable(struct str text)
{
	TABLE_EACH (address, x) {
		struct str url = str_from(x->url);
		struct str host = str_sub(url, str_find(url, S("://")) + 3, url.n);
		if (str_contains(text, str_sub(host, 0, str_chr(host, '/'))))
			return x->variable;
	}
	return NULL;
}

const char *address_for_rocm(struct str version)
{
	uint64_t major = 0;
	size_t dot = str_chr(version, '.');
	bool rc = str_contains(version, S("rc"));
	(void)str_u64(str_sub(version, 0, dot), 10, &major);
	if (rc || str_chr(version, 'a') < version.n || str_contains(version, S("dev")))
		return rc ? "amd-rc" : "amd-nightly";
	return major >= 10 ? "amd-stable" : "amd-multi-arch";
}

struct str address_shown(struct arena *a, struct str url)
{
	size_t begin = str_find(url, S("://")) + 3;
	struct str host = str_sub(url, begin, url.n);
	host = str_sub(host, 0, str_chr(host, '/'));
	size_t at = str_rchr(host, '@');
	if (begin >= url.n || at >= host.n)
		return url;
	return str_fmt(a, "%.*s%.*s", STR(str_sub(url, 0, begin)),
		STR(str_sub(url, begin + at + 1, url.n)));
}

struct str address_in_text(struct arena *a, struct str text)
{
	TABLE_EACH (address, x) {
		struct str rest = text, mirror, url = str_from(x->url);
		struct str begin = str_sub(url, 0, str_find(url, S(FOLDER)));
		CLEANUP(err_freep) struct err *refused = mirror_of(a, x, S(""), &mirror);
		if (refused || !mirror.n || !str_contains(text, begin))
			continue;
		BUF(b, a);
		for (size_t at; (at = str_find(rest, begin)) < rest.n;) {
			size_t end = at + begin.n, n = 0;
			if (!x->folder && end < rest.n && rest.p[end] == '{') /* a fact */
				n = str_chr(str_sub(rest, end, rest.n - 1), '}') + 1;
			while (end + n < rest.n && !x->folder &&
				(ascii_alnum(rest.p[end + n]) || rest.p[end + n] == '.'))
				n++;
			buf_add(&b, str_sub(rest, 0, at));
			struct str here = address_with(a, x, mirror, str_sub(rest, end, end + n));
			buf_add(&b, address_shown(a, here));
			rest = str_sub(rest, end + n, rest.n);
		}
		buf_add(&b, rest);
		text = str_dup(a, buf_str(&b));
	}
	return text;
}
