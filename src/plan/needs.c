/* Finds the SDK components and libraries that the sources need, from the headers that their translations include. */
#include "base/fs.h"
#include "hipify/hipify.h"
#include "know/know.h"
#include "plan/plan_int.h"

enum { MAX_SOURCE = 64 << 20, MAX_FILES = 4096 };

/* All files of a project that its own build system may compile, since only that system knows which ones it does. */
static struct err *possible_sources(struct arena *a, struct plan *p, struct strs *ret)
{
	enum { FOR_GPU = 3 };
	static const char *const patterns[] = {"**/*.cu", "**/*.cuh", "**/*.hip", "**/*.cpp",
		"**/*.cc", "**/*.cxx", "**/*.h", "**/*.hpp", NULL};
	for (size_t i = 0; patterns[i]; i++) {
		struct strs hits;
		TRY(plan_files(a, p, p->project, str_from(patterns[i]), &hits));
		for (size_t k = 0; k < hits.n && ret->n < MAX_FILES; k++)
			strs_add(a, ret, hits.v[k]);
		p->foreign->device |= hits.n && i < FOR_GPU;
	}
	return NULL;
}

struct err *plan_needs(struct arena *a, struct plan *p)
{
	struct strs headers = {0}, files = {0}, found = {0};
	bool kernels = p->foreign && p->foreign->torch, gpu = false;
	p->scans.a = a;
	VEC_EACH (struct plan_source, s, &p->sources)
		strs_add(a, &files, s->path);
	strs_add_all(a, &files, &p->headers);
	if (p->foreign)
		TRY(possible_sources(a, p, &files));
	VEC_EACH (struct str, f, &files) {
		struct str path = path_join(a, p->project, *f);
		struct hipify_text t;
		const struct plan_scan *scan;
		TRY(plan_scan_file(a, p, *f, MAX_SOURCE, &scan));
		kernels |= scan->cxx.kernels;
		gpu |= p->foreign ? p->foreign->device : scan->cxx.gpu || str_ends(*f, S(".cu"));
		struct err *e = hipify_text(a, scan->text, path, NULL, &t);
		if (e) { /* the build will report it */
			err_free(e);
			continue;
		}
		strs_put_all(a, &headers, &t.headers);
		VEC_EACH (const struct str, h, &t.gives)
			if (strs_put(a, &headers, *h))
				plan_explain(a, p, "header of rocsmith", *h,
					"'%.*s' uses what this header gives and HIP may lack",
					STR(*f));
	}
	if (gpu && !kernels && !p->no_kernels && files.n < MAX_FILES) {
		p->no_kernels = true;
		plan_explain(a, p, "kernels", S("none"),
			"no source has any, so the result may be without device code: it calls "
			"libraries "
			"and the driver");
	}
	strs_put_all(a, &headers, &p->external);
	struct strs components = know_headers(a, &headers);
	if (p->foreign)
		strs_put_all(a, &components, &p->foreign->links);
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
	plan_explain(a, p, "sdk components", all, "the sources include %s%.*s",
		found.n ? "headers of " : "no header of another component",
		STR(str_join(a, &found, S(", "))));
	plan_explain(a, p, "libraries",
		p->libraries.n ? str_join(a, &p->libraries, S(", ")) : S("amdhip64 only"),
		"those of the description and of the headers; linked only where they are used");
	return NULL;
}
