/* What each input of a fuzz target may cost: processor time and memory, absolute and for each of its
 * bytes. The linker leads calls of the target and of malloc() here (--wrap), under libFuzzer and in a
 * replay of the corpus alike; an input that costs more ends the program as a crash does. Memory that
 * shared libraries take for themselves is not seen. Threads are not started: starting one takes longer than most inputs do,
 * and with one alone a finding repeats itself. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SECONDS 5.0
#define SECONDS_A_BYTE 20e-6
enum { MEMORY = 192 << 20, MEMORY_A_BYTE = 2048 };

static _Atomic int64_t live, peak;

void *__real_malloc(size_t n);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int __wrap_pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *user);

int __wrap_pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *user)
{
	(void)thread;
	(void)attr;
	(void)fn;
	(void)user;
	return EAGAIN;
}

static void count(int64_t n)
{
	int64_t now = atomic_fetch_add(&live, n) + n, most = atomic_load(&peak);
	while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
		;
}

static int64_t size_of(void *p)
{
	return p ? (int64_t)malloc_usable_size(p) : 0;
}

void *__wrap_malloc(size_t n)
{
	void *p = __real_malloc(n);
	count(size_of(p));
	return p;
}

void *__wrap_realloc(void *p, size_t n)
{
	int64_t before = size_of(p);
	void *q = __real_realloc(p, n);
	count(size_of(q) - before);
	return q;
}

void __wrap_free(void *p)
{
	count(-size_of(p));
	__real_free(p);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	double start = now();
	live = peak = 0;
	int status = __real_LLVMFuzzerTestOneInput(data, size);
	double spent = now() - start;
	if (spent <= SECONDS + SECONDS_A_BYTE * (double)size &&
		peak <= MEMORY + MEMORY_A_BYTE * (int64_t)size)
		return status;
	fprintf(stderr, "an input of %zu bytes took %.1f s and %lld MiB\n", size, spent,
		(long long)(peak >> 20));
	abort();
}
