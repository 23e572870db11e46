/* SIGINT, SIGTERM and SIGHUP set a flag that long work checks; see proc.h. A second signal of the same kind kills the
 * program at once, which is safe, since no file is ever half written. */
#include <signal.h>
#include <time.h>

#include "base/proc.h"

static volatile sig_atomic_t caught;

static void on_signal(int sig)
{
	caught = sig;
}

void cancel_init(void)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool cancelled(void)
{
	return caught != 0;
}

int cancel_signal(void)
{
	return caught;
}

struct err *cancel_check(void)
{
	return caught ? err_new(E_CANCELLED, "interrupted") : NULL;
}

double mono_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
