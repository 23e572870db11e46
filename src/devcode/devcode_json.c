/* The JSON of `rocsmith inspect`: schema rocsmith.inspect/1, which other programs rely on. */
#include "devcode/devcode.h"

static const char *const encodings[] = {
	[DEVCODE_RAW] = "raw",
	[DEVCODE_CCOB1] = "ccob1",
	[DEVCODE_CCOB2] = "ccob2",
	[DEVCODE_CCOB3] = "ccob3",
	[DEVCODE_OBJECT] = "object",
};

const char *devcode_encoding_name(enum devcode_encoding e)
{
	return encodings[e];
}

static void object_json(struct json *j, const struct code_object *o, unsigned flags)
{
	json_open(j, '{');
	json_put(j, "target", o->target);
	json_put_u64(j, "bundle", o->bundle);
	json_put(j, "encoding", str_from(devcode_encoding_name(o->encoding)));
	json_put_u64(j, "size", o->size);
	json_put_u64(j, "stored", o->stored);
	if (o->kernels >= 0)
		json_put_u64(j, "kernels", (uint64_t)o->kernels);
	if (flags & DEVCODE_HASH)
		json_put(j, "sha256", o->sha256);
	json_close(j);
}

void devcode_json(struct json *j, const struct devcode *d, unsigned flags)
{
	json_open(j, '{');
	json_put(j, "schema", S("rocsmith.inspect/1"));
	json_put(j, "path", d->path);
	json_key(j, "files");
	json_open(j, '[');
	VEC_EACH (struct devcode_file, f, &d->files) {
		json_open(j, '{');
		json_put(j, "path", f->path);
		json_put(j, "format", str_from(f->format));
		json_key(j, "objects");
		json_open(j, '[');
		VEC_EACH (struct code_object, o, &f->objects)
			object_json(j, o, flags);
		json_close(j);
		json_close(j);
	}
	json_close(j);
	json_put_strs(j, "served", &d->served);
	json_key(j, "findings");
	findings_json(j, &d->findings);
	json_close(j);
}
