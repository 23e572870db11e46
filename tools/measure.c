/* measure FILE PROGRAM [ARG...]: runs a program and writes "SECONDS PEAK_KIB" to FILE.
 *
 * A program of its own, because the kernel counts the memory of the process that starts another one
 * in the other's peak: a Python interpreter as parent would hide what a small program needs. */
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
	pid_t pid = fork();
	if (pid < 0)
		return 71;
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
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
