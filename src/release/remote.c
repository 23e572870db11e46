/* Sends files to object stores and index servers; see web/web.h for how they are asked. */
#include "release/release.h"

struct err *remote_has(
	struct arena *a, const struct web *r, const struct release_upload *u, bool *ret)
{
	struct web_answer got;
	struct strs more = {0};
	struct str rest, line, key, value, url = web_url(a, r, u->key);
	bool same = false, size = false;
	uint64_t n;
	strs_add(a, &more, S("head"));
	TRY(web_ask(a, r, url, &more, &got));
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
	return got.status == 200 || web_is_absent(&got) ? NULL : web_refused(&got, url);
}

struct err *remote_get(struct arena *a, const struct web *r, struct str key, struct str *ret)
{
	struct web_answer got;
	struct str url = web_url(a, r, key);
	TRY(web_ask(a, r, url, &(struct strs){0}, &got));
	*ret = got.status == 200 ? got.text : (struct str){0};
	return got.status == 200 || web_is_absent(&got) ? NULL : web_refused(&got, url);
}

struct err *remote_put(struct arena *a, const struct web *r, const struct release_upload *u)
{
	const uint64_t most = (uint64_t)5 << 30; /* limit of a single PUT, Amazon S3 */
	struct web_answer got;
	struct strs more = {0};
	struct str url = web_url(a, r, u->key);
	if (u->size > most)
		return err_hint(
			err_new(E_LIMIT, "'%.*s' has more than the 5 GiB that S3 takes at once",
				STR(u->path)),
			"rocsmith split makes a wheel for each GPU");
	/* by --upload-file curl would add the file's name to a key that ends in '/' */
	web_set(a, &more, "request", S("PUT"));
	web_set(a, &more, u->wheel ? "upload-file" : "data-binary",
		u->wheel ? u->path : str_fmt(a, "@%.*s", STR(u->path)));
	web_set(a, &more, "header", str_fmt(a, "Content-Type: %s", u->type));
	web_set(a, &more, "header", str_fmt(a, "x-amz-meta-sha256: %.*s", STR(u->sha256)));
	/* the store compares it with what arrives */
	web_set(a, &more, "header", str_fmt(a, "x-amz-content-sha256: %.*s", STR(u->sha256)));
	if (!u->wheel)
		web_set(a, &more, "header", S("Cache-Control: max-age=60"));
	TRY(web_ask(a, r, url, &more, &got));
	return got.status == 200 || got.status == 201 || got.status == 204 ? NULL
									   : web_refused(&got, url);
}

struct err *remote_post(struct arena *a, const struct web *r, const struct release_wheel *w)
{
	struct web_answer got;
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
			web_set(a, &more, "form-string",
				str_fmt(a, "%s=%.*s", fields[i].name, STR(fields[i].value)));
	web_set(a, &more, "form",
		str_fmt(a, "content=@%.*s;filename=%.*s", STR(web_quoted(a, w->path)),
			STR(web_quoted(a, w->file))));
	TRY(web_ask(a, r, url, &more, &got));
	return got.status >= 200 && got.status < 300 ? NULL : web_refused(&got, url);
}
