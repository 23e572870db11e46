/* The tables of `rocsmith inspect`: targets of a file, files of a folder or wheel, kernels, and what changed between two
 * scans; for people, and as CSV. */
#include "base/fs.h"
#include "cli/cmd_inspect.h"
#include "term/table.h"

static struct str number_text(struct arena *a, uint64_t n)
{
	return str_fmt(a, "%llu", (unsigned long long)n);
}

static struct str kernels_text(struct arena *a, int64_t n)
{
	return n < 0 ? S("-") : number_text(a, (uint64_t)n);
}

static struct str versions_text(struct arena *a, unsigned bits)
{
	BUF(out, a);
	for (unsigned v = 2; v < 31; v++)
		if (bits >> v & 1)
			buf_fmt(&out, "%sV%u", out.n ? " " : "", v);
	return out.n ? buf_str(&out) : S("-");
}

/* The last two columns, kernels and debug data, are shown only if these were counted. */
static void print_sums(
	struct arena *a, const struct devcode_sums *sums, uint64_t whole, unsigned flags)
{
	bool counted = flags & DEVCODE_KERNELS;
	struct table t = table_new(
		a, counted ? "TARGET|>OBJECTS|>SIZE|>STORED|>SHARE|VERSION|>KERNELS|>DEBUG DATA"
			   : "TARGET|>OBJECTS|>SIZE|>STORED|>SHARE|VERSION");
	VEC_EACH (const struct devcode_sum, s, sums) {
		uint64_t n = s->debug > 0 ? (uint64_t)s->debug : 0;
		struct str debug = human_bytes(a, n), share = S("-");
		if (n) /* "12 MB, 23.0 %" of the decoded bytes */
			debug = str_fmt(a, "%.*s, %.1f %%", STR(debug),
				100.0 * (double)n / (double)s->size);
		if (whole)
			share = str_fmt(a, "%.1f %%", 100.0 * (double)s->stored / (double)whole);
		TABLE_ROW(&t, s->target, str_fmt(a, "%u", s->objects), human_bytes(a, s->size),
			human_bytes(a, s->stored), share, versions_text(a, s->versions),
			kernels_text(a, s->kernels), debug);
	}
	table_print(&t);
}

/* "raw", "ccob3", or "raw, ccob3" */
static struct str encodings_text(struct arena *a, const struct devcode_file *f)
{
	struct strs names = {0};
	VEC_EACH (struct code_object, o, &f->objects)
		strs_put(a, &names, str_from(devcode_encoding_name(o->encoding)));
	return str_join(a, &names, S(", "));
}

static void print_file(
	struct arena *a, const struct inspect_args *o, const struct devcode_file *f, unsigned flags)
{
	struct devcode_sums sums = {0};
	struct str size = human_bytes(a, f->size), encodings = encodings_text(a, f);
	struct str name = styled_out(a, STYLE_BOLD, f->path);
	devcode_count(a, &sums, f);
	out_fmt("%.*s: %s, %.*s", STR(name), f->format, STR(size));
	if (f->objects.v[0].encoding != DEVCODE_OBJECT)
		out_fmt(", %.*s", STR(human_count(a, f->bundles, "bundle")));
	out_fmt(" (%.*s), %.*s\n", STR(encodings), STR(human_count(a, sums.n, "target")));
	if (!o->objects) {
		print_sums(a, &sums, f->size, flags);
		return;
	}
	struct table t =
		table_new(a, "TARGET|>BUNDLE|ENCODING|>SIZE|>STORED|>KERNELS|VERSION|SHA-256");
	VEC_EACH (struct code_object, x, &f->objects)
		TABLE_ROW(&t, x->target, str_fmt(a, "%u", x->bundle),
			str_from(devcode_encoding_name(x->encoding)), number_text(a, x->size),
			number_text(a, x->stored), kernels_text(a, x->kernels),
			versions_text(a, 1u << x->version), x->sha256.n ? x->sha256 : S("-"));
	table_print(&t);
}

static uint64_t stored_in(const struct devcode_file *f)
{
	uint64_t n = 0;
	VEC_EACH (struct code_object, o, &f->objects)
		n += o->stored;
	return n;
}

/* Side files are numerous, so print() shows a line for each kind and target instead; the runtime's own code would
 * bury the answer. */
static bool is_listed(const struct devcode *d, const struct devcode_file *f)
{
	return (!f->side || !d->sets.n) && !f->runtime;
}

/* Prints a line for each file, then the targets of all of them. whole: bytes of the files. */
static void print_overview(struct arena *a, const struct devcode *d, const struct devcode_sums *all,
	uint64_t whole, unsigned flags)
{
	struct table t = table_new(a, "FILE|>SIZE|>DEVICE|ENCODING|>OBJECTS|TARGETS");
	VEC_EACH (struct devcode_file, f, &d->files) {
		struct devcode_sums sums = {0};
		struct strs names = {0};
		if (!is_listed(d, f))
			continue;
		devcode_count(a, &sums, f);
		VEC_EACH (const struct devcode_sum, s, &sums)
			strs_add(a, &names, s->target);
		TABLE_ROW(&t, f->path, human_bytes(a, f->size), human_bytes(a, stored_in(f)),
			encodings_text(a, f), str_fmt(a, "%zu", f->objects.n),
			str_join(a, &names, S(" ")));
	}
	if (t.n) { /* else all are side files */
		table_print(&t);
		out_text(S("\n"));
	}
	print_sums(a, all, whole, flags);
}

static size_t bundles_with(const struct devcode_file *f, struct str target)
{
	size_t n = 0;
	const struct code_object *last = NULL;
	VEC_EACH (const struct code_object, o, &f->objects) {
		if (!str_eq(o->target, target))
			continue;
		n += !last || last->bundle != o->bundle;
		last = o;
	}
	return n;
}

/* The targets that only some bundles, or side files, have: "gfx1030 (2 of 3 bundles)". */
static struct str partly_served(
	struct arena *a, const struct devcode *d, const struct devcode_sums *sums)
{
	struct strs words = {0};
	size_t bundles = 0; /* a bare object counts as one */
	VEC_EACH (const struct devcode_file, f, &d->files)
		bundles += is_listed(d, f) ? f->bundles : 0;
	VEC_EACH (const struct devcode_sum, s, sums) {
		size_t with = 0;
		if (strs_has(&d->served, target_read(s->target).name))
			continue;
		VEC_EACH (const struct devcode_file, f, &d->files)
			with += is_listed(d, f) ? bundles_with(f, s->target) : 0;
		if (!with && bundles)
			strs_fmt(a, &words, "%.*s (by side files only)", STR(s->target));
		else if (with < bundles)
			strs_fmt(a, &words, "%.*s (%zu of %zu bundles)", STR(s->target), with,
				bundles);
		else
			strs_fmt(a, &words, "%.*s (not by all side files)", STR(s->target));
	}
	return str_join(a, &words, S(", "));
}

/* Prints the summary of a folder or wheel: the GPUs that all of it serves, its contents, its size. */
static void print_answer(struct arena *a, const struct devcode *d, const struct devcode_sums *sums,
	uint64_t whole, unsigned flags)
{
	const char *verb =
		flags & DEVCODE_KERNELS ? "serves" : "lists"; /* a listed GPU may have no kernel */
	struct stat st;
	struct str size = S(""), partly = partly_served(a, d, sums);
	uint64_t stored = 0;
	struct err *e = fs_stat(d->path, &st);
	if (!e && S_ISREG(st.st_mode))
		size = str_fmt(a, "%.*s, ", STR(human_bytes(a, (uint64_t)st.st_size)));
	err_free(e);
	VEC_EACH (struct devcode_file, f, &d->files)
		stored += stored_in(f);
	out_fmt("%.*s: %.*sdevice code in %zu of %.*s: %.*s of %.*s%s\n",
		STR(styled_out(a, STYLE_BOLD, d->path)), STR(size), d->files.n,
		STR(human_count(a, d->looked_at, "file")), STR(human_bytes(a, stored)),
		STR(human_bytes(a, whole)), size.n ? " unpacked" : "");
	out_fmt("GPUs that all of it %s: %.*s\n", verb,
		STR(d->served.n ? str_join(a, &d->served, S(", ")) : S("none")));
	if (partly.n)
		out_fmt("GPUs that only a part %s: %.*s\n", verb, STR(partly));
	out_text(S("\n"));
}

void inspect_show(struct arena *a, const struct inspect_args *o, const struct inspected *shown,
	unsigned flags)
{
	const struct devcode *d = shown->code;
	bool each = d->files.n < 2 || o->objects || o->common.verbose;
	struct devcode_sums sums = {0}; /* without the runtime's own code */
	struct strs runtimes = {0};
	uint64_t whole = 0;
	VEC_EACH (struct devcode_file, f, &d->files) {
		whole += f->size;
		if (f->runtime)
			strs_add(a, &runtimes, path_base(f->path));
		else
			devcode_count(a, &sums, f);
	}
	bool lacks = d->findings.n && findings_worst(&d->findings) == SEV_ERROR;
	if (!d->files.n)
		out_fmt("no device code in %s'%.*s'\n", lacks ? "what could be read of " : "",
			STR(d->path));
	else if (!str_eq(d->files.v[0].path, d->path))
		print_answer(a, d, &sums, whole, flags);
	if (!each)
		print_overview(a, d, &sums, whole, flags);
	if (!each && runtimes.n)
		out_fmt("\nnot counted above: trap handlers and blit kernels of the runtime "
			"(%.*s)\n",
			STR(str_join(a, &runtimes, S(", "))));
	for (size_t i = 0; each && i < d->files.n; i++) {
		if (i)
			out_text(S("\n"));
		print_file(a, o, &d->files.v[i], flags);
	}
	struct table dists = table_new(a, "DISTRIBUTION|VERSION|>FILES|>SIZE|>DEVICE|SERVES");
	VEC_EACH (const struct venv_dist, x, &shown->dists)
		TABLE_ROW(&dists, x->name, x->version, number_text(a, x->files),
			human_bytes(a, x->size), human_bytes(a, x->stored),
			!x->asked     ? S("-")
			: x->served.n ? str_join(a, &x->served, S(" "))
				      : S("none"));
	table_below(&dists);
	/* the runtime chooses them by their names, including those for all GPUs */
	struct table sides = table_new(a, "SIDE FILES|KIND|TARGET|>FILES|>SIZE|>STORED");
	VEC_EACH (const struct devcode_set, s, &d->sets)
		VEC_EACH (const struct devcode_part, x, &s->parts)
			TABLE_ROW(&sides, s->path, str_from(s->kind),
				x->target.n ? x->target : S("all"), number_text(a, x->files),
				human_bytes(a, x->size), human_bytes(a, x->stored));
	table_below(&sides);
	if (d->findings.n)
		out_text(S("\n"));
	VEC_EACH (const struct finding, f, &d->findings)
		out_finding(a, f, S(""));
}

/* ---- kernels ---- */

/* The keys of a kernel's figures in its JSON, and their columns. */
static const char *const figures[] = {
	"size", "vgprs", "agprs", "sgprs", "vgpr_spills", "sgpr_spills", "lds", "scratch", "waves"};
#define FIGURE_HEADS ">CODE|>VGPRS|>AGPRS|>SGPRS|>VGPR SPILLS|>SGPR SPILLS|>LDS|>SCRATCH|>WAVES"
enum { FIGURES = sizeof(figures) / sizeof(*figures) };

/* "" without a kernel */
static struct str figure_of(struct arena *a, const struct code_kernel *k, const char *key)
{
	const void *at;
	const struct json_field *f =
		k ? json_field_find(code_kernel_fields, str_from(key), k, &at) : NULL;
	if (!f)
		return S("");
	uint64_t n = f->kind == FIELD_UINT ? *(const unsigned *)at : *(const uint64_t *)at;
	return n || !f->optional ? number_text(a, n) : S(""); /* waves that are not known */
}

/* "48", or "48 -> 64" */
static struct str from_to(struct arena *a, struct str old, struct str now)
{
	if (!old.n || !now.n || str_eq(old, now))
		return now.n ? now : old;
	return str_fmt(a, "%.*s -> %.*s", STR(old), STR(now));
}

void inspect_show_kernels(struct arena *a, const struct devcode *d)
{
	struct kernel_places all = {0};
	struct table t = table_new(a, "KERNEL|TARGET|" FIGURE_HEADS "|FILE");
	kernels_list(a, d, &all);
	VEC_EACH (const struct kernel_place, p, &all) {
		struct str cells[FIGURES + 3] = {kernel_title(p->kernel), p->object->target};
		for (size_t i = 0; i < FIGURES; i++)
			cells[2 + i] = figure_of(a, p->kernel, figures[i]);
		cells[FIGURES + 2] = path_base(p->file->path);
		table_row(&t, cells);
	}
	table_below(&t);
}

void inspect_show_changes(struct arena *a, const struct kernel_changes *c, bool every)
{
	enum { SHOWN = 40 };
	struct table sums = table_new(a, "TARGET|>KERNELS|>ADDED|>GONE|>CHANGED|>CODE|>SPILLING");
	struct table t = table_new(a, "CHANGE|TARGET|" FIGURE_HEADS "|KERNEL");
	out_fmt("%.*s -> %.*s\n", STR(c->old), STR(c->now));
	VEC_EACH (const struct target_change, x, &c->targets)
		TABLE_ROW(&sums, x->target,
			from_to(a, number_text(a, x->kernels_old), number_text(a, x->kernels_now)),
			number_text(a, x->added), number_text(a, x->gone),
			number_text(a, x->changed),
			from_to(a, human_bytes(a, x->code_old), human_bytes(a, x->code_now)),
			from_to(a, number_text(a, x->spilling_old),
				number_text(a, x->spilling_now)));
	table_print(&sums);
	size_t n = every || c->kernels.n < SHOWN ? c->kernels.n : SHOWN;
	for (size_t at = 0; at < n; at++) {
		const struct kernel_change *k = &c->kernels.v[at];
		struct str cells[FIGURES + 3] = {str_from(k->change), k->target};
		for (size_t i = 0; i < FIGURES; i++)
			cells[2 + i] = from_to(a, figure_of(a, k->old, figures[i]),
				figure_of(a, k->now, figures[i]));
		cells[FIGURES + 2] = k->demangled.n ? k->demangled : k->name;
		table_row(&t, cells);
	}
	out_text(n ? S("\n") : S("every kernel is as it was\n"));
	table_print(&t);
	if (n < c->kernels.n)
		out_fmt("and %zu more (-v shows all)\n", c->kernels.n - n);
}

/* ---- CSV ---- */

static void csv_kernels(struct arena *a, const struct devcode *d, struct table *t)
{
	struct kernel_places all = {0};
	kernels_list(a, d, &all);
	VEC_EACH (const struct kernel_place, p, &all) {
		struct str cells[FIGURES + 6] = {d->path, p->file->path, p->object->target,
			number_text(a, p->object->bundle), p->kernel->name,
			kernel_title(p->kernel)};
		for (size_t i = 0; i < FIGURES; i++)
			cells[6 + i] = figure_of(a, p->kernel, figures[i]);
		table_row(t, cells);
	}
}

static void csv_objects(struct arena *a, const struct devcode *d, struct table *t)
{
	VEC_EACH (const struct devcode_file, f, &d->files)
		VEC_EACH (const struct code_object, o, &f->objects)
			TABLE_ROW(t, d->path, f->path, str_from(f->format), o->target,
				number_text(a, o->bundle),
				str_from(devcode_encoding_name(o->encoding)),
				number_text(a, o->size), number_text(a, o->stored),
				o->kernels < 0 ? S("") : number_text(a, (uint64_t)o->kernels),
				o->sha256);
}

void inspect_csv(struct arena *a, const struct inspected_all *all, bool kernels)
{
	struct table t = table_new(
		a, kernels ? "path|file|target|bundle|kernel|demangled|size|vgprs|agprs|sgprs|vgpr_"
			     "spills|"
			     "sgpr_spills|lds|scratch|waves"
			   : "path|file|format|target|bundle|encoding|size|stored|kernels|sha256");
	VEC_EACH (const struct inspected, x, &all->paths)
		(kernels ? csv_kernels : csv_objects)(a, x->code, &t);
	table_csv(&t);
}

void inspect_csv_changes(struct arena *a, const struct kernel_changes *c)
{
	BUF(heads, a);
	buf_add(&heads, S("change|target|file|kernel|demangled"));
	for (size_t i = 0; i < FIGURES; i++)
		buf_fmt(&heads, "|%s_old|%s_now", figures[i], figures[i]);
	struct table t = table_new(a, buf_str(&heads).p);
	VEC_EACH (const struct kernel_change, k, &c->kernels) {
		struct str cells[2 * FIGURES + 5] = {str_from(k->change), k->target, k->path,
			k->name, k->demangled.n ? k->demangled : k->name};
		for (size_t i = 0; i < FIGURES; i++) {
			cells[5 + 2 * i] = figure_of(a, k->old, figures[i]);
			cells[6 + 2 * i] = figure_of(a, k->now, figures[i]);
		}
		table_row(&t, cells);
	}
	table_csv(&t);
}
