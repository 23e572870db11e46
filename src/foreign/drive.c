/* driver.py, which does in the build's Python environment what only Python can. */
#include "base/fs.h"
#include "foreign/foreign_int.h"
#include "formats/node.h"

struct err *foreign_drive(
	struct foreign *f, const char *kind, const struct strs *words, const struct node **ret)
{
	struct proc p = {.cwd = f->tree};
	struct proc_result r;
	struct str driver = path_join(f->a, f->state, S("driver.py"));
	struct str result = path_join(f->a, f->state, S("answer.json"));
	TRY(fs_write_if_changed(driver, foreign_driver, 0644));
	TRY(fs_remove(result));
	strs_add(f->a, &p.argv, path_join(f->a, f->venv, S("bin/python")));
	proc_arg(f->a, &p, "-I", "-X", "utf8", str_z(f->a, driver), str_z(f->a, words->v[0]),
		str_z(f->a, result), NULL);
	for (size_t i = 1; i < words->n; i++)
		strs_add(f->a, &p.argv, words->v[i]);
	/* A torch for a newer libc than this machine's can be imported with that one alone, and what was
	 * built loaded. */
	bool loads = str_eq(words->v[0], S("load"));
	if (loads || (!f->plan->host_native && f->plan->foreign->torch))
		TRY(sdk_wrap_host(f->a, f->sdk, &p));
	TRY(foreign_run(f, kind, &p, &r));
	return json_read(f->a, result, ret);
}
