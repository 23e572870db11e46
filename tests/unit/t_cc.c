/* Compilers by name: what a command line asks for, the ledger of memory, the history of peaks. */
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "cc/cc_int.h"

/* "clang++ -c a.cpp" */
static struct cc_words words(struct arena *a, const char *line)
{
	struct strs list = str_split(a, str_from(line), ' ');
	struct strs args = {.v = list.v + 1, .n = list.n - 1};
	return cc_words(list.v[0], &args);
}

static void a_command_line_tells_what_is_made_of_what(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *line;
		enum cc_kind kind;
		const char *input;
		bool driver, links, targeted;
	} rows[] = {
		{"clang++ -c a.cpp -o a.o", CC_CXX, "a.cpp", true, false, false},
		{"clang-21 -o a.o -c -MF a.d a.c", CC_C, "a.c", true, false, false},
		{"clang++-21 -x hip -c a.cu", CC_HIP, "a.cu", true, false, false},
		{"amdclang++ -xhip a.cpp -c", CC_HIP, "a.cpp", true, false, false},
		{"clang++ --offload-arch=gfx1201 -c a.hip", CC_HIP, "a.hip", true, false, false},
		{"hipcc -c a.cpp", CC_HIP, "a.cpp", false, false, false},
		{"hipcc a.hip -o a", CC_HIP, "a.hip", false, true, false},
		{"g++ -c a.cc", CC_CXX, "a.cc", false, false, false},
		{"gcc -o x a.o b.o", CC_LINK, "a.o", false, true, false},
		{"hipcc --version", CC_OTHER, "", false, false, false},
		{"clang++ a.o b.o -shared -o x.so", CC_LINK, "a.o", true, true, false},
		{"clang++ @a.rsp -o x", CC_LINK, "@a.rsp", true, true, false},
		{"clang++ -L x -l y -o z", CC_OTHER, "", true, false, false},
		{"clang++ -E a.cpp", CC_OTHER, "", true, false, false},
		{"clang++ -cc1 -triple x a.cpp", CC_OTHER, "", false, false, false},
		{"clang -c a.c --sysroot=/x", CC_C, "a.c", true, false, true},
		{"clang -target amdgcn-amd-amdhsa -c a.c", CC_C, "a.c", true, false, true},
		{"clang++ -print-resource-dir", CC_OTHER, "", true, false, false},
		{"clang++ -x c++ -", CC_CXX, "-", true, true, false},
		{"ld.lld -o x a.o", CC_LINK, "a.o", false, true, false},
		{"llvm-nm a.o", CC_OTHER, "a.o", false, false, false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cc_words w = words(&a, rows[i].line);
		if (w.kind != rows[i].kind || w.driver != rows[i].driver ||
			w.links != rows[i].links || w.targeted != rows[i].targeted)
			fail_msg("%s: kind %d driver %d links %d targeted %d", rows[i].line, w.kind,
				w.driver, w.links, w.targeted);
		if (w.kind)
			assert_str(w.input, rows[i].input);
	}
}

static void the_last_peak_counts_and_other_flags_are_near(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir, path;
	uint64_t peak;
	bool exact;
	assert_ok(fs_tempdir(&a, S(""), &dir));
	path = path_join(&a, dir, S("history"));
	struct cc cc = {.name = S("clang++")};
	struct strs one = str_split(&a, S("-c,a.cpp,-O1"), ','),
		    two = str_split(&a, S("-c,a.cpp,-O2"), ','),
		    other = str_split(&a, S("-c,b.cpp"), ',');
	struct cc_words w1 = cc_words(cc.name, &one), w2 = cc_words(cc.name, &two),
			w3 = cc_words(cc.name, &other);
	struct history_key k1 = history_key(&cc, &one, &w1), k2 = history_key(&cc, &two, &w2),
			   k3 = history_key(&cc, &other, &w3);
	assert_ok(history_peak(path, k1, &peak, &exact));
	assert_int_equal(peak, 0);
	assert_ok(history_add(path, k1, 5 << 20));
	assert_ok(history_add(path, k1, 7 << 20));
	assert_ok(history_peak(path, k1, &peak, &exact));
	assert_int_equal(peak, 7 << 20);
	assert_true(exact);
	assert_ok(history_peak(path, k2, &peak, &exact));
	assert_int_equal(peak, 7 << 20);
	assert_false(exact);
	assert_ok(history_peak(path, k3, &peak, &exact));
	assert_int_equal(peak, 0);
	/* what is torn or foreign is passed over */
	assert_ok(fs_append(path, S("x y\n\n0 0 99999999999999999999\nzz 1 2 3")));
	assert_ok(history_peak(path, k1, &peak, &exact));
	assert_int_equal(peak, 7 << 20);
	assert_ok(fs_remove_tree(dir));
}

/* A process that takes want of limit, says so, and goes on until it is told or killed. */
struct holder {
	pid_t pid;
	int said, tell;
};

static struct holder hold(struct str path, uint64_t limit, uint64_t want)
{
	int said[2], tell[2];
	assert_int_equal(pipe(said), 0);
	assert_int_equal(pipe(tell), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct ledger l;
		char c = 'x';
		close(tell[1]);
		struct err *e = ledger_take(path, limit, want, &l);
		if (e || write(said[1], &c, 1) != 1 || read(tell[0], &c, 1) < 0)
			_exit(1);
		ledger_release(&l);
		_exit(0);
	}
	close(said[1]);
	close(tell[0]);
	return (struct holder){.pid = pid, .said = said[0], .tell = tell[1]};
}

static bool has(const struct holder *h, int ms)
{
	struct timeval t = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
	fd_set set;
	FD_ZERO(&set);
	FD_SET(h->said, &set);
	return select(h->said + 1, &set, NULL, NULL, &t) > 0;
}

static void end(struct holder *h, int sig)
{
	int status;
	if (sig)
		kill(h->pid, sig);
	else
		assert_int_equal(write(h->tell, "x", 1), 1);
	waitpid(h->pid, &status, 0);
	close(h->said);
	close(h->tell);
	if (!sig)
		assert_int_equal(status, 0);
}

static void what_does_not_fit_waits_until_another_ends_or_dies(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir, path;
	assert_ok(fs_tempdir(&a, S(""), &dir));
	path = path_join(&a, dir, S("ledger"));
	struct holder one = hold(path, 100, 60);
	assert_true(has(&one, 10000));
	struct holder two = hold(path, 100, 40);
	assert_true(has(&two, 10000));
	struct holder three = hold(path, 100, 30);
	assert_false(has(&three, 300));
	end(&one, SIGKILL);
	assert_true(has(&three, 10000));
	end(&two, 0);
	end(&three, 0);
	/* nobody else: the largest runs */
	struct holder large = hold(path, 100, 1000);
	assert_true(has(&large, 10000));
	struct holder small = hold(path, 100, 1);
	assert_false(has(&small, 300));
	end(&large, 0);
	assert_true(has(&small, 10000));
	end(&small, 0);
	assert_ok(fs_remove_tree(dir));
}

static void one_that_wants_to_be_alone_is_not_overtaken(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir, path;
	assert_ok(fs_tempdir(&a, S(""), &dir));
	path = path_join(&a, dir, S("ledger"));
	struct holder one = hold(path, 100, 10);
	assert_true(has(&one, 10000));
	struct holder alone = hold(path, 100, LEDGER_ALONE);
	assert_false(has(&alone, 300));
	struct holder late = hold(path, 100, 10);
	assert_false(has(&late, 300));
	end(&one, 0);
	assert_true(has(&alone, 10000));
	assert_false(has(&late, 300));
	end(&alone, 0);
	assert_true(has(&late, 10000));
	/* one that waits and is killed is in nobody's way */
	alone = hold(path, 100, LEDGER_ALONE);
	assert_false(has(&alone, 300));
	end(&alone, SIGKILL);
	struct holder next = hold(path, 100, 10);
	assert_true(has(&next, 10000));
	end(&next, 0);
	end(&late, 0);
	assert_ok(fs_remove_tree(dir));
}

/* The compiler goes on when the one that started it is killed: its share is not free yet. */
static void a_share_lasts_as_long_as_the_compiler(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir, path;
	int pipes[2];
	assert_ok(fs_tempdir(&a, S(""), &dir));
	path = path_join(&a, dir, S("ledger"));
	assert_int_equal(pipe(pipes), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct ledger l;
		struct err *e = ledger_take(path, 100, 60, &l);
		pid_t compiler = e ? -1 : fork();
		if (compiler == 0) {
			execlp("sleep", "sleep", "30", NULL);
			_exit(1);
		}
		if (compiler < 0 || write(pipes[1], &compiler, sizeof(compiler)) < 0)
			_exit(1);
		pause();
	}
	pid_t compiler = 0;
	assert_int_equal(read(pipes[0], &compiler, sizeof(compiler)), sizeof(compiler));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	struct holder next = hold(path, 100, 60);
	assert_false(has(&next, 500));
	kill(compiler, SIGKILL);
	assert_true(has(&next, 10000));
	end(&next, 0);
	close(pipes[0]);
	close(pipes[1]);
	assert_ok(fs_remove_tree(dir));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_line_tells_what_is_made_of_what),
		cmocka_unit_test(the_last_peak_counts_and_other_flags_are_near),
		cmocka_unit_test(what_does_not_fit_waits_until_another_ends_or_dies),
		cmocka_unit_test(one_that_wants_to_be_alone_is_not_overtaken),
		cmocka_unit_test(a_share_lasts_as_long_as_the_compiler),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
