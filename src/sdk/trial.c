/* Tries an installed SDK, as AMD's `rocm-sdk test` does: the loader loads each library of ROCm, with all its symbols bound,
 * into a shell that does nothing, and each program is asked for its help. None needs a GPU: a program that runs may end
 * with any status. */
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "base/pool.h"
#include "base/progress.h"
#include "know/know.h"
#include "sdk/provider.h"

enum { SECONDS = 20, NOT_RUN = 126, KILLED = 128 };

/* Parts of paths: runtimes of sanitizers, which want to come first, and plugins, whose host has their symbols. */
static const char *const untried[] = {"clang_rt", "san.so", "LLVMOffload", "/roctracer/",
	"/rocprofiler-sdk/", "/python", ".cpython-", "libpy", "test", NULL};
/* These words stand before the reason of a loader, or of the sandbox. */
static const char *const marks[] = {"error while loading shared libraries: ",
	"symbol lookup error: ", "cannot be preloaded ", "bwrap: execvp ", NULL};

struct sdk_trial {
	const struct sdk *sdk;
	struct progress *progress;
	struct str path, seen; /* in the tree; as its programs see it */
	bool library;
	char why[512]; /* returned; "" = it works */
};

/* NULL if a library was loaded, or a program has started. */
static struct err *trial_failure(
	const struct sdk_trial *t, const struct proc *p, const struct proc_result *r)
{
	bool runs = r->timed_out || r->status < NOT_RUN || r->status == KILLED + SIGABRT;
	for (size_t i = 0; marks[i]; i++) {
		size_t at = str_find(r->out, str_from(marks[i])), from = at + strlen(marks[i]);
		struct str said = str_sub(r->out, from, r->out.n);
		if (at < r->out.n)
			return err_new(
				E_TOOL_FAILED, "%.*s", STR(str_sub(said, 0, str_chr(said, '\n'))));
	}
	if (t->library ? !r->status : runs)
		return NULL;
	return proc_failure(p, r);
}

static struct err *try_one(struct arena *tmp, void *user)
{
	struct sdk_trial *t = user;
	struct proc p = {.merge = true, .timeout = SECONDS};
	struct proc_result r;
	const char *path = str_z(tmp, t->seen), *loader = "/lib64/ld-linux-x86-64.so.2";
	strs_add(tmp, &p.setenv, S("LD_BIND_NOW=1"));
	if (t->library)
		proc_arg(tmp, &p, loader, "--preload", path, "/bin/sh", "-c", ":", NULL);
	else
		proc_arg(tmp, &p, path, "--help", NULL);
	TRY(sdk_wrap(tmp, t->sdk, NULL, &p));
	CLEANUP(err_freep) struct err *e = proc_run(tmp, &p, &r);
	TRY(cancel_check());
	if (!e)
		e = trial_failure(t, &p, &r);
	if (e)
		snprintf(t->why, sizeof(t->why), "%s", err_root(e)->msg);
	progress_add(t->progress, 1, path_base(t->path));
	return NULL;
}

/* Is a file of the tree a library of ROCm, or a program? */
static bool to_try(struct arena *tmp, struct str full, struct sdk_trial *io)
{
	struct str head = {0}, version;
	const struct know_other *other = know_soname(path_base(io->path));
	/* "Kernels.so-000-gfx1100.hsaco" is none: rocBLAS loads it into a GPU */
	io->library = path_library(io->path, &version).n > 0;
	if (str_contains_one_of(io->path, untried))
		return false;
	if (!io->library)
		return str_eq(path_base(path_dir(io->path)), S("bin")) && fs_access(full, X_OK);
	err_free(fs_read_head(tmp, full, SELFMAG, &head));
	return str_eq(head, S(ELFMAG)) && (!other || other->origin == KNOW_ROCM);
}

struct err *sdk_try(struct arena *a, struct str name, size_t *io_tried, struct findings *ret)
{
	struct sdk sdk;
	struct sdk_receipt m;
	VEC(struct sdk_trial) all = {0};
	TRY(sdk_open_name(a, name, &sdk));
	TRY(sdk_receipt_read(a, sdk.dir, &m));
	struct str root = path_join(a, sdk.dir, S("root")), inside = S("/"), text;
	struct sdk_trial t = {.sdk = &sdk};
	struct sdk_file f;
	bool bad;
	VEC_EACH (const struct sdk_package, p, &m.packages) {
		if (m.index_date.n && !know_rocm_package(p->name)) /* a distribution's packages */
			continue;
		TRY(fs_read(a, file_list_path(a, sdk.dir, p->name), FILE_LIST_MAX, &text));
		while (file_list_next(&text, &f, &bad)) {
			t.path = f.path;
			t.seen = path_join(a, sdk.root.n ? inside : root, f.path);
			if (f.type == 'f' && to_try(a, path_join(a, root, f.path), &t))
				*VEC_PUSH(a, &all) = t;
		}
	}
	if (sdk.runner == SDK_NORUN)
		return NULL;
	*io_tried += all.n;
	struct progress *bar = progress_begin(S("Trying"), sdk.name, UNIT_ITEMS, all.n);
	VEC_EACH (struct sdk_trial, x, &all)
		x->progress = bar;
	struct err *e = pool_each(0, all.v, all.n, sizeof(*all.v), try_one);
	progress_end(bar);
	VEC_EACH (const struct sdk_trial, x, &all) {
		const char *id = x->library ? "sdk-library-fails" : "sdk-program-fails";
		if (x->why[0])
			finding_note(a, ret, id, x->path, "'%.*s' %s: %s", STR(x->path),
				x->library ? "cannot be loaded" : "does not start", x->why);
	}
	return e;
}
