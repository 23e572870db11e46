/* From the shared options to a plan; see project_opts.h. */
#include "cli/project_opts.h"

#include "base/fs.h"
#include "term/out.h"

struct err *project_plan(
	struct arena *a, const struct common *common, struct plan_request *r, struct plan *ret)
{
	static const char *const settled[] = {"gpu", "sdk", "mirror", "keyring", "python", "source",
		"refresh", "feature", "version-suffix", "config", "with", "without",
		"torch-as-rocm", NULL};
	if (!r->dir.n)
		r->dir = S(".");
	if (!str_ends(r->dir, S(".json")) || fs_is_dir(r->dir))
		return plan_make(a, r, ret);
	for (size_t i = 0; settled[i]; i++)
		if (strs_has(&common->given, str_from(settled[i])))
			return err_hint(
				err_new(E_USAGE, "the plan '%.*s' has settled '--%s' already",
					STR(r->dir), settled[i]),
				"make another plan, or edit this one");
	return plan_read(a, r->dir, ret);
}

void project_say_findings(const struct plan *p)
{
	enum { SHOWN = 5 };
	size_t n = 0; /* of this kind */
	VEC_EACH (const struct finding, f, &p->findings) {
		bool last = f + 1 == f_end || strcmp(f->id, f[1].id) != 0;
		if (n++ < SHOWN)
			say_warning("%.*s: %.*s", STR(f->path), STR(f->message));
		if (last)
			VEC_EACH (const struct str, fix, &f->fix)
				say_hint("%.*s", STR(*fix));
		if (last && n > SHOWN)
			say_hint("%zu more of them: 'rocsmith hipify lint %.*s' shows all",
				n - SHOWN, STR(p->project));
		n = last ? 0 : n;
	}
}
