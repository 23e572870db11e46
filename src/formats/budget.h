/* What reading a stranger's file may cost, so that none of them takes all of a machine, or minutes.
 *
 * Work is counted in bytes that are read, unpacked or compared, memory in bytes that are kept. A file
 * below 10 MB has 1 GiB of work and 160 MiB of memory, which keeps the program below 5 seconds and 256
 * MiB; a larger one has 256 and 32 bytes more for each byte above. NULL is no limit: for files that we
 * made. Who spends also hears SIGTERM. Any number of threads may share one budget. */
#pragma once

#include <stdatomic.h>

#include "base/err.h"

struct budget {
	_Atomic uint64_t work, memory; /* what is left */
};

void budget_set(struct budget *b, uint64_t file_size);
/* E_LIMIT when there is not so much left, E_CANCELLED after a signal. */
MUST_USE struct err *budget_work(struct budget *b, uint64_t n);
MUST_USE struct err *budget_memory(struct budget *b, uint64_t n);
void budget_return(struct budget *b, uint64_t n); /* memory that was freed */
