/* How far files serve a target: the bundles of one file, and totals over all files; see devcode.h. */
#include "base/fs.h"
#include "devcode/scan.h"

void devcode_serves(const struct devcode *d, const struct target *want, bool ret[DEVCODE_TARGETS])
{
	for (size_t i = 0; i < d->targets.n; i++) {
		const struct target *have = &d->targets.v[i].t;
		ret[i] = target_covers(have, want) ||
			 (str_eq(have->name, want->name) && target_covers(want, have));
	}
}

struct devcode_cover devcode_cover(const struct devcode_file *f, const bool *served)
{
	struct devcode_cover c = {0};
	bool kernels = false;
	VEC_EACH (const struct code_object, o, &f->objects) {
		kernels = kernels || o->kernels > 0;
		c.counts = c.counts || !o->inner || o->kernels > 0;
	}
	for (size_t i = 0, next; i < f->objects.n; i = next) {
		int64_t most = 0, have = 0;
		size_t largest = i;
		for (next = i; next < f->objects.n; next++) {
			const struct code_object *o = &f->objects.v[next];
			/* an object weighs as much as it has kernels, or 1 if none were counted */
			int64_t n = kernels || o->inner ? o->kernels : o->size > 0;
			if (o->bundle != f->objects.v[i].bundle &&
				(o->encoding != DEVCODE_OBJECT ||
					f->objects.v[i].encoding != DEVCODE_OBJECT))
				break; /* all bare objects count as one bundle */
			largest = n > most ? next : largest;
			most = n > most ? n : most;
			have = served[o->id] && n > have ? n : have;
		}
		if (!most)
			continue;
		if (!have && c.without < sizeof(c.first) / sizeof(*c.first))
			c.first[c.without] = largest;
		c.bundles++;
		c.without += !have;
		c.kernels += most;
		c.missing += most - have;
	}
	return c;
}

struct str devcode_cover_text(
	struct arena *a, const struct devcode_file *f, const struct devcode_cover *c)
{
	enum { MOST = sizeof(c->first) / sizeof(*c->first) };
	BUF(b, a);
	bool counted = c->without && f->objects.v[c->first[0]].kernels > 0;
	buf_fmt(&b, "%u of %u bundles", c->without, c->bundles);
	if (counted)
		buf_fmt(&b, " (%lld of %lld kernels)", (long long)c->missing,
			(long long)c->kernels);
	for (unsigned i = 0; i < c->without && i < MOST; i++) {
		const struct code_object *o = &f->objects.v[c->first[i]];
		buf_fmt(&b, "%s bundle %u at %llu", i ? "," : ":", o->bundle,
			(unsigned long long)o->place.bundle);
		if (counted)
			buf_fmt(&b, " (%lld kernel%s: '%.*s'%s)", (long long)o->kernels,
				o->kernels > 1 ? "s" : "", STR(o->kernel),
				o->kernels > 1 ? ", ..." : "");
	}
	if (c->without > MOST)
		buf_fmt(&b, ", and %u more", c->without - MOST);
	return buf_str(&b);
}

/* ---- all files ---- */

void devcode_count(struct arena *a, struct devcode_sums *sums, const struct devcode_file *f)
{
	VEC_EACH (struct code_object, o, &f->objects) {
		struct devcode_sum *s = VEC_FIND(struct devcode_sum, sums, target, o->target);
		if (!s)
			s = VEC_PUSH(a, sums);
		s->target = o->target;
		s->objects++;
		s->size += o->size;
		s->stored += o->stored;
		s->debug = o->debug < 0 || s->debug < 0 ? -1 : s->debug + o->debug;
		s->versions |= o->version < 31 ? 1u << o->version : 0;
		s->kernels = o->kernels < 0 || s->kernels < 0 ? -1 : s->kernels + o->kernels;
	}
	VEC_SORT(sums, target_order_first);
}

bool devcode_is_runtime(struct str path)
{
	static const char *const names[] = {"libhsa-runtime64", "libamdhip64", NULL};
	return str_starts_one_of(path_base(path), names);
}

/* Is it a runtime library whose only device code is in arrays? */
static bool is_runtime(const struct devcode_file *f)
{
	bool is = devcode_is_runtime(f->path);
	for (size_t i = 0; is && i < f->objects.n; i++)
		is = f->objects.v[i].inner;
	return is;
}

/* Notes in each file, and in the whole scan, whether one processor is served. */
static void judge_gpu(struct arena *a, struct devcode *d, struct str name)
{
	/* files times targets above that devcode_file.served stays empty */
	enum { ANSWERS = 1 << 18 };
	bool served[DEVCODE_TARGETS], sets = false, any = false, some = false;
	struct target want = target_read(name), modes[TARGET_MODES];
	bool by_sets = sides_serve(d, &want, &sets), noted = d->files.n * d->targets.n < ANSWERS;
	size_t n = target_modes(&want, modes);
	/* a device is in one mode, in which all files must serve it */
	for (size_t i = 0; i < n; i++) {
		bool all = true;
		devcode_serves(d, &modes[i], served);
		VEC_EACH (struct devcode_file, f, &d->files) {
			struct devcode_cover c = devcode_cover(f, served);
			bool does = c.bundles && !c.without;
			if (does && noted)
				strs_put(a, &f->served, name);
			some = some || (does && !f->runtime);
			all = all && (does || f->runtime || !c.counts || (f->side && sets));
		}
		any = any || all;
	}
	if (some)
		strs_add(a, &d->some, name);
	if (any && (by_sets || !sets))
		strs_add(a, &d->served, name);
}

/* A link by one of clang's offload drivers leaves out what the other left for the linker, or fails: clang 21's old one makes a
 * library without that code, and says nothing. */
static void judge_drivers(struct arena *a, struct devcode *d)
{
	const struct devcode_file *of[2] = {NULL, NULL};
	VEC_EACH (const struct devcode_file, f, &d->files)
		VEC_EACH (const struct code_object, o, &f->objects) {
			if (o->encoding == DEVCODE_UNLINKED && !of[0])
				of[0] = f;
			if (o->encoding == DEVCODE_OFFLOAD && !of[1])
				of[1] = f;
		}
	if (!of[0] || !of[1])
		return;
	struct finding *f = finding_note(a, &d->findings, "offload-drivers-mixed", of[1]->path,
		"objects of both offload drivers of clang ('%.*s' is of the old one): a link takes "
		"the device code of one kind only",
		STR(of[0]->path));
	finding_fix(
		a, f, "compile all with --offload-new-driver, or all with --no-offload-new-driver");
}

void devcode_finish(struct arena *a, struct devcode *d)
{
	struct strs names = {0}; /* processors, without features */
	VEC_EACH (const struct devcode_target, t, &d->targets)
		if (t->t.name.n && !str_eq(t->name, S(DEVCODE_UNKNOWN)))
			strs_put(a, &names, str_sub(t->name, 0, str_chr(t->name, ':')));
	targets_sort(&names);
	d->served = d->some = (struct strs){0};
	d->sums = (struct devcode_sums){0};
	bool other = false;
	VEC_EACH (struct devcode_file, f, &d->files)
		other = other || !is_runtime(f);
	VEC_EACH (struct devcode_file, f, &d->files) {
		f->served = (struct strs){0};
		f->runtime = other && is_runtime(f);
		devcode_count(a, &d->sums, f);
	}
	for (size_t i = 0; i < names.n; i++)
		judge_gpu(a, d, names.v[i]);
	sides_judge(a, d);
	same_judge(a, d);
	judge_drivers(a, d);
}
