/* torch-dump PATH: what rocsmith reads from a torch, as JSON, to be compared with what the original
 * Python has in memory (oracle/torch_tables.py). Maps are lists of [key, value, table, line] in
 * their order. */
#include <stdio.h>

#include "formats/json_fields.h"
#include "hipify/torch/model/amd.h"

static void put_str(struct json *j, const char *key, struct str value)
{
	json_key(j, key);
	json_str(j, value);
}

static void put_bool(struct json *j, const char *key, bool value)
{
	json_key(j, key);
	json_bool(j, value);
}

static void put_strs(struct json *j, const char *key, const struct strs *list)
{
	json_key(j, key);
	json_strs(j, list);
}

static void put_map(struct json *j, const char *key, const struct torch_map *m)
{
	json_key(j, key);
	json_open(j, '[');
	VEC_EACH (struct torch_entry, e, m) {
		json_open(j, '[');
		json_str(j, e->from);
		json_str(j, e->to);
		json_str(j, e->table);
		json_u64(j, e->line);
		json_close(j);
	}
	json_close(j);
}

static void put_source(struct json *j, const struct torch_source *s)
{
	put_str(j, "version", s->version);
	put_str(j, "fingerprint", s->fingerprint);
	put_str(j, "identity", s->identity);
	json_key(j, "generation");
	json_u64(j, s->generation);
	put_bool(j, "known", s->known);
	put_bool(j, "fbgemm", s->fbgemm);
}

static struct err *put_amd(struct arena *a, struct json *j, const struct torch_file *f)
{
	static const char *const launches[] = {"keep", "rewrite", "ask"};
	struct amd_build b;
	TRY(amd_build_read(a, f, &b));
	json_key(j, "amd");
	json_open(j, '{');
	put_strs(j, "includes", &b.includes);
	put_strs(j, "ignores", &b.ignores);
	put_strs(j, "extra_files", &b.extra_files);
	put_strs(j, "extra_if_there", &b.extra_if_there);
	put_str(j, "launches", str_from(launches[b.launches]));
	json_key(j, "edits");
	json_open(j, '[');
	VEC_EACH (struct amd_edit, e, &b.edits) {
		json_open(j, '{');
		put_strs(j, "files", &e->files);
		put_map(j, "replace", &e->replace);
		put_bool(j, "when_kept", e->when_kept);
		json_close(j);
	}
	json_close(j);
	put_str(j, "copy_from", b.copy.from);
	put_str(j, "copy_to", b.copy.to);
	put_bool(j, "copy_required", b.copy.required);
	json_key(j, "doubts");
	json_open(j, '[');
	VEC_EACH (struct finding, it, &b.doubts)
		json_struct(j, finding_fields, it);
	json_close(j);
	json_close(j);
	return NULL;
}

static struct err *dump(struct arena *a, struct str path, struct json *j)
{
	struct torch_source s;
	struct torch_tables t;
	TRY(torch_open(a, path, &s));
	TRY(torch_tables_read(a, &s, &t));
	put_source(j, &s);
	put_map(j, "names", &t.names);
	put_map(j, "special", &t.special);
	put_map(j, "caffe2", &t.caffe2);
	put_map(j, "paths", &t.paths);
	put_map(j, "math", &t.math);
	return s.build_amd.text.p ? put_amd(a, j, &s.build_amd) : NULL;
}

int main(int argc, char **argv)
{
	ARENA(a);
	BUF(out, &a);
	struct json j = {.out = &out};
	if (argc != 2)
		return 2;
	json_open(&j, '{');
	CLEANUP(err_freep) struct err *e = dump(&a, str_from(argv[1]), &j);
	for (const struct err *c = e; c; c = c->cause)
		fprintf(stderr, "%s %s:%u:%u: %s\n", err_id(c->code), c->path ? c->path : "",
			c->line, c->col, c->msg);
	if (e)
		return 1;
	json_close(&j);
	return fwrite(out.p, 1, out.n, stdout) == out.n && !fflush(stdout) ? 0 : 1;
}
