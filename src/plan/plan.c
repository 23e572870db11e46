/* Makes a plan from the project and the machine, and records the reason for each decision. */
#include "plan/plan.h"

#include <stdlib.h>

#include "archive/apt.h"
#include "base/fs.h"
#include "base/glob.h"
#include "changes/view.h"
#include "hipify/hipify.h"
#include "hipify/waves.h"
#include "know/know.h"
#include "know/rule.h"
#include "plan/plan_int.h"

/* ---- values taken from the description as they are ---- */

static const char *file_name(const struct project *p)
{
	return p->file.n ? path_base(p->file).p : "";
}

static void take_names(struct arena *a, const struct project *p, struct plan *plan)
{
	plan->project = p->dir;
	plan->name = p->name;
	plan->version = p->version.n ? p->version : S("0.0.0");
	plan->summary = p->summary;
	plan->license = p->license;
	plan->requires_python = p->requires_python;
	plan->requires = p->requires;
	plan->libraries = p->libraries;
	plan->defines = p->defines;
	plan->flags = p->flags;
	plan->no_kernels = p->kernels.n > 0;
	if (plan->no_kernels)
		plan_explain(a, plan, "kernels", S("none"), "'kernels' of %s", file_name(p));
	if (node_get(p->root, S("name")))
		plan_explain(a, plan, "name", p->name, "'name' of %s", file_name(p));
	else
		plan_explain(a, plan, "name", p->name,
			"no 'name' is given, so the folder's name counts");
	if (p->version.n)
		plan_explain(a, plan, "version", p->version, "'version' of %s", file_name(p));
	else
		plan_explain(a, plan, "version", plan->version, "no 'version' is given");
}

bool plan_may_include(struct arena *a, struct str dir)
{
	struct str real, part, home = str_from(getenv("HOME"));
	if (!str_starts(dir, S("/")) || !fs_real(a, dir, &real))
		return false;
	bool may = real.n > 1 && !str_eq(real, home) && !path_is_below(home, real);
	for (struct str rest = real; str_next(&rest, '/', &part);)
		may = may && !str_starts(part, S("."));
	return may;
}

static struct err *take_includes(struct arena *a, const struct project *p, struct plan *plan)
{
	VEC_EACH (struct str, dir, &p->includes) {
		struct str path = path_clean(a, *dir);
		if (!path_is_inside(path)) /* a folder of the user's choice */
			path = path_clean(a, path_join(a, p->dir, *dir));
		if (str_starts(path, S("/")) && fs_is_dir(path) && !plan_may_include(a, path))
			return project_error(p, S("includes"), E_PROJECT,
				"the include folder '%.*s' holds a home, or is hidden: compilers "
				"do not get to see it",
				STR(*dir));
		if (!fs_is_dir(path_join(a, p->dir, path)))
			return project_error(p, S("includes"), E_PROJECT,
				"no such include folder '%.*s' in '%.*s'", STR(*dir), STR(p->dir));
		strs_add(a, &plan->includes, path);
	}
	if (plan->includes.n) {
		plan_explain(a, plan, "includes", str_join(a, &plan->includes, S(", ")),
			"'includes' of %s", file_name(p));
		return NULL;
	}
	if (fs_is_dir(path_join(a, p->dir, S("include"))))
		strs_add(a, &plan->includes, S("include"));
	strs_add(a, &plan->includes, S("."));
	plan_explain(a, plan, "includes", str_join(a, &plan->includes, S(", ")),
		"no 'includes' are named, so include/ (if there is one) and the project itself "
		"count");
	return NULL;
}

/* ---- GPUs ---- */

struct err *plan_targets(struct arena *a, const struct strs *words, struct targets *ret)
{
	TRY(targets_parse(a, words, ret));
	for (size_t i = 0; i < ret->n; i++) {
		const struct target *t = &ret->v[i];
		if (t->gpu && t->gpu->removed)
			return err_hint(err_new(E_GFX, "'%.*s' is no longer known to compilers",
						STR(t->name)),
				"use gfx942");
		for (size_t k = 0; k < i; k++) {
			/* clang: "for a specific processor, a feature should either exist in all offload archs, or not
			 * exist in any offload archs" (LLVM, clang/lib/Basic/TargetID.cpp) */
			const struct target *x = &ret->v[k];
			if (!str_eq(x->name, t->name) ||
				((x->xnack == FEATURE_ANY) == (t->xnack == FEATURE_ANY) &&
					(x->sramecc == FEATURE_ANY) == (t->sramecc == FEATURE_ANY)))
				continue;
			struct err *e = err_wrap(
				err_new(E_GFX, "compilers take a feature of a processor in all of "
					       "its targets, or in none"),
				"'%.*s' and '%.*s' cannot be built together",
				STR(target_text(a, x)), STR(target_text(a, t)));
			return err_hint(
				e, "code for plain %.*s runs with every setting", STR(x->name));
		}
	}
	return NULL;
}

static struct err *choose_gpus(
	struct arena *a, const struct plan_request *r, const struct project *p, struct plan *plan)
{
	struct strs words = r->gpus.n ? r->gpus : p->gpus;
	struct targets targets;
	const char *why = r->gpus.n   ? "asked for"
			  : p->gpus.n ? "'gpu' of rocsmith.yaml"
				      : "no target is named, so the GPUs of this machine count";
	if (!words.n)
		strs_add(a, &words, S("native"));
	struct err *e = machine_native(a, r->sysroot, &words);
	if (e && e->code == E_NO_GPU && r->any_gpu) {
		plan_explain(a, plan, "gpu", S("none"), "%s, and --gpu names no target", e->msg);
		err_free(e);
		return NULL;
	}
	TRY(e);
	e = plan_targets(a, &words, &targets);
	if (e && !r->gpus.n && p->gpus.n)
		return err_at(e, node_get(p->root, S("gpu"))->at);
	TRY(e);
	VEC_EACH (struct target, t, &targets)
		strs_add(a, &plan->gpus, target_text(a, t));
	plan_explain(a, plan, "gpu", str_join(a, &plan->gpus, S(", ")), "%s", why);
	return NULL;
}

/* ---- SDK ---- */

static struct err *choose_sdk(
	struct arena *a, const struct plan_request *r, const struct project *p, struct plan *plan)
{
	struct sdk_spec *sdk = &plan->sdk;
	struct str word = r->sdk.n ? r->sdk : p->sdk.n ? p->sdk : S("debian:sid");
	const char *why = r->sdk.n ? "asked for"
			  : p->sdk.n
				  ? "'sdk' of rocsmith.yaml"
				  : "the built-in default: Debian's packages, without root rights";
	struct err *e = sdk_spec_parse(a, word, sdk);
	if (e && !r->sdk.n) { /* the mistake is in the description */
		e->code = E_PROJECT;
		return err_at(e, node_get(p->root, S("sdk"))->at);
	}
	TRY(e);
	if (sdk->prefix.n && !r->sdk.n)
		return err_hint(project_error(p, S("sdk"), E_PROJECT,
					"'%.*s' is not for a project to choose: its programs run "
					"without a sandbox",
					STR(word)),
			"if you trust it, say so: --sdk %.*s", STR(word));
	if (r->mirror.n)
		TRY(apt_check_mirror(r->mirror));
	sdk->mirror = r->mirror;
	sdk->keyring = r->keyring.n ? path_abs(a, r->keyring) : S("");
	strs_add(a, &sdk->components, S("compiler"));
	strs_put_all(a, &sdk->components, &p->components);
	word = str_fmt(a, "%.*s %.*s", STR(sdk->provider), STR(sdk->suite));
	if (sdk->prefix.n)
		word = sdk->prefix = path_abs(a, sdk->prefix);
	if (!r->sysroot.n) /* a recorded machine's SDK is not here */
		TRY(sdk_can_be_had(a, sdk));
	plan_explain(a, plan, "sdk", word, "%s", why);
	return NULL;
}

/* ---- host ---- */

/* The host side is compiled against this machine's files, unless it lacks some. */
static void choose_host(struct arena *a, struct plan *plan)
{
	const struct host *h = &plan->host;
	bool none = plan->needs_python && !h->python_include.n;
	const char *why = !h->libc.n      ? "this machine has no C library headers"
			  : !h->gcc_dir.n ? "this machine has no C++ headers (g++ brings them)"
			  : none ? "this machine has no Python.h, and the headers of one system "
				   "are used together"
				 : NULL;
	plan->host_native = !why;
	if (!why)
		plan_explain(a, plan, "host libc",
			str_fmt(a, "glibc %.*s of this machine", STR(h->libc)),
			"the wheel then imports here, and its tag names the glibc it really needs");
	else
		plan_explain(a, plan, "host libc", S("the SDK's"), "%s", why);
	if (!plan->needs_python)
		plan_explain(a, plan, "python headers", S("none"), "no source includes Python.h");
	else if (!none)
		plan_explain(a, plan, "python headers", h->python_include,
			"those of %.*s, Python %.*s", STR(h->python), STR(h->python_version));
	else if (h->python.n)
		plan_explain(a, plan, "python headers", S("the SDK's"),
			"%.*s has no Python.h on this machine", STR(h->python));
	else
		plan_explain(a, plan, "python headers", S("the SDK's"),
			"there is no python3 on this machine");
	if (none)
		strs_add(a, &plan->sdk.components, S("python"));
}

/* ---- translation ---- */

static struct err *choose_translation(struct arena *a, const struct project *p, struct plan *plan)
{
	const struct node *section = node_get(p->root, S("hipify"));
	plan->hipify = p->hipify;
	if (p->hipify.mode == HIPIFY_TORCH && !plan->foreign)
		return err_hint(node_error(node_get(section, S("mode")), E_PROJECT,
					"mode 'torch' translates PyTorch itself, which its own "
					"build system builds"),
			"an extension for PyTorch wants the mode 'extension'");
	if (!p->hipify.mode && p->hipify.torch.n)
		plan->hipify.mode = HIPIFY_EXTENSION;
	if (plan->hipify.mode == HIPIFY_EXTENSION && !p->hipify.torch.n)
		return err_hint(node_error(node_get(section, S("mode")), E_PROJECT,
					"mode 'extension' needs to know whose hipify"),
			"add torch: PATH, a checkout, an installed torch, or a wheel of one");
	if (plan->hipify.mode)
		plan_explain(a, plan, "hipify", str_from(hipify_modes[plan->hipify.mode]),
			"'hipify' of %s", file_name(p));
	return NULL;
}

/* Completes a plan for another build system once the GPUs are chosen. */
static struct err *foreign_rest(struct arena *a, const struct plan_request *r,
	const struct project *p, struct plan_wish *wish)
{
	struct plan *plan = &wish->plan;
	TRY_CTX(host_read(a, r->python, &plan->host),
		"cannot look at this machine's Python and C library");
	plan->host_native = true; /* the build system runs on this machine, with its files */
	TRY(choose_sdk(a, r, p, plan));
	if (plan->needs_python && !plan->host.python.n)
		return err_hint(
			err_new(E_PLAN, "there is no python3 on this machine to build '%.*s'",
				STR(plan->name)),
			"install python3, or name one with --python");
	TRY(known_fits(a, p, plan));
	TRY(libc_choose(a, plan));
	TRY(features_choose(a, r, p, plan));
	TRY(libc_policy(a, r, plan));
	if (p->known)
		TRY(suffix_choose(a, r, wish));
	TRY(features_meet_environment(plan));
	/* the headers of a torch include those of most ROCm libraries */
	if (plan->foreign->torch && !strs_has(&plan->sdk.components, S("headers")))
		strs_add(a, &plan->sdk.components, S("headers"));
	plan->foreign->device = p->hipify.mode == HIPIFY_TORCH;
	if (plan->foreign->device || plan->no_kernels || str_eq(p->device, S("none")))
		return NULL; /* the description names the components */
	return plan_needs(a, plan);
}

/* A folder without a description has a Makefile, or a folder in it has a build of its own: that knows better what belongs
 * together. */
static struct err *explain_scripts(struct arena *a, const struct project *p, struct plan *plan)
{
	static const char *const names[] = {"Makefile", "makefile", "GNUmakefile"};
	static const char *const nested[] = {"*/CMakeLists.txt", "*/setup.py", "*/pyproject.toml"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !p->file.n; i++)
		if (fs_is_file(path_join(a, p->dir, str_from(names[i])))) {
			plan_explain(a, plan, "makefile", S("not read"),
				"make itself builds it with an nvcc of rocsmith: eval \"$(rocsmith "
				"sdk shims --cuda TOOLS --gpu %.*s)\", then make -C %.*s",
				STR(str_join(a, &plan->gpus, S(","))), STR(str_shell(a, p->dir)));
			return NULL;
		}
	for (size_t i = 0; i < sizeof(nested) / sizeof(*nested) && !p->file.n; i++) {
		struct strs found;
		TRY(glob_files(a, p->dir, str_from(nested[i]), &found));
		VEC_EACH (const struct str, f, &found) {
			struct str dir = path_join(a, p->dir, path_dir(*f));
			if (source_is_aside(*f))
				continue;
			plan_explain(a, plan, "nested", *f,
				"a build of its own, which is not read: rocsmith plan %.*s --gpu "
				"%.*s",
				STR(str_shell(a, dir)), STR(str_join(a, &plan->gpus, S(","))));
			return NULL;
		}
	}
	return NULL;
}

struct err *plan_make(struct arena *a, const struct plan_request *r, struct plan_wish *ret)
{
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct plan *plan = &ret->plan;
	*ret = (struct plan_wish){0};
	struct project p;
	struct cxx_scan *facts;
	struct description where;
	TRY(known_resolve(a, r, &where));
	TRY(project_read(a, &where, &p));
	TRY(fs_guard_sources(p.dir, &guard));
	TRY(source_submodules(a, p.dir));
	take_names(a, &p, plan);
	TRY(foreign_choose(a, r, &p, plan));
	TRY(choose_translation(a, &p, plan));
	TRY(choose_gpus(a, r, &p, plan));
	if (plan->foreign)
		return foreign_rest(a, r, &p, ret);
	TRY(explain_scripts(a, &p, plan));
	TRY(take_includes(a, &p, plan));
	TRY(sources_find(a, &p, plan, &facts));
	TRY(python_find(a, &p, plan));
	TRY_CTX(host_read(a, r->python, &plan->host),
		"cannot look at this machine's Python and C library");
	TRY(modules_find(a, &p, facts, plan));
	TRY(choose_sdk(a, r, &p, plan));
	choose_host(a, plan);
	TRY(libc_policy(a, r, plan));
	return plan_needs(a, plan);
}

/* ---- assumptions of the sources about the GPU ---- */

/* PyTorch itself handles both wave sizes, so mode torch is not searched. */
struct err *plan_waves(struct arena *a, const struct plan *p, struct findings *ret)
{
	enum { MOST = 50 };
	struct targets targets = {0};
	bool wave64 = false;
	if (p->gpus.n)
		TRY(targets_parse(a, &p->gpus, &targets));
	VEC_EACH (const struct target, t, &targets)
		wave64 |= t->gpu && !t->gpu->wave32;
	if (!wave64 || p->hipify.mode == HIPIFY_TORCH)
		return NULL;
	struct strs files = {0};
	VEC_EACH (const struct plan_source, s, &p->sources)
		strs_add(a, &files, s->path);
	strs_add_all(a, &files, &p->headers);
	struct waves_request q = {.dir = p->project,
		.files = p->foreign ? NULL : &files,
		.by_torch = hipify_by_torch(&p->hipify) || (p->foreign && p->foreign->torch),
		.most = MOST,
		.texts = &p->scans};
	return waves_find(a, &q, ret);
}

/* The GPUs are those of sid: experimental has a newer ROCm, and what that has was not looked at. What is built against a torch
 * runs with the libraries of that torch. */
struct err *plan_kernels(struct arena *a, const struct plan *p, struct findings *ret)
{
	struct targets targets = {0};
	struct strs without = {0};
	bool blas = false, current = true, alone;
	if (!str_eq(p->sdk.provider, S("debian")) || str_eq(p->sdk.suite, S("experimental")) ||
		!p->gpus.n || (p->foreign && p->foreign->torch))
		return NULL;
	VEC_EACH (const struct str, component, &p->sdk.components) {
		struct strs packages;
		TRY(know_packages(a, *component, &packages, &alone));
		blas |= strs_has(&packages, S("librocblas-dev")) ||
			strs_has(&packages, S("libhipblas-dev"));
	}
	TRY(targets_parse(a, &p->gpus, &targets));
	VEC_EACH (const struct target, t, &targets)
		if (t->gpu && !t->gpu->is_generic && !t->gpu->debian) {
			strs_put(a, &without, t->name);
			current &= t->gpu->current;
		}
	if (!blas || !without.n)
		return NULL;
	struct finding *f = finding_note(a, ret, "sdk-kernels-none", str_join(a, &without, S(", ")),
		"rocBLAS of Debian's ROCm has no kernels for it: matrix products may fail");
	if (current)
		finding_fix(a, f, "AMD's packages have them, as with --sdk rocm:10.1");
	return NULL;
}

/* at: where the sources read a texture or a surface. */
static void add_texture(
	struct arena *a, const struct plan *p, const struct untranslated *at, struct findings *ret)
{
	struct targets targets = {0};
	struct str without = {0};
	err_free(targets_parse(a, &p->gpus, &targets)); /* its words have been read before */
	VEC_EACH (const struct target, t, &targets)
		if (t->gpu && t->gpu->no_images)
			without = t->name;
	if (!without.n)
		return;
	struct finding *f = finding_note(a, ret, "textures-none",
		str_fmt(a, "%.*s:%u:%u", STR(at->path), at->line, at->col),
		"'%.*s' needs image instructions, which %.*s lacks", STR(at->name), STR(without));
	finding_fix(a, f, "leave it out of --gpu, or read the memory without textures");
}

/* Sources in folders that only tests and examples have, and what the build makes in an #if, are not looked at. */
struct err *plan_names(struct arena *a, const struct plan *p, struct findings *ret)
{
	const struct plan_foreign *f = p->foreign;
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	CLEANUP(hipify_tree_free) struct hipify_tree tree = {0};
	struct hipify_options o = {.mode = HIPIFY_STANDALONE, .dir = p->project, .look_only = true};
	const struct view view = {.root = p->project};
	MAP(seen, a);
	if (p->hipify.mode == HIPIFY_TORCH || (f && (f->own_hip || f->gpu_off)))
		return NULL;
	strs_add_words(a, &o.exclude, source_words_table()->no_sources);
	VEC_EACH (const struct plan_source, s, &p->sources)
		strs_add(a, &o.only, s->path);
	for (size_t i = 0; i < p->headers.n && !f; i++)
		if (p->headers.v[i].p[0] != '/')
			strs_add(a, &o.only, p->headers.v[i]);
	TRY(fs_guard_sources(p->project, &guard));
	TRY(hipify_changes(a, &o, &view, &tree));
	VEC_EACH (const struct untranslated, u, &tree.untranslated) {
		if (!u->certain || !map_put(&seen, u->name, ret))
			continue;
		struct str place = str_fmt(a, "%.*s:%u:%u", STR(u->path), u->line, u->col);
		finding_note(a, ret, "cuda-name-left", place, "%.*s", STR(hipify_lacks(a, u)));
	}
	if (tree.texture.line && p->gpus.n)
		add_texture(a, p, &tree.texture, ret);
	return NULL;
}
