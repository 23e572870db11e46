/* Runs programs; see proc.h. One poll loop per run reads both pipes and watches the child by a pidfd, so that timeouts
 * and Ctrl-C take effect while it runs. */
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/trace.h"
#include "base/vec.h"

extern char **environ;

enum { IN, OUT, ERR };
enum { GRACE = 3 /* seconds between SIGTERM and SIGKILL */, TICK = 100 /* ms */, LINE = 4096 };

/* The pipe to the child's stdin, or from its stdout or stderr. The tail of an output is its last `limit` bytes, or at
 * least half as many. Its memory is allocated at once; the system provides pages as they are filled. */
struct child_pipe {
	int fd, child; /* our end and the child's; -1 = none, or closed */
	char *tail;
	size_t n, limit;
	char line[LINE]; /* the beginning of a line that has not ended yet */
	size_t line_n;
};

struct proc_run {
	const struct proc *p;
	pid_t pid;
	struct child_pipe io[3];
	int log;
	size_t fed; /* bytes of the input written */
	double start, term_at, ticked;
	bool timed_out;
	uint64_t seen;  /* bytes of output */
	int read_errno; /* a pipe could not be read: the output is incomplete */
};

static void run_done(struct proc_run *r)
{
	for (int i = IN; i <= ERR; i++) {
		fd_closep(&r->io[i].fd);
		fd_closep(&r->io[i].child);
		free(r->io[i].tail);
	}
	fd_closep(&r->log);
}

struct str proc_find(struct arena *a, struct str name)
{
	if (str_chr(name, '/') < name.n)
		return name;
	const char *env = getenv("PATH");
	struct str path = str_from(env ? env : "/usr/bin:/bin"), dir;
	while (str_next(&path, ':', &dir)) {
		struct str full = path_join(a, dir, name);
		if (access(full.p, X_OK) == 0 && !fs_is_dir(full))
			return full;
	}
	return S("");
}

/* Our environment with the changes of p; of two settings the later one wins. */
static char **make_env(struct arena *a, const struct proc *p)
{
	VEC(char *) list = {0};
	struct str name, value, other;
	for (char **e = environ; !p->clear_env && *e; e++)
		*VEC_PUSH(a, &list) = *e;
	for (size_t i = 0; i < p->setenv.n; i++) {
		bool set = str_cut(p->setenv.v[i], '=', &name, &value);
		size_t n = 0;
		for (size_t k = 0; k < list.n; k++) {
			str_cut(str_from(list.v[k]), '=', &other, &value);
			if (!str_eq(other, name))
				list.v[n++] = list.v[k];
		}
		list.n = n;
		if (set)
			*VEC_PUSH(a, &list) = str_z(a, p->setenv.v[i]);
	}
	*VEC_PUSH(a, &list) = NULL;
	return list.v;
}

static char **make_argv(struct arena *a, const struct proc *p)
{
	char **argv = arena_array(a, p->argv.n + 1, sizeof(*argv));
	for (size_t i = 0; i < p->argv.n; i++)
		argv[i] = str_z(a, p->argv.v[i]);
	return argv;
}

static struct err *find_program(struct arena *a, const struct proc *p, struct str *ret)
{
	*ret = proc_find(a, p->argv.v[0]);
	return ret->n ? NULL
		      : err_new(E_TOOL_MISSING, "'%.*s' is not installed (not found in PATH)",
				STR(p->argv.v[0]));
}

struct err *proc_become(const struct proc *p)
{
	ARENA(a);
	struct str file;
	TRY(find_program(&a, p, &file));
	char **argv = make_argv(&a, p), **env = make_env(&a, p);
	void (*was)(int) = signal(SIGPIPE, SIG_DFL);
	execve(str_z(&a, file), argv, env);
	struct err *e = err_errno("cannot run '%.*s'", STR(file));
	signal(SIGPIPE, was);
	return e;
}

static int spawn(struct arena *a, struct proc_run *r, char *file)
{
	const struct proc *p = r->p;
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&at);
	if (r->io[IN].child >= 0)
		posix_spawn_file_actions_adddup2(&fa, r->io[IN].child, 0);
	else if (!p->inherit && !p->only_err)
		posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	for (int i = p->only_err ? ERR : OUT; i <= ERR && !p->inherit; i++)
		posix_spawn_file_actions_adddup2(&fa, r->io[p->merge ? OUT : i].child, i);
	if (p->cwd.n)
		posix_spawn_file_actions_addchdir_np(&fa, str_z(a, p->cwd));
	sigset_t handled, none;
	sigemptyset(&none);
	sigemptyset(&handled);
	sigaddset(&handled, SIGPIPE);
	sigaddset(&handled, SIGINT);
	sigaddset(&handled, SIGTERM);
	sigaddset(&handled, SIGHUP);
	posix_spawnattr_setsigdefault(&at, &handled);
	posix_spawnattr_setsigmask(&at, &none);
	posix_spawnattr_setpgroup(&at, 0);
	short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
	if (!p->inherit) /* an interactive child stays in the terminal's foreground group */
		flags = (short)(flags | POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setflags(&at, flags);
	int no = posix_spawn(&r->pid, file, &fa, &at, make_argv(a, p), make_env(a, p));
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&at);
	return no;
}

static struct err *start(struct arena *a, const struct proc *p, struct proc_run *r)
{
	struct str file;
	TRY(find_program(a, p, &file));
	if (p->log.n) {
		const int flags =
			O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
		r->log = open(str_z(a, p->log), flags, 0644);
		if (r->log < 0)
			return err_errno("cannot open the log '%.*s'", STR(p->log));
	}
	for (int i = IN; i <= ERR && !p->inherit; i++) {
		int fd[2];
		if ((i == IN && !p->input.n) || (i == OUT && p->only_err) || (i == ERR && p->merge))
			continue;
		if (pipe2(fd, O_CLOEXEC) < 0)
			return err_errno("cannot create a pipe");
		r->io[i].fd = fd[i == IN];
		r->io[i].child = fd[i != IN];
	}
	r->start = mono_now();
	errno = spawn(a, r, str_z(a, file));
	if (errno == ENOENT || errno == EACCES)
		return err_hint(err_new(E_TOOL_MISSING, "cannot run '%.*s': %s", STR(file),
					strerror(errno)),
			"the program or its loader is missing or not executable");
	if (errno)
		return err_errno("cannot run '%.*s'", STR(file));
	for (int i = IN; i <= ERR; i++)
		fd_closep(&r->io[i].child);
	return NULL;
}

static void end_group(const struct proc_run *r, int sig)
{
	kill(r->p->inherit ? r->pid : -r->pid, sig);
}

/* After a timeout or Ctrl-C: SIGTERM, and SIGKILL when the grace has passed. */
static void enforce(struct proc_run *r)
{
	double now = mono_now();
	if (r->term_at <= 0 && r->p->timeout && now - r->start > r->p->timeout)
		r->timed_out = true;
	bool flooded = r->p->most && r->seen > r->p->most;
	if (r->term_at <= 0 && (r->timed_out || flooded || cancelled())) {
		r->term_at = now;
		end_group(r, SIGTERM);
	} else if (r->term_at > 0 && now - r->term_at > GRACE) {
		end_group(r, SIGKILL);
	}
}

static void tail_add(struct child_pipe *t, const char *p, size_t n)
{
	if (n > t->limit) {
		p += n - t->limit;
		n = t->limit;
	}
	if (t->n + n > t->limit) { /* drop half at a time, so that moving stays cheap */
		size_t drop = t->n + n - t->limit / 2;
		drop = drop > t->n ? t->n : drop;
		memmove(t->tail, t->tail + drop, t->n - drop);
		t->n -= drop;
	}
	if (!t->tail)
		t->tail = xmalloc(t->limit);
	memcpy(t->tail + t->n, p, n);
	t->n += n;
}

/* Calls p->line for each line. "\r" also ends a line, since programs redraw a line with it. */
static void read_output(struct proc_run *r, struct child_pipe *from)
{
	const struct proc *p = r->p;
	char chunk[65536];
	ssize_t got = read(from->fd, chunk, sizeof(chunk));
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		r->read_errno = got < 0 ? errno : r->read_errno;
		fd_closep(&from->fd);
		return;
	}
	r->seen += (uint64_t)got;
	tail_add(from, chunk, (size_t)got);
	for (ssize_t i = 0; p->line && i < got; i++) {
		if (chunk[i] != '\n' && chunk[i] != '\r') {
			if (from->line_n < LINE)
				from->line[from->line_n++] = chunk[i];
			continue;
		}
		if (from->line_n)
			p->line(p->user, (struct str){.p = from->line, .n = from->line_n});
		from->line_n = 0;
	}
	if (r->log >= 0 && write(r->log, chunk, (size_t)got) < 0)
		fd_closep(&r->log); /* the log is a convenience; the run goes on */
}

static void feed(struct proc_run *r)
{
	struct str rest = str_sub(r->p->input, r->fed, r->p->input.n);
	size_t n = rest.n < 4096 ? rest.n : 4096; /* PIPE_BUF: poll promised room for this much */
	ssize_t put = n ? write(r->io[IN].fd, rest.p, n) : 0;
	if (put < 0 && errno != EINTR)
		r->fed = r->p->input.n; /* the child closed its stdin */
	else if (put > 0)
		r->fed += (size_t)put;
	if (r->fed == r->p->input.n)
		fd_closep(&r->io[IN].fd);
}

/* Checks without reaping the child, so that its pid is not reused yet. */
static bool has_ended(pid_t pid, int flags)
{
	siginfo_t si = {0};
	return waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT | flags) == 0 && si.si_pid == pid;
}

/* Reads until the child has ended and its pipes are drained. A grandchild that keeps a pipe open
 * does not delay us: once the child has ended we take the output so far. Without a pidfd (an old kernel, no free
 * descriptors), the next tick notices the end. */
static void follow(struct proc_run *r, int pidfd)
{
	for (bool ended = false;;) {
		struct pollfd pf[] = {
			{.fd = r->io[OUT].fd, .events = POLLIN},
			{.fd = r->io[ERR].fd, .events = POLLIN},
			{.fd = r->io[IN].fd, .events = POLLOUT},
			{.fd = ended ? -1 : pidfd, .events = POLLIN},
		};
		int n = poll(pf, 4, ended ? 0 : TICK);
		if (n <= 0 && ended)
			return;
		if (n > 0 && pf[0].revents)
			read_output(r, &r->io[OUT]);
		if (n > 0 && pf[1].revents)
			read_output(r, &r->io[ERR]);
		if (n > 0 && pf[2].revents)
			feed(r);
		if ((n > 0 && pf[3].revents) || (pidfd < 0 && has_ended(r->pid, WNOHANG)))
			ended = true;
		if (ended && r->io[OUT].fd < 0 && r->io[ERR].fd < 0)
			return;
		enforce(r);
		double now = mono_now();
		if (r->p->tick && now - r->ticked >= 1) {
			r->ticked = now;
			r->timed_out |= !r->p->tick(r->p->user);
		}
	}
}

static void trace_run(const struct proc *p, const struct proc_result *res)
{
	ARENA(a);
	BUF(out, &a);
	buf_add(&out, S("\"argv\":["));
	for (size_t i = 0; i < p->argv.n; i++) {
		buf_add(&out, i ? S(",\"") : S("\""));
		for (size_t k = 0; k < p->argv.v[i].n; k++) {
			char c = p->argv.v[i].p[k];
			if (c == '"' || c == '\\')
				buf_char(&out, '\\');
			buf_char(&out, (unsigned char)c < 0x20 ? ' ' : c);
		}
		buf_char(&out, '"');
	}
	buf_fmt(&out, "],\"seconds\":%.6f,\"cpu\":%.6f,\"memory\":%llu,\"status\":%d", res->seconds,
		res->cpu, (unsigned long long)res->memory, res->status);
	trace_event("child", buf_str(&out));
}

struct err *proc_run(struct arena *a, const struct proc *p, struct proc_result *ret)
{
	ARENA(tmp);
	int status;
	pid_t got;
	struct rusage u;
	CLEANUP(run_done) struct proc_run r = {.p = p, .log = -1};
	for (int i = IN; i <= ERR; i++) {
		r.io[i].fd = r.io[i].child = -1;
		r.io[i].limit = p->limit ? p->limit : (size_t)4 << 20;
	}
	*ret = (struct proc_result){0};
	TRY(cancel_check());
	TRY(start(&tmp, p, &r));
	CLEANUP(fd_closep) int pidfd = (int)syscall(SYS_pidfd_open, r.pid, 0);
	follow(&r, pidfd);
	while (!has_ended(r.pid, 0) && errno == EINTR)
		enforce(&r);
	if (!p->inherit)
		kill(-r.pid, SIGKILL); /* processes that it left running */
	while ((got = wait4(r.pid, &status, 0, &u)) < 0 && errno == EINTR)
		;
	if (got < 0)
		return err_errno("cannot wait for '%.*s'", STR(p->argv.v[0]));
	ret->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	ret->timed_out = r.timed_out;
	ret->start = r.start;
	ret->seconds = mono_now() - r.start;
	ret->cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		   (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	ret->memory = (uint64_t)u.ru_maxrss * 1024;
	ret->out = str_dup(a, (struct str){.p = r.io[OUT].tail, .n = r.io[OUT].n});
	ret->err = str_dup(a, (struct str){.p = r.io[ERR].tail, .n = r.io[ERR].n});
	trace_run(p, ret);
	if (cancelled() && r.term_at > 0)
		return err_new(E_CANCELLED, "interrupted");
	if (p->most && r.seen > p->most)
		return err_new(E_LIMIT, "'%.*s' gives more than %llu bytes", STR(p->argv.v[0]),
			(unsigned long long)p->most);
	errno = r.read_errno;
	return errno ? err_errno("cannot read the output of '%.*s'", STR(p->argv.v[0])) : NULL;
}

static struct str last_lines(struct str s, unsigned lines)
{
	size_t at = s.n;
	while (at && s.p[at - 1] == '\n')
		at--;
	s.n = at;
	while (at && lines) {
		if (s.p[--at] == '\n')
			lines--;
	}
	return str_trim(str_sub(s, at, s.n));
}

bool proc_lacks_space(struct str output)
{
	return str_contains(output, str_from(strerrordesc_np(ENOSPC)));
}

struct err *proc_failure(const struct proc *p, const struct proc_result *r)
{
	ARENA(a);
	const char *name = r->status > 128 ? sigabbrev_np(r->status - 128) : NULL;
	struct str what = str_fmt(&a, "exit status %d", r->status);
	if (r->timed_out && !p->timeout)
		what = S("ended, as it gave no sign of life");
	else if (r->timed_out)
		what = str_fmt(&a, "ended after its time limit of %u s", p->timeout);
	else if (name)
		what = str_fmt(&a, "killed by SIG%s", name);
	struct str said = r->err.n ? r->err : r->out, out = last_lines(said, 20);
	struct err *e = err_new(r->timed_out             ? E_TIMEOUT
				: proc_lacks_space(said) ? E_NOSPACE
							 : E_TOOL_FAILED,
		"'%.*s' failed: %.*s", STR(path_base(p->argv.v[0])), STR(what));
	if (out.n)
		err_detail(e, out);
	return e;
}

void proc_add_costs(struct proc_result *io, const struct proc_result *r)
{
	io->start = io->start > 0 ? io->start : r->start;
	io->seconds += r->seconds;
	io->cpu += r->cpu;
	io->memory = r->memory > io->memory ? r->memory : io->memory;
}

struct err *proc_check(struct arena *a, const struct proc *p, struct proc_result *ret)
{
	TRY(proc_run(a, p, ret));
	return ret->status || ret->timed_out ? proc_failure(p, ret) : NULL;
}

void proc_arg(struct arena *a, struct proc *p, ...)
{
	va_list ap;
	va_start(ap, p);
	for (const char *s; (s = va_arg(ap, const char *));)
		strs_add(a, &p->argv, str_dup(a, str_from(s)));
	va_end(ap);
}
