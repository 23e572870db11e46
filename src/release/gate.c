/* Judges whether the tests of a set were passed; see release.h. */
#include "release/release.h"

#include "base/fs.h"
#include "base/hash.h"
#include "formats/node.h"
#include "lang/python/version.h"
#include "testrun/testrun.h"

struct evidence {
	struct str path;
	struct strs gpus; /* the GPUs that tests saw; "cpu" if there was none */
	struct test_evidence run;
};
struct waiver {
	struct str gpu, python, name, reason, expires; /* gpu, python: "*" = any */
};
struct waivers {
	VEC(struct waiver) waivers;
};

static const struct json_field waiver_fields[] =
	FIELDS_ONLY(struct waiver, gpu, python, name, reason, expires);
static const struct json_field waivers_fields[] = {
	FIELD_LAST(FIELD_LIST("waivers", struct waivers, waivers, waiver_fields)),
};

/* ---- files ---- */

static struct err *read_evidence(struct arena *a, struct str path, struct evidence *ret)
{
	*ret = (struct evidence){.path = path};
	TRY_CTX(evidence_read(a, path, false, &ret->run), "cannot read the evidence '%.*s'",
		STR(path));
	struct str rest = ret->run.gpu.n ? ret->run.gpu : S("cpu"), gpu;
	while (str_next(&rest, ',', &gpu))
		strs_put(a, &ret->gpus, gpu);
	return NULL;
}

static struct err *read_waivers(struct arena *a, struct str path, struct waivers *ret)
{
	const struct node *doc;
	if (!path.n)
		return NULL;
	TRY_CTX(yaml_read(a, path, &doc), "cannot read the waivers '%.*s'", STR(path));
	TRY(json_fields_read(a, doc, waivers_fields, ret));
	VEC_EACH (const struct waiver, w, &ret->waivers) {
		if (!w->gpu.n || !w->python.n || !w->name.n || !w->reason.n)
			return err_new(E_SYNTAX,
				"a waiver in '%.*s' lacks gpu, python, name or reason", STR(path));
		if (!str_is_day(w->expires))
			return err_new(E_SYNTAX,
				"the waiver of '%.*s' in '%.*s' expires on no day such as "
				"2026-12-31",
				STR(w->name), STR(path));
	}
	return NULL;
}

/* ---- what was tested ---- */

static bool is_hash_of(const struct test_wheel *t, const struct release_wheel *w)
{
	return str_eq(t->sha256, w->sha256) || (w->origin.n && str_eq(t->sha256, w->origin));
}

/* Evidence is about the set if it has one of its wheels, and no other wheel of the same name: that of a file, or of a
 * project, which may have a wheel for each Python. */
static bool is_about(struct arena *a, const struct release_set *set, const struct evidence *e,
	struct findings *ret)
{
	bool any = false;
	VEC_EACH (const struct test_wheel, t, &e->run.wheels) {
		struct str project = package_name(a, t->name, '-'), other = S("");
		bool ours = false;
		VEC_EACH (const struct release_wheel, w, set) {
			bool same =
				str_eq(path_base(t->name), w->file) || str_eq(project, w->project);
			ours = ours || is_hash_of(t, w);
			other = same ? w->file : other;
		}
		any = any || ours;
		if (ours || !other.n)
			continue;
		finding_note(a, ret, "gate-other", e->path,
			"it is about another '%.*s', with the hash %.*s", STR(other),
			STR(t->sha256));
		return false;
	}
	if (!any)
		finding_note(a, ret, "gate-other", e->path, "it is about none of these wheels");
	return any;
}

/* Does a wheel require another one, also where no extra is asked for? */
static bool requires_wheel(
	const struct release_wheel *user, const struct release_wheel *w, struct str python)
{
	ARENA(tmp);
	bool needed = false;
	VEC_EACH (const struct dist_header, it, &user->headers) {
		struct requirement r;
		if (needed || !dist_header_is(it, "requires-dist"))
			continue;
		struct err *e = dist_header_requirement(&tmp, it, &r);
		needed = !e && str_eq(package_name(&tmp, r.name, '-'), w->project) &&
			 requirement_may_hold(&r, python, S("x86_64"), S(""));
		err_free(e);
	}
	return needed;
}

/* Is a wheel part of what runs on this GPU: code for it, or a project that such code requires? */
static bool takes_part(const struct release_set *set, const struct release_wheel *w, struct str gpu,
	struct str python)
{
	ARENA(tmp);
	bool cpu = str_eq(gpu, S("cpu")), needed = cpu;
	if (!release_fits(&tmp, w, python))
		return false;
	if (cpu || targets_serve(&w->gpus, gpu))
		return true;
	for (size_t i = 0; i < set->n && !w->gpus.n && !release_device(w->project).n; i++) {
		const struct release_wheel *user = &set->v[i];
		needed = needed ||
			 (targets_serve(&user->gpus, gpu) && release_fits(&tmp, user, python) &&
				 requires_wheel(user, w, python));
	}
	return needed;
}

static bool has_wheel(const struct evidence *e, const struct release_wheel *w)
{
	VEC_EACH (const struct test_wheel, t, &e->run.wheels)
		if (is_hash_of(t, w))
			return true;
	return false;
}

struct gate_pair {
	const struct release_set *set;
	struct str gpu, python;
	const struct evidence *v;
	size_t n;
};

/* Is every other shard of the same run, with this wheel, there, too? */
static bool is_whole(
	const struct gate_pair *p, const struct test_evidence *e, const struct release_wheel *w)
{
	for (unsigned shard = 1; shard && shard <= e->shards; shard++) {
		bool there = false;
		for (size_t i = 0; i < p->n && !there; i++) {
			const struct test_evidence *o = &p->v[i].run;
			there = o->shard == shard && o->shards == e->shards &&
				str_eq(o->suite, e->suite) && str_eq(o->config, e->config) &&
				str_eq(o->gpu, e->gpu) && str_eq(o->python, e->python) && o->pass &&
				has_wheel(&p->v[i], w);
		}
		if (!there)
			return false;
	}
	return true;
}

/* Is it a passed run of this wheel for this GPU and Python? */
static bool counts_for(
	const struct gate_pair *p, const struct evidence *e, const struct release_wheel *w)
{
	struct strs own = {.v = (struct str[]){p->gpu}, .n = 1};
	bool gpu = strs_has(&e->gpus, p->gpu) || strs_has(&e->gpus, target_read(p->gpu).name);
	VEC_EACH (const struct str, other, &e->gpus)
		gpu = gpu || targets_serve(&own, *other);
	return gpu && e->run.counts[TEST_PASSED] && e->run.pass &&
	       (!p->python.n || str_eq(e->run.python, p->python)) && has_wheel(e, w) &&
	       is_whole(p, &e->run, w);
}

/* The names of the evidence that together covers a GPU and a Python; ret_lacks: a wheel that none has. */
static struct str covered(struct arena *a, const struct gate_pair *p, struct str *ret_lacks)
{
	struct strs by = {0};
	*ret_lacks = S("");
	VEC_EACH (const struct release_wheel, w, p->set) {
		bool tested = !takes_part(p->set, w, p->gpu, p->python);
		for (size_t i = 0; i < p->n && !tested; i++) {
			const struct evidence *e = &p->v[i];
			tested = counts_for(p, e, w);
			if (tested)
				strs_put(a, &by,
					str_fmt(a, "%.*s sha256:%.*s", STR(path_base(e->path)),
						STR(e->run.sha256)));
		}
		if (!tested)
			*ret_lacks = w->file;
	}
	strs_sort(&by);
	return ret_lacks->n ? S("") : str_join(a, &by, S(", "));
}

static void judge_pair(struct arena *a, const struct gate_pair *p, const struct waivers *waivers,
	struct release_gate *io)
{
	struct str lacks, by = covered(a, p, &lacks);
	bool waived = false;
	VEC_EACH (const struct waiver, w, &waivers->waivers) {
		bool gpu = str_eq(w->gpu, S("*")) || str_eq(w->gpu, p->gpu);
		bool python = str_eq(w->python, S("*")) || str_eq(w->python, p->python);
		if (!lacks.n || waived || !gpu || !python)
			continue;
		waived = str_cmp(w->expires, io->today) >= 0;
		by = str_fmt(a, "waived by %.*s until %.*s: %.*s", STR(w->name), STR(w->expires),
			STR(w->reason));
		if (!waived)
			finding_note(a, &io->findings, "gate-waiver-expired", io->waivers,
				"the waiver of %.*s for %.*s expired on %.*s", STR(w->name),
				STR(w->gpu), STR(w->expires));
	}
	if (!lacks.n || waived) {
		*VEC_PUSH(a, &io->proofs) = (struct release_proof){p->gpu, p->python, by, waived};
		return;
	}
	struct finding *f = finding_note(a, &io->findings, "gate-missing", lacks,
		"no test of it for %.*s%s%.*s was passed", STR(p->gpu),
		p->python.n ? " and Python " : "", STR(p->python));
	finding_fix(a, f, "name the result of one with --require, or a waiver with --waivers");
}

struct err *release_judge(struct arena *a, const struct release_set *set, struct release_gate *io)
{
	VEC(struct evidence) all = {0};
	struct waivers waivers = {0};
	struct strs gpus = {0}, pythons = release_pythons(a, set);
	VEC_EACH (const struct str, path, &io->evidence) {
		struct evidence e;
		TRY(read_evidence(a, *path, &e));
		if (!is_about(a, set, &e, &io->findings))
			continue;
		if (!e.run.pass)
			finding_note(a, &io->findings, "gate-failed", *path,
				"the test for %.*s and Python %.*s failed",
				STR(str_join(a, &e.gpus, S(", "))), STR(e.run.python));
		*VEC_PUSH(a, &all) = e;
	}
	TRY(read_waivers(a, io->waivers, &waivers));
	VEC_EACH (const struct release_wheel, w, set)
		strs_put_all(a, &gpus, &w->gpus);
	targets_sort(&gpus);
	if (!gpus.n)
		strs_add(a, &gpus, S("cpu"));
	VEC_EACH (const struct str, gpu, &gpus)
		VEC_EACH (const struct str, python, &pythons) {
			const struct gate_pair p = {set, *gpu, *python, all.v, all.n};
			judge_pair(a, &p, &waivers, io);
		}
	return NULL;
}
