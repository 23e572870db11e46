/* rocsmith env: prints the environment variables that the GPUs and the torch of this machine (or a recorded one)
 * need. */
#include "base/fs.h"
#include "cli/opt.h"
#include "know/environment.h"
#include "term/out.h"

struct env_args {
	struct common common;
	struct strs gpus;
	struct str python, sysroot;
	bool build, shell;
};
#define ARGS struct env_args

const struct opt cmd_env_opts[] = {
	{OPT_GPUS(gpus, "for these GPUs instead of those of the machine")},
	{OPT_VALUE("python", OPT_PATH, python, "DIR", "for the torch of this Python environment")},
	{OPT_FLAG("build", build, "also what builds of PyTorch and extensions want")},
	{OPT_FLAG("shell", shell, "print lines for a shell to eval")},
	{OPT_SYSROOT(sysroot, "for this recorded machine: a folder or machine file")},
	OPT_LAST,
};

struct env_answer {
	struct str python, torch;
	/* the reason why this torch cannot use these GPUs with any variables; "" = none */
	struct str but;
	struct strs targets;
	bool dxg;
	struct environment_lines lines;
};

static void write_value(struct json *j, const void *line)
{
	const struct environment_line *l = line;
	if (l->unset)
		json_nothing(j);
	else
		json_str(j, l->value);
}

static const struct json_field line_fields[] = {
	FIELD("name", struct environment_line, name),
	FIELD_WRITE("value", write_value),
	FIELD_LAST(FIELDS(struct environment_line, build, why, confidence, evidence)),
};

static const struct json_field answer_fields[] = {
	FIELD_CONST("schema", "rocsmith.env/1"),
	FIELDS(struct env_answer, python, torch, targets),
	FIELD_LAST(FIELD_LIST("variables", struct env_answer, lines, line_fields)),
};

static void show(struct arena *a, const struct env_answer *x)
{
	struct str targets = str_join(a, &x->targets, S(", "));
	out_fmt("for %.*s", STR(targets.n ? targets : x->dxg ? S("the GPU of WSL") : S("no GPU")));
	if (x->python.n)
		out_fmt(", %s%.*s in %.*s", x->torch.n ? "torch " : "no torch", STR(x->torch),
			STR(x->python));
	if (x->but.n)
		out_fmt(", which %.*s: no variable that rocsmith would set changes that (see "
			"'rocsmith doctor')",
			STR(x->but));
	out_text(x->lines.n ? S(":\n") : x->but.n ? S("\n") : S(": nothing needs to be set\n"));
	VEC_EACH (const struct environment_line, l, &x->lines) {
		struct str text = l->unset ? str_fmt(a, "unset %.*s", STR(l->name))
					   : str_fmt(a, "%.*s=%.*s", STR(l->name), STR(l->value));
		out_fmt("\n%.*s\n    %.*s\n", STR(styled_out(a, STYLE_BOLD, text)), STR(l->why));
		out_fmt("    [%s] %.*s\n", l->confidence, STR(str_join(a, &l->evidence, S(", "))));
	}
}

/* The text of `but`. An override that is in force helps; rocsmith sets none, as `patch` refuses it. */
static struct str but_of(struct arena *a, const struct machine *m, const struct machine_python *p)
{
	struct strs none = {0};
	const struct machine_torch *o = &p->torch;
	VEC_EACH (const struct machine_gpu, g, &m->gpus)
		if (g->target.n && !g->apu == !m->gpus.v[0].apu && o->targets.n &&
			!environment_serves(o, g->target) && !environment_borrows(o, g))
			strs_put(a, &none, g->target);
	if (none.n)
		return str_fmt(a, "has no usable code, or no files of rocBLAS, for %.*s",
			STR(str_join(a, &none, S(", "))));
	if (!m->gpus.n || m->nvidia || !o->build.n || str_eq(o->build, S("rocm")))
		return S("");
	return str_fmt(a, "is built for %.*s", STR(o->build));
}

struct err *cmd_env(struct arena *a, void *args)
{
	const struct env_args *o = args;
	struct machine m;
	struct env_answer x = {0};
	struct strs known = {0};
	struct str path = o->python.n && !o->sysroot.n ? path_abs(a, o->python) : o->python;
	if (path.n && !o->sysroot.n) {
		/* its bin folder becomes the first in PATH, as its activate script does it, so that it is
		 * read wherever it is and whatever it contains */
		const char *old = getenv("PATH");
		(void)fs_real(a, path, &path);
		(void)setenv("PATH", str_fmt(a, "%.*s/bin:%s", STR(path), old ? old : "").p, 1);
	}
	TRY(machine_read_all(a, o->sysroot, &m));
	if (o->gpus.n && (o->gpus.n > 1 || !str_eq(o->gpus.v[0], S("native")))) {
		struct targets list;
		struct strs words = o->gpus;
		TRY(opt_targets(a, o->sysroot, &words, &list));
		m.gpus.n = 0;
		VEC_EACH (const struct target, t, &list) /* as cards: their topology is unknown */
			*VEC_PUSH(a, &m.gpus) = (struct machine_gpu){.target = t->name};
	}
	const struct machine_python *p = environment_python(&m, path);
	if (path.n && !p) {
		VEC_EACH (const struct machine_python, other, &m.pythons)
			strs_add(a, &known, other->path);
		struct err *e =
			err_new(E_NOENT, "no Python environment was found at '%.*s'", STR(path));
		return known.n ? err_hint(e, "there are: %.*s", STR(str_join(a, &known, S(", "))))
			       : e;
	}
	TRY(environment_of(a, &m, p, o->build, &x.lines));
	if (p) {
		x.python = p->path;
		x.torch = p->torch.version;
		x.but = but_of(a, &m, p);
	}
	x.dxg = m.has_dxg;
	VEC_EACH (const struct machine_gpu, g, &m.gpus)
		strs_put(a, &x.targets, g->target);
	if (show_json(&o->common, answer_fields, &x))
		return NULL;
	if (!o->shell)
		show(a, &x);
	for (size_t i = 0; i < x.lines.n && o->shell; i++) {
		const struct environment_line *l = &x.lines.v[i];
		out_fmt("# %.*s [%s]\n", STR(l->why), l->confidence);
		if (l->unset)
			out_fmt("unset %.*s\n", STR(l->name));
		else
			out_fmt("export %.*s=%.*s\n", STR(l->name), STR(str_shell(a, l->value)));
	}
	return NULL;
}
