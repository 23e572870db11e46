/* The page of the size map; see size_map.h. Boxes are placed by percentages, so that a map fits any screen; their names are
 * cut by the browser, and repeated in tables. */
#include "report/size_map.h"

#include "base/fs.h"
#include "devcode/kernels.h"
#include "report/html.h"

enum {
	LIBRARIES = 40,
	KERNELS = 24,
	MAPS = 12
}; /* boxes in a map, boxes of a GPU, maps of one library each */

struct map_boxes VEC_OF(struct map_box);

struct map_box {
	struct str name, title; /* name first, for str_order(); title: shown at the pointer */
	const char *class;
	double bytes;
	double debug; /* bytes of debug data in it */
	bool host;    /* the part of a file that is no device code */
	struct map_boxes in;
	double x, y, w, h; /* in the units of the box around it */
};

struct map_page {
	struct html *h;
	struct devcode_sums sums; /* sums over all files; each of their targets has a colour */
	struct map_boxes files;
	struct kernel_places kernels;
	size_t spilling;
	uint64_t whole,
		stored; /* bytes of files with device code, and of the device code in them */
};

/* ---- boxes ---- */

static int by_size(const void *x, const void *y)
{
	const struct map_box *a = x, *b = y;
	int c = (a->bytes < b->bytes) - (a->bytes > b->bytes);
	return c ? c : str_cmp(a->name, b->name);
}

static struct map_box *add_box(
	struct map_page *p, struct map_boxes *in, struct str name, const char *class, double bytes)
{
	struct map_box *b = VEC_PUSH(p->h->out.a, in);
	b->name = name;
	b->class = class;
	b->bytes = bytes;
	return b;
}

/* Sorts the boxes, the largest first, and lets one stand for all behind the first `most`. */
static void keep_largest(struct map_page *p, struct map_boxes *v, size_t most, const char *what)
{
	VEC_SORT(v, by_size);
	while (v->n && v->v[v->n - 1].bytes < 1)
		v->n--;
	if (v->n <= most)
		return;
	double rest = 0;
	for (size_t i = most; i < v->n; i++)
		rest += v->v[i].bytes;
	struct str name = str_fmt(p->h->out.a, "%zu more %s", v->n - most, what);
	v->n = most;
	add_box(p, v, name, "k6", rest);
}

/* Adds a file's kernels for a GPU to its box; those of one name count together. */
static void add_kernels(struct map_page *p, struct map_box *gpu, const struct devcode_file *f)
{
	VEC_EACH (const struct code_object, o, &f->objects) {
		if (!str_eq(o->target, gpu->name))
			continue;
		double part = o->size ? (double)o->stored / (double)o->size : 0;
		gpu->debug += o->debug > 0 ? (double)o->debug * part : 0;
		VEC_EACH (const struct code_kernel, k, &o->resources) {
			struct kernel_place at = {f, o, k};
			add_box(p, &gpu->in, kernel_title(k), gpu->class,
				(double)kernel_stored(&at));
		}
	}
}

/* Makes one box of kernels with the same name, and boxes of what else is in the GPU's objects. */
static void finish_gpu(struct map_page *p, struct map_box *gpu)
{
	double rest = gpu->bytes - gpu->debug;
	size_t n = 0;
	VEC_SORT(&gpu->in, str_order);
	VEC_EACH (const struct map_box, b, &gpu->in) {
		bool same = n && str_eq(gpu->in.v[n - 1].name, b->name);
		rest -= b->bytes;
		if (same)
			gpu->in.v[n - 1].bytes += b->bytes;
		else
			gpu->in.v[n++] = *b;
	}
	gpu->in.n = n;
	keep_largest(p, &gpu->in, KERNELS, "kernels");
	if (gpu->host)
		return;
	(void)add_box(p, &gpu->in, S("debug data"), "k6", gpu->debug);
	(void)add_box(p, &gpu->in, S("metadata, symbols, other functions"), "k6", rest);
	keep_largest(p, &gpu->in, KERNELS + 3, "parts");
}

/* The box that a file counts for. Side files, hundreds beside a library, share that of their folder. */
static struct map_box *file_box(struct map_page *p, struct str path, const struct devcode_file *f)
{
	struct str title = f->side ? str_fmt(p->h->out.a, "%.*s/", STR(path_dir(path))) : path;
	VEC_EACH (struct map_box, b, &p->files)
		if (f->side && str_eq(b->title, title))
			return b;
	struct str base = path_base(path);
	bool library = str_contains(base, S(".so")) || str_contains(base, S(".dll"));
	struct map_box *b = add_box(p, &p->files, library && !f->side ? base : title, "k6", 0);
	b->title = title;
	return b;
}

static void add_file(struct map_page *p, struct str path, const struct devcode_file *f)
{
	static const char *const classes[] = {"k0", "k2", "k3", "k1", "k4", "k5", "k7"};
	enum { COLOURS = sizeof(classes) / sizeof(*classes) };
	struct devcode_sums sums = {0};
	struct map_box *file = file_box(p, path, f);
	double rest = (double)f->size;
	file->bytes += rest;
	devcode_count(p->h->out.a, &sums, f);
	VEC_EACH (const struct devcode_sum, s, &sums) {
		struct map_box *gpu = NULL;
		VEC_EACH (struct map_box, b, &file->in)
			gpu = !b->host && str_eq(b->name, s->target) ? b : gpu;
		size_t i = 0;
		while (!str_eq(p->sums.v[i].target, s->target))
			i++;
		if (!gpu)
			gpu = add_box(p, &file->in, s->target, classes[i % COLOURS], 0);
		gpu->bytes += (double)s->stored;
		rest -= (double)s->stored;
		add_kernels(p, gpu, f);
	}
	if (rest >= 1)
		add_box(p, &file->in, S("host code, data, padding"), "k6", rest)->host = true;
}

/* ---- places ---- */

struct map_area {
	double x, y, w, h;
};

/* The boxes from i on that make the next row along the shorter side: as many as make its boxes more square. */
static size_t row_end(const struct map_boxes *v, size_t i, double side, double scale)
{
	double sum = 0, worst = 0, first = v->v[i].bytes * scale;
	for (size_t k = i; k < v->n; k++) {
		double area = v->v[k].bytes * scale, s = sum + area;
		double wide = side * side * first / (s * s), high = s * s / (side * side * area);
		double ratio = wide > high ? wide : high;
		if (k > i && ratio > worst)
			return k;
		worst = ratio;
		sum = s;
	}
	return v->n;
}

/* Places the boxes, which are sorted, in an area (a squarified treemap: Bruls, Huizing, van Wijk). */
static void place_boxes(struct map_boxes *v, struct map_area r)
{
	double total = 0;
	VEC_EACH (const struct map_box, b, v)
		total += b->bytes;
	double scale = total > 0 ? r.w * r.h / total : 0;
	for (size_t i = 0; i < v->n;) {
		bool tall = r.w >= r.h;
		double side = tall ? r.h : r.w, sum = 0, at = 0;
		size_t end = row_end(v, i, side, scale);
		for (size_t k = i; k < end; k++)
			sum += v->v[k].bytes * scale;
		double thick = side > 0 ? sum / side : 0;
		for (; i < end; i++) {
			struct map_box *b = &v->v[i];
			double length = thick > 0 ? b->bytes * scale / thick : 0;
			b->x = r.x + (tall ? 0 : at);
			b->y = r.y + (tall ? at : 0);
			b->w = tall ? thick : length;
			b->h = tall ? length : thick;
			at += length;
		}
		r.x += tall ? thick : 0;
		r.y += tall ? 0 : thick;
		r.w -= tall ? thick : 0;
		r.h -= tall ? 0 : thick;
	}
}

/* ---- drawing ---- */

/* Draws boxes into an area of this shape, and with depth > 1 those in them. */
static void draw_boxes(struct html *h, struct map_boxes *v, double w, double height, unsigned depth)
{
	enum { TITLE = 200 };
	place_boxes(v, (struct map_area){0, 0, w, height});
	VEC_EACH (struct map_box, b, v) {
		struct str size = human_bytes(h->out.a, (uint64_t)b->bytes);
		struct str title = b->title.n ? b->title : b->name;
		title = str_sub(title, 0, utf8_fit(title, TITLE, TITLE));
		bool inner = depth > 1 && b->in.n;
		html_open(h, "div", "class", str_fmt(h->out.a, "box %s", b->class).p, "style",
			str_fmt(h->out.a, "left:%.3f%%;top:%.3f%%;width:%.3f%%;height:%.3f%%",
				100 * b->x / w, 100 * b->y / height, 100 * b->w / w,
				100 * b->h / height)
				.p,
			"title", str_fmt(h->out.a, "%.*s: %.*s", STR(title), STR(size)).p, NULL);
		html_open(h, "b", NULL);
		html_text(h, str_sub(b->name, 0, utf8_fit(b->name, TITLE, TITLE)));
		html_leaf(h, size, "small", NULL);
		html_close(h, 1);
		if (inner) {
			html_open(h, "div", "class", "in", NULL);
			draw_boxes(h, &b->in, b->w, b->h, depth - 1);
			html_close(h, 1);
		}
		html_close(h, 1);
	}
}

static void draw_map(struct html *h, struct map_boxes *v, const char *what)
{
	html_open(h, "div", "class", "map", "role", "img", "aria-label", what, NULL);
	draw_boxes(h, v, 160, 90, 2);
	html_close(h, 1);
}

/* ---- the page ---- */

static struct str share_text(struct html *h, double part, double whole)
{
	return str_fmt(h->out.a, "%.1f %%", whole > 0 ? 100 * part / whole : 0);
}

static void section(struct html *h, const char *title)
{
	html_leaf(h, str_from(title), "h2", NULL);
}

static void add_gpus(struct map_page *p)
{
	struct html *h = p->h;
	section(h, "By GPU");
	html_table(h, "GPU|Sold as|>Objects|>Kernels|>Size|>In the files|>Share");
	VEC_EACH (const struct devcode_sum, s, &p->sums) {
		const struct gpu *gpu = target_read(s->target).gpu;
		HTML_ROW(h, "gtnnnnn", s->target, gpu ? gpu_products(h->out.a, gpu) : S(""),
			html_count(h, s->objects), html_count(h, (uint64_t)s->kernels),
			human_bytes(h->out.a, s->size), human_bytes(h->out.a, s->stored),
			share_text(h, (double)s->stored, (double)p->whole));
	}
	html_table_end(h, 0, "");
}

static void add_libraries(struct map_page *p)
{
	struct html *h = p->h;
	size_t rows = 0;
	section(h, "By file");
	html_table(h, "File|>Size|>Share|Most for");
	VEC_EACH (const struct map_box, b, &p->files) {
		if (!b->title.n || rows++ >= ROWS)
			continue;
		const struct map_box *most = b->in.v;
		HTML_ROW(h, "cnnt", b->title, human_bytes(h->out.a, (uint64_t)b->bytes),
			share_text(h, b->bytes, (double)p->whole),
			most ? str_fmt(h->out.a, "%.*s: %.*s", STR(most->name),
				       STR(human_bytes(h->out.a, (uint64_t)most->bytes)))
			     : S(""));
	}
	html_table_end(h, rows, "files");
}

static int by_code(const void *x, const void *y)
{
	const struct kernel_place *a = x, *b = y;
	uint64_t m = a->kernel->size, n = b->kernel->size;
	return (m < n) - (m > n);
}

static void add_largest(struct map_page *p)
{
	enum { LARGEST = 100 };
	struct html *h = p->h;
	struct kernel_places all = p->kernels;
	if (!all.n)
		return;
	VEC_SORT(&all, by_code);
	section(h, "Largest kernels");
	html_table(h, "Kernel|GPU|>Code|>VGPRs|>SGPRs|>Spilled|>LDS, bytes|>Scratch, bytes|>Waves");
	for (size_t i = 0; i < all.n && i < LARGEST; i++) {
		const struct code_kernel *k = all.v[i].kernel;
		HTML_ROW(h, "kgnnnnnnn", k->name, all.v[i].object->target,
			human_bytes(h->out.a, k->size), html_count(h, k->vgprs),
			html_count(h, k->sgprs), html_count(h, kernel_spills(k)),
			html_count(h, k->lds), html_count(h, k->scratch), html_count(h, k->waves));
	}
	html_table_end(h, 0, "");
}

static void add_maps(struct map_page *p)
{
	struct html *h = p->h;
	struct map_boxes largest = {0};
	size_t drawn = 0;
	VEC_EACH (const struct map_box, b, &p->files)
		*VEC_PUSH(h->out.a, &largest) = *b;
	keep_largest(p, &largest, LIBRARIES, "files");
	section(h, "What takes the space");
	html_leaf(h,
		S("Areas are bytes in the unpacked files; code in compressed bundles counts by "
		  "what it takes there. Files that have no device code are not part of it."),
		"p", NULL);
	draw_map(h, &largest, "files, and in each the GPUs");
	section(h, "File by file");
	VEC_EACH (const struct map_box, b, &largest) {
		if (!b->title.n || drawn == MAPS)
			continue;
		html_open(h, "details", drawn++ ? NULL : "open", "", NULL);
		html_open(h, "summary", NULL);
		html_leaf(h, b->title, "code", NULL);
		struct map_boxes gpus = {0};
		double bytes = 0;
		VEC_EACH (const struct map_box, x, &b->in) {
			if (x->host)
				continue;
			*VEC_PUSH(h->out.a, &gpus) = *x;
			bytes += x->bytes;
		}
		html_text(h, str_fmt(h->out.a, " %.*s of device code",
				     STR(human_bytes(h->out.a, (uint64_t)bytes))));
		html_close(h, 1);
		draw_map(h, &gpus, "GPUs, and in each the kernels");
		html_close(h, 1);
	}
}

static void add_head(struct map_page *p, const struct size_map *m, struct str name)
{
	struct html *h = p->h;
	html_leaf(h, name, "h1", NULL);
	VEC_EACH (const struct devcode, d, &m->codes)
		html_leaf(h, d->path, "p", "class", "sub", NULL);
	html_open(h, "div", "class", "cards", NULL);
	html_card(h, human_bytes(h->out.a, p->whole), "in files with device code");
	html_card(h, human_bytes(h->out.a, p->stored), "of it device code");
	html_card(h, html_count(h, p->sums.n), "targets");
	html_card(h, html_count(h, p->kernels.n), "kernels of all targets");
	html_card(h, html_count(h, p->spilling), "of them spill registers");
	html_close(h, 1);
}

static void read_codes(struct map_page *p, const struct size_map *m)
{
	struct arena *a = p->h->out.a;
	VEC_EACH (const struct devcode, d, &m->codes)
		VEC_EACH (const struct devcode_file, f, &d->files)
			devcode_count(a, &p->sums, f);
	VEC_EACH (const struct devcode_sum, s, &p->sums)
		p->stored += s->stored;
	VEC_EACH (const struct devcode, d, &m->codes) {
		bool one = m->codes.n < 2;
		kernels_list(a, d, &p->kernels);
		VEC_EACH (const struct devcode_file, f, &d->files) {
			struct str path = f->path;
			if (!one && !str_eq(path, d->path))
				path = str_fmt(a, "%.*s/%.*s", STR(d->path), STR(path));
			add_file(p, path, f);
			p->whole += f->size;
		}
	}
	VEC_EACH (struct map_box, file, &p->files) {
		VEC_EACH (struct map_box, gpu, &file->in)
			finish_gpu(p, gpu);
		keep_largest(p, &file->in, LIBRARIES, "parts");
	}
	VEC_SORT(&p->files, by_size);
	VEC_EACH (const struct kernel_place, k, &p->kernels)
		p->spilling += kernel_spills(k->kernel) > 0;
}

static void add_findings(struct html *h, const struct size_map *m)
{
	bool any = false;
	VEC_EACH (const struct devcode, d, &m->codes)
		VEC_EACH (const struct finding, f, &d->findings) {
			if (!any) {
				section(h, "Findings");
				html_open(h, "ul", "class", "findings", NULL);
			}
			any = true;
			html_finding(h, f);
		}
	if (any)
		html_close(h, 1);
}

struct str size_map_html(struct arena *a, const struct size_map *m)
{
	struct html h = {.out = {.a = a}};
	struct map_page p = {.h = &h};
	read_codes(&p, m);
	struct str name = m->codes.n == 1 ? path_base(m->codes.v[0].path)
					  : human_count(a, m->codes.n, "path");
	html_page(&h, str_fmt(a, "%.*s: size map", STR(name)));
	add_head(&p, m, name);
	add_findings(&h, m);
	if (p.files.n) {
		add_maps(&p);
		add_gpus(&p);
		add_libraries(&p);
		add_largest(&p);
	}
	return html_page_end(&h, S("Made by rocsmith inspect."));
}
