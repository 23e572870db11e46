/* Decides the features of a project by the rules of its description and the user's wishes, and adds the consequences
 * for the build. */
#include <stdlib.h>

#include "base/fs.h"
#include "base/glob.h"
#include "plan/plan_int.h"

/* A feature being decided. */
struct deciding {
	struct arena *a;
	const struct project *project;
	struct plan *plan;
	const struct project_feature *feature;
	struct strs choices;
	struct str wish; /* the user's choice, or "" */
	struct str
		heard; /* the variable of the user's environment that makes it, NAME=VALUE, or "" */
};

/* The feature whose rules a feature has; NULL if there is no such one. */
static const struct project_feature *with_rules(
	const struct project *p, const struct project_feature *f)
{
	return f->like.n ? VEC_FIND(struct project_feature, &p->features, name, f->like) : f;
}

static struct strs choices_of(struct arena *a, const struct project_feature *f)
{
	struct strs list = {0};
	VEC_EACH (const struct feature_choice, c, &f->choices)
		strs_add(a, &list, c->is);
	return list;
}

/* ---- checking the description ---- */

static struct err *check_feature(
	struct arena *a, const struct project *p, const struct project_feature *f)
{
	const struct project_feature *like = with_rules(p, f);
	struct strs choices = choices_of(a, f);
	if (!f->name.n || !like || !like->rules.n || !f->choices.n)
		return project_error(p, S("features"), E_PROJECT,
			"the feature '%.*s' needs a name, rules, and 'env' or 'choices'",
			STR(f->name));
	VEC_EACH (const struct feature_rule, r, &like->rules) {
		struct str choice = r->choose.n ? r->choose : r->refuse;
		if (r->choose.n && r->refuse.n)
			choice = S("");
		if (!strs_has(&choices, choice) || !r->why.n)
			return project_error(p, S("features"), E_PROJECT,
				"a rule of the feature '%.*s' needs a 'why', and 'choose' or "
				"'refuse' with one of: %.*s",
				STR(f->name), STR(str_join(a, &choices, S(", "))));
	}
	return NULL;
}

/* ---- the user's wishes ---- */

static struct err *check_wishes(struct arena *a, const struct plan_request *r,
	const struct project *p, const struct plan *plan)
{
	struct strs names = {0};
	VEC_EACH (const struct project_feature, f, &p->features)
		strs_add(a, &names, f->name);
	VEC_EACH (const struct str, wish, &r->features) {
		struct str name, choice;
		if (!str_cut(*wish, '=', &name, &choice))
			return err_hint(
				err_new(E_USAGE, "'%.*s' of --feature has no choice", STR(*wish)),
				"write it like %.*s=off", STR(*wish));
		const struct project_feature *f =
			VEC_FIND(struct project_feature, &p->features, name, name);
		if (!f) {
			struct err *e = err_new(E_USAGE, "'%.*s' has no feature '%.*s'",
				STR(plan->name), STR(name));
			err_near(e, name, &names);
			return names.n ? err_hint(e, "it has: %.*s",
						 STR(str_join(a, &names, S(", "))))
				       : err_hint(e, "its description names none");
		}
		struct strs choices = choices_of(a, f);
		if (!strs_has(&choices, choice))
			return err_hint(err_new(E_USAGE, "'%.*s' does not take '%.*s'", STR(name),
						STR(choice)),
				"it takes: %.*s", STR(str_join(a, &choices, S(", "))));
	}
	return NULL;
}

/* ---- the user's environment ---- */

static struct str variable(struct str name)
{
	ARENA(tmp);
	const char *value = getenv(str_z(&tmp, name));
	return value ? str_from(value) : S("");
}

/* Do two values say the same? The words of a switch are those of PyTorch's build scripts. */
static bool same_value(struct str x, struct str y)
{
	static const char *const words[] = {
		"1", "on", "yes", "true", "y", "0", "off", "no", "false", "n"};
	enum { WORDS = sizeof(words) / sizeof(*words) };
	ARENA(tmp);
	struct str v[] = {str_lower(&tmp, x), str_lower(&tmp, y)};
	int is[] = {-1, -1};
	for (size_t i = 0; i < 2 * WORDS; i++)
		if (str_eq(v[i / WORDS], str_from(words[i % WORDS])))
			is[i / WORDS] = i % WORDS < WORDS / 2;
	return is[0] < 0 ? str_eq(x, y) : is[0] == is[1];
}

/* Takes the user's choice from the variables that the project's own build system would read. */
static void hear(struct deciding *d)
{
	VEC_EACH (const struct feature_choice, c, &d->feature->choices)
		for (size_t i = 0; i < c->env.n && !d->wish.n; i++) {
			struct str name, value;
			str_cut(c->env.v[i], '=', &name, &value);
			struct str said = variable(name);
			if (!said.n || !same_value(said, value))
				continue;
			d->wish = c->is;
			d->heard = str_fmt(d->a, "%.*s=%.*s", STR(name), STR(said));
		}
}

struct err *features_meet_environment(const struct plan *plan)
{
	static const char *const spoken[] = {
		"USE_*", "BUILD_*", "PYTORCH_*", "TORCHVISION_*", "TRITON_*", "BLAS", NULL};
	ARENA(tmp);
	if (!plan->foreign)
		return NULL;
	VEC_EACH (const struct str, line, &plan->foreign->env) {
		struct str name, value;
		str_cut(*line, '=', &name, &value);
		struct str said = variable(name);
		if (glob_match_any(spoken, name) && said.n && !same_value(said, value))
			return err_hint(
				err_new(E_USAGE,
					"your environment has %.*s=%.*s, and the plan of '%.*s' "
					"sets it to '%.*s'",
					STR(name), STR(said), STR(plan->name),
					STR(str_replace(&tmp, value, S(SDK_ROCM), S("VERSION")))),
				"unset %.*s; --feature, --version-suffix and --build-number choose "
				"what a plan leaves open",
				STR(name));
	}
	return NULL;
}

/* ---- deciding ---- */

/* Finds the first rule that holds and refuses this choice, or with choice "" the first that holds and chooses one;
 * *ret is NULL if there is none. */
static struct err *find_rule(
	const struct deciding *d, struct str choice, const struct feature_rule **ret)
{
	const struct project_feature *f = with_rules(d->project, d->feature);
	*ret = NULL;
	for (size_t i = 0; i < f->rules.n && !*ret; i++) {
		const struct feature_rule *r = &f->rules.v[i];
		bool holds = choice.n ? str_eq(r->refuse, choice) : r->choose.n > 0;
		if (holds)
			TRY(when_holds(d->a, &r->when, d->plan, &holds));
		*ret = holds ? r : NULL;
	}
	return NULL;
}

static struct err *decide(const struct deciding *d, struct plan_feature *ret)
{
	const struct feature_rule *rule, *no;
	*ret = (struct plan_feature){.name = d->feature->name, .about = d->feature->about};
	if (d->wish.n) {
		TRY(find_rule(d, d->wish, &no));
		if (no) {
			struct err *e = err_new(E_PLAN, "'%.*s' cannot be '%.*s': %.*s",
				STR(ret->name), STR(d->wish), STR(no->why));
			if (d->heard.n)
				err_hint(e, "%.*s of your environment asks for it", STR(d->heard));
			return err_hint(e, "'rocsmith why' tells what can be chosen%s%.*s",
				no->source.n ? "; see " : "", STR(no->source));
		}
		ret->choice = d->wish;
		ret->why = d->heard.n ? str_fmt(d->a, "asked for by %.*s of your environment",
						STR(d->heard))
				      : S("asked for");
		ret->asked = true;
		return NULL;
	}
	TRY(find_rule(d, S(""), &rule));
	if (!rule)
		return project_error(d->project, S("features"), E_PROJECT,
			"no rule chooses for the feature '%.*s' here", STR(ret->name));
	ret->choice = rule->choose;
	TRY(find_rule(d, rule->choose, &no));
	const struct feature_rule *first = no;
	for (size_t i = 0; no && i < d->choices.n; i++) {
		ret->choice = d->choices.v[i];
		TRY(find_rule(d, ret->choice, &no));
	}
	if (no)
		return err_new(E_PLAN, "nothing can be chosen for '%.*s': %.*s", STR(ret->name),
			STR(no->why));
	if (!first && !str_eq(ret->choice, S("on"))) /* the reason against "on" explains more */
		TRY(find_rule(d, S("on"), &first));
	ret->why = first ? first->why : rule->why;
	ret->source = first ? first->source : rule->source;
	return NULL;
}

/* ---- consequences for the build ---- */

static struct err *take_needs(struct arena *a, const struct project *p, struct plan *plan)
{
	VEC_EACH (const struct need, n, &p->needs) {
		bool holds;
		TRY(when_holds(a, &n->when, plan, &holds));
		if (!holds)
			continue;
		strs_add_all(a, &plan->foreign->env, &n->env);
		strs_add_all(a, &plan->foreign->requires, &n->requires);
		strs_add_all(a, &plan->foreign->options, &n->options);
		strs_put_all(a, &plan->sdk.components, &n->components);
		if (n->write.n && !path_is_inside(n->write))
			return project_error(p, S("needs"), E_PROJECT,
				"'%.*s' is outside of the project", STR(n->write));
		if (n->write.n)
			*VEC_PUSH(a, &plan->foreign->files) = (struct plan_file){n->write, n->text};
		if (n->cmake.n) {
			plan->foreign->configure = n->configure;
			plan->foreign->cmake = n->cmake;
		}
		if (!str_eq(n->libc, S("sdk")))
			continue;
		plan->host_native = false;
		plan_explain(a, plan, "host libc", S("the SDK's"), "%.*s", STR(n->why));
	}
	return NULL;
}

struct err *features_choose(
	struct arena *a, const struct plan_request *r, const struct project *p, struct plan *plan)
{
	struct plan_foreign *build = plan->foreign;
	TRY(check_wishes(a, r, p, plan));
	VEC_EACH (const struct project_feature, f, &p->features) {
		bool has;
		struct plan_feature chosen;
		struct str name, choice;
		struct deciding d = {.a = a,
			.project = p,
			.plan = plan,
			.feature = f,
			.choices = choices_of(a, f)};
		VEC_EACH (const struct str, w, &r->features) /* the last wish counts */
			if (str_cut(*w, '=', &name, &choice) && str_eq(name, f->name))
				d.wish = choice;
		TRY(check_feature(a, p, f));
		TRY(when_version(a, build->release, f->versions, &has));
		if (!has && d.wish.n)
			return err_new(E_PLAN, "'%.*s' %.*s has no '%.*s': that is of %.*s",
				STR(plan->name), STR(build->release), STR(f->name),
				STR(f->versions));
		if (!has)
			continue;
		hear(&d);
		TRY(decide(&d, &chosen));
		*VEC_PUSH(a, &plan->features) = chosen;
		VEC_EACH (const struct feature_choice, c, &f->choices) {
			if (!str_eq(c->is, chosen.choice))
				continue;
			strs_add_all(a, &build->env, &c->env);
			strs_add_all(a, &build->precompile, &c->precompile);
			strs_put_all(a, &plan->sdk.components, &c->components);
		}
	}
	return take_needs(a, p, plan);
}
