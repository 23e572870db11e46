/* Limits the cost of reading an untrusted file, so that none takes minutes to read or exhausts the machine's memory.
 *
 * Work is counted in bytes that are read, unpacked or compared; memory in bytes that are kept. A file below 10 MB
 * gets 1 GiB of work and 160 MiB of memory, which keeps the program below 5 seconds and 256 MiB. A larger file gets
 * 256 bytes of work and 32 bytes of memory more for each byte above that. A NULL budget is no limit; it serves files
 * that we made. Spending work also notices SIGTERM. Any number of threads may share one budget. */
#pragma once

#include <stdatomic.h>

#include "base/err.h"

struct budget {
	_Atomic uint64_t work, memory; /* bytes left */
};

void budget_set(struct budget *b, uint64_t file_size);
/* Spends n; E_LIMIT if less is left, E_CANCELLED after a signal. */
MUST_USE struct err *budget_work(struct budget *b, uint64_t n);
MUST_USE struct err *budget_memory(struct budget *b, uint64_t n);
void budget_return(struct budget *b, uint64_t n); /* gives back n bytes that were freed */
