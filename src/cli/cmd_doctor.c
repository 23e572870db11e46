/* rocsmith doctor: shows the facts about this machine (or a recorded one) and the problems that follow from them. */
#include <stddef.h>

#include "cli/doctor.h"
#include "know/rule.h"
#include "term/table.h"

struct doctor_args {
	struct common common;
	struct str sysroot, record, fix;
	struct strs gpus;
	bool undo;
};
#define ARGS struct doctor_args

static const struct opt doctor_opts[] = {
	{OPT_SYSROOT(sysroot, "examine this folder or machine file, not this machine")},
	{OPT_VALUE("record", OPT_PATH, record, "PLACE",
		"record it, without private data: .machine, .tar.gz or folder")},
	{OPT_VALUE("gpu", OPT_LIST, gpus, "GFX,...",
		 "tell the next step for these, not for those of the machine"),
		.flags = OPT_COMMA},
	{OPT_VALUE("fix", OPT_STR, fix, "ID",
		"do what this finding's fix says, in your start-up files")},
	{OPT_FLAG("undo", undo, "with --fix: take back what it did")},
	{.kind = OPT_END},
};

static void line(struct arena *a, const char *name, struct str value)
{
	if (value.n)
		out_fmt("%.*s%.*s\n", STR(styled_out(a, STYLE_BOLD, str_fmt(a, "%-10s", name))),
			STR(value));
}

static struct str system_text(struct arena *a, const struct machine *m)
{
	BUF(b, a);
	buf_fmt(&b, "%.*s, Linux%s%.*s%s%.*s",
		STR(m->distro.n ? m->distro : S("unknown distribution")), m->kernel.n ? " " : "",
		STR(m->kernel), m->arch.n ? " " : "", STR(m->arch));
	if (m->wsl)
		buf_add(&b, S(", WSL"));
	else if (m->virtual)
		buf_add(&b, S(", virtual machine"));
	if (m->container)
		buf_fmt(&b, ", in a container (%.*s)", STR(m->container_kind));
	return buf_str(&b);
}

static struct str cpu_text(struct arena *a, const struct machine *m)
{
	struct str cpus = S("unknown CPU");
	if (m->cpus)
		cpus = str_fmt(a, "%u x %.*s", m->cpus, STR(m->cpu.n ? m->cpu : S("CPU")));
	return str_fmt(a, "%.*s, %.*s memory (%.*s free), %.*s swap", STR(cpus),
		STR(human_memory(a, m->memory)), STR(human_memory(a, m->memory_free)),
		STR(human_memory(a, m->swap)));
}

static struct str driver_text(struct arena *a, const struct machine *m)
{
	const struct machine_driver *d = &m->driver;
	BUF(b, a);
	if (m->wsl && !d->loaded) /* WSL has no amdgpu */
		return m->has_dxg ? S("that of Windows, by /dev/dxg") : S("");
	buf_fmt(&b, "amdgpu is %s", d->loaded ? "loaded" : "not loaded");
	if (d->version.n)
		buf_fmt(&b, ", version %.*s", STR(d->version));
	if (d->blacklisted)
		buf_fmt(&b, ", kept away by %.*s", STR(d->blacklisted_by));
	return buf_str(&b);
}

static struct str user_text(struct arena *a, const struct machine *m)
{
	if (!m->has_identity)
		return S("");
	return str_fmt(a, "uid %u, groups %.*s", m->uid, STR(str_join(a, &m->groups, S(", "))));
}

static struct str sdks_text(struct arena *a, const struct machine *m)
{
	struct strs list = {0};
	VEC_EACH (struct machine_sdk, s, &m->sdks)
		strs_add(a, &list,
			str_fmt(a, "%.*s%s%.*s%s", STR(s->path), s->version.n ? " (" : "",
				STR(s->version), s->version.n ? ")" : ""));
	return str_join(a, &list, S(", "));
}

static void show_gpus(struct arena *a, const struct machine *m)
{
	static const char *const heads[] = {">node", "target", "pci", "render node", ">memory",
		">CUs", "kind", "products", NULL};
	struct table t = table_new(a, heads);
	VEC_EACH (struct machine_gpu, g, &m->gpus) {
		const struct gpu *known = gpu_by_name(g->target);
		struct str products = known ? gpu_products(a, known) : S("");
		const struct str cells[] = {
			str_fmt(a, "%u", g->node),
			g->target,
			g->pci,
			g->render,
			human_memory(a, g->vram),
			str_fmt(a, "%u", g->compute_units),
			g->apu ? S("APU") : S("card"),
			products.n ? products : g->name,
		};
		table_row(&t, cells);
	}
	out_text(S("\n"));
	table_print(&t);
}

static void show_nodes(struct arena *a, const struct machine *m)
{
	static const char *const heads[] = {"device node", "mode", "group", "for us", NULL};
	struct table t = table_new(a, heads);
	VEC_EACH (struct machine_node, n, &m->nodes) {
		const struct str cells[] = {n->path, str_fmt(a, "%04o", n->mode), n->group,
			n->acl      ? S("usable (ACL)")
			: n->usable ? S("usable")
				    : S("no access")};
		table_row(&t, cells);
	}
	out_text(S("\n"));
	table_print(&t);
}

/* ---- Python environments with a torch ---- */

/* "gfx1100, not gfx1036": the GPUs of this machine that torch has code for, and those that it has not. */
static struct str served_text(
	struct arena *a, const struct machine *m, const struct machine_torch *t)
{
	struct strs list = {0};
	if (!str_eq(t->build, S("rocm")))
		return str_fmt(a, "no AMD GPU: built for %.*s",
			STR(t->build.n ? t->build : S("something else")));
	if (!t->targets.n)
		return S("not known");
	VEC_EACH (struct machine_gpu, g, &m->gpus)
		strs_put(a, &list,
			targets_serve(&t->targets, g->target)
				? g->target
				: str_fmt(a, "not %.*s", STR(g->target)));
	return str_join(a, list.n ? &list : &t->targets, S(", "));
}

static void show_pythons(struct arena *a, const struct machine *m)
{
	static const char *const heads[] = {
		"Python environment", "Python", "torch", "GPUs that it has code for", NULL};
	struct table t = table_new(a, heads);
	VEC_EACH (struct machine_python, p, &m->pythons) {
		const struct str cells[] = {
			str_fmt(a, "%.*s%s", STR(p->path), p->active ? " (python3 here)" : ""),
			p->version, p->torch.version, served_text(a, m, &p->torch)};
		if (p->has_torch)
			table_row(&t, cells);
	}
	if (!t.n)
		return;
	out_text(S("\n"));
	table_print(&t);
}

/* ---- findings ---- */

static void show_source(struct arena *a, const struct rule *r)
{
	struct strs list = {0};
	for (const char *const *e = rule_evidence(r); *e; e++)
		strs_add(a, &list, str_from(*e));
	out_fmt("    why: %s\n    from: %.*s [%s]\n", rule_why(r), STR(str_join(a, &list, S(", "))),
		rule_confidence(r));
}

static void show_findings(struct arena *a, const struct machine *m)
{
	VEC_EACH (struct finding, f, &m->findings) {
		out_fmt("\n%.*s: %.*s [%s]\n", STR(styled_severity(a, f->severity)),
			STR(f->message), f->id);
		for (size_t i = 0; i < f->fix.n; i++)
			out_fmt("    fix: %.*s\n", STR(f->fix.v[i]));
		if (f->rule && out_verbosity() > 0)
			show_source(a, f->rule);
		if (f->rule)
			out_fmt("    see: rocsmith explain %s\n", f->id);
	}
	if (!m->findings.n)
		out_text(S("\nno problem found\n"));
}

static void show(struct arena *a, const struct machine *m)
{
	bool denied = out_verbosity() > 0;
	line(a, "system", system_text(a, m));
	line(a, "hardware", cpu_text(a, m));
	line(a, "driver", driver_text(a, m));
	line(a, "user", user_text(a, m));
	line(a, "ROCm", sdks_text(a, m));
	if (m->gpus.n)
		show_gpus(a, m);
	VEC_EACH (struct machine_node, n, &m->nodes)
		denied |= !n->usable;
	if (m->nodes.n && denied)
		show_nodes(a, m);
	show_pythons(a, m);
	show_findings(a, m);
}

static struct err *record(const struct doctor_args *d)
{
	unsigned files;
	TRY(machine_record(d->sysroot, d->record, &files));
	say_status(d->common.dry_run ? S("Would record") : S("Recorded"), "%u file%s into '%.*s'",
		files, files == 1 ? "" : "s", STR(d->record));
	return NULL;
}

static struct err *doctor_run(struct arena *a, void *args, int *ret_status)
{
	const struct doctor_args *d = args;
	struct machine m;
	struct doctor doctor = {.machine = &m};
	struct targets targets = {0};
	struct strs gpus = {0}, words = d->gpus;
	if ((d->fix.n && d->sysroot.n) || (d->undo && !d->fix.n))
		return err_new(
			E_USAGE, d->fix.n ? "--fix is for this machine, not for a recorded one"
					  : "--undo needs --fix ID");
	TRY(machine_native(a, d->sysroot, &words));
	if (words.n)
		TRY(targets_parse(a, &words, &targets));
	VEC_EACH (const struct target, t, &targets)
		strs_add(a, &gpus, target_text(a, t));
	TRY(machine_examine(a, d->sysroot, &m));
	if (d->fix.n) {
		const struct doctor_fix fix = {&d->common, d->fix, d->undo};
		return doctor_do_fix(a, &fix, &m, ret_status);
	}
	next_steps(a, &m, &gpus, &doctor.next);
	if (d->record.n)
		TRY(record(d));
	if (d->common.json)
		out_text(json_document(a, 2, doctor_fields, &doctor));
	else
		show(a, &m);
	if (!d->common.json)
		doctor_show_next(a, &doctor.next);
	bool problem = m.findings.n && findings_worst(&m.findings) == SEV_ERROR;
	*ret_status = problem ? 1 : 0;
	return NULL;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "examine this machine: GPUs, driver, access",
	.opts = doctor_opts,
	.size = sizeof(struct doctor_args),
	.needs = NEED_WRITE,
	.run = doctor_run,
};
