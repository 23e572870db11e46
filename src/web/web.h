/* Files on web servers and in buckets of S3's interface, by curl, which signs requests to buckets
 * (doc/decisions/008-publishing.md). Its configuration, with the secrets, goes through its standard input: no argument and no
 * message has any. The user's own settings for curl (~/.curlrc) do not count, since they may print or redirect anything.
 *
 * For s3://BUCKET/PREFIX, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL have the
 * meaning that AWS's own tools give them. For other servers ~/.netrc counts, or variables that the caller names.
 */
#pragma once

#include "base/err.h"

enum { WEB_TEXT = 16 << 20 }; /* bytes: limit of an answer, headers included */

struct web {
	struct str base;      /* https://HOST/BUCKET/PREFIX, without a slash at the end */
	struct str bucket;    /* https://HOST/BUCKET, for s3:// */
	struct str prefix;    /* PREFIX, without slashes around it */
	uint64_t most;        /* bytes that are read of an answer; 0 = WEB_TEXT */
	struct strs settings; /* lines of curl's configuration, which may hold secrets */
	struct strs secrets;
};

struct web_answer {
	uint64_t status; /* a code of HTTP */
	bool there;      /* it is one of 200 to 299 */
	struct str text;
};

/* The variables of the environment that have a name and a password; NULL = ~/.netrc alone. */
struct web_login {
	const char *user, *password;
};

/* Is it an address that web_open() takes? */
bool web_is_address(struct str place);
/* Reads the address and what the environment has for it. E_USAGE for an address with a password in it, or one that would
 * send secrets unencrypted to another machine. */
MUST_USE struct err *web_open(
	struct arena *a, struct str to, const struct web_login *login, struct web *ret);
struct str web_url(struct arena *a, const struct web *w, struct str key); /* BASE/KEY */
/* A text as a part of an address: all but RFC 3986's unreserved characters and '/' is written as %XX; '+', too, which some
 * servers take for a blank (TheRock#777). */
struct str web_escaped(struct arena *a, struct str s);
/* Adds a line to curl's configuration. */
void web_set(struct arena *a, struct strs *to, const char *name, struct str value);
/* A text in quotes, as curl reads it. */
struct str web_quoted(struct arena *a, struct str s);
/* Adds the hash of the body of a request, which S3 compares with what arrives. Each request to a bucket has to name one: where
 * `more` names none, web_ask() takes that of an empty body. */
void web_hash(struct arena *a, struct strs *more, struct str sha256);
/* Asks for an address, with `more` lines of configuration. E_NET if there is no answer; any status is one. E_LIMIT for an
 * answer without end, whatever it says of its length. */
MUST_USE struct err *web_ask(struct arena *a, const struct web *w, struct str url,
	const struct strs *more, struct web_answer *ret);
/* Is it 404, or 403? A bucket that may not be listed says so of what it lacks. */
bool web_is_absent(const struct web_answer *r);
/* The error for an answer that is none of those that were expected. */
struct err *web_refused(
	struct arena *a, const struct web *w, const struct web_answer *r, struct str url);
