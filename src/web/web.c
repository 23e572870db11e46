/* Asks web servers and buckets by curl; see web.h. */
#include "web/web.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "base/vec.h"

struct str web_quoted(struct arena *a, struct str s)
{
	BUF(b, a);
	buf_char(&b, '"');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '"' || s.p[i] == '\\')
			buf_char(&b, '\\');
		buf_char(&b, s.p[i]);
	}
	buf_char(&b, '"');
	return buf_str(&b);
}

struct str web_escaped(struct arena *a, struct str s)
{
	BUF(b, a);
	for (size_t i = 0; i < s.n; i++)
		if (ascii_alnum(s.p[i]) || (s.p[i] && strchr("-._~/", s.p[i])))
			buf_char(&b, s.p[i]);
		else
			buf_fmt(&b, "%%%02X", (unsigned char)s.p[i]);
	return buf_str(&b);
}

void web_set(struct arena *a, struct strs *to, const char *name, struct str value)
{
	strs_fmt(a, to, "%s = %.*s", name, STR(web_quoted(a, value)));
}

#define BODY_HASH "header = \"x-amz-content-sha256: "

void web_hash(struct arena *a, struct strs *more, struct str sha256)
{
	strs_fmt(a, more, BODY_HASH "%.*s\"", STR(sha256));
}

/* The value of the first of two variables of the environment that is set, or the fallback. */
static struct str variable(const char *name, const char *other, struct str fallback)
{
	const char *value = getenv(name);
	value = value && *value ? value : getenv(other);
	return value && *value ? str_from(value) : fallback;
}

/* ---- addresses ---- */

static struct err *open_bucket(struct arena *a, struct str to, struct web *ret)
{
	struct str bucket, prefix,
		endpoint = variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", S(""));
	struct str region = variable("AWS_REGION", "AWS_DEFAULT_REGION", S("us-east-1"));
	struct str key = variable("AWS_ACCESS_KEY_ID", "", S("")),
		   secret = variable("AWS_SECRET_ACCESS_KEY", "", S("")),
		   token = variable("AWS_SESSION_TOKEN", "", S(""));
	(void)str_cut(str_sub(to, S("s3://").n, to.n), '/', &bucket, &prefix);
	while (str_ends(prefix, S("/")))
		prefix.n--;
	bool plain = !prefix.n || (str_made_of(prefix, "-._/") && path_is_inside(prefix));
	if (!str_made_of(bucket, "-.") || !plain)
		return err_new(E_USAGE, "'%.*s' is no place such as s3://BUCKET/PREFIX", STR(to));
	if (!key.n || !secret.n)
		return err_hint(err_new(E_USAGE, "the environment has no key for '%.*s'", STR(to)),
			"set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
	STRS_ADD(a, &ret->secrets, secret, token);
	while (str_ends(endpoint, S("/")))
		endpoint.n--;
	if (!endpoint.n)
		endpoint = str_fmt(a, "https://s3.%.*s.amazonaws.com", STR(region));
	ret->bucket = str_fmt(a, "%.*s/%.*s", STR(endpoint), STR(bucket));
	ret->prefix = prefix;
	ret->base = path_join(a, ret->bucket, prefix);
	web_set(a, &ret->settings, "aws-sigv4", str_fmt(a, "aws:amz:%.*s:s3", STR(region)));
	web_set(a, &ret->settings, "user", str_fmt(a, "%.*s:%.*s", STR(key), STR(secret)));
	if (token.n)
		web_set(a, &ret->settings, "header",
			str_fmt(a, "x-amz-security-token: %.*s", STR(token)));
	return str_is_plain(key, " ") && str_is_plain(secret, " ") && str_is_plain(token, " ")
		       ? NULL
		       : err_new(E_USAGE,
				 "a key for '%.*s' in the environment has a blank or a line break",
				 STR(to));
}

static void open_server(
	struct arena *a, struct str to, const struct web_login *login, struct web *ret)
{
	struct str user = login ? variable(login->user, "", S("")) : S(""),
		   password = login ? variable(login->password, "", S("")) : S("");
	ret->base = to;
	strs_add(a, &ret->secrets, password);
	if (user.n && str_is_plain(user, " ") && str_is_plain(password, " "))
		web_set(a, &ret->settings, "user",
			str_fmt(a, "%.*s:%.*s", STR(user), STR(password)));
	else
		strs_add(a, &ret->settings, S("netrc-optional"));
}

bool web_is_address(struct str place)
{
	static const char *const schemes[] = {"s3://", "https://", "http://", NULL};
	return str_starts_one_of(place, schemes);
}

struct err *web_open(struct arena *a, struct str to, const struct web_login *login, struct web *ret)
{
	static const char *const here[] = {"localhost", "127.0.0.1", "[::1]", NULL};
	*ret = (struct web){0};
	if (str_starts(to, S("s3://")))
		TRY(open_bucket(a, to, ret));
	else
		open_server(a, to, login, ret);
	while (str_ends(ret->base, S("/")))
		ret->base.n--;
	struct str host = str_sub(ret->base, str_find(ret->base, S("://")) + 3, ret->base.n);
	host = str_sub(host, 0, str_chr(host, '/'));
	if (str_chr(host, '@') < host.n)
		return err_hint(err_new(E_USAGE, "the address has a name or a password in it"),
			"put them into ~/.netrc%s%s%s%s", login ? ", or " : "",
			login ? login->user : "", login ? " and " : "",
			login ? login->password : "");
	if (!str_is_plain(ret->base, " ") || !host.n || str_until(ret->base, "?#") < ret->base.n)
		return err_new(E_USAGE, "'%.*s' is no address", STR(to));
	size_t port = str_rchr(host, ':');
	bool local = str_is_one_of(host, here) || str_is_one_of(str_sub(host, 0, port), here);
	if (str_starts(ret->base, S("https://")) || (str_starts(ret->base, S("http://")) && local))
		return NULL;
	return err_new(E_USAGE, "'%.*s' would send keys unencrypted", STR(ret->base));
}

/* ---- curl ---- */

/* curl may quote a line of its configuration, and S3 the headers of a request. */
static struct str without_secrets(struct arena *a, const struct web *r, struct str text)
{
	VEC_EACH (const struct str, secret, &r->secrets)
		text = secret->n ? str_replace(a, text, *secret, S("***")) : text;
	return text;
}

struct err *web_ask(struct arena *a, const struct web *r, struct str url, const struct strs *more,
	struct web_answer *ret)
{
	const uint64_t most = r->most ? r->most : WEB_TEXT;
	struct proc p = {.limit = most, .most = most};
	struct proc_result result;
	struct strs lines = {0};
	strs_add(a, &lines, S("write-out = \"\\n%{http_code}\""));
	strs_add(a, &lines,
		S("silent\nshow-error\nconnect-timeout = 30\nspeed-time = 60\n"
		  "speed-limit = 1\nretry = 3"));
	strs_add_all(a, &lines, &r->settings);
	strs_add_all(a, &lines, more);
	bool hashed = !r->bucket.n;
	for (size_t i = 0; i < more->n; i++)
		hashed = hashed || str_starts(more->v[i], S(BODY_HASH));
	if (!hashed)
		web_hash(a, &lines, sha256_hex(a, S("")));
	web_set(a, &lines, "url", url);
	p.input = str_join(a, &lines, S("\n"));
	proc_arg(a, &p, "curl", "-q", "--config", "-", NULL);
	struct err *e = proc_run(a, &p, &result);
	if (e && e->code == E_TOOL_MISSING)
		e = err_hint(e, "install the package 'curl'");
	TRY(e);
	struct str out = result.out;
	size_t at = str_rchr(out, '\n');
	bool told = at < out.n && str_u64(str_sub(out, at + 1, out.n), 10, &ret->status);
	ret->there = told && ret->status >= 200 && ret->status < 300;
	ret->text = str_sub(out, 0, at);
	if (!result.status && told)
		return NULL;
	return err_detail(err_new(E_NET, "curl cannot reach '%.*s'", STR(url)),
		without_secrets(a, r, result.err));
}

struct err *web_refused(
	struct arena *a, const struct web *w, const struct web_answer *r, struct str url)
{
	enum { SHOWN = 2000 };
	struct err *e = err_new(E_NET, "the server answers %llu for '%.*s'",
		(unsigned long long)r->status, STR(url));
	struct str text = without_secrets(a, w, r->text);
	err_detail(e, str_sub(text, 0, utf8_fit(text, SHOWN, SHOWN)));
	return w->bucket.n && r->status == 403
		       ? err_hint(e, "do AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION "
				     "belong to the bucket, and may this key write there?")
		       : e;
}

struct str web_url(struct arena *a, const struct web *w, struct str key)
{
	return str_fmt(a, "%.*s/%.*s", STR(w->base), STR(key));
}

bool web_is_absent(const struct web_answer *r)
{
	return r->status == 404 || r->status == 403;
}
