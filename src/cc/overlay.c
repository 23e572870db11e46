/* Translates the sources of an nvcc command and what they include from the project, for an overlay; see cc_int.h. */
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "cc/cc_int.h"
#include "formats/json_fields.h"
#include "formats/node.h"
#include "hipify/hipify.h"
#include "know/know.h"
#include "know/message.h"
#include "lang/cxx/lexer.h"

enum { MAX_SOURCE = 16 << 20, MOST_FILES = 20000 };

/* A file of the project, as clang will open it. */
struct overlay_file {
	struct str path; /* absolute and clean, links as they were named */
	struct str real; /* without links */
	struct str text;
	struct str out;   /* the translated text's file; "": it is as it was */
	struct strs mine; /* names of #includes that are files of the project */
	bool source;      /* the user names it */
};

struct overlay {
	struct arena *a;
	const struct cc *cc;
	const struct cc_config *config;
	struct strs dirs;   /* folders of the search, absolute */
	struct strs real;   /* the same and the current folder, without links */
	struct map by_path; /* the files, by path; NULL for one that is not to be translated */
	bool modern;        /* a file includes what needs C++17 in ROCm */
	VEC(struct overlay_file *) files;
	struct overlay_list shown; /* the files that the translation changed */
	struct hipify_context context;
	struct str dir;   /* .rocsmith/cuda */
	struct str rules; /* this program's, which another one may have changed since */
};

/* Is root/name, which is at `real` without links, one of the project's? See cc_int.h. */
static bool is_ours(const struct overlay *o, struct str root, struct str name, struct str real)
{
	struct str away[] = {o->cc->dir, o->config->sdk, S("/usr")}, base = {0};
	struct str project = o->config->project,
		   path = path_clean(o->a, path_join(o->a, root, name));
	for (size_t i = 0; i < (project.n ? 2 : 3); i++)
		if (away[i].n && (path_is_below(path, away[i]) || path_is_below(real, away[i])))
			return false;
	if (str_contains(real, S("/site-packages/")))
		return false;
	if (project.n)
		return fs_real(o->a, project, &base) && path_is_below(real, base);
	if (name.p[0] != '/' && hipify_is_source(name) && fs_real(o->a, root, &base) &&
		str_eq(real, path_clean(o->a, path_join(o->a, base, name))))
		return true;
	VEC_EACH (const struct str, dir, &o->real)
		if (path_is_below(real, *dir))
			return true;
	return false;
}

/* Adds root/name unless it is none of the project's. sure: the user names it as a source. */
static struct err *add_file(struct overlay *o, struct str root, struct str name, bool sure)
{
	struct str path = path_clean(o->a, path_join(o->a, root, name)), real, text;
	if (map_has(&o->by_path, path))
		return NULL;
	map_put(&o->by_path, path, NULL);
	if (!fs_real(o->a, path, &real) || (!sure && !is_ours(o, root, name, real)))
		return NULL;
	if (o->files.n == MOST_FILES)
		return err_new(E_LIMIT, "'%.*s' includes more than %d files of the project",
			STR(o->files.v[0]->path), MOST_FILES);
	struct err *e = fs_read(o->a, real, MAX_SOURCE, &text);
	if (e && !sure) { /* large data, for example: clang reads it as it is */
		err_free(e);
		return NULL;
	}
	TRY(e);
	struct overlay_file *f = NEW(o->a, struct overlay_file);
	*f = (struct overlay_file){.path = path, .real = real, .text = text, .source = sure};
	map_put(&o->by_path, path, f);
	*VEC_PUSH(o->a, &o->files) = f;
	return NULL;
}

/* Adds the files that this one includes. */
static struct err *add_includes(struct overlay *o, struct overlay_file *f)
{
	struct lex l = lex_new(f->text, f->path);
	struct tok t;
	ARENA(tmp);
	MAP(seen, &tmp);
	l.lenient = true;
	while (lex_try(&l, &t) && t.kind != TOK_END) {
		struct str word = tok_text(&l, &t), name = str_sub(word, 1, word.n - 1);
		if (t.kind != TOK_PATH || !map_put(&seen, word, f))
			continue;
		o->modern |= str_starts(name, S("thrust/")) || str_starts(name, S("cub/"));
		struct str root = path_dir(f->path), path = path_join(&tmp, root, name);
		bool found = word.p[0] == '"' && fs_is_file(path);
		for (size_t i = 0; i < o->dirs.n && !found; i++) {
			root = o->dirs.v[i];
			path = path_join(&tmp, root, name);
			found = fs_is_file(path);
		}
		path = path_clean(&tmp, path);
		if (found && !map_has(&o->by_path, path))
			TRY(add_file(o, root, name, false));
		if (found && map_get(&o->by_path, path))
			strs_put(o->a, &f->mine, name);
	}
	return NULL;
}

static struct hipify_context context_for(const struct cc_config *config)
{
	struct hipify_context context = {.rocm = config->rocm, .stands_in = true};
	VEC_EACH (const struct str, gpu, &config->gpus)
		context.fnuz |= str_starts(*gpu, S("gfx940")) || str_starts(*gpu, S("gfx942"));
	return context;
}

/* Gathers the facts about all files that each translation needs. */
static void gather_facts(struct overlay *o)
{
	o->context = context_for(o->config);
	for (size_t i = 0; i < o->files.n; i++) {
		const struct overlay_file *f = o->files.v[i];
		bool unit = str_ends(f->path, S(".cu"));
		o->context.warp_sync |= !unit && hipify_uses_warps(f->text);
		o->context.calls |= unit ? 0 : hipify_calls(f->text);
	}
}

/* Makes the file's text, or finds it from an earlier run. A text that does not change is an empty file there. */
static struct err *translate_file(struct overlay *o, struct overlay_file *f)
{
	struct hipify_context context = o->context;
	struct hipify_text text = {0};
	struct stat st;
	struct hash *h = hash_new(HASH_SHA256);
	/* nvcc includes its runtime in each source, whatever -x made one */
	bool odd = f->source && !str_ends(f->path, S(".cu"));
	struct str name = odd ? str_fmt(o->a, "%.*s.cu", STR(f->path)) : f->path;
	struct str facts = str_fmt(o->a, "%.*s %.*s\n%.*s\n%d %u %d %.*s\n", STR(f->real),
		STR(path_ext(name)), STR(str_join(o->a, &f->mine, S("\n"))), context.warp_sync,
		context.calls, context.fnuz, STR(context.rocm));
	hash_add(h, facts.p, facts.n);
	hash_add(h, o->rules.p, o->rules.n);
	hash_add(h, f->text.p, f->text.n);
	struct str out = path_join(o->a, o->dir, digest_hex(o->a, hash_end(h)));
	if (utf8_end(f->path) < f->path.n) /* the overlay's description could not name it */
		return err_new(E_HIPIFY, "the name '%.*s' is not UTF-8", STR(f->path));
	if (!fs_try_lstat(out, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
		(st.st_mode & 022)) {
		context.by_name = (struct map){.a = o->a};
		VEC_EACH (const struct str, mine, &f->mine) {
			struct strs *same = map_get(&context.by_name, path_base(*mine));
			same = same ? same : NEW(o->a, struct strs);
			map_put(&context.by_name, path_base(*mine), same);
			strs_put(o->a, same, *mine);
		}
		TRY(hipify_text(o->a, f->text, name, &context, &text));
		st.st_size = text.edits.n ? (off_t)text.text.n : 0;
		TRY(fs_write(out, text.edits.n ? text.text : S(""), 0600 | FS_EXACT));
	}
	f->out = st.st_size ? out : S("");
	return NULL;
}

/* The overlay's description, as clang's RedirectingFileSystem reads it (llvm/Support/VirtualFileSystem.h). */
static const struct json_field file_fields[] = {
	FIELD_CONST("type", "file"),
	FIELD("name", struct overlay_shown, path),
	FIELD_LAST(FIELD("external-contents", struct overlay_shown, out)),
};
static const struct json_field overlay_fields[] = {
	FIELD_CONST("version", "0"),
	FIELD_CONST("case-sensitive", "true"),
	FIELD_CONST("use-external-names", "false"),
	FIELD_LAST(FIELD_LIST("roots", struct overlay_list, files, file_fields)),
};

struct err *overlay_read(struct arena *a, struct str path, struct overlay_list *ret)
{
	const struct node *doc;
	TRY(json_read(a, path, &doc));
	return json_fields_read(a, doc, overlay_fields, ret);
}

struct err *overlay_write(
	struct arena *a, const struct cc *cc, const struct overlay_list *list, struct str *ret)
{
	struct str text = json_document(a, 1, overlay_fields, list);
	*ret = str_fmt(a, "%.*s/.rocsmith/cuda/%.*s.json", STR(cc->dir), STR(sha256_hex(a, text)));
	return fs_exists(*ret) ? NULL : fs_write(*ret, text, 0600 | FS_EXACT);
}

/* Writes the translated texts where the user can read them. */
static struct err *keep_texts(struct overlay *o, struct str dir)
{
	TRY(fs_mkdirs(dir));
	VEC_EACH (const struct overlay_shown, f, &o->shown.files) {
		/* a.hip or a.cu.hip may be the user's own */
		struct str text = {0},
			   name = str_fmt(o->a, "%.*s.nvcc.hip", STR(path_base(f->path)));
		TRY(fs_read(o->a, f->out, 2 * MAX_SOURCE, &text));
		TRY(fs_write(path_join(o->a, dir, name), text, 0644));
	}
	return NULL;
}

struct err *overlay_make(struct arena *a, const struct cc *cc, const struct cc_config *config,
	struct nvcc *call, struct str *ret)
{
	struct overlay o = {.a = a,
		.cc = cc,
		.config = config,
		.by_path = {.a = a},
		.rules = fs_state(a, S("/proc/self/exe")),
		.dir = path_join(a, cc->dir, S(".rocsmith/cuda"))};
	struct str here = path_abs(a, S(".")), real;
	*ret = S("");
	for (size_t i = 0; i < call->words.n; i++) {
		struct str word = call->words.v[i], before = i ? call->words.v[i - 1] : S("");
		bool apart = str_eq(before, S("-I")) || str_eq(before, S("-isystem"));
		if (apart || (str_starts(word, S("-I")) && word.n > 2))
			strs_put(a, &o.dirs, path_abs(a, str_sub(word, apart ? 0 : 2, word.n)));
	}
	strs_add_all(a, &o.real, &o.dirs);
	strs_put(a, &o.real, here);
	VEC_EACH (const struct str, source, &call->cuda)
		strs_put(a, &o.real, path_dir(path_abs(a, *source)));
	for (size_t i = 0; i < o.real.n; i++)
		if (fs_real(a, o.real.v[i], &real))
			o.real.v[i] = real;
	for (size_t i = 1; i < call->words.n; i++)
		if (str_eq(call->words.v[i - 1], S("-include")) && fs_is_file(call->words.v[i]))
			TRY(add_file(&o, here, call->words.v[i], false));
	VEC_EACH (const struct str, source, &call->cuda)
		if (fs_is_file(*source)) /* clang says so otherwise */
			TRY(add_file(&o, path_dir(path_abs(a, *source)), path_base(*source), true));
	for (size_t i = 0; i < o.files.n; i++)
		TRY(add_includes(&o, o.files.v[i]));
	gather_facts(&o);
	call->modern = o.modern;
	TRY(fs_check_own(o.dir));
	TRY(fs_mkdirs(o.dir));
	for (size_t i = 0; i < o.files.n; i++) {
		struct overlay_file *f = o.files.v[i];
		struct err *e = translate_file(&o, f);
		if (e && e->code == E_HIPIFY && !f->source) {
			err_free(e); /* perhaps no C++ at all: it is included as it is */
			continue;
		}
		TRY(e);
		if (f->out.n)
			*VEC_PUSH(a, &o.shown.files) = (struct overlay_shown){f->path, f->out};
	}
	if (call->keep)
		TRY(keep_texts(&o, call->keep_dir.n ? call->keep_dir : S(".")));
	return o.shown.files.n ? overlay_write(a, cc, &o.shown, ret) : NULL;
}

/* ---- names that HIP lacks ---- */

static void add_reason(struct arena *a, const struct message *m, const struct untranslated *u,
	struct strs *io_notes)
{
	if (u && u->suggestion.n)
		strs_put(a, io_notes,
			str_fmt(a, "%.*s:%u:%u: note: '%.*s' has no counterpart in HIP: %.*s",
				STR(m->path), u->line, u->col, STR(u->name), STR(u->suggestion)));
}

/* Adds notes about the names that the translation leaves in the line of a message. What is wrong with inline PTX may be an
 * operand, which stands some lines further down. */
static void add_reasons(struct arena *a, const struct message *m, const struct hipify_text *text,
	struct strs *io_notes)
{
	enum { FAR = 40 };
	bool macro = str_starts(m->text, S("expanded from macro"));
	const struct untranslated *above = NULL;
	VEC_EACH (const struct untranslated, u, &text->untranslated) {
		bool said = macro || u->col == m->col ||
			    str_contains(m->text, str_fmt(a, "'%.*s'", STR(u->name)));
		if (u->line == m->line && said)
			add_reason(a, m, u, io_notes);
		if (u->ptx && u->line <= m->line && m->line - u->line < FAR)
			above = u;
	}
	if (str_ends(m->text, S(" in asm")))
		add_reason(a, m, above, io_notes);
}

/* Adds a note about a header of ROCm that the SDK was installed without. */
static void add_component(struct arena *a, const struct message *m, struct strs *io_notes)
{
	struct str header;
	const struct know_library *l =
		know_match("header", m->text, &header) ? know_header(header) : NULL;
	if (l && *l->name)
		strs_put(a, io_notes,
			str_fmt(a,
				"%.*s:%u:%u: note: '%.*s' is of ROCm's component %s: 'rocsmith sdk "
				"install' with '--components %s' adds it to an SDK",
				STR(m->path), m->line, m->col, STR(header), l->name, l->name));
}

struct str overlay_explain(struct arena *a, const struct cc_config *config, struct str said)
{
	const struct hipify_context context = context_for(config);
	BUF(ret, a);
	MAP(texts, a);
	struct strs notes = {0};
	struct str line, source;
	bool late = str_contains(said, S("ld-temp.o <inline asm>"));
	while (said.n) {
		struct message m;
		struct hipify_text *text;
		(void)str_next(&said, '\n', &line);
		bool message = message_parse(line, &m);
		/* the notes about an error end with the next one, or with "1 error generated" */
		if ((message && !str_eq(m.kind, S("note"))) ||
			str_contains(line, S(" generated"))) {
			VEC_EACH (const struct str, note, &notes)
				buf_fmt(&ret, "%.*s\n", STR(*note));
			notes.n = 0;
		}
		buf_fmt(&ret, "%.*s\n", STR(line));
		if (!message || !m.line)
			continue;
		add_component(a, &m, &notes);
		text = map_get(&texts, m.path);
		if (!text) {
			text = NEW(a, struct hipify_text);
			struct err *e = fs_read(a, m.path, MAX_SOURCE, &source);
			if (!e)
				e = hipify_text(a, source, m.path, &context, text);
			err_free(e); /* a file that is not ours to read has no reasons */
			map_put(&texts, str_dup(a, m.path), text);
		}
		add_reasons(a, &m, text, &notes);
	}
	VEC_EACH (const struct str, note, &notes)
		buf_fmt(&ret, "%.*s\n", STR(*note));
	if (late)
		buf_fmt(&ret,
			"note: with -rdc=true inline PTX is read only here: 'rocsmith hipify "
			"--check DIR' lists what HIP has no counterpart for, with its places\n");
	return str_dup(a, buf_str(&ret));
}
