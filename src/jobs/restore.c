/* Takes the output of a job from a cache (cache/cache.h) instead of running its program; see job.h.
 *
 * The key is a hash over all that decides the output: the content of the compiler's files (jobs.identity), the
 * command, the preprocessed text, and the content of inputs that are not part of the text (a bundle of device code). The
 * text is what the compiler sees, so no header, macro, search path or __has_include can differ unseen. Where the text and
 * the command only say in which folder something lies, folders of this build are replaced by marks, so the same project
 * elsewhere has the same keys: the output does not depend on these (-ffile-prefix-map). A path in a string or a macro
 * stays. A text that makes the assembler read another file (.incbin) has no key. */
#include <time.h>

#include "base/fs.h"
#include "formats/depfile.h"
#include "jobs/job_int.h"

enum { MAX_TEXT = 512 << 20 };

/* Folders of this build become marks; or back. */
static struct str exchange(struct arena *a, const struct job *j, struct str text, bool back)
{
	struct job_root work = {.mark = "work", .dir = j->work};
	for (size_t i = 0; i <= j->set->roots.n; i++) { /* the innermost folder first */
		const struct job_root *r = i ? &j->set->roots.v[i - 1] : &work;
		struct str mark = str_fmt(a, "@{%s}", r->mark);
		if (r->dir.n > 1)
			text = str_replace(a, text, back ? mark : r->dir, back ? r->dir : mark);
	}
	return text;
}

/* Writes the preprocessed text where the job's output goes, and the depfile. False if the program cannot do it: then the
 * compile says why. */
static struct err *preprocess(struct arena *tmp, struct job *j, struct str part, bool *ret_good)
{
	struct proc p = j->proc;
	struct proc_result r;
	*ret_good = false;
	p.log = S("");
	p.argv = (struct strs){0};
	strs_add_all(tmp, &p.argv, &j->proc.argv);
	strs_add(tmp, &p.argv, S("-E"));
	TRY(job_empty_work(j));
	TRY(j->set->hooks->wrap(tmp, j, &p));
	TRY(proc_run(tmp, &p, &r));
	if (r.status)
		return NULL;
	TRY(job_check_regular(part));
	TRY(job_check_regular(j->depfile));
	j->report.start = r.start - j->set->began;
	j->report.seconds = r.seconds;
	j->report.cpu = r.cpu;
	j->report.memory = r.memory;
	*ret_good = true;
	return NULL;
}

static void hash_word(struct hash *h, struct str word)
{
	hash_add(h, word.p, word.n);
	hash_add(h, "", 1);
}

/* Folders of this build are hidden in options that only say where something is looked for, and in names of files. What
 * another option does with a path, nobody here knows. */
static void hash_words(
	struct arena *tmp, struct hash *h, const struct job *j, const struct strs *words)
{
	static const char *const places[] = {
		"-I", "-iquote", "-isystem", "-idirafter", "-ffile-prefix-map=", NULL};
	VEC_EACH (const struct str, w, words) {
		bool place = !str_starts(*w, S("-")) || str_starts_one_of(*w, places);
		hash_word(h, place ? exchange(tmp, j, *w, false) : *w);
	}
	hash_word(h, S("--"));
}

/* Adds the content of the inputs that the text does not contain: those that the depfile does not name. */
static struct err *hash_others(struct arena *tmp, struct hash *h, const struct job *j)
{
	struct strs in_text = {0};
	struct digest d;
	TRY(job_deps(tmp, j, &in_text));
	VEC_EACH (const struct str, path, &j->inputs) {
		if (strs_has(&in_text, *path))
			continue;
		TRY(hash_file(HASH_SHA256, *path, &d));
		hash_add(h, d.b, d.n);
	}
	return NULL;
}

struct err *job_cache_key(struct arena *tmp, struct job *j, struct str part, struct job_key *ret)
{
	struct str text = S(""), line;
	struct timespec now;
	bool good;
	*ret = (struct job_key){0};
	clock_gettime(CLOCK_REALTIME, &now);
	ret->began = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	TRY(preprocess(tmp, j, part, &good));
	if (!good)
		return NULL;
	TRY(fs_read(tmp, part, MAX_TEXT, &text));
	if (str_contains(text, S(".incbin")))
		return NULL;
	struct hash *h = hash_new(HASH_SHA256);
	struct strs head = {0};
	strs_add(tmp, &head, S("job 1"));
	strs_add(tmp, &head, j->set->identity);
	strs_add(tmp, &head, j->report.kind);
	strs_add(tmp, &head, j->proc.cwd);
	hash_words(tmp, h, j, &head);
	hash_words(tmp, h, j, &j->proc.argv);
	hash_words(tmp, h, j, &j->proc.setenv);
	hash_words(tmp, h, j, &j->key);
	struct err *e = hash_others(tmp, h, j);
	while (str_next(&text, '\n',
		&line)) { /* line markers (# 12 "/folder/file.h" 1) say where a line is from */
		ARENA(one);
		hash_word(h, str_starts(line, S("# ")) ? exchange(&one, j, line, false) : line);
	}
	ret->key = hash_end(h);
	ret->good = e == NULL;
	return e;
}

struct err *job_restore(
	struct arena *tmp, struct job *j, const struct job_key *k, struct str part, bool *ret_done)
{
	struct cache_entry entry;
	*ret_done = k->good && cache_get(tmp, j->set->cache, &k->key, &entry);
	if (!*ret_done)
		return NULL;
	struct err *e = fs_write(part, entry.object, 0644 | FS_LOOSE);
	fs_unmap(&entry.file);
	TRY(e);
	TRY(job_write_said(tmp, j, exchange(tmp, j, entry.said, true)));
	j->report.restored = true;
	return NULL;
}

/* Did a file that the job read change since the text was made? Then the output may be of another text. */
static bool changed_since(struct arena *tmp, const struct job *j, int64_t began)
{
	struct strs read = {0};
	struct stat st;
	struct err *e = job_deps(tmp, j, &read);
	bool ret = e != NULL;
	err_free(e);
	for (size_t i = 0; i < read.n && !ret; i++)
		ret = !fs_try_stat(read.v[i], &st) ||
		      (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec >= began;
	return ret;
}

void job_keep(struct arena *tmp, const struct job *j, const struct job_key *k, struct str part,
	struct str said)
{
	struct str object = {0};
	if (!k->good || changed_since(tmp, j, k->began))
		return;
	struct err *e = fs_map(part, &object);
	if (!e) {
		struct cache_entry entry = {.said = exchange(tmp, j, said, false),
			.object = object,
			.seconds = j->report.seconds,
			.cpu = j->report.cpu,
			.memory = j->report.memory};
		cache_put(j->set->cache, &k->key, &entry);
	}
	err_free(e);
	fs_unmap(&object);
}
