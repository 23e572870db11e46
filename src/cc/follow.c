/* Follows a build through the log of its compilers and the history; see cc.h. No error here may fail a build: data that
 * cannot be read counts as unknown. */
#include <string.h>

#include "base/fs.h"
#include "cc/cc_int.h"
#include "formats/node.h"

enum { PIECE = 4 << 20, SURE = 5, LATE = 600 /* seconds */, PRIOR = 5 /* steps */, FAR = 20 };

#define PACE_SURE 0.01 /* below, the pace says nothing about the rest */

/* The costs of steps by kind, in those of C++, until enough of them ran: measured with PyTorch 2.6.0. */
static const double usual[FOLLOW_KINDS] = {
	[CC_C] = 0.2, [CC_CXX] = 1, [CC_HIP] = 1.7, [CC_LINK] = 0.2};

struct err *cc_log_runs(struct str log_dir, double since, cc_run_fn *fn, void *user)
{
	ARENA(a);
	struct str path = path_join(&a, log_dir, S("cc.jsonl")), text, line;
	struct err *e = NULL;
	if (!fs_exists(path))
		return NULL;
	TRY(fs_map(path, &text));
	struct str rest = text;
	while (!e && str_next(&rest, '\n', &line)) {
		ARENA(tmp);
		const struct node *run;
		struct err *torn = json_parse(&tmp, line, path, &run);
		if (!torn && node_number(run, S("start"), 0) >= since)
			e = fn(user, run);
		err_free(torn);
	}
	fs_unmap(&text);
	return e;
}

void cc_follow_start(
	struct str dir, struct str log_dir, unsigned jobs, double now, struct cc_follow *ret)
{
	struct stat st;
	ARENA(tmp);
	struct str log = path_join(&tmp, log_dir, S("cc.jsonl"));
	*ret = (struct cc_follow){.dir = dir, .log = log_dir, .looked = now, .jobs = jobs};
	if (fs_try_stat(log, &st))
		ret->at = (uint64_t)st.st_size;
	struct history_total past = {0};
	err_free(history_total(cc_file(&tmp, dir, "history"), &past));
	ret->left = past.sources;
	ret->left_seconds = past.seconds;
	ret->left_memory = past.memory;
}

/* "build OUT ...: RULE IN ...": the kind of a step, by the names that CMake and torch's cmake give. */
static enum cc_kind kind_of_step(struct str out, struct str rule)
{
	if (str_contains(rule, S("LINKER")))
		return CC_LINK;
	if (!str_ends(out, S(".o")))
		return CC_OTHER;
	if (str_starts(rule, S("HIP_")) || str_ends(out, S(".hip.o")) ||
		str_contains(out, S("_hip_generated_")))
		return CC_HIP;
	return str_starts(rule, S("C_")) ? CC_C : CC_CXX;
}

void cc_follow_steps(struct cc_follow *f, struct str manifest, uint64_t steps, double now)
{
	ARENA(tmp);
	MAP(done, &tmp);
	struct str text = {0}, log = {0}, line, out, rest, rule, begin = S("build ");
	double all = 0, every = 0;
	f->looked = now;
	f->seen = f->found = 0;
	f->cpu = f->found_cpu = f->found_expected = f->late_cpu = f->late_seconds = 0;
	memset(f->ran, 0, sizeof(f->ran));
	memset(f->took, 0, sizeof(f->took));
	memset(f->planned, 0, sizeof(f->planned));
	err_free(fs_map(str_fmt(&tmp, "%.*s/.ninja_log", STR(path_dir(manifest))), &log));
	struct str lines = log;
	while (str_next(&lines, '\n', &line)) { /* start, end, mtime, output, hash */
		for (unsigned i = 0; i < 4; i++)
			str_cut(line, '\t', &out, &line);
		map_put(&done, out, f);
	}
	struct err *e = fs_map(manifest, &text);
	lines = text;
	while (!e && str_next(&lines, '\n', &line)) {
		if (!str_starts(line, begin) ||
			!str_cut(str_sub(line, begin.n, line.n), ':', &out, &rest))
			continue;
		out = str_sub(out, 0, str_chr(out, ' '));
		rest = str_trim(rest);
		rule = str_sub(rest, 0, str_chr(rest, ' '));
		if (str_eq(rule, S("phony")))
			continue;
		every++;
		if (!map_get(&done, out))
			f->planned[kind_of_step(out, rule)]++;
	}
	err_free(e);
	fs_unmap(&text);
	fs_unmap(&log);
	for (unsigned k = 0; k < FOLLOW_KINDS; k++)
		all += f->planned[k];
	f->prior = every > 0 ? f->whole * (double)steps / every : 0;
	f->before = every > (double)steps ? every - (double)steps : 0;
	f->of_all = f->before + (double)steps;
	for (unsigned k = 0; k < FOLLOW_KINDS;
		k++) /* the manifest also has what nobody asked for */
		f->planned[k] = all > 0 ? f->planned[k] * (double)steps / all : 0;
}

void cc_follow_look(struct arena *a, struct cc_follow *f, double now, struct strs *ret_now)
{
	ARENA(tmp);
	CLEANUP(fd_closep) int fd = -1;
	struct stat st;
	struct str log = path_join(&tmp, f->log, S("cc.jsonl")), text, line;
	double passed = now - f->looked, fade = 1 / (1 + passed / LATE);
	f->looked = now;
	f->late_cpu *= fade;
	f->late_seconds = f->late_seconds * fade + passed;
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
		double cpu = node_number(run, S("cpu"), 0);
		double expected = node_number(run, S("expected"), 0);
		struct str word = node_text(run, S("kind"), S(""));
		unsigned kind = CC_C;
		while (kind < CC_LINK && !str_eq(word, str_from(cc_kind_names[kind])))
			kind++;
		double seconds = node_number(run, S("seconds"), 0);
		f->late_cpu += seconds > f->late_seconds ? cpu * f->late_seconds / seconds : cpu;
		/* a few that take as long as hundreds tell nothing about the others */
		double most = FAR * (f->cpu + cpu) / (f->seen + 1);
		cpu = cpu > most && f->seen > SURE ? most : cpu;
		f->cpu += cpu;
		if (str_eq(node_text(run, S("pch"), S("")), S("made"))) /* a step's by-product */
			continue;
		f->seen++;
		f->ran[kind]++;
		f->took[kind] += cpu;
		if (expected <= 0)
			continue;
		f->found++;
		f->found_cpu += cpu;
		f->found_expected += expected;
		f->left -= f->left > 0;
		f->left_seconds -= expected < f->left_seconds ? expected : f->left_seconds;
	}
}

/* The part of the manifest's work that is done with so many steps. */
static double pace_at(const struct cc_follow *f, double steps)
{
	double at = f->of_all > 0 ? steps / f->of_all * FOLLOW_PARTS : 0;
	unsigned i = at < FOLLOW_PARTS ? (unsigned)at : FOLLOW_PARTS - 1;
	double from = i ? f->pace[i - 1] : 0;
	return from + (f->pace[i] - from) * (at - i);
}

double cc_follow_left(const struct cc_follow *f, uint64_t steps)
{
	double usual_ran = 0, work = 0, left = 0, total = f->planned[CC_OTHER],
	       of_kind[FOLLOW_KINDS];
	if (f->seen < SURE || f->late_seconds <= 0 || f->late_cpu <= 0)
		return 0;
	for (unsigned k = CC_C; k < FOLLOW_KINDS; k++)
		usual_ran += usual[k] * f->ran[k];
	for (unsigned k = CC_C; k < FOLLOW_KINDS; k++) { /* the compiles left, by kind */
		of_kind[k] = f->planned[k] > f->ran[k] ? f->planned[k] - f->ran[k] : 0;
		left += of_kind[k];
		total += f->planned[k];
	}
	left = left > (double)steps ? left : (double)steps;
	double speed = f->cpu / usual_ran; /* CPU seconds for a usual step of C++ */
	for (unsigned k = CC_C; k < FOLLOW_KINDS; k++) {
		double mean = (f->took[k] + PRIOR * usual[k] * speed) / (f->ran[k] + PRIOR);
		work += mean * (total > 0 ? of_kind[k] / left : f->ran[k] / f->seen);
	}
	double known = (double)f->found / f->seen;
	if (f->left && f->found_expected > 0) /* as long ago, at the speed of this build */
		work = (1 - known) * work +
		       known * f->left_seconds / f->left * f->found_cpu / f->found_expected;
	work *= (double)steps;
	/* the first steps are often quick: the description counts for as much of the work as is not done yet */
	double part = f->prior > f->cpu ? f->cpu / f->prior : 1;
	double ran = total > 0 ? 1 - (double)steps / total : 1;
	part = ran > part ? ran : part;
	part *= part;
	if (!f->found && part < 1)
		work = part * work + (1 - part) * (f->prior - f->cpu + f->prior * (1 - ran)) / 2;
	double begun = pace_at(f, f->before), done = pace_at(f, f->of_all - (double)steps) - begun;
	if (!f->found && done > PACE_SURE) /* on this machine the work of before took f->cpu */
		work = f->cpu * (1 - begun - done) / done;
	double rate = f->late_cpu / f->late_seconds;
	rate = rate < f->jobs ? rate : f->jobs;
	/* beside many cores, what waits for each other counts: Brent's bound for the time on a number of processors */
	double chain = rate > 1 ? f->chain * (1 - begun - done) * (1 - 1 / rate) : 0;
	return work / rate + chain;
}
