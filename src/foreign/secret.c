/* Tells secrets among the variables of the environment, by their names and by their values; see foreign_int.h. A list of
 * allowed names instead would hide the variables by which projects are configured, so this one distrusts by the parts of
 * a name: a build that needs such a variable gets it from its description. */
#include <string.h>

#include "base/glob.h"
#include "foreign/foreign_int.h"

static bool is_secret_name(struct arena *a, struct str name)
{
	const struct build_secrets *of = build_secrets_table();
	struct str lower = str_lower(a, name);
	size_t from = 0;
	if (glob_match_any(of->good_names, lower))
		return false;
	for (size_t i = 0; i <= name.n; i++) {
		bool word = i < name.n && ascii_alnum(name.p[i]);
		bool hump = word && i > from && name.p[i] <= 'Z' && name.p[i - 1] >= 'a';
		if (word && !hump)
			continue;
		struct str part = str_sub(lower, from, i);
		bool secret = str_ends_one_of(part, of->ends) || str_is_one_of(part, of->parts) ||
			      str_contains_one_of(part, of->within);
		if (secret && !str_is_one_of(part, of->good_parts))
			return true;
		from = hump ? i : i + 1;
	}
	return glob_match_any(of->names, lower);
}

/* ---- values ---- */

static bool in_token(char c)
{
	return ascii_word(c) || c == '-';
}

static bool has_token(struct str value)
{
	const struct build_secrets *of = build_secrets_table();
	enum {
		LEAST = 12,
		LEAST_IN_PATH = 20
	}; /* characters that follow: "/opt/hf_transformers" is none */
	for (size_t i = 0; i < value.n; i++) {
		struct str rest = str_sub(value, i, value.n);
		if (i && in_token(value.p[i - 1]))
			continue;
		for (size_t k = 0; of->tokens[k]; k++) {
			size_t n = strlen(of->tokens[k]), end = n;
			if (!str_starts(rest, str_from(of->tokens[k])))
				continue;
			bool plain = rest.p[n - 1] == '_';
			while (end < rest.n &&
				(plain ? ascii_alnum(rest.p[end]) : in_token(rest.p[end])))
				end++;
			if (end - n >= (i && value.p[i - 1] == '/' ? LEAST_IN_PATH : LEAST))
				return true;
		}
	}
	return false;
}

/* Is there "user:password@" or "token@" behind a "://"? Passwords may have any character in them. The name alone is no
 * secret for ssh, and a colon before digits and a slash is that of a port. */
static bool has_login(struct str value)
{
	for (size_t at; (at = str_find(value, S("://"))) < value.n;) {
		bool ssh = at >= 3 && str_ends(str_sub(value, 0, at), S("ssh"));
		value = str_sub(value, at + 3, value.n);
		struct str url = value;
		for (size_t i = 0; i < url.n; i++)
			if ((unsigned char)url.p[i] <= ' ' || url.p[i] == '"' || url.p[i] == '\'')
				url.n = i;
		size_t host = str_until(url, "/?#"), colon = str_chr(url, ':');
		size_t end = colon + 1 + str_span(str_sub(url, colon + 1, url.n), ASCII_DIGITS);
		struct str login = str_sub(url, 0, str_rchr(str_sub(url, 0, host), '@'));
		bool port = colon < host && end == host;
		if (login.n && login.n < host &&
			(!(ssh || str_eq(login, S("git"))) || str_chr(login, ':') < login.n))
			return true;
		if (colon < url.n && colon < host && !port && str_chr(url, '@') < url.n)
			return true;
	}
	return false;
}

bool foreign_is_secret(struct str name, struct str value)
{
	const struct build_secrets *of = build_secrets_table();
	ARENA(tmp);
	struct str lower = str_lower(&tmp, value);
	return str_contains_one_of(lower, of->marks) || is_secret_name(&tmp, name) ||
	       has_login(value) || has_token(value);
}
