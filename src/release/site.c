/* Writes package indexes as folders of static files; see release.h. */
#include "release/release.h"

#include "base/fs_stage.h"
#include "base/hash.h"
#include "base/proc.h"
#include "base/progress.h"
#include "report/html.h"

#define API "1.3" /* the version of the protocol, PEP 740 */

/* ---- a wheel in pages ---- */

struct str release_address(struct arena *a, const struct release_wheel *w)
{
	return str_fmt(a, "%.*s/%.*s", STR(w->sha256), STR(web_escaped(a, w->file)));
}

struct strs release_projects(struct arena *a, const struct release_set *set)
{
	struct strs all = {0};
	MAP(seen, a);
	VEC_EACH (const struct release_wheel, w, set)
		if (map_put(&seen, w->project, NULL))
			strs_add(a, &all, w->project);
	return all;
}

static struct str file_url(struct arena *a, const struct release_wheel *w, struct str up)
{
	return str_fmt(a, "%.*sfiles/%.*s", STR(up), STR(release_address(a, w)));
}

static void add_link(struct html *h, const struct release_wheel *w, struct str up)
{
	struct arena *a = h->out.a;
	struct str url = file_url(a, w, up);
	struct str metadata = S("");
	if (release_is_static(w))
		metadata = str_fmt(a, "sha256=%.*s", STR(sha256_hex(a, w->metadata)));
	struct str href = str_fmt(a, "%.*s#sha256=%.*s", STR(url), STR(w->sha256));
	const struct {
		const char *name;
		struct str value;
	} more[] = {{"data-requires-python", w->requires_python}, {"data-core-metadata", metadata},
		{"data-dist-info-metadata", metadata},
		{"data-provenance",
			w->provenance.n ? str_fmt(a, "%.*s.provenance", STR(url)) : S("")},
		{"data-yanked", w->yanked}};
	/* html_open() takes a fixed number of attributes, and some of these may be left out */
	const char *v[10] = {0};
	size_t n = 0;
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		if (more[i].value.n || (more[i].value.p && i == 4)) {
			v[n++] = more[i].name;
			v[n++] = str_z(a, more[i].value);
		}
	html_leaf(h, w->file, "a", "href", href.p, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7],
		v[8], v[9], NULL);
	buf_add(&h->out, S("<br>\n"));
}

static void page_begin(struct html *h, struct str title)
{
	buf_add(&h->out, S("<!DOCTYPE html>\n"));
	html_open(h, "html", NULL);
	html_open(h, "head", NULL);
	buf_fmt(&h->out,
		"<meta charset=\"utf-8\">\n<meta name=\"pypi:repository-version\" "
		"content=\"%s\">\n",
		API);
	html_leaf(h, title, "title", NULL);
	html_close(h, 1);
	html_open(h, "body", NULL);
}

struct str release_page(
	struct arena *a, const struct release_set *set, struct str project, struct str up)
{
	struct html h = {.out.a = a};
	page_begin(&h, project);
	VEC_EACH (const struct release_wheel, w, set)
		if (str_eq(w->project, project))
			add_link(&h, w, up);
	html_close(&h, h.depth);
	return buf_str(&h.out);
}

/* ---- PEP 691 ---- */

struct site_file {
	const struct release_wheel *w;
	struct str url, metadata, provenance, time;
};
struct site_json {
	struct str name;
	VEC(struct site_file) files;
	struct strs projects, versions;
};

/* false, true or the reason */
static void write_yanked(struct json *j, const void *wheel)
{
	const struct release_wheel *w = wheel;
	if (w->yanked.n)
		json_str(j, w->yanked);
	else
		json_bool(j, w->yanked.p != NULL);
}

/* Its hash, or false: it has none beside it that is sure. */
static void write_metadata(struct json *j, const void *file)
{
	const struct site_file *f = file;
	if (!f->metadata.n) {
		json_bool(j, false);
		return;
	}
	json_open(j, '{');
	json_key(j, "sha256");
	json_str(j, f->metadata);
	json_close(j);
}

static const struct json_field meta_fields[] = {FIELD_LAST(FIELD_CONST("api-version", API))};
static const struct json_field hash_fields[] = FIELDS_ONLY(struct release_wheel, sha256);
static const struct json_field wheel_fields[] = {
	FIELD("filename", struct release_wheel, file),
	FIELD_PART("hashes", hash_fields),
	FIELD_OPTIONAL("requires-python", struct release_wheel, requires_python),
	FIELD("size", struct release_wheel, size),
	FIELD_LAST(FIELD_WRITE("yanked", write_yanked)),
};
static const struct json_field file_fields[] = {
	FIELD_FROM(struct site_file, w, wheel_fields),
	FIELD("url", struct site_file, url),
	FIELD("upload-time", struct site_file, time),
	FIELD_WRITE("core-metadata", write_metadata),
	FIELD_WRITE("dist-info-metadata", write_metadata),
	FIELD_LAST(FIELD_OPTIONAL("provenance", struct site_file, provenance)),
};
static const struct json_field project_fields[] = {
	FIELD_PART("meta", meta_fields),
	FIELD("name", struct site_json, name),
	FIELD_LIST("files", struct site_json, files, file_fields),
	FIELD_LAST(FIELD("versions", struct site_json, versions)),
};
static const struct json_field name_fields[] = {FIELD_LAST({.key = "name", .kind = FIELD_TEXT})};
static const struct json_field root_fields[] = {
	FIELD_PART("meta", meta_fields),
	FIELD_LAST(FIELD_LIST("projects", struct site_json, projects, name_fields)),
};

struct str release_json(
	struct arena *a, const struct release_set *set, struct str project, struct str up)
{
	struct site_json doc = {.name = project};
	VEC_EACH (const struct release_wheel, w, set) {
		if (!str_eq(w->project, project))
			continue;
		struct str url = file_url(a, w, up);
		*VEC_PUSH(a, &doc.files) = (struct site_file){w, url,
			release_is_static(w) ? sha256_hex(a, w->metadata) : S(""),
			w->provenance.n ? str_fmt(a, "%.*s.provenance", STR(url)) : S(""),
			str_utc(a, w->time)};
		strs_put(a, &doc.versions, w->version);
	}
	return json_document(a, 0, project_fields, &doc);
}

struct str release_root(struct arena *a, const struct release_set *set, bool json)
{
	struct strs projects = release_projects(a, set);
	struct html h = {.out.a = a};
	const struct site_json doc = {.projects = projects};
	page_begin(&h, S("Simple index"));
	VEC_EACH (const struct str, p, &projects) {
		html_leaf(&h, *p, "a", "href", str_fmt(a, "%.*s/", STR(*p)).p, NULL);
		buf_add(&h.out, S("<br>\n"));
	}
	html_close(&h, h.depth);
	return json ? json_document(a, 0, root_fields, &doc) : buf_str(&h.out);
}

/* ---- the page for people ---- */

static void add_gpu(struct html *h, const struct release_set *set, struct str gpu)
{
	struct arena *a = h->out.a;
	struct strs files = {0}, install = {0};
	const struct gpu *known = gpu_by_name(target_read(gpu).name);
	VEC_EACH (const struct release_wheel, w, set) {
		if (w->yanked.p || !targets_serve(&w->gpus, gpu))
			continue;
		strs_put(a, &files, str_fmt(a, "%.*s %.*s", STR(w->project), STR(w->version)));
		struct str device = release_device(w->project);
		struct str host = w->project;
		if (device.n) /* "amd-torch-device-gfx1100" is the extra device-gfx1100 of torch */
			host = str_sub(host, str_starts(host, S("amd-")) ? 4 : 0,
				str_find(host, S("-device-")));
		bool extra = device.n && str_starts(w->project, S("amd-"));
		strs_put(a, &install,
			extra ? str_fmt(a, "'%.*s[device-%.*s]==%.*s'", STR(host), STR(device),
					STR(w->version))
			      : str_fmt(a, "'%.*s==%.*s'", STR(w->project), STR(w->version)));
	}
	if (!files.n)
		return;
	HTML_ROW(h, "gttc", gpu, known ? gpu_products(a, known) : S(""),
		str_join(a, &files, S(", ")),
		str_fmt(a, "pip install --index-url .../simple/ %.*s",
			STR(str_join(a, &install, S(" ")))));
}

struct str release_people(struct arena *a, const struct release_set *set)
{
	struct html h = {.out.a = a};
	struct strs gpus = {0};
	VEC_EACH (const struct release_wheel, w, set)
		strs_put_all(a, &gpus, &w->gpus);
	targets_sort(&gpus);
	html_page(&h, S("Wheels for AMD GPUs"));
	html_leaf(&h, S("Wheels for AMD GPUs"), "h1", NULL);
	html_open(&h, "p", NULL);
	html_text(&h,
		S("This is a package index for pip and uv: its address is that of the folder "));
	html_leaf(&h, S("simple/"), "a", "href", "simple/", NULL);
	html_text(&h, S("beside this page."));
	html_close(&h, 1);
	html_leaf(&h, S("Which wheel serves which GPU"), "h2", NULL);
	html_table(&h, "GPU|products|wheels|command");
	VEC_EACH (const struct str, gpu, &gpus)
		add_gpu(&h, set, *gpu);
	html_table_end(&h, gpus.n, "GPUs");
	return html_page_end(&h, S("Made by rocsmith."));
}

/* ---- folders ---- */

static struct err *write_page(struct arena *a, struct str dir, const char *name, struct str text)
{
	TRY(fs_mkdirs(dir));
	return fs_write(path_join(a, dir, str_from(name)), text, 0644 | FS_LOOSE);
}

struct err *release_site(
	struct arena *a, const struct release_set *set, struct str dir, struct str up)
{
	struct strs projects = release_projects(a, set);
	struct str simple = path_join(a, dir, S("simple")),
		   deep = str_fmt(a, "../../%.*s", STR(up));
	TRY(write_page(a, simple, "index.html", release_root(a, set, false)));
	TRY(write_page(a, simple, "index.json", release_root(a, set, true)));
	VEC_EACH (const struct str, p, &projects) {
		struct str at = path_join(a, simple, *p);
		TRY(write_page(a, at, "index.html", release_page(a, set, *p, deep)));
		TRY(write_page(a, at, "index.json", release_json(a, set, *p, deep)));
	}
	return write_page(a, dir, "index.html", release_people(a, set));
}

struct err *release_put(struct arena *a, const struct release_wheel *w, struct str files)
{
	struct str dir = path_join(a, files, w->sha256), to = path_join(a, dir, w->file);
	struct str beside = fs_temp_name(a, to);
	const struct {
		const char *suffix;
		struct str text;
	} more[] = {{".metadata", w->metadata}, {".provenance", w->provenance}};
	struct stat st;
	struct str is;
	TRY(fs_mkdirs(dir));
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		if (more[i].text.n)
			TRY(fs_write(str_fmt(a, "%.*s%s", STR(to), more[i].suffix), more[i].text,
				0644 | FS_IF_CHANGED));
	if (fs_try_lstat(to, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size == w->size) {
		TRY(sha256_file(a, to, &is));
		if (str_eq(is, w->sha256))
			return NULL;
	}
	TRY(fs_remove(beside));
	struct err *e = hash_copy(w->path, beside, w->sha256);
	e = e ? e : fs_sync(beside);
	e = e ? e : fs_rename(beside, to);
	return e ? err_join(e, fs_remove(beside)) : NULL;
}

struct err *release_put_all(struct arena *a, const struct release_set *set, struct str files)
{
	CLEANUP(progress_endp)
	struct progress *bar = progress_begin(S("Storing"), S("wheels"), UNIT_ITEMS, set->n);
	VEC_EACH (const struct release_wheel, w, set) {
		TRY(cancel_check());
		TRY(release_put(a, w, files));
		progress_add(bar, 1, w->file);
	}
	return NULL;
}
