/* Finds the routes to a working torch for each GPU; see next.h. */
#include "flow/next.h"

#include "base/fs.h"
#include "know/address.h"
#include "know/environment.h"
#include "target/target.h"

enum { MB = 1000000 };
enum { LARGE_APU = 16 }; /* an APU with this many compute units is worth using beside a card */

static const char *const by_names[] = {"wheel", "device-wheel", "build", NULL};

static const struct json_field route_fields[] = {
	FIELD_ENUM("by", struct next_route, by, by_names),
	FIELD_ENUM("how", struct next_route, how, compat_how_names),
	FIELDS(struct next_route, torch, rocm, python, commands, download, disk, memory, seconds,
		history, sure, notes, evidence),
	{.kind = FIELD_END},
};

const struct json_field next_gpu_fields[] = {
	FIELDS(struct next_gpu, target, products, served_by, served_version, commands, notes),
	FIELD_LIST("routes", struct next_gpu, routes, route_fields),
	{.kind = FIELD_END},
};

struct finding_way { /* the state shared by all routes of a GPU */
	struct arena *a;
	const struct machine *m;
	const struct machine_python *python; /* or NULL */
	struct str new_python;               /* "3.12" for a new environment; "" = python3 */
	struct next_gpu *gpu;
	struct err *failed; /* a mirror's address is wrong; or NULL */
	struct strs beside; /* other cards of this machine, which the same torch should serve */
};

/* A torch that lacks libraries cannot be loaded, even if it has code for the target. */
static bool torch_serves(const struct machine_python *p, struct str target)
{
	const struct machine_torch *t = &p->torch;
	return environment_serves(t, target) && !t->missing.n;
}

static struct str program(struct arena *a, const struct machine_python *p)
{
	return str_shell(a, str_fmt(a, "%.*s/bin/python3", STR(p->path)));
}

/* ---- wheels ---- */

/* Does the torch of the active environment serve another card of the machine, which the wheel does not? */
static bool is_wanted(const struct finding_way *w, const struct compat_wheel *c)
{
	const struct machine_torch *t = &w->python->torch;
	bool wanted = (w->m->nvidia && str_eq(t->build, S("cuda"))) || str_eq(t->build, S("xpu"));
	VEC_EACH (const struct str, card, &w->beside)
		wanted = wanted || (torch_serves(w->python, *card) &&
					   !compat_serves(c->targets, *card, COMPAT_EXACT));
	return wanted;
}

/* The commands install into a virtual environment, since pip refuses to change that of a distribution (PEP 668), and into
 * a new one if the torch of the active one is wanted for another GPU. A torch that is replaced is uninstalled first: pip
 * keeps one of the same version that was built for another GPU, and all variants of Triton, which have different package
 * names, install the same folder. */
static void add_commands(struct finding_way *w, const struct compat_wheel *c, struct next_route *r)
{
	struct arena *a = w->a;
	const struct machine_python *p = w->python;
	bool kept = p && p->has_torch && is_wanted(w, c);
	bool own = p && !kept && (str_eq(p->kind, S("venv")) || str_eq(p->kind, S("conda")));
	struct str packages = S(""), gpus = w->gpu->target, old = S("torch torchvision torchaudio"),
		   url = S("");
	VEC_EACH (const struct str, t, &w->beside)
		if (c->amd && compat_serves(c->targets, *t, COMPAT_EXACT))
			gpus = str_fmt(a, "%.*s,device-%.*s", STR(gpus), STR(*t));
	for (const char *const *i = c->install; *i; i++)
		packages = str_fmt(a, "%.*s \"%.*s\"", STR(packages),
			STR(str_replace(a, str_from(*i), S("{gpu}"), gpus)));
	struct str python = own    ? program(a, p)
			    : kept ? S("~/torch-rocm/bin/python3")
				   : S("~/torch/bin/python3");
	for (size_t i = 0; own && i < p->packages.n; i++) {
		struct str name = p->packages.v[i].name;
		if (str_eq(name, S("triton")) || str_eq(name, S("triton-rocm")) ||
			str_starts(name, S("pytorch-triton")))
			old = str_fmt(a, "%.*s %.*s", STR(old), STR(str_shell(a, name)));
	}
	if (w->new_python.n)
		strs_fmt(a, &r->commands, "uv venv --seed --python %.*s %s", STR(w->new_python),
			kept ? "~/torch-rocm" : "~/torch");
	else if (!own)
		strs_fmt(a, &r->commands, "python3 -m venv %s", kept ? "~/torch-rocm" : "~/torch");
	else if (p->has_torch)
		strs_fmt(a, &r->commands, "%.*s -m pip uninstall -y %.*s", STR(python), STR(old));
	w->failed = w->failed ? w->failed
			      : address_of(a, c->amd ? c->amd : "torch", str_from(c->index), S(""),
					&url);
	strs_fmt(a, &r->commands, "%.*s -m pip install%.*s --index-url %.*s", STR(python),
		STR(packages), STR(address_shown(a, url)));
	if (kept)
		strs_fmt(a, &r->notes,
			"a new environment: the torch %.*s of '%.*s' serves another GPU of this "
			"machine",
			STR(p->torch.version), STR(p->path));
	if (c->uv)
		strs_fmt(a, &r->notes,
			"with uv no address is needed: uv pip install --python %.*s%.*s "
			"--torch-backend %s",
			STR(python), STR(packages), c->index);
}

static void add_wheel(struct finding_way *w, const struct compat_wheel *c, enum compat_how how)
{
	struct arena *a = w->a;
	struct next_route *r = VEC_PUSH(a, &w->gpu->routes);
	*r = (struct next_route){.by = c->amd ? NEXT_DEVICE_WHEEL : NEXT_WHEEL,
		.how = how,
		.torch = c->torch,
		.rocm = c->rocm,
		.python = c->python,
		.download = (uint64_t)c->download * MB,
		.disk = (uint64_t)c->disk * MB,
		.sure = !c->unsure};
	add_commands(w, c, r);
	if (c->note)
		strs_add(a, &r->notes, str_from(c->note));
	if (c->unsure)
		strs_add(a, &r->notes,
			S("its GPUs are those of the scripts that build it; it was not looked "
			  "into"));
	if (how == COMPAT_OVERRIDE) {
		const struct compat_target *t = compat_of(w->gpu->target);
		strs_fmt(a, &r->notes,
			"it has no code for %.*s; with HSA_OVERRIDE_GFX_VERSION=%s it uses "
			"that of %s: %s",
			STR(w->gpu->target), t->value, t->as, t->text);
		strs_add_words(a, &r->evidence, t->evidence);
	}
	if (compat_serves(c->no_blas, w->gpu->target, COMPAT_EXACT))
		strs_fmt(a, &r->notes,
			"its rocBLAS has no kernels for %.*s: matrix products may fail",
			STR(w->gpu->target));
	VEC_EACH (const struct str, t, &w->beside)
		if (!compat_serves(c->targets, *t, COMPAT_EXACT))
			strs_fmt(a, &r->notes, "it has no code for the %.*s beside it", STR(*t));
	strs_add_words(a, &r->evidence, c->evidence);
	if (c->measured)
		strs_add(a, &r->evidence, str_from(c->measured));
}

/* The best wheel of one index (AMD's or PyTorch's). The table lists new wheels first, but an older wheel that serves
 * every card here beats a newer one. If no wheel qualifies, this accepts, in this order, one that nobody has inspected,
 * one without code for the other cards, and one whose rocBLAS lacks kernels. */
static const struct compat_wheel *best_of(struct finding_way *w, bool amd, enum compat_how how)
{
	const struct compat_wheel *c = NULL;
	for (unsigned worse = 0; !c && worse < 8; worse++)
		c = compat_find(&(struct compat_query){w->gpu->target,
			w->python ? w->python->version : S(""), how, amd, worse & 1, !(worse & 4),
			worse & 2 ? NULL : &w->beside, {0}, {0}});
	return c;
}

/* Notes that a newer torch needs another Python. offer: also adds the route that installs one. 3.12 comes first, since
 * other packages may not support the newest Pythons yet. */
static void add_newer_python(struct finding_way *w, bool offer)
{
	static const char *const pythons[] = {
		"3.12", "3.13", "3.14", "3.11", "3.10", "3.9", "3.8", NULL};
	const struct machine_python *here = w->python;
	if (!here || !here->version.n)
		return;
	w->python = NULL;
	const struct compat_wheel *newest = best_of(w, true, COMPAT_EXACT);
	newest = newest ? newest : best_of(w, false, COMPAT_EXACT);
	bool other = newest && !compat_fits(newest, here->version);
	if (other)
		strs_fmt(w->a, &w->gpu->notes, "torch %s needs Python %s; '%.*s' has %.*s",
			newest->torch, newest->python, STR(here->path), STR(here->version));
	for (size_t i = 0; other && offer && pythons[i] && !w->new_python.n; i++)
		if (compat_fits(newest, str_from(pythons[i])))
			w->new_python = str_from(pythons[i]);
	if (w->new_python.n)
		add_wheel(w, newest, COMPAT_EXACT);
	w->new_python = S("");
	w->python = here;
}

static void add_wheels(struct finding_way *w)
{
	const struct compat_wheel *one = NULL, *two = NULL;
	enum compat_how how = COMPAT_EXACT;
	for (; how <= COMPAT_OVERRIDE; how++) {
		one = best_of(w, true, how);
		two = best_of(w, false, how);
		if (one || two)
			break;
	}
	add_newer_python(w, how != COMPAT_EXACT);
	if (!one && !two && !w->gpu->routes.n)
		strs_fmt(w->a, &w->gpu->notes,
			"no published wheel that is known here has code for %.*s",
			STR(w->gpu->target));
	bool whole = one && compat_serves_all(one, &w->beside);
	bool better = two && (compat_serves_all(two, &w->beside) == whole ? two < one : !whole);
	const struct compat_wheel *first = one && better ? two : one;
	if (first)
		add_wheel(w, first, how);
	if (two && two != first)
		add_wheel(w, two, how);
	if (one && one != first)
		add_wheel(w, one, how);
}

/* ---- our own build ---- */

/* Adds the build of a torch, with the time and memory that one took which was built here completely. */
static void add_build(struct finding_way *w, const struct gpu *known)
{
	struct arena *a = w->a;
	struct plan_foreign how = {0};
	struct plan_wish wish = {.plan.foreign = &how};
	struct forecast f;
	struct strs names = {0};
	struct str builds = fs_place(a, FS_CACHE, S("build")), earlier = S("none");
	if (!plan_known_cost(a, S("torch"), &how.cost))
		return;
	CLEANUP(err_freep) struct err *theirs = fs_check_way(builds);
	if (!w->m->root.n && !theirs)
		err_free(fs_list(a, builds, &names));
	for (size_t i = names.n; i-- > 0;) { /* the first one counts */
		struct str name = names.v[i];
		struct str version = str_sub(name, str_find(name, S("torch-")) + 6, name.n);
		struct str done = str_fmt(a, "%.*s/%.*s/state/done", STR(builds), STR(name));
		if (version.n && ascii_digit(version.p[0]) && fs_is_file(done))
			earlier = name;
	}
	strs_add(a, &wish.plan.gpus, w->gpu->target);
	build_forecast(a, &wish, path_join(a, builds, earlier), w->m->cpus ? w->m->cpus : 1, &f);
	struct next_route *r = VEC_PUSH(a, &w->gpu->routes);
	*r = (struct next_route){.by = NEXT_BUILD,
		.how = COMPAT_EXACT,
		.disk = f.disk + f.sdk,
		.memory = f.memory,
		.seconds = f.chain + (f.cpu - f.chain) / f.jobs, /* whatever the load */
		.history = f.history,
		.sure = true};
	strs_fmt(a, &r->commands, "rocsmith plan torch --gpu %.*s", STR(w->gpu->target));
	strs_fmt(a, &r->commands, "rocsmith build torch --gpu %.*s", STR(w->gpu->target));
	if (!known->debian)
		strs_fmt(a, &r->notes,
			"rocBLAS of Debian's ROCm, which is the SDK unless --sdk names another, "
			"has no kernels for %.*s: matrix products may fail",
			STR(w->gpu->target));
	if (f.history) {
		strs_add(a, &r->evidence, S("an earlier build on this machine"));
		return;
	}
	strs_fmt(a, &r->notes,
		"TheRock's builders take 30 to 60 minutes for a torch of one GPU with all "
		"features");
	strs_add(a, &r->evidence, S("recipes/projects/torch.yaml"));
	strs_add(a, &r->evidence, S("ROCm/TheRock:external-builds/pytorch/README.md"));
}

/* ---- one GPU ---- */

static const struct machine_python *served_by(const struct machine *m, struct str target)
{
	const struct machine_python *best = environment_python(m, S(""));
	if (best && torch_serves(best, target))
		return best;
	VEC_EACH (const struct machine_python, p, &m->pythons)
		if (torch_serves(p, target))
			return p;
	return NULL;
}

/* Says that a torch runs by an override that is set, and what was reported of that. */
static void say_borrowed(struct finding_way *w)
{
	const struct machine_python *p = w->python;
	const struct compat_target *t = compat_of(w->gpu->target);
	VEC_EACH (const struct machine_gpu, g, &w->m->gpus) {
		if (!p || !str_eq(g->target, w->gpu->target) ||
			!environment_borrows(&p->torch, g) || p->torch.missing.n)
			continue;
		strs_fmt(w->a, &w->gpu->notes,
			"%.*s is in force: the torch %.*s in %.*s runs the code of %.*s on it "
			"(%s); one with "
			"its own code needs no override",
			STR(g->override), STR(p->torch.version), STR(p->path),
			STR(g->override_target),
			t && t->as ? t->text : "no report of that is known here");
		return;
	}
}

/* The products of this machine's GPUs of the target, each once; "" if one is not known. */
static struct str products_of(struct arena *a, const struct machine *m, struct str target)
{
	struct strs list = {0};
	VEC_EACH (const struct machine_gpu, g, &m->gpus) {
		if (!str_eq(g->target, target))
			continue;
		if (!g->product.n)
			return S("");
		strs_put(a, &list, g->product);
	}
	return str_join(a, &list, S(", "));
}

/* own: the target is a GPU of this machine, not one named by the user */
static struct err *step_of(
	struct arena *a, const struct machine *m, struct str target, bool own, struct next_gpu *g)
{
	struct finding_way w = {.a = a, .m = m, .python = environment_python(m, S("")), .gpu = g};
	const struct gpu *known = gpu_by_name(target);
	const struct compat_target *said = compat_of(target);
	const struct machine_python *served = served_by(m, target);
	bool apu = false, card = false;
	VEC_EACH (const struct machine_gpu, other, &m->gpus) {
		bool same = str_eq(other->target, target);
		apu |= other->apu && same && other->compute_units < LARGE_APU;
		card |= !other->apu;
		if (own && other->target.n && !other->apu && !same)
			strs_put(a, &w.beside, other->target);
	}
	g->target = target;
	g->products = own ? products_of(a, m, target) : S("");
	if (!g->products.n && known)
		g->products = gpu_products(a, known);
	if (said && !said->as)
		strs_fmt(a, &g->notes, "%s (%s)", said->text, said->evidence[0]);
	if (served) {
		g->served_by = served->path;
		g->served_version = served->torch.version;
		strs_fmt(a, &g->commands,
			"%.*s -c \"import torch; x = torch.ones(64, 64, device='cuda'); "
			"print(torch.cuda.get_device_name(0), (x @ x).sum().item() == 64**3)\"",
			STR(program(a, served)));
		return NULL;
	}
	say_borrowed(&w);
	if (apu && card) {
		strs_fmt(a, &g->notes, "a part of the processor, beside a card: leave it out");
		return NULL;
	}
	if (str_eq(m->distro_id, S("nixos")))
		strs_fmt(a, &g->notes, "on NixOS, wheels need nix-ld or an FHS environment");
	if (known)
		add_wheels(&w);
	else
		strs_fmt(a, &g->notes, "this version of rocsmith does not know this target");
	if (known && (known->current || known->debian))
		add_build(&w, known);
	else if (known)
		strs_fmt(
			a, &g->notes, "ROCm's libraries are not built for it any more, or not yet");
	return w.failed;
}

struct err *next_steps(struct arena *a, const struct machine *m, const struct strs *targets,
	struct next_steps *ret)
{
	struct strs list = {0};
	const struct machine_python *p = environment_python(m, S(""));
	*ret = (struct next_steps){.memory_free = m->memory_free};
	if (p) {
		ret->python = p->path;
		ret->version = p->version;
	}
	VEC_EACH (const struct machine_disk, d, &m->disks)
		if (str_eq(d->use, S("home"))) {
			ret->disk = d->path;
			ret->disk_free = d->free;
		}
	VEC_EACH (const struct machine_gpu, g, &m->gpus)
		if (g->target.n && !targets->n)
			strs_put(a, &list, g->target);
	VEC_EACH (const struct str, t, targets)
		strs_put(a, &list, target_read(*t).name);
	VEC_EACH (const struct str, t, &list)
		TRY(step_of(a, m, *t, !targets->n, VEC_PUSH(a, &ret->gpus)));
	return NULL;
}
