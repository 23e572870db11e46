/* Says what became of a project's sources for GPUs if its build made no device code of them; see foreign.h. */
#include "base/fs.h"
#include "base/glob.h"
#include "base/progress.h"
#include "cc/compile.h"
#include "devcode/devcode.h"
#include "foreign/foreign_int.h"
#include "formats/zip.h"
#include "know/know.h"
#include "source/gpu.h"

enum { MAX_LOG = 256 << 20, MAX_SCRIPT = 4 << 20, SHOWN = 8 };

struct compiled_files {
	const struct foreign *f;
	struct strs *files;
	struct strs objects; /* paths; "" = the log does not tell */
};

static struct err *add_compiled(void *user, const struct node *run)
{
	struct compiled_files *c = user;
	struct arena *a = c->f->a;
	if (!str_eq(node_text(run, S("kind"), S("")), S("hip")) ||
		node_number(run, S("status"), 1) != 0)
		return NULL;
	struct str dir = str_dup(a, node_text(run, S("dir"), S("")));
	struct str file =
		foreign_project_file(c->f, dir, str_dup(a, node_text(run, S("input"), S(""))));
	if (!file.n)
		return NULL;
	strs_put(a, c->files, file);
	struct str object = S("");
	bool next = false;
	NODE_EACH (word, node_member(run, S("argv"))) {
		struct str text = word->text;
		if (next)
			object = path_join(a, dir, text);
		next = str_eq(text, S("-o"));
	}
	strs_put(a, &c->objects, object);
	return NULL;
}

/* The files of the project that a compiler of the build compiled for GPUs, by its log. *ret_empty: all of their objects
 * are there, and have no kernels, whatever the sources have. */
static struct err *compiled_files(const struct foreign *f, struct strs *ret, bool *ret_empty)
{
	struct compiled_files c = {.f = f, .files = ret};
	struct devcode code;
	TRY(cc_log_runs(f->log, 0, add_compiled, &c));
	*ret_empty = c.objects.n > 0;
	for (size_t i = 0; i < c.objects.n && *ret_empty; i++) {
		/* the build can write the log: nothing else is read by it */
		struct str real, dir;
		*ret_empty = fs_real(f->a, c.objects.v[i], &real) && fs_real(f->a, f->dir, &dir) &&
			     path_is_below(real, dir) && fs_is_file(real);
		if (!*ret_empty)
			break;
		struct err *e = devcode_scan(f->a, real, DEVCODE_KERNELS, &code);
		*ret_empty = !e;
		err_free(e);
		for (size_t k = 0; !e && k < code.files.n; k++)
			VEC_EACH (const struct code_object, o, &code.files.v[k].objects)
				*ret_empty &= o->kernels == 0;
	}
	return NULL;
}

static struct err *add_differences(void *user, const struct node *run)
{
	struct foreign *f = user;
	NODE_EACH (pass, node_member(run, S("passes"))) {
		if (!str_eq(node_text(pass, S("front"), S("")), S("differs")))
			continue;
		struct finding *fi = finding_note(f->a, &f->findings, "front-end-differs",
			node_text(run, S("input"), S("")),
			"its object for %.*s differs with a shared front end; the direct one is "
			"used",
			STR(node_text(pass, S("gpu"), S(""))));
		fi->severity = f->share == FRONT_PROVE ? SEV_ERROR : SEV_WARNING;
		finding_fix(f->a, fi, "rocsmith build --share-frontend=off");
	}
	return NULL;
}

struct err *foreign_differences(struct foreign *f)
{
	return f->share == FRONT_OFF ? NULL : cc_log_runs(f->log, f->since, add_differences, f);
}

/* Has the wheel all these files as they are, for a compiler that runs later (NVRTC)? If the scripts of the build know
 * CUDA, it should have compiled them, and many projects pack their sources, too. */
static bool are_packed(const struct foreign *f, const struct strs *files)
{
	struct zip z;
	size_t found = 0;
	if (VEC_FIND(struct plan_reason, &f->plan->reasons, subject, S("gpu code")))
		return false;
	struct err *e = zip_open(f->a, f->result, NULL, &z);
	for (size_t i = 0; !e && i < files->n; i++)
		for (size_t k = 0, in = 0; k < z.members.n && !in; k++) {
			in = str_eq(path_base(z.members.v[k].name), path_base(files->v[i]));
			found += in;
		}
	if (!e)
		zip_close(&z);
	err_free(e);
	return found == files->n;
}

/* "'line' (log/wheel.log:12)", where the build's output says that it gives CUDA up, with the next line if that has the
 * reason; "" = nowhere. ret_hint: what it lacked for it, perhaps. */
static struct str given_up(const struct foreign *f, struct str *ret_hint)
{
	static const char *const logs[] = {"configure", "wheel", "build"};
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		struct str text = {0}, line = {0},
			   path = str_fmt(f->a, "%.*s/%s.log", STR(f->log), logs[i]);
		err_free(fs_read_opt(f->a, path, MAX_LOG, &text));
		const struct know_rule *lacks = know_match("cuda-lacks", text, &line);
		if (lacks)
			*ret_hint = know_hint(f->a, lacks, line);
		if (!text.n || !know_match("cuda-off", text, &line))
			continue;
		size_t at = (size_t)(line.p - text.p);
		unsigned number = 1 + str_count(str_sub(text, 0, at), '\n');
		struct str rest = str_sub(text, at, text.n), why = {0};
		(void)str_next(&rest, '\n', &line);
		line = str_trim(line);
		if (str_ends(line, S(":")) && str_next(&rest, '\n', &why))
			line = str_fmt(f->a, "%.*s %.*s", STR(line), STR(str_trim(why)));
		return str_fmt(f->a, "'%.*s' (%.*s:%u)", STR(line), STR(path), number);
	}
	return S("");
}

bool foreign_installs_nothing(const struct foreign *f)
{
	struct strs files = {0};
	bool installs = false;
	err_free(glob_files(f->a, f->plan->project, S("**/CMakeLists.txt"), &files));
	VEC_EACH (const struct str, file, &files) {
		struct str text = {0};
		err_free(fs_read_opt(
			f->a, path_join(f->a, f->plan->project, *file), MAX_SCRIPT, &text));
		text = str_lower(f->a, text);
		installs = installs || str_contains(text, S("install(")) ||
			   str_contains(text, S("install (")) ||
			   str_contains(text, S("_output_directory"));
	}
	return files.n && !installs;
}

/* Leaves out sources of tests and examples, unless there are no others. */
static void drop_aside(struct arena *a, struct strs *io_files)
{
	struct strs main = {0};
	VEC_EACH (const struct str, file, io_files)
		if (!source_is_aside(*file))
			strs_add(a, &main, *file);
	if (main.n)
		*io_files = main;
}

struct err *foreign_without_kernels(const struct foreign *f, struct findings *ret)
{
	const struct plan_foreign *how = f->plan->foreign;
	struct strs files, more, compiled = {0}, shown = {0};
	struct str hint = S(""), gave_up = given_up(f, &hint);
	TRY(glob_files(f->a, f->plan->project, S("**/*.cu"), &files));
	TRY(glob_files(f->a, f->plan->project, S("**/*.hip"), &more));
	strs_add_all(f->a, &files, &more);
	drop_aside(f->a, &files);
	bool empty;
	TRY(compiled_files(f, &compiled, &empty));
	if (!files.n && !compiled.n) {
		const struct finding *fi =
			finding_note(f->a, ret, "gpu-code-none", f->plan->project,
				"no device code: its sources have no .cu or .hip file to compile");
		progress_note(S("Noted"), "%.*s", STR(fi->message));
		return NULL;
	}
	if (!how->device)
		return NULL; /* its description says so */
	bool later = !compiled.n && !gave_up.n && are_packed(f, &files);
	const struct strs *list = compiled.n ? &compiled : &files;
	enum { HOST_CALLS, MACROS, LOST, OFF, LATER, LEFT_OUT };
	const struct {
		bool here;
		const char *id, *text;
	} rows[] = {
		{compiled.n && f->plan->no_kernels, "kernels-none", "no kernels, only host calls"},
		{empty, "kernels-none",
			"compiled, and their macros leave out all kernels: only host calls"},
		{compiled.n > 0, "device-none",
			"compiled for GPUs, but the result has no kernels of it"},
		{how->gpu_off, "gpu-code-off", "left out, as you want it"},
		{later, "gpu-code-at-run-time", "packed as it is, for a compiler that runs later"},
		{true, "gpu-code-left-out", "not compiled by the build"}};
	size_t i = 0;
	while (!rows[i].here)
		i++;
	for (size_t k = 0; k < list->n && k < SHOWN; k++)
		strs_add(f->a, &shown, list->v[k]);
	if (list->n > SHOWN)
		strs_fmt(f->a, &shown, "%zu more", list->n - SHOWN);
	bool bad = i == LOST || i == LEFT_OUT;
	struct str more_words =
		i == LEFT_OUT && gave_up.n ? str_fmt(f->a, "; the build says %.*s", STR(gave_up))
		: i == OFF ? str_fmt(f->a, "; %.*s", STR(str_join(f->a, &how->advice, S("; "))))
			   : S("");
	struct finding *fi = finding_note(f->a, ret, rows[i].id, f->plan->project, "%s: %.*s%.*s",
		rows[i].text, STR(str_join(f->a, &shown, S(", "))), STR(more_words));
	if (!bad)
		progress_note(S("Noted"), "%.*s", STR(fi->message));
	for (size_t k = 0; i == LEFT_OUT && k < how->advice.n; k++)
		finding_fix(f->a, fi, "%.*s", STR(how->advice.v[k]));
	if (i == LOST && foreign_installs_nothing(f))
		finding_fix(f->a, fi,
			"its CMakeLists.txt has no install(), so what it makes stays out of the "
			"wheel, for CUDA as well: add install(TARGETS ... DESTINATION ...)");
	if (i == LEFT_OUT && hint.n)
		finding_fix(f->a, fi, "%.*s", STR(hint));
	return NULL;
}
