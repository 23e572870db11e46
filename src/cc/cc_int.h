/* Private to cc/: command lines, the ledger of memory, the history of compiles, precompiled headers. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "cc/cc.h"
#include "cc/compile.h"

/* ---- words.c ---- */
enum cc_kind { CC_OTHER, CC_C, CC_CXX, CC_HIP, CC_LINK };

struct cc_words {
	enum cc_kind kind; /* CC_OTHER: too small to count (-E, --version, llvm-nm) */
	bool driver;       /* the program is clang's driver itself, not hipcc or cc1 */
	bool links;        /* it links a program or library */
	bool targeted;     /* the caller sets a target or another sysroot */
	bool openmp;       /* it compiles with -fopenmp */
	bool compiles;     /* the input is a source of C, C++ or HIP */
	struct str input;  /* the first source or object; "" = none */
};

/* own_sysroot: the SDK's sysroot, or "". An option that names it does not set `targeted`. */
struct cc_words cc_words(struct str name, const struct strs *args, struct str own_sysroot);
struct clang_words { /* data/clang.yaml explains each list */
	const char *const *with_value, *const *asks, *const *shows, *const *stops;
	const char *const *target_begins, *const *hip, *const *cxx, *const *c;
	const char *const *passes, *const *passes_begins, *const *tools_begins;
	const char *const *depends_begins;
	const char *const *no_pch_begins, *const *of_text, *const *of_text_begins;
	const char *const *of_files, *const *of_place_begins;
	const char *const *of_probe, *const *of_probe_two;
	const char *const *in_ir, *const *in_ir_begins;
};
const struct clang_words *clang_words_table(void); /* one row */
bool cc_takes_value(struct str word);              /* is the next word the value of this option? */
extern const char *const cc_kind_names[];
/* The arguments without a -std= of another language, which goes to *ret_left_out. clang rejects it, but gcc only warns,
 * so projects that are always built with gcc pass it: PyTorch's C sources get -std=c++17, because torch_hip requires
 * that of everything that links to it. */
struct strs cc_fit_standard(struct arena *a, struct str name, const struct cc_words *w,
	const struct strs *args, struct str *ret_left_out);
/* Words that name a folder of CUDA's installers, which this machine does not have, name `cuda` of the shim folder; a link
 * with CUDA's libraries looks there, too. */
struct strs cc_words_at_home(struct arena *a, struct str cuda, const struct strs *args);
/* The C++ that the headers of a torch in the words' folders want at least ("17", from an #error), or "". */
struct str cc_torch_standard(struct arena *a, const struct strs *args);
/* Raises an older -std= of C++ to `least`, which is not "". Returns the standard that was asked for, or "". */
struct str cc_raise_standard(struct arena *a, struct str least, struct strs *io);
/* Says something once for a shim folder, because it is true of all its compiles. */
void cc_say_once(const struct cc *cc, const char *what, struct str text);
/* The size of all inputs of a link, including those in a response file. */
uint64_t cc_link_bytes(const struct strs *args);

/* ---- nvcc.c: command lines of nvcc ----
 *
 * Each becomes one command of the SDK's clang for the GPUs of the folder; those that name NVIDIA's GPUs do not count. A
 * source of CUDA is compiled as HIP, with the text that overlay.c makes of it. Everything else of a compile is as
 * cc_run() does it: the ledger, the log, a pass for each GPU. */
/* If a command says several, the one further down wins. */
enum nvcc_does {
	NVCC_LINKS,
	NVCC_COMPILES,
	NVCC_PREPROCESSES,
	NVCC_LINKS_DEVICE,
	NVCC_ARCHIVES,
	NVCC_RUNS,
	NVCC_SAYS_VERSION,
	NVCC_SAYS_HELP,
	NVCC_LISTS_ARCH,
	NVCC_LISTS_CODE,
};

enum nvcc_use {
	USE_CLANG,  /* nothing but words of clang, or none */
	USE_PHASE,  /* it says how far to go: .does */
	USE_REFUSE, /* clang says why */
	USE_BUNDLE, /* only device code: the option's name ends that of the file */
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

struct nvcc_option { /* data/nvcc.yaml explains each column */
	const char *name, *brief;
	bool value, hipcc, parts;
	enum nvcc_use use;
	enum nvcc_does does;
	const char *clang, *when;
};
TABLE(nvcc_option);

struct nvcc {
	enum nvcc_does does;
	struct strs words; /* clang's words, inputs in their places, without outputs */
	struct strs sources, cuda,
		objects; /* the inputs; cuda: those of the sources that are CUDA */
	struct str output, folder, language, runtime, keep_dir;
	const char *bundle; /* "fatbin", "cubin", or NULL */
	bool keep, show, dry;
	bool native; /* it says how to optimise */
	bool archs;  /* it names NVIDIA's GPUs */
	bool modern; /* overlay_make() found includes of Thrust or CUB, which need C++17 in ROCm */
};

/* E_USAGE for an option that has no equivalent, and for options files that name each other. */
MUST_USE struct err *nvcc_read(struct arena *a, const struct strs *args, struct nvcc *ret);

struct nvcc_result {
	bool done; /* it only asked for the version, and has its answer */
	bool cuda; /* it compiles CUDA, as an overlay shows it */
	struct cc cc;
	struct strs words;
	struct compile_passes passes; /* a device link is no single command: its passes */
	struct strs run; /* a program that is there, to run with the libraries of the SDK */
};

MUST_USE struct err *nvcc_command(struct arena *a, const struct cc *cc,
	const struct cc_config *config, const struct strs *args, struct nvcc_result *ret);
/* Translates nvcc's options to clang's, since projects written for CUDA pass them to hipcc. */
struct strs cc_from_nvcc(struct arena *a, const struct strs *args);

/* ---- overlay.c: CUDA's sources as HIP, under their own names ----
 *
 * The sources of a command, and the files of the project that they include, are translated (hipify_text()), and an
 * overlay of clang's file system puts the translated texts in the place of the files: so messages, __FILE__ and
 * dependency files name the user's files, and lines keep their numbers. The texts lie in .rocsmith/cuda/, which nobody
 * else can read, under a hash of all that they are made of.
 *
 * Files of the project are those below cc_config.project, or, if there is none, all that are found through the folder
 * of an including file or a -I, are not below /usr, the SDK or the shim folder, and are not reached through a link that
 * leads out of the folders of the search; in no case what pip installed. All others are read by clang as they are. */

struct overlay_shown {
	struct str path, out; /* the file, as clang will open it, and that with the text to show */
};
struct overlay_list {
	VEC(struct overlay_shown) files;
};
MUST_USE struct err *overlay_read(struct arena *a, struct str path, struct overlay_list *ret);
/* ret: the description's file in .rocsmith/cuda, named by a hash of it. */
MUST_USE struct err *overlay_write(
	struct arena *a, const struct cc *cc, const struct overlay_list *list, struct str *ret);
/* ret: the overlay's description for -ivfsoverlay; "" if there is nothing to put anywhere. */
MUST_USE struct err *overlay_make(struct arena *a, const struct cc *cc,
	const struct cc_config *config, struct nvcc *call, struct str *ret);
/* The messages of a compile that failed. Behind each that is about a name of CUDA which HIP lacks, a note has the reason. */
struct str overlay_explain(struct arena *a, const struct cc_config *config, struct str said);

/* ---- mend.c: what nvcc takes and clang refuses ----
 *
 * Only the compiler knows the types of a source, so its messages tell what to change, and the compile runs again:
 *
 *   - a variable in shared memory whose class has a constructor: nvcc warns that it does not run, clang refuses it. It
 *     becomes storage without a constructor, and a reference of its name.
 *   - a member of a class, in a template, that is only declared till then: g++ warns, and nvcc looks at templates where
 *     they are used. So does clang with -fdelayed-template-parsing.
 *   - a name of CUDA that a macro puts together: it is defined as HIP's name, as for compilers of the host. */

/* The words of the next try; none if these messages tell nothing to change. */
MUST_USE struct err *mend_words(struct arena *a, const struct cc *cc, const struct strs *args,
	struct str said, struct strs *ret);

/* ---- dlink.c: linking relocatable device code (-rdc=true, -dc) ----
 *
 * clang's objects of that kind have the bitcode of each GPU in a section that linkers leave out, and host code that
 * wants symbols for the linked code: __hip_fatbin_ID, and __hip_gpubin_handle_ID for what the runtime makes of it. A
 * link by clang with --hip-link links the bitcode and defines them; but nvcc has a link of the device code alone
 * (-dlink), whose result any other linker links with the objects, and which build systems rely on. Here it is made by
 * clang's link for the device side, and an object with its bundle and these symbols. LLVM's new offload driver does it
 * otherwise: its objects are refused. */

/* Is there relocatable code among the inputs of a link? Then clang must link it. */
MUST_USE struct err *dlink_needed(struct arena *a, const struct nvcc *call, bool *ret);
/* The passes of the link, whose files are in dlink_folder() until the caller removes it. E_USAGE if there are sources
 * among the inputs, or there is code but no GPU to link it for. */
MUST_USE struct err *dlink_passes(struct arena *a, const struct nvcc *call, const struct strs *gpus,
	struct compile_passes *ret);
struct str dlink_folder(struct arena *a, const struct compile_passes *passes);

/* ---- ir.c: what clang prints and writes in between; see front_pass() ---- */

bool front_word_char(char c); /* a letter, a digit, "_" or "$", as clang has them in names */

/* The words of a command as the driver's -### shows it; false if the line is none. */
bool front_shown_words(struct arena *a, struct str line, struct strs *ret);
/* The two commands of a device pass, as the driver's -### shows them. */
struct front_commands {
	struct strs cc1, lld;
	struct str object, cpu,
		source; /* values in cc1: the object that lld links, the GPU, the input */
};
/* NULL, or why the front end of these commands cannot be shared. */
const char *front_commands(struct arena *a, struct str said, struct front_commands *ret);
/* NULL, or why a preprocessed text may depend on the GPU in a way that its features do not tell. */
const char *front_refuses(struct str text);

/* LLVM IR as text. Strings in it have no quotes (LLVM writes \22), so attributes are found by their lines. */
struct ir_target {
	struct str cpu, features; /* shared by all functions; "" if none has code */
};
/* NULL, or why it is not a module for one GPU. */
const char *ir_read(struct str text, struct ir_target *ret);
/* The module for another GPU. */
struct str ir_retarget(
	struct arena *a, struct str text, const struct ir_target *from, const struct ir_target *to);

/* Device libraries ask for the number of the GPU, a constant of another library: 10300 for gfx1030. ir_isa() finds its value
 * in a module to which that is linked, 0: none. ir_questions() writes what the module asks, a line "ult 0 11000" for each
 * comparison (of the number plus 0); false if it does anything else with it. */
uint64_t ir_isa(struct str text);
bool ir_questions(struct arena *a, struct str text, struct str *ret);
/* Do two numbers get the same answers to all of these? */
bool ir_answers_agree(struct arena *a, struct str questions, uint64_t isa, uint64_t other);

/* ---- reduce.c: what two texts may differ in ----
 *
 * HIP's headers have functions whose bodies depend on the GPU, and which few sources use. front_reduce() leaves out the
 * bodies of functions of system headers that are static or inline, whose names the IR does not have, and which are made of
 * nothing but built-in types, builtins, parameters, local variables and types, a few classes of HIP, and calls of functions
 * that are as plain and whose name is that of nothing else. Texts that are equal after that make the same IR: such a
 * function is not emitted for one GPU, so nothing that is emitted uses it, and as all else is equal, it is not emitted for
 * the other; and a body of that kind has no effect on anything outside: it instantiates no function template, declares
 * nothing there, is not evaluated at compile time, and its warnings are not shown.
 *
 * It also leaves out __attribute__((unavailable)) of functions in system headers (textures, on gfx942), if no word of the
 * text outside of all such functions is a name of theirs: the attribute is an error where a function is used, and nothing
 * else. Lines are compared with their numbers and files. */
struct str front_reduce(struct arena *a, struct str text, struct str ir);
/* The names of AMDGPU's builtins in a text, sorted. */
void front_builtins(struct arena *a, struct str text, struct strs *ret);
/* Does clang check the arguments of this builtin by the GPU's features? */
bool front_asks_features(struct str builtin);

/* ---- asked.c: what one pass has learned, and others need not ask ----
 *
 * To find out what a pass shares, up to four programs run: the driver, which shows its commands; the preprocessor; a probe that
 * says which features the GPU has, and which builtins clang accepts for it; and one that says its macros. They cost more
 * than to clone an object. So
 *
 *     commands   are asked once for all GPUs of a source, and kept in memory; what names the folder of a pass is replaced.
 *     the GPU    is described in hints/gpu-HASH: macros, features, number, and the builtins that were asked so far. The hash
 *                is of the compiler's files with their states, and of the words that decide the answers.
 *     the text   is that of another GPU of the same source if their macros agree as far as any file of that text has a word for
 *                one, if clang accepts the same builtins of those in text and files, and if no file has changed since. Then
 *                the IR that served that GPU is taken.
 *
 * What the preprocessor knows of a GPU are macros and __has_builtin. A macro whose name is no word of any file can still be asked
 * for if ## makes its name of words in code: then it counts as asked for. One case is left out: names of which two or more
 * parts have but one letter. Words of strings and comments are words of a file (push_macro), but no parts. Trigraphs of
 * ends of lines, files that are not found or were changed since the text began: the pass makes a text of its own. */
struct asked_gpu {
	struct ir_target target;
	uint64_t isa;      /* the GPU's number, as device libraries have it; 0: not known */
	struct str macros; /* lines of #define; "": not known */
	struct strs builtins, accepted; /* "0" or "1" for each, as clang says */
};
struct asked_text { /* one GPU's */
	struct str text;
	int64_t began;               /* cached_now() before it was made */
	struct str store, base, key; /* the place of its front end, as in front.c */
	struct str dep;              /* its dependency file, or "" */
	struct strs files, builtins; /* its files with their states; builtins in the text itself */
	struct asked_gpu gpu;
};
/* ret->err: what -### says for the GPU of the pass, if ret->status is 0; else ask for this GPU alone. The costs are those of
 * what had to be run. */
MUST_USE struct err *asked_commands(struct arena *a, const struct front *f,
	const struct compile_pass *pass, const struct strs *argv, struct proc_result *ret);
/* words: all of the commands that ask. target.cpu is "" if nothing is known. */
MUST_USE struct err *asked_gpu(
	struct arena *a, const struct front *f, const struct strs *words, struct asked_gpu *ret);
MUST_USE struct err *asked_keep_gpu(struct arena *a, const struct front *f,
	const struct strs *words, const struct asked_gpu *gpu);
struct str asked_answer(const struct asked_gpu *gpu, struct str builtin); /* "": not known */
/* Finds the files of a text, and adds the builtins that are named in any file to *ret_builtins. */
MUST_USE struct err *asked_read(struct arena *a, const struct front *f, const struct strs *cc1,
	struct asked_text *io, struct strs *ret_builtins);
bool asked_word(const struct front *f, struct str word); /* Does any of those files have it? */
/* Is any text of this source known? Then adds the builtins of all files. */
bool asked_builtins(struct arena *a, const struct front *f, struct strs *ret);
/* Is the text of io->gpu, whose base is known, that of another one? Then io->key and io->dep are its. */
bool asked_text(struct arena *a, const struct front *f, struct asked_text *io);
void asked_keep_text(const struct front *f, const struct asked_text *text);

/* ---- processors.c: GPUs that a compiler's back end cannot tell apart ----
 *
 * LLVM's back end knows a GPU by the features in its table of processors; its name decides e_flags, a note, and (as a number)
 * comparisons of major versions. So GPUs whose rows are equal get the same code from the same IR. processors_file()
 * finds the file that has the table: the compiler, or the libLLVM in these folders that it needs. processors_read() reads a line
 * "gfx1030 HASH" for each GPU; "" if the table is not there, or looks otherwise. */
MUST_USE struct err *processors_file(
	struct arena *a, struct str compiler, const struct strs *dirs, struct str *ret);
MUST_USE struct err *processors_read(struct arena *a, struct str path, struct str *ret);
struct str processors_row(struct str rows, struct str gpu); /* the hash, or "" */
/* The code object of another GPU with an equal row; false if the name stands at more places than the note. */
bool processor_clone(
	struct arena *a, struct str object, struct str from, struct str to, struct str *ret);

/* ---- ledger.c: the memory share of each running compiler, in one file that all compilers of a build use ----
 *
 * Each holder has a slot of the file and a lock on one byte of it. The lock belongs to the open file description
 * (Linux: F_OFD_SETLK), which the compiler that the holder starts inherits. So the lock lasts until both have ended,
 * even by a signal, and needs no clean-up. A compile runs if its share is free; otherwise it waits for another to end.
 * Smaller ones may overtake the longest waiter, but only for a few seconds. If no compiler runs, the next one always
 * starts, even if it wants more than the limit.
 *
 * While others run, none is started if the machine, or a control group of this process, is already short of memory:
 * less is free than the compile wants, or the kernel reports pressure ("full avg10" of memory.pressure and
 * /proc/pressure/memory, where they exist). */
#define LEDGER_ALONE UINT64_MAX /* as `want`: run only while no other compiler does */

struct ledger {
	int fd; /* -1: not held */
	unsigned slot;
	double waited; /* seconds */
};

struct ledger_wish {
	uint64_t limit, want; /* bytes for all compilers together, and for this one */
	struct str what;      /* its name in ledger_names(), cut to 39 bytes */
};

/* Waits until `want` bytes of `limit` are free, and takes them. Fails with E_CANCELLED if a signal comes first, and
 * with E_LIMIT if too many compilers wait. */
MUST_USE struct err *ledger_take(
	struct str path, const struct ledger_wish *wish, struct ledger *ret);
void ledger_release(struct ledger *l);
/* The names of the running compiles, the longest-running first. */
MUST_USE struct err *ledger_names(struct arena *a, struct str path, struct strs *ret);

/* ---- history.c: the memory and time of earlier compiles ----
 *
 * The history is a file of fixed-size records, found by hash: a look-up reads three small pieces of it, whatever the
 * number of records. A run is recorded under three keys: its whole command line; its source and language, for use with
 * other flags; and its kind, as the mean of all such runs, weighted by their duration. If all places for a key are
 * taken, the oldest record is replaced. Writers lock the file, readers do not: each record has a checksum, and a torn
 * or invalid one counts as absent. */
enum history_by { HISTORY_KIND, HISTORY_SOURCE, HISTORY_COMMAND, HISTORY_KEYS };
extern const char *const history_by_names[];

struct history_key {
	uint64_t hash[HISTORY_KEYS];
	enum cc_kind kind;
};

struct history_guess {
	/* bytes: the last peak of this command or source; for a kind, about the 90th percentile */
	uint64_t memory;
	double seconds; /* the last duration of this command or source; 0 = unknown */
	enum history_by by;
};

struct history_key history_key(
	const struct cc *cc, const struct strs *args, const struct cc_words *w);
/* The guess from the most specific record. *ret is usable even after an error. */
MUST_USE struct err *history_guess(
	struct str path, const struct history_key *key, struct history_guess *ret);
MUST_USE struct err *history_add(
	struct str path, const struct history_key *key, uint64_t bytes, double seconds);
/* Totals over all sources in the history. */
struct history_total {
	unsigned sources;
	double seconds;
	uint64_t memory; /* the largest peak */
};
MUST_USE struct err *history_total(struct str path, struct history_total *ret);

/* ---- begins.c, pch.c: precompiled headers ----
 *
 * A set is a few headers ("ATen/core/Tensor.h", or several separated by spaces). A group is all C++ compiles with a set
 * whose command lines compile these headers alike: the same clang, working folder and arguments, except for the names
 * of source and outputs. Passes of HIP have hip/hip_runtime.h as their only set, and a group for each GPU and for the
 * host: two, as translated sources may define HIP_ENABLE_WARP_SYNC_BUILTINS first. The third compile of a group makes the
 * precompiled file, in a run that the ledger counts, and uses it if its source begins with the set; other compiles meanwhile
 * run without it. The folder .rocsmith/pch/KEY has:
 *
 *     headers, all.pch  the headers as one file, and the precompiled file
 *     made              the state of all headers in it, and their names; written last
 *     words             sorted hashes of each name in these headers that a macro could replace, and of each way in
 *                       which an #include may name one of them ("/ATen/core/Tensor.h")
 *     seen, strikes     a byte for each compile before it was made, and for each compile that it broke
 *     lock              held by the process that makes it
 *
 * The object is the same because clang reads the precompiled file as if its text stood before the source. So a source
 * gets a set only if the set's headers come first anyway: before the last of them, the source has only comments,
 * includes, and macros that no header of the set mentions; the set mentions no macro that headers before it define; and
 * each of its headers is included unconditionally. -fpch-instantiate-templates would change objects and is not used.
 * Debug information would name the file, so a compile with -g does not use it.
 *
 * When a header changes, the file is made again, also by the third compile. A compile that fails is run once more
 * without it, and only the messages of that run are shown. After three compiles that succeed only without it, the group
 * is given up. */
struct pch_words VEC_OF(uint64_t); /* sorted */

struct pch {
	struct strs set;
	struct str dir;  /* the group's folder; "": no precompiled headers for this compile */
	struct str file; /* the value of -include-pch; "": not made yet */
	bool due;        /* we must make it now, and hold the lock */
	bool hip;        /* one side of a HIP compile, for one GPU */
	bool sync; /* its text defines HIP_ENABLE_WARP_SYNC_BUILTINS first, as translated ones do */
	struct str source; /* the file whose text clang reads */
	struct strs dirs;  /* the include folders */
	int lock;          /* -1: not held */
	struct strs flags; /* the arguments that the compiles of the group share */
	struct pch_words words;
};

/* A quick look: puts the names of the unconditional #includes with which a source begins, and of the files that it
 * includes there, into *ret as keys. */
void pch_named(struct str source, const struct strs *dirs, struct map *ret);
/* Is the source known to begin with the headers of the set? */
bool pch_begins(const struct pch *p);
/* Finds the precompiled headers for a compile. If there are none, and after an error, ret->dir is "". */
MUST_USE struct err *pch_look(struct arena *a, const struct cc *cc, const struct cc_config *config,
	const struct strs *args, struct pch *ret);
/* pch_command() returns the command line that makes the file. pch_made() completes *p after that command has run, or
 * gives the group up, and releases the lock. */
MUST_USE struct err *pch_command(struct arena *a, const struct pch *p, struct strs *ret_args);
MUST_USE struct err *pch_made(struct arena *a, struct pch *p, bool good);
/* Counts a compile that succeeds only without the precompiled headers. */
MUST_USE struct err *pch_failed(struct arena *a, const struct pch *p);
/* Corrects the dependency file of a compile that used it: names all headers, and removes our file. */
MUST_USE struct err *pch_depfile(struct arena *a, const struct pch *p, const struct strs *args);
