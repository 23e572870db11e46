/* rocsmith doctor: shows the facts about this machine (or a recorded one), the problems that follow from them, and the
 * next step for each GPU; --fix does what the fix of a problem says. */
#include "changes/changes.h"
#include "cli/opt.h"
#include "flow/login.h"
#include "flow/next.h"
#include "know/environment.h"
#include "know/rule.h"
#include "term/table.h"

struct doctor_args {
	struct common common;
	struct str sysroot, record, fix;
	struct strs gpus;
	bool undo;
};
#define ARGS struct doctor_args

const struct opt cmd_doctor_opts[] = {
	{OPT_SYSROOT(sysroot, "examine this folder or machine file, not this machine")},
	{OPT_VALUE("record", OPT_PATH, record, "PLACE",
		"record it, without private data: .machine, .tar.gz or folder")},
	{OPT_VALUE("gpu", OPT_WORDS, gpus, "GFX,...",
		"tell the next step for these, not for those of the machine")},
	{OPT_VALUE("fix", OPT_STR, fix, "ID",
		"do what this finding's fix says, in your start-up files")},
	{OPT_FLAG("undo", undo, "with --fix: take back what it did")},
	OPT_LAST,
};

struct doctor { /* the document: rocsmith.doctor/1 */
	const struct machine *machine;
	struct next_steps next;
};

static const struct json_field doctor_fields[] = {
	FIELD_FROM(struct doctor, machine, machine_report_fields),
	FIELD_LIST("next", struct doctor, next.gpus, next_gpu_fields),
	{.kind = FIELD_END},
};

static void line(struct arena *a, const char *name, struct str value)
{
	if (value.n)
		out_fmt("%.*s%.*s\n", STR(styled_out(a, STYLE_BOLD, str_fmt(a, "%-10s", name))),
			STR(value));
}

static void show_summary(struct arena *a, const struct machine *m)
{
	const struct machine_driver *d = &m->driver;
	struct str cpus = S("unknown CPU");
	struct strs sdks = {0};
	BUF(system, a);
	BUF(driver, a);
	buf_fmt(&system, "%.*s, Linux%s%.*s%s%.*s",
		STR(m->distro.n ? m->distro : S("unknown distribution")), m->kernel.n ? " " : "",
		STR(m->kernel), m->arch.n ? " " : "", STR(m->arch));
	if (m->wsl)
		buf_add(&system, S(", WSL"));
	else if (m->virtual)
		buf_add(&system, S(", virtual machine"));
	if (m->container)
		buf_fmt(&system, ", in a container (%.*s)", STR(m->container_kind));
	line(a, "system", buf_str(&system));
	if (m->cpus)
		cpus = str_fmt(a, "%u x %.*s", m->cpus, STR(m->cpu.n ? m->cpu : S("CPU")));
	line(a, "hardware",
		str_fmt(a, "%.*s, %.*s memory (%.*s free), %.*s swap", STR(cpus),
			STR(human_memory(a, m->memory)), STR(human_memory(a, m->memory_free)),
			STR(human_memory(a, m->swap))));
	if (!m->wsl || d->loaded) /* WSL has no amdgpu */
		buf_fmt(&driver, "amdgpu is %s%s%.*s%s%.*s", d->loaded ? "loaded" : "not loaded",
			d->version.n ? ", version " : "", STR(d->version),
			d->blacklisted ? ", kept away by " : "",
			STR(d->blacklisted ? d->blacklisted_by : S("")));
	else if (m->has_dxg)
		buf_add(&driver, S("that of Windows, by /dev/dxg"));
	line(a, "driver", buf_str(&driver));
	if (m->has_identity)
		line(a, "user",
			str_fmt(a, "uid %u, groups %.*s", m->uid,
				STR(str_join(a, &m->groups, S(", ")))));
	VEC_EACH (struct machine_sdk, s, &m->sdks)
		strs_fmt(a, &sdks, "%.*s%s%.*s%s", STR(s->path), s->version.n ? " (" : "",
			STR(s->version), s->version.n ? ")" : "");
	line(a, "ROCm", str_join(a, &sdks, S(", ")));
}

/* The GPUs, those that are no use to ROCm first. */
static void show_gpus(struct arena *a, const struct machine *m)
{
	struct table t = table_new(a, ">node|target|pci|render node|>memory|>CUs|kind|products");
	VEC_EACH (struct machine_display, d, &m->displays)
		if (!str_eq(d->driver, S("amdgpu")))
			TABLE_ROW(&t, S(""), S(""), d->pci, S(""), S(""), S(""),
				d->driver.n ? d->driver : S("no driver"), d->product);
	VEC_EACH (struct machine_gpu, g, &m->gpus) {
		const struct gpu *known = gpu_by_name(g->target);
		struct str products = known ? gpu_products(a, known) : S("");
		TABLE_ROW(&t, str_fmt(a, "%u", g->node), g->target, g->pci, g->render,
			human_memory(a, g->vram), str_fmt(a, "%u", g->compute_units),
			g->apu ? S("APU") : S("card"),
			g->product.n ? g->product
			: products.n ? products
				     : g->name);
	}
	table_below(&t);
}

/* ---- Python environments with a torch ---- */

/* "gfx1100, gfx1031 by gfx1030 (HSA_OVERRIDE_GFX_VERSION), not gfx1036": the GPUs of this machine that torch has code for,
 * those that run other code by an override, and those that have none. */
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
			environment_has(t, g->target) ? g->target
			: environment_borrows(t, g)
				? str_fmt(a, "%.*s by %.*s (%.*s)", STR(g->target),
					  STR(g->override_target), STR(g->override))
				: str_fmt(a, "not %.*s", STR(g->target)));
	return str_join(a, list.n ? &list : &t->targets, S(", "));
}

/* "/venv: ROCm wheels 10.1.0; torch 2.14.0+rocm10.1.0 for gfx1151; rocm-sdk 10.0.0 for gfx1151; development files: packed" */
static void line_of_wheels(struct arena *a, const struct machine_python *p)
{
	static const struct str parts[] = {S_INIT("amd-torch-device-"),
		S_INIT("amd-torchvision-device-"), S_INIT("rocm-sdk-device-")};
	struct strs list = {0};
	VEC_EACH (const struct machine_package, k, &p->packages) {
		if (str_eq(k->name, S("rocm-sdk-core")))
			strs_put(a, &list, str_fmt(a, "ROCm %.*s", STR(k->version)));
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
			if (str_starts(k->name, parts[i]))
				strs_put(a, &list,
					str_fmt(a, "%.*s %.*s for %.*s",
						STR(str_sub(
							parts[i], i < 2 ? 4 : 0, parts[i].n - 8)),
						STR(k->version),
						STR(str_sub(k->name, parts[i].n, k->name.n))));
	}
	if (p->rocm_devel.n)
		strs_fmt(a, &list, "development files %.*s", STR(p->rocm_devel));
	if (list.n)
		out_fmt("wheels in %.*s: %.*s\n", STR(p->path), STR(str_join(a, &list, S("; "))));
}

static void show_pythons(struct arena *a, const struct machine *m)
{
	struct table t = table_new(a, "Python environment|Python|torch|GPUs that it has code for");
	VEC_EACH (struct machine_python, p, &m->pythons)
		if (p->has_torch)
			TABLE_ROW(&t,
				str_fmt(a, "%.*s%s", STR(p->path),
					p->active ? " (python3 here)" : ""),
				p->version, p->torch.version, served_text(a, m, &p->torch));
	if (!table_below(&t))
		return;
	VEC_EACH (struct machine_python, p, &m->pythons)
		line_of_wheels(a, p);
}

/* ---- findings ---- */

static void show_findings(struct arena *a, const struct machine *m)
{
	VEC_EACH (struct finding, f, &m->findings) {
		const struct rule *r = f->rule;
		struct strs evidence = {0};
		out_fmt("\n%.*s: %.*s [%s]\n", STR(styled_severity(a, f->severity)),
			STR(f->message), f->id);
		out_lines("    fix: ", &f->fix);
		if (!r)
			continue;
		strs_add_words(a, &evidence, r->evidence);
		if (out_verbosity() > 0)
			out_fmt("    why: %s\n    from: %.*s [%s]\n", r->why,
				STR(str_join(a, &evidence, S(", "))), r->confidence);
		out_fmt("    see: rocsmith explain %s\n", f->id);
	}
	if (!m->findings.n)
		out_text(S("\nno problem found\n"));
}

/* ---- the next step for each GPU; see flow/next.h ---- */

static void show_route(struct arena *a, const struct next_steps *s, const struct next_route *r)
{
	static const char *const bys[] = {[NEXT_WHEEL] = "a wheel of PyTorch",
		[NEXT_DEVICE_WHEEL] = "wheels of AMD for one GPU"};
	static const char *const hows[] = {[COMPAT_EXACT] = "has code for exactly this GPU",
		[COMPAT_GENERIC] = "has code of a generic target that covers it",
		[COMPAT_OVERRIDE] = "serves it by an override only"};
	bool build = r->by == NEXT_BUILD;
	BUF(cost, a);
	if (build)
		out_text(S(
			"  or build one, with the libraries of an SDK that has kernels for it\n"));
	else
		out_fmt("  torch %s with ROCm %s, %s: %s\n", r->torch, r->rocm, bys[r->by],
			hows[r->how]);
	out_lines("      ", &r->commands);
	if (r->download)
		buf_fmt(&cost, "%.*s to download, ", STR(human_bytes(a, r->download)));
	else if (!build)
		buf_add(&cost, S("size of the download: not known, "));
	if (r->disk)
		buf_fmt(&cost, "%.*s of disk", STR(human_bytes(a, r->disk)));
	else
		buf_add(&cost, r->history ? S("no more disk") : S("disk: not known"));
	if (s->disk.n)
		buf_fmt(&cost, " (%.*s: %.*s free)", STR(s->disk),
			STR(human_bytes(a, s->disk_free)));
	if (r->memory)
		buf_fmt(&cost, ", %.*s of memory for the largest compile (%.*s free)",
			STR(human_memory(a, r->memory)), STR(human_memory(a, s->memory_free)));
	if (build)
		buf_fmt(&cost, ", about %.*s by %s", STR(human_seconds(a, r->seconds)),
			r->history ? "an earlier build here"
				   : "the processor time that was measured");
	out_fmt("      %.*s\n", STR(buf_str(&cost)));
	if ((r->disk > s->disk_free && s->disk.n) || (r->memory > s->memory_free && s->memory_free))
		out_text(S("      as things are it does not fit\n"));
	out_lines("      ", &r->notes);
	if (out_verbosity() > 0)
		out_fmt("      source: %.*s\n", STR(str_join(a, &r->evidence, S("; "))));
}

static void show_next(struct arena *a, const struct next_steps *s)
{
	bool addresses = false;
	VEC_EACH (const struct next_gpu, g, &s->gpus) {
		struct str head = str_fmt(a, "next step for %.*s", STR(g->target));
		out_fmt("\n%.*s", STR(styled_out(a, STYLE_BOLD, head)));
		if (g->products.n)
			out_fmt(" (%.*s)", STR(g->products));
		if (s->version.n)
			out_fmt(", Python %.*s of %.*s", STR(s->version), STR(s->python));
		out_text(S("\n"));
		out_lines("  ", &g->notes);
		if (g->served_by.n)
			out_fmt("  the torch %.*s in %.*s has code for it: nothing to install. To "
				"see it work:\n",
				STR(g->served_version), STR(g->served_by));
		out_lines("      ", &g->commands);
		VEC_EACH (const struct next_route, r, &g->routes)
			show_route(a, s, r);
		addresses = addresses || (g->routes.n && g->routes.v[0].by != NEXT_BUILD);
	}
	if (addresses)
		out_fmt("\nWhat is known of published wheels is as of %s. For mirrors of the "
			"indexes "
			"see rocsmith(1), ROCSMITH_AMD_INDEX.\n",
			compat_state_table()->date);
}

static void show(struct arena *a, const struct doctor *doctor)
{
	const struct machine *m = doctor->machine;
	struct table nodes = table_new(a, "device node|mode|group|for us");
	bool denied = out_verbosity() > 0;
	show_summary(a, m);
	show_gpus(a, m);
	VEC_EACH (struct machine_node, n, &m->nodes) {
		TABLE_ROW(&nodes, n->path, str_fmt(a, "%04o", n->mode), n->group,
			n->acl      ? S("usable (ACL)")
			: n->usable ? S("usable")
				    : S("no access"));
		denied |= !n->usable;
	}
	if (denied)
		table_below(&nodes);
	show_pythons(a, m);
	show_findings(a, m);
	show_next(a, &doctor->next);
}

/* ---- --fix ID: sets or unsets variables in the user's own start-up files; see flow/login.h ---- */

struct fixed { /* the document: rocsmith.fix/1 */
	struct str id;
	bool undo, dry_run;
	struct login_files files;
	struct strs now, costs; /* commands for the current session; trade-offs of the fixes */
};

static const char *status_of(const struct login_file *f)
{
	return !f->was ? "made" : f->stays ? "changed" : "removed";
}

static struct str diff_of(struct arena *a, const struct login_file *f)
{
	const struct changes_diff d = {.old_name = f->was ? f->path : S("/dev/null"),
		.new_name = f->stays ? f->path : S("/dev/null"),
		.old = f->old,
		.new = f->text};
	return changes_diff(a, &d);
}

static void write_status(struct json *j, const void *file)
{
	json_str(j, str_from(status_of(file)));
}

static void write_diff(struct json *j, const void *file)
{
	ARENA(tmp);
	json_str(j, diff_of(&tmp, file));
}

static const struct json_field fixed_file_fields[] = {
	FIELD("path", struct login_file, path),
	FIELD_WRITE("status", write_status),
	FIELD_WRITE("diff", write_diff),
	{.kind = FIELD_END},
};

static const struct json_field fixed_fields[] = {
	FIELD_CONST("schema", "rocsmith.fix/1"),
	FIELDS(struct fixed, id, undo, dry_run, now, costs),
	FIELD_LIST("files", struct fixed, files, fixed_file_fields),
	{.kind = FIELD_END},
};

/* Reports that the finding has no automatic fix, or that this machine does not have it. */
static void say_no(struct doctor_args *d, const struct machine *m)
{
	bool found = false;
	VEC_EACH (const struct finding, x, &m->findings) {
		if (!str_eq(str_from(x->id), d->fix))
			continue;
		found = true;
		say_warning("%.*s: this is not for rocsmith to change", STR(x->message));
		for (size_t i = 0; i < x->fix.n; i++)
			say_hint("%.*s", STR(x->fix.v[i]));
	}
	if (!found)
		say_status(
			S("Nothing"), "to fix: '%.*s' was not found on this machine", STR(d->fix));
	d->common.status = found;
}

static struct err *do_fix(struct arena *a, struct doctor_args *d, const struct machine *m)
{
	struct fixed x = {.id = d->fix, .undo = d->undo, .dry_run = d->common.dry_run};
	struct login_request r = {.id = d->fix, .undo = d->undo};
	struct rule_actions actions;
	const struct node *facts;
	if (!rule_find(d->fix)) {
		struct strs ids = rule_ids(a, false);
		return err_near(err_new(E_USAGE, "no finding has the id '%.*s'", STR(d->fix)),
			d->fix, &ids);
	}
	TRY(facts_of(a, m, &facts));
	TRY(rules_actions(a, facts, d->fix, &actions));
	if (!d->undo && !actions.n) {
		say_no(d, m);
		return NULL;
	}
	/* the first action for a variable counts, as the best fix comes first */
	VEC_EACH (const struct rule_action, action, &actions) {
		struct str name = action->unset, value;
		bool set = action->set.n && str_cut(action->set, '=', &name, &value);
		if (d->undo || !name.n || login_changes(&r, name))
			continue;
		strs_add(a, set ? &r.set : &r.unset, set ? action->set : name);
		strs_add(a, &x.now,
			set ? str_fmt(a, "export %.*s=%.*s", STR(name), STR(str_shell(a, value)))
			    : str_fmt(a, "unset %.*s", STR(name)));
		if (action->cost.n)
			strs_put(a, &x.costs, action->cost);
	}
	TRY(login_plan(a, &r, &x.files));
	if (!x.dry_run)
		TRY(login_apply(&x.files));
	if (show_json(&d->common, fixed_fields, &x))
		return NULL;
	VEC_EACH (const struct login_file, file, &x.files)
		if (x.dry_run)
			out_text(diff_of(a, file));
		else
			out_fmt("%s '%.*s'\n", status_of(file), STR(file->path));
	if (!x.files.n)
		out_text(x.undo ? S("nothing of it is in your start-up files\n")
				: S("your start-up files are as they should be\n"));
	out_lines("in this session: ", &x.now);
	out_lines("mind: ", &x.costs);
	if (x.files.n && !x.dry_run)
		out_text(x.undo ? S("the next login is without it\n")
				: S("the next login has it\n"));
	return NULL;
}

struct err *cmd_doctor(struct arena *a, void *args)
{
	struct doctor_args *d = args;
	struct machine m;
	struct doctor doctor = {.machine = &m};
	struct targets targets;
	struct strs gpus = d->gpus;
	unsigned files;
	if ((d->fix.n && d->sysroot.n) || (d->undo && !d->fix.n))
		return err_new(
			E_USAGE, d->fix.n ? "--fix is for this machine, not for a recorded one"
					  : "--undo needs --fix ID");
	TRY(opt_targets(a, d->sysroot, &gpus, &targets));
	TRY(machine_examine(a, d->sysroot, &m));
	if (d->fix.n)
		return do_fix(a, d, &m);
	TRY(next_steps(a, &m, &gpus, &doctor.next));
	if (d->record.n) {
		TRY(machine_record(d->sysroot, d->record, &files));
		say_status(d->common.dry_run ? S("Would record") : S("Recorded"),
			"%.*s into '%.*s'", STR(human_count(a, files, "file")), STR(d->record));
	}
	if (!show_json(&d->common, doctor_fields, &doctor))
		show(a, &doctor);
	d->common.status = m.findings.n && findings_worst(&m.findings) == SEV_ERROR;
	return NULL;
}
