/* Gives the passes of a build hip/hip_runtime.h precompiled, one file for each GPU and one for the host side: most of a small
 * kernel's compile is that header. See make.h; cc_int.h tells why the objects are the same. */
#include <pthread.h>

#include "base/fs.h"
#include "base/hash.h"
#include "lang/cxx/lexer.h"
#include "make/make.h"

enum { PAYS = 3 };

/* All passes whose headers are compiled alike. The file of an earlier build is used from the first of them on. */
struct header_group {
	struct str path;
	unsigned seen; /* passes of this build that ran without it */
	bool made, making, failed;
	bool fresh; /* this build has made it */
};

struct make_headers {
	pthread_mutex_t lock;
	struct arena a;
	VEC(struct header_group) groups;
};

struct make_headers *make_headers_new(void)
{
	struct make_headers *h = xmalloc(sizeof(*h));
	*h = (struct make_headers){.groups = {0}};
	pthread_mutex_init(&h->lock, NULL);
	return h;
}

void make_headers_freep(struct make_headers **h)
{
	if (!*h)
		return;
	pthread_mutex_destroy(&(*h)->lock);
	arena_free(&(*h)->a);
	free(*h);
	*h = NULL;
}

bool make_begins_with_hip(struct str text, struct str path)
{
	struct lex l = lex_new(text, path);
	struct tok t;
	struct str words = S("");
	ARENA(a);
	l.lenient = true;
	/* hipify's first line defines what the command line does, too */
	for (unsigned i = 0; i < 16 && lex_try(&l, &t) && t.kind != TOK_END; i++) {
		if (t.kind == TOK_LINE_END)
			continue;
		words = str_fmt(&a, "%.*s %.*s", STR(words), STR(tok_text(&l, &t)));
		if (str_eq(words, S(" # include <hip/hip_runtime.h>")))
			return true;
		if (str_eq(words, S(" # define HIP_ENABLE_WARP_SYNC_BUILTINS 1")))
			words = S("");
	}
	return false;
}

/* The group of a pass, which is to be called with the lock held. */
static struct header_group *find_group(struct make_headers *h, struct str path)
{
	VEC_EACH (struct header_group, g, &h->groups)
		if (str_eq(g->path, path))
			return g;
	struct header_group *g = VEC_PUSH(&h->a, &h->groups);
	*g = (struct header_group){.path = str_dup(&h->a, path), .made = fs_is_file(path)};
	return g;
}

/* May this pass use the file (*ret_use), or is it to make it? */
static bool is_due(struct make_headers *h, struct str path, bool *ret_use)
{
	pthread_mutex_lock(&h->lock);
	struct header_group *g = find_group(h, path);
	*ret_use = g->made && !g->failed;
	bool due = !g->made && !g->making && !g->failed && ++g->seen >= PAYS;
	g->making |= due;
	pthread_mutex_unlock(&h->lock);
	return due;
}

static void settle(struct make_headers *h, struct str path, bool good)
{
	pthread_mutex_lock(&h->lock);
	struct header_group *g = find_group(h, path);
	g->making = false;
	g->made = g->fresh = good;
	g->failed |= !good;
	pthread_mutex_unlock(&h->lock);
}

struct err *make_headers_prune(const struct make *m)
{
	struct strs names = {0}, used = {0};
	bool fresh = false;
	VEC_EACH (const struct header_group, g, &m->headers->groups) {
		fresh |= g->fresh;
		strs_add(m->a, &used, path_base(g->path));
	}
	if (fresh)
		TRY(fs_list(m->a, m->obj, &names));
	VEC_EACH (const struct str, name, &names)
		if (str_ends(*name, S(".pch")) && !strs_has(&used, *name))
			TRY(fs_remove(path_join(m->a, m->obj, *name)));
	return NULL;
}

static void add_costs(struct proc_result *io, const struct proc_result *r)
{
	io->cpu += r->cpu;
	io->seconds += r->seconds;
	io->memory = r->memory > io->memory ? r->memory : io->memory;
}

/* Runs the job's program with these arguments. headers: a precompiled file, or "". */
static struct err *run_with(struct arena *tmp, const struct job *j, const struct strs *args,
	struct str headers, struct proc_result *ret)
{
	struct proc p = j->proc;
	p.argv = (struct strs){0};
	strs_add(tmp, &p.argv, j->proc.argv.v[0]);
	if (headers.n) {
		strs_add(tmp, &p.argv, S("-include-pch"));
		strs_add(tmp, &p.argv, headers);
	}
	strs_add_all(tmp, &p.argv, args);
	TRY(j->set->hooks->wrap(tmp, j, &p));
	return proc_run(tmp, &p, ret);
}

struct err *make_run_pass(
	struct arena *tmp, struct job *j, struct proc_result *ret, struct strs *io_inputs)
{
	const struct make *m = j->set->user;
	struct strs args = j->proc.argv, making;
	struct str header = path_join(tmp, m->obj, S("hip_runtime.hip"));
	struct str made = path_join(tmp, j->work, S("headers"));
	struct proc_result more = {0};
	bool use = false;
	(void)io_inputs;
	args.v++;
	args.n--;
	if (!compile_headers(tmp, &args, header, S("headers"), &making))
		return run_with(tmp, j, &args, S(""), ret);
	struct hash *h = hash_new(HASH_SHA256);
	hash_word(h, j->set->toolchain);
	VEC_EACH (const struct str, word, &making)
		hash_word(h, *word);
	struct digest d = hash_end(h);
	struct str path = str_fmt(
		tmp, "%.*s/%.*s.pch", STR(m->obj), STR(str_sub(digest_hex(tmp, &d), 0, 32)));
	if (is_due(m->headers, path, &use)) {
		compile_headers(tmp, &args, header, made, &making);
		TRY(run_with(tmp, j, &making, S(""), &more));
		use = !more.status && fs_is_file(made);
		if (use)
			TRY(fs_rename(made, path));
		settle(m->headers, path, use);
	}
	TRY(run_with(tmp, j, &args, use ? path : S(""), ret));
	if (use && ret->status) { /* its messages are those without */
		add_costs(&more, ret);
		TRY(run_with(tmp, j, &args, S(""), ret));
		if (!ret->status) {
			settle(m->headers, path, false);
			TRY(fs_remove(path));
		}
	}
	add_costs(ret, &more);
	return NULL;
}
