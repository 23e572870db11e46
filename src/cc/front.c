/* Runs a device pass with the front end of another GPU where that gives the same object; see compile.h.
 *
 * A store has, for each group of a source, KEY.ll (its first line has the hash of the rest), KEY.said (the messages of
 * the front end), KEY.lock, and KEY.bad if an object differed from that of a direct pass. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/map.h"
#include "cc/cc_int.h"

enum {
	MAX_TEXT = 256 << 20,
	MAX_SAID = 1 << 20,
	SAMPLE = 50, /* FRONT_AUTO: one pass in so many is compared with the direct one */
	KEPT = 256,  /* files of a store that stay when another group comes */
};

#define HEAD "; rocsmith front 1 " /* a comment for LLVM */

const char *const front_share_names[] = {"off", "auto", "prove", NULL};
const char *const front_how_names[] = {"direct", "made", "shared"};

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
	struct str features;
	struct str key; /* hex; PATH.ll ... are store/KEY.ll ... */
};

static struct str stored(struct arena *a, const struct front_call *c, const char *ext)
{
	return str_fmt(a, "%.*s/%.*s%s", STR(c->f->store), STR(c->key), ext);
}

static struct str in_work(struct arena *a, const struct front_call *c, const char *name)
{
	return path_join(a, c->pass->work, str_from(name));
}

/* ---- what saves work where nothing can be shared ---- */

/* The features of a GPU, as they were seen last, or "". */
static struct str seen_features(struct arena *a, const struct front_call *c, struct str gpu)
{
	struct str text = S("");
	err_free(fs_read_opt(a, path_join(a, c->f->hints, gpu), MAX_SAID, &text));
	return text;
}

/* Have all GPUs of the source been seen, and no other with the features of this one? */
static bool is_single(struct arena *a, const struct front_call *c)
{
	struct str own = c->f->hints.n ? seen_features(a, c, c->pass->gpu) : S("");
	for (size_t i = 0; own.n && i < c->f->gpus->n; i++) {
		struct str gpu = c->f->gpus->v[i], other = seen_features(a, c, gpu);
		if (!other.n || (!str_eq(gpu, c->pass->gpu) && str_eq(own, other)))
			return false;
	}
	return own.n > 0;
}

/* Two GPUs with the same features but different texts: the source names the GPU, as rocPRIM does, and each of the others
 * will have a text of its own. *ret_why tells so if that was seen in this build. */
static struct err *is_alone(struct arena *a, const struct front_call *c, const char **ret_why)
{
	struct str path = str_fmt(a, "%.*s/%.*s.first", STR(c->f->store),
			   STR(str_sub(sha256_hex(a, c->features), 0, 16))),
		   names = path_join(a, c->f->store, S("alone.first")), text, own;
	TRY(fs_mkdirs(c->f->store));
	TRY(fs_read_opt(a, names, MAX_SAID, &text));
	if (text.n && str_eq(text, c->f->turn))
		*ret_why = "its text is another for each GPU";
	own = str_fmt(a, "%.*s %.*s", STR(c->f->turn), STR(c->key));
	TRY(fs_read_opt(a, path, MAX_SAID, &text));
	bool late = str_starts(text, str_fmt(a, "%.*s ", STR(c->f->turn)));
	if (!late)
		return fs_write(path, own, 0644);
	return str_eq(text, own) ? NULL : fs_write(names, c->f->turn, 0644 | FS_IF_CHANGED);
}

/* ---- running programs ---- */

/* Runs a program, and adds its costs to those of the pass. */
static struct err *run_step(
	struct arena *a, struct front_call *c, const struct strs *argv, struct proc_result *r)
{
	struct proc_result *all = &c->ret->run;
	TRY(c->f->run(a, c->f, argv, r));
	all->start = all->start > 0 ? all->start : r->start;
	all->seconds += r->seconds;
	all->cpu += r->cpu;
	all->memory = r->memory > all->memory ? r->memory : all->memory;
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

enum words_for { FOR_KEY, FOR_TEXT, FOR_IR, FOR_PROBE };

/* The command of a front end that writes `out`; for the key, what decides its result besides text and features. */
static struct strs front_words(
	struct arena *a, const struct front_call *c, enum words_for what, struct str out)
{
	static const char *const libraries[] = {"-mlink-builtin-bitcode", "-o", NULL};
	static const char *const depends[] = {"-dependency-file", "-MT", NULL};
	static const char *const of_probe[] = {"-cc1", "-emit-obj", "-fcuda-is-device", NULL};
	static const char *const of_probe_two[] = {
		"-triple", "-aux-triple", "-target-cpu", "-target-feature", "-x", NULL};
	const struct strs *w = &c->commands.cc1;
	struct strs ret = {0};
	for (size_t i = 0; i < w->n; i++) {
		struct str word = w->v[i];
		bool two = str_is_one_of(word, libraries) ||
			   (what != FOR_TEXT && str_is_one_of(word, depends)) ||
			   (what == FOR_KEY && str_eq(word, S("-target-cpu")));
		if (two || (what != FOR_TEXT && str_eq(word, S("-sys-header-deps")))) {
			i += two;
			continue;
		}
		bool pair = str_is_one_of(word, of_probe_two);
		if (what == FOR_PROBE && i && !pair && !str_is_one_of(word, of_probe))
			continue;
		if (str_eq(word, S("-emit-obj")) && what != FOR_KEY)
			word = what == FOR_TEXT ? S("-E") : S("-emit-llvm");
		strs_add(a, &ret, word);
		if (pair && i + 1 < w->n)
			strs_add(a, &ret, w->v[++i]);
	}
	if (what == FOR_KEY)
		return ret;
	/* -x hip SOURCE stay last */
	struct str source = what == FOR_PROBE ? in_work(a, c, "probe.hip") : c->commands.source;
	ret.n -= what == FOR_PROBE ? 2 : 3;
	if (what != FOR_TEXT)
		strs_add(a, &ret, S("-disable-llvm-passes"));
	if (what == FOR_IR) /* the order of uses decides what the optimiser does first */
		strs_add(a, &ret, S("-emit-llvm-uselists"));
	const struct str last[] = {S("-o"), out, S("-x"), S("hip"), source};
	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++)
		strs_add(a, &ret, last[i]);
	return ret;
}

/* ---- the steps of a shared pass; *ret_why tells why it must be direct instead ---- */

/* Finds the two commands of the pass. */
static struct err *ask_driver(struct arena *a, struct front_call *c, const char **ret_why)
{
	struct proc_result r;
	struct strs words = {0};
	strs_add_all(a, &words, c->argv);
	strs_add(a, &words, S("-###"));
	TRY(run_step(a, c, &words, &r));
	*ret_why = r.status ? "the driver does not show its commands"
			    : front_commands(a, r.err, &c->commands);
	return NULL;
}

/* Asks clang which features the GPU has: those of an empty kernel. */
static struct err *ask_features(struct arena *a, struct front_call *c, const char **ret_why)
{
	struct proc_result r;
	struct str out = in_work(a, c, "probe.ll"), text;
	struct ir_target of;
	TRY(fs_write(
		in_work(a, c, "probe.hip"), S("__attribute__((global)) void k() {}\n"), FS_LOOSE));
	struct strs words = front_words(a, c, FOR_PROBE, out);
	TRY(run_step(a, c, &words, &r));
	*ret_why = "the features of the GPU are unknown";
	if (r.status)
		return NULL;
	TRY(fs_read_below(a, c->pass->work, S("probe.ll"), MAX_SAID, &text));
	if (ir_read(text, &of) || !str_eq(of.cpu, c->commands.cpu))
		return NULL;
	c->features = of.features;
	*ret_why = NULL;
	if (!c->f->hints.n)
		return NULL;
	TRY(fs_mkdirs(c->f->hints));
	return fs_write(path_join(a, c->f->hints, c->pass->gpu), c->features, 0644 | FS_IF_CHANGED);
}

/* Makes the text, and from it the key of the group. */
static struct err *find_group(
	struct arena *a, struct front_call *c, struct str *ret_text, const char **ret_why)
{
	struct proc_result r;
	struct strs words = front_words(a, c, FOR_TEXT, in_work(a, c, "text"));
	TRY(run_step(a, c, &words, &r));
	*ret_why = r.status ? "the source has errors" : NULL;
	if (r.status)
		return NULL;
	TRY(fs_read_below(a, c->pass->work, S("text"), MAX_TEXT, ret_text));
	struct hash *h = hash_new(HASH_SHA256);
	words = front_words(a, c, FOR_KEY, S(""));
	strs_add(a, &words, c->features);
	strs_add(a, &words, c->f->identity);
	VEC_EACH (const struct str, word, &words) {
		hash_add(h, word->p, word->n);
		hash_add(h, "", 1);
	}
	hash_add(h, ret_text->p, ret_text->n);
	struct digest d = hash_end(h);
	c->key = digest_hex(a, &d);
	return NULL;
}

/* Reads the IR of the group. Without any, or with a damaged one, ret->p is NULL. */
static struct err *read_ir(struct arena *a, const struct front_call *c, struct str *ret)
{
	struct str head;
	TRY(fs_read_opt(a, stored(a, c, ".ll"), MAX_TEXT, ret));
	if (!ret->p)
		return NULL;
	struct str rest = *ret;
	bool good = str_next(&rest, '\n', &head) && str_starts(head, S(HEAD)) &&
		    str_eq(str_sub(head, sizeof(HEAD) - 1, head.n), sha256_hex(a, rest));
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

/* Runs the front end, and stores its IR and messages. */
static struct err *make_ir(struct arena *a, struct front_call *c, struct str source,
	struct str *ret, const char **ret_why)
{
	struct proc_result r;
	struct ir_target of;
	*ret_why = front_refuses(source);
	if (*ret_why)
		return NULL;
	struct strs words = front_words(a, c, FOR_IR, in_work(a, c, "front.ll"));
	TRY(run_step(a, c, &words, &r));
	*ret_why = r.status ? "the source has errors" : NULL;
	if (r.status)
		return NULL;
	TRY(fs_read_below(a, c->pass->work, S("front.ll"), MAX_TEXT, ret));
	*ret_why = ir_read(*ret, &of);
	if (!*ret_why && of.cpu.n &&
		(!str_eq(of.cpu, c->commands.cpu) || !str_eq(of.features, c->features)))
		*ret_why = "functions have different target features";
	if (*ret_why)
		return NULL;
	c->ret->run.err = r.err;
	c->ret->how = FRONT_MADE;
	TRY(prune(a, c));
	TRY(fs_write(stored(a, c, ".said"), str_sub(r.err, 0, MAX_SAID), 0644));
	return fs_write(stored(a, c, ".ll"),
		str_fmt(a, HEAD "%.*s\n%.*s", STR(sha256_hex(a, *ret)), STR(*ret)), 0644);
}

/* Finds or makes the IR of the group. While one pass makes it, the others of the group wait. */
static struct err *take_ir(struct arena *a, struct front_call *c, struct str source,
	struct str *ret, const char **ret_why)
{
	CLEANUP(fd_closep) int lock = -1;
	TRY(fs_mkdirs(c->f->store));
	TRY(fs_lock(stored(a, c, ".lock"), FS_LOCK_WAIT, &lock));
	*ret_why =
		fs_present(stored(a, c, ".bad")) ? "an object of this front end was wrong" : NULL;
	if (*ret_why)
		return NULL;
	TRY(read_ir(a, c, ret));
	if (!ret->p)
		return make_ir(a, c, source, ret, ret_why);
	c->ret->how = FRONT_SHARED;
	return fs_read(a, stored(a, c, ".said"), MAX_SAID, &c->ret->said);
}

/* Runs the back end of this GPU and its link. */
static struct err *run_back(
	struct arena *a, struct front_call *c, struct str ir, const char **ret_why)
{
	const struct strs *w = &c->commands.cc1;
	struct strs back = {0}, link = {0};
	struct ir_target of;
	struct proc_result r;
	*ret_why = ir_read(ir, &of);
	if (*ret_why)
		return NULL;
	TRY(fs_write(
		in_work(a, c, "clone.ll"), ir_retarget(a, ir, &of, c->commands.cpu), FS_LOOSE));
	for (size_t i = 0; i + 3 < w->n; i++) {
		if (str_eq(w->v[i], S("-dependency-file")) || str_eq(w->v[i], S("-MT")))
			i++;
		else if (!str_eq(w->v[i], S("-sys-header-deps")))
			strs_add(a, &back,
				str_eq(w->v[i], c->commands.object) ? in_work(a, c, "clone.o")
								    : w->v[i]);
	}
	strs_add(a, &back, S("-x"));
	strs_add(a, &back, S("ir"));
	strs_add(a, &back, in_work(a, c, "clone.ll"));
	TRY(run_step(a, c, &back, &r));
	/* its messages would have no places: those of the direct pass do */
	*ret_why = r.status || r.err.n ? "the back end has something to say" : NULL;
	if (*ret_why)
		return NULL;
	VEC_EACH (const struct str, word, &c->commands.lld)
		strs_add(a, &link,
			str_eq(*word, c->commands.object) ? in_work(a, c, "clone.o") : *word);
	TRY(run_step(a, c, &link, &r));
	*ret_why = r.status || r.err.n || !fs_is_file(c->pass->out)
			   ? "the linker has something to say"
			   : NULL;
	return NULL;
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
		return NULL;
	}
	c->ret->differs = true;
	c->ret->why = "an object of this front end was wrong";
	TRY(fs_write(stored(a, c, ".bad"), str_fmt(a, "%.*s\n", STR(c->pass->gpu)), 0644));
	return fs_rename(other, str_fmt(a, "%.*s.shared", STR(c->pass->output)));
}

/* Makes the object with a shared front end, unless *ret_why says why not. */
static struct err *run_shared(struct arena *a, struct front_call *c, const char **ret_why)
{
	bool proving = c->f->share == FRONT_PROVE;
	struct str text, ir = {0};
	if (!proving && is_single(a, c))
		*ret_why = "no other GPU has its features";
	if (!*ret_why)
		TRY(ask_driver(a, c, ret_why));
	if (!*ret_why)
		TRY(ask_features(a, c, ret_why));
	if (!*ret_why)
		TRY(find_group(a, c, &text, ret_why));
	if (!*ret_why && !proving && c->f->turn.n)
		TRY(is_alone(a, c, ret_why));
	if (!*ret_why)
		TRY(take_ir(a, c, text, &ir, ret_why));
	return *ret_why ? NULL : run_back(a, c, ir, ret_why);
}

struct err *front_pass(struct arena *a, const struct front *f, const struct compile_pass *pass,
	const struct strs *argv, struct front_result *ret)
{
	struct front_call c = {.f = f, .pass = pass, .argv = argv, .ret = ret};
	const char *why = f->share == FRONT_OFF ? "" : NULL;
	*ret = (struct front_result){.why = "", .said = S(""), .doubt = S("")};
	TRY(fs_remove(str_fmt(a, "%.*s.shared", STR(pass->output))));
	struct err *e = why ? NULL : run_shared(a, &c, &why);
	if (e && e->code == E_LIMIT) {
		err_free(e);
		e = NULL;
		why = "its text or IR is too large";
	}
	TRY(e);
	if (why)
		return run_direct(a, &c, why);
	ret->doubt = stored(a, &c, ".bad");
	/* the same pass always is in the sample, or never */
	bool sampled = str_hash(str_fmt(a, "%.*s %.*s", STR(c.key), STR(pass->gpu))) % SAMPLE == 0;
	return f->share == FRONT_PROVE || sampled ? compare(a, &c) : NULL;
}
