/* Runs a translation from end to end: opens the session, runs the engine, applies the changes. */
#include "base/fs.h"
#include "hipify/hipify_int.h"

enum { INFO_LIMIT = 1 << 20 };

/* Everything that a run needs besides the session. */
struct hipify_run {
	struct hipify_options with_map; /* with map_text read */
	struct torch_source torch;
	struct str identity;
};

/* Rejects an output folder among the sources: the next run would translate it, too. */
static struct err *check_inside(struct arena *a, const struct hipify_options *o)
{
	if (!o->out.n || o->in_place || o->only.n)
		return NULL;
	struct str dir = path_abs(a, o->dir), out = path_abs(a, o->out);
	struct str rel = path_rel(a, out, dir);
	if (!path_is_inside(rel) || str_eq(rel, S(".")) || hipify_is_excluded(&o->exclude, rel))
		return NULL;
	return err_hint(err_new(E_USAGE, "the output folder '%.*s' is inside '%.*s'", STR(o->out),
				STR(o->dir)),
		"give a folder outside, or leave it out with --exclude %.*s", STR(rel));
}

static void add(struct buf *b, const char *name, struct str value)
{
	buf_fmt(b, "%s=%zu:", name, value.n);
	buf_add(b, value);
	buf_char(b, '\n');
}

static void add_all(struct buf *b, const char *name, const struct strs *list)
{
	for (size_t i = 0; i < list->n; i++)
		add(b, name, list->v[i]);
}

static struct err *prepare(
	struct arena *a, const struct hipify_options *given, struct hipify_run *r)
{
	const struct hipify_options *o = &r->with_map;
	struct stat st;
	*r = (struct hipify_run){.with_map = *given};
	TRY(check_inside(a, o));
	if (hipify_by_torch(o)) {
		TRY(torch_open(a, o->torch.n ? o->torch : o->dir, &r->torch));
		TRY(hipify_options_load_map(a, &r->with_map));
	}
	/* The identity is everything besides the files that a result depends on. */
	BUF(b, a);
	/* Another build of rocsmith may translate differently even if its version is the same. */
	add(&b, "version", S(ROCSMITH_VERSION));
	if (fs_try_stat(S("/proc/self/exe"), &st))
		buf_fmt(&b, "program=%lld %lld.%09ld\n", (long long)st.st_size,
			(long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	buf_fmt(&b, "mode=%d in_place=%d\n", (int)o->mode, o->in_place);
	add_all(&b, "only", &o->only);
	add_all(&b, "exclude", &o->exclude);
	add(&b, "rocm", o->rocm);
	add(&b, "fnuz", o->fnuz ? S("yes") : S(""));
	add(&b, "marks", o->marks ? S("yes") : S(""));
	if (hipify_by_torch(o)) {
		add(&b, "torch", r->torch.identity);
		buf_fmt(&b, "engine=%d launches=%d out_of_place_only=%d left=%d\n", (int)o->engine,
			(int)o->launches, o->out_of_place_only, o->want_untranslated);
		add_all(&b, "include_dir", &o->include_dirs);
		add_all(&b, "source", &o->sources);
		add_all(&b, "ignore", &o->ignore);
		add_all(&b, "extension", &o->extra_extensions);
		add_all(&b, "extra_include", &o->extra_include);
		add(&b, "map", o->map);
		add(&b, "pairs", o->map_text);
	}
	if (o->mode == HIPIFY_TORCH) { /* build_amd.py reads the environment */
		const char *hip = getenv("HIP_PATH");
		struct str path = str_fmt(a, "%s/lib/.hipInfo", hip ? hip : "/opt/rocm/hip");
		struct str text = {0};
		err_free(fs_read_opt(
			a, path, INFO_LIMIT, &text)); /* unreadable counts as absent there, too */
		add(&b, "hip", path);
		add(&b, "info", text);
	}
	r->identity = buf_str(&b);
	return NULL;
}

/* Marks the results, and files that the original leaves as they are, for a build; see struct hipify_options. */
static void mark_results(struct arena *a, const struct hipify_options *o, const struct view *view,
	struct hipify_tree *ret)
{
	static const char *const due[] = {"_sync", "constexpr", "__CUDA_ARCH__", "<< <", NULL};
	const struct hipify_context marks = {.marks = true};
	VEC_EACH (struct change, c, &ret->changes) {
		struct hipify_text t = {.text = c->text};
		struct err *e = NULL;
		if (c->status == CHANGE_UNCHANGED && str_eq(c->source, c->output))
			e = view_read(view, a, path_join(a, view->root, c->source), &t.text);
		bool any = str_contains(t.text, S("operator")) ||
			   (o->marks && str_contains_one_of(t.text, due));
		if (!e && any)
			e = hipify_text(a, t.text, c->source, &marks, &t);
		if (!e && t.operators)
			hipify_say_operators(a, &ret->findings, c->source, &t);
		if (!e && t.edits.n && o->marks) {
			c->text = t.text;
			c->status = CHANGE_OK;
		}
		err_free(e); /* the text stays as it is */
	}
}

static struct err *run_engine(
	struct arena *a, struct hipify_run *r, const struct view *view, struct hipify_tree *ret)
{
	const struct hipify_options *o = &r->with_map;
	if (!hipify_by_torch(o))
		TRY(standalone_run(a, o, view, ret));
	else
		TRY(o->engine == ENGINE_TORCH ? torch_run_python(a, o, &r->torch, view, ret)
					      : torch_run(a, o, &r->torch, view, ret));
	if (o->mode == HIPIFY_EXTENSION)
		mark_results(a, o, view, ret);
	if (o->marks && !hipify_by_torch(o))
		return NULL;
	struct findings links = {.most = FINDINGS_OF_A_KIND};
	struct strs out = view_left_out(view, a);
	VEC_EACH (const struct str, name, &out) {
		struct finding *f =
			finding_note(a, &links, "hipify-link-outside", path_join(a, o->dir, *name),
				"leads out of '%.*s' and was left out", STR(o->dir));
		finding_fix(a, f,
			"put a copy of the file in its place, or translate a folder that "
			"holds both");
	}
	VEC_EACH (const struct finding, f, &links)
		*VEC_PUSH(a, &ret->findings) = *f;
	return hipify_by_torch(o) && o->want_untranslated ? torch_untranslated(a, o, view, ret)
							  : NULL;
}

struct err *hipify_run(struct arena *a, const struct hipify_options *o, struct hipify_tree *ret)
{
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct session s;
	struct hipify_run r;
	struct str saved;
	bool current = false;
	*ret = (struct hipify_tree){0};
	TRY(fs_guard_sources(o->dir, &guard)); /* a torch may be read from the tree itself */
	TRY(prepare(a, o, &r));
	/* Each extension of a setup.py translates its sources in its own run, which must keep the outputs
	 * of the others. Overlays of standalone mode hold only sources and headers, no copies. */
	bool some = o->mode == HIPIFY_EXTENSION && o->sources.n;
	struct change_request q = {
		.dir = o->dir,
		.out = o->out,
		.in_place = o->in_place,
		.look_only = o->look_only,
		.copies = hipify_by_torch(o),
		.earlier = o->keep ? EARLIER_STAY
			   : some  ? EARLIER_STAY_WITH_SOURCE
				   : EARLIER_GO,
		.identity = r.identity,
		.failure = E_HIPIFY,
		.jobs = o->jobs,
	};
	struct err *e = session_open(a, &q, &s);
	if (!e && !o->look_only)
		e = session_current(&s, &ret->changes, &saved, &current);
	if (!e && current)
		e = saved_load(a, saved, ret);
	if (!e && !current)
		e = run_engine(a, &r, &s.view, ret);
	if (!e && !current)
		e = session_apply(&s, &ret->changes, saved_pack(a, ret));
	session_close(&s);
	if (hipify_by_torch(o))
		ret->torch = r.torch;
	return e;
}

struct err *hipify_changes(struct arena *a, const struct hipify_options *o, const struct view *view,
	struct hipify_tree *ret)
{
	struct hipify_run r;
	*ret = (struct hipify_tree){0};
	TRY(prepare(a, o, &r));
	return run_engine(a, &r, view, ret);
}

void hipify_tree_free(struct hipify_tree *t)
{
	change_set_free(&t->changes);
}
