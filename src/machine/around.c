/* The environment variables that ROCm and PyTorch read, and the free space on disks that programs write to. */
#include "machine/facts.h"

static bool read_variable(struct root *r, struct machine *m, struct str name, const char *effect)
{
	struct str value;
	if (!root_variable(r, name, &value))
		return false;
	value = clean_long(r->a, value);
	*VEC_PUSH(r->a, &m->variables) = (struct machine_variable){name, value, effect};
	return true;
}

void gather_variables(struct root *r, struct machine *m)
{
	const struct str all = S("HSA_OVERRIDE_GFX_VERSION");
	struct str value;
	TABLE_EACH (variable, x)
		read_variable(r, m, str_from(x->name), x->effect);
	/* libhsakmt (since ROCm 6.2) prefers the variable with the GPU's own node number to the one for all GPUs. */
	VEC_EACH (struct machine_gpu, g, &m->gpus) {
		struct str own = str_fmt(r->a, "%.*s_%u", STR(all), g->node);
		bool is_own = read_variable(r, m, own,
			"makes the runtime believe that the GPU of this node is of this "
			"version, and load code for that one; ROCm 6.2 and later");
		struct str name = is_own ? own : all;
		if (!root_variable(r, name, &value))
			continue;
		g->override = name;
		g->override_target = target_from_kfd(r->a, parse_override(r->a, value));
	}
	root_variable(r, S("HOME"), &value); /* read only to get them into a recording */
	root_variable(r, S("PATH"), &value);
}

static void add_disk(struct root *r, struct machine *m, struct str use, struct str path)
{
	struct machine_disk d = {.use = use, .path = clean_long(r->a, path_clean(r->a, path))};
	if (str_starts(path, S("/")) && fs_free_space(path, &d.free, &d.size))
		*VEC_PUSH(r->a, &m->disks) = d;
}

/* A sysroot cannot show the size of the machine's disks, so that a file .disks lists them, with their use, size, free
 * space and folder: "cache 107374182400 53687091200 /home/user/.cache/rocsmith". */
void gather_disks(struct root *r, struct machine *m)
{
	enum { DISKS_MAX = 16 };
	const struct str list = S(".disks");
	struct str text = S(""), line, size, free, tmp;
	BUF(out, r->a);
	if (r->dir.n) {
		root_read(r, list, &text);
	} else {
		add_disk(r, m, S("cache"), fs_place(r->a, FS_CACHE, S("")));
		if (r->home.n)
			add_disk(r, m, S("home"), str_fmt(r->a, "/%.*s", STR(r->home)));
		bool is_set = root_variable(r, S("TMPDIR"), &tmp) && tmp.n;
		add_disk(r, m, S("tmp"), is_set ? tmp : S("/tmp"));
		if (m->container)
			add_disk(r, m, S("shm"), S("/dev/shm"));
	}
	while (str_next(&text, '\n', &line) && m->disks.n < DISKS_MAX) {
		struct machine_disk d;
		str_cut(line, ' ', &d.use, &line);
		str_cut(line, ' ', &size, &line);
		str_cut(line, ' ', &free, &d.path);
		if (!str_u64(size, 10, &d.size) || !str_u64(free, 10, &d.free))
			continue;
		d.use = clean_text(r->a, d.use);
		d.path = clean_long(r->a, d.path);
		*VEC_PUSH(r->a, &m->disks) = d;
	}
	VEC_EACH (struct machine_disk, d, &m->disks) {
		d->size = bounded(d->size);
		d->free = bounded(d->free);
		buf_fmt(&out, "%.*s %llu %llu %.*s\n", STR(d->use), (unsigned long long)d->size,
			(unsigned long long)d->free, STR(d->path));
	}
	if (m->disks.n)
		root_note(r, list, buf_str(&out));
}
