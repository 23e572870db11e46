/* rocsmith container run: shows the command that starts a container with this machine's GPUs, and becomes it. */
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "cli/opt.h"
#include "container/container.h"
#include "term/out.h"

struct container_run_args {
	struct common common;
	struct str engine, work, shm_size, sysroot, image;
	struct strs gpus, binds, variables, command;
	bool cache, offline, ipc, debug, relabel, print;
};
#define ARGS struct container_run_args

const struct opt cmd_container_run_opts[] = {
	{OPT_VALUE("engine", OPT_STR, engine, "NAME", "podman, docker, bwrap or nspawn")},
	{OPT_VALUE("gpu", OPT_WORDS, gpus, "GPU,...", "indices, targets, all (default) or none")},
	{OPT_VALUE("bind", OPT_LIST, binds, "FROM[:AT][:ro]", "show it this file or folder")},
	{OPT_VALUE("work", OPT_PATH, work, "DIR", "bind this folder, and start in it")},
	{OPT_FLAG("cache", cache, "bind rocsmith's SDKs, caches and state")},
	{OPT_VALUE("env", OPT_LIST, variables, "NAME=VALUE", "set a variable")},
	{OPT_FLAG("offline", offline, "give it no network")},
	{OPT_FLAG("ipc", ipc, "share memory with processes outside")},
	{OPT_VALUE("shm-size", OPT_STR, shm_size, "SIZE",
		"shared memory: 8g, 512m (half of the memory)")},
	{OPT_FLAG("debug", debug, "let debuggers trace processes")},
	{OPT_FLAG("relabel", relabel, "SELinux: change the labels of what is bound")},
	{OPT_FLAG("print", print, "print the command, and run nothing")},
	{OPT_SYSROOT(sysroot, "print it for this recorded machine")},
	{OPT_ARGUMENT("IMAGE", OPT_POS, image, "an image, or a root folder with a '/'"),
		.flags = OPT_REQUIRED},
	{OPT_ARGUMENT("COMMAND", OPT_REST, command, "the command and its arguments, after --")},
	OPT_LAST,
};

/* ---- the request ---- */

/* Its places are the same inside, since receipts and caches name paths. */
static struct err *add_cache(struct arena *a, bool make, struct container *c)
{
	static const struct {
		enum fs_place place;
		const char *variable;
	} places[] = {{FS_DATA, "XDG_DATA_HOME"}, {FS_CACHE, "XDG_CACHE_HOME"},
		{FS_STATE, "XDG_STATE_HOME"}};
	const char *home = getenv("ROCSMITH_HOME");
	struct strs set = {0};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct str dir = fs_place(a, places[i].place, S(""));
		if (make)
			TRY(fs_mkdirs(dir));
		container_add(a, "bind", dir, c);
		if (strs_put(a, &set,
			    str_from(home && *home ? "ROCSMITH_HOME" : places[i].variable))) {
			container_add(a, "variable", set.v[set.n - 1], c);
			c->items.v[c->items.n - 1].at = path_dir(dir);
		}
	}
	return NULL;
}

static struct err *add_variables(struct arena *a, const struct strs *variables, struct container *c)
{
	for (size_t i = 0; i < variables->n; i++) {
		struct str name, value;
		if (!str_cut(variables->v[i], '=', &name, &value) || !name.n)
			return err_new(E_USAGE, "a variable is NAME=VALUE, not '%.*s'",
				STR(variables->v[i]));
		container_add(a, "variable", name, c);
		c->items.v[c->items.n - 1].at = value;
	}
	return NULL;
}

static struct err *add_memory(struct arena *a, const struct container_run_args *o,
	const struct machine *m, struct container *c)
{
	uint64_t size = m->memory / 2;
	/* binary, as engines read them */
	static const struct str_unit units[] = {{"", 1}, {"b", 1}, {"k", 1 << 10}, {"m", 1 << 20},
		{"g", 1 << 30}, {"t", UINT64_C(1) << 40}, {0}};
	if (o->ipc && o->shm_size.n)
		return err_new(
			E_USAGE, "--ipc shares the memory outside, which has a size already");
	if (o->shm_size.n && (!str_amount(o->shm_size, units, &size) || !size || size > INT64_MAX))
		return err_new(E_USAGE, "'%.*s' is no size such as 8g or 512m", STR(o->shm_size));
	if (o->ipc || size)
		strs_add(a, &c->words, o->ipc ? S("ipc") : S("shm"));
	strs_fmt(a, &c->values, "shm=%llu", (unsigned long long)size);
	return NULL;
}

/* GNU's env can set signals; that of busybox, which cannot, is a link. */
static bool has_gnu_env(struct arena *a, struct str root)
{
	struct stat st;
	return fs_try_lstat(path_join(a, root, S("usr/bin/env")), &st) && S_ISREG(st.st_mode);
}

static void add_words(
	struct arena *a, const struct container_run_args *o, bool run, struct container *c)
{
	bool tty = isatty(0) && isatty(1);
	const struct {
		bool holds;
		const char *word;
	} words[] = {
		{!o->offline, "network"},
		{o->debug, "debug"},
		{o->relabel, "relabel"},
		{o->work.n > 0, "work"},
		{o->cache, "cache"},
		{tty, "tty"},
		{tty && has_gnu_env(a, S("/")) && has_gnu_env(a, c->image), "env"},
		/* a recorded machine does not show it, but nearly all have it */
		{o->sysroot.n || fs_is_dir(S("/run/systemd/system")), "systemd"},
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i].holds)
			strs_add(a, &c->words, str_from(words[i].word));
	for (size_t i = 0; i < o->command.n; i++)
		container_add(a, "command", o->command.v[i], c);
	if (!o->command.n && !c->engine->image)
		container_add(a, "command", S("/bin/sh"), c);
	if (run && o->relabel && strs_has(&c->words, S("selinux")))
		say_warning("--relabel changes SELinux labels of what is bound, for good");
}

static struct err *fill_container(
	struct arena *a, const struct container_run_args *o, bool run, struct container *c)
{
	struct machine m;
	TRY(container_open(a, o->engine, o->image, c));
	TRY(machine_read(a, o->sysroot, &m));
	TRY(container_machine(a, &m, &o->gpus, c));
	if (o->work.n) {
		struct str work = path_abs(a, o->work);
		container_add(a, "bind", work, c);
		strs_fmt(a, &c->values, "work=%.*s", STR(work));
	}
	for (size_t i = 0; i < o->binds.n; i++)
		TRY(container_bind(a, o->binds.v[i], c));
	if (o->cache)
		TRY(add_cache(a, run, c));
	TRY(add_variables(a, &o->variables, c));
	TRY(add_memory(a, o, &m, c));
	add_words(a, o, run, c);
	VEC_EACH (const struct container_item, i, &c->items)
		if (run && str_eq(i->kind, S("bind")) && !fs_exists(i->from))
			return err_new(E_NOENT, "there is no '%.*s' to bind", STR(i->from));
	return container_write(a, c);
}

/* ---- the answer ---- */

static struct str command_text(struct arena *a, const struct strs *argv)
{
	struct strs words = {0};
	for (size_t i = 0; i < argv->n; i++)
		strs_add(a, &words, str_shell(a, argv->v[i]));
	return str_join(a, &words, S(" "));
}

static void write_command(struct json *j, const void *container)
{
	ARENA(tmp);
	json_str(j, command_text(&tmp, &((const struct container *)container)->argv));
}

static const struct json_field engine_fields[] = {
	FIELD_LAST(FIELD("engine", struct container_engine, name)),
};
static const struct json_field container_fields[] = {
	FIELD_CONST("schema", "rocsmith.container/1"),
	FIELD_FROM(struct container, engine, engine_fields),
	FIELDS(struct container, image, digest, argv),
	FIELD_WRITE("command", write_command),
	FIELDS(struct container, reasons, warnings),
	{.kind = FIELD_END},
};

/* Names the engines of this machine that take the same. */
static struct err *not_started(
	struct arena *a, struct err *e, const struct container_engine *wanted)
{
	if (e->code != E_TOOL_MISSING)
		return e;
	TABLE_EACH (container_engine, x)
		if (x->image == wanted->image && proc_find(a, str_from(x->program)).n)
			err_hint(e, "%s is here: --engine %s", x->program, x->name);
	return err_hint(e, "install the package '%s'; --print shows the command without it",
		wanted->package);
}

struct err *cmd_container_run(struct arena *a, void *args)
{
	struct container_run_args *o = args;
	struct container c;
	bool run = !(o->print || o->common.dry_run || o->common.json || o->sysroot.n);
	TRY(fill_container(a, o, run, &c));
	if (show_json(&o->common, container_fields, &c))
		return NULL;
	for (size_t i = 0; i < c.warnings.n; i++)
		say_warning("%.*s", STR(c.warnings.v[i]));
	for (size_t i = 0; i < c.reasons.n && (!run || out_verbosity() > 0); i++)
		say_status(S("Because"), "%.*s", STR(c.reasons.v[i]));
	struct str text = command_text(a, &c.argv);
	if (!run) {
		out_fmt("%.*s\n", STR(text));
		return NULL;
	}
	say_status(S("Running"), "%.*s", STR(text));
	fs_umask_end();
	struct proc p = {.argv = c.argv};
	return not_started(a, proc_become(&p), c.engine);
}
