/* Writes package indexes as folders of static files; see release.h. */
#include "release/release.h"

#include <time.h>

#include "base/fs_stage.h"
#include "base/hash.h"
#include "base/progress.h"
#include "report/html.h"

static const char API[] = "1.3"; /* of PEP 740 */

/* ---- a wheel in pages ---- */

/* RFC 3986: the unreserved characters stay; '+' does not, which some servers take for a blank (TheRock#777). */
static struct str percent(struct arena *a, struct str s)
{
	BUF(b, a);
	for (size_t i = 0; i < s.n; i++)
		if (ascii_alnum(s.p[i]) || (s.p[i] && strchr("-._~", s.p[i])))
			buf_char(&b, s.p[i]);
		else
			buf_fmt(&b, "%%%02X", (unsigned char)s.p[i]);
	return buf_str(&b);
}

struct str release_address(struct arena *a, const struct release_wheel *w)
{
	return str_fmt(a, "%.*s/%.*s", STR(w->sha256), STR(percent(a, w->file)));
}

struct str release_time(struct arena *a, int64_t seconds)
{
	char text[32] = "";
	struct tm tm;
	time_t t = (time_t)seconds;
	if (gmtime_r(&t, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return str_dup(a, str_from(text));
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

static void add_link(struct html *h, const struct release_wheel *w, struct str up)
{
	struct arena *a = h->out.a;
	struct str url = str_fmt(a, "%.*sfiles/%.*s", STR(up), STR(release_address(a, w)));
	struct str metadata = str_fmt(a, "sha256=%.*s", STR(sha256_hex(a, w->metadata)));
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

static void json_begin(struct json *j)
{
	json_open(j, '{');
	json_key(j, "meta");
	json_open(j, '{');
	json_key(j, "api-version");
	json_str(j, str_from(API));
	json_close(j);
}

static void json_pair(struct json *j, const char *key, struct str value)
{
	json_key(j, key);
	json_str(j, value);
}

static void json_hash(struct json *j, const char *key, struct str sha256)
{
	json_key(j, key);
	json_open(j, '{');
	json_pair(j, "sha256", sha256);
	json_close(j);
}

static void json_file(struct json *j, const struct release_wheel *w, struct str up)
{
	struct arena *a = j->out->a;
	struct str url = str_fmt(a, "%.*sfiles/%.*s", STR(up), STR(release_address(a, w)));
	struct str metadata = sha256_hex(a, w->metadata);
	json_open(j, '{');
	json_pair(j, "filename", w->file);
	json_pair(j, "url", url);
	json_hash(j, "hashes", w->sha256);
	if (w->requires_python.n)
		json_pair(j, "requires-python", w->requires_python);
	json_key(j, "size");
	json_u64(j, w->size);
	json_pair(j, "upload-time", release_time(a, w->time));
	json_hash(j, "core-metadata", metadata);
	json_hash(j, "dist-info-metadata", metadata);
	if (w->provenance.n)
		json_pair(j, "provenance", str_fmt(a, "%.*s.provenance", STR(url)));
	json_key(j, "yanked");
	if (w->yanked.n)
		json_str(j, w->yanked);
	else
		json_bool(j, w->yanked.p != NULL);
	json_close(j);
}

struct str release_json(
	struct arena *a, const struct release_set *set, struct str project, struct str up)
{
	BUF(b, a);
	struct json j = {.out = &b};
	struct strs versions = {0};
	json_begin(&j);
	json_pair(&j, "name", project);
	json_key(&j, "files");
	json_open(&j, '[');
	VEC_EACH (const struct release_wheel, w, set) {
		if (!str_eq(w->project, project))
			continue;
		json_file(&j, w, up);
		strs_put(a, &versions, w->version);
	}
	json_close(&j);
	json_key(&j, "versions");
	json_strs(&j, &versions);
	json_close(&j);
	return buf_str(&b);
}

struct str release_root(struct arena *a, const struct release_set *set, bool json)
{
	struct strs projects = release_projects(a, set);
	struct html h = {.out.a = a};
	BUF(b, a);
	struct json j = {.out = &b};
	page_begin(&h, S("Simple index"));
	json_begin(&j);
	json_key(&j, "projects");
	json_open(&j, '[');
	VEC_EACH (const struct str, p, &projects) {
		html_leaf(&h, *p, "a", "href", str_fmt(a, "%.*s/", STR(*p)).p, NULL);
		buf_add(&h.out, S("<br>\n"));
		json_open(&j, '{');
		json_pair(&j, "name", *p);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	html_close(&h, h.depth);
	return json ? buf_str(&b) : buf_str(&h.out);
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
	const struct str cells[] = {gpu, known ? gpu_products(a, known) : S(""),
		str_join(a, &files, S(", ")),
		str_fmt(a, "pip install --index-url .../simple/ %.*s",
			STR(str_join(a, &install, S(" "))))};
	html_row(h, "gttc", cells);
}

static void add_wheel(struct html *h, const struct release_wheel *w, struct str up)
{
	struct arena *a = h->out.a;
	html_open(h, "tr", NULL);
	html_open(h, "td", "data-of", "wheel", NULL);
	html_leaf(h, w->file, "a", "href",
		str_fmt(a, "%.*sfiles/%.*s#sha256=%.*s", STR(up), STR(release_address(a, w)),
			STR(w->sha256))
			.p,
		NULL);
	if (w->yanked.p)
		html_leaf(h, str_fmt(a, "withdrawn: %.*s", STR(w->yanked)), "small", NULL);
	html_close(h, 1);
	html_leaf(h, str_join(a, &w->gpus, S(" ")), "td", "data-of", "GPUs", NULL);
	html_leaf(h, human_bytes(a, w->size), "td", "data-of", "size", "class", "num", NULL);
	html_leaf(h, w->sha256, "td", "data-of", "sha256", NULL);
	html_close(h, 1);
}

struct str release_people(struct arena *a, const struct release_set *set, struct str up)
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
	html_leaf(&h, S("All wheels"), "h2", NULL);
	html_table(&h, "wheel|GPUs|>size|sha256");
	VEC_EACH (const struct release_wheel, w, set)
		add_wheel(&h, w, up);
	html_table_end(&h, 0, "wheels");
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
	return write_page(a, dir, "index.html", release_people(a, set, up));
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
	struct digest d;
	TRY(fs_mkdirs(dir));
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		if (more[i].text.n)
			TRY(fs_write(str_fmt(a, "%.*s%s", STR(to), more[i].suffix), more[i].text,
				0644 | FS_IF_CHANGED));
	if (fs_try_lstat(to, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size == w->size) {
		TRY(hash_file(HASH_SHA256, to, &d));
		if (str_eq(digest_hex(a, &d), w->sha256))
			return NULL;
	}
	TRY(fs_remove(beside));
	struct err *e = hash_copy(w->path, beside, w->sha256);
	e = e ? e : fs_sync(beside);
	e = e ? e : fs_rename(beside, to);
	return e ? err_join(e, fs_remove(beside)) : NULL;
}

/* ---- the command ---- */

static struct err *mark_yanked(struct release_index *io)
{
	struct str file, why;
	VEC_EACH (const struct str, word, &io->yank) {
		bool found = false;
		(void)str_cut(*word, '=', &file, &why);
		VEC_EACH (struct release_wheel, w, &io->wheels)
			if (str_eq(w->file, path_base(file))) {
				w->yanked = why.p ? why : S("");
				found = true;
			}
		if (!found)
			return err_new(E_NOENT, "there is no wheel '%.*s' to withdraw", STR(file));
	}
	return NULL;
}

static struct err *fill_site(struct arena *a, const struct release_index *io, struct str dir)
{
	CLEANUP(progress_endp)
	struct progress *bar = progress_begin(S("Copying"), S("wheels"), UNIT_ITEMS, io->wheels.n);
	TRY(fs_mkdirs(dir));
	VEC_EACH (const struct release_wheel, w, &io->wheels) {
		TRY(release_put(a, w, path_join(a, dir, S("files"))));
		progress_add(bar, 1, w->file);
	}
	return release_site(a, &io->wheels, dir, S(""));
}

struct err *release_index(struct arena *a, struct release_index *io)
{
	static const char receipt[] = "rocsmith-index.json";
	struct fs_stage s = {.place = path_abs(a, io->site), .receipt = str_from(receipt)};
	if (fs_present(s.place) && !fs_exists(path_join(a, s.place, s.receipt)))
		return err_hint(
			err_new(E_USAGE, "'%.*s' exists already, and is no index of rocsmith",
				STR(io->site)),
			"name another folder with -o");
	TRY(release_read(a, &io->paths, true, &io->wheels));
	release_sort(a, &io->wheels, false);
	TRY(mark_yanked(io));
	release_check(a, &io->wheels, NULL, &io->findings);
	io->projects = release_projects(a, &io->wheels);
	io->lacks = release_lacks(a, &io->wheels);
	VEC_EACH (const struct str, name, &io->lacks)
		finding_say(a,
			finding_add(a, &io->findings, "release-lacks",
				io->complete ? SEV_ERROR : SEV_INFO, *name),
			"a wheel requires '%.*s', which is not in the index", STR(*name));
	io->refused = io->findings.n && findings_worst(&io->findings) == SEV_ERROR;
	if (io->refused || fs_writes_forbidden())
		return NULL;
	TRY(fs_stage_begin(a, &s));
	struct err *e = fill_site(a, io, s.tree);
	e = e ? e : fs_stage_commit(&s, json_document(a, 2, release_index_fields, io));
	return err_join(e, fs_stage_end(&s));
}

static const struct json_field index_wheel_fields[] = FIELDS_ONLY(
	struct release_wheel, file, sha256, size, project, version, gpus, requires_python, yanked);

const struct json_field release_index_fields[] = {
	FIELD_CONST("schema", "rocsmith.index/1"),
	FIELDS(struct release_index, site, refused, projects, lacks),
	FIELD_LIST("wheels", struct release_index, wheels, index_wheel_fields),
	FIELD_LAST(FIELD_LIST("findings", struct release_index, findings, finding_fields)),
};
