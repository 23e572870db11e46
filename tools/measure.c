/* measure FILE PROGRAM [ARG...]: runs a program and writes "SECONDS PEAK_KIB" to FILE.
 *
 * A program of its own, because the kernel counts the memory of the process that starts another one
 * in the other's peak: a Python interpreter as parent would hide what a small program needs. */
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int status;
	struct rusage usage;
	if (argc < 3)
		return 2;
	double start = now();
	pid_t pid;
	/* as shells and build systems start programs: a copy of this process by fork() takes 0.1 ms, which are ours */
	if (posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ))
		return 127;
	if (wait4(pid, &status, 0, &usage) < 0)
		return 71;
	double seconds = now() - start;
	FILE *f = fopen(argv[1], "w");
	if (!f)
		return 73;
	fprintf(f, "%.6f %ld\n", seconds, usage.ru_maxrss);
	if (fclose(f))
		return 74;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
