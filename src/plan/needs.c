/* Finds the SDK components and libraries that the sources need, from the headers that their translations include. */
#include "base/fs.h"
#include "base/glob.h"
#include "base/map.h"
#include "hipify/hipify.h"
#include "know/know.h"
#include "plan/plan_int.h"

enum { MAX_SOURCE = 64 << 20, MAX_FILES = 4096 };

static struct err *headers_of(
	struct arena *a, struct plan *p, struct str path, struct strs *headers)
{
	struct str text;
	struct hipify_text t;
	const struct plan_scan *known = p->scans ? map_get(p->scans, path) : NULL;
	if (known)
		text = known->text;
	else
		TRY(fs_read(a, path_join(a, p->project, path), MAX_SOURCE, &text));
	struct err *e = hipify_text(a, text, path_join(a, p->project, path), &t);
	if (e) {
		/* the build will report it */
		err_free(e);
		return NULL;
	}
	strs_put_all(a, headers, &t.headers);
	VEC_EACH (const struct str, h, &t.gives)
		if (strs_put(a, headers, *h))
			plan_explain(a, p, "header of rocsmith", *h,
				"'%.*s' uses what this header gives and HIP may lack", STR(path));
	return NULL;
}

/* All files of a project that its own build system may compile, since only that system knows which ones it does. */
static struct err *possible_sources(struct arena *a, const struct plan *p, struct strs *ret)
{
	enum { FOR_GPU = 3 };
	static const char *const patterns[] = {"**/*.cu", "**/*.cuh", "**/*.hip", "**/*.cpp",
		"**/*.cc", "**/*.cxx", "**/*.h", "**/*.hpp", NULL};
	for (size_t i = 0; patterns[i]; i++) {
		struct strs hits;
		TRY(glob_files(a, p->project, str_from(patterns[i]), &hits));
		for (size_t k = 0; k < hits.n && ret->n < MAX_FILES; k++)
			strs_add(a, ret, hits.v[k]);
		p->foreign->device |= hits.n && i < FOR_GPU;
	}
	return NULL;
}

struct err *plan_needs(struct arena *a, struct plan *p)
{
	struct strs headers = {0}, files = {0};
	VEC_EACH (struct plan_source, s, &p->sources)
		strs_add(a, &files, s->path);
	strs_add_all(a, &files, &p->headers);
	if (p->foreign)
		TRY(possible_sources(a, p, &files));
	VEC_EACH (struct str, f, &files)
		TRY(headers_of(a, p, *f, &headers));
	strs_put_all(a, &headers, &p->external);
	struct strs components = know_headers(a, &headers), found = {0};
	VEC_EACH (struct str, c, &components) {
		if (strs_put(a, &p->sdk.components, *c))
			strs_add(a, &found, *c);
		/* linked with --as-needed, since a header may be used for its device functions alone */
		struct str lib = str_from(know_component(*c)->link);
		if (lib.n)
			strs_put(a, &p->libraries, lib);
	}
	/* a library named in the description comes from the component of the same name */
	VEC_EACH (struct str, lib, &p->libraries) {
		const struct know_library *l = know_component(*lib);
		if (l && l->link)
			strs_put(a, &p->sdk.components, *lib);
	}
	struct str all = str_join(a, &p->sdk.components, S(", "));
	if (found.n)
		plan_explain(a, p, "sdk components", all, "the sources include headers of %.*s",
			STR(str_join(a, &found, S(", "))));
	else
		plan_explain(a, p, "sdk components", all,
			"the sources include no header of another component");
	plan_explain(a, p, "libraries",
		p->libraries.n ? str_join(a, &p->libraries, S(", ")) : S("amdhip64 only"),
		"those of the description and of the headers; linked only where they are used");
	return NULL;
}
