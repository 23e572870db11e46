/* Follows a build through the log of its compilers and the history; see cc.h. No error here may fail a build: data that
 * cannot be read counts as unknown. */
#include "base/fs.h"
#include "cc/cc_int.h"
#include "formats/node.h"

enum { PIECE = 4 << 20, SURE = 5 };

void cc_follow_start(struct str dir, struct str log_dir, unsigned jobs, struct cc_follow *ret)
{
	struct stat st;
	ARENA(tmp);
	struct str log = path_join(&tmp, log_dir, S("cc.jsonl"));
	*ret = (struct cc_follow){.dir = dir, .log = log_dir, .start = mono_now(), .jobs = jobs};
	if (fs_try_stat(log, &st))
		ret->at = (uint64_t)st.st_size;
	struct history_total past = {0};
	err_free(history_total(cc_file(&tmp, dir, "history"), &past));
	ret->left = past.sources;
	ret->left_seconds = past.seconds;
	ret->left_memory = past.memory;
}

void cc_follow_look(struct arena *a, struct cc_follow *f, struct strs *ret_now)
{
	ARENA(tmp);
	CLEANUP(fd_closep) int fd = -1;
	struct stat st;
	struct str log = path_join(&tmp, f->log, S("cc.jsonl")), text, line;
	err_free(ledger_names(a, cc_file(&tmp, f->dir, "ledger"), ret_now));
	if (!fs_try_stat(log, &st) || (uint64_t)st.st_size <= f->at)
		return;
	/* the next piece of the log, in whole lines; a line that is longer than a piece is skipped */
	uint64_t left = (uint64_t)st.st_size - f->at;
	size_t n = left < PIECE ? (size_t)left : PIECE, whole = n;
	char *p = arena_raw(&tmp, n);
	struct err *e = fs_open(log, &fd);
	if (!e)
		e = fs_pread(fd, p, n, f->at);
	err_free(e);
	if (e)
		return;
	while (whole && p[whole - 1] != '\n')
		whole--;
	f->at += whole ? whole : n == PIECE ? n : 0;
	text = (struct str){.p = p, .n = whole};
	while (str_next(&text, '\n', &line)) {
		const struct node *run;
		e = json_parse(&tmp, line, S("cc.jsonl"), &run);
		err_free(e);
		if (e || node_number(run, S("predicted"), 0) <= 0)
			continue;
		double seconds = node_number(run, S("seconds"), 0);
		double expected = node_number(run, S("expected"), 0);
		f->seen++;
		f->seconds += seconds;
		if (expected <= 0)
			continue;
		f->found++;
		f->found_seconds += seconds;
		f->found_expected += expected;
		f->left -= f->left > 0;
		f->left_seconds -= expected < f->left_seconds ? expected : f->left_seconds;
	}
}

double cc_follow_left(const struct cc_follow *f, uint64_t steps)
{
	double spent = mono_now() - f->start;
	if (f->seen < SURE || spent <= 0)
		return 0;
	double mean = f->seconds / f->seen, known = (double)f->found / f->seen;
	double before = f->left ? f->left_seconds / f->left : mean;
	if (f->found_expected > 0) /* scales to the speed of this build */
		before *= f->found_seconds / f->found_expected;
	double each = known * before + (1 - known) * mean;
	double at_once = f->seconds / spent;
	at_once = at_once > f->jobs ? f->jobs : at_once;
	return at_once > 0 ? (double)steps * each / at_once : 0;
}
