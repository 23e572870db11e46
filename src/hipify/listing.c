/* The manifest of an output folder, and the lock beside it. */
#include "hipify/listing.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/vec.h"

static const char head[] = "# rocsmith hipify manifest 1\n";

static struct str listing_path(struct arena *a, struct str out)
{
	return path_join(a, out, S(".rocsmith/hipify.manifest"));
}

static struct err *bad(struct str out, const char *what)
{
	return err_hint(err_new(E_CORRUPT, "the manifest of '%.*s' %s", STR(out), what),
		"remove the folder '%.*s' and run again", STR(out));
}

void listing_add(struct listing *m, struct listing_entry e)
{
	struct listing_entry *copy = NEW(m->a, struct listing_entry);
	*copy = (struct listing_entry){
		.hash = str_dup(m->a, e.hash),
		.output = str_dup(m->a, e.output),
		.source = str_dup(m->a, e.source),
	};
	map_put(&m->by_output, copy->output, copy);
}

struct err *listing_read(struct arena *a, struct str out, struct listing *ret)
{
	struct str text, line;
	*ret = (struct listing){.a = a, .by_output = {.a = a}};
	TRY(fs_read_opt(a, listing_path(a, out), 1 << 28, &text));
	if (!text.p)
		return NULL;
	if (!str_starts(text, str_from(head)))
		return bad(out, "is none");
	text = str_sub(text, sizeof(head) - 1, text.n);
	while (str_next(&text, '\n', &line)) {
		struct listing_entry e;
		struct str rest;
		if (!line.n)
			continue;
		if (!str_cut(line, '\t', &e.hash, &rest) ||
			!str_cut(rest, '\t', &e.output, &e.source) || e.hash.n != 64 ||
			!path_is_inside(e.output))
			return bad(out, "has a damaged line");
		listing_add(ret, e);
	}
	return NULL;
}

struct err *listing_write(const struct listing *m, struct str out)
{
	ARENA(tmp);
	BUF(b, &tmp);
	struct strs names = {0};
	for (size_t i = 0; i < m->by_output.n; i++)
		strs_add(&tmp, &names, m->by_output.v[i].key);
	strs_sort(&names);
	buf_add(&b, str_from(head));
	for (size_t i = 0; i < names.n; i++) {
		const struct listing_entry *e = map_get(&m->by_output, names.v[i]);
		buf_fmt(&b, "%.*s\t%.*s\t%.*s\n", STR(e->hash), STR(e->output), STR(e->source));
	}
	return fs_write_if_changed(listing_path(&tmp, out), buf_str(&b), 0644);
}

struct err *listing_lock(struct str out, int *ret_fd)
{
	ARENA(tmp);
	struct str dir = path_join(&tmp, out, S(".rocsmith"));
	TRY(fs_mkdirs(dir));
	return fs_lock(path_join(&tmp, dir, S("hipify.lock")), true, ret_fd);
}
