/* Limits the cost of reading a stranger's file, so that none of them takes minutes or the memory of a machine.
 *
 * Work is counted in bytes that are read, unpacked or compared, memory in bytes that are kept. A file
 * below 10 MB has 1 GiB of work and 160 MiB of memory, which keeps the program below 5 seconds and 256
 * MiB; a larger one has 256 and 32 bytes more for each byte above. NULL is no limit, for files that we
 * made. Spending also notices SIGTERM. Any number of threads may share one budget. */
#pragma once

#include <stdatomic.h>

#include "base/err.h"

struct budget {
	_Atomic uint64_t work, memory; /* bytes that are left */
};

void budget_set(struct budget *b, uint64_t file_size);
/* Spends n; E_LIMIT if less is left, E_CANCELLED after a signal. */
MUST_USE struct err *budget_work(struct budget *b, uint64_t n);
MUST_USE struct err *budget_memory(struct budget *b, uint64_t n);
void budget_return(struct budget *b, uint64_t n); /* memory that was freed */
