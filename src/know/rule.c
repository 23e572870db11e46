/* Evaluates rules over the facts of a machine; see rule.h. */
#include "know/rule.h"

#include "know/address.h"
#include "know/diagnosis.h"

enum { MATCHES_MAX = 1000 };

/* A place where a rule holds. */
struct rule_match {
	const struct scope *scope;
	struct str key;
	unsigned more; /* further places with this key */
};

struct judge {
	struct arena *a;
	const struct rule *rule;
	VEC(struct rule_match) matches;
};

const struct rule *rule_find(struct str id)
{
	TABLE_EACH (rule, r)
		if (str_eq(str_from(r->id), id))
			return r;
	return NULL;
}

struct strs rule_ids(struct arena *a, bool can_fix)
{
	struct strs ids = {0};
	TABLE_EACH (rule, r) {
		bool can = !can_fix;
		for (const struct rule_fix *x = r->fix; x && x->action; x++)
			can = can || x->set || x->unset;
		if (can)
			strs_put(a, &ids, str_from(r->id));
	}
	return ids;
}

static struct err *ask(struct arena *a, const struct scope *s, const char *when, bool *ret)
{
	enum truth t = TRUTH_YES;
	if (when)
		TRY(predicate_ask(a, s, str_from(when), NULL, &t));
	*ret = t == TRUTH_YES;
	return NULL;
}

/* Finds the places where the rule holds: tries each item of the list, and of the lists nested in it. */
static struct err *ask_each(struct judge *j, const struct scope *s, const char *const *each)
{
	bool holds;
	struct str name, list = str_from(each ? *each : NULL);
	if (list.n) {
		str_cut(list, ' ', &name, &list); /* "gpu in gpus" */
		str_cut(list, ' ', &(struct str){0}, &list);
		const struct node *items = facts_find(s, list);
		if (!items || items->kind != NODE_LIST)
			return NULL;
		NODE_EACH (it, items) {
			struct scope *inner = NEW(j->a, struct scope);
			*inner = (struct scope){.name = name, .value = it, .up = s};
			TRY(ask_each(j, inner, each + 1));
		}
		return NULL;
	}
	TRY(ask(j->a, s, j->rule->when, &holds));
	if (!holds || j->matches.n >= MATCHES_MAX)
		return NULL;
	const char *by = j->rule->group ? j->rule->group : j->rule->message;
	struct str key = facts_expand(j->a, s, str_from(by));
	struct rule_match *m = VEC_FIND(struct rule_match, &j->matches, key, key);
	if (m)
		m->more++;
	else
		*VEC_PUSH(j->a, &j->matches) = (struct rule_match){.scope = s, .key = key};
	return NULL;
}

static struct err *find_matches(
	struct arena *a, const struct node *facts, const struct rule *r, struct judge *ret)
{
	struct scope *top = NEW(a, struct scope);
	*top = (struct scope){.value = facts};
	*ret = (struct judge){.a = a, .rule = r};
	return ask_each(ret, top, r->each);
}

static bool is_silenced(const struct rule *r, const struct findings *found)
{
	for (const char *const *id = r->unless; id && *id; id++)
		VEC_EACH (const struct finding, f, found)
			if (strcmp(f->id, *id) == 0)
				return true;
	return false;
}

static struct err *judge(
	struct arena *a, const struct node *facts, const struct rule *r, struct findings *ret)
{
	struct judge j;
	TRY(find_matches(a, facts, r, &j));
	VEC_EACH (struct rule_match, m, &j.matches) {
		struct node more = {.kind = NODE_STRING, .text = S("")};
		const struct scope s = {.name = S("more"), .value = &more, .up = m->scope};
		if (m->more)
			more.text = str_fmt(a, " and %u more", m->more);
		struct finding *f = finding_add(
			a, ret, r->id, r->severity, facts_expand(a, &s, str_from(r->path)));
		f->rule = r;
		finding_say(a, f, "%.*s", STR(facts_expand(a, &s, str_from(r->message))));
		for (const struct rule_fix *x = r->fix; x && x->action; x++) {
			bool fits;
			TRY(ask(a, &s, x->when, &fits));
			if (!fits)
				continue;
			struct str action = facts_expand(a, &s, str_from(x->action));
			struct str command = address_in_text(a, str_from(x->command));
			command = facts_expand(a, &s, command);
			struct str cost = facts_expand(a, &s, str_from(x->tradeoff));
			finding_fix(a, f, "%.*s%s%.*s%s%s%.*s", STR(action), cost.n ? " (" : "",
				STR(cost), cost.n ? ")" : "", command.n ? ": " : "", STR(command));
		}
	}
	return NULL;
}

struct err *rules_judge_facts(struct arena *a, const struct node *facts, struct findings *ret)
{
	TABLE_EACH (rule, r)
		if (!is_silenced(r, ret))
			TRY_CTX(judge(a, facts, r, ret), "rule '%s'", r->id);
	return NULL;
}

static struct err *judge_machine(struct arena *a, struct machine *m)
{
	const struct node *facts;
	TRY(facts_of(a, m, &facts));
	return rules_judge_facts(a, facts, &m->findings);
}

struct err *machine_examine(struct arena *a, struct str root, struct machine *ret)
{
	TRY(machine_read_all(a, root, ret));
	TRY(judge_machine(a, ret));
	findings_sort(a, &ret->findings);
	return NULL;
}

struct err *machine_native(struct arena *a, struct str root, struct strs *words)
{
	struct strs here = {0}, out = {0};
	struct machine m;
	if (!strs_has(words, S("native")))
		return NULL;
	TRY_CTX(machine_gpus(a, root, &m), "cannot find the GPUs of this machine");
	VEC_EACH (const struct machine_gpu, g, &m.gpus)
		if (g->target.n)
			strs_put(a, &here, g->target);
	if (!here.n) { /* the reason may be in facts that machine_gpus() does not read */
		TRY(machine_read(a, root, &m));
		TRY(judge_machine(a, &m));
		struct err *e = err_new(E_NO_GPU, "'native' finds no AMD GPU in this machine");
		VEC_EACH (const struct finding, f, &m.findings)
			if (f->severity == SEV_ERROR && !e->cause)
				e->cause = err_new(E_NO_GPU, "%.*s", STR(f->message));
		return err_hint(e, "name the targets instead, e.g. --gpu gfx1201,gfx90a");
	}
	VEC_EACH (const struct str, w, words) {
		if (str_eq(*w, S("native")))
			strs_put_all(a, &out, &here);
		else
			strs_add(a, &out, *w);
	}
	*words = out;
	return NULL;
}

static struct err *add_actions(
	struct arena *a, const struct scope *s, const struct rule *r, struct rule_actions *ret)
{
	for (const struct rule_fix *x = r->fix; x && x->action; x++) {
		bool fits;
		TRY(ask(a, s, x->when, &fits));
		if (fits && (x->set || x->unset))
			*VEC_PUSH(a, ret) =
				(struct rule_action){facts_expand(a, s, str_from(x->set)),
					facts_expand(a, s, str_from(x->unset)),
					facts_expand(a, s, str_from(x->tradeoff))};
	}
	return NULL;
}

struct err *rules_actions(
	struct arena *a, const struct node *facts, struct str id, struct rule_actions *ret)
{
	*ret = (struct rule_actions){0};
	TABLE_EACH (rule, r) {
		struct judge j;
		if (!str_eq(str_from(r->id), id))
			continue;
		TRY(find_matches(a, facts, r, &j));
		VEC_EACH (struct rule_match, m, &j.matches)
			TRY(add_actions(a, m->scope, r, ret));
	}
	return NULL;
}

/* ---- JSON ---- */

static const struct json_field refuted_fields[] =
	FIELDS_ONLY(struct diagnosis_refuted, claim, why, evidence);
static const struct json_field applies_fields[] =
	FIELDS_ONLY(struct diagnosis_applies, torch, rocm, gfx, os);

const struct json_field diagnosis_fields[] = {
	FIELDS(struct diagnosis, id, stage, title, cause, confidence, context, generic, inferred),
	FIELD_STRUCT("applies", struct diagnosis, applies, applies_fields),
	FIELD_ROWS("fixes", struct diagnosis, fix, diagnosis_fix_fields),
	FIELD_ROWS("refuted", struct diagnosis, refuted, refuted_fields),
	FIELD_LAST(FIELDS(struct diagnosis, evidence)),
};

static const struct json_field source_fields[] =
	FIELDS_ONLY(struct rule, why, evidence, confidence);

/* clang-format off */
static const struct json_field doctor_finding_fields[] = {
	{.kind = FIELD_MEMBERS, .fields = finding_fields},
	FIELD_LAST(FIELD_FROM(struct finding, rule, source_fields)),
};

/* clang-format on */

const struct json_field machine_report_fields[] = {
	FIELD_CONST("schema", "rocsmith.doctor/1"),
	FIELD_PART("facts", machine_fields),
	FIELD_LAST(FIELD_LIST("findings", struct machine, findings, doctor_finding_fields)),
};

static const struct json_field rule_fix_fields[] =
	FIELDS_ONLY(struct rule_fix, when, action, command, tradeoff);

static void write_severity(struct json *j, const void *rule)
{
	json_str(j, str_from(severity_name(((const struct rule *)rule)->severity)));
}

const struct json_field rule_fields[] = {
	FIELD("id", struct rule, id),
	FIELD_WRITE("severity", write_severity),
	FIELDS(struct rule, each, when, message),
	FIELD_ROWS("fixes", struct rule, fix, rule_fix_fields),
	{.kind = FIELD_MEMBERS, .fields = source_fields},
	{.kind = FIELD_END},
};
