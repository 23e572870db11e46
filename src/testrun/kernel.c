/* The words of the kernel's log about GPUs, and about memory that ran out, while a process of the tests ran: why a GPU was reset is
 * said nowhere else. Its lines are told from older ones by the last line that was there before, not by times, which the log has
 * by another clock. Sources: linux, drivers/gpu/drm/amd (amdgpu, amdkfd), mm/oom_kill.c. */
#include "base/fs.h"
#include "testrun/testrun_int.h"

enum { KERNEL_LINES = 100, KERNEL_LINE = 400, KERNEL_LOG = 4 << 20 };

/* Either may be forbidden to users: the first by kernel.dmesg_restrict, the second outside of the journal's group. */
static struct err *read_kernel(struct arena *a, struct str *ret, struct str *ret_why)
{
	static const char *const readers[][10] = {
		{"dmesg"}, {"journalctl", "-k", "-b", "-q", "--no-pager", "-n", "2000", "-o",
				   "short-monotonic"}};
	struct strs why = {0};
	*ret = *ret_why = S("");
	for (size_t i = 0; i < sizeof(readers) / sizeof(*readers) && !ret->n; i++) {
		struct proc p = {.limit = KERNEL_LOG, .timeout = 10};
		struct proc_result got = {0};
		strs_add_words(a, &p.argv, readers[i]);
		struct err *e = proc_check(a, &p, &got);
		if (e && e->code == E_CANCELLED)
			return e;
		strs_fmt(a, &why, "%s: %.*s", readers[i][0],
			STR(e && got.err.n ? str_trim(got.err)
				: e        ? str_from(e->msg)
					   : S("nothing")));
		*ret = e ? S("") : str_trim(got.out);
		err_free(e);
	}
	if (!ret->n)
		*ret_why = str_join(a, &why, S("; "));
	return NULL;
}

struct err *kernel_mark(struct test_run *r, struct test_start *s)
{
	struct str why;
	s->kernel = (struct str){0};
	if (!r->env || (!r->env->devices.n && !r->env->machine.gpus.n))
		return NULL;
	TRY(read_kernel(r->a, &s->kernel, &why));
	size_t at = str_rchr(s->kernel, '\n');
	s->kernel = str_sub(s->kernel, at < s->kernel.n ? at + 1 : 0, s->kernel.n);
	return NULL;
}

struct strs kernel_lines(struct arena *a, struct str text, struct str mark)
{
	static const char *const words[] = {
		"amdgpu", "kfd", "[drm", "NVRM", "Out of memory", "oom-kill", NULL};
	struct strs lines = {0};
	struct str line, first = str_fmt(a, "%.*s\n", STR(mark));
	size_t at = mark.n ? str_find(text, first) : text.n;
	if (at < text.n) /* else so much was said since that it is gone */
		text = str_sub(text, at + first.n, text.n);
	else if (mark.n && str_ends(text, mark))
		return lines;
	while (str_next(&text, '\n', &line) && lines.n < KERNEL_LINES)
		if (str_contains_one_of(line, words)) {
			size_t n = utf8_fit(line, KERNEL_LINE, KERNEL_LINE);
			strs_add(a, &lines, str_sub(line, 0, n));
		}
	return lines;
}

struct err *kernel_tell(struct test_run *r, struct test_start *s, struct str id)
{
	struct arena *a = r->a;
	struct str text, why, log = path_join(a, r->out->logs, s->log);
	if (!s->kernel.p)
		return NULL;
	TRY(read_kernel(a, &text, &why));
	struct strs lines = kernel_lines(a, text, s->kernel);
	s->kernel = (struct str){0};
	if (why.n && !r->silent) {
		struct finding *f = finding_note(a, &r->out->findings, "test-kernel", S(""),
			"the kernel's log may not be read, so a reset of the GPU would not be "
			"seen: %.*s",
			STR(why));
		finding_fix(a, f,
			"sudo sysctl kernel.dmesg_restrict=0, or join the group systemd-journal");
	}
	if (!lines.n)
		return NULL;
	VEC_EACH (const struct str, line, &lines) {
		TRY(fs_append(log, str_fmt(a, "%.*s\n", STR(*line))));
		if (r->out->kernel.n < KERNEL_LINES)
			strs_add(a, &r->out->kernel, *line);
	}
	if (!r->silent)
		evidence_say(a, r->out, SEV_WARNING, "test-kernel",
			"the kernel said while '%.*s' ran: %.*s (%s in all)", STR(id),
			STR(lines.v[0]), human_count(a, lines.n, "line").p);
	return NULL;
}
