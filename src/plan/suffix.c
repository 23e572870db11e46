/* Makes the version of a wheel that is built from the sources of a known project: the version of the sources and, as a
 * local version, the ROCm it is built for.
 *
 *     2.6.0+rocm6.4           sources of a release
 *     2.6.0+devrocm7.2.dev0   with an SDK that is not a release
 *     2.6.0+git1a2b3c4d.rocm6.4   a git checkout
 *     2.6.0+rocm6.4.post2     the second build of these sources: build number 2, as PyTorch's setup.py writes it
 *
 * These are the suffixes of TheRock's wheels (ROCm/TheRock: "Versioning"). While the SDK is not installed, its ROCm
 * version is unknown: the wish then has the placeholder @rocm@, which plan_settle() replaces. */
#include "base/fs.h"
#include "know/know.h"
#include "lang/python/version.h"
#include "plan/plan_int.h"

enum { SHA_SHOWN = 8 };

static struct str put_wheels(struct arena *a, const struct plan *plan, struct str text)
{
	struct strs devices = {0};
	VEC_EACH (const struct str, gpu, &plan->gpus)
		strs_put(a, &devices,
			str_fmt(a, "device-%.*s", STR(str_sub(*gpu, 0, str_chr(*gpu, ':')))));
	text = str_replace(a, text, S("@rocm-wheels@"), str_from(know_wheels_table()->requires));
	return str_replace(a, text, S("@devices@"), str_join(a, &devices, S(",")));
}

struct str plan_rocm_wheels(struct arena *a, const struct plan *plan, const struct sdk *sdk)
{
	const struct plan_foreign *f = plan->foreign;
	if ((f && (f->torch || plan->features.n)) || !sdk_rocm(a, sdk).n ||
		!str_eq(path_base(sdk->hip_path), S("_rocm_sdk_devel")))
		return S("");
	return sdk_rocm_put(a, sdk, put_wheels(a, plan, S("@rocm-wheels@")));
}

/* Replaces SDK_ROCM by the SDK's ROCm version. Makes new lists, which other copies of the plan do not share. */
static void put_rocm(struct arena *a, const struct sdk *sdk, struct plan *plan)
{
	if (!plan->foreign)
		return;
	struct plan_foreign *f = NEW(a, struct plan_foreign);
	*f = *plan->foreign;
	f->env = (struct strs){0};
	f->files.v = NULL;
	f->files.n = f->files.cap = 0;
	VEC_EACH (const struct str, line, &plan->foreign->env)
		strs_add(a, &f->env, sdk_rocm_put(a, sdk, *line));
	VEC_EACH (const struct plan_file, file, &plan->foreign->files)
		*VEC_PUSH(a, &f->files) =
			(struct plan_file){file->path, sdk_rocm_put(a, sdk, file->text)};
	plan->version = sdk_rocm_put(a, sdk, plan->version);
	plan->foreign = f;
}

void plan_settle(struct arena *a, const struct plan_wish *wish, const struct sdk *sdk,
	const struct findings *findings, struct plan *ret)
{
	*ret = wish->plan;
	ret->findings = *findings;
	if (sdk)
		put_rocm(a, sdk, ret);
}

void suffix_meet(struct arena *a, struct plan_wish *wish)
{
	struct sdk_spec any = wish->plan.sdk;
	struct sdk *sdk = NEW(a, struct sdk);
	any.components = (struct strs){0};
	struct err *e = sdk_open(a, &any, sdk);
	if (!e) {
		wish->here = sdk;
		put_rocm(a, sdk, &wish->plan);
	}
	err_free(e);
}

struct err *suffix_choose(struct arena *a, const struct plan_request *r, struct plan_wish *wish)
{
	struct plan *plan = &wish->plan;
	struct str commit, release = plan->foreign->release, suffix = r->suffix;
	const struct version *v;
	suffix_meet(a, wish);
	bool dev = wish->here && str_contains(sdk_rocm(a, wish->here), S("dev"));
	TRY(source_commit(a, plan->project, &commit));
	if (suffix.p) {
		struct err *e = version_parse(a, str_fmt(a, "1%.*s", STR(suffix)), &v);
		bool fits = !e && (!suffix.n || suffix.p[0] == '+');
		err_free(e);
		if (!fits)
			return err_hint(
				err_new(E_USAGE, "'%.*s' cannot follow a version", STR(suffix)),
				"write it like +rocm6.4, or leave it empty");
	} else {
		suffix = commit.n ? str_fmt(a, "git%.*s.", STR(str_sub(commit, 0, SHA_SHOWN)))
				  : S("");
		suffix = str_fmt(a, "+%.*s%srocm" SDK_ROCM, STR(suffix), dev ? "dev" : "");
	}
	uint64_t number = r->number ? r->number : 1;
	const char *said = getenv("PYTORCH_BUILD_NUMBER");
	if (said && !r->number && strs_variable(&plan->foreign->env, S("PYTORCH_BUILD_NUMBER")) &&
		!str_u64(str_from(said), 10, &number))
		number = 1; /* features_meet_environment() refuses the nonsense */
	struct str post = number > 1 ? str_fmt(a, ".post%llu", (unsigned long long)number) : S("");
	struct str base = str_fmt(a, "%.*s%.*s", STR(release), STR(suffix));
	plan->version = str_fmt(a, "%.*s%.*s", STR(base), STR(post));
	VEC_EACH (struct str, line, &plan->foreign->env) {
		*line = put_wheels(a, plan, *line);
		*line = str_replace(a, *line, S("@version@"), base);
		*line = str_replace(a, *line, S("@post@"), post);
		*line = str_replace(
			a, *line, S("@number@"), str_fmt(a, "%llu", (unsigned long long)number));
		*line = str_replace(a, *line, S("@suffix@"), suffix);
		*line = str_replace(a, *line, S("@torch@"), known_torch(&plan->foreign->with));
	}
	if (wish->here)
		put_rocm(a, wish->here, plan);
	plan_explain(a, plan, "version", str_replace(a, plan->version, S(SDK_ROCM), S("")),
		"'%.*s' of the sources, and %s%s", STR(release),
		r->suffix.p  ? "what --version-suffix says"
		: wish->here ? "what it is built for"
			     : "what it is built for: the SDK says which ROCm once it is installed",
		post.n ? "; the build number follows" : "");
	return NULL;
}
