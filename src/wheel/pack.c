/* Makes wheels of an unpacked tree, or of another wheel with another version or other tags; see archive.h. */
#include "base/proc.h"
#include "lang/python/version.h"
#include "wheel/rewrite.h"

struct packing {
	struct arena *a;
	const struct wheel_request *q;
	struct wheel_inputs inputs;
	size_t names; /* bytes of all member names */
	/* the dist-info folder that is read: its name in two parts, METADATA, and the headers of WHEEL */
	struct str info, dist, release, metadata;
	struct dist_headers wheel;
	const struct dist_header *version; /* in METADATA */
};

/* ---- METADATA and WHEEL ---- */

/* METADATA must be about the same release as the folder. */
static struct err *check_metadata(struct packing *p, const struct dist_headers *meta)
{
	const struct dist_header *name = dist_header(meta, "Name");
	(void)dist_stem_cut(p->info, &p->dist, &p->release);
	p->version = dist_header(meta, "Version");
	if (!name || !p->version || str_contains(p->version->value, S("\n")))
		return err_new(E_WHEEL, "'%.*s/METADATA' has no name or no version", STR(p->info));
	if (str_eq(wheel_normalise(p->a, name->value), wheel_normalise(p->a, p->dist)) &&
		wheel_same_version(p->version->value, p->release))
		return NULL;
	return err_new(E_WHEEL, "'%.*s/METADATA' is that of '%.*s' %.*s", STR(p->info),
		STR(name->value), STR(p->version->value));
}

/* A file name stands for all combinations of its tags: the Tag lines must be exactly those. */
static struct err *read_tags(struct packing *p, struct wheel_name *n)
{
	struct strs lines = {0}, all = {0}, kinds[3] = {0};
	struct str *const words[] = {&n->python, &n->abi, &n->platform};
	size_t combinations = 1;
	VEC_EACH (const struct dist_header, h, &p->wheel)
		if (dist_header_is(h, "tag") && lines.n < WHEEL_TAGS)
			wheel_tags_add(p->a, h->value, &lines);
	VEC_EACH (const struct str, tag, &lines) {
		struct str rest = *tag, piece;
		strs_put(p->a, &all, *tag);
		for (unsigned k = 0; k < 3 && str_next(&rest, '-', &piece); k++)
			strs_put(p->a, &kinds[k], piece);
	}
	for (unsigned k = 0; k < 3; k++) {
		strs_sort(&kinds[k]);
		*words[k] = str_join(p->a, &kinds[k], S("."));
		combinations *= kinds[k].n;
	}
	const struct dist_header *build = dist_header(&p->wheel, "Build");
	n->build = build ? build->value : S("");
	if (all.n && lines.n < WHEEL_TAGS && combinations == all.n)
		return NULL;
	return err_new(E_WHEEL,
		"the Tag lines of '%.*s/WHEEL' are not all combinations of tags, as a file name "
		"needs them",
		STR(p->info));
}

/* ---- the result ---- */

static struct err *add_input(struct packing *p, struct zip_input in, uint64_t size)
{
	p->names += in.name.n;
	if (p->inputs.n == WHEEL_MEMBERS || p->names > WHEEL_NAMES)
		return err_new(E_LIMIT, "'%.*s' has more than %d files, or too long names",
			STR(p->q->from), WHEEL_MEMBERS);
	*VEC_PUSH(p->a, &p->inputs) = in;
	p->inputs.size += size;
	return NULL;
}

/* q->to is a folder, or the path of the wheel itself. */
struct err *wheel_place(
	struct arena *a, const struct wheel_request *q, const struct wheel_name *n, struct str *ret)
{
	struct wheel_name checked;
	struct stat st;
	struct str name = wheel_name_text(a, n), to = q->to;
	bool named = str_ends(to, S(".whl"));
	if (str_chr(name, '/') < name.n)
		return err_new(E_WHEEL, "'%.*s' is not a name for a wheel", STR(name));
	TRY(wheel_name_parse(a, name, &checked));
	if (named && !str_eq(path_base(to), name))
		return err_new(E_USAGE, "this wheel has to be named '%.*s', not '%.*s'", STR(name),
			STR(path_base(to)));
	*ret = named ? to : path_join(a, to, name);
	if (!fs_try_lstat(*ret, &st))
		return NULL;
	if (!S_ISREG(st.st_mode))
		return err_new(E_IO, "'%.*s' exists and is not a file", STR(*ret));
	return q->force ? NULL
			: err_hint(err_new(E_USAGE, "'%.*s' is there already", STR(*ret)),
				  "--force replaces it");
}

static struct err *write_packed(struct packing *p, struct wheel_done *ret)
{
	struct rewrite x = {.a = p->a,
		.to = ret->path,
		.time = p->q->time,
		.epoch = p->q->epoch,
		.jobs = p->q->jobs,
		.out = p->inputs};
	ret->source = p->q->from;
	ret->members = p->inputs.n + 1;
	ret->size = p->inputs.size;
	return rewrite_write(&x);
}

/* ---- from a tree ---- */

static struct err *visit_file(void *user, struct fs_entry *e)
{
	struct packing *p = user;
	struct str path = str_dup(p->a, e->path);
	bool top = str_chr(path, '/') == path.n;
	TRY(cancel_check());
	if (S_ISDIR(e->st.st_mode) && top && str_ends(path, S(DIST_INFO))) {
		if (p->info.n)
			return err_new(E_WHEEL, "'%.*s' has two dist-info folders: '%.*s', '%.*s'",
				STR(p->q->from), STR(p->info), STR(path));
		p->info = path;
	}
	if (S_ISDIR(e->st.st_mode) || wheel_is_record(p->info, path))
		return NULL;
	if (!S_ISREG(e->st.st_mode))
		return err_new(E_WHEEL, "'%.*s' is a link or a device: a wheel has only files",
			STR(path_join(p->a, p->q->from, path)));
	struct zip_input in = {.name = path,
		.path = path_join(p->a, p->q->from, path),
		.mode = e->st.st_mode & 0111 ? 0755 : 0644};
	return add_input(p, in, (uint64_t)e->st.st_size);
}

static struct err *read_headers(
	struct packing *p, const char *file, struct str *ret_text, struct dist_headers *ret)
{
	struct str path = str_fmt(p->a, "%.*s/%s", STR(p->info), file);
	TRY(fs_read(p->a, path_join(p->a, p->q->from, path), WHEEL_TEXT, ret_text));
	TRY_CTX(dist_headers_parse(p->a, *ret_text, ret), "cannot read '%.*s'", STR(path));
	return NULL;
}

struct err *wheel_pack(struct arena *a, const struct wheel_request *q, struct wheel_done *ret)
{
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct packing p = {.a = a, .q = q};
	struct wheel_name name = {0};
	struct dist_headers meta;
	struct str in, from, text;
	*ret = (struct wheel_done){0};
	if (fs_real(a, q->to, &in) && fs_real(a, q->from, &from) &&
		path_is_inside(path_rel(a, in, from)))
		return err_new(E_USAGE,
			"the wheel of '%.*s' must not lie in that folder itself: '%.*s'",
			STR(q->from), STR(q->to));
	TRY_CTX(fs_walk(q->from, visit_file, &p), "cannot pack '%.*s'", STR(q->from));
	/* a file that was found may be a link by the time that it is read */
	TRY(fs_guard_sources(q->from, &guard));
	if (!p.info.n)
		return err_new(E_WHEEL,
			"'%.*s' is no unpacked wheel: there is no folder NAME-VERSION" DIST_INFO
			" in it",
			STR(q->from));
	TRY(read_headers(&p, "METADATA", &p.metadata, &meta));
	TRY(read_headers(&p, "WHEEL", &text, &p.wheel));
	TRY(check_metadata(&p, &meta));
	name.dist = p.dist;
	name.version = p.release;
	TRY(read_tags(&p, &name));
	TRY(wheel_place(a, q, &name, &ret->path));
	p.inputs.info = p.info;
	return write_packed(&p, ret);
}

/* ---- from a wheel ---- */

/* Changes tag sets and other parts of a name. "+TAG.TAG" adds tags, "-TAG.TAG" removes them, others replace the set;
 * sorted as Python's `wheel tags` does. */
struct err *wheel_new_name(struct arena *a, const struct wheel_request *q, struct wheel_name *n)
{
	const struct {
		struct str value, *part;
	} set[] = {{q->python, &n->python}, {q->abi, &n->abi}, {q->platform, &n->platform}};
	const struct version *version;
	for (size_t i = 0; i < sizeof(set) / sizeof(*set); i++) {
		struct str want = set[i].value, *tags = set[i].part;
		if (!want.p)
			continue;
		bool more = str_starts(want, S("+")), fewer = str_starts(want, S("-"));
		struct strs old = str_split(a, *tags, '.'), now = {0},
			    named = str_split(a, str_sub(want, more || fewer, want.n), '.');
		VEC_EACH (const struct str, tag, &old)
			if (more || (fewer && !strs_has(&named, *tag)))
				strs_put(a, &now, *tag);
		if (fewer && !now.n)
			return err_new(E_USAGE,
				"without '%.*s' there would be no tag in place of '%.*s'",
				STR(str_sub(want, 1, want.n)), STR(*tags));
		if (more)
			strs_put_all(a, &now, &named);
		strs_sort(&now);
		*tags = now.n ? str_join(a, &now, S(".")) : want;
	}
	n->build = q->build.p ? q->build : n->build;
	if (!q->local.p) {
		struct str now = wheel_with_versions(a, n->version, &q->renames);
		if (str_eq(now, n->version))
			return NULL;
		TRY_CTX(version_parse(a, now, &version), "'%.*s' is no version", STR(now));
		n->version = version_text(a, version);
		return NULL;
	}
	struct str text = str_sub(n->version, 0, str_chr(n->version, '+'));
	text = str_fmt(a, "%.*s%s%.*s", STR(text), q->local.n ? "+" : "", STR(q->local));
	TRY_CTX(version_parse(a, text, &version), "'%.*s' is no local version", STR(q->local));
	n->version = version_text(a, version);
	return NULL;
}

struct str wheel_renamed(struct arena *a, struct str name, struct str old, struct str now)
{
	static const char *const folders[] = {DIST_INFO "/", ".data/", NULL};
	struct str rest = str_sub(name, old.n, name.n);
	bool ours = str_starts(name, old) && str_starts_one_of(rest, folders);
	return ours ? str_fmt(a, "%.*s%.*s", STR(now), STR(rest)) : name;
}

struct str wheel_installed(struct str name, struct str elsewhere)
{
	static const char *const libraries[] = {"platlib", "purelib", NULL};
	struct str top, rest, kind, path;
	if (!str_cut(name, '/', &top, &rest) || !str_ends(top, S(".data")))
		return name;
	return str_cut(rest, '/', &kind, &path) && str_is_one_of(kind, libraries) ? path
										  : elsewhere;
}

/* The text of a member with other versions; *in stays if it names none. */
static struct err *rename_text(struct arena *a, const struct wheel_request *q, struct zip_input *in)
{
	struct str text;
	if (in->member->size > WHEEL_TEXT || !wheel_has_versions(a, in->name))
		return NULL;
	TRY(zip_read(a, in->zip, in->member, WHEEL_TEXT, &text));
	struct str now = wheel_with_versions(a, text, &q->renames);
	if (!str_eq(now, text))
		*in = (struct zip_input){.name = in->name, .mode = in->mode, .content = now};
	return NULL;
}

struct err *wheel_under_name(struct arena *a, const struct wheel_request *request,
	const struct wheel *w, const struct wheel_name *n, struct wheel_inputs *ret)
{
	struct packing p = {.a = a, .q = request, .info = w->info};
	struct wheel_request q = *request;
	BUF(b, a);
	struct dist_headers meta;
	struct str text, wheel = path_join(a, w->info, S("WHEEL")),
			 metadata = path_join(a, w->info, S("METADATA"));
	TRY(wheel_headers(a, w, "WHEEL", &text, &p.wheel));
	TRY(wheel_headers(a, w, "METADATA", &p.metadata, &meta));
	TRY(check_metadata(&p, &meta));
	bool other = q.local.p || !str_eq(n->version, w->name.version);
	if (q.local.p)
		wheel_renames_local(a, p.version->value, n->version, &q.renames);
	struct str requires =
		wheel_new_metadata(a, &q, p.metadata, &meta, other ? n->version : S(""));
	struct str old = dist_stem(w->info),
		   now = str_fmt(a, "%.*s-%.*s", STR(p.dist), STR(other ? n->version : p.release));
	/* WHEEL with the build number and tags of the name */
	VEC_EACH (const struct dist_header, h, &p.wheel)
		if (!dist_header_is(h, "tag") && !dist_header_is(h, "build"))
			buf_fmt(&b, "%.*s: %.*s\n", STR(h->key),
				STR(str_replace(a, h->value, S("\n"), S("\n "))));
	wheel_add_tags(&b, n);
	VEC_EACH (const struct wheel_member, m, &w->members) {
		struct zip_input in = wheel_input(w, m);
		bool tags = str_eq(in.name, wheel);
		bool renamed = str_eq(in.name, metadata) && !str_eq(requires, p.metadata);
		if (!m->sha256.n)
			continue;
		if (q.renames.n && !tags && !renamed)
			TRY(rename_text(a, &q, &in));
		if (tags || renamed)
			in = (struct zip_input){
				.mode = in.mode, .content = tags ? buf_str(&b) : requires};
		in.name = wheel_renamed(a, m->zip->name, old, now);
		TRY(add_input(&p, in, in.member ? m->zip->size : in.content.n));
	}
	p.inputs.info = str_fmt(a, "%.*s" DIST_INFO, STR(now));
	*ret = p.inputs;
	return NULL;
}

struct err *wheel_retag(struct arena *a, const struct wheel_request *q, struct wheel_done *ret)
{
	CLEANUP(wheel_close) struct wheel w;
	struct packing p = {.a = a, .q = q};
	*ret = (struct wheel_done){0};
	TRY(wheel_open(a, q->from, &w));
	struct wheel_name name = w.name;
	TRY(wheel_new_name(a, q, &name));
	TRY(wheel_place(a, q, &name, &ret->path));
	TRY(wheel_check(&w, q->jobs, "Checking", NULL, NULL));
	TRY(wheel_under_name(a, q, &w, &name, &p.inputs));
	return write_packed(&p, ret);
}
