/* Sends files to object stores and index servers; see web/web.h for how they are asked. */
#include <time.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "formats/xml.h"
#include "release/release.h"

/* The last header of that name, in lower case; several answers may follow each other ("100 Continue"). */
static struct str header_of(struct arena *a, struct str text, const char *name)
{
	struct str rest, line, key, value, found = S("");
	for (rest = text; str_next(&rest, '\n', &line);)
		if (str_cut(line, ':', &key, &value) && str_eq(str_lower(a, key), str_from(name)))
			found = str_trim(value);
	return found;
}

struct err *remote_has(
	struct arena *a, const struct web *r, const struct release_upload *u, bool *ret)
{
	struct web_answer got;
	struct strs more = {0};
	struct str url = web_url(a, r, u->key);
	uint64_t n = 0;
	strs_add(a, &more, S("head"));
	TRY(web_ask(a, r, url, &more, &got));
	*ret = got.status == 200 && str_u64(header_of(a, got.text, "content-length"), 10, &n) &&
	       n == u->size && str_eq(header_of(a, got.text, "x-amz-meta-sha256"), u->sha256);
	return got.status == 200 || web_is_absent(&got) ? NULL : web_refused(a, r, &got, url);
}

struct err *remote_get(struct arena *a, const struct web *r, struct str key, struct str *ret)
{
	struct web_answer got;
	struct str url = web_url(a, r, key);
	TRY(web_ask(a, r, url, &(struct strs){0}, &got));
	*ret = got.status == 200 ? got.text : (struct str){0};
	return got.status == 200 || web_is_absent(&got) ? NULL : web_refused(a, r, &got, url);
}

/* Sends a request, whose body is in `more` with its hash; any status but success is an error. */
static struct err *send_body(struct arena *a, const struct web *r, struct str url,
	const struct strs *more, struct web_answer *ret)
{
	TRY(web_ask(a, r, url, more, ret));
	return ret->there ? NULL : web_refused(a, r, ret, url);
}

/* Adds the headers that the store keeps with a file. */
static void describe_file(struct arena *a, const struct release_upload *u, struct strs *more)
{
	web_set(a, more, "header", str_fmt(a, "Content-Type: %s", u->type));
	web_set(a, more, "header", str_fmt(a, "x-amz-meta-sha256: %.*s", STR(u->sha256)));
	if (!u->wheel)
		web_set(a, more, "header", S("Cache-Control: max-age=60"));
}

/* ---- in parts ---- */

/* The texts of all elements of that name. */
static struct err *texts_of(struct arena *a, struct str text, const char *element, struct strs *ret)
{
	struct xml_event e;
	bool within = false;
	*ret = (struct strs){0};
	CLEANUP(xml_end) struct xml x = xml_begin(text, S("the answer of the store"));
	do {
		TRY(xml_next(&x, &e));
		if (e.kind == XML_TEXT && within)
			strs_add(a, ret, str_dup(a, e.text));
		within = e.kind == XML_OPEN && str_eq(e.name, str_from(element));
	} while (e.kind != XML_END);
	return NULL;
}

/* Sends the parts; the list of them, as the store wants it at the end, is added to `list`. */
static struct err *send_parts(struct arena *a, const struct remote_parts *p,
	const struct release_upload *u, struct str id, struct buf *list)
{
	struct str file = path_join(a, p->scratch, S("part"));
	CLEANUP(fs_unmap) struct str all = {0};
	TRY(fs_map(u->path, &all));
	if (all.n != u->size)
		return err_new(E_CORRUPT, "'%.*s' was changed", STR(u->path));
	for (size_t at = 0, n = 1; at < all.n; at += p->size, n++) {
		struct str part = str_sub(all, at, at + (size_t)p->size);
		struct str url = str_fmt(a, "%.*s?partNumber=%zu&uploadId=%.*s",
			STR(web_url(a, p->web, u->key)), n, STR(id));
		struct strs more = {0};
		struct web_answer got;
		TRY(cancel_check());
		TRY(fs_write(file, part, 0600 | FS_LOOSE));
		strs_add(a, &more, S("include")); /* the headers, too */
		web_set(a, &more, "upload-file", file);
		web_hash(a, &more, sha256_hex(a, part));
		TRY(send_body(a, p->web, url, &more, &got));
		buf_fmt(list, "<Part><PartNumber>%zu</PartNumber><ETag>", n);
		xml_escape(list, header_of(a, got.text, "etag"));
		buf_add(list, S("</ETag></Part>"));
	}
	return fs_remove(file);
}

/* S3 may answer 200, and say in the text that it failed. */
static struct err *complete_parts(struct arena *a, const struct web *r,
	const struct release_upload *u, struct str id, struct str list)
{
	struct str url = str_fmt(a, "%.*s?uploadId=%.*s", STR(web_url(a, r, u->key)), STR(id));
	struct web_answer got;
	struct strs more = {0}, names, codes;
	bool there;
	web_set(a, &more, "request", S("POST"));
	web_set(a, &more, "header", S("Content-Type: application/xml"));
	web_set(a, &more, "data-binary", list);
	web_hash(a, &more, sha256_hex(a, list));
	TRY(send_body(a, r, url, &more, &got));
	TRY(texts_of(a, got.text, "ETag", &names));
	TRY(texts_of(a, got.text, "Code", &codes));
	if (!names.n || codes.n)
		return web_refused(a, r, &got, url);
	TRY(remote_has(a, r, u, &there));
	return there ? NULL
		     : err_new(E_NET, "the store has not what was sent as '%.*s'", STR(u->key));
}

static struct err *drop_upload(
	struct arena *a, const struct web *r, struct str object, struct str id)
{
	struct web_answer got;
	struct strs more = {0};
	struct str url = str_fmt(a, "%.*s?uploadId=%.*s", STR(object), STR(id));
	web_set(a, &more, "request", S("DELETE"));
	TRY(web_ask(a, r, url, &more, &got));
	return got.there || got.status == 404 ? NULL : web_refused(a, r, &got, url);
}

static struct err *put_in_parts(
	struct arena *a, const struct remote_parts *p, const struct release_upload *u)
{
	enum { MOST_PARTS = 10000 };
	/* an empty value, since older versions of curl sign a name alone in another way than S3 does */
	struct str url = str_fmt(a, "%.*s?uploads=", STR(web_url(a, p->web, u->key)));
	struct web_answer got;
	struct strs more = {0}, ids;
	BUF(list, a);
	if (u->size / p->size >= MOST_PARTS)
		return err_hint(err_new(E_LIMIT, "'%.*s' has more than %d parts of %llu bytes",
					STR(u->path), MOST_PARTS, (unsigned long long)p->size),
			"--part-size makes them larger");
	web_set(a, &more, "request", S("POST"));
	web_set(a, &more, "data-binary", S(""));
	describe_file(a, u, &more);
	TRY(send_body(a, p->web, url, &more, &got));
	TRY(texts_of(a, got.text, "UploadId", &ids));
	if (ids.n != 1)
		return web_refused(a, p->web, &got, url);
	struct str id = web_escaped(a, ids.v[0]);
	buf_add(&list, S("<CompleteMultipartUpload>"));
	struct err *e = send_parts(a, p, u, id, &list);
	buf_add(&list, S("</CompleteMultipartUpload>"));
	e = e ? e : complete_parts(a, p->web, u, id, buf_str(&list));
	return e ? err_join(e, drop_upload(a, p->web, web_url(a, p->web, u->key), id)) : NULL;
}

struct err *remote_put(
	struct arena *a, const struct remote_parts *p, const struct release_upload *u)
{
	struct web_answer got;
	struct strs more = {0};
	if (u->wheel && u->size > p->size)
		return put_in_parts(a, p, u);
	/* by --upload-file curl would add the file's name to a key that ends in '/' */
	web_set(a, &more, "request", S("PUT"));
	web_set(a, &more, u->wheel ? "upload-file" : "data-binary",
		u->wheel ? u->path : str_fmt(a, "@%.*s", STR(u->path)));
	describe_file(a, u, &more);
	web_hash(a, &more, u->sha256);
	return send_body(a, p->web, web_url(a, p->web, u->key), &more, &got);
}

/* A store that cannot list them, or lets nobody do so, is left as it is: what it has then, it tells nobody. */
struct err *remote_tidy(struct arena *a, const struct web *r)
{
	struct str files = path_join(a, r->prefix, S("files/"));
	struct str url = str_fmt(a, "%.*s?prefix=%.*s&uploads=", STR(r->bucket),
		STR(str_replace(a, web_escaped(a, files), S("/"), S("%2F"))));
	struct web_answer got;
	struct strs keys, ids, times;
	enum { PAGE = 1000 /* so many are listed at once */, ROUNDS = 100, DAY = 24 * 60 * 60 };
	struct str yesterday = str_utc(a, time(NULL) - DAY);
	size_t dropped = PAGE;
	for (unsigned round = 0; round < ROUNDS && dropped >= PAGE; round++) {
		dropped = 0;
		TRY(web_ask(a, r, url, &(struct strs){0}, &got));
		if (!got.there)
			return NULL;
		TRY(texts_of(a, got.text, "Key", &keys));
		TRY(texts_of(a, got.text, "UploadId", &ids));
		TRY(texts_of(a, got.text, "Initiated", &times));
		for (size_t i = 0; i < keys.n && keys.n == ids.n && keys.n == times.n; i++) {
			if (!str_starts(keys.v[i], files) || str_cmp(times.v[i], yesterday) > 0)
				continue;
			struct str object = path_join(a, r->bucket, web_escaped(a, keys.v[i]));
			TRY(drop_upload(a, r, object, web_escaped(a, ids.v[i])));
			dropped++;
		}
	}
	return NULL;
}

struct err *remote_post(struct arena *a, const struct web *r, const struct release_wheel *w)
{
	struct web_answer got;
	struct strs more = {0};
	struct wheel_name n = {.python = S("source")};
	struct str url = str_fmt(a, "%.*s/", STR(r->base));
	bool sdist = release_is_sdist(w->file);
	if (!sdist)
		TRY(wheel_name_parse(a, w->file, &n));
	const struct {
		const char *name;
		struct str value;
	} fields[] = {{":action", S("file_upload")}, {"protocol_version", S("1")},
		{"name", dist_header_value(&w->headers, "Name")}, {"version", w->version},
		{"metadata_version", dist_header_value(&w->headers, "Metadata-Version")},
		{"filetype", sdist ? S("sdist") : S("bdist_wheel")}, {"pyversion", n.python},
		{"requires_python", w->requires_python}, {"sha256_digest", w->sha256}};
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (fields[i].value.n)
			web_set(a, &more, "form-string",
				str_fmt(a, "%s=%.*s", fields[i].name, STR(fields[i].value)));
	web_set(a, &more, "form",
		str_fmt(a, "content=@%.*s;filename=%.*s", STR(web_quoted(a, w->path)),
			STR(web_quoted(a, w->file))));
	return send_body(a, r, url, &more, &got);
}
