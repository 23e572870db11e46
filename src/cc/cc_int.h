/* Inside of cc/: what a command line asks for, the ledger of memory, the history of its peaks. */
#pragma once

#include "cc/cc.h"

/* ---- words.c ---- */
enum cc_kind { CC_OTHER, CC_C, CC_CXX, CC_HIP, CC_LINK };

struct cc_words {
	enum cc_kind kind; /* CC_OTHER: not worth counting (-E, --version, llvm-nm) */
	bool driver;       /* clang's driver itself, not hipcc, not cc1 */
	bool links;        /* a program or library is made */
	bool targeted;     /* the caller says for which target, or against which system */
	struct str input;  /* the first source or object, "" = none */
};

struct cc_words cc_words(struct str name, const struct strs *args);
extern const char *const cc_kind_names[];
extern const uint64_t cc_kind_memory[]; /* bytes, where there is no history */

/* ---- ledger.c: who uses how much memory now, in one file that all compilers of a build share ----
 *
 * A holder is a slot of the file and a lock on one byte of it. The lock belongs to the open file
 * (Linux: F_OFD_SETLK) and is inherited by the compiler that the holder starts: it lasts until both
 * have ended, however they end, and nothing has to be cleaned up. What fits runs; what does not
 * waits for another to end. The oldest that waits is overtaken by smaller ones for a few seconds
 * only. One that finds nobody else always runs, however much it wants.
 *
 * While others run, nobody starts who would find the machine short of memory already: pressure
 * stall information of the kernel ("full avg10" of /proc/pressure/memory, where there is one). */
#define LEDGER_ALONE UINT64_MAX /* as a wish: with nobody else beside */

struct ledger {
	int fd, events; /* fd -1: not held */
	unsigned slot;
	double waited; /* seconds */
};

/* Waits until want bytes of limit are free, and takes them. E_CANCELLED when a signal comes first;
 * E_LIMIT when there are too many that want something. */
MUST_USE struct err *ledger_take(
	struct str path, uint64_t limit, uint64_t want, struct ledger *ret);
void ledger_release(struct ledger *l);

/* ---- history.c: what compiles needed before, a text file to which runs append ----
 *
 * A line is "COMMAND SOURCE KIB\n": hashes (good enough for a guess) of the whole command line and of
 * the source with its language, and the peak of memory. The last line of a command counts, else that
 * of its source (other flags). What is no such line is skipped. */
struct history_key {
	uint64_t command, source;
};

struct history_key history_key(
	const struct cc *cc, const struct strs *args, const struct cc_words *w);
/* The peak in bytes of the last such run, 0 when there was none. exact: of the very command. */
MUST_USE struct err *history_peak(
	struct str path, struct history_key key, uint64_t *ret_bytes, bool *ret_exact);
MUST_USE struct err *history_add(struct str path, struct history_key key, uint64_t bytes);
