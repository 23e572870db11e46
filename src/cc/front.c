/* Runs a device pass with the front end of another GPU where that gives the same object; see compile.h.
 *
 * A store has for each front end KEY.ll (its first line has a hash of the rest, and one of all that another GPU must have
 * in common), KEY.said (its messages), and KEY.bad if an object differed from that of a direct pass. KEY begins with a hash of the
 * command (BASE); BASE.lock is held while one is made. text.lock is held by a pass that makes a text, until it has told what
 * others need not ask: they wait, instead of finding out the same at the same time. For each object that may serve other GPUs
 * there are BACK.co and BACK.what: its hash, GPU and number, and the comparisons that the code makes with that number. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/map.h"
#include "cc/cached.h"
#include "cc/cc_int.h"

enum {
	MAX_TEXT = 256 << 20,
	MAX_SAID = 1 << 20,
	SAMPLE = 50,     /* FRONT_AUTO: one pass in so many is compared with the direct one */
	KEPT = 256,      /* files of a store that stay when another group comes */
	ALONE = 4,       /* so many front ends of which none was shared: nothing can be */
	TICK = 10000000, /* ns: files get the time of the system's last tick */
};

#define CHANGED "the compiler is not the one with which the build began"
#define WRONG "an object of this front end was wrong"
#define OTHER_TEXT "its text is another for each GPU"
#define NAMED "named"              /* a line of the file "made", as front_how_names are */
#define HEAD "; rocsmith front 2 " /* a comment for LLVM */

const char *const front_share_names[] = {"off", "auto", "prove", NULL};
const char *const front_how_names[] = {"direct", "made", "shared", "cloned"};

enum front_share front_share_of(struct str name)
{
	return str_eq(name, S("prove"))  ? FRONT_PROVE
	       : str_eq(name, S("auto")) ? FRONT_AUTO
					 : FRONT_OFF;
}

struct front_call {
	const struct front *f;
	const struct compile_pass *pass;
	const struct strs *argv;
	struct front_result *ret;
	struct front_commands commands;
	/* base, key: hex; files are store/KEY.ll ... Without .text it is known to be that of another GPU. */
	struct asked_text t;
	int asking;      /* holds text.lock; or -1 */
	const char *why; /* the pass must be direct, for this reason; or NULL */
};

static struct str stored(struct arena *a, const struct front_call *c, const char *ext)
{
	return str_fmt(a, "%.*s/%.*s%s", STR(c->f->store), STR(c->t.key), ext);
}

static struct str in_work(struct arena *a, const struct front_call *c, const char *name)
{
	return path_join(a, c->pass->work, str_from(name));
}

/* ---- what saves work where nothing can be shared ---- */

/* Is it known of this source that each GPU has a front end of its own? It is if its text has the GPU's name (as rocPRIM's has),
 * and if several front ends have been made in this build and none been shared. Then the pass is direct. */
static struct err *is_alone(struct arena *a, struct front_call *c)
{
	struct str made;
	TRY(fs_read_opt(a, path_join(a, c->f->store, S("made")), MAX_SAID, &made));
	struct strs lines = str_split(a, str_trim(made), '\n');
	if (c->f->turn.n && lines.n && str_eq(lines.v[0], c->f->turn) &&
		(strs_has(&lines, S(NAMED)) || (lines.n > ALONE && !strs_has(&lines, S("shared")))))
		c->why = OTHER_TEXT;
	return NULL;
}

static struct err *count_front_end(struct arena *a, const struct front_call *c, const char *how)
{
	struct str path = path_join(a, c->f->store, S("made")), made;
	if (!c->f->turn.n)
		return NULL;
	TRY(fs_read_opt(a, path, MAX_SAID, &made));
	if (!str_starts(made, str_fmt(a, "%.*s\n", STR(c->f->turn))))
		made = str_fmt(a, "%.*s\n", STR(c->f->turn));
	made = str_fmt(a, "%.*s%s\n", STR(made), how);
	return made.n > MAX_SAID ? NULL : fs_write(path, made, 0644);
}

/* ---- running programs ---- */

static struct err *run_step(
	struct arena *a, struct front_call *c, const struct strs *argv, struct proc_result *r)
{
	TRY(c->f->run(a, c->f, argv, r));
	proc_add_costs(&c->ret->run, r);
	return NULL;
}

static struct err *run_direct(struct arena *a, struct front_call *c, const char *why)
{
	struct proc_result r;
	TRY(run_step(a, c, c->argv, &r));
	c->ret->run.status = r.status;
	c->ret->run.err = r.err;
	c->ret->run.out = r.out;
	c->ret->how = FRONT_DIRECT;
	c->ret->why = why;
	c->ret->said = c->ret->doubt = S("");
	return NULL;
}

enum words_for { FOR_KEY, FOR_TEXT, FOR_IR, FOR_PROBE, FOR_MACROS };

/* The command of a front end that writes `out`; for the key, what decides its result besides text and features. */
static struct strs front_words(
	struct arena *a, const struct front_call *c, enum words_for what, struct str out)
{
	static const char *const libraries[] = {"-mlink-builtin-bitcode", "-o", NULL};
	static const char *const depends[] = {"-dependency-file", "-MT", NULL};
	const struct clang_words *known = clang_words_table();
	const struct strs *w = &c->commands.cc1;
	struct strs ret = {0};
	for (size_t i = 0; i < w->n; i++) {
		struct str word = w->v[i];
		bool two = str_is_one_of(word, libraries) ||
			   (what != FOR_TEXT && str_is_one_of(word, depends)) ||
			   (what == FOR_KEY && str_eq(word, S("-target-cpu"))) ||
			   (what == FOR_MACROS && str_is_one_of(word, known->of_files));
		bool isa = what == FOR_PROBE && str_eq(word, S("-mlink-builtin-bitcode")) &&
			   i + 1 < w->n && str_contains(w->v[i + 1], S("oclc_isa_version"));
		if (!isa && (two || (what != FOR_TEXT && str_eq(word, S("-sys-header-deps"))))) {
			i += two;
			continue;
		}
		if (what == FOR_MACROS && str_starts_one_of(word, known->of_place_begins))
			continue;
		bool pair = isa || str_is_one_of(word, known->of_probe_two);
		if (what == FOR_PROBE && i && !pair && !str_is_one_of(word, known->of_probe))
			continue;
		if (str_eq(word, S("-emit-obj")) && what != FOR_KEY)
			word = what == FOR_TEXT || what == FOR_MACROS ? S("-E") : S("-emit-llvm");
		strs_add(a, &ret, word);
		if (pair && i + 1 < w->n)
			strs_add(a, &ret, w->v[++i]);
	}
	if (what == FOR_KEY)
		return ret;
	/* -x hip SOURCE stay last */
	struct str source = what == FOR_PROBE    ? in_work(a, c, "probe.hip")
			    : what == FOR_MACROS ? S("/dev/null")
						 : c->commands.source;
	ret.n -= what == FOR_PROBE ? 2 : 3;
	if (what == FOR_MACROS)
		strs_add(a, &ret, S("-dM"));
	if (what == FOR_IR || what == FOR_PROBE)
		strs_add(a, &ret, S("-disable-llvm-passes"));
	if (what == FOR_IR) /* the order of uses decides what the optimiser does first */
		strs_add(a, &ret, S("-emit-llvm-uselists"));
	STRS_ADD(a, &ret, S("-o"), out, S("-x"), S("hip"), source);
	return ret;
}

/* ---- the steps of a shared pass; each may find that it must be direct ---- */

static struct err *go_direct(struct front_call *c, const char *why)
{
	c->why = why;
	return NULL;
}

/* Finds the two commands of the pass. */
static struct err *ask_driver(struct arena *a, struct front_call *c)
{
	struct proc_result r;
	struct strs words = {0};
	TRY(asked_commands(a, c->f, c->pass, c->argv, &r));
	proc_add_costs(&c->ret->run, &r);
	if (r.status) {
		strs_add_all(a, &words, c->argv);
		strs_add(a, &words, S("-###"));
		TRY(run_step(a, c, &words, &r));
	}
	c->why = r.status ? "the driver does not show its commands"
			  : front_commands(a, r.err, &c->commands);
	return NULL;
}

/* Asks clang about the GPU: its features are those of an empty kernel, its number is in the device libraries, and of
 * these builtins it accepts some. */
static struct err *run_probe(
	struct arena *a, struct front_call *c, const struct strs *builtins, bool *ret_good)
{
	struct proc_result r;
	struct str said, source = in_work(a, c, "probe.hip"), out = in_work(a, c, "probe.ll");
	struct strs words = front_words(a, c, FOR_PROBE, out);
	BUF(probe, a);
	buf_add(&probe,
		S("extern \"C\" __attribute__((constant)) int __oclc_ISA_version;\n"
		  "__attribute__((global)) void k(int *p) { *p = __oclc_ISA_version; }\n"
		  "extern \"C\" __attribute__((device, used)) char rocsmith_accepted[] = \"_\"\n"));
	VEC_EACH (const struct str, name, builtins)
		buf_fmt(&probe, "#if __has_builtin(%.*s)\n\"1\"\n#else\n\"0\"\n#endif\n",
			STR(*name));
	buf_add(&probe, S(";\n"));
	TRY(fs_write(source, buf_str(&probe), FS_LOOSE));
	TRY(run_step(a, c, &words, &r));
	*ret_good = false;
	if (r.status)
		return NULL;
	TRY(fs_read_below(a, c->pass->work, S("probe.ll"), MAX_SAID, &said));
	struct asked_gpu gpu = {
		.macros = c->t.gpu.macros, .builtins = *builtins, .isa = ir_isa(said)};
	if (ir_read(said, &gpu.target) || !str_eq(gpu.target.cpu, c->commands.cpu))
		return NULL;
	size_t at = str_find(said, S(" c\"_"));
	struct str yes = str_sub(said, at + sizeof(" c\"_") - 1, said.n);
	yes = str_sub(yes, 0, builtins->n);
	for (size_t i = 0; i < yes.n; i++)
		strs_add(a, &gpu.accepted, str_sub(yes, i, i + 1));
	*ret_good = yes.n == builtins->n && (!yes.n || str_made_of(yes, ""));
	c->t.gpu = gpu;
	return NULL;
}

/* Finds what clang says of the GPU, and of these builtins. */
static struct err *ask_gpu(struct arena *a, struct front_call *c, const struct strs *builtins)
{
	struct proc_result r;
	struct strs macros = front_words(a, c, FOR_MACROS, in_work(a, c, "macros"));
	struct strs probe = front_words(a, c, FOR_PROBE, S("")), words = {0};
	strs_add_all(a, &words, &macros);
	strs_add_all(a, &words, &probe);
	for (size_t i = 0; i < words.n; i++) /* files of this pass */
		if (path_is_below(words.v[i], c->pass->work))
			words.v[i] = S("");
	TRY(asked_gpu(a, c->f, &words, &c->t.gpu));
	struct strs all = c->t.gpu.builtins;
	bool good = c->t.gpu.target.cpu.n > 0, more = !good;
	VEC_EACH (const struct str, name, builtins)
		more |= strs_put(a, &all, *name);
	if (more)
		TRY(run_probe(a, c, &all, &good));
	if (good && !c->t.gpu.macros.n && c->f->memory) {
		more = true;
		TRY(run_step(a, c, &macros, &r));
		if (!r.status)
			TRY(fs_read_below(
				a, c->pass->work, S("macros"), MAX_SAID, &c->t.gpu.macros));
	}
	if (!good)
		return go_direct(c, "the features of the GPU are unknown");
	return more ? asked_keep_gpu(a, c->f, &words, &c->t.gpu) : NULL;
}

/* Makes the text, and asks clang about the GPU and the builtins in the text. */
static struct err *ask_compiler(struct arena *a, struct front_call *c)
{
	struct proc_result r;
	struct strs words = front_words(a, c, FOR_TEXT, in_work(a, c, "text")), names;
	c->t.began = cached_now() - TICK;
	TRY(run_step(a, c, &words, &r));
	if (r.status)
		return go_direct(c, "the source has errors");
	TRY(fs_read_below(a, c->pass->work, S("text"), MAX_TEXT, &c->t.text));
	if (c->pass->depfile.n)
		TRY(fs_read_below(
			a, c->pass->work, path_base(c->pass->depfile), MAX_TEXT, &c->t.dep));
	front_builtins(a, c->t.text, &c->t.builtins);
	names = (struct strs){0};
	strs_add_all(a, &names, &c->t.builtins);
	TRY(asked_read(a, c->f, &c->commands.cc1, &c->t, &names));
	return ask_gpu(a, c, &names);
}

/* A hash of a text, and of all that clang's front end knows of the GPU and this text can ask. */
static struct str text_key(struct arena *a, const struct front_call *c, struct str text)
{
	struct hash *h = hash_new(HASH_SHA256);
	struct strs names = {0};
	front_builtins(a, text, &names);
	VEC_EACH (const struct str, name, &names) {
		hash_word(h, *name);
		hash_word(h, asked_answer(&c->t.gpu, *name));
		if (front_asks_features(*name))
			hash_word(h, c->t.gpu.target.features);
	}
	hash_word(h, text);
	return str_sub(digest_hex(a, hash_end(h)), 0, 32);
}

/* Finds the beginning of the names under which a front end of this pass is kept. */
static void find_base(struct arena *a, struct front_call *c)
{
	static const char *const waves[] = {"+wavefrontsize32", "+wavefrontsize64", NULL};
	struct hash *h = hash_new(HASH_SHA256);
	struct strs words = front_words(a, c, FOR_KEY, S(""));
	VEC_EACH (const struct str, word, &words)
		hash_word(h, *word);
	hash_word(h, c->f->identity);
	for (size_t i = 0; c->f->programs && i < c->f->programs->n; i++)
		hash_word(h, c->f->programs->v[i]);
	for (size_t i = 0; waves[i]; i++)
		hash_word(h, str_contains(c->t.gpu.target.features, str_from(waves[i])) ? S("yes")
											: S("no"));
	c->t.base = str_sub(digest_hex(a, hash_end(h)), 0, 32);
}

/* Reads the IR of c->t.key, and the key of the text as that IR needs it. Without any, or with a damaged one, ret->p is NULL. */
static struct err *read_ir(
	struct arena *a, const struct front_call *c, struct str *ret, struct str *ret_need)
{
	struct str head, sum;
	TRY(fs_read_opt(a, stored(a, c, ".ll"), MAX_TEXT, ret));
	if (!ret->p)
		return NULL;
	struct str rest = *ret;
	bool good = str_next(&rest, '\n', &head) && str_starts(head, S(HEAD)) &&
		    str_cut(str_sub(head, sizeof(HEAD) - 1, head.n), ' ', &sum, ret_need) &&
		    str_eq(sum, sha256_hex(a, rest));
	*ret = good ? rest : (struct str){0};
	return NULL;
}

/* Removes the oldest files of a store that grows too large: texts that the source had once. */
static struct err *prune(struct arena *a, const struct front_call *c)
{
	struct strs names = {0};
	TRY(fs_list(a, c->f->store, &names));
	while (names.n > (size_t)KEPT) {
		size_t oldest = names.n;
		int64_t when = INT64_MAX;
		for (size_t i = 0; i < names.n; i++) {
			struct stat st;
			bool is = fs_try_lstat(path_join(a, c->f->store, names.v[i]), &st);
			if (is && st.st_mtim.tv_sec < when && !str_ends(names.v[i], S(".bad"))) {
				when = st.st_mtim.tv_sec;
				oldest = i;
			}
		}
		if (oldest == names.n)
			break;
		TRY(fs_remove(path_join(a, c->f->store, names.v[oldest])));
		names.v[oldest] = names.v[--names.n];
	}
	return NULL;
}

/* Is the compiler what it was when the build began? */
static bool has_compiler(const struct front *f)
{
	return !f->programs || !f->programs->n || cached_same(f->programs);
}

/* Runs the front end, and stores its IR and messages. */
static struct err *make_ir(struct arena *a, struct front_call *c, struct str *ret)
{
	struct proc_result r;
	struct ir_target of;
	c->why = front_refuses(c->t.text);
	if (c->why)
		return NULL;
	struct strs words = front_words(a, c, FOR_IR, in_work(a, c, "front.ll"));
	TRY(run_step(a, c, &words, &r));
	if (r.status)
		return go_direct(c, "the source has errors");
	TRY(fs_read_below(a, c->pass->work, S("front.ll"), MAX_TEXT, ret));
	c->why = ir_read(*ret, &of);
	if (!c->why && of.cpu.n &&
		(!str_eq(of.cpu, c->commands.cpu) ||
			!str_eq(of.features, c->t.gpu.target.features)))
		c->why = "functions have different target features";
	if (!has_compiler(c->f))
		c->why = CHANGED;
	if (c->why)
		return NULL;
	c->ret->run.err = r.err;
	c->ret->how = FRONT_MADE;
	struct str need = text_key(a, c, front_reduce(a, c->t.text, *ret));
	TRY(prune(a, c));
	TRY(fs_write(stored(a, c, ".said"), str_sub(r.err, 0, MAX_SAID), 0644));
	return fs_write(stored(a, c, ".ll"),
		str_fmt(a, HEAD "%.*s %.*s\n%.*s", STR(sha256_hex(a, *ret)), STR(need), STR(*ret)),
		0644);
}

/* Finds a front end of another text that serves this one, too, and makes its key ours. */
static struct err *find_other(struct arena *a, struct front_call *c, struct str *ret)
{
	struct front_call other = *c;
	struct strs names = {0};
	TRY(fs_list(a, c->f->store, &names));
	VEC_EACH (const struct str, name, &names) {
		struct str need;
		other.t.key = str_sub(*name, 0, name->n - path_ext(*name).n);
		if (!str_eq(path_ext(*name), S(".ll")) || !str_starts(*name, c->t.base) ||
			fs_present(stored(a, &other, ".bad")))
			continue;
		TRY(read_ir(a, &other, ret, &need));
		if (!ret->p || !str_eq(need, text_key(a, c, front_reduce(a, c->t.text, *ret))))
			continue;
		c->t.key = other.t.key;
		return NULL;
	}
	*ret = (struct str){0};
	return NULL;
}

/* Finds the IR, or makes it if there is a text. While one pass makes it, the others of the same command wait. */
static struct err *take_ir(struct arena *a, struct front_call *c, struct str *ret)
{
	CLEANUP(fd_closep) int lock = -1;
	struct str need;
	TRY(fs_mkdirs(c->f->store));
	TRY(fs_lock(str_fmt(a, "%.*s/%.*s.lock", STR(c->f->store), STR(c->t.base)), FS_LOCK_WAIT,
		&lock));
	if (fs_present(stored(a, c, ".bad")))
		return go_direct(c, WRONG);
	TRY(read_ir(a, c, ret, &need));
	if (!ret->p && c->t.text.p)
		TRY(find_other(a, c, ret));
	if (c->t.text.p)
		asked_keep_text(c->f, &c->t);
	fd_closep(&c->asking);
	if (!ret->p && c->t.text.p) {
		TRY(make_ir(a, c, ret));
		return c->why ? NULL : count_front_end(a, c, "made");
	}
	if (!ret->p)
		return NULL;
	c->ret->how = FRONT_SHARED;
	TRY(count_front_end(a, c, "shared"));
	return fs_read(a, stored(a, c, ".said"), MAX_SAID, &c->ret->said);
}

/* ---- back ends ---- */
struct back_end {
	struct strs cc1, lld;
	struct str
		key; /* a hash of all that decides the object but the GPU's name and number; "": it serves no other */
	struct str clone, object; /* files: the IR, and what is linked */
};

/* Reads the compiler's table of processors, or what was kept of it. */
static struct err *read_processors(struct arena *a, const struct front_call *c, struct str *ret)
{
	struct str path, kept = path_join(a, c->f->hints, S("processors"));
	TRY(processors_file(a, c->f->compiler, c->f->libraries, &path));
	struct str state = str_fmt(a, "%.*s %.*s\n", STR(fs_exact_state(a, path)), STR(path));
	TRY(fs_read_opt(a, kept, MAX_SAID, ret));
	if (str_starts(*ret, state))
		return NULL;
	TRY(processors_read(a, path, ret));
	*ret = str_fmt(a, "%.*s%.*s", STR(state), STR(*ret));
	TRY(fs_mkdirs(c->f->hints));
	return fs_write(kept, *ret, 0644);
}

/* The row of this GPU in that table, if another GPU of the source has the same, or "". */
static struct err *shared_row(struct arena *a, const struct front_call *c, struct str *ret)
{
	struct str rows;
	*ret = S("");
	if (!c->f->hints.n || !c->f->gpus)
		return NULL;
	struct err *e = read_processors(a, c, &rows);
	if (e && e->code != E_CANCELLED) { /* the compiler is a script, for example */
		err_free(e);
		return NULL;
	}
	TRY(e);
	struct str row = processors_row(rows, c->commands.cpu);
	VEC_EACH (const struct str, gpu, c->f->gpus) {
		bool other = !str_eq(*gpu, c->pass->gpu);
		if (row.n && other &&
			str_eq(row, processors_row(rows, str_sub(*gpu, 0, str_chr(*gpu, ':')))))
			*ret = row;
	}
	return NULL;
}

/* Makes the two commands, and the name under which their result may be kept. */
static struct err *back_words(
	struct arena *a, struct front_call *c, struct str ir, struct back_end *ret)
{
	const struct strs *w = &c->commands.cc1;
	struct str row;
	ret->clone = in_work(a, c, "clone.ll");
	ret->object = in_work(a, c, "clone.o");
	TRY(shared_row(a, c, &row));
	struct hash *h = hash_new(HASH_SHA256);
	hash_word(h, row);
	hash_word(h, c->t.gpu.target.features);
	hash_word(h, c->t.base); /* the compiler */
	hash_word(h, sha256_hex(a, ir));
	for (size_t i = 0; i + 3 < w->n; i++) {
		struct str word = w->v[i];
		if (str_eq(word, S("-dependency-file")) || str_eq(word, S("-MT"))) {
			i++;
			continue;
		}
		if (str_eq(word, S("-sys-header-deps")))
			continue;
		bool object = str_eq(word, c->commands.object);
		bool gpu =
			str_eq(word, c->commands.cpu) || str_contains(word, S("oclc_isa_version"));
		if (!object && !gpu)
			hash_word(h, word);
		strs_add(a, &ret->cc1, object ? ret->object : word);
	}
	STRS_ADD(a, &ret->cc1, S("-x"), S("ir"), ret->clone);
	VEC_EACH (const struct str, word, &c->commands.lld) {
		bool object = str_eq(*word, c->commands.object);
		if (!object && !str_eq(*word, c->pass->out) && !str_ends(*word, c->commands.cpu))
			hash_word(h, *word);
		strs_add(a, &ret->lld, object ? ret->object : *word);
	}
	struct str key = digest_hex(a, hash_end(h));
	ret->key = row.n && c->t.gpu.isa ? key : S("");
	return NULL;
}

/* Makes the object of that of another GPU, if there is one for which the same code is right. */
static struct err *take_clone(
	struct arena *a, struct front_call *c, const struct back_end *b, bool *ret)
{
	struct str what, object, sum, head, gpu, number, clone;
	struct front_call of = {.f = c->f, .t = {.key = b->key}};
	uint64_t isa;
	TRY(fs_read_opt(a, stored(a, &of, ".what"), MAX_TEXT, &what));
	if (!what.n)
		return NULL;
	TRY(fs_read_opt(a, stored(a, &of, ".co"), MAX_TEXT, &object));
	*ret = str_next(&what, '\n', &head) && str_cut(head, ' ', &sum, &head) &&
	       str_cut(head, ' ', &gpu, &number) && str_u64(number, 10, &isa) &&
	       str_eq(sum, sha256_hex(a, object)) && ir_answers_agree(a, what, isa, c->t.gpu.isa) &&
	       processor_clone(a, object, gpu, c->commands.cpu, &clone);
	return *ret ? fs_write(c->pass->out, clone, 0755) : NULL;
}

/* Keeps the object for other GPUs, if it is known what their number decides in it. */
static struct err *keep_object(struct arena *a, struct front_call *c, const struct back_end *b)
{
	struct proc_result r;
	struct str linked, questions, object, out = in_work(a, c, "linked.ll");
	struct front_call of = {.f = c->f, .t = {.key = b->key}};
	struct strs words = {0};
	VEC_EACH (const struct str, word, &b->cc1)
		strs_add(a, &words,
			str_eq(*word, S("-emit-obj")) ? S("-emit-llvm")
			: str_eq(*word, b->object)    ? out
						      : *word);
	strs_add(a, &words, S("-disable-llvm-passes"));
	TRY(run_step(a, c, &words, &r));
	if (r.status)
		return NULL;
	TRY(fs_read_below(a, c->pass->work, S("linked.ll"), MAX_TEXT, &linked));
	if (!ir_questions(a, linked, &questions))
		return NULL;
	TRY(fs_read_below(a, c->pass->work, path_base(c->pass->out), MAX_TEXT, &object));
	TRY(fs_write(stored(a, &of, ".co"), object, 0644));
	return fs_write(stored(a, &of, ".what"),
		str_fmt(a, "%.*s %.*s %llu\n%.*s", STR(sha256_hex(a, object)), STR(c->commands.cpu),
			(unsigned long long)c->t.gpu.isa, STR(questions)),
		0644);
}

/* Runs the back end of this GPU and its link, or takes the object of a GPU with the same code. */
static struct err *run_back(struct arena *a, struct front_call *c, struct str ir)
{
	CLEANUP(fd_closep) int lock = -1;
	struct back_end b = {0};
	struct ir_target of;
	struct proc_result r;
	bool cloned = false;
	c->why = ir_read(ir, &of);
	if (c->why)
		return NULL;
	TRY(back_words(a, c, ir, &b));
	if (b.key.n) {
		struct str name = str_fmt(a, "%.*s/%.*s.lock", STR(c->f->store), STR(b.key));
		TRY(fs_lock(name, FS_LOCK_WAIT, &lock));
		TRY(take_clone(a, c, &b, &cloned));
	}
	if (cloned) {
		c->ret->how = c->ret->how == FRONT_SHARED ? FRONT_CLONED : c->ret->how;
		return NULL;
	}
	TRY(fs_write(b.clone, ir_retarget(a, ir, &of, &c->t.gpu.target), FS_LOOSE));
	TRY(run_step(a, c, &b.cc1, &r));
	/* its messages would have no places: those of the direct pass do */
	if (r.status || r.err.n)
		return go_direct(c, "the back end has something to say");
	TRY(run_step(a, c, &b.lld, &r));
	if (r.status || r.err.n || !fs_is_file(c->pass->out))
		return go_direct(c, "the linker has something to say");
	return b.key.n ? keep_object(a, c, &b) : NULL;
}

/* Runs the direct pass, too, and compares. */
static struct err *compare(struct arena *a, struct front_call *c)
{
	struct front_result was = *c->ret;
	struct str object, other = in_work(a, c, "shared");
	TRY(fs_rename(c->pass->out, other));
	TRY(run_direct(a, c, ""));
	TRY(fs_read_below(a, c->pass->work, S("shared"), MAX_TEXT, &object));
	struct str direct = S("");
	if (!c->ret->run.status)
		TRY(fs_read_below(a, c->pass->work, path_base(c->pass->out), MAX_TEXT, &direct));
	if (!c->ret->run.status && str_eq(object, direct)) {
		struct proc_result run = c->ret->run;
		run.err = was.run.err;
		*c->ret = was;
		c->ret->run = run;
		c->ret->proof = run.cpu - was.run.cpu;
		c->ret->doubt = S("");
		return NULL;
	}
	c->ret->differs = true;
	c->ret->why = WRONG;
	TRY(fs_write(stored(a, c, ".bad"), str_fmt(a, "%.*s\n", STR(c->pass->gpu)), 0644));
	return fs_rename(other, str_fmt(a, "%.*s.shared", STR(c->pass->output)));
}

/* Takes the IR of another GPU for which the text is known to be the same; else ret->p is NULL. */
static struct err *take_known(struct arena *a, struct front_call *c, struct str *ret)
{
	struct strs names = {0};
	if (!asked_builtins(a, c->f, &names))
		return NULL;
	TRY(ask_gpu(a, c, &names));
	if (c->why)
		return NULL;
	find_base(a, c);
	if (!asked_text(a, c->f, &c->t))
		return NULL;
	fd_closep(&c->asking);
	TRY(take_ir(a, c, ret));
	return ret->p && c->pass->depfile.n ? fs_write(c->pass->depfile, c->t.dep, 0644 | FS_LOOSE)
					    : NULL;
}

/* Makes the object with a shared front end, unless c->why says why not. */
static struct err *run_shared(struct arena *a, struct front_call *c)
{
	struct str ir = {0};
	c->why = has_compiler(c->f) ? NULL : CHANGED;
	if (c->f->memory || c->f->turn.n) {
		TRY(fs_mkdirs(c->f->store));
		TRY(fs_lock(path_join(a, c->f->store, S("text.lock")), FS_LOCK_WAIT, &c->asking));
	}
	if (!c->why && c->f->share != FRONT_PROVE)
		TRY(is_alone(a, c));
	if (!c->why)
		TRY(ask_driver(a, c));
	if (!c->why)
		TRY(take_known(a, c, &ir));
	if (c->why || ir.p)
		return c->why ? NULL : run_back(a, c, ir);
	TRY(ask_compiler(a, c));
	if (c->why)
		return NULL;
	/* the macro that stands for it has put it there: another GPU's text has another name */
	struct str name = str_fmt(a, "\"%.*s\"", STR(c->commands.cpu));
	if (c->f->share != FRONT_PROVE && asked_word(c->f, S("__amdgcn_processor__")) &&
		str_contains(c->t.text, name)) {
		c->why = OTHER_TEXT;
		return count_front_end(a, c, NAMED);
	}
	find_base(a, c);
	c->t.key = str_fmt(a, "%.*s-%.*s", STR(c->t.base), STR(text_key(a, c, c->t.text)));
	TRY(take_ir(a, c, &ir));
	return c->why ? NULL : run_back(a, c, ir);
}

struct err *front_pass(struct arena *a, const struct front *f, const struct compile_pass *pass,
	const struct strs *argv, struct front_result *ret)
{
	struct front_call c = {.f = f, .pass = pass, .argv = argv, .ret = ret, .asking = -1};
	c.why = f->share == FRONT_OFF ? "" : NULL;
	*ret = (struct front_result){.why = "", .said = S(""), .doubt = S("")};
	TRY(fs_remove(str_fmt(a, "%.*s.shared", STR(pass->output))));
	struct err *e = c.why ? NULL : run_shared(a, &c);
	fd_closep(&c.asking);
	if (e && e->code == E_LIMIT) {
		err_free(e);
		e = NULL;
		c.why = "its text or IR is too large";
	}
	TRY(e);
	if (c.why)
		return run_direct(a, &c, c.why);
	ret->doubt = stored(a, &c, ".bad");
	/* the same pass always is in the sample, or never */
	bool sampled =
		str_hash(str_fmt(a, "%.*s %.*s", STR(c.t.key), STR(pass->gpu))) % SAMPLE == 0;
	return f->share == FRONT_PROVE || sampled ? compare(a, &c) : NULL;
}
