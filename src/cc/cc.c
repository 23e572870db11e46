/* Running a program of an SDK by a name of the shim folder; see cc.h. */
#include "cc/cc.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/vec.h"
#include "cc/cc_int.h"
#include "formats/json_fields.h"
#include "formats/node.h"
#include "know/know.h"
#include "term/out.h"

#define INSIDE "ROCSMITH_CC" /* in the environment of what we start */

enum { MAX_STDERR = 64 << 20 };

const char *const cc_gpu_programs[] = {
	"rocm_agent_enumerator", "offload-arch", "amdgpu-arch", NULL};
const char *const cc_host_programs[] = {"cc", "c++", "gcc", "g++", NULL};

/* ---- the folder ---- */
static const struct json_field config_fields[] = {
	FIELD_CONST("schema", "rocsmith.cc/1"),
	FIELDS(struct cc_config, loader, library_path, flags, sysroot, host_flags, link_flags,
		compile_flags, gpus, log_dir, precompile, memory),
	{.kind = FIELD_END},
};

struct str cc_file(struct arena *a, struct str dir, const char *name)
{
	return str_fmt(a, "%.*s/.rocsmith/%s", STR(dir), name);
}

struct err *cc_config_write(struct arena *a, struct str dir, const struct cc_config *config)
{
	return fs_write_if_changed(
		cc_file(a, dir, "cc.json"), json_document(a, 1, config_fields, config), 0644);
}

static struct err *config_read(struct arena *a, struct str dir, struct cc_config *ret)
{
	const struct node *doc;
	*ret = (struct cc_config){0};
	TRY(json_read(a, cc_file(a, dir, "cc.json"), &doc));
	return json_fields_read(a, doc, config_fields, ret);
}

bool cc_called(struct arena *a, struct cc *ret)
{
	/* the path that was started: /proc has to be asked only where that may be a link to a name of a shim folder */
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
static struct err *no_program(struct arena *a, const struct cc *cc)
{
	struct strs names = {0};
	struct err *list = fs_list(a, cc_file(a, cc->dir, "programs"), &names);
	struct err *e = err_new(E_TOOL_MISSING, "the SDK of '%.*s' has no program '%.*s'",
		STR(cc->dir), STR(cc->name));
	struct str near = suggest(cc->name, &names);
	if (near.n)
		err_hint(e, "did you mean '%.*s'?", STR(near));
	return err_join(e, list);
}

/* Where the program believes to be: beside what it starts by itself. */
static struct str own_path(struct arena *a, const struct cc *cc)
{
	struct str path = str_fmt(a, "%.*s/llvm/bin/%.*s", STR(cc->dir), STR(cc->name));
	return fs_present(path) ? path : str_fmt(a, "%.*s/bin/%.*s", STR(cc->dir), STR(cc->name));
}

/* What hipcc and clang ask the environment for, and what would bring this machine's libraries into
 * a program of another libc. */
static void set_environment(struct arena *a, const struct cc *cc, struct proc *p)
{
	const char *path = getenv("PATH");
	strs_add(a, &p->setenv, str_fmt(a, "ROCM_PATH=%.*s", STR(cc->dir)));
	strs_add(a, &p->setenv, str_fmt(a, "HIP_PATH=%.*s", STR(cc->dir)));
	strs_add(a, &p->setenv, S("HIP_PLATFORM=amd"));
	strs_add(a, &p->setenv, str_fmt(a, "HIP_CLANG_PATH=%.*s/llvm/bin", STR(cc->dir)));
	strs_add(
		a, &p->setenv, str_fmt(a, "HIP_DEVICE_LIB_PATH=%.*s/amdgcn/bitcode", STR(cc->dir)));
	strs_add(a, &p->setenv, str_fmt(a, "HIP_LIB_PATH=%.*s/lib", STR(cc->dir)));
	/* programs that look for others beside themselves find the loader there, and then ask PATH
	 * (clang-linker-wrapper, which must not find another clang) */
	strs_add(a, &p->setenv,
		str_fmt(a, "PATH=%.*s/llvm/bin:%s", STR(cc->dir), path ? path : "/usr/bin:/bin"));
	strs_add(a, &p->setenv, S(INSIDE "=1"));
	strs_add(a, &p->setenv, S("LD_PRELOAD"));
	strs_add(a, &p->setenv, S("LD_LIBRARY_PATH"));
}

/* The process as it will run, from its name and arguments: argv and environment. */
static struct err *command(struct arena *a, const struct cc *cc, const struct cc_config *config,
	const struct strs *args, struct proc *ret)
{
	struct str link = path_join(a, cc_file(a, cc->dir, "programs"), cc->name), program;
	*ret = (struct proc){0};
	if (!cc->name.n || str_chr(cc->name, '/') < cc->name.n || !fs_is_link(link))
		return no_program(a, cc);
	TRY(fs_readlink(a, link, &program));
	bool host = str_is_one_of(cc->name, cc_host_programs);
	if (config->loader.n && !host)
		proc_arg(a, ret, str_z(a, config->loader), "--library-path",
			str_z(a, config->library_path), "--argv0", str_z(a, own_path(a, cc)), NULL);
	strs_add(a, &ret->argv, program);
	struct cc_words w = cc_words(cc->name, args, config->sysroot);
	if (w.driver)
		strs_add_all(a, &ret->argv, &config->flags);
	if (w.driver && !w.targeted)
		strs_add_all(a, &ret->argv, &config->host_flags);
	if (w.driver && w.compiles)
		strs_add_all(a, &ret->argv, &config->compile_flags);
	/* LLVM's OpenMPOpt looks through the whole module once for each of its functions: PyTorch's
	 * RegisterCPU.cpp was not done after 9 minutes, and takes 97 s on the same machine without
	 * it (clang 21). What it improves is OpenMP on GPUs. */
	if (w.driver && w.openmp) {
		strs_add(a, &ret->argv, S("-mllvm"));
		strs_add(a, &ret->argv, S("-openmp-opt-disable"));
	}
	strs_add_all(a, &ret->argv, args);
	if (w.driver && w.links && !w.targeted)
		strs_add_all(a, &ret->argv, &config->link_flags);
	if (host)
		strs_add(a, &ret->setenv, S(INSIDE "=1"));
	else
		set_environment(a, cc, ret);
	return NULL;
}

/* ---- the log: a line of cc.jsonl is one run of a program, with all its tries ---- */
struct entry {
	double start; /* seconds since 1970 */
	struct str program;
	const char *kind;
	struct str input, dir; /* as written; the folder it ran in */
	double waited, seconds, cpu;
	uint64_t memory, predicted; /* bytes: the peak of its largest process; what was taken */
	const char *by;             /* what the prediction is made of */
	double expected;            /* seconds that the source took before, 0 = not known */
	const char *pch; /* "made", "used", "refused": failed with it, and ran without; or "" */
	uint64_t tries;
	int64_t status;
	struct strs argv; /* without the program */
};

static const struct json_field entry_fields[] = {
	FIELDS(struct entry, start, program, kind, input, dir, waited, seconds, cpu, memory,
		predicted, by, expected),
	FIELDS(struct entry, pch, tries, status, argv),
	{.kind = FIELD_END},
};

static struct str entry_line(struct arena *a, const struct entry *e)
{
	BUF(out, a);
	struct json j = {.out = &out};
	json_struct(&j, entry_fields, e);
	buf_char(&out, '\n');
	return buf_str(&out);
}

/* ---- running it ---- */
static struct err *become(struct arena *a, const struct proc *p)
{
	char **argv = arena_array(a, p->argv.n + 1, sizeof(*argv));
	for (size_t i = 0; i < p->argv.n; i++)
		argv[i] = str_z(a, p->argv.v[i]);
	for (size_t i = 0; i < p->setenv.n; i++) {
		struct str name, value;
		int r = str_cut(p->setenv.v[i], '=', &name, &value)
				? setenv(str_z(a, name), str_z(a, value), 1)
				: unsetenv(str_z(a, name));
		if (r < 0)
			return err_errno("cannot set '%.*s'", STR(name));
	}
	execv(argv[0], argv);
	return err_errno("cannot run '%s'", argv[0]);
}

struct compiler_run {
	const struct cc *cc;
	const struct cc_config *config;
	struct proc proc, plain; /* plain: without precompiled headers, where proc has them */
	struct pch pch;
	bool alone, quiet;
	struct proc_result result;
	struct history_key key;
	struct entry entry;
};

/* A shell between says 137, clang and gcc say it in words. */
static bool starved(const struct proc_result *r)
{
	struct str part;
	return r->status && (r->status == 128 + 9 || know_match("memory", r->err, &part));
}

/* What was predicted, and for a second try everything. */
static struct err *one_try(struct arena *a, struct compiler_run *j)
{
	struct ledger l = {.fd = -1, .events = -1};
	struct entry *e = &j->entry;
	struct ledger_wish wish = {.limit = j->config->memory,
		.want = j->alone ? LEDGER_ALONE : e->predicted,
		.what = path_base(e->kind == cc_kind_names[CC_LINK] ? S("linking") : e->input)};
	if (wish.want)
		TRY(ledger_take(cc_file(a, j->cc->dir, "ledger"), &wish, &l));
	e->waited += l.waited;
	e->tries++;
	struct err *err = proc_run(a, &j->proc, &j->result);
	ledger_release(&l);
	e->cpu += j->result.cpu;
	e->seconds += j->result.seconds;
	e->memory = j->result.memory;
	e->status = j->result.status;
	return err;
}

/* One that was killed needed more than it had. */
static struct err *remember(struct arena *a, struct compiler_run *j)
{
	struct entry *e = &j->entry;
	uint64_t peak = e->memory, known = e->predicted;
	if (!known)
		return NULL;
	if (starved(&j->result))
		peak = peak > known + known / 2 ? peak : known + known / 2;
	else if (e->status)
		return NULL;
	return history_add(cc_file(a, j->cc->dir, "history"), &j->key, peak, j->result.seconds);
}

/* What a build is not worth failing for. */
static void tolerate(struct err *e)
{
	if (e)
		say_warning("%s: %s", e->msg, err_root(e)->msg);
	err_free(e);
}

/* Of a mistake in the source, only what is said without our headers may be told. */
static bool without_pch(struct compiler_run *j)
{
	bool with = j->plain.argv.n > 0;
	if (!j->result.status || !with)
		return false;
	j->proc = j->plain;
	j->plain = (struct proc){0};
	j->entry.pch = "refused";
	return true;
}

static struct err *after_pch(struct arena *a, struct compiler_run *j)
{
	if (j->entry.pch && str_eq(str_from(j->entry.pch), S("refused")))
		return j->result.status ? NULL : pch_failed(a, &j->pch);
	return j->plain.argv.n ? pch_depfile(a, &j->pch, &j->entry.argv) : NULL;
}

static struct err *run_counted(struct arena *a, struct compiler_run *j)
{
	struct entry *e = &j->entry;
	for (bool again = true; again;) {
		TRY(one_try(a, j));
		tolerate(remember(a, j));
		again = e->predicted && !j->alone && starved(&j->result);
		if (again)
			say_warning("'%.*s' of '%.*s' ran out of memory at %llu MiB: once more, "
				    "alone",
				STR(j->cc->name), STR(e->input),
				(unsigned long long)(e->memory >> 20));
		j->alone |= again;
		if (!again)
			again = without_pch(j);
	}
	tolerate(after_pch(a, j));
	if (!j->quiet)
		say_text(j->result.err);
	struct str log = path_join(a, j->config->log_dir, S("cc.jsonl"));
	if (j->config->log_dir.n)
		tolerate(fs_append(log, entry_line(a, e)));
	return NULL;
}

static void predict(struct arena *a, struct compiler_run *j, const struct strs *args)
{
	struct cc_words w = cc_words(j->cc->name, args, j->config->sysroot);
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	j->entry = (struct entry){.start = (double)now.tv_sec + (double)now.tv_nsec / 1e9,
		.program = j->cc->name,
		.kind = cc_kind_names[w.kind],
		.input = w.input,
		.dir = path_abs(a, S(".")),
		.argv = *args};
	if (!j->config->memory || w.kind == CC_OTHER)
		return;
	struct history_guess guess;
	j->key = history_key(j->cc, args, &w);
	tolerate(history_guess(cc_file(a, j->cc->dir, "history"), &j->key, &guess));
	if (guess.by == HISTORY_KIND && w.kind == CC_LINK)
		guess.memory += cc_link_bytes(args);
	j->entry.predicted = guess.memory;
	j->entry.expected = guess.seconds;
	j->entry.by = history_by_names[guess.by];
}

/* The lock ends with us, were it by a signal. */
static struct err *make_pch(struct arena *a, struct compiler_run *j)
{
	struct compiler_run m = {.cc = j->cc, .config = j->config, .quiet = true};
	struct strs args;
	TRY(pch_command(a, &j->pch, &args));
	TRY(command(a, j->cc, j->config, &args, &m.proc));
	predict(a, &m, &args);
	m.entry.pch = "made";
	m.proc.only_err = true;
	m.proc.limit = MAX_STDERR;
	TRY(run_counted(a, &m));
	return pch_made(a, &j->pch, m.result.status == 0);
}

/* Headers that are precompiled, or are now, go into the command. */
static struct err *precompile(struct arena *a, struct compiler_run *j, const struct strs *args)
{
	struct strs with = {0};
	TRY(pch_look(a, j->cc, j->config, args, &j->pch));
	if (j->pch.due)
		TRY(make_pch(a, j));
	if (!j->pch.file.n)
		return NULL;
	strs_add(a, &with, S("-include-pch"));
	strs_add(a, &with, j->pch.file);
	strs_add_all(a, &with, args);
	j->plain = j->proc;
	j->entry.pch = "used";
	TRY(command(a, j->cc, j->config, &with, &j->proc));
	j->proc.only_err = j->plain.only_err;
	j->proc.limit = j->plain.limit;
	return NULL;
}

static void list_gpus(const struct cc_config *config, struct str name)
{
	if (str_eq(name, S("rocm_agent_enumerator")) && !config->gpus.n)
		out_text(S("gfx000\n"));
	VEC_EACH (const struct str, gpu, &config->gpus)
		out_fmt("%.*s\n", STR(*gpu));
}

/* The arguments for clang of those that other compilers take too. */
static struct strs for_clang(struct arena *a, const struct cc *cc, const struct cc_config *config,
	const struct strs *args)
{
	struct str left_out;
	if (str_eq(cc->name, S("hipcc")))
		return cc_from_nvcc(a, args);
	struct cc_words w = cc_words(cc->name, args, config->sysroot);
	struct strs fit = cc_fit_standard(a, cc->name, &w, args, &left_out);
	if (left_out.n)
		say_warning("'%.*s' is not for the language of '%.*s': left out, as gcc would",
			STR(left_out), STR(w.input));
	return fit;
}

struct err *cc_run(struct arena *a, const struct cc *cc, const struct strs *args, int *ret_status)
{
	struct cc_config config;
	TRY_CTX(config_read(a, cc->dir, &config), "'%.*s' is not a shim folder", STR(cc->dir));
	if (str_is_one_of(cc->name, cc_gpu_programs)) {
		list_gpus(&config, cc->name);
		return NULL;
	}
	struct strs words = for_clang(a, cc, &config, args);
	struct compiler_run j = {.cc = cc, .config = &config};
	TRY(command(a, cc, &config, &words, &j.proc));
	predict(a, &j, &words);
	bool nested = getenv(INSIDE) != NULL;
	if (nested || (!config.log_dir.n && !j.entry.predicted))
		return become(a, &j.proc);
	j.proc.only_err = j.entry.predicted > 0;
	j.proc.inherit = !j.proc.only_err;
	j.proc.limit = MAX_STDERR;
	cancel_init();
	if (j.proc.only_err)
		tolerate(precompile(a, &j, &words));
	TRY(run_counted(a, &j));
	*ret_status = j.result.status;
	return NULL;
}
