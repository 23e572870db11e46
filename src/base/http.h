/* Downloads, by libcurl: http, https and file URLs.
 *
 * A download goes to PATH.part, is resumed from there (Range with If-Range; PATH.part.tag keeps the
 * server's ETag or date, without one only data with a known hash is resumed), verified against its
 * hash and renamed. Temporary failures (connection lost, 408, 429, 5xx) are retried with
 * exponential backoff, or after the time that the server asks for. Proxies come from the
 * environment, credentials from ~/.netrc; a password in a URL never appears in a message. An https
 * URL is not redirected to http unless the hash is known.
 */
#pragma once

#include "base/hash.h"

struct download {
	struct str url, path;
	uint64_t size;             /* expected, 0 = unknown; more is an error at once */
	struct digest sha256;      /* expected; n = 0: not checked */
	unsigned tries;            /* 0 = 5 */
	unsigned backoff;          /* milliseconds before the second try, then doubled; 0 = 500 */
	unsigned stall;            /* seconds without a byte until a try fails; 0 = 60 */
	struct progress *progress; /* gets the bytes, or NULL; see progress.h */
};

/* E_NET, E_HASH, E_NOSPACE, E_CANCELLED; a file that is there with the right hash is not fetched.
 * Without a hash it is fetched again. */
MUST_USE struct err *http_download(const struct download *d);
/* Several at once over at most n connections; the first error ends all. */
MUST_USE struct err *http_download_all(const struct download *v, size_t count, unsigned n);
struct str url_redact(struct arena *a, struct str url); /* without user and password */
