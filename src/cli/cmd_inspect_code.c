/* rocsmith inspect --extract and --disassemble: code objects into a folder, and a kernel's machine code as text, by the
 * llvm-objdump of an SDK. */
#include "base/fs.h"
#include "cli/cmd_inspect.h"
#include "sdk/sdk.h"
#include "term/table.h"

static const struct column taken_columns[] = {
	{COLUMN("WRITTEN", "file")},
	{COLUMN("TARGET", "target")},
	{COLUMN(">SIZE", "size"), .bytes = true},
	{COLUMN("FROM", "path")},
	{.title = NULL},
};

struct err *inspect_extract(struct arena *a, struct inspect_args *o)
{
	struct taken t = {.dir = path_clean(a, o->output)};
	TRY(kernel_wish_read(a, o->extract, false, &t.wish));
	TRY(kernels_extract(a, &o->paths, &t));
	if (!show_made(&o->common, taken_fields, &t))
		(void)table_show(a, taken_fields, "objects", taken_columns, &t);
	say_status(o->common.dry_run ? S("Would write") : S("Wrote"), "%.*s (%.*s) to %.*s",
		STR(human_count(a, t.objects.n, "code object")), STR(human_bytes(a, t.bytes)),
		STR(t.dir));
	return NULL;
}

/* The first object with the kernel, and the targets of all that have it. */
struct disassembly {
	struct arena *a;
	struct kernel_wish wish;
	struct str file; /* the object, in a scratch folder */
	struct str path, name, title, target;
	struct strs targets;
};

static struct err *take_kernel(void *user, const struct devcode_file *f,
	const struct code_object *o, const struct bytes *src)
{
	struct disassembly *d = user;
	const struct code_kernel *k =
		object_wished(&d->wish, o) ? kernel_wished(&d->wish, o) : NULL;
	struct str content;
	if (!k)
		return NULL;
	strs_put(d->a, &d->targets, str_dup(d->a, o->target));
	if (d->name.n)
		return NULL;
	d->path = str_dup(d->a, f->path);
	d->target = d->targets.v[0];
	d->name = str_dup(d->a, k->name);
	d->title = str_dup(d->a, kernel_title(k));
	ARENA(tmp);
	TRY(bytes_slice(&tmp, src, 0, src->size, &content));
	return fs_write(d->file, content, 0600);
}

/* Names of kernels that the text may have meant. */
static struct err *no_kernel(struct arena *a, const struct kernel_wish *w, const struct strs *paths)
{
	struct strs names = {0};
	VEC_EACH (const struct str, path, paths) {
		struct devcode d;
		struct kernel_places all = {0};
		TRY(devcode_scan(
			a, *path, DEVCODE_INNER | DEVCODE_KERNELS | DEVCODE_RESOURCES, &d));
		kernels_list(a, &d, &all);
		VEC_EACH (const struct kernel_place, p, &all)
			strs_put(a, &names, p->kernel->name);
	}
	struct err *e = err_new(E_NOENT, "no kernel '%.*s' is there", STR(w->kernel));
	return err_hint(
		err_near(e, w->kernel, &names), "'rocsmith inspect --resources' lists the kernels");
}

static struct err *run_objdump(struct arena *a, const struct sdk *sdk, const struct disassembly *d)
{
	enum { MOST = 256 << 20 };
	struct proc p = {.limit = MOST};
	struct proc_result r;
	struct sdk_binds binds = {0};
	*VEC_PUSH(a, &binds) = (struct sdk_bind){.path = path_dir(d->file)};
	struct str tool = path_join(a, path_dir(sdk->clang), S("llvm-objdump"));
	proc_arg(a, &p, tool.p, "--disassemble",
		str_fmt(a, "--disassemble-symbols=%.*s", STR(d->name)).p, str_z(a, d->file), NULL);
	TRY(sdk_wrap(a, sdk, &binds, &p));
	TRY(proc_check(a, &p, &r));
	/* behind its own head, which names a scratch file */
	size_t at = str_find(r.out, S("\nDisassembly of "));
	if (at == r.out.n)
		return err_new(E_TOOL_FAILED, "llvm-objdump did not find '%.*s'", STR(d->name));
	out_fmt("%.*s\nfor %.*s, in %.*s\n", STR(d->title), STR(d->target), STR(d->path));
	out_text(str_sub(r.out, at, r.out.n));
	return NULL;
}

struct err *inspect_disassemble(struct arena *a, struct inspect_args *o)
{
	CLEANUP(fs_tempdirp) struct str dir = {0};
	struct disassembly d = {.a = a};
	struct devcode_taker taker = {take_kernel, &d};
	struct devcode code;
	struct sdk sdk;
	TRY(kernel_wish_read(a, o->disassemble, true, &d.wish));
	TRY(fs_tempdir(a, S(""), &dir));
	d.file = path_join(a, dir, S("kernel.hsaco"));
	VEC_EACH (const struct str, path, &o->paths)
		TRY(devcode_take(a, *path, DEVCODE_INNER | DEVCODE_RESOURCES | DEVCODE_EVERY,
			&taker, &code));
	if (!d.name.n)
		return no_kernel(a, &d.wish, &o->paths);
	TRY(sdk_open_name(a, o->sdk, &sdk));
	TRY(run_objdump(a, &sdk, &d));
	targets_sort(&d.targets);
	if (d.targets.n > 1)
		say_hint("the kernel is there for %.*s: --disassemble TARGET:KERNEL",
			STR(str_join(a, &d.targets, S(", "))));
	return NULL;
}
