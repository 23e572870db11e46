/* Gives the passes of a build hip/hip_runtime.h precompiled, one file for each GPU and one for the host side: most of a small
 * kernel's compile is that header. See make.h; cc_int.h tells why the objects are the same. */
#include "base/fs.h"
#include "base/hash.h"
#include "make/make.h"

enum { PAYS = 3, MAX_BEGIN = 1 << 16 };

/* All passes whose headers are compiled alike. The file of an earlier build is used from the first of them on. */
struct header_group {
	struct str path;
	unsigned seen; /* passes of this build that ran without it */
	enum { NONE, MAKING, MADE, FAILED } state;
	bool fresh; /* this build has made it */
};

/* The group of a pass, which is to be called with the lock held. */
static struct header_group *find_group(struct make_headers *h, struct str path)
{
	struct header_group *g = VEC_FIND(struct header_group, &h->groups, path, path);
	if (g)
		return g;
	g = VEC_PUSH(h->a, &h->groups);
	*g = (struct header_group){
		.path = str_dup(h->a, path), .state = fs_is_file(path) ? MADE : NONE};
	return g;
}

/* May this pass use the file (*ret_use), or is it to make it? */
static bool is_due(struct make_headers *h, struct str path, bool *ret_use)
{
	pthread_mutex_lock(&h->lock);
	struct header_group *g = find_group(h, path);
	*ret_use = g->state == MADE;
	bool due = g->state == NONE && ++g->seen >= PAYS;
	g->state = due ? MAKING : g->state;
	pthread_mutex_unlock(&h->lock);
	return due;
}

static void settle(struct make_headers *h, struct str path, bool good)
{
	pthread_mutex_lock(&h->lock);
	struct header_group *g = find_group(h, path);
	g->state = good ? MADE : FAILED;
	g->fresh = good;
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

/* The arguments of the job's program, of which the first is the program itself, with the precompiled file. */
static struct strs with_headers(struct arena *tmp, const struct job *j, struct str file)
{
	struct strs ret = {0};
	VEC_EACH (const struct str, word, &j->proc.argv) {
		strs_add(tmp, &ret, *word);
		if (ret.n > 1)
			continue;
		STRS_ADD(tmp, &ret, S("-include-pch"), file);
	}
	return ret;
}

/* Finds the precompiled file for the pass, and makes it if that is due; "" = the pass goes without. */
static struct err *find_headers(
	struct arena *tmp, struct job *j, struct str *ret, struct proc_result *io_costs)
{
	const struct make *m = j->set->user;
	struct str text = S(""), header = path_join(tmp, m->obj, S("hip_runtime.hip"));
	struct str made = path_join(tmp, j->work, S("headers"));
	struct strs making, args = j->proc.argv;
	struct proc_result r;
	bool use;
	*ret = S("");
	args.v++; /* the program */
	args.n--;
	err_free(fs_read_head(tmp, j->inputs.v[0], MAX_BEGIN, &text)); /* the compiler will tell */
	if (!compile_begins(text, j->inputs.v[0]) ||
		!compile_headers(tmp, &args, header, S("headers"), &making))
		return NULL;
	struct hash *h = hash_new(HASH_SHA256);
	hash_word(h, j->set->toolchain);
	VEC_EACH (const struct str, word, &making)
		hash_word(h, *word);
	struct str hex = str_sub(digest_hex(tmp, hash_end(h)), 0, 32);
	struct str path = str_fmt(tmp, "%.*s/%.*s.pch", STR(m->obj), STR(hex));
	if (is_due(m->headers, path, &use)) {
		struct strs argv = {0};
		compile_headers(tmp, &args, header, made, &making);
		strs_add(tmp, &argv, j->proc.argv.v[0]);
		strs_add_all(tmp, &argv, &making);
		TRY(job_run_program(tmp, j, &argv, &r));
		proc_add_costs(io_costs, &r);
		use = !r.status && fs_is_file(made);
		if (use)
			TRY(fs_rename(made, path));
		settle(m->headers, path, use);
	}
	*ret = use ? path : S("");
	return NULL;
}

struct err *make_run_pass(
	struct arena *tmp, struct job *j, struct proc_result *ret, struct strs *io_inputs)
{
	const struct make *m = j->set->user;
	struct proc_result costs = {0};
	struct str file;
	(void)io_inputs;
	TRY(find_headers(tmp, j, &file, &costs));
	struct strs argv = file.n ? with_headers(tmp, j, file) : j->proc.argv;
	TRY(job_run_program(tmp, j, &argv, ret));
	proc_add_costs(&costs, ret);
	if (file.n && ret->status) { /* its messages are those without */
		TRY(job_run_program(tmp, j, &j->proc.argv, ret));
		proc_add_costs(&costs, ret);
		if (!ret->status) {
			settle(m->headers, file, false);
			TRY(fs_remove(file));
		}
	}
	ret->start = costs.start;
	ret->seconds = costs.seconds;
	ret->cpu = costs.cpu;
	ret->memory = costs.memory;
	return NULL;
}
