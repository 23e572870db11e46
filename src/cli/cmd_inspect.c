/* rocsmith inspect: shows the device code in files, folders and wheels, as tables, CSV, JSON or a page; takes objects out,
 * disassembles kernels, and compares. */
#include "cli/cmd_inspect.h"
#include "base/fs.h"
#include "report/size_map.h"
#include "term/out.h"

#define ARGS struct inspect_args

const struct opt cmd_inspect_opts[] = {
	{OPT_ARGUMENT("PATH", OPT_POSES, paths, "library, object, archive, wheel, sdist or folder"),
		.flags = OPT_REQUIRED},
	{OPT_FLAG("kernels", kernels, "count kernels and debug data; decodes what is compressed"),
		.sname = 'k'},
	{OPT_FLAG("resources", resources, "list every kernel with its registers, spills, LDS"),
		.sname = 'r'},
	{OPT_FLAG("hash", hash, "list every code object with its SHA-256")},
	{OPT_FLAG("objects", objects, "list every code object, not sums per target")},
	{OPT_FLAG("venv", venv, "PATH is a virtual environment: by distribution, too")},
	{OPT_FLAG("csv", csv, "print a row for each object; with --resources, each kernel")},
	{OPT_VALUE(
		"html", OPT_PATH, html, "FILE", "write a page with a map of what takes the space")},
	{OPT_FLAG("compare", compare, "show what changed in kernels from one PATH to another")},
	{OPT_VALUE("extract", OPT_STR, extract, "TARGET[:KERNEL]",
		"write code objects to the folder -o")},
	{OPT_OUTPUT(output, "DIR", "the new folder of --extract")},
	{OPT_VALUE("disassemble", OPT_STR, disassemble, "[TARGET:]KERNEL",
		"print a kernel's machine code")},
	{OPT_SDK(sdk, "NAME", "whose llvm-objdump disassembles")},
	OPT_LAST,
};

static const struct json_field dist_fields[] =
	FIELDS_ONLY(struct venv_dist, name, version, files, size, stored, served);

static const struct json_field inspected_fields[] = {
	FIELD_FROM(struct inspected, code, devcode_fields),
	FIELD_LAST(FIELD_LIST_OPTIONAL("distributions", struct inspected, dists, dist_fields)),
};

static const struct json_field inspected_all_fields[] = {
	FIELD_CONST("schema", "rocsmith.inspect-paths/1"),
	FIELD_LAST(FIELD_LIST("paths", struct inspected_all, paths, inspected_fields)),
};

/* Refuses options that contradict each other. */
static struct err *check_options(const struct inspect_args *o)
{
	if (!!o->extract.n + !!o->disassemble.n + o->compare + !!o->html.n > 1)
		return err_new(E_USAGE, "only one of --extract, --disassemble, --compare and "
					"--html can be done at once");
	if (!o->extract.n != !o->output.n)
		return err_new(E_USAGE, o->output.n
						? "--output is for --extract: --html names its file"
						: "--extract needs a folder: -o DIR");
	if (o->compare && o->paths.n != 2)
		return err_new(E_USAGE, "--compare takes two paths, not %zu", o->paths.n);
	if (o->csv && (o->common.json || o->extract.n || o->disassemble.n))
		return err_new(
			E_USAGE, "--csv is for lists and --compare, and not together with --json");
	if (o->venv && o->paths.n > 1)
		return err_new(E_USAGE, "--venv takes one path, not %zu", o->paths.n);
	return NULL;
}

/* Two wheels of one project, of which nothing else is asked, are compared. */
static bool are_versions(struct arena *a, const struct inspect_args *o)
{
	struct strs names = {0};
	bool other = o->kernels || o->objects || o->hash || o->resources || o->html.n;
	for (size_t i = 0; i < 2 && o->paths.n == 2 && !other; i++) {
		struct wheel_name n;
		CLEANUP(err_freep) struct err *e = wheel_name_parse(a, o->paths.v[i], &n);
		strs_put(a, &names, e ? o->paths.v[i] : wheel_normalise(a, n.dist));
		other = e != NULL;
	}
	return !other && o->paths.n == 2 && names.n == 1;
}

static struct err *scan_paths(
	struct arena *a, const struct inspect_args *o, unsigned flags, struct inspected_all *all)
{
	VEC_EACH (const struct str, path, &o->paths) {
		struct devcode *d = NEW(a, struct devcode);
		struct inspected *x = VEC_PUSH(a, &all->paths);
		x->code = d;
		TRY(devcode_scan(a, *path, flags, d));
		findings_sort(a, &d->findings);
		if (o->venv)
			TRY(venv_dists(a, *path, d, &x->dists));
	}
	return NULL;
}

static void show_all(struct arena *a, const struct inspect_args *o, const struct inspected_all *all,
	unsigned flags)
{
	VEC_EACH (const struct inspected, x, &all->paths) {
		if (x > all->paths.v)
			out_text(S("\n"));
		inspect_show(a, o, x, flags);
		if (o->resources)
			inspect_show_kernels(a, x->code);
	}
}

static void compare(struct arena *a, const struct inspect_args *o, const struct inspected_all *all)
{
	struct kernel_changes changes;
	kernels_compare(a, all->paths.v[0].code, all->paths.v[1].code, &changes);
	if (o->csv)
		inspect_csv_changes(a, &changes);
	else if (!show_json(&o->common, kernel_changes_fields, &changes))
		inspect_show_changes(a, &changes, o->common.verbose);
}

static struct err *write_page(
	struct arena *a, const struct inspect_args *o, const struct inspected_all *all)
{
	struct size_map map = {0};
	VEC_EACH (const struct inspected, x, &all->paths)
		*VEC_PUSH(a, &map.codes) = *x->code;
	struct str page = size_map_html(a, &map);
	if (!o->common.dry_run)
		TRY(fs_write(o->html, page, 0644 | FS_THROUGH));
	say_status(o->common.dry_run ? S("Would write") : S("Wrote"), "%.*s (%.*s)", STR(o->html),
		STR(human_bytes(a, page.n)));
	return NULL;
}

struct err *cmd_inspect(struct arena *a, void *args)
{
	struct inspect_args *o = args;
	struct inspected_all all = {0};
	unsigned flags = DEVCODE_INNER | (o->hash ? DEVCODE_HASH : 0);
	TRY(check_options(o));
	if (o->extract.n)
		return inspect_extract(a, o);
	if (o->disassemble.n)
		return inspect_disassemble(a, o);
	o->compare = o->compare || are_versions(a, o);
	o->objects = o->objects || o->hash; /* sums have no hash */
	if (o->kernels)
		flags |= DEVCODE_KERNELS | DEVCODE_DEBUG | DEVCODE_NAMES;
	if (o->common.json || o->csv)
		flags |= o->kernels ? DEVCODE_RESOURCES : DEVCODE_KERNELS;
	if (o->resources || o->compare || o->html.n)
		flags |= DEVCODE_KERNELS | DEVCODE_RESOURCES | DEVCODE_EVERY;
	flags |= (o->html.n ? DEVCODE_DEBUG : 0) | (o->compare ? DEVCODE_CODE : 0);
	TRY(scan_paths(a, o, flags, &all));
	if (o->compare)
		compare(a, o, &all);
	else if (o->csv)
		inspect_csv(a, &all, o->resources);
	else if (all.paths.n > 1 ? !show_json(&o->common, inspected_all_fields, &all)
				 : !show_json(&o->common, inspected_fields, all.paths.v))
		show_all(a, o, &all, flags);
	VEC_EACH (const struct inspected, x, &all.paths)
		if (findings_worst(&x->code->findings) == SEV_ERROR && x->code->findings.n)
			o->common.status = 1;
	return o->html.n ? write_page(a, o, &all) : NULL;
}
