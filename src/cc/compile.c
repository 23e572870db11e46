/* Splits a compile into passes; see compile.h. Options are those of clang's driver. */
#include "cc/compile.h"

#include "base/fs.h"
#include "base/hash.h"
#include "cc/cc_int.h"
#include "formats/bundle.h"

/* ---- from a step to passes ---- */

struct compile_pass *compile_add_pass(struct arena *a, const struct compile_step *step,
	struct compile_passes *io, struct str output)
{
	struct compile_pass *p = VEC_PUSH(a, io);
	*p = (struct compile_pass){
		.output = output, .work = path_join(a, step->work, path_base(output))};
	p->out = path_join(a, p->work, S("out"));
	if (step->depfiles)
		p->depfile = path_join(a, p->work, S("dep"));
	strs_add_all(a, &p->argv, &step->words);
	STRS_ADD(a, &p->argv, S("-o"), p->out);
	return p;
}

void compile_passes(struct arena *a, const struct compile_step *step, struct compile_passes *ret)
{
	const struct strs of_device =
		str_split(a, S("--offload-device-only --no-gpu-bundle-output"), ' ');
	const struct strs of_host = str_split(
		a, S("--offload-host-only -Xclang -fcuda-include-gpubinary -Xclang"), ' ');
	size_t gpus = step->gpus.n;
	*ret = (struct compile_passes){0};
	VEC_EACH (const struct str, gpu, &step->gpus) {
		struct compile_pass *p = compile_add_pass(
			a, step, ret, str_fmt(a, "%.*s.%.*s.co", STR(step->parts), STR(*gpu)));
		p->kind = "device";
		p->gpu = *gpu;
		strs_add_all(a, &p->argv, &of_device);
		strs_fmt(a, &p->argv, "--offload-arch=%.*s", STR(*gpu));
		if (!step->depfiles)
			continue;
		/* the driver drops -MD on the device side of HIP, but cc1 accepts its equivalent */
		const struct str words[] = {S("-dependency-file"), p->depfile,
			S("-sys-header-deps"), S("-MT"), S("out")};
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			STRS_ADD(a, &p->argv, S("-Xclang"), words[i]);
	}
	struct str bundle = str_fmt(a, "%.*s.hipfb", STR(step->parts));
	if (gpus)
		*VEC_PUSH(a, ret) =
			(struct compile_pass){.kind = "bundle", .end = gpus, .output = bundle};
	struct compile_pass *host = compile_add_pass(a, step, ret, step->object);
	host->kind = step->kind;
	strs_add_all(a, &host->argv, &step->host_words);
	if (step->depfiles)
		STRS_ADD(a, &host->argv, S("-MD"), S("-MF"), host->depfile);
	if (!gpus)
		return;
	host->first = gpus;
	host->end = gpus + 1;
	strs_add_all(a, &host->argv, &of_host);
	strs_add(a, &host->argv, bundle);
}

struct err *compile_join(const struct strs *gpus, const struct strs *objects, struct str path)
{
	return bundle_write(path, gpus, objects);
}

/* ---- from a command line to a step ---- */

enum word_use { WORD_SHARED, WORD_HOST, WORD_OUTPUT, WORD_GPU, WORD_DOUBTFUL };

/* The passes that get an argument. It is doubtful if it is in no list, if clang passes it to one side only, or if it
 * names further outputs. */
static enum word_use use_of(struct str word)
{
	const struct clang_words *known = clang_words_table();
	if (str_eq(word, S("-o")))
		return WORD_OUTPUT;
	if (str_starts(word, S("--offload-arch=")))
		return WORD_GPU;
	if (str_is_one_of(word, known->passes))
		return WORD_SHARED;
	if (str_starts_one_of(word, known->tools_begins))
		return WORD_DOUBTFUL;
	if (str_starts_one_of(word, known->passes_begins))
		return WORD_SHARED;
	return str_starts_one_of(word, known->depends_begins) ? WORD_HOST : WORD_DOUBTFUL;
}

bool compile_read(struct arena *a, struct str name, const struct strs *args,
	const struct strs *places, struct compile_step *ret)
{
	unsigned sources = 0;
	struct strs depends = {0}; /* the options for dependency files */
	struct str source = S("");
	bool hip = str_eq(name, S("hipcc")), has_id = false;
	*ret = (struct compile_step){.kind = "host"};
	for (size_t i = 0; i < args->n; i++) {
		struct str word = args->v[i], value = S("");
		bool option = word.n > 1 && word.p[0] == '-';
		enum word_use use = option ? use_of(word) : WORD_SHARED;
		bool two = option && cc_takes_value(word);
		if (two && i + 1 < args->n)
			value = args->v[++i];
		/* passes would each want the whole of a stream, which can be read once */
		bool stream = str_eq(word, S("-")) ||
			      (str_starts(word, S("/dev/")) && !str_starts(word, S("/dev/shm/")));
		if (use == WORD_DOUBTFUL || !word.n || word.p[0] == '@' || (two && !value.n) ||
			stream)
			return false;
		if (str_eq(word, S("-x")) && !str_eq(value, S("hip")))
			return false;
		hip |= two && str_eq(word, S("-x"));
		hip |= !option && str_eq(path_ext(word), S(".hip"));
		has_id |= str_starts(word, S("-cuid="));
		sources += !option;
		source = option ? source : word;
		if (use == WORD_OUTPUT) {
			if (ret->object.n)
				return false;
			ret->object = value;
			continue;
		}
		if (use == WORD_GPU) {
			struct str gpu = str_sub(word, S("--offload-arch=").n, word.n);
			if (!str_starts(gpu, S("gfx")) || str_chr(gpu, ',') < gpu.n ||
				!strs_put(a, &ret->gpus, gpu))
				return false;
		}
		if (str_starts(word, S("-M")))
			strs_add(a, &depends, str_sub(word, 0, 3));
		struct strs *to = use == WORD_SHARED ? &ret->words : &ret->host_words;
		strs_add(a, to, word);
		if (two)
			strs_add(a, to, value);
	}
	if (!hip || sources != 1 || !ret->gpus.n || !ret->object.n || !strs_has(args, S("-c")) ||
		(depends.n && !strs_has(&depends, S("-MF"))))
		return false;
	strs_sort(&ret->gpus); /* as the driver does */
	if (depends.n && !strs_has(&depends, S("-MT")) && !strs_has(&depends, S("-MQ")))
		STRS_ADD(a, &ret->host_words, S("-MQ"), ret->object);
	/* Host and device code use this id in the names of shared variables. clang's default is a hash of its command
	 * line, which differs from pass to pass. It hashes the source's full path, too: one command line in two folders
	 * makes objects that can be linked together. One more GPU changes nothing for the others, nor does the place of
	 * a build, so that a cache has what was compiled elsewhere. */
	struct str line = path_abs(a, source);
	for (size_t i = 0; i < args->n; i++) {
		struct str word = args->v[i];
		i += str_eq(word, S("-ivfsoverlay")); /* its name is made of paths */
		if (!str_starts(word, S("--offload-arch=")))
			line = str_fmt(a, "%.*s\n%.*s", STR(line), STR(word));
	}
	VEC_EACH (const struct str, place, places)
		line = place->n > 1 ? str_replace(a, line, *place, S("@")) : line;
	if (!has_id)
		strs_fmt(a, &ret->words, "-cuid=%.*s", STR(str_sub(sha256_hex(a, line), 0, 16)));
	struct str folder = str_fmt(a, "%.*s.passes", STR(path_abs(a, ret->object)));
	ret->work = path_join(a, folder, S("work"));
	ret->parts = path_join(a, folder, S("device"));
	return true;
}
