/* Private to cc/: what a command line asks for, the ledger of memory, the history of peaks, precompiled headers. */
#pragma once

#include "base/map.h"
#include "cc/cc.h"

/* ---- words.c ---- */
enum cc_kind { CC_OTHER, CC_C, CC_CXX, CC_HIP, CC_LINK };

struct cc_words {
	enum cc_kind kind; /* CC_OTHER: too small to count (-E, --version, llvm-nm) */
	bool driver;       /* it is clang's driver itself, not hipcc or cc1 */
	bool links;        /* a program or library is linked */
	bool targeted;     /* the caller names a target or another sysroot */
	bool openmp;       /* OpenMP is compiled */
	bool compiles;     /* its input is a source of C, C++ or HIP */
	struct str input;  /* the first source or object; "" = none */
};

/* own_sysroot: the SDK's, or "". An option that names it makes a command line no more targeted than before. */
struct cc_words cc_words(struct str name, const struct strs *args, struct str own_sysroot);
bool cc_takes_value(struct str word); /* is its value the next word? */
extern const char *const cc_kind_names[];
/* The arguments without a -std= of another language (*ret_left_out). clang refuses it, while gcc only warns, so that
 * projects that were always built with gcc have it: PyTorch's C sources get -std=c++17, because torch_hip requires it of
 * everything that links to it. */
struct strs cc_fit_standard(struct arena *a, struct str name, const struct cc_words *w,
	const struct strs *args, struct str *ret_left_out);
/* Translates options of nvcc for clang: projects that do not know hipcc give it such. */
struct strs cc_from_nvcc(struct arena *a, const struct strs *args);
/* The size of all inputs of a link, including those in a response file. */
uint64_t cc_link_bytes(const struct strs *args);

/* ---- ledger.c: how much memory each compiler uses now, in one file that all compilers of a build share ----
 *
 * A holder is a slot of the file and a lock on one byte of it. The lock belongs to the open file (Linux: F_OFD_SETLK)
 * and is inherited by the compiler that the holder starts: it lasts until both have ended, however they end, and nothing
 * has to be cleaned up. A compile that fits runs; one that does not waits for another to end. Smaller ones may overtake
 * the oldest that waits, but only for a few seconds. If nothing else runs, one always starts, however much it wants.
 *
 * While others run, nothing is started when this machine, or a control group that we are in, is already short of
 * memory: less is free than is wanted, or the kernel reports pressure ("full avg10" of memory.pressure and
 * /proc/pressure/memory, where they exist). */
#define LEDGER_ALONE UINT64_MAX /* as a wish: run while nobody else does */

struct ledger {
	int fd, events; /* fd -1: not held */
	unsigned slot;
	double waited; /* seconds */
};

struct ledger_wish {
	uint64_t limit, want; /* bytes: for all together, and for this one */
	struct str what;      /* its name in ledger_names(), cut to 39 bytes */
};

/* Waits until `want` bytes of `limit` are free, and takes them. E_CANCELLED if a signal comes first; E_LIMIT if too many
 * compilers wait. */
MUST_USE struct err *ledger_take(
	struct str path, const struct ledger_wish *wish, struct ledger *ret);
void ledger_release(struct ledger *l);
/* The names of those that run now; the one that has run longest comes first. */
MUST_USE struct err *ledger_names(struct arena *a, struct str path, struct strs *ret);

/* ---- history.c: what earlier compiles needed ----
 *
 * A file of records of one size, found by hash: a look-up reads three small pieces of it, however much it holds. A run
 * is kept under three keys: its whole command line; its source and language, for other flags; and its kind, as the mean
 * of all such runs, weighted by how long they took. If all places for a key are taken, the oldest record goes. Writers
 * lock the file, readers do not: each record has a checksum, and a torn or foreign one counts as absent. */
enum history_by { HISTORY_KIND, HISTORY_SOURCE, HISTORY_COMMAND, HISTORY_KEYS };
extern const char *const history_by_names[];

struct history_key {
	uint64_t hash[HISTORY_KEYS];
	enum cc_kind kind;
};

struct history_guess {
	uint64_t
		memory; /* bytes: the last peak of this command or source; of a kind, the 90th percentile */
	double seconds; /* that the source took, 0 = not known */
	enum history_by by;
};

struct history_key history_key(
	const struct cc *cc, const struct strs *args, const struct cc_words *w);
/* The best guess there is; *ret is usable even after an error. */
MUST_USE struct err *history_guess(
	struct str path, const struct history_key *key, struct history_guess *ret);
MUST_USE struct err *history_add(
	struct str path, const struct history_key *key, uint64_t bytes, double seconds);
/* All sources of the history together. */
struct history_total {
	unsigned sources;
	double seconds;
	uint64_t memory; /* the largest peak */
};
MUST_USE struct err *history_total(struct str path, struct history_total *ret);

/* ---- begins.c, pch.c: precompiled headers ----
 *
 * A set is a few headers ("ATen/core/Tensor.h", or several with a space between). A group is all C++ compiles of a set
 * whose command lines compile these headers alike: the same clang, folder and words, except for names of source and
 * outputs. The third compile of a group makes the precompiled file, as a run that the ledger counts; others that come
 * meanwhile do not wait. The folder .rocsmith/pch/KEY has:
 *
 *     headers, all.pch  the headers as one file, and the result
 *     made              the state of all headers in it, and their names; written last
 *     words             hashes, sorted: each name in these headers that a macro could replace, and each way in
 *                       which an #include may name one of them ("/ATen/core/Tensor.h")
 *     seen, strikes     a byte for each compile before it was made, and for each that it broke
 *     lock              held by the process that makes it
 *
 * The object is the same because clang reads that file as if it stood before the source. So a source gets a set only if
 * its headers come first anyway: before the last of them, the source has only comments, includes, and macros that none
 * of them mentions; they do not mention what other headers before them define either; and each is included without a
 * condition. -fpch-instantiate-templates would change objects and is not used; debug information would name the file,
 * so a compile with -g has none.
 *
 * When a header changes, the file is made anew, after as many compiles. A compile that fails is run once more without
 * it, and the messages of that run count; after three that succeed then, the group is given up. */
struct pch_words {
	uint64_t *v;
	size_t n, cap;
};

struct pch {
	struct strs set;
	struct str dir;    /* of the group; "": this compile gets none */
	struct str file;   /* for -include-pch; "": it is not made yet */
	bool due;          /* it is to be made now, by us: we hold the lock */
	int lock;          /* -1: not held */
	struct strs flags; /* of the group */
	struct pch_words words;
};

/* Puts the names of all unconditional #includes of a source, and of the files it includes, into *ret as keys. */
void pch_named(struct str source, const struct strs *dirs, struct map *ret);
void pch_sort(struct pch_words *words); /* as pch_begins() wants them */
/* Is the source known to begin with these headers? dirs: the include folders. words: of the set as it was made; if
 * NULL, the answer is only whether the headers are included at all. */
bool pch_begins(struct str source, const struct strs *set, const struct strs *dirs,
	const struct pch_words *words);
/* The precompiled headers for a compile. *ret has none (dir is "") if there are none, and after an error. */
MUST_USE struct err *pch_look(struct arena *a, const struct cc *cc, const struct cc_config *config,
	const struct strs *args, struct pch *ret);
/* The command line that makes the file, and the rest of the work after that ran: *p can then be used, or its group is
 * given up. Releases the lock. */
MUST_USE struct err *pch_command(struct arena *a, const struct pch *p, struct strs *ret_args);
MUST_USE struct err *pch_made(struct arena *a, struct pch *p, bool good);
/* Counts a compile that it broke. */
MUST_USE struct err *pch_failed(struct arena *a, const struct pch *p);
/* Mends the dependency file of a compile that had it: it must name all headers, but not our file. */
MUST_USE struct err *pch_depfile(struct arena *a, const struct pch *p, const struct strs *args);
