/* Device code that is not linked yet (-fgpu-rdc, LTO): offload binaries of clang's new offload driver, and the sections in
 * which its old one keeps an image for each GPU. The images are code objects or, as a rule, LLVM's bitcode, whose kernels are
 * not counted. */
#include "devcode/scan.h"
#include "formats/offload.h"

/* the old driver's: clang-offload-bundler's form for objects; the rest of the name is an id as in a bundle */
#define BUNDLER "__CLANG_OFFLOAD_BUNDLE__"

struct offload_scan {
	struct scan *s;
	const struct bytes *section;
	size_t first; /* the current bundle's first object */
};

/* Adds an image. A target that the current bundle has already begins another bundle: `ld -r` joins the sections of several
 * objects. */
static struct err *add_image(struct offload_scan *o, struct str target, const struct bytes *from,
	struct code_object *like)
{
	struct scan *s = o->s;
	struct code_object *x;
	for (size_t i = o->first; i < s->file->objects.n; i++) {
		if (!str_eq(s->file->objects.v[i].target, target))
			continue;
		s->file->bundles++;
		o->first = s->file->objects.n;
	}
	TRY(object_add(s, from, target, &x));
	x->encoding = like->encoding;
	x->size = x->stored = like->size;
	x->place = like->place;
	struct bytes image = bytes_sub(from, like->place.offset, like->size);
	object_look(s, &image, x);
	return NULL;
}

/* Images for another vendor's GPU do not count. */
static struct err *take_image(void *user, const struct offload_image *x)
{
	struct offload_scan *o = user;
	struct bytes binary = bytes_sub(o->section, x->binary, x->length);
	struct code_object like = {.encoding = DEVCODE_OFFLOAD,
		.size = x->size,
		.place = {.bundle = binary.base - o->s->base,
			.length = x->length,
			.entry = x->entry,
			.offset = x->offset}};
	if (!str_contains(x->triple, S("-amd-")))
		return NULL;
	return add_image(o, x->arch.n ? x->arch : S(DEVCODE_UNKNOWN), &binary, &like);
}

struct err *scan_offload(struct scan *s, const struct bytes *section)
{
	struct offload_scan o = {.s = s, .section = section, .first = s->file->objects.n};
	struct err *e = offload_walk(section, take_image, &o);
	s->file->bundles += s->file->objects.n > o.first;
	return e;
}

struct err *scan_unlinked(struct scan *s, const struct bytes *src, const struct elf *e)
{
	struct offload_scan o = {.s = s, .first = s->file->objects.n};
	VEC_EACH (const struct elf_section, x, &e->sections) {
		if (!str_starts(x->name, S(BUNDLER "hip")) || !x->size)
			continue;
		struct str id = str_sub(x->name, sizeof(BUNDLER) - 1, x->name.n);
		struct bytes section = bytes_sub(src, x->offset, x->size);
		struct code_object like = {.encoding = DEVCODE_UNLINKED,
			.size = x->size,
			.place = {.bundle = section.base - s->base, .length = x->size}};
		TRY(add_image(&o, bundle_target(id), &section, &like));
	}
	s->file->bundles += s->file->objects.n > o.first;
	return NULL;
}
