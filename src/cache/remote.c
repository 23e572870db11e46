/* Asks web servers for entries, by curl; see cache.h. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/proc.h"
#include "cache/cache.h"

#define MAX_FILE "1100000000" /* bytes: no entry is larger */

static struct str variable(const char *name)
{
	const char *value = getenv(name);
	return str_from(value ? value : "");
}

/* A line of curl's configuration. Quotes and backslashes are the only special characters there. */
static void add_line(struct buf *b, const char *option, struct str value)
{
	buf_fmt(b, "%s = \"", option);
	for (size_t i = 0; i < value.n; i++) {
		if (value.p[i] == '"' || value.p[i] == '\\')
			buf_char(b, '\\');
		buf_char(b, value.p[i]);
	}
	buf_add(b, S("\"\n"));
}

/* s3://BUCKET/PREFIX: the bucket's folder at AWS, or at the endpoint that the environment names. */
static struct err *open_bucket(struct arena *a, struct str place, struct cache_server *ret)
{
	BUF(config, a);
	struct str id = variable("AWS_ACCESS_KEY_ID"), secret = variable("AWS_SECRET_ACCESS_KEY");
	struct str region = variable("AWS_REGION"), endpoint = variable("AWS_ENDPOINT_URL");
	struct str token = variable("AWS_SESSION_TOKEN");
	region = region.n ? region : variable("AWS_DEFAULT_REGION");
	region = region.n ? region : S("us-east-1");
	if (!id.n || !secret.n)
		return err_hint(err_new(E_USAGE, "the bucket '%.*s' needs credentials", STR(place)),
			"set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
	if (!endpoint.n)
		endpoint = str_fmt(a, "https://s3.%.*s.amazonaws.com", STR(region));
	while (str_ends(endpoint, S("/")))
		endpoint.n--;
	ret->url = str_fmt(a, "%.*s/%.*s", STR(endpoint), STR(place));
	add_line(&config, "aws-sigv4", str_fmt(a, "aws:amz:%.*s:s3", STR(region)));
	add_line(&config, "user", str_fmt(a, "%.*s:%.*s", STR(id), STR(secret)));
	if (token.n)
		add_line(&config, "header", str_fmt(a, "x-amz-security-token: %.*s", STR(token)));
	ret->config = buf_str(&config);
	return NULL;
}

struct err *server_open(struct arena *a, struct str where, struct cache_server *ret)
{
	struct str bucket = S("s3://");
	while (str_ends(where, S("/")))
		where.n--;
	*ret = (struct cache_server){.url = where, .config = S("netrc-optional\n")};
	if (str_starts(where, bucket))
		return open_bucket(a, str_sub(where, bucket.n, where.n), ret);
	return NULL;
}

/* Runs curl for PATH of the server. ret_code: the server's answer, 404 and the like included. */
static struct err *transfer(const struct cache_server *s, struct str path, const char *option,
	struct str file, uint64_t *ret_code)
{
	ARENA(tmp);
	struct proc p = {.input = s->config};
	struct proc_result r;
	/* -q: the user's own settings for curl may print, redirect or follow anything */
	proc_arg(&tmp, &p, "curl", "-q", "-K", "-", "-sS", "--proto", "=http,https",
		"--connect-timeout", "5", "--speed-limit", "1000", "--speed-time", "30",
		"--max-filesize", MAX_FILE, "-w", "%{http_code}", option, str_z(&tmp, file), NULL);
	strs_add(&tmp, &p.argv, str_fmt(&tmp, "%.*s/%.*s", STR(s->url), STR(path)));
	TRY(proc_check(&tmp, &p, &r));
	struct str code = str_sub(r.out, r.out.n > 3 ? r.out.n - 3 : 0, r.out.n);
	return str_u64(code, 10, ret_code) ? NULL : err_new(E_NET, "curl gave no status");
}

struct err *server_get(
	const struct cache_server *s, struct str path, struct str file, bool *ret_there)
{
	uint64_t code;
	TRY(transfer(s, path, "-o", file, &code));
	*ret_there = code == 200;
	/* a bucket that may not be listed says 403 for what is not there */
	if (*ret_there || code == 404 || code == 403)
		return NULL;
	return err_new(E_NET, "the server answered %llu", (unsigned long long)code);
}

struct err *server_put(const struct cache_server *s, struct str path, struct str file)
{
	uint64_t code;
	TRY(transfer(s, path, "-T", file, &code));
	if (code >= 200 && code < 300)
		return NULL;
	return err_new(E_NET, "the server answered %llu to a PUT", (unsigned long long)code);
}
