/* Budgets; see budget.h. */
#include "formats/budget.h"

#include "base/proc.h"

#define FREE_SIZE UINT64_C(10000000)
#define LEAST_WORK (UINT64_C(1) << 30)
#define LEAST_MEMORY (UINT64_C(160) << 20)
#define MOST (UINT64_C(1) << 40) /* cap of the size-dependent work */

enum { WORK_A_BYTE = 256, MEMORY_A_BYTE = 32 };

void budget_set(struct budget *b, uint64_t size)
{
	uint64_t more = size > FREE_SIZE ? size - FREE_SIZE : 0;
	more = more < MOST / WORK_A_BYTE ? more : MOST / WORK_A_BYTE;
	b->work = LEAST_WORK + more * WORK_A_BYTE;
	b->memory = LEAST_MEMORY + more * MEMORY_A_BYTE;
}

static bool spend(_Atomic uint64_t *left, uint64_t n)
{
	uint64_t now = atomic_load(left);
	do {
		if (now < n)
			return false;
	} while (!atomic_compare_exchange_weak(left, &now, now - n));
	return true;
}

struct err *budget_work(struct budget *b, uint64_t n)
{
	TRY(cancel_check());
	if (!b || spend(&b->work, n))
		return NULL;
	return err_new(E_LIMIT, "reading it takes more work than a file of its size may cost");
}

struct err *budget_memory(struct budget *b, uint64_t n)
{
	if (!b || spend(&b->memory, n))
		return NULL;
	return err_new(E_LIMIT, "reading it takes more memory than a file of its size may cost");
}

void budget_return(struct budget *b, uint64_t n)
{
	if (b)
		atomic_fetch_add(&b->memory, n);
}
