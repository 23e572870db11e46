/* Sends files to object stores and index servers by curl, which signs requests for S3 (doc/decisions/008-publishing.md). Its
 * configuration, with the secrets, goes through its standard input: no argument and no message has any. */
#include <stdlib.h>

#include "base/fs.h"
#include "base/proc.h"
#include "release/release.h"

/* A value of curl's configuration file, curl(1). Control characters were refused before. */
static struct str quoted(struct arena *a, struct str s)
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

static void set_value(struct arena *a, struct strs *to, const char *name, struct str value)
{
	strs_add(a, to, str_fmt(a, "%s = %.*s", name, STR(quoted(a, value))));
}

/* The value of the first of two variables of the environment that is set, or the fallback. */
static struct str variable(const char *name, const char *other, struct str fallback)
{
	const char *value = getenv(name);
	value = value && *value ? value : getenv(other);
	return value && *value ? str_from(value) : fallback;
}

static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f)
			return false;
	return true;
}

/* ---- addresses ---- */

static struct err *open_bucket(struct arena *a, struct str to, struct release_remote *ret)
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
	bool plain = !prefix.n || (wheel_made_of(prefix, "-._/") && path_is_inside(prefix));
	if (!wheel_made_of(bucket, "-.") || !plain)
		return err_new(E_USAGE, "'%.*s' is no place such as s3://BUCKET/PREFIX", STR(to));
	if (!key.n || !secret.n)
		return err_hint(err_new(E_USAGE, "the environment has no key for '%.*s'", STR(to)),
			"set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
	strs_add(a, &ret->secrets, secret);
	strs_add(a, &ret->secrets, token);
	while (str_ends(endpoint, S("/")))
		endpoint.n--;
	if (endpoint.n)
		ret->base = str_fmt(a, "%.*s/%.*s", STR(endpoint), STR(bucket));
	else
		ret->base =
			str_fmt(a, "https://s3.%.*s.amazonaws.com/%.*s", STR(region), STR(bucket));
	ret->base = str_fmt(a, "%.*s%s%.*s", STR(ret->base), prefix.n ? "/" : "", STR(prefix));
	set_value(a, &ret->settings, "aws-sigv4", str_fmt(a, "aws:amz:%.*s:s3", STR(region)));
	set_value(a, &ret->settings, "user", str_fmt(a, "%.*s:%.*s", STR(key), STR(secret)));
	if (token.n)
		set_value(a, &ret->settings, "header",
			str_fmt(a, "x-amz-security-token: %.*s", STR(token)));
	return is_plain(key) && is_plain(secret) && is_plain(token)
		       ? NULL
		       : err_new(E_USAGE,
				 "a key for '%.*s' in the environment has a blank or a line break",
				 STR(to));
}

static struct err *open_server(struct arena *a, struct str to, struct release_remote *ret)
{
	struct str user = variable("TWINE_USERNAME", "", S("")),
		   password = variable("TWINE_PASSWORD", "", S(""));
	ret->base = to;
	strs_add(a, &ret->secrets, password);
	if (user.n && is_plain(user) && is_plain(password))
		set_value(a, &ret->settings, "user",
			str_fmt(a, "%.*s:%.*s", STR(user), STR(password)));
	else
		strs_add(a, &ret->settings, S("netrc-optional"));
	return NULL;
}

struct err *remote_open(struct arena *a, struct str to, struct release_remote *ret)
{
	static const char *const here[] = {"localhost", "127.0.0.1", "[::1]", NULL};
	*ret = (struct release_remote){0};
	TRY(str_starts(to, S("s3://")) ? open_bucket(a, to, ret) : open_server(a, to, ret));
	while (str_ends(ret->base, S("/")))
		ret->base.n--;
	struct str host = str_sub(ret->base, str_find(ret->base, S("://")) + 3, ret->base.n);
	host = str_sub(host, 0, str_chr(host, '/'));
	if (str_chr(host, '@') < host.n)
		return err_hint(err_new(E_USAGE, "the address has a name or a password in it"),
			"put them into ~/.netrc, or TWINE_USERNAME and TWINE_PASSWORD");
	if (!is_plain(ret->base) || !host.n || str_chr(ret->base, '?') < ret->base.n ||
		str_chr(ret->base, '#') < ret->base.n)
		return err_new(E_USAGE, "'%.*s' is no address to publish to", STR(to));
	size_t port = str_rchr(host, ':');
	bool local = str_is_one_of(host, here) || str_is_one_of(str_sub(host, 0, port), here);
	if (str_starts(ret->base, S("https://")) || (str_starts(ret->base, S("http://")) && local))
		return NULL;
	return err_new(E_USAGE, "'%.*s' would send keys unencrypted", STR(ret->base));
}

/* ---- curl ---- */

struct remote_answer {
	uint64_t status; /* the status code */
	struct str text;
};

/* curl may quote a line of its configuration, and S3 the headers of a request. */
static struct str without_secrets(struct arena *a, const struct release_remote *r, struct str text)
{
	VEC_EACH (const struct str, secret, &r->secrets)
		text = secret->n ? str_replace(a, text, *secret, S("***")) : text;
	return text;
}

static struct err *ask_curl(struct arena *a, const struct release_remote *r, struct str url,
	const struct strs *more, struct remote_answer *ret)
{
	struct proc p = {.limit = RELEASE_TEXT + 4096};
	struct proc_result result;
	struct strs lines = {0};
	strs_add_all(a, &lines, &r->settings);
	strs_add_all(a, &lines, more);
	set_value(a, &lines, "url", url);
	strs_add(a, &lines, S("write-out = \"\\n%{http_code}\""));
	strs_add(a, &lines,
		S("silent\nshow-error\nconnect-timeout = 30\nspeed-time = 60\n"
		  "speed-limit = 1\nretry = 3"));
	p.input = str_join(a, &lines, S("\n"));
	proc_arg(a, &p, "curl", "--config", "-", NULL);
	struct err *e = proc_run(a, &p, &result);
	if (e && e->code == E_TOOL_MISSING)
		e = err_hint(e, "install the package 'curl'");
	TRY(e);
	struct str out = result.out;
	size_t at = str_rchr(out, '\n');
	bool told = at < out.n && str_u64(str_sub(out, at + 1, out.n), 10, &ret->status);
	ret->text = without_secrets(a, r, str_sub(out, 0, at));
	if (!result.status && told)
		return NULL;
	return err_detail(err_new(E_NET, "curl cannot reach '%.*s'", STR(url)),
		without_secrets(a, r, result.err));
}

static struct err *refused(const struct remote_answer *r, struct str url)
{
	enum { SHOWN = 2000 };
	struct err *e = err_new(E_NET, "the server answers %llu for '%.*s'",
		(unsigned long long)r->status, STR(url));
	return err_detail(e, str_sub(r->text, 0, utf8_fit(r->text, SHOWN, SHOWN)));
}

static struct str url_of(struct arena *a, const struct release_remote *r, struct str key)
{
	return str_fmt(a, "%.*s/%.*s", STR(r->base), STR(key));
}

struct err *remote_has(
	struct arena *a, const struct release_remote *r, const struct release_upload *u, bool *ret)
{
	struct remote_answer got;
	struct strs more = {0};
	struct str rest, line, key, value, url = url_of(a, r, u->key);
	bool same = false, size = false;
	uint64_t n;
	strs_add(a, &more, S("head"));
	TRY(ask_curl(a, r, url, &more, &got));
	for (rest = got.text; str_next(&rest, '\n', &line);) {
		if (!str_cut(line, ':', &key, &value))
			continue;
		key = str_lower(a, key);
		same = same ||
		       (str_eq(key, S("x-amz-meta-sha256")) && str_eq(str_trim(value), u->sha256));
		size = size || (str_eq(key, S("content-length")) &&
				       str_u64(str_trim(value), 10, &n) && n == u->size);
	}
	*ret = got.status == 200 && same && size;
	/* without the right to list a bucket, what is missing is forbidden */
	return got.status == 200 || got.status == 404 || got.status == 403 ? NULL
									   : refused(&got, url);
}

struct err *remote_get(
	struct arena *a, const struct release_remote *r, struct str key, struct str *ret)
{
	struct remote_answer got;
	struct str url = url_of(a, r, key);
	TRY(ask_curl(a, r, url, &(struct strs){0}, &got));
	*ret = got.status == 200 ? got.text : (struct str){0};
	return got.status == 200 || got.status == 404 || got.status == 403 ? NULL
									   : refused(&got, url);
}

struct err *remote_put(
	struct arena *a, const struct release_remote *r, const struct release_upload *u)
{
	const uint64_t most = (uint64_t)5 << 30; /* limit of a single PUT, Amazon S3 */
	struct remote_answer got;
	struct strs more = {0};
	struct str url = url_of(a, r, u->key);
	if (u->size > most)
		return err_hint(
			err_new(E_LIMIT, "'%.*s' has more than the 5 GiB that S3 takes at once",
				STR(u->path)),
			"rocsmith split makes a wheel for each GPU");
	/* by --upload-file curl would add the file's name to a key that ends in '/' */
	set_value(a, &more, "request", S("PUT"));
	set_value(a, &more, u->wheel ? "upload-file" : "data-binary",
		u->wheel ? u->path : str_fmt(a, "@%.*s", STR(u->path)));
	set_value(a, &more, "header", str_fmt(a, "Content-Type: %s", u->type));
	set_value(a, &more, "header", str_fmt(a, "x-amz-meta-sha256: %.*s", STR(u->sha256)));
	/* the store compares it with what arrives */
	set_value(a, &more, "header", str_fmt(a, "x-amz-content-sha256: %.*s", STR(u->sha256)));
	if (!u->wheel)
		set_value(a, &more, "header", S("Cache-Control: max-age=60"));
	TRY(ask_curl(a, r, url, &more, &got));
	return got.status == 200 || got.status == 201 || got.status == 204 ? NULL
									   : refused(&got, url);
}

struct err *remote_post(
	struct arena *a, const struct release_remote *r, const struct release_wheel *w)
{
	struct remote_answer got;
	struct strs more = {0};
	struct wheel_name n;
	struct dist_headers h;
	struct str url = str_fmt(a, "%.*s/", STR(r->base));
	TRY(wheel_name_parse(a, w->file, &n));
	TRY(dist_headers_parse(a, w->metadata, &h));
	const struct {
		const char *name;
		struct str value;
	} fields[] = {{":action", S("file_upload")}, {"protocol_version", S("1")},
		{"name", dist_header_value(&h, "Name")}, {"version", w->version},
		{"metadata_version", dist_header_value(&h, "Metadata-Version")},
		{"filetype", S("bdist_wheel")}, {"pyversion", n.python},
		{"requires_python", w->requires_python}, {"sha256_digest", w->sha256}};
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (fields[i].value.n)
			set_value(a, &more, "form-string",
				str_fmt(a, "%s=%.*s", fields[i].name, STR(fields[i].value)));
	set_value(a, &more, "form",
		str_fmt(a, "content=@%.*s;filename=%.*s", STR(quoted(a, w->path)),
			STR(quoted(a, w->file))));
	TRY(ask_curl(a, r, url, &more, &got));
	return got.status >= 200 && got.status < 300 ? NULL : refused(&got, url);
}
