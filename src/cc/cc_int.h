/* Inside of cc/: what a command line asks for, the ledger of memory, the history of its peaks. */
#pragma once

#include "base/map.h"
#include "cc/cc.h"

/* ---- words.c ---- */
enum cc_kind { CC_OTHER, CC_C, CC_CXX, CC_HIP, CC_LINK };

struct cc_words {
	enum cc_kind kind; /* CC_OTHER: not worth counting (-E, --version, llvm-nm) */
	bool driver;       /* clang's driver itself, not hipcc, not cc1 */
	bool links;        /* a program or library is made */
	bool targeted;     /* the caller says for which target, or against which other system */
	bool openmp;       /* OpenMP is compiled */
	bool compiles;     /* its input is a source of C, C++ or HIP */
	struct str input;  /* the first source or object, "" = none */
};

/* own_sysroot: that of the SDK, "" = none; to name it is to name no other system. */
struct cc_words cc_words(struct str name, const struct strs *args, struct str own_sysroot);
bool cc_takes_value(struct str word); /* an option whose value is the next word */
extern const char *const cc_kind_names[];
/* The arguments without a -std= that is of another language (told), which is an error for clang: gcc warns
 * of it and goes on, and projects that were built with gcc alone have it. PyTorch's C sources are
 * compiled with -std=c++17, which torch_hip asks of all that link it. */
struct strs cc_fit_standard(struct arena *a, struct str name, const struct cc_words *w,
	const struct strs *args, struct str *ret_left_out);
/* Arguments of nvcc's, as hipcc gets them from projects that know nothing of it, for clang. */
struct strs cc_from_nvcc(struct arena *a, const struct strs *args);
/* Bytes of all files that a link takes together, those of a response file with them. */
uint64_t cc_link_bytes(const struct strs *args);

/* ---- ledger.c: who uses how much memory now, in one file that all compilers of a build share ----
 *
 * A holder is a slot of the file and a lock on one byte of it. The lock belongs to the open file
 * (Linux: F_OFD_SETLK) and is inherited by the compiler that the holder starts: it lasts until both
 * have ended, however they end, and nothing has to be cleaned up. What fits runs; what does not
 * waits for another to end. The oldest that waits is overtaken by smaller ones for a few seconds
 * only. One that finds nobody else always runs, however much it wants.
 *
 * While others run, nobody starts who would find the machine, or a control group that we are in, short
 * of memory already: less free than is wanted, or pressure as the kernel tells it ("full avg10" of
 * memory.pressure and /proc/pressure/memory, where there are such). */
#define LEDGER_ALONE UINT64_MAX /* as a wish: with nobody else beside */

struct ledger {
	int fd, events; /* fd -1: not held */
	unsigned slot;
	double waited; /* seconds */
};

struct ledger_wish {
	uint64_t limit, want; /* bytes: what all may take together, and this one */
	struct str what;      /* its name for others, cut to 47 bytes */
};

/* Waits until want bytes of limit are free, and takes them. E_CANCELLED when a signal comes first;
 * E_LIMIT when there are too many that want something. */
MUST_USE struct err *ledger_take(
	struct str path, const struct ledger_wish *wish, struct ledger *ret);
void ledger_release(struct ledger *l);
/* What those that run now are called, the one that has run longest first. */
MUST_USE struct err *ledger_names(struct arena *a, struct str path, struct strs *ret);

/* ---- history.c: what compiles needed before ----
 *
 * A file of records of one size, found by hash: looking something up reads three small pieces of it,
 * however much it knows. A run is kept under three keys: its whole command line, its source with the
 * language (other flags), and its kind: the mean of all such runs, each counted as long as it took. Where
 * all places for a key are taken, the record that was written longest ago goes. Writers take a lock on
 * the file, readers none; each record has a sum, and what is torn or foreign counts as not there. */
enum history_by { HISTORY_KIND, HISTORY_SOURCE, HISTORY_COMMAND, HISTORY_KEYS };
extern const char *const history_by_names[];

struct history_key {
	uint64_t hash[HISTORY_KEYS];
	enum cc_kind kind;
};

struct history_guess {
	uint64_t
		memory; /* bytes: the peak of the last such run; of a kind: enough for nine of ten */
	double seconds; /* that the source took, 0 = not known */
	enum history_by by;
};

struct history_key history_key(
	const struct cc *cc, const struct strs *args, const struct cc_words *w);
/* The best guess that there is; *ret is good even when there is an error. */
MUST_USE struct err *history_guess(
	struct str path, const struct history_key *key, struct history_guess *ret);
MUST_USE struct err *history_add(
	struct str path, const struct history_key *key, uint64_t bytes, double seconds);
/* Of all sources together: how many there are, how long they took. */
struct history_total {
	unsigned sources;
	double seconds;
	uint64_t memory; /* of the largest */
};
MUST_USE struct err *history_total(struct str path, struct history_total *ret);

/* ---- begins.c, pch.c: precompiled headers ----
 *
 * A set is a few headers ("ATen/core/Tensor.h", or several with a space between), a group all C++
 * compiles of a set whose command lines compile these headers alike: the same clang, folder and words,
 * but for names of source and outputs. The third compile of a group makes its file, as one that the
 * ledger counts; others that come meanwhile do not wait. The folder .rocsmith/pch/KEY has:
 *
 *     headers, all.pch  what is precompiled, and the result
 *     made              the state of all headers that are in it, and their names; written last
 *     words             hashes, sorted: each name in these headers that a macro could stand for,
 *                       and each way to say where they are ("/ATen/core/Tensor.h")
 *     seen, strikes     a byte for each compile before it was made, and for each that it broke
 *     lock              held by the one that makes it
 *
 * Why the object is the same: clang reads that file as if it stood before the source. So a source has a set
 * only where its headers come first anyway: before the last of them the source has nothing but
 * comments, includes, and macros that none of them mentions; what other headers before them define,
 * they do not mention either; and each is included without a condition. -fpch-instantiate-templates
 * would change objects and is not used; debug information would name it, so with -g there is none.
 *
 * A header that changed: made anew, after as many compiles. A compile that fails is run once more without
 * it, and that one's messages count; after three of those which succeed then, the group has none. */
struct pch_words {
	uint64_t *v;
	size_t n, cap;
};

struct pch {
	struct strs set;
	struct str dir;    /* of the group; "": this compile has none */
	struct str file;   /* what it gets by -include-pch; "": it is not made yet */
	bool due;          /* to be made now: we hold the lock */
	int lock;          /* -1: not held */
	struct strs flags; /* of the group */
	struct pch_words words;
};

/* What a source, and what it includes, name in an #include without a condition: the keys of *ret. */
void pch_named(struct str source, const struct strs *dirs, struct map *ret);
void pch_sort(struct pch_words *words); /* as pch_begins() wants them */
/* Is the source known to begin with these headers? dirs: where includes are looked for. words: of the set
 * as it was made; NULL: only whether the headers are there at all. */
bool pch_begins(struct str source, const struct strs *set, const struct strs *dirs,
	const struct pch_words *words);
/* What a compile may have; where it has nothing, or in an error, *ret says so. */
MUST_USE struct err *pch_look(struct arena *a, const struct cc *cc, const struct cc_config *config,
	const struct strs *args, struct pch *ret);
/* The command line that makes it, and, after that ran, the rest: then *p can be used, or its group has
 * none from now on. Releases the lock. */
MUST_USE struct err *pch_command(struct arena *a, const struct pch *p, struct strs *ret_args);
MUST_USE struct err *pch_made(struct arena *a, struct pch *p, bool good);
/* It broke a compile. */
MUST_USE struct err *pch_failed(struct arena *a, const struct pch *p);
/* After a compile that had it: its dependency file names all headers, but not that file. */
MUST_USE struct err *pch_depfile(struct arena *a, const struct pch *p, const struct strs *args);
