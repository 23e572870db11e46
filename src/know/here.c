/* Conditions of entries on the machine at hand, or on a recorded one; see diagnosis.h. */
#include <fnmatch.h>

#include "base/version.h"
#include "know/diagnosis.h"

enum answer { NO, YES, UNKNOWN };

struct asked {
	struct arena *a;
	const struct machine *m;
	struct str value; /* what stands behind the word */
	struct str fact;  /* set to what is so here */
};

static enum answer told_by(struct asked *q, bool is, const char *yes, const char *no)
{
	q->fact = str_from(is ? yes : no);
	return is ? YES : NO;
}

static enum answer is_wsl(struct asked *q)
{
	return told_by(q, q->m->wsl, "it is WSL", "it is no WSL");
}

static enum answer is_container(struct asked *q)
{
	return told_by(q, q->m->container, "it is a container", "it is no container");
}

static enum answer is_virtual(struct asked *q)
{
	return told_by(q, q->m->virtual, "it is a virtual machine", "it is no virtual machine");
}

static enum answer lacks_driver(struct asked *q)
{
	return told_by(q, !q->m->driver.loaded, "amdgpu is not loaded", "amdgpu is loaded");
}

static const struct machine_node *kfd_of(const struct machine *m)
{
	VEC_EACH (struct machine_node, n, &m->nodes)
		if (str_eq(n->path, S("/dev/kfd")))
			return n;
	return NULL;
}

static enum answer lacks_kfd(struct asked *q)
{
	return told_by(q, !kfd_of(q->m), "/dev/kfd is not there", "/dev/kfd is there");
}

static enum answer denies_kfd(struct asked *q)
{
	const struct machine_node *n = kfd_of(q->m);
	if (!n)
		return told_by(q, false, "", "/dev/kfd is not there");
	return told_by(q, !n->usable, "/dev/kfd may not be opened", "/dev/kfd may be opened");
}

static enum answer has_kind(struct asked *q, bool beside)
{
	bool apu = false, card = false;
	VEC_EACH (struct machine_gpu, g, &q->m->gpus) {
		apu |= g->apu;
		card |= !g->apu;
	}
	if (!q->m->gpus.n)
		return UNKNOWN;
	if (beside)
		return told_by(
			q, apu && card, "an APU is beside a card", "there is no APU beside a card");
	return told_by(q, apu, "its GPU is an APU", "its GPUs are cards");
}

static enum answer has_apu(struct asked *q)
{
	return has_kind(q, false);
}

static enum answer has_both(struct asked *q)
{
	return has_kind(q, true);
}

static enum answer has_gpu(struct asked *q)
{
	struct strs wanted = str_split(q->a, q->value, ',');
	struct strs have = {0};
	VEC_EACH (struct machine_gpu, g, &q->m->gpus)
		strs_put(q->a, &have, g->target);
	if (!have.n)
		return UNKNOWN;
	q->fact = str_fmt(q->a, "its GPU is %.*s", STR(str_join(q->a, &have, S(", "))));
	for (size_t i = 0; i < have.n; i++)
		for (size_t k = 0; k < wanted.n; k++)
			if (!fnmatch(str_z(q->a, wanted.v[k]), str_z(q->a, have.v[i]), 0))
				return YES;
	return NO;
}

static struct str numbers_of(struct str s)
{
	size_t n = 0;
	while (n < s.n && (ascii_digit(s.p[n]) || (s.p[n] == '.' && n)))
		n++;
	return str_sub(s, 0, n);
}

static enum answer older_kernel(struct asked *q)
{
	const struct version *have, *limit;
	struct err *e = version_parse(q->a, numbers_of(q->m->kernel), &have);
	if (!e)
		e = version_parse(q->a, q->value, &limit);
	if (e) {
		err_free(e);
		return UNKNOWN;
	}
	bool older = version_cmp(have, limit) < 0;
	q->fact = str_fmt(q->a, "kernel %.*s is %s %.*s", STR(q->m->kernel),
		older ? "older than" : "not older than", STR(q->value));
	return older ? YES : NO;
}

static const struct condition {
	struct str word;
	enum answer (*ask)(struct asked *q);
} conditions[] = {
	{S_INIT("wsl"), is_wsl},
	{S_INIT("container"), is_container},
	{S_INIT("virtual"), is_virtual},
	{S_INIT("driver absent"), lacks_driver},
	{S_INIT("no kfd"), lacks_kfd},
	{S_INIT("kfd denied"), denies_kfd},
	{S_INIT("apu beside card"), has_both},
	{S_INIT("apu"), has_apu},
	{S_INIT("gpu "), has_gpu},
	{S_INIT("kernel < "), older_kernel},
};

static enum answer ask(struct asked *q, struct str text)
{
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		if (!str_starts(text, conditions[i].word))
			continue;
		q->value = str_sub(text, conditions[i].word.n, text.n);
		return conditions[i].ask(q);
	}
	return UNKNOWN;
}

/* "fits this machine: ..."; ret_no: a condition does not hold. */
static struct str compare(
	struct arena *a, const struct diagnosis *d, const struct machine *m, bool *ret_no)
{
	struct strs facts = {0};
	bool no = false, unknown = false;
	for (const char *const *w = d->when; *w; w++) {
		struct asked q = {.a = a, .m = m};
		enum answer answer = ask(&q, str_from(*w));
		if (answer == UNKNOWN)
			q.fact = str_fmt(a, "whether '%s' holds is not known", *w);
		no |= answer == NO;
		unknown |= answer == UNKNOWN;
		strs_put(a, &facts, q.fact);
	}
	*ret_no = no;
	return str_fmt(a, "%s this machine: %.*s",
		no        ? "does not fit"
		: unknown ? "may fit"
			  : "fits",
		STR(str_join(a, &facts, S(", "))));
}

void log_compare(struct arena *a, struct log_answer *answer, const struct machine *m, bool own)
{
	VEC_EACH (struct log_cause, c, &answer->causes) {
		bool no = false;
		if (!c->entry->when || c->context_only)
			continue;
		c->here = compare(a, c->entry, m, &no);
		c->context_only = own && no && c->entry->decides;
		c->reason = c->context_only ? c->here : c->reason;
	}
	log_sort(answer);
}
