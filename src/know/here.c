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

static bool has_kind(const struct machine *m, bool apu)
{
	VEC_EACH (struct machine_gpu, g, &m->gpus)
		if (g->apu == apu)
			return true;
	return false;
}

/* Those that are so or not, with what is said of them. */
static enum answer is_so(struct asked *q, struct str word)
{
	const struct machine *m = q->m;
	const struct machine_node *kfd = machine_node_at(m, S("/dev/kfd"));
	bool apu = has_kind(m, true);
	const struct {
		struct str word;
		bool known, is;
		const char *yes, *no;
	} facts[] = {
		{S("wsl"), true, m->wsl, "it is WSL", "it is no WSL"},
		{S("container"), true, m->container, "it is a container", "it is no container"},
		{S("virtual"), true, m->virtual, "it is a virtual machine",
			"it is no virtual machine"},
		{S("driver absent"), true, !m->driver.loaded, "amdgpu is not loaded",
			"amdgpu is loaded"},
		{S("no kfd"), true, !kfd, "/dev/kfd is not there", "/dev/kfd is there"},
		{S("kfd denied"), kfd != NULL, kfd && !kfd->usable, "/dev/kfd may not be opened",
			"/dev/kfd may be opened"},
		{S("apu"), m->gpus.n > 0, apu, "its GPU is an APU", "its GPUs are cards"},
		{S("apu beside card"), m->gpus.n > 0, apu && has_kind(m, false),
			"an APU is beside a card", "there is no APU beside a card"},
	};
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (!str_eq(word, facts[i].word) || !facts[i].known)
			continue;
		q->fact = str_from(facts[i].is ? facts[i].yes : facts[i].no);
		return facts[i].is ? YES : NO;
	}
	return UNKNOWN;
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

static enum answer ask(struct asked *q, struct str text)
{
	static const struct str gpu = S_INIT("gpu "), kernel = S_INIT("kernel < ");
	if (str_starts(text, gpu)) {
		q->value = str_sub(text, gpu.n, text.n);
		return has_gpu(q);
	}
	if (str_starts(text, kernel)) {
		q->value = str_sub(text, kernel.n, text.n);
		return older_kernel(q);
	}
	return is_so(q, text);
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
