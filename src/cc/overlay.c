/* Translates the sources of an nvcc command and what they include from the project, for an overlay; see cc_int.h. */
#include "base/fs.h"
#include "base/hash.h"
#include "cc/cc_int.h"
#include "formats/json_fields.h"
#include "hipify/hipify.h"
#include "lang/cxx/lexer.h"

enum { MAX_SOURCE = 16 << 20, MOST_FILES = 20000 };

/* A file of the project, as clang will open it. */
struct overlay_file {
	struct str path; /* absolute and clean, links as they were named */
	struct str real; /* without links */
	struct str text;
	struct str out;   /* the translated text's file; "": it is as it was */
	struct strs mine; /* names of #includes that are files of the project */
};

struct overlay {
	struct arena *a;
	const struct cc *cc;
	const struct cc_config *config;
	struct strs dirs;   /* folders of the search, absolute */
	struct strs real;   /* the same and the current folder, without links */
	struct map by_path; /* the files, by path; NULL for one that is not to be translated */
	VEC(struct overlay_file *) files;
	struct hipify_context context;
	struct str dir; /* .rocsmith/cuda */
};

/* Is the file one of the project's? See cc_int.h. */
static bool is_ours(const struct overlay *o, struct str path, struct str real, struct str root)
{
	struct str away[] = {S("/usr"), o->config->sdk, o->cc->dir}, base = {0};
	struct str project = o->config->project;
	if (project.n)
		return fs_real(o->a, project, &base) && path_is_below(real, base);
	for (size_t i = 0; i < sizeof(away) / sizeof(away[0]); i++)
		if (away[i].n && (path_is_below(path, away[i]) || path_is_below(real, away[i])))
			return false;
	if (fs_real(o->a, root, &base) &&
		str_eq(real, path_join(o->a, base, path_rel(o->a, path, path_clean(o->a, root)))))
		return true;
	VEC_EACH (const struct str, dir, &o->real)
		if (path_is_below(real, *dir))
			return true;
	return false;
}

static struct err *add_file(struct overlay *o, struct str root, struct str name, bool sure);

/* Adds the files that this one includes. */
static struct err *add_includes(struct overlay *o, struct overlay_file *f)
{
	struct lex l = lex_new(f->text, f->path);
	struct tok t;
	l.lenient = true;
	while (lex_try(&l, &t) && t.kind != TOK_END) {
		if (t.kind != TOK_PATH)
			continue;
		struct str word = tok_text(&l, &t), name = str_sub(word, 1, word.n - 1);
		struct str root = path_dir(f->path);
		bool found = word.p[0] == '"' && fs_is_file(path_join(o->a, root, name));
		for (size_t i = 0; i < o->dirs.n && !found; i++) {
			root = o->dirs.v[i];
			found = fs_is_file(path_join(o->a, root, name));
		}
		if (!found)
			continue;
		TRY(add_file(o, root, name, false));
		struct str path = path_clean(o->a, path_join(o->a, root, name));
		if (map_get(&o->by_path, path))
			strs_put(o->a, &f->mine, name);
	}
	return NULL;
}

/* Adds root/name, and what it includes, unless it is none of the project's. sure: the user names it as a source. */
static struct err *add_file(struct overlay *o, struct str root, struct str name, bool sure)
{
	struct str path = path_clean(o->a, path_join(o->a, root, name)), real;
	if (map_has(&o->by_path, path))
		return NULL;
	map_put(&o->by_path, path, NULL);
	if (!fs_real(o->a, path, &real) || (!sure && !is_ours(o, path, real, root)))
		return NULL;
	if (o->files.n == MOST_FILES)
		return err_new(E_LIMIT, "'%.*s' includes more than %d files of the project",
			STR(o->files.v[0]->path), MOST_FILES);
	struct overlay_file *f = NEW(o->a, struct overlay_file);
	*f = (struct overlay_file){.path = path, .real = real};
	TRY(fs_read(o->a, real, MAX_SOURCE, &f->text));
	map_put(&o->by_path, path, f);
	*VEC_PUSH(o->a, &o->files) = f;
	return add_includes(o, f);
}

/* Tells the translation which names are files of the project. */
static void add_context(struct overlay *o)
{
	o->context = (struct hipify_context){
		.by_name = {.a = o->a}, .rocm = o->config->rocm, .stands_in = true};
	VEC_EACH (const struct str, gpu, &o->config->gpus)
		o->context.fnuz |= str_starts(*gpu, S("gfx940")) || str_starts(*gpu, S("gfx942"));
	for (size_t i = 0; i < o->files.n; i++) {
		const struct overlay_file *f = o->files.v[i];
		bool unit = str_ends(f->path, S(".cu"));
		o->context.warp_sync |= !unit && str_contains(f->text, S("_sync"));
		VEC_EACH (const struct str, name, &f->mine) {
			struct strs *same = map_get(&o->context.by_name, path_base(*name));
			if (!same) {
				same = NEW(o->a, struct strs);
				map_put(&o->context.by_name, path_base(*name), same);
			}
			strs_put(o->a, same, *name);
		}
	}
}

/* Makes the file's text, or finds it from an earlier run. A text that does not change is an empty file there. */
static struct err *translate_file(struct overlay *o, struct overlay_file *f)
{
	struct hipify_text text = {0};
	struct stat st;
	struct digest d;
	struct hash *h = hash_new(HASH_SHA256);
	struct str facts = str_fmt(o->a, "%.*s\n%.*s\n%d%d %.*s\n", STR(f->real),
		STR(str_join(o->a, &f->mine, S("\n"))), o->context.warp_sync, o->context.fnuz,
		STR(o->context.rocm));
	hash_add(h, facts.p, facts.n);
	hash_add(h, f->text.p, f->text.n);
	d = hash_end(h);
	struct str out = path_join(o->a, o->dir, digest_hex(o->a, &d));
	if (!fs_try_lstat(out, &st) || !S_ISREG(st.st_mode)) {
		TRY(hipify_text(o->a, f->text, f->path, &o->context, &text));
		st.st_size = text.edits.n ? (off_t)text.text.n : 0;
		TRY(fs_write(out, text.edits.n ? text.text : S(""), 0600 | FS_EXACT));
	}
	f->out = st.st_size ? out : S("");
	return NULL;
}

static struct str describe(struct overlay *o)
{
	BUF(text, o->a);
	struct json j = {.out = &text};
	json_open(&j, '{');
	json_key(&j, "version");
	json_u64(&j, 0);
	json_key(&j, "case-sensitive");
	json_str(&j, S("true"));
	json_key(&j, "use-external-names");
	json_str(&j, S("false"));
	json_key(&j, "roots");
	json_open(&j, '[');
	for (size_t i = 0; i < o->files.n; i++) {
		const struct overlay_file *f = o->files.v[i];
		if (!f->out.n)
			continue;
		json_open(&j, '{');
		json_key(&j, "type");
		json_str(&j, S("file"));
		json_key(&j, "name");
		json_str(&j, f->path);
		json_key(&j, "external-contents");
		json_str(&j, f->out);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	return buf_str(&text);
}

/* Writes the translated texts where the user can read them. */
static struct err *keep_texts(struct overlay *o, struct str dir)
{
	TRY(fs_mkdirs(dir));
	for (size_t i = 0; i < o->files.n; i++) {
		const struct overlay_file *f = o->files.v[i];
		struct str text = {0}, name = path_base(f->path);
		if (!f->out.n)
			continue;
		if (str_ends(name, S(".cu")))
			name = hipify_output_name(o->a, name);
		else
			name = str_fmt(o->a, "%.*s.hip", STR(name));
		TRY(fs_read(o->a, f->out, 2 * MAX_SOURCE, &text));
		TRY(fs_write(path_join(o->a, dir, name), text, 0644));
	}
	return NULL;
}

struct err *overlay_make(struct arena *a, const struct cc *cc, const struct cc_config *config,
	const struct nvcc *call, struct str *ret)
{
	struct overlay o = {.a = a,
		.cc = cc,
		.config = config,
		.by_path = {.a = a},
		.dir = path_join(a, cc->dir, S(".rocsmith/cuda"))};
	struct str here = path_abs(a, S(".")), real;
	*ret = S("");
	VEC_EACH (const struct str, dir, &call->dirs)
		strs_put(a, &o.dirs, path_abs(a, *dir));
	strs_add_all(a, &o.real, &o.dirs);
	strs_put(a, &o.real, here);
	VEC_EACH (const struct str, source, &call->cuda)
		strs_put(a, &o.real, path_dir(path_abs(a, *source)));
	for (size_t i = 0; i < o.real.n; i++)
		if (fs_real(a, o.real.v[i], &real))
			o.real.v[i] = real;
	VEC_EACH (const struct str, name, &call->included)
		if (fs_is_file(*name))
			TRY(add_file(&o, here, *name, false));
	VEC_EACH (const struct str, source, &call->cuda) {
		if (!fs_is_file(*source))
			continue; /* clang says so */
		TRY(add_file(&o, path_dir(path_abs(a, *source)), path_base(*source), true));
	}
	add_context(&o);
	TRY(fs_mkdirs(o.dir));
	for (size_t i = 0; i < o.files.n; i++)
		TRY(translate_file(&o, o.files.v[i]));
	struct str text = describe(&o), hash = sha256_hex(a, text);
	if (call->keep)
		TRY(keep_texts(&o, call->keep_dir.n ? call->keep_dir : S(".")));
	if (!str_contains(text, S("external-contents")))
		return NULL;
	*ret = path_join(a, o.dir, str_fmt(a, "%.*s.json", STR(hash)));
	return fs_exists(*ret) ? NULL : fs_write(*ret, text, 0600 | FS_EXACT);
}
