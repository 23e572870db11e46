/* Finds the environment variables for a GPU and a torch; see environment.h. */
#include "know/environment.h"

#include "base/map.h"
#include "know/rule.h"
#include "machine/root.h"

/* The memory of a compile of PyTorch: the 90th percentile and the largest (from the compiles in cc/history.c). */
static const uint64_t usual = 850ull << 20, largest = 2100ull << 20;

struct here {
	struct str targets, device_libs, sysdeps, library_path;
	bool has_library_path;
	unsigned jobs;
};

static const struct json_field here_fields[] = FIELDS_ONLY(
	struct here, targets, device_libs, sysdeps, library_path, has_library_path, jobs);

/* Ranks active environments first. Of several active ones (the system's and the user's), one with a torch wins. */
static unsigned rank(const struct machine_python *p)
{
	return 2u * p->active + p->has_torch;
}

bool environment_has(const struct machine_torch *t, struct str target)
{
	const struct target want = target_read(target);
	bool hidden = false;
	VEC_EACH (const struct str, s, &t->shadowed) {
		struct target have = target_read(*s);
		hidden |= have.xnack == FEATURE_OFF && target_covers(&have, &want);
	}
	return !hidden && targets_serve(&t->targets, target);
}

bool environment_serves(const struct machine_torch *t, struct str target)
{
	return environment_has(t, target) && (!t->rocblas.n || targets_serve(&t->rocblas, target));
}

/* A name without its last character is that of a family: gfx1030 and gfx1031, gfx1100 and gfx1103. */
bool environment_borrows(const struct machine_torch *t, const struct machine_gpu *g)
{
	struct str own = g->target, other = g->override_target;
	return own.n && other.n && !str_eq(own, other) &&
	       str_eq(str_sub(own, 0, own.n - 1), str_sub(other, 0, other.n - 1)) &&
	       !environment_serves(t, own) && environment_serves(t, other);
}

const struct machine_python *environment_python(const struct machine *m, struct str path)
{
	const struct machine_python *best = NULL;
	if (path.n)
		return VEC_FIND(const struct machine_python, &m->pythons, path, path);
	VEC_EACH (const struct machine_python, p, &m->pythons)
		if (rank(p) > (best ? rank(best) : 0))
			best = p;
	return best;
}

static void find_sdk(struct arena *a, const struct machine *m, struct here *h)
{
	if (!m->sdks.n || !str_eq(m->sdks.v[0].kind, S("tree")))
		return;
	struct root r = {.a = a, .dir = m->root}; /* links cannot lead out of the root */
	struct str path = m->sdks.v[0].path, inner = str_sub(path, 1, path.n);
	struct err *e = root_open(&r);
	err_free(e);
	if (e)
		return;
	struct str libs = S("lib/llvm/amdgcn/bitcode"), sysdeps = S("lib/rocm_sysdeps/include");
	if (root_exists(&r, path_join(a, inner, libs)) &&
		!root_exists(&r, path_join(a, inner, S("amdgcn/bitcode"))))
		h->device_libs = path_join(a, path, libs);
	if (root_exists(&r, path_join(a, inner, sysdeps)))
		h->sysdeps = path_join(a, path, sysdeps);
}

static struct err *facts_here(struct arena *a, const struct machine *m, const struct node **ret)
{
	struct here h = {0};
	struct strs targets = {0}, stay = {0};
	bool card = false;
	VEC_EACH (const struct machine_gpu, g, &m->gpus)
		card = card || !g->apu;
	VEC_EACH (const struct machine_gpu, g, &m->gpus) {
		const struct gpu *known = gpu_by_name(g->target); /* a plan refuses others */
		bool beside = card && g->apu; /* an APU beside a card does not count */
		if (known && !known->removed && !beside)
			strs_put(a, &targets, g->target);
	}
	h.targets = str_join(a, &targets, S(";"));
	if (m->memory_free)
		h.jobs = m->memory_free < largest
				 ? 1
				 : (unsigned)((m->memory_free - largest) / usual) + 1;
	find_sdk(a, m, &h);
	VEC_EACH (const struct machine_variable, v, &m->variables) {
		struct str rest = v->value, dir;
		while (str_eq(v->name, S("LD_LIBRARY_PATH")) && str_next(&rest, ':', &dir))
			if (str_contains(dir, S("rocm")))
				h.has_library_path = true;
			else
				strs_add(a, &stay, dir);
	}
	h.library_path = str_join(a, &stay, S(":"));
	return json_parse(a, json_document(a, 0, here_fields, &h), S("facts"), ret);
}

/* Adds the variables that should not be set according to the rules of `doctor`. */
static struct err *add_findings(
	struct arena *a, const struct node *facts, struct environment_lines *ret)
{
	struct findings found = {0};
	/* The id alone decides what helps, and a recording may have hundreds of GPUs, each with a finding. */
	MAP(asked, a);
	TRY(rules_judge_facts(a, facts, &found));
	VEC_EACH (const struct finding, f, &found) {
		struct rule_actions actions;
		if (!map_put(&asked, str_from(f->id), NULL))
			continue;
		TRY(rules_actions(a, facts, str_from(f->id), &actions));
		VEC_EACH (const struct rule_action, x, &actions) {
			if (!x->unset.n || VEC_FIND(struct environment_line, ret, name, x->unset))
				continue;
			struct environment_line *l = VEC_PUSH(a, ret);
			*l = (struct environment_line){.name = x->unset,
				.why = f->message,
				.unset = true,
				.confidence = f->rule->confidence};
			strs_add_words(a, &l->evidence, f->rule->evidence);
		}
	}
	return NULL;
}

struct err *environment_of(struct arena *a, const struct machine *m,
	const struct machine_python *python, bool build, struct environment_lines *ret)
{
	const struct node *facts, *here, *list;
	TRY(facts_of(a, m, &facts));
	TRY(facts_here(a, m, &here));
	struct scope top = {.value = facts}, about = {S("here"), here, &top};
	struct scope sdk = {S("sdk"), NULL, &about}, py = {S("python"), NULL, &sdk};
	list = node_get(facts, S("sdks"));
	sdk.value = list && list->n ? list->v : NULL;
	list = node_get(facts, S("pythons"));
	py.value = python && list ? &list->v[python - m->pythons.v] : NULL;
	*ret = (struct environment_lines){0};
	TABLE_EACH (environment, e) {
		enum truth t = TRUTH_NO;
		if (build || !e->build)
			TRY_CTX(predicate_ask(a, &py, str_from(e->when), NULL, &t),
				"environment '%s'", e->name);
		if (t != TRUTH_YES)
			continue;
		struct environment_line *l = VEC_PUSH(a, ret);
		*l = (struct environment_line){.name = str_from(e->name),
			.value = facts_expand(a, &py, str_from(e->value)),
			.why = facts_expand(a, &py, str_from(e->why)),
			.unset = !e->value,
			.build = e->build,
			.confidence = e->confidence};
		strs_add_words(a, &l->evidence, e->evidence);
	}
	TRY(add_findings(a, facts, ret));
	VEC_SORT(ret, str_order);
	return NULL;
}
