/* Writes lock files: pylock.toml of PEP 751 (packaging.python.org, "pylock.toml specification"), for one Python on one kind
 * of machine. */
#include "flow/get.h"

/* TOML's basic strings are escaped as JSON's strings are. */
static void put(struct buf *b, const char *before, struct str text)
{
	struct json j = {.out = b};
	buf_add(b, str_from(before));
	json_str(&j, text);
}

struct str get_lock(struct arena *a, const struct get_done *d, bool local)
{
	BUF(b, a);
	buf_fmt(&b,
		"# %.*s for %.*s, by rocsmith get\n"
		"lock-version = \"1.0\"\n"
		"environments = [\"sys_platform == 'linux' and platform_machine == '%.*s' and "
		"python_version == '%.*s'\"]\n"
		"requires-python = \"==%.*s.*\"\n"
		"created-by = \"rocsmith\"\n",
		STR(str_join(a, &d->names, S(", "))), STR(str_join(a, &d->gpus, S(", "))),
		STR(d->machine), STR(d->python), STR(d->python));
	VEC_EACH (const struct get_package, p, &d->packages) {
		const struct archive_item *f = &p->file;
		bool wheel = str_ends(f->file, S(".whl"));
		put(&b, "\n[[packages]]\nname = ", p->name);
		put(&b, "\nversion = ", p->version);
		if (f->requires_python.n)
			put(&b, "\nrequires-python = ", f->requires_python);
		put(&b, wheel ? "\nwheels = [{ name = " : "\nsdist = { name = ", f->file);
		if (local)
			put(&b, ", path = ", str_fmt(a, "./%.*s", STR(f->file)));
		else
			put(&b, ", url = ", f->url);
		if (f->size)
			buf_fmt(&b, ", size = %llu", (unsigned long long)f->size);
		put(&b, ", hashes = { sha256 = ", f->sha256);
		buf_add(&b, wheel ? S(" } }]\n") : S(" } }\n"));
	}
	return buf_str(&b);
}
