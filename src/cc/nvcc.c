/* Command lines of nvcc: reads them, and makes those of the SDK's clang that give the same results; see cc_int.h.
 *
 * Source of the options: the CUDA Compiler Driver's manual, "NVCC Command Options",
 * https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/. All have a long name; one or two dashes stand before
 * either name, and a value stands behind '=' or is the next word. */
#include "base/fs.h"
#include "base/vec.h"
#include "cc/cc_int.h"
#include "term/out.h"

enum { MAX_OPTIONS_FILE = 1 << 20, MAX_NESTED = 8 };

enum nvcc_use {
	USE_CLANG,  /* .clang takes its place */
	USE_PHASE,  /* it says how far to go: .does */
	USE_REFUSE, /* .clang says why */
	USE_LANGUAGE,
	USE_OUTPUT,
	USE_FOLDER, /* the folder for outputs */
	USE_FILE,   /* with more options */
	USE_KEEP,
	USE_KEEP_FOLDER,
	USE_SHOW, /* the commands */
	USE_ARCH, /* NVIDIA's GPUs */
	USE_RUNTIME,
	USE_NATIVE, /* -O, -g: nvcc's own default is not wanted */
};

#define NO_PTX                                                                                     \
	"no AMD GPU reads it, and a program that loads such a file by name needs a change of its " \
	"own"

static const struct nvcc_option {
	const char *name, *brief;
	bool value; /* it has one */
	bool hipcc; /* projects pass it to hipcc, too, which does not know it */
	enum nvcc_use use;
	enum nvcc_does does;
	/* The words in its place, separated by spaces: '%' is the value, or each of its parts if `parts` is set. */
	const char *clang;
	bool parts;
	const char *when; /* this value only; others are dropped */
} options[] = {
	{"compiler-options", "Xcompiler", true, true, .clang = "%", .parts = true},
	{"linker-options", "Xlinker", true, .clang = "-Wl,%", .parts = true},
	{"define-macro", "D", true, .clang = "-D%"},
	{"undefine-macro", "U", true, .clang = "-U%"},
	{"include-path", "I", true, .clang = "-I%"},
	{"system-include", "isystem", true, .clang = "-isystem %"},
	{"pre-include", "include", true, .clang = "-include %"},
	{"library-path", "L", true, .clang = "-L%"},
	{"library", "l", true, .clang = "-l%"},
	{"optimize", "O", true, .use = USE_NATIVE, .clang = "-O%"},
	{"debug", "g", .clang = "-g"},
	{"device-debug", "G", .use = USE_NATIVE, .clang = "-g -O0"},
	{"profile", "pg", .clang = "-pg"},
	{"std", "std", true, .clang = "-std=%"},
	{"shared", "shared", .clang = "-shared"},
	{"no-exceptions", "noeh", .clang = "-fno-exceptions"},
	{"ftemplate-depth", NULL, true, .clang = "-ftemplate-depth=%"},
	{"ftemplate-backtrace-limit", NULL, true, .clang = "-ftemplate-backtrace-limit=%"},
	{"Wno-deprecated-declarations", NULL, .clang = "-Wno-deprecated-declarations"},
	{"disable-warnings", "w", .clang = "-w"},
	{"dependency-output", "MF", true, .clang = "-MF %"},
	{"dependency-target-name", "MT", true, .clang = "-MT %"},
	{"generate-dependency-targets", "MP", .clang = "-MP"},
	{"generate-dependencies-with-compile", "MD", .clang = "-MD"},
	{"generate-nonsystem-dependencies-with-compile", "MMD", .clang = "-MMD"},
	{"default-stream", NULL, true, true, .clang = "-fgpu-default-stream=%"},
	{"fmad", NULL, true, true, .clang = "-ffp-contract=off", .when = "false"},
	/* changes no more than nvcc's does */
	{"use_fast_math", NULL, false, true, .clang = "-fgpu-flush-denormals-to-zero"},
	{"relocatable-device-code", "rdc", true, .clang = "-fgpu-rdc", .when = "true"},
	{"x", NULL, true, .use = USE_LANGUAGE},
	{"output-file", "o", true, .use = USE_OUTPUT},
	{"output-directory", "odir", true, .use = USE_FOLDER},
	{"options-file", "optf", true, .use = USE_FILE},
	{"keep", NULL, .use = USE_KEEP},
	{"save-temps", NULL, .use = USE_KEEP},
	{"keep-dir", NULL, true, .use = USE_KEEP_FOLDER},
	{"dryrun", NULL, .use = USE_SHOW},
	{"verbose", "v", .use = USE_SHOW},
	{"cudart", NULL, true, .use = USE_RUNTIME},

	{"compile", "c", .use = USE_PHASE, .does = NVCC_COMPILES},
	{"device-c", "dc", .use = USE_PHASE, .does = NVCC_COMPILES, .clang = "-fgpu-rdc"},
	{"device-w", "dw", .use = USE_PHASE, .does = NVCC_COMPILES},
	{"link", NULL, .use = USE_PHASE, .does = NVCC_LINKS},
	{"lib", NULL, .use = USE_PHASE, .does = NVCC_ARCHIVES},
	{"preprocess", "E", .use = USE_PHASE, .does = NVCC_PREPROCESSES, .clang = "-E"},
	{"generate-dependencies", "M", .use = USE_PHASE, .does = NVCC_PREPROCESSES, .clang = "-M"},
	{"generate-nonsystem-dependencies", "MM", .use = USE_PHASE, .does = NVCC_PREPROCESSES,
		.clang = "-MM"},
	{"version", "V", .use = USE_PHASE, .does = NVCC_SAYS_VERSION},
	{"help", "h", .use = USE_PHASE, .does = NVCC_SAYS_HELP},
	{"list-gpu-arch", NULL, .use = USE_PHASE, .does = NVCC_LISTS_ARCH},
	{"list-gpu-code", NULL, .use = USE_PHASE, .does = NVCC_LISTS_CODE},
	{"ptx", NULL, .use = USE_REFUSE, .clang = NO_PTX},
	{"cubin", NULL, .use = USE_REFUSE, .clang = NO_PTX},
	{"fatbin", NULL, .use = USE_REFUSE, .clang = NO_PTX},
	{"optix-ir", NULL, .use = USE_REFUSE, .clang = "OptiX is NVIDIA's alone"},
	{"ltoir", NULL, .use = USE_REFUSE, .clang = NO_PTX},
	{"cuda", NULL, .use = USE_REFUSE, .clang = "HIP has no such intermediate file"},
	{"run", NULL, .use = USE_REFUSE, .clang = "nothing that is built is run here"},
	{"device-link", "dlink", .use = USE_REFUSE,
		.clang = "with HIP, the link of the program links device code, too"},

	{"gpu-architecture", "arch", true, true, .use = USE_ARCH},
	{"gpu-code", "code", true, true, .use = USE_ARCH},
	{"generate-code", "gencode", true, true, .use = USE_ARCH},
};

/* Options without effect: clang does it anyway, or they concern NVIDIA's assembler, linker or front end. By whether they
 * have a value; then those that hipcc gets, too. */
static const char *const dropped[2][2][48] = {
	{{"forward-unknown-opts", "forward-unknown-to-host-linker", "Wreorder",
		 "Wdefault-stream-launch", "Wmissing-launch-bounds", "Wext-lambda-captures-this",
		 "display-error-number", "err-no", "no-display-error-number",
		 "extensible-whole-program", "ewp", "no-compress", "restrict",
		 "keep-device-functions", "no-host-device-initializer-list",
		 "no-host-device-move-forward", "m64", "dlink-time-opt", "dlto", "lto",
		 "dont-use-profile", "noprof", "use-local-env", "augment-host-linker-script",
		 "aug-hls", "host-relocatable-link", "r"},
		{"allow-unsupported-compiler", "expt-extended-lambda", "expt-relaxed-constexpr",
			"extended-lambda", "forward-unknown-to-host-compiler", "generate-line-info",
			"lineinfo", "resource-usage", "res-usage", "source-in-ptx", "src-in-ptx"}},
	{{"archive-options", "Xarchive", "threads", "t", "Werror", "brief-diagnostics", "machine",
		 "m", "dopt", "entries", "e", "cudadevrt", "libdevice-directory", "ldir",
		 "target-directory", "target-dir", "archiver-binary", "arbin", "time", "run-args",
		 "host-linker-script", "hls"},
		{"ptxas-options", "Xptxas", "nvlink-options", "Xnvlink", "Xcudafe", "Xfatbin",
			"compiler-bindir", "ccbin", "compress-mode", "diag-error", "diag-suppress",
			"diag-warn", "ftz", "maxrregcount", "prec-div", "prec-sqrt",
			"split-compile", "threads"}},
};

static const struct nvcc_option nothing[] = {
	{.name = "", .value = false}, {.name = "", .value = true}};

/* The option of a word, and its value if the word contains it; NULL if nvcc has none of that name. */
static const struct nvcc_option *find_option(struct str word, bool hipcc, struct str *ret_value)
{
	const size_t n = sizeof(options) / sizeof(options[0]);
	struct str all = str_sub(word, str_starts(word, S("--")) ? 2 : 1, word.n), name;
	if (word.n < 2 || word.p[0] != '-')
		return NULL;
	bool equals = str_cut(all, '=', &name, ret_value);
	for (size_t i = 0; i < n; i++) {
		const struct nvcc_option *o = &options[i];
		const char *const both[] = {o->name, o->brief, NULL};
		if ((o->value || !equals) && (o->hipcc || !hipcc) && str_is_one_of(name, both))
			return o;
	}
	for (unsigned value = 0; value < 2; value++)
		if ((value || !equals) &&
			(str_is_one_of(name, dropped[value][1]) ||
				(!hipcc && str_is_one_of(name, dropped[value][0]))))
			return &nothing[value];
	/* -DNAME=1, -O3 */
	for (size_t i = 0; i < n && !hipcc && word.p[1] != '-'; i++)
		if (options[i].value && options[i].brief && !options[i].brief[1] &&
			strchr("DUILlO", options[i].brief[0]) && options[i].brief[0] == all.p[0]) {
			*ret_value = str_sub(all, 1, all.n);
			return &options[i];
		}
	return NULL;
}

/* Adds the words of clang in the option's place. nvcc gives parts to a shell, so they may have spaces. */
static void add_clang(
	struct arena *a, struct strs *io, const struct nvcc_option *o, struct str value)
{
	struct str rest = value, part, words, word, before, after;
	if (!o->clang || (o->when && !str_eq(value, str_from(o->when))))
		return;
	do {
		if (!o->parts)
			part = value;
		else if (!str_next(&rest, ',', &part))
			return;
		/* "\," is a comma of the part itself */
		while (o->parts && str_ends(part, S("\\")) && str_next(&rest, ',', &after))
			part = str_fmt(
				a, "%.*s,%.*s", STR(str_sub(part, 0, part.n - 1)), STR(after));
		while (o->parts && str_next(&part, ' ', &word))
			if (word.n && str_cut(str_from(o->clang), '%', &before, &after))
				strs_add(a, io, str_fmt(a, "%.*s%.*s", STR(before), STR(word)));
		words = o->parts ? S("") : str_from(o->clang);
		while (str_next(&words, ' ', &word))
			strs_add(a, io,
				str_cut(word, '%', &before, &after)
					? str_fmt(a, "%.*s%.*s", STR(before), STR(part))
					: word);
	} while (o->parts);
}

struct strs cc_from_nvcc(struct arena *a, const struct strs *args)
{
	struct strs out = {0};
	for (size_t i = 0; i < args->n; i++) {
		struct str word = args->v[i], value = S("");
		const struct nvcc_option *o = find_option(word, true, &value);
		if (!o) {
			strs_add(a, &out, word);
			if (cc_takes_value(word) && i + 1 < args->n)
				strs_add(a, &out, args->v[++i]);
			continue;
		}
		if (o->value && !value.n && i + 1 < args->n)
			value = args->v[++i];
		add_clang(a, &out, o, value);
	}
	return out;
}

/* ---- options in files ---- */

/* Splits the text of an options file into words, at white space outside of quotes. */
static void split_words(struct arena *a, struct str text, struct strs *ret)
{
	for (size_t i = 0; i < text.n; i++) {
		BUF(word, a);
		char quote = 0;
		bool any = false;
		for (; i < text.n; i++) {
			char c = text.p[i];
			if (!quote && strchr(" \t\r\n", c))
				break;
			any = true;
			if (c == quote)
				quote = 0;
			else if (!quote && (c == '"' || c == '\''))
				quote = c;
			else
				buf_char(&word, c == '\\' && i + 1 < text.n ? text.p[++i] : c);
		}
		if (any)
			strs_add(a, ret, buf_str(&word));
	}
}

/* Adds all words, with those of options files in their place. */
static struct err *expand(
	struct arena *a, const struct strs *args, unsigned level, struct strs *ret)
{
	for (size_t i = 0; i < args->n; i++) {
		struct str word = args->v[i], value = S(""), file, text;
		const struct nvcc_option *o = find_option(word, false, &value);
		if (!o || o->use != USE_FILE) {
			strs_add(a, ret, word);
			if (o && o->value && !value.n && i + 1 < args->n)
				strs_add(a, ret, args->v[++i]);
			continue;
		}
		if (!value.n && i + 1 < args->n)
			value = args->v[++i];
		if (level == MAX_NESTED)
			return err_new(E_USAGE,
				"options files name each other more than %d times, at '%.*s'",
				MAX_NESTED, STR(value));
		while (str_next(&value, ',', &file)) {
			struct strs words = {0};
			TRY(fs_read(a, file, MAX_OPTIONS_FILE, &text));
			split_words(a, text, &words);
			TRY(expand(a, &words, level + 1, ret));
		}
	}
	return NULL;
}

/* ---- the command line ---- */

static struct err *take_option(
	struct arena *a, const struct nvcc_option *o, struct str value, struct nvcc *io)
{
	struct str *texts[] = {[USE_LANGUAGE] = &io->language,
		[USE_OUTPUT] = &io->output,
		[USE_FOLDER] = &io->folder,
		[USE_KEEP_FOLDER] = &io->keep_dir,
		[USE_RUNTIME] = &io->runtime};
	if (o->use == USE_REFUSE)
		return err_new(E_USAGE, "nvcc's '--%s' has no equivalent: %s", o->name, o->clang);
	if (o->use < sizeof(texts) / sizeof(texts[0]) && texts[o->use]) {
		*texts[o->use] = value;
		return NULL;
	}
	if (o->use == USE_PHASE && o->does > io->does)
		io->does = o->does;
	io->keep |= o->use == USE_KEEP;
	io->dry |= o->use == USE_SHOW && !o->brief;
	io->show |= o->use == USE_SHOW;
	io->native |= o->use == USE_NATIVE;
	io->archs |= o->use == USE_ARCH;
	if (str_eq(str_from(o->name), S("include-path")) ||
		str_eq(str_from(o->name), S("system-include")))
		strs_add(a, &io->dirs, value);
	if (str_eq(str_from(o->name), S("pre-include")))
		strs_add(a, &io->included, value);
	add_clang(a, &io->words, o, value);
	return NULL;
}

/* Is this a source of CUDA? */
static bool is_cuda(const struct nvcc *call, struct str path)
{
	return call->language.n ? str_eq(call->language, S("cu"))
				: str_eq(path_ext(path), S(".cu"));
}

struct err *nvcc_read(struct arena *a, const struct strs *args, struct nvcc *ret)
{
	static const char *const sources[] = {
		".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".cu", ".i", ".ii", NULL};
	struct strs all = {0}, given = {0};
	const char *before = getenv("NVCC_PREPEND_FLAGS"), *after = getenv("NVCC_APPEND_FLAGS");
	*ret = (struct nvcc){0};
	split_words(a, str_from(before), &given);
	strs_add_all(a, &given, args);
	split_words(a, str_from(after), &given);
	TRY(expand(a, &given, 0, &all));
	VEC(struct nvcc_place) inputs = {0};
	for (size_t i = 0; i < all.n; i++) {
		struct str word = all.v[i], value = S("");
		const struct nvcc_option *o = find_option(word, false, &value);
		bool option = word.n > 1 && word.p[0] == '-';
		if (o && o->value && !value.n) {
			if (i + 1 == all.n)
				return err_new(E_USAGE, "nvcc's '%.*s' wants a value", STR(word));
			value = all.v[++i];
		}
		if (o)
			TRY(take_option(a, o, value, ret));
		else if (!option)
			*VEC_PUSH(a, &inputs) = (struct nvcc_place){word, ret->words.n};
		else
			strs_add(a, &ret->words, word);
	}
	/* inputs stand where they stood, since linkers read libraries in order */
	struct strs words = ret->words;
	size_t next = 0;
	ret->words = (struct strs){0};
	VEC_EACH (const struct nvcc_place, in, &inputs) {
		bool cuda = is_cuda(ret, in->word);
		bool source = ret->language.n || str_is_one_of(path_ext(in->word), sources);
		for (; next < in->at; next++)
			strs_add(a, &ret->words, words.v[next]);
		if (source) {
			bool c = str_eq(path_ext(in->word), S(".c"));
			strs_add(a, &ret->words, S("-x"));
			strs_add(a, &ret->words,
				cuda              ? S("hip")
				: ret->language.n ? ret->language
				: c               ? S("c")
						  : S("none"));
		}
		strs_add(a, &ret->words, in->word);
		strs_add(a, source ? &ret->sources : &ret->objects, in->word);
		if (cuda)
			strs_add(a, &ret->cuda, in->word);
		if (cuda && in + 1 != in_end)
			strs_add(a, &ret->words, S("-x"));
		if (cuda && in + 1 != in_end)
			strs_add(a, &ret->words, S("none"));
	}
	for (; next < words.n; next++)
		strs_add(a, &ret->words, words.v[next]);
	return NULL;
}

/* ---- what nvcc says itself ---- */

/* The release that the whole folder claims: headers, version.json and this program agree. The words are those that
 * CMake, PyTorch and projects search for. */
static const char version[] =
	"nvcc: NVIDIA (R) Cuda compiler driver, as rocsmith does its work with HIP\n"
	"Cuda compilation tools, release " CUDA_RELEASE ", V" CUDA_RELEASE_FULL "\n"
	"Build cuda_" CUDA_RELEASE ".r" CUDA_RELEASE "/rocsmith." ROCSMITH_VERSION "\n";

static bool answer(const struct nvcc *call)
{
	static const char *const archs[] = {
		"50", "52", "53", "60", "61", "62", "70", "72", "75", "80", "86", "87", "89", "90"};
	bool lists = call->does == NVCC_LISTS_ARCH || call->does == NVCC_LISTS_CODE;
	const char *prefix = call->does == NVCC_LISTS_ARCH ? "compute" : "sm";
	for (size_t i = 0; lists && i < sizeof(archs) / sizeof(archs[0]); i++)
		out_fmt("%s_%s\n", prefix, archs[i]);
	if (call->does == NVCC_SAYS_VERSION)
		out_text(str_from(version));
	if (call->does == NVCC_SAYS_HELP)
		out_text(S("nvcc [OPTION|FILE]...\nCompiles CUDA for AMD GPUs, as nvcc would for "
			   "NVIDIA's; the page rocsmith-cc(1) has the options.\n"));
	return call->does >= NVCC_SAYS_VERSION;
}

/* ---- from nvcc's command to clang's ---- */

/* Says something once for a folder, because it is true of all its compiles. */
static void say_once(const struct cc *cc, const char *what, struct str text)
{
	ARENA(tmp);
	struct str mark = str_fmt(&tmp, "%.*s/.rocsmith/cuda/said-%s", STR(cc->dir), what);
	if (fs_present(mark))
		return;
	say_status(S("Note"), "%.*s", STR(text));
	err_free(fs_write(mark, S(""), FS_LOOSE));
}

/* Raises a C++ standard that is too old for ROCm's headers. */
static void raise_standard(struct arena *a, const struct cc *cc, struct strs *words)
{
	static const char *const old[] = {"03", "98", "0x", "11", "14", "1y", NULL};
	VEC_EACH (struct str, w, words) {
		if (!str_starts(*w, S("-std=")) || !str_ends_one_of(*w, old))
			continue;
		say_once(cc, "standard",
			str_fmt(a,
				"ROCm's Thrust and CUB need C++17, which takes the place of %.*s",
				STR(str_sub(*w, 5, w->n))));
		*w = S("-std=c++17");
	}
}

struct err *nvcc_command(struct arena *a, const struct cc *cc, const struct cc_config *config,
	const struct strs *args, struct nvcc_result *ret)
{
	static const char *const common[] = {"-Wno-unused-command-line-argument",
		"-Wno-unused-value", /* HIP's error codes are [[nodiscard]], CUDA's are not */
		"-D__CUDACC_VER_MAJOR__=" CUDA_MAJOR, "-D__CUDACC_VER_MINOR__=" CUDA_MINOR,
		"-D__CUDACC_VER_BUILD__=" CUDA_BUILD, "-DCUDA_VERSION=" CUDA_NUMBER,
		"-DCUDART_VERSION=" CUDA_NUMBER, NULL};
	struct nvcc call;
	*ret = (struct nvcc_result){0};
	TRY(nvcc_read(a, args, &call));
	ret->done = answer(&call);
	if (ret->done)
		return NULL;
	if (!call.sources.n && !call.objects.n)
		return err_new(E_USAGE, "nvcc has no input file");
	struct strs *words = &ret->words;
	ret->cc = (struct cc){.dir = cc->dir, .name = S("clang++")};
	if (call.does == NVCC_ARCHIVES) {
		if (call.sources.n)
			return err_new(E_USAGE,
				"nvcc's '--lib' takes objects here: compile '%.*s' first",
				STR(call.sources.v[0]));
		ret->cc.name = S("llvm-ar");
		strs_add(a, words, S("rcs"));
		strs_add(a, words, call.output.n ? call.output : S("a.a"));
		strs_add_all(a, words, &call.objects);
		return NULL;
	}
	if (call.cuda.n && !config->gpus.n)
		return err_hint(err_new(E_USAGE, "no GPU is named to compile '%.*s' for",
					STR(call.cuda.v[0])),
			"make the shim folder with --gpu");
	if (call.sources.n) {
		for (size_t i = 0; common[i]; i++)
			strs_add(a, words, str_from(common[i]));
		if (!call.native)
			strs_add(a, words, S("-O3")); /* nvcc's default for device code */
	}
	if (call.does == NVCC_COMPILES)
		strs_add(a, words, S("-c"));
	if (call.does == NVCC_PREPROCESSES)
		strs_add(a, words, S("--offload-host-only"));
	else
		for (size_t i = 0; call.cuda.n && i < config->gpus.n; i++)
			strs_add(a, words,
				str_fmt(a, "--offload-arch=%.*s", STR(config->gpus.v[i])));
	if (call.cuda.n) {
		struct str overlay;
		TRY(overlay_make(a, cc, config, &call, &overlay));
		if (overlay.n) {
			strs_add(a, words, S("-ivfsoverlay"));
			strs_add(a, words, overlay);
		}
		if (call.modern)
			raise_standard(a, cc, &call.words);
		if (call.archs)
			say_once(cc, "archs",
				str_fmt(a,
					"nvcc compiles for %.*s, whatever GPUs of NVIDIA its "
					"options name",
					STR(str_join(a, &config->gpus, S(", ")))));
	}
	strs_add_all(a, words, &call.words);
	if (call.sources.n) {
		strs_add(a, words, S("-isystem"));
		strs_add(a, words, str_fmt(a, "%.*s/cuda/include", STR(cc->dir)));
	}
	if (call.does == NVCC_COMPILES && !call.output.n && call.folder.n && call.sources.n == 1) {
		struct str base = path_base(call.sources.v[0]);
		base = str_sub(base, 0, base.n - path_ext(base).n);
		call.output = path_join(a, call.folder, str_fmt(a, "%.*s.o", STR(base)));
	}
	if (call.output.n) {
		strs_add(a, words, S("-o"));
		strs_add(a, words, call.output);
	}
	if (call.does == NVCC_LINKS) {
		strs_add(a, words, str_fmt(a, "-L%.*s/cuda/lib64", STR(cc->dir)));
		if (!str_eq(call.runtime, S("none")))
			strs_add(a, words, S("-lcudart"));
	}
	return NULL;
}
