/* Command lines of nvcc: reads them, and makes those of the SDK's clang that give the same results; see cc_int.h.
 * Each option is a row of data/nvcc.yaml. */
#include "base/fs.h"
#include "base/vec.h"
#include "cc/cc_int.h"
#include "term/out.h"

enum { MAX_OPTIONS_FILE = 1 << 20, MAX_OPTIONS_FILES = 100 };

/* The option of a word, and its value if the word contains it; NULL if nvcc has none of that name. */
static const struct nvcc_option *find_option(struct str word, bool hipcc, struct str *ret_value)
{
	struct str all = str_sub(word, str_starts(word, S("--")) ? 2 : 1, word.n), name;
	if (word.n < 2 || word.p[0] != '-')
		return NULL;
	bool equals = str_cut(all, '=', &name, ret_value);
	TABLE_EACH (nvcc_option, o) {
		const char *const both[] = {o->name, o->brief, NULL};
		if ((o->value || !equals) && (o->hipcc || !hipcc) && str_is_one_of(name, both))
			return o;
	}
	/* -DNAME=1, -O3 */
	TABLE_EACH (nvcc_option, o)
		if (!hipcc && word.p[1] != '-' && o->value && o->brief && !o->brief[1] &&
			strchr("DUILlO", o->brief[0]) && o->brief[0] == all.p[0]) {
			*ret_value = str_sub(all, 1, all.n);
			return o;
		}
	return NULL;
}

static void add_words(
	struct arena *a, struct strs *io, const struct nvcc_option *o, struct str value)
{
	struct str words = str_from(o->clang), word, before, after;
	while (str_next(&words, ' ', &word))
		strs_add(a, io,
			str_cut(word, '%', &before, &after)
				? str_fmt(a, "%.*s%.*s", STR(before), STR(value))
				: word);
}

/* Takes the next word of *io, which ends at one of these characters outside of quotes. False if there is none. */
static bool take_word(struct arena *a, struct str *io, const char *ends, struct str *ret)
{
	BUF(word, a);
	char quote = 0;
	bool any = false;
	size_t i = 0;
	for (; i < io->n; i++) {
		char c = io->p[i];
		bool end = !quote && strchr(ends, c);
		if (end && any)
			break;
		any |= !end;
		if (c == quote)
			quote = 0;
		else if (!quote && (c == '"' || c == '\''))
			quote = c;
		else if (!end)
			buf_char(&word, c == '\\' && i + 1 < io->n ? io->p[++i] : c);
	}
	*io = str_sub(*io, i, io->n);
	*ret = buf_str(&word);
	return any;
}

/* Adds the words of clang in the option's place. nvcc gives parts to a shell: so they have quotes, and "\," is a comma of
 * the part itself. */
static void add_clang(
	struct arena *a, struct strs *io, const struct nvcc_option *o, struct str value)
{
	struct str word, unused;
	if (!o->clang || (o->when && !str_eq(value, str_from(o->when))))
		return;
	if (!o->parts)
		add_words(a, io, o, value);
	while (o->parts && take_word(a, &value, ", ", &word)) {
		const struct nvcc_option *known = find_option(word, false, &unused);
		/* it is for the warnings of g++; clang has others, of device code too */
		bool strict = str_eq(word, S("-Werror")) || str_starts(word, S("-Werror="));
		if (word.n && !strict &&
			(!known || known->value || known->clang)) /* clang knows it */
			add_words(a, io, o, word);
	}
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

static void split_words(struct arena *a, struct str text, struct strs *ret)
{
	struct str word;
	while (take_word(a, &text, " \t\r\n", &word))
		strs_add(a, ret, word);
}

/* Adds all words, with those of options files in their place. */
static struct err *expand_files(
	struct arena *a, const struct strs *args, unsigned *io_files, struct strs *io)
{
	for (size_t i = 0; i < args->n; i++) {
		struct str word = args->v[i], value = S(""), file, text;
		const struct nvcc_option *o = find_option(word, false, &value);
		if (!o || o->use != USE_FILE) {
			strs_add(a, io, word);
			if (o && o->value && !value.n && i + 1 < args->n)
				strs_add(a, io, args->v[++i]);
			continue;
		}
		if (!value.n && i + 1 < args->n)
			value = args->v[++i];
		while (str_next(&value, ',', &file)) {
			struct strs words = {0};
			if ((*io_files)++ == MAX_OPTIONS_FILES)
				return err_new(E_USAGE,
					"more than %d options files, or one that names itself: "
					"'%.*s'",
					MAX_OPTIONS_FILES, STR(file));
			TRY(fs_read(a, file, MAX_OPTIONS_FILE, &text));
			split_words(a, text, &words);
			TRY(expand_files(a, &words, io_files, io));
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
	if (o->use == USE_BUNDLE)
		io->bundle = o->name;
	enum nvcc_does does = o->use == USE_BUNDLE ? NVCC_COMPILES : o->does;
	if (does > io->does)
		io->does = does;
	io->keep |= o->use == USE_KEEP;
	io->dry |= o->use == USE_SHOW && !o->brief;
	io->show |= o->use == USE_SHOW;
	io->native |= o->use == USE_NATIVE;
	io->archs |= o->use == USE_ARCH;
	/* FindCUDA.cmake defines it for -M; but HIP's headers are not to take a source for NVIDIA's */
	if (!str_eq(value, S("__CUDACC__")))
		add_clang(a, &io->words, o, value);
	return NULL;
}

/* Adds an input with its language. last: no other one follows. */
static void add_input(struct arena *a, struct nvcc *io, struct str path, bool last)
{
	static const char *const sources[] = {
		".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".cu", ".i", ".ii", NULL};
	struct str ext = path_ext(path);
	bool cuda = io->language.n ? str_eq(io->language, S("cu")) : str_eq(ext, S(".cu"));
	bool c = str_eq(ext, S(".c"));
	bool source = io->language.n || str_is_one_of(ext, sources);
	struct str language = cuda ? S("hip") : io->language.n || !c ? io->language : S("c");
	if (language.n)
		STRS_ADD(a, &io->words, S("-x"), language);
	strs_add(a, &io->words, path);
	strs_add(a, source ? &io->sources : &io->objects, path);
	if (cuda)
		strs_add(a, &io->cuda, path);
	if (language.n && !last)
		STRS_ADD(a, &io->words, S("-x"), S("none"));
}

struct err *nvcc_read(struct arena *a, const struct strs *args, struct nvcc *ret)
{
	struct strs given = {0}, all = {0};
	unsigned files = 0; /* options files read so far */
	const char *before = getenv("NVCC_PREPEND_FLAGS"), *after = getenv("NVCC_APPEND_FLAGS");
	*ret = (struct nvcc){0};
	split_words(a, str_from(before), &given);
	strs_add_all(a, &given, args);
	split_words(a, str_from(after), &given);
	TRY(expand_files(a, &given, &files, &all));
	VEC(size_t) inputs = {0}; /* their places among clang's words */
	for (size_t i = 0; i < all.n; i++) {
		struct str word = all.v[i], value = S("");
		const struct nvcc_option *o = find_option(word, false, &value);
		bool option = word.n > 1 && word.p[0] == '-';
		if (o && o->value && !value.n) {
			if (i + 1 == all.n)
				return err_new(E_USAGE, "nvcc's '%.*s' wants a value", STR(word));
			value = all.v[++i];
		}
		if (o) {
			TRY(take_option(a, o, value, ret));
			continue;
		}
		if (!option)
			*VEC_PUSH(a, &inputs) = ret->words.n;
		strs_add(a, &ret->words, word);
	}
	/* inputs stay where they are, since linkers read libraries in order */
	const struct strs words = ret->words;
	ret->words = (struct strs){0};
	for (size_t i = 0, next = 0; i < words.n; i++) {
		if (next < inputs.n && inputs.v[next] == i)
			add_input(a, ret, words.v[i], ++next == inputs.n);
		else
			strs_add(a, &ret->words, words.v[i]);
	}
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

void cc_say_once(const struct cc *cc, const char *what, struct str text)
{
	ARENA(tmp);
	struct str mark = str_fmt(&tmp, "%.*s/.rocsmith/cuda/said-%s", STR(cc->dir), what);
	if (fs_present(mark))
		return;
	say_status(S("Note"), "%.*s", STR(text));
	err_free(fs_write(mark, S(""), FS_LOOSE));
}

/* The answer to -v and --dryrun: the variables of nvcc's own configuration, and commands. CMake reads the folders of
 * the toolkit from them, and the default of CMAKE_CUDA_ARCHITECTURES ("-arch"; if the call names GPUs, they are all to
 * be there, or none); and from the last line, which has to repeat LIBRARIES, how programs are linked
 * (CMakeDetermineCUDACompiler.cmake, FindCUDAToolkit.cmake). */
static void show(
	struct arena *a, const struct cc *cc, const struct nvcc *call, const struct strs *words)
{
	struct str host = path_join(a, cc->dir, S("host/g++"));
	struct str cuda = path_join(a, cc->dir, S("cuda"));
	struct str libraries = str_fmt(a, "\"-L%.*s/lib64\"", STR(cuda));
	const char *path = getenv("PATH");
	BUF(text, a);
	if (!fs_exists(host))
		host = path_join(a, cc->dir, S("llvm/bin/clang++"));
	buf_fmt(&text,
		"#$ TOP=%.*s\n#$ NVVMIR_LIBRARY_DIR=%.*s/nvvm/libdevice\n#$ PATH=%s\n"
		"#$ INCLUDES=\"-I%.*s/include\"\n#$ LIBRARIES=  %.*s\n#$ clang++ %.*s\n",
		STR(cuda), STR(cuda), path ? path : "", STR(cuda), STR(libraries),
		STR(str_join(a, words, S(" "))));
	if (!call->archs)
		buf_add(&text, S("#$ : device code is as for -arch compute_" CUDA_ARCH "\n"));
	if (call->does == NVCC_LINKS)
		buf_fmt(&text,
			"#$ %.*s %.*s -lcudadevrt -lcudart_static -lrt -lpthread -ldl -o "
			"\"%.*s\"\n",
			STR(host), STR(libraries), STR(call->output.n ? call->output : S("a.out")));
	say_text(buf_str(&text));
}

/* The inputs of a call that compiles nothing: of an archive or a device link, or a program to run. */
static struct err *take_objects(
	struct arena *a, const struct nvcc *call, const struct strs *gpus, struct nvcc_result *ret)
{
	if (call->does == NVCC_LINKS_DEVICE)
		return dlink_passes(a, call, gpus, &ret->passes);
	if (call->sources.n)
		return err_new(E_USAGE, "nvcc's '--%s' takes no source here: compile '%.*s' first",
			call->does == NVCC_RUNS ? "run" : "lib", STR(call->sources.v[0]));
	if (call->does == NVCC_RUNS) { /* Meson passes it in quotes */
		split_words(a, call->objects.v[0], &ret->run);
		return NULL;
	}
	ret->cc.name = S("llvm-ar");
	STRS_ADD(a, &ret->words, S("rcs"), call->output.n ? call->output : S("a.a"));
	strs_add_all(a, &ret->words, &call->objects);
	return NULL;
}

/* Adds the words that say where the result goes, and those of a link. */
static struct err *add_output(struct arena *a, const struct cc *cc, const struct cc_config *config,
	struct nvcc *call, struct strs *words)
{
	if (call->folder.n && call->does == NVCC_COMPILES && call->sources.n > 1)
		return err_new(E_USAGE, "nvcc's '-odir' takes one source here, and there is '%.*s'",
			STR(call->sources.v[1]));
	if ((call->folder.n || call->bundle) && call->sources.n == 1) {
		struct str base = path_base(call->sources.v[0]), object;
		base = str_sub(base, 0, base.n - path_ext(base).n);
		object = path_join(a, call->folder,
			str_fmt(a, "%.*s.%s", STR(base), call->bundle ? call->bundle : "o"));
		if (call->does == NVCC_PREPROCESSES) { /* the target of -M */
			STRS_ADD(a, words, S("-MT"), object);
		} else if (call->does == NVCC_COMPILES && !call->output.n) {
			call->output = object;
		}
	}
	if (call->output.n)
		STRS_ADD(a, words, S("-o"), call->output);
	/* Meson runs what it links there, to see whether that works: it gets the SDK's loader */
	struct str at = path_abs(a, call->output.n ? call->output : S("a.out"));
	if (call->does == NVCC_LINKS && config->loader.n && str_contains(at, S("/meson-private/")))
		strs_fmt(a, words, "-Wl,--dynamic-linker=%.*s,--disable-new-dtags,-rpath,%.*s",
			STR(config->loader), STR(config->library_path));
	if (call->does == NVCC_LINKS) {
		strs_fmt(a, words, "-L%.*s/cuda/lib64", STR(cc->dir));
		if (!str_eq(call->runtime, S("none")))
			strs_add(a, words, S("-lcudart"));
	}
	return NULL;
}

struct err *nvcc_command(struct arena *a, const struct cc *cc, const struct cc_config *config,
	const struct strs *args, struct nvcc_result *ret)
{
	static const char *const common[] = {"-Wno-unused-command-line-argument",
		"-Wno-unused-value", /* HIP's error codes are [[nodiscard]], CUDA's are not */
		"-Wno-reserved-user-defined-literal", /* "%"PRIu64 is no error of g++ */
		"-Wno-error=register",                /* nor is this word in C++17 */
		"-D__HIP_PLATFORM_AMD__=1", /* C++ may include what the overlay translates */
		/* the host's min() and max() as CUDA has them */
		"-D__HIP_DEFINE_EXTENDED_HOST_MIN_MAX__=1", "-D__HIP_DEFINE_MIXED_HOST_MIN_MAX__=1",
		"-D__CUDACC_VER_MAJOR__=" CUDA_MAJOR, "-D__CUDACC_VER_MINOR__=" CUDA_MINOR,
		"-D__CUDACC_VER_BUILD__=" CUDA_BUILD, "-DCUDA_VERSION=" CUDA_NUMBER,
		"-DCUDART_VERSION=" CUDA_NUMBER, NULL};
	struct nvcc call;
	bool relocatable = false;
	*ret = (struct nvcc_result){0};
	TRY(nvcc_read(a, args, &call));
	ret->done = answer(&call);
	if (ret->done)
		return NULL;
	if (!call.sources.n && !call.objects.n)
		return err_new(E_USAGE, "nvcc has no input file");
	struct strs *words = &ret->words;
	ret->cc = (struct cc){.dir = cc->dir, .name = S("clang++")};
	ret->done = call.dry;
	if (call.does >= NVCC_LINKS_DEVICE && call.dry)
		show(a, cc, &call, &call.words);
	if (call.does >= NVCC_LINKS_DEVICE)
		return call.dry ? NULL : take_objects(a, &call, &config->gpus, ret);
	if (call.does == NVCC_LINKS)
		TRY(dlink_needed(a, &call, &relocatable));
	bool device = call.cuda.n || relocatable;
	if (device && !config->gpus.n)
		return err_hint(err_new(E_USAGE, "no GPU is named to build '%.*s' for",
					STR(call.cuda.n ? call.cuda.v[0] : call.objects.v[0])),
			"make the shim folder with --gpu");
	if (call.sources.n) {
		strs_add_words(a, words, common);
		if (!call.native)
			strs_add(a, words, S("-O3")); /* nvcc's default for device code */
	}
	if (call.does == NVCC_COMPILES)
		strs_add(a, words, S("-c"));
	/* the text is that of all sides: from it, ccache tells whether it knows the object */
	if (call.does == NVCC_PREPROCESSES && !strs_has(&call.words, S("-E")))
		strs_add(a, words, S("--offload-host-only"));
	else
		for (size_t i = 0; device && i < config->gpus.n; i++)
			strs_fmt(a, words, "--offload-arch=%.*s", STR(config->gpus.v[i]));
	ret->cuda = call.cuda.n > 0;
	if (ret->cuda) {
		struct str overlay;
		TRY(overlay_make(a, cc, config, &call, &overlay));
		if (overlay.n)
			STRS_ADD(a, words, S("-ivfsoverlay"), overlay);
		struct str old = call.modern ? cc_raise_standard(a, S("17"), &call.words) : S("");
		if (old.n)
			cc_say_once(cc, "standard",
				str_fmt(a,
					"ROCm's Thrust and CUB need C++17, which takes the place "
					"of %.*s",
					STR(old)));
		if (call.archs)
			cc_say_once(cc, "archs",
				str_fmt(a,
					"nvcc compiles for %.*s, whatever GPUs of NVIDIA its "
					"options name",
					STR(str_join(a, &config->gpus, S(", ")))));
	}
	if (relocatable)
		STRS_ADD(a, words, S("-Wno-unused-command-line-argument"), S("--hip-link"),
			S("-fgpu-rdc"));
	strs_add_all(a, words, &call.words);
	if (call.sources.n)
		STRS_ADD(a, words, S("-isystem"), str_fmt(a, "%.*s/cuda/include", STR(cc->dir)));
	TRY(add_output(a, cc, config, &call, words));
	if (call.show)
		show(a, cc, &call, words);
	return NULL;
}
