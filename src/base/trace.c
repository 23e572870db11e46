/* The trace file; see trace.h. Each line is one write, so that a killed run leaves whole lines. No other file is
 * written in place; this one must survive a kill. */
#include "base/trace.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "base/proc.h"

static int trace_fd = -1;
static double epoch;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct err *trace_open(struct str path)
{
	ARENA(tmp);
	trace_fd =
		open(str_z(&tmp, path), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (trace_fd < 0)
		return err_errno("cannot create the trace '%.*s'", STR(path));
	epoch = mono_now();
	return NULL;
}

void trace_close(void)
{
	if (trace_fd >= 0)
		close(trace_fd);
	trace_fd = -1;
}

void trace_event(const char *event, struct str fields)
{
	if (trace_fd < 0)
		return;
	ARENA(tmp);
	struct str line = str_fmt(&tmp, "{\"t\":%.6f,\"event\":\"%s\"%s%.*s}\n", mono_now() - epoch,
		event, fields.n ? "," : "", STR(fields));
	pthread_mutex_lock(&lock);
	if (write(trace_fd, line.p, line.n) < 0)
		trace_close(); /* a full disk must not stop the work that is traced */
	pthread_mutex_unlock(&lock);
}
