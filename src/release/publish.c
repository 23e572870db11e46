/* Brings a stream to where users get it, and reads it back as they do; see release.h. */
#include "archive/index.h"
#include "base/fs_stage.h"
#include "base/hash.h"
#include "base/proc.h"
#include "base/progress.h"
#include "formats/node.h"
#include "lang/python/version.h"
#include "release/release.h"

struct publishing {
	struct arena *a;
	struct release_publish *io;
	struct release_store s;
	struct release_state state;
	struct release_set set, newest; /* all that is shown, in order; the newest set */
	struct web remote;
	struct str scratch; /* a folder for pages */
	struct str dir;     /* the folder that is published to */
	struct fs_tree *guard;
	struct str url; /* the index */
};

static void publishing_done(struct publishing *p)
{
	release_close(&p->s);
	fs_unguardp(&p->guard);
	fs_tempdirp(&p->scratch);
}

/* ---- what there is to send ---- */

static struct release_upload *add_file(
	struct publishing *p, const struct release_wheel *w, const char *suffix, struct str text)
{
	struct arena *a = p->a;
	struct release_upload *u = VEC_PUSH(a, &p->io->uploads);
	u->key = str_fmt(a, "files/%.*s%s", STR(release_address(a, w)), suffix);
	u->path = str_fmt(a, "%.*s%s", STR(w->path), suffix);
	u->sha256 = *suffix ? sha256_hex(a, text) : w->sha256;
	u->size = *suffix ? text.n : w->size;
	u->type = *suffix                     ? "text/plain"
		  : release_is_sdist(w->file) ? "application/gzip"
					      : "application/zip";
	u->wheel = w;
	return u;
}

static struct err *add_page(struct publishing *p, struct str key, struct str text)
{
	struct arena *a = p->a;
	struct release_upload *u = VEC_PUSH(a, &p->io->uploads);
	u->key = key;
	u->path = str_fmt(a, "%.*s/%zu", STR(p->scratch), p->io->uploads.n);
	u->sha256 = sha256_hex(a, text);
	u->size = text.n;
	u->type = str_ends(key, S(".json")) ? "application/vnd.pypi.simple.v1+json" : "text/html";
	return fs_write(u->path, text, 0600 | FS_LOOSE);
}

static struct err *add_project(struct publishing *p, struct str project)
{
	struct arena *a = p->a;
	struct str dir = str_fmt(a, "simple/%.*s/", STR(project)), up = S("../../");
	struct str page = release_page(a, &p->set, project, up);
	TRY(add_page(
		p, str_fmt(a, "%.*sindex.json", STR(dir)), release_json(a, &p->set, project, up)));
	TRY(add_page(p, str_fmt(a, "%.*sindex.html", STR(dir)), page));
	return add_page(p, dir, page); /* object stores have no folders */
}

struct published { /* stream.json of a bucket: the sets that it surely has, whole */
	struct strs sets, projects;
};
static const struct json_field published_fields[] = {
	FIELD_CONST("schema", "rocsmith.published/1"),
	FIELD_LAST(FIELDS(struct published, sets, projects)),
};

/* Pages come behind the files, and each project behind those that it requires: whoever sees a new version can get what it
 * needs. If a set goes, its users go first. */
static struct err *list_pages(struct publishing *p)
{
	struct arena *a = p->a;
	struct str old;
	struct published before = {0};
	const struct node *doc = NULL;
	struct strs both = {0}; /* the sets that are there, and stay */
	TRY(fs_tempdir(a, S(""), &p->scratch));
	VEC_EACH (const struct release_wheel, w, &p->set) {
		add_file(p, w, "", S(""));
		if (release_is_static(w))
			add_file(p, w, ".metadata", w->metadata);
		if (w->provenance.n)
			add_file(p, w, ".provenance", w->provenance);
	}
	TRY(remote_get(a, &p->remote, S("stream.json"), &old));
	if (old.p) {
		TRY(json_parse(a, old, S("stream.json"), &doc));
		TRY(json_fields_read(a, doc, published_fields, &before));
	}
	VEC_EACH (const struct str, id, &p->state.sets)
		if (strs_has(&before.sets, *id))
			strs_add(a, &both, *id);
	struct strs projects = release_projects(a, &p->set), gone = before.projects;
	struct published now = {both, gone};
	strs_put_all(a, &now.projects, &projects);
	/* whoever continues a killed run knows from it which sets are surely whole */
	if (!strs_eq(&before.sets, &p->state.sets))
		TRY(add_page(p, S("stream.json"), json_document(a, 2, published_fields, &now)));
	bool fewer = both.n == p->state.sets.n;
	for (size_t i = 0; i < projects.n; i++)
		TRY(add_project(p, projects.v[fewer ? projects.n - 1 - i : i]));
	VEC_EACH (const struct str, name, &gone)
		if (!strs_has(&projects, *name) && str_made_of(*name, "-"))
			TRY(add_project(p, *name)); /* an empty page */
	TRY(add_page(p, S("simple/index.json"), release_root(a, &p->set, true)));
	TRY(add_page(p, S("simple/index.html"), release_root(a, &p->set, false)));
	TRY(add_page(p, S("simple/"), release_root(a, &p->set, false)));
	TRY(add_page(p, S("index.html"), release_people(a, &p->set)));
	now.sets = p->state.sets;
	return add_page(p, S("stream.json"), json_document(a, 2, published_fields, &now));
}

static struct err *list_bucket(struct publishing *p)
{
	TRY(web_open(p->a, p->io->to, NULL, &p->remote));
	p->url = str_fmt(p->a, "%.*s/simple/", STR(p->remote.base));
	TRY(list_pages(p));
	if (!fs_writes_forbidden())
		TRY(remote_tidy(p->a, &p->remote));
	CLEANUP(progress_endp)
	struct progress *look =
		progress_begin(S("Comparing"), S("files"), UNIT_ITEMS, p->io->uploads.n);
	VEC_EACH (struct release_upload, u, &p->io->uploads) {
		TRY(remote_has(p->a, &p->remote, u, &u->done));
		progress_add(look, 1, u->key);
	}
	return NULL;
}

/* A bucket does not compare the hash of what comes in parts, nor every server that of a form. */
static struct err *check_upload(const struct release_upload *u)
{
	ARENA(tmp);
	struct str is;
	TRY(sha256_file(&tmp, u->path, &is));
	return str_eq(is, u->sha256) ? NULL
				     : err_new(E_CORRUPT, "'%.*s' was changed", STR(u->path));
}

static struct err *put_object(struct publishing *p, const struct release_upload *u)
{
	const struct remote_parts parts = {&p->remote, (uint64_t)p->io->part << 20, p->scratch};
	TRY(check_upload(u));
	return remote_put(p->a, &parts, u);
}

/* An index server makes its pages itself. */
static struct err *list_server(struct publishing *p)
{
	static const struct web_login twine = {"TWINE_USERNAME", "TWINE_PASSWORD"};
	struct arena *a = p->a;
	struct archive_items there = {0};
	struct index_missings missing = {0};
	struct strs projects = release_projects(a, &p->set), urls = {0};
	TRY(web_open(a, p->io->to, &twine, &p->remote));
	p->url = str_fmt(a, "%.*s/simple/", STR(p->remote.base));
	strs_add(a, &urls, p->io->index_url.n ? p->io->index_url : p->url);
	struct index_job job = {.python = p->io->python, .urls = urls};
	TRY(index_lists(a, &job, &projects, &there, &missing));
	VEC_EACH (const struct release_wheel, w, &p->set) {
		struct release_upload *u = add_file(p, w, "", S(""));
		VEC_EACH (const struct archive_item, f, &there) {
			bool same = str_eq(f->file, w->file);
			if (same && f->sha256.n && !str_eq(f->sha256, w->sha256))
				return err_new(
					E_HASH, "the server has another file '%.*s'", STR(w->file));
			u->done = u->done || same;
		}
	}
	return NULL;
}

static struct err *post_wheel(struct publishing *p, const struct release_upload *u)
{
	TRY(check_upload(u));
	return remote_post(p->a, &p->remote, u->wheel);
}

static struct err *list_folder(struct publishing *p)
{
	struct arena *a = p->a;
	struct stat st;
	p->dir = path_abs(a, p->io->to);
	p->url = str_fmt(a, "file://%.*s/simple/", STR(web_escaped(a, p->dir)));
	struct str mark = path_join(a, p->dir, S("rocsmith-index.json"));
	if (fs_present(path_join(a, p->dir, S("simple"))) && !fs_present(mark))
		return err_new(
			E_USAGE, "'%.*s' has an index that rocsmith did not make", STR(p->dir));
	VEC_EACH (const struct release_wheel, w, &p->set) {
		struct str to = str_fmt(
			a, "%.*s/files/%.*s/%.*s", STR(p->dir), STR(w->sha256), STR(w->file));
		add_file(p, w, "", S(""))->done =
			fs_try_lstat(to, &st) && (uint64_t)st.st_size == w->size;
	}
	if (fs_writes_forbidden())
		return NULL;
	TRY(fs_make_output(p->dir));
	TRY(fs_guard(p->dir, &p->guard));
	return fs_write(mark, S("{\"schema\": \"rocsmith.published/1\"}\n"), 0644 | FS_IF_CHANGED);
}

static struct err *put_file(struct publishing *p, const struct release_upload *u)
{
	return release_put(p->a, u->wheel, path_join(p->a, p->dir, S("files")));
}

/* All pages are exchanged at once; only the page for people follows. */
static struct err *switch_pages(struct publishing *p)
{
	struct arena *a = p->a;
	struct fs_stage s = {.place = path_join(a, p->dir, S("simple"))};
	TRY(fs_stage_begin(a, &s));
	struct str made = path_join(a, s.beside, S("site")), people = S("index.html");
	struct err *e = release_site(a, &p->set, made, S(""));
	e = e ? e : fs_rename(path_join(a, made, S("simple")), s.tree);
	e = e ? e : fs_sync_all(s.tree);
	e = e ? e : fs_stage_commit(&s, S(""));
	e = e ? e : fs_rename(path_join(a, made, people), path_join(a, p->dir, people));
	return err_join(e, fs_stage_end(&s));
}

/* The kinds of places, by the beginning of their addresses. */
static const struct publish_kind {
	const char *begin;
	struct err *(*list)(
		struct publishing *p); /* lists the files, and marks those that are there */
	struct err *(*put)(struct publishing *p, const struct release_upload *u);
	struct err *(*finish)(struct publishing *p); /* or NULL */
} kinds[] = {
	{"s3://", list_bucket, put_object, NULL},
	{"https://", list_server, post_wheel, NULL},
	{"http://", list_server, post_wheel, NULL},
	{"", list_folder, put_file, switch_pages},
};

static struct err *send_uploads(struct publishing *p)
{
	const struct publish_kind *kind = kinds;
	while (!str_starts(p->io->to, str_from(kind->begin)))
		kind++;
	TRY(kind->list(p));
	VEC_EACH (const struct release_upload, u, &p->io->uploads)
		p->io->bytes += u->done ? 0 : u->size;
	if (fs_writes_forbidden())
		return NULL;
	CLEANUP(progress_endp)
	struct progress *bar = progress_begin(S("Sending"), p->io->to, UNIT_BYTES, p->io->bytes);
	VEC_EACH (const struct release_upload, u, &p->io->uploads) {
		if (u->done && !kind->finish) /* in a folder, what is there is cheap to check */
			continue;
		TRY(cancel_check());
		TRY_CTX(kind->put(p, u), "cannot publish '%.*s'", STR(u->key));
		progress_add(bar, u->done ? 0 : u->size, u->key);
	}
	return kind->finish ? kind->finish(p) : NULL;
}

/* ---- reading back ---- */

static struct err *compare_report(struct publishing *p, struct str path, struct str url)
{
	struct arena *a = p->a;
	const struct node *doc;
	TRY(json_read(a, path, &doc));
	const struct node *list = node_get(doc, S("install"));
	if (!list)
		return err_new(E_NET, "pip reports nothing of '%.*s'", STR(url));
	struct str host = str_sub(url, 0, url.n - S("simple/").n);
	NODE_EACH (n, list) {
		const struct node *meta = node_get(n, S("metadata")),
				  *from = node_get(n, S("download_info"));
		struct str name = package_name(a, node_text(meta, S("name"), S("")), '-');
		struct str got = node_text(node_get(node_get(from, S("archive_info")), S("hashes")),
			S("sha256"), S(""));
		bool same = str_starts(node_text(from, S("url"), S("")), host);
		bool known = false;
		VEC_EACH (const struct release_wheel, w, &p->newest)
			known = known || (str_eq(w->project, name) && str_eq(w->sha256, got));
		if (!known || (!same && !p->io->index_url.n))
			return err_new(E_HASH,
				"pip gets another '%.*s' than was published, from '%.*s'",
				STR(name), STR(node_text(from, S("url"), S(""))));
		strs_fmt(a, &p->io->read, "%.*s==%.*s", STR(name),
			STR(node_text(meta, S("version"), S(""))));
	}
	return NULL;
}

/* Has pip look for the wheels that have the same tags as this one. */
static struct err *ask_pip(struct publishing *p, const struct wheel_name *n, struct strs *wanted)
{
	struct arena *a = p->a;
	struct str url = p->io->index_url.n ? p->io->index_url : p->url, rest, word;
	struct str report = path_join(a, p->scratch, S("report.json"));
	struct proc q = pip_command(a, p->io->python.n ? p->io->python : S("python3"));
	struct proc_result r;
	proc_arg(a, &q, "install", "--quiet", "--dry-run", "--no-deps", "--ignore-installed",
		"--only-binary=:all:", "--no-cache-dir", "--target", p->scratch.p, "--report",
		report.p, "--index-url", str_z(a, url), NULL);
	struct str version = release_python(a, n->python);
	/* pip install compares Requires-Python with the Python that it runs on, whatever it is asked for */
	if (version.n && str_chr(n->python, '.') == n->python.n)
		proc_arg(a, &q, "--python-version", version.p, "--ignore-requires-python", NULL);
	if (!str_eq(n->abi, S("none")))
		for (rest = n->abi; str_next(&rest, '.', &word);)
			proc_arg(a, &q, "--abi", str_z(a, word), NULL);
	if (!str_eq(n->platform, S("any")))
		for (rest = n->platform; str_next(&rest, '.', &word);)
			proc_arg(a, &q, "--platform", str_z(a, word), NULL);
	strs_add_all(a, &q.argv, wanted);
	/* other places would hide that this one lacks something */
	STRS_ADD(a, &q.setenv, S("PIP_FIND_LINKS"), S("PIP_EXTRA_INDEX_URL"), S("PIP_NO_INDEX"));
	TRY_CTX(proc_check(a, &q, &r), "pip does not get what was published from '%.*s'", STR(url));
	return compare_report(p, report, url);
}

/* pip would build a source distribution, which runs its code: that the index has it is all that is asked. */
static struct err *ask_index(struct publishing *p, const struct release_wheel *w)
{
	struct arena *a = p->a;
	struct archive_items files = {0};
	struct str url = p->io->index_url.n ? p->io->index_url : p->url;
	struct index_job job = {.python = p->io->python};
	bool there = false;
	strs_add(a, &job.urls, url);
	if (str_starts(url, S("file://"))) { /* pip alone reads pages of files */
		struct str is, path = str_fmt(a, "%.*s/files/%.*s/%.*s", STR(p->dir),
				       STR(w->sha256), STR(w->file));
		TRY(sha256_file(a, path, &is));
		there = str_eq(is, w->sha256);
	} else {
		TRY(index_list(a, &job, w->project, &files));
	}
	VEC_EACH (const struct archive_item, f, &files)
		there = there || (str_eq(f->file, w->file) && str_eq(f->sha256, w->sha256));
	strs_fmt(a, &p->io->read, "%.*s==%.*s", STR(w->project), STR(w->version));
	return there ? NULL
		     : err_new(E_HASH, "'%.*s' does not have the '%.*s' that was published",
			       STR(url), STR(w->file));
}

static struct err *read_back(struct publishing *p)
{
	struct arena *a = p->a;
	MAP(done, a);
	CLEANUP(progress_endp)
	struct progress *bar = progress_begin(S("Asking"), S("pip"), UNIT_ITEMS, p->newest.n);
	if (!p->scratch.n)
		TRY(fs_tempdir(a, S(""), &p->scratch));
	VEC_EACH (const struct release_wheel, w, &p->newest) {
		struct wheel_name n, other;
		struct strs wanted = {0};
		if (release_is_sdist(w->file)) {
			TRY(ask_index(p, w));
			continue;
		}
		TRY(wheel_name_parse(a, w->file, &n));
		struct str tags =
			str_fmt(a, "%.*s-%.*s-%.*s", STR(n.python), STR(n.abi), STR(n.platform));
		if (!map_put(&done, tags, NULL))
			continue;
		VEC_EACH (const struct release_wheel, it, &p->newest) {
			if (release_is_sdist(it->file))
				continue;
			TRY(wheel_name_parse(a, it->file, &other));
			if (str_eq(other.python, n.python) && str_eq(other.abi, n.abi) &&
				str_eq(other.platform, n.platform))
				strs_put(a, &wanted,
					str_fmt(a, "%.*s==%.*s", STR(it->project),
						STR(it->version)));
		}
		TRY(ask_pip(p, &n, &wanted));
		progress_add(bar, wanted.n, w->file);
	}
	return NULL;
}

struct err *release_publish(struct arena *a, struct release_publish *io)
{
	CLEANUP(publishing_done) struct publishing p = {.a = a, .io = io};
	struct str why;
	io->part = io->part ? io->part : RELEASE_PART;
	if (io->part < RELEASE_LEAST_PART || io->part > RELEASE_MOST_PART)
		return err_new(E_USAGE, "a bucket takes parts of %d to %d MiB, not of %u",
			RELEASE_LEAST_PART, RELEASE_MOST_PART, io->part);
	TRY(release_open(a, io->place, false, &p.s));
	if (!p.s.stream.n)
		return err_new(
			E_USAGE, "name a stream of the store: '%.*s/stable'", STR(io->place));
	TRY(release_filled(a, &p.s, &p.state));
	TRY(release_shown(a, &p.s, &p.state, &p.set));
	TRY(release_load(a, &p.s, p.state.sets.v[p.state.sets.n - 1], &p.newest, &why));
	release_sort(a, &p.set, true);
	if (!fs_writes_forbidden())
		TRY(progress_lock(path_join(a, p.s.dir, S(".publish")), &p.s.lock,
			"publishes '%.*s'", STR(io->place)));
	TRY(send_uploads(&p));
	return fs_writes_forbidden() || io->unread ? NULL : read_back(&p);
}

static const struct json_field upload_fields[] =
	FIELDS_ONLY(struct release_upload, key, sha256, size, done);
const struct json_field release_publish_fields[] = {
	FIELD_CONST("schema", "rocsmith.publish/1"),
	FIELDS(struct release_publish, place, to, bytes, read),
	FIELD_LAST(FIELD_LIST("files", struct release_publish, uploads, upload_fields)),
};
