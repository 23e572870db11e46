/* Downloads, by libcurl: http, https and file URLs.
 *
 * A download goes to PATH.part, is resumed from there (Range, checked against ETag/size), verified
 * against its hash and renamed. Temporary failures (connection lost, 429, 5xx) are retried with
 * exponential backoff. Proxies come from the environment, credentials from netrc; a password in a
 * URL never appears in a message.
 */
#pragma once

#include "base/hash.h"

struct download {
	struct str url, path;
	uint64_t size;             /* expected, 0 = unknown */
	struct digest sha256;      /* expected; n = 0: not checked */
	unsigned tries;            /* 0 = 5 */
	struct progress *progress; /* gets the bytes, or NULL; see progress.h */
};

/* E_NET, E_HASH, E_NOSPACE, E_CANCELLED; a file that is there with the right hash is not fetched.
 */
MUST_USE struct err *http_download(const struct download *d);
/* Several at once over at most n connections; the first error ends all. */
MUST_USE struct err *http_download_all(const struct download *v, size_t count, unsigned n);
struct str url_redact(struct arena *a, struct str url); /* without user and password */
