/* One download after another try; see http.h. A try is one libcurl transfer into PATH.part, whose
 * headers decide whether it continues what is there or starts anew. */
#include "base/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fs_int.h"
#include "base/pool.h"
#include "base/proc.h"
#include "base/progress.h"

enum { TAG_LIMIT = 4096, RETRY_AFTER_MAX = 60, CONNECT_SECONDS = 20, STALL_SECONDS = 60 };

/* What one try knows. */
struct attempt {
	const struct download *d;
	struct arena *a;
	struct str part, tag_path;
	int fd;
	uint64_t from;       /* bytes of the part that this try wants to keep */
	uint64_t at;         /* write position */
	uint64_t *counted;   /* bytes that went to the progress, over all tries */
	struct str tag;      /* of the part: what to send as If-Range */
	struct str new_tag;  /* ETag of the answer, or its date */
	struct str range;    /* Content-Range of the answer */
	bool etag, answered; /* new_tag is an ETag; the first body byte came */
	struct err *first;   /* an error of ours inside a callback */
	curl_off_t seen;     /* bytes that had come at the time last */
	double last;
	bool stalled;
	char text[CURL_ERROR_SIZE];
};

/* How a try ended. */
enum outcome { DONE, RETRY, RETRY_FEW, FAILED };

/* ---- URLs ---- */

struct str url_redact(struct arena *a, struct str url)
{
	size_t scheme = str_find(url, S("://"));
	if (scheme == url.n)
		return str_dup(a, url);
	struct str rest = str_sub(url, scheme + 3, url.n);
	size_t end = 0;
	while (end < rest.n && !str_contains(S("/?#"), str_sub(rest, end, end + 1)))
		end++;
	size_t user = str_rchr(str_sub(rest, 0, end), '@');
	if (user == end)
		return str_dup(a, url);
	return str_fmt(a, "%.*s://%.*s", (int)scheme, url.p, STR(str_sub(rest, user + 1, rest.n)));
}

/* ---- curl's handles, which keep their connections for the next download ---- */

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void curl_start(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

struct session {
	pthread_mutex_t lock;
	CURL *idle[64];
	size_t n;
};

static CURL *take_handle(struct session *s)
{
	CURL *c = NULL;
	pthread_once(&curl_once, curl_start);
	pthread_mutex_lock(&s->lock);
	if (s->n)
		c = s->idle[--s->n];
	pthread_mutex_unlock(&s->lock);
	return c ? c : curl_easy_init();
}

static void give_handle(struct session *s, CURL *c)
{
	curl_easy_reset(c);
	pthread_mutex_lock(&s->lock);
	if (s->n < sizeof(s->idle) / sizeof(*s->idle)) {
		s->idle[s->n++] = c;
		c = NULL;
	}
	pthread_mutex_unlock(&s->lock);
	curl_easy_cleanup(c);
}

static void end_session(struct session *s)
{
	while (s->n)
		curl_easy_cleanup(s->idle[--s->n]);
	pthread_mutex_destroy(&s->lock);
}

/* ---- callbacks ---- */

static bool header_is(struct str line, struct str name, struct str *ret_value)
{
	struct str key, val;
	ARENA(tmp);
	if (!str_cut(line, ':', &key, &val) || !str_eq(str_lower(&tmp, key), name))
		return false;
	*ret_value = str_trim(val);
	return true;
}

/* A weak ETag (W/"x") cannot vouch for bytes; RFC 9110, 8.8.1. */
static size_t on_header(char *p, size_t size, size_t n, void *user)
{
	struct attempt *t = user;
	struct str line = {.p = p, .n = size * n}, val;
	if (str_starts(line, S("HTTP/"))) { /* a redirect was answered, or 100 Continue */
		t->new_tag = t->range = S("");
		t->etag = false;
	}
	if (header_is(line, S("content-range"), &val))
		t->range = str_dup(t->a, val);
	if (header_is(line, S("etag"), &val) && !str_starts(val, S("W/")) && val.n < TAG_LIMIT) {
		t->new_tag = str_dup(t->a, val);
		t->etag = true;
	}
	if (!t->etag && header_is(line, S("last-modified"), &val) && val.n < TAG_LIMIT)
		t->new_tag = str_dup(t->a, val);
	return size * n;
}

/* Before the first byte: keep what is there (206), or start anew. */
static struct err *on_answer(struct attempt *t, long status)
{
	t->answered = true;
	t->at = status == 206 ? t->from : 0;
	struct str start = str_fmt(t->a, "bytes %llu-", (unsigned long long)t->from);
	if (status == 206 && !str_starts(t->range, start))
		return err_new(
			E_NET, "asked for %.*s the server sends '%.*s'", STR(start), STR(t->range));
	if (ftruncate(t->fd, (off_t)t->at) < 0)
		return err_errno("cannot write '%.*s'", STR(t->part));
	if (t->at)
		return NULL;
	if (t->new_tag.n)
		return fs_write(t->tag_path, t->new_tag, 0644);
	return fs_remove(t->tag_path);
}

static struct err *write_body(struct attempt *t, const char *p, size_t n)
{
	if (t->d->size && t->at + n > t->d->size)
		return err_new(E_NET, "the server sends more than the expected %llu bytes",
			(unsigned long long)t->d->size);
	while (n) {
		ssize_t put = pwrite(t->fd, p, n, (off_t)t->at);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return err_errno("cannot write '%.*s'", STR(t->part));
		p += put;
		n -= (size_t)put;
		t->at += (uint64_t)put;
	}
	if (t->at > *t->counted) {
		progress_add(t->d->progress, t->at - *t->counted, S(""));
		*t->counted = t->at;
	}
	return NULL;
}

struct body { /* for CURLOPT_WRITEDATA */
	struct attempt *t;
	CURL *curl;
};

static size_t on_body(char *p, size_t size, size_t n, void *user)
{
	struct body *b = user;
	struct attempt *t = b->t;
	long status = 0;
	curl_easy_getinfo(b->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 300) /* the text of an error page */
		return size * n;
	if (!t->answered)
		t->first = on_answer(t, status);
	if (!t->first)
		t->first = write_body(t, p, size * n);
	return t->first ? CURL_WRITEFUNC_ERROR : size * n;
}

/* About once a second. libcurl's own limit of speed looks at an average, which reacts late. */
static int on_tick(void *user, curl_off_t total, curl_off_t now, curl_off_t up, curl_off_t sent)
{
	struct attempt *t = user;
	(void)total, (void)up, (void)sent;
	if (now != t->seen) {
		t->seen = now;
		t->last = mono_now();
	}
	t->stalled = mono_now() - t->last > (t->d->stall ? t->d->stall : STALL_SECONDS);
	return t->stalled || cancelled();
}

/* ---- one try ---- */

/* How much of the part can be continued, and with which tag. */
static struct err *look_at_part(struct attempt *t)
{
	struct stat st;
	t->from = 0;
	TRY(fs_read_opt(t->a, t->tag_path, TAG_LIMIT, &t->tag));
	if (fstat(t->fd, &st) < 0)
		return err_errno("cannot look at '%.*s'", STR(t->part));
	if ((t->tag.n || t->d->sha256.n) && str_starts(t->d->url, S("http")))
		t->from = (uint64_t)st.st_size;
	if (t->d->size && t->from >= t->d->size)
		t->from = 0;
	return NULL;
}

static struct curl_slist *set_up(CURL *c, struct attempt *t, struct body *body)
{
	const struct download *d = t->d;
	struct curl_slist *headers = NULL;
	bool plain = str_starts(d->url, S("http:")) || d->sha256.n;
	curl_easy_setopt(c, CURLOPT_URL, str_z(t->a, d->url));
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https,file");
	curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, plain ? "http,https" : "https");
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(c, CURLOPT_MAXREDIRS, 10L);
	curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "rocsmith/" ROCSMITH_VERSION);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t->text);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, body);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_tick);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA, t);
	/* Not CURLOPT_RESUME_FROM, which takes a 200 for an error. */
	if (t->from)
		curl_easy_setopt(
			c, CURLOPT_RANGE, str_fmt(t->a, "%llu-", (unsigned long long)t->from).p);
	if (t->from && t->tag.n)
		headers = curl_slist_append(NULL, str_fmt(t->a, "If-Range: %.*s", STR(t->tag)).p);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	return headers;
}

static enum outcome judge_status(long status)
{
	switch (status) {
	case 408:
	case 416: /* the part is as long as the file or longer: it is dropped */
	case 425:
	case 429:
	case 500:
	case 502:
	case 503:
	case 504:
		return RETRY;
	default:
		return status >= 300 ? FAILED : DONE;
	}
}

static enum outcome judge_code(CURLcode code)
{
	switch (code) {
	case CURLE_OK:
		return DONE;
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
		return RETRY_FEW;
	case CURLE_PARTIAL_FILE:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
	case CURLE_SSL_CONNECT_ERROR:
		return RETRY;
	default:
		return FAILED;
	}
}

static struct err *status_error(long status)
{
	struct err *e = err_new(E_NET, "the server answers with status %ld", status);
	if (status == 401 || status == 403)
		err_hint(e, "credentials for the host can be put in ~/.netrc");
	if (status == 407)
		err_hint(e,
			"the proxy wants credentials: https_proxy=http://USER:PASSWORD@HOST:PORT");
	return e;
}

static struct err *drop_part(struct attempt *t)
{
	TRY(fs_remove(t->part));
	return fs_remove(t->tag_path);
}

/* Why the try ended as it did, in words; *ret tells what to do about it. */
static struct err *verdict(struct attempt *t, CURL *c, CURLcode code, enum outcome *ret)
{
	long status = 0;
	curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
	*ret = FAILED;
	if (t->first)
		return t->first;
	if (cancelled())
		return cancel_check();
	if (code == CURLE_OK && status == 416) /* see judge_status() */
		TRY(drop_part(t));
	if (code == CURLE_OK) {
		*ret = judge_status(status);
		return *ret == DONE ? NULL : status_error(status);
	}
	*ret = t->stalled ? RETRY : judge_code(code);
	if (t->stalled)
		return err_new(E_NET, "nothing came for too long");
	return err_new(E_NET, "%s", t->text[0] ? t->text : curl_easy_strerror(code));
}

static struct err *verify_hash(struct attempt *t, enum outcome *ret)
{
	struct digest got;
	*ret = FAILED;
	TRY(hash_file(HASH_SHA256, t->part, &got));
	if (digest_eq(&got, &t->d->sha256))
		return NULL;
	TRY(drop_part(t));
	/* Perhaps only what an earlier try left was wrong. */
	if (t->from)
		*ret = RETRY;
	struct err *e = err_new(E_HASH, "SHA-256 is %.*s", STR(digest_hex(t->a, &got)));
	return err_wrap(e, "expected SHA-256 %.*s", STR(digest_hex(t->a, &t->d->sha256)));
}

static struct err *verify(struct attempt *t, enum outcome *ret)
{
	if (!t->answered) /* an empty body */
		TRY(on_answer(t, 0));
	if (t->d->size && t->at != t->d->size) {
		*ret = RETRY;
		return err_new(E_NET, "%llu of %llu bytes came", (unsigned long long)t->at,
			(unsigned long long)t->d->size);
	}
	return t->d->sha256.n ? verify_hash(t, ret) : NULL;
}

static struct err *transfer(struct attempt *t, CURL *c, enum outcome *ret, long *ret_wait)
{
	struct body body = {.t = t, .curl = c};
	curl_off_t wait = 0;
	TRY(look_at_part(t));
	t->at = t->from;
	t->last = mono_now();
	struct curl_slist *headers = set_up(c, t, &body);
	CURLcode code = curl_easy_perform(c);
	curl_slist_free_all(headers);
	curl_easy_getinfo(c, CURLINFO_RETRY_AFTER, &wait);
	*ret_wait = wait > RETRY_AFTER_MAX ? RETRY_AFTER_MAX : (long)wait;
	struct err *e = verdict(t, c, code, ret);
	if (e && e->code == E_NOSPACE)
		e = err_join(e, drop_part(t));
	if (!e && fsync(t->fd) < 0)
		e = err_errno("cannot sync '%.*s'", STR(t->part));
	return e ? e : verify(t, ret);
}

/* What stays the same over the tries. */
struct work {
	const struct download *d;
	CURL *curl;
	uint64_t counted;
};

static struct err *one_try(struct arena *a, struct work *w, enum outcome *ret, long *ret_wait)
{
	const struct download *d = w->d;
	struct attempt t = {.d = d, .a = a, .counted = &w->counted};
	t.part = str_fmt(a, "%.*s.part", STR(d->path));
	t.tag_path = str_fmt(a, "%.*s.part.tag", STR(d->path));
	*ret = FAILED;
	CLEANUP(fd_closep) int fd = open(t.part.p, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_errno("cannot create '%.*s'", STR(t.part));
	t.fd = fd;
	TRY(transfer(&t, w->curl, ret, ret_wait));
	TRY(fs_rename(t.part, d->path));
	return fs_remove(t.tag_path);
}

/* ---- retries ---- */

static struct err *pause_for(unsigned milliseconds)
{
	for (unsigned ms = 0; ms < milliseconds; ms += 50) {
		struct timespec t = {.tv_nsec = 50 * 1000000};
		nanosleep(&t, NULL);
		TRY(cancel_check());
	}
	return NULL;
}

static bool again(enum outcome outcome, unsigned n, unsigned max)
{
	if (outcome == RETRY_FEW && max > 2)
		max = 2;
	return (outcome == RETRY || outcome == RETRY_FEW) && n < max;
}

static struct err *tries(struct work *w)
{
	const struct download *d = w->d;
	unsigned max = d->tries ? d->tries : 5, backoff = d->backoff ? d->backoff : 500;
	for (unsigned n = 1;; n++, backoff *= 2) {
		ARENA(tmp);
		enum outcome outcome;
		long wait = 0;
		struct err *e = one_try(&tmp, w, &outcome, &wait);
		if (!e || !again(outcome, n, max))
			return e;
		err_free(e);
		TRY(pause_for(wait ? (unsigned)wait * 1000 : backoff));
		curl_easy_reset(w->curl);
	}
}

static bool have_already(const struct download *d)
{
	struct digest got;
	if (!d->sha256.n || !fs_exists(d->path))
		return false;
	CLEANUP(err_freep) struct err *e = hash_file(HASH_SHA256, d->path, &got);
	return !e && digest_eq(&got, &d->sha256);
}

static struct err *download(struct session *s, const struct download *d)
{
	ARENA(tmp);
	if (have_already(d)) {
		progress_add(d->progress, d->size, S(""));
		return NULL;
	}
	TRY(cancel_check());
	TRY(fs_may_write(d->path));
	TRY(fs_mkdirs(path_dir(d->path)));
	CURL *c = take_handle(s);
	if (!c)
		return err_new(E_INTERNAL, "libcurl cannot be started");
	struct work w = {.d = d, .curl = c};
	struct err *e = tries(&w);
	give_handle(s, c);
	if (e)
		return err_wrap(e, "cannot download '%.*s'", STR(url_redact(&tmp, d->url)));
	return NULL;
}

struct err *http_download(const struct download *d)
{
	return http_download_all(d, 1, 1);
}

struct item {
	struct session *s;
	const struct download *d;
};

static struct err *download_item(struct arena *tmp, void *user)
{
	struct item *i = user;
	(void)tmp;
	return download(i->s, i->d);
}

struct err *http_download_all(const struct download *v, size_t count, unsigned n)
{
	ARENA(tmp);
	CLEANUP(end_session) struct session s = {.lock = PTHREAD_MUTEX_INITIALIZER};
	if (count == 1)
		return download(&s, v);
	struct item *items = arena_array(&tmp, count, sizeof(*items));
	for (size_t i = 0; i < count; i++)
		items[i] = (struct item){.s = &s, .d = &v[i]};
	return pool_each(n, items, count, sizeof(*items), download_item);
}
