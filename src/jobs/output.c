/* A job's program, and the files around it: its folder, what its program read and said, and its stamp. See job_int.h. */
#include "base/fs.h"
#include "formats/depfile.h"
#include "jobs/job_int.h"

enum { MAX_DEPFILE = 64 << 20, MAX_SAID = 1 << 20 };

struct err *job_run_program(
	struct arena *tmp, const struct job *j, const struct strs *argv, struct proc_result *ret)
{
	struct proc p = j->proc;
	p.argv = (struct strs){0};
	strs_add_all(tmp, &p.argv, argv);
	TRY(j->set->hooks->wrap(tmp, j, &p));
	return proc_run(tmp, &p, ret);
}

void job_note_run(struct job *j, const struct proc_result *r)
{
	j->report.start = r->start - j->set->began;
	j->report.cost = (struct job_cost){r->seconds, r->cpu, r->memory};
}

struct str job_stamp_path(struct arena *a, const struct job *j)
{
	return path_join(a, j->set->stamps_dir, path_base(j->output));
}

static struct str said_path(struct arena *a, const struct job *j)
{
	return str_fmt(a, "%.*s.said", STR(job_stamp_path(a, j)));
}

struct str job_said(struct arena *a, const struct job *j)
{
	struct str text = S("");
	err_free(j->report.done ? fs_read(a, said_path(a, j), MAX_SAID, &text) : NULL);
	return text;
}

struct err *job_check_regular(struct str path)
{
	struct stat st;
	TRY(fs_lstat(path, &st));
	return S_ISREG(st.st_mode)
		       ? NULL
		       : err_new(E_TOOL_FAILED, "'%.*s' is not a regular file", STR(path));
}

struct err *job_empty_work(const struct job *j)
{
	TRY(fs_remove_tree(j->work));
	return fs_mkdirs(j->work);
}

struct err *job_write_said(struct arena *tmp, const struct job *j, struct str said)
{
	struct str path = said_path(tmp, j);
	return said.n ? fs_write(path, str_sub(said, 0, MAX_SAID), 0644) : fs_remove(path);
}

struct err *job_deps(struct arena *a, const struct job *j, struct strs *ret)
{
	struct strs deps;
	struct str text = S("");
	if (j->depfile.n)
		TRY(fs_read(a, j->depfile, MAX_DEPFILE, &text));
	depfile_parse(a, text, &deps);
	VEC_EACH (struct str, dep, &deps) {
		struct str path = path_clean(a, path_join(a, j->proc.cwd, *dep));
		path = j->set->hooks->locate(a, j, path);
		if (path.n)
			strs_add(a, ret, path);
	}
	return NULL;
}
