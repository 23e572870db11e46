/* Runs a program of an SDK that was called by its name in the shim folder; see cc.h. */
#include "cc/cc.h"

#include <limits.h>
#include <sys/auxv.h>

#include "base/fs.h"
#include "base/hash.h"
#include "cc/cached.h"
#include "cc/cc_int.h"
#include "cc/compile.h"
#include "formats/node.h"
#include "know/know.h"
#include "term/out.h"

#define INSIDE "ROCSMITH_CC" /* set in the environment of every program we start */

enum { MAX_STDERR = 64 << 20, MAX_TEXT = 512 << 20, MAX_MENDED = 8 /* clang stops at 20 errors */ };

const char *const cc_gpu_programs[] = {
	"rocm_agent_enumerator", "offload-arch", "amdgpu-arch", NULL};
const char *const cc_host_programs[] = {"cc", "c++", "gcc", "g++", NULL};

/* ---- the folder ---- */
static const struct json_field config_fields[] = {
	FIELD_CONST("schema", "rocsmith.cc/1"),
	FIELD_OPTIONAL("share_frontend", struct cc_config, share),
	FIELDS(struct cc_config, objects, lender, identity),
	FIELD_OPTIONAL("programs", struct cc_config, programs),
	FIELDS(struct cc_config, loader, library_path, flags, sysroot, host_flags, link_flags,
		root_flags, root_links, compile_flags),
	FIELD_LAST(FIELDS(struct cc_config, gpus, log_dir, precompile, memory, project, sdk, rocm)),
};

struct str cc_file(struct arena *a, struct str dir, const char *name)
{
	return str_fmt(a, "%.*s/.rocsmith/%s", STR(dir), name);
}

struct err *cc_config_write(struct arena *a, struct str dir, const struct cc_config *config)
{
	return fs_write(cc_file(a, dir, "cc.json"), json_document(a, 1, config_fields, config),
		0644 | FS_IF_CHANGED);
}

bool cc_called(struct arena *a, struct cc *ret)
{
	/* the path by which we were started; saves a look into /proc if it ends in "rocsmith" */
	const char *started = (const char *)(uintptr_t)getauxval(AT_EXECFN);
	struct str exe;
	if (started && str_eq(path_base(str_from(started)), S("rocsmith")))
		return false;
	struct err *e = fs_readlink(a, S("/proc/self/exe"), &exe);
	err_free(e);
	if (e || str_eq(path_base(exe), S("rocsmith")))
		return false;
	/* DIR/bin/NAME, DIR/host/NAME or DIR/llvm/bin/NAME */
	struct str dir = path_dir(path_dir(exe));
	for (int up = 0; up < 2; up++, dir = path_dir(dir)) {
		if (!fs_exists(cc_file(a, dir, "cc.json")))
			continue;
		*ret = (struct cc){.dir = dir, .name = path_base(exe)};
		return true;
	}
	return false;
}

/* ---- the command ---- */

/* Sets the variables that hipcc and clang read. Unsets LD_PRELOAD and LD_LIBRARY_PATH, which would load this machine's
 * libraries into a program of another libc. */
static void set_environment(struct arena *a, const struct cc *cc, struct proc *p)
{
	static const char *const names[][2] = {{"ROCM_PATH", ""}, {"HIP_PATH", ""},
		{"HIP_CLANG_PATH", "/llvm/bin"}, {"HIP_DEVICE_LIB_PATH", "/amdgcn/bitcode"},
		{"HIP_LIB_PATH", "/lib"}};
	const char *path = getenv("PATH");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		strs_fmt(a, &p->setenv, "%s=%.*s%s", names[i][0], STR(cc->dir), names[i][1]);
	/* A program that looks for others beside itself finds only the loader there, and falls back to PATH. So our
	 * clang comes first in PATH, for clang-linker-wrapper. */
	STRS_ADD(a, &p->setenv,
		str_fmt(a, "PATH=%.*s/llvm/bin:%s", STR(cc->dir), path ? path : "/usr/bin:/bin"),
		S("HIP_PLATFORM=amd"), S("LD_PRELOAD"), S("LD_LIBRARY_PATH"));
}

/* Makes the argv and the environment with which the program runs. */
static struct err *make_command(struct arena *a, const struct cc *cc,
	const struct cc_config *config, const struct strs *args, struct proc *ret)
{
	struct str link = path_join(a, cc_file(a, cc->dir, "programs"), cc->name), program;
	*ret = (struct proc){0};
	if (!cc->name.n || str_chr(cc->name, '/') < cc->name.n || !fs_is_link(link)) {
		struct strs names = {0};
		struct err *list = fs_list(a, cc_file(a, cc->dir, "programs"), &names);
		struct err *e = err_new(E_TOOL_MISSING, "the SDK of '%.*s' has no program '%.*s'",
			STR(cc->dir), STR(cc->name));
		return err_join(err_near(e, cc->name, &names), list);
	}
	TRY(fs_readlink(a, link, &program));
	bool host = str_is_one_of(cc->name, cc_host_programs);
	if (config->loader.n && !host) {
		/* argv[0] lies beside the programs that this one starts by itself */
		struct str own = str_fmt(a, "%.*s/llvm/bin/%.*s", STR(cc->dir), STR(cc->name));
		if (!fs_present(own))
			own = str_fmt(a, "%.*s/bin/%.*s", STR(cc->dir), STR(cc->name));
		proc_arg(a, ret, str_z(a, config->loader), "--library-path",
			str_z(a, config->library_path), "--argv0", str_z(a, own), NULL);
	}
	strs_add(a, &ret->argv, program);
	struct cc_words w = cc_words(cc->name, args, config->sysroot);
	if (w.driver)
		strs_add_all(a, &ret->argv, &config->flags);
	if (w.driver && !w.targeted)
		strs_add_all(a, &ret->argv, &config->host_flags);
	if ((w.driver || host) && !w.targeted) {
		strs_add_all(a, &ret->argv, &config->root_flags);
		if (w.links)
			strs_add_all(a, &ret->argv, &config->root_links);
	}
	if (w.driver && w.compiles)
		strs_add_all(a, &ret->argv, &config->compile_flags);
	/* LLVM's OpenMPOpt searches the whole module once for each of its functions: PyTorch's RegisterCPU.cpp was not
	 * done after 9 minutes, and takes 97 s on the same machine without it (clang 21). The pass improves only OpenMP
	 * on GPUs. */
	if (w.driver && w.openmp)
		STRS_ADD(a, &ret->argv, S("-mllvm"), S("-openmp-opt-disable"));
	strs_add_all(a, &ret->argv, args);
	if (w.driver && w.links && !w.targeted)
		strs_add_all(a, &ret->argv, &config->link_flags);
	/* The SDK's libraries need others of their kind, and may need a newer libc than this machine's. Makefiles that
	 * set LDFLAGS themselves do not pass the option. */
	if (host && w.links)
		strs_add(a, &ret->argv, S("-Wl,--allow-shlib-undefined"));
	strs_add(a, &ret->setenv, S(INSIDE "=1"));
	if (!host)
		set_environment(a, cc, ret);
	return NULL;
}

/* ---- the log: each line of cc.jsonl is one run of a program, with all its tries and passes ---- */
struct log_entry {
	double start; /* seconds since 1970 */
	struct str program;
	const char *kind;
	struct str input, dir; /* source as written on the command line; working folder */
	double waited, seconds, cpu;
	uint64_t memory, predicted; /* bytes: peak of its largest process; share in the ledger */
	const char *by;             /* source of the prediction */
	double expected;            /* seconds in an earlier run of this source; 0 = unknown */
	const char *pch; /* "made", "used", "refused" (failed with it, was run without); or "" */
	uint64_t tries;
	int64_t status;
	struct strs argv; /* without the program */
	VEC(struct log_entry) passes;
	/* only the entry of a pass has these */
	struct str gpu;          /* "" for the host pass */
	const char *front, *why; /* a word of front_how_names; the reason for "direct" */
	bool restored;           /* from the cache: the costs are those of finding it */
	double proof; /* CPU seconds of the direct pass that it was compared with, in cpu, too */
};

static const struct json_field pass_fields[] =
	FIELDS_ONLY(struct log_entry, gpu, front, why, pch, restored, seconds, cpu, proof, memory);

static const struct json_field entry_fields[] = {
	FIELDS(struct log_entry, start, program, kind, input, dir, waited, seconds, cpu, memory,
		predicted, by, expected),
	FIELDS(struct log_entry, pch, tries, status, argv),
	FIELD_LAST(FIELD_LIST_OPTIONAL("passes", struct log_entry, passes, pass_fields)),
};

/* ---- running the program ---- */
struct compiler_run {
	const struct cc *cc;
	const struct cc_config *config;
	struct proc proc;
	struct proc_result result;
	struct history_key key;
	struct log_entry entry;
	bool cuda; /* translated: its messages may be about names that HIP lacks */
	bool part; /* one of several programs of a pass, which the history knows as a whole */
	struct front_memory *memory;
	bool doubtful; /* a later pass may find it wrong, so the cache gets it when all are done */
	struct cached_pass later;
	struct str output; /* the object to keep then */
	struct str said;   /* its front end's messages, if another pass has printed them */
};

/* Prints an error that must not fail the build as a warning. */
static void tolerate(struct err *e)
{
	if (e)
		say_warning("%s: %s", e->msg, err_root(e)->msg);
	err_free(e);
}

/* Fills in the command and the log entry, with the prediction of the history. */
static struct err *prepare(struct arena *a, struct compiler_run *j, const struct strs *args)
{
	struct cc_words w = cc_words(j->cc->name, args, j->config->sysroot);
	j->entry = (struct log_entry){.start = (double)cached_now() / 1e9,
		.program = j->cc->name,
		.kind = cc_kind_names[w.kind],
		.input = w.input,
		.dir = path_abs(a, S(".")),
		.argv = *args};
	TRY(make_command(a, j->cc, j->config, args, &j->proc));
	j->proc.limit = MAX_STDERR;
	j->proc.only_err = (j->config->memory || j->cuda) && w.kind != CC_OTHER;
	j->proc.inherit = !j->proc.only_err;
	if (!j->proc.only_err || !j->config->memory)
		return NULL;
	struct history_guess guess;
	j->key = history_key(j->cc, args, &w);
	tolerate(history_guess(cc_file(a, j->cc->dir, "history"), &j->key, &guess));
	if (guess.by == HISTORY_KIND && w.kind == CC_LINK)
		guess.memory += cc_link_bytes(args);
	j->entry.predicted = guess.memory;
	j->entry.expected = guess.seconds;
	j->entry.by = history_by_names[guess.by];
	return NULL;
}

/* Did the run fail for lack of memory? A kill shows as status 137, even through a shell; clang and gcc say so. */
static bool is_starved(const struct proc_result *r)
{
	struct str part;
	return r->status && (r->status == 128 + 9 || know_match("memory", r->err, &part));
}

/* Records the run in the history. A run that was killed for lack of memory counts as at least 1.5 times its share. */
static struct err *remember(struct arena *a, const struct compiler_run *j)
{
	const struct log_entry *e = &j->entry;
	uint64_t peak = e->memory, known = e->predicted;
	bool starved = is_starved(&j->result);
	if (!known || (e->status && !starved))
		return NULL;
	if (starved && peak < known + known / 2)
		peak = known + known / 2;
	return history_add(cc_file(a, j->cc->dir, "history"), &j->key, peak, e->seconds);
}

/* Runs the program with its share of the memory. If that was too little, runs it once more, alone. */
static struct err *run_counted(struct arena *a, struct compiler_run *j)
{
	struct log_entry *e = &j->entry;
	bool linking = e->kind == cc_kind_names[CC_LINK];
	struct ledger_wish wish = {.limit = j->config->memory,
		.want = e->predicted,
		.what = path_base(linking ? S("linking") : e->input)};
	for (;;) {
		struct ledger l = {.fd = -1};
		if (wish.want)
			TRY(ledger_take(cc_file(a, j->cc->dir, "ledger"), &wish, &l));
		struct err *err = proc_run(a, &j->proc, &j->result);
		ledger_release(&l);
		TRY(err);
		e->waited += l.waited;
		e->tries++;
		e->cpu += j->result.cpu;
		e->seconds += j->result.seconds;
		e->memory = j->result.memory;
		e->status = j->result.status;
		if (!j->part)
			tolerate(remember(a, j));
		if (!e->predicted || wish.want == LEDGER_ALONE || !is_starved(&j->result))
			return NULL;
		say_warning("'%.*s' of '%.*s' ran out of memory at %llu MiB: once more, alone",
			STR(j->cc->name), STR(e->input), (unsigned long long)(e->memory >> 20));
		wish.want = LEDGER_ALONE;
	}
}

static void write_log(struct arena *a, const struct compiler_run *j)
{
	if (!j->config->log_dir.n)
		return;
	BUF(line, a);
	struct json json = {.out = &line};
	json_struct(&json, entry_fields, &j->entry);
	buf_char(&line, '\n');
	tolerate(fs_append(path_join(a, j->config->log_dir, S("cc.jsonl")), buf_str(&line)));
}

/* ---- precompiled headers ---- */

/* Adds precompiled headers to the command of a compile that can use them, and makes them first if they are due. */
static struct err *add_pch(
	struct arena *a, struct compiler_run *j, const struct strs *args, struct pch *ret)
{
	struct strs with = {0}, making;
	TRY(pch_look(a, j->cc, j->config, args, ret));
	if (ret->due) { /* the kernel releases the lock when this process ends, even by a signal */
		struct compiler_run m = {.cc = j->cc, .config = j->config};
		TRY(pch_command(a, ret, &making));
		TRY(prepare(a, &m, &making));
		m.proc.only_err = true;
		m.proc.inherit = false;
		m.entry.pch = "made";
		TRY(run_counted(a, &m));
		write_log(a, &m);
		TRY(pch_made(a, ret, m.result.status == 0));
	}
	if (!ret->file.n)
		return NULL;
	STRS_ADD(a, &with, S("-include-pch"), ret->file);
	strs_add_all(a, &with, args);
	struct proc faster;
	TRY(make_command(a, j->cc, j->config, &with, &faster));
	j->proc.argv = faster.argv;
	j->entry.pch = "used";
	return NULL;
}

/* Runs a compile, with precompiled headers if it can use them; if that fails, once more without them. */
static struct err *run_precompiled(struct arena *a, struct compiler_run *j, const struct strs *args)
{
	struct pch pch = {.lock = -1};
	const struct proc plain = j->proc;
	if (j->proc.only_err)
		tolerate(add_pch(a, j, args, &pch));
	TRY(run_counted(a, j));
	if (!j->entry.pch)
		return NULL;
	if (!j->result.status) {
		tolerate(pch_depfile(a, &pch, args));
		return NULL;
	}
	j->proc = plain;
	j->entry.pch = "refused";
	TRY(run_counted(a, j));
	if (!j->result.status)
		tolerate(pch_failed(a, &pch));
	return NULL;
}

/* ---- a HIP compile, pass by pass ---- */

/* A program of a device pass: counted like the pass. */
static struct err *run_part(
	struct arena *a, const struct front *f, const struct strs *argv, struct proc_result *ret)
{
	struct compiler_run *whole = f->user, one = *whole;
	one.part = true;
	one.proc.argv = *argv;
	one.entry.tries = 0;
	one.entry.waited = one.entry.cpu = one.entry.seconds = 0;
	TRY(run_counted(a, &one));
	whole->entry.waited += one.entry.waited;
	*ret = one.result;
	return NULL;
}

/* Keeps both objects of a device pass, beside the object of the source, and says so. */
static struct err *keep_both(
	struct arena *a, struct compiler_run *j, const struct compile_pass *p, struct str folder)
{
	struct str dir = str_fmt(a, "%.*s.differs", STR(folder));
	struct str shared = str_fmt(a, "%.*s/%.*s.shared.co", STR(dir), STR(p->gpu));
	struct str direct = str_fmt(a, "%.*s/%.*s.direct.co", STR(dir), STR(p->gpu));
	j->entry.front = "differs";
	TRY(fs_mkdirs(dir));
	TRY(fs_rename(str_fmt(a, "%.*s.shared", STR(p->output)), shared));
	if (fs_is_file(p->out))
		TRY(fs_link(p->out, direct));
	say_warning("'%.*s' for %.*s differs with a shared front end: '%.*s' and '%.*s'",
		STR(j->entry.input), STR(p->gpu), STR(shared), STR(direct));
	return NULL;
}

/* Runs a device pass, perhaps with the front end of another. *ret_drop: the objects that were made with that front end
 * before are in doubt. */
static struct err *run_device(struct arena *a, struct compiler_run *j, const struct compile_pass *p,
	const struct strs *gpus, bool *ret_drop)
{
	struct front_result done;
	struct str folder = path_dir(path_dir(p->work));
	struct strs libraries = str_split(a, j->config->library_path, ':');
	struct front f = {.share = front_share_of(j->config->share),
		.store = path_join(a, folder, S("front")),
		.hints = cc_file(a, j->cc->dir, "front"),
		.compiler = cc_file(a, j->cc->dir, "programs/clang++"),
		.programs = &j->config->programs,
		.memory = j->memory,
		.libraries = &libraries,
		.turn = S("this compile"),
		.gpus = gpus,
		.run = run_part,
		.user = j};
	struct log_entry *e = &j->entry;
	const struct strs argv = j->proc.argv;
	TRY(front_pass(a, &f, p, &argv, &done));
	j->result = done.run;
	e->cpu = done.run.cpu;
	e->seconds = done.run.seconds;
	e->memory = done.run.memory;
	e->status = done.run.status;
	e->front = front_how_names[done.how];
	e->why = done.why;
	e->proof = done.proof;
	j->doubtful = done.doubt.n > 0;
	j->said = done.said;
	*ret_drop = done.differs && f.share == FRONT_AUTO;
	if (done.differs)
		return keep_both(a, j, p, folder);
	return remember(a, j);
}

/* Runs the pass's program with one more word, uncounted, and adds its costs. */
static struct err *run_asking(
	struct arena *a, struct compiler_run *j, const char *word, struct proc_result *ret)
{
	struct log_entry *e = &j->entry;
	struct proc p = j->proc;
	p.argv = (struct strs){0};
	strs_add_all(a, &p.argv, &j->proc.argv);
	strs_add(a, &p.argv, str_from(word));
	TRY(proc_run(a, &p, ret));
	e->cpu += ret->cpu;
	e->seconds += ret->seconds;
	return NULL;
}

/* Objects with shared front ends are entries of their own: only those who let theirs be shared get them. */
static bool is_shared(
	const struct compiler_run *j, const struct compile_pass *p, const struct strs *gpus)
{
	return p->gpu.n && gpus && gpus->n > 1 && front_share_of(j->config->share) != FRONT_OFF;
}

/* Looks into the cache for what the pass makes: j->entry.restored. *ret is for cached_keep(). */
static struct err *look_in_cache(struct arena *a, struct compiler_run *j,
	const struct compile_pass *p, const struct strs *gpus, struct cached_pass *ret)
{
	struct strs homes = {0};
	struct proc_result r;
	*ret = (struct cached_pass){.cache = cache_borrow(j->config->objects, j->config->lender),
		.programs = &j->config->programs,
		.began = cached_now()};
	strs_add(a, &ret->words, j->config->identity);
	if (is_shared(j, p, gpus) && front_share_of(j->config->share) == FRONT_AUTO)
		strs_add(a, &ret->words, S("front end"));
	STRS_ADD(a, &homes, j->cc->dir, j->config->sdk);
	TRY(run_asking(a, j, "-###", &r));
	if (r.status || !cached_commands(a, &homes, r.err, ret))
		return NULL;
	TRY(run_asking(a, j, "-E", &r));
	if (r.status || !fs_is_file(p->out))
		return NULL;
	TRY(fs_read(a, p->out, MAX_TEXT, &ret->text));
	cached_read(a, ret->text, path_abs(a, S(".")), &ret->read);
	TRY(cached_key(a, ret));
	return cached_take(a, ret, p->out, &j->result.err, &j->entry.restored);
}

/* Runs a pass, or takes its output from the cache. *ret_drop: as in run_device() */
static struct err *run_pass(struct arena *a, struct compiler_run *j, const struct compile_pass *p,
	const struct strs *gpus, bool *ret_drop)
{
	CLEANUP(cache_closep) struct cache *cache = NULL;
	struct cached_pass pass = {0};
	*ret_drop = false;
	TRY(fs_mkdirs(p->work));
	TRY(prepare(a, j, &p->argv));
	j->entry.gpu = p->gpu;
	j->proc.only_err = true;
	j->proc.inherit = false;
	if (gpus && j->config->objects.n) {
		struct err *e = look_in_cache(a, j, p, gpus, &pass);
		cache = pass.cache;
		TRY(e);
		if (j->entry.restored)
			return NULL;
		TRY(fs_remove(p->out));
	}
	if (is_shared(j, p, gpus))
		TRY(run_device(a, j, p, gpus, ret_drop));
	else if (
		cache) /* its key is the text: clang may not see that a precompiled header is old */
		TRY(run_counted(a, j));
	else
		TRY(run_precompiled(a, j, &p->argv));
	if (!cache || j->result.status || *ret_drop || !fs_is_file(p->out))
		return NULL;
	if (j->doubtful)
		j->later = pass;
	else
		cached_keep(a, &pass, p->out, &j->result);
	return NULL;
}

/* Runs the passes in order. *ret_good: all succeeded, and the object is in place. If false, j->result is that of the one
 * that failed. */
static struct err *run_passes(struct arena *a, struct compiler_run *j,
	const struct compile_passes *passes, const struct strs *gpus, bool *ret_good)
{
	struct log_entry *whole = &j->entry;
	struct strs objects = {0};
	CLEANUP(front_memory_freep) struct front_memory *memory = front_memory_new();
	VEC(struct compiler_run) later = {0};
	bool restored = false;
	BUF(said, a);
	*ret_good = false;
	VEC_EACH (const struct compile_pass, p, passes) {
		struct compiler_run one = {.cc = j->cc, .config = j->config, .memory = memory};
		if (!p->argv.n) {
			TRY(compile_join(gpus, &objects, p->output));
			continue;
		}
		bool drop;
		TRY(run_pass(a, &one, p, gpus, &drop));
		const struct log_entry *e = &one.entry;
		restored |= e->restored;
		whole->waited += e->waited;
		whole->cpu += e->cpu;
		whole->seconds += e->seconds;
		whole->memory = e->memory > whole->memory ? e->memory : whole->memory;
		*VEC_PUSH(a, &whole->passes) = *e;
		bool shown = e->restored && is_shared(j, p, gpus) && /* as if it were shared now */
			     str_contains(buf_str(&said), one.result.err);
		buf_add(&said, shown ? S("") : one.result.err);
		j->result = one.result;
		if (e->status || drop || !fs_is_file(p->out))
			return NULL;
		TRY(fs_rename(p->out, p->output));
		strs_add(a, &objects, p->output);
		if (!one.later.good)
			continue;
		one.output = p->output;
		one.result.err = one.said.n ? one.said : one.result.err;
		*VEC_PUSH(a, &later) = one;
	}
	CLEANUP(cache_closep)
	struct cache *cache = later.n ? cache_borrow(j->config->objects, j->config->lender) : NULL;
	VEC_EACH (struct compiler_run, one, &later) {
		one->later.cache = cache;
		cached_keep(a, &one->later, one->output, &one->result);
	}
	whole->tries = 1;
	say_text(buf_str(&said));
	if (!restored)
		tolerate(remember(a, j)); /* records the source as a whole */
	*ret_good = true;
	return NULL;
}

/* Runs the compile as passes if the step can express it. If one fails, it is not done: the command as it is shows the
 * user the compiler's messages for the original command line. */
static struct err *try_passes(
	struct arena *a, struct compiler_run *j, const struct strs *args, bool *ret_done)
{
	struct compile_step step;
	struct compile_passes passes;
	*ret_done = false;
	struct strs places = {0};
	STRS_ADD(a, &places, j->config->project, j->config->sdk);
	if (!compile_read(a, j->cc->name, args, &places, &step))
		return NULL;
	struct str folder = path_dir(step.work);
	struct err *e = fs_remove_tree(folder); /* left by a run that was killed */
	compile_passes(a, &step, &passes);
	if (!e)
		e = run_passes(a, j, &passes, &step.gpus, ret_done);
	e = err_join(e, fs_remove_tree(folder));
	if (e && e->code != E_CANCELLED) { /* the folder may not be writable, for example */
		err_free(e);
		e = NULL;
	}
	return e;
}

static struct err *link_device(
	struct arena *a, struct compiler_run *j, const struct compile_passes *passes)
{
	bool good;
	struct err *e = run_passes(a, j, passes, NULL, &good);
	TRY(err_join(e, fs_remove_tree(dlink_folder(a, passes))));
	if (!good)
		say_text(overlay_explain(a, j->config, j->result.err));
	if (!good && !j->result.status)
		return err_new(E_LINK, "the device code was linked into no file");
	return NULL;
}

/* Runs a compiler, with precompiled headers if it can use them. If that fails, runs it without them and shows only the
 * messages of that run, so that they are about the source alone. */
static struct err *run_compiler(struct arena *a, struct compiler_run *j, const struct strs *args)
{
	TRY(run_precompiled(a, j, args));
	/* the messages of the first try are about the source as it is */
	const struct proc_result first = j->result;
	struct strs words = *args, next;
	for (int tries = 0; j->cuda && j->result.status && tries < MAX_MENDED; tries++) {
		TRY(mend_words(a, j->cc, &words, j->result.err, &next));
		if (!next.n)
			break;
		words = next;
		struct proc mended;
		TRY(make_command(a, j->cc, j->config, &words, &mended));
		j->proc.argv = mended.argv;
		TRY(run_counted(a, j));
	}
	if (j->result.status)
		j->result = first;
	bool explain = j->cuda && j->result.status;
	say_text(explain ? overlay_explain(a, j->config, j->result.err) : j->result.err);
	return NULL;
}

/* ---- a call ---- */

/* Becomes a program that was built with the SDK's libraries, which may need its libc. */
static struct err *run_program(struct arena *a, const struct cc *cc, const struct cc_config *config,
	const struct strs *argv)
{
	struct proc p = {0};
	if (config->loader.n)
		proc_arg(a, &p, str_z(a, config->loader), "--library-path",
			str_z(a, config->library_path), NULL);
	else
		strs_fmt(a, &p.setenv, "LD_LIBRARY_PATH=%.*s/lib", STR(cc->dir));
	strs_add(a, &p.argv, path_join(a, S("."), argv->v[0])); /* not one of PATH */
	for (size_t i = 1; i < argv->n; i++)
		strs_add(a, &p.argv, argv->v[i]);
	return proc_become(&p);
}

struct err *cc_run(struct arena *a, const struct cc *cc, const struct strs *args, int *ret_status)
{
	struct cc_config config = {0};
	const struct node *doc;
	struct str left_out = S("");
	struct err *e = json_read(a, cc_file(a, cc->dir, "cc.json"), &doc);
	if (!e)
		e = json_fields_read(a, doc, config_fields, &config);
	TRY_CTX(e, "'%.*s' is not a shim folder", STR(cc->dir));
	if (str_is_one_of(cc->name, cc_gpu_programs)) {
		if (str_eq(cc->name, S("rocm_agent_enumerator")) && !config.gpus.n)
			out_text(S("gfx000\n"));
		VEC_EACH (const struct str, gpu, &config.gpus)
			out_fmt("%.*s\n", STR(*gpu));
		return NULL;
	}
	if (path_is_below(config.sdk, fs_place(a, FS_DATA, S("sdk")))) /* else nobody removes it */
		err_free(fs_hold(path_dir(config.sdk), FS_HOLD_USED));
	struct str cuda = path_join(a, cc->dir, S("cuda"));
	struct strs at_home = cc_words_at_home(a, cuda, args), words;
	struct nvcc_result nvcc = {0};
	args = &at_home;
	if (str_eq(cc->name, S("nvcc"))) {
		TRY(nvcc_command(a, cc, &config, args, &nvcc));
		if (nvcc.done)
			return NULL;
		if (nvcc.run.n)
			return run_program(a, cc, &config, &nvcc.run);
		/* else clang only says that it does not find <cmath> */
		if (!config.sysroot.n && !config.root_flags.n && !fs_is_dir(S("/usr/include/c++")))
			say_hint("nvcc needs the C++ headers of g++: apt install g++");
		cc = &nvcc.cc;
		/* the log shows the link, which is in the middle */
		args = nvcc.passes.n ? &nvcc.passes.v[nvcc.passes.n / 2].argv : &nvcc.words;
	}
	if (str_eq(cc->name, S("hipcc"))) {
		words = cc_from_nvcc(a, args);
	} else {
		struct cc_words w = cc_words(cc->name, args, config.sysroot);
		words = cc_fit_standard(a, cc->name, &w, args, &left_out);
		if (left_out.n)
			say_warning(
				"'%.*s' is not for the language of '%.*s': left out, as gcc would",
				STR(left_out), STR(w.input));
	}
	struct str least = cc_torch_standard(a, &words);
	struct str old = least.n ? cc_raise_standard(a, least, &words) : S("");
	if (old.n)
		cc_say_once(cc, "torch-standard",
			str_fmt(a, "this torch needs C++%.*s, which takes the place of %.*s",
				STR(least), STR(old)));
	/* torch's hipify leaves includes of CUDA as they are that it does not know */
	if (least.n && str_eq(cc->name, S("hipcc")) && fs_is_dir(path_join(a, cuda, S("include"))))
		STRS_ADD(a, &words, S("-idirafter"), path_join(a, cuda, S("include")));
	struct compiler_run j = {.cc = cc, .config = &config, .cuda = nvcc.cuda};
	TRY(prepare(a, &j, &words));
	bool nested = getenv(INSIDE) != NULL, done = false;
	bool passes =
		j.entry.predicted || front_share_of(config.share) != FRONT_OFF || config.objects.n;
	if (!nvcc.passes.n && (nested || (!config.log_dir.n && !passes && !j.proc.only_err)))
		return proc_become(&j.proc);
	cancel_init();
	if (nvcc.passes.n)
		TRY(link_device(a, &j, &nvcc.passes));
	else if (passes)
		TRY(try_passes(a, &j, &words, &done));
	if (!done && !nvcc.passes.n)
		TRY(run_compiler(a, &j, &words));
	write_log(a, &j);
	*ret_status = j.result.status;
	return NULL;
}
