/* Compilers by name: what a command line asks for, the ledger of memory, the history of peaks. */
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "cc/cc_int.h"
#include "cc/compile.h"

/* "clang++ -c a.cpp" */
static struct cc_words words(struct arena *a, const char *line)
{
	struct strs list = str_split(a, str_from(line), ' ');
	struct strs args = {.v = list.v + 1, .n = list.n - 1};
	return cc_words(list.v[0], &args, S("/sys"));
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
		{"clang -c a.c --sysroot=/sys/x", CC_C, "a.c", true, false, true},
		{"clang -c a.c --sysroot=/x/../sys", CC_C, "a.c", true, false, false},
		{"clang -target amdgcn-amd-amdhsa -c a.c", CC_C, "a.c", true, false, true},
		{"clang++ -print-resource-dir", CC_OTHER, "", true, false, false},
		{"clang++ -x c++ -", CC_CXX, "-", true, true, false},
		{"clang++ -x c++-header a.h -o a.pch", CC_CXX, "a.h", true, false, false},
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

static void openmp_matters_where_something_is_compiled(void **state)
{
	(void)state;
	ARENA(a);
	assert_true(words(&a, "clang++ -fopenmp=libomp -c a.cpp").openmp);
	assert_false(words(&a, "clang++ -c a.cpp").openmp);
	assert_false(words(&a, "clang++ -fopenmp a.o -o a").openmp);
	assert_false(words(&a, "clang++ -fopenmp --version").openmp);
}

static void a_standard_of_another_language_is_left_out(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *line, *kept;
	} rows[] = {
		{"clang -std=c++17 -O2 -c a.c", "-O2 -c a.c"},
		{"clang-21 -c a.i -std=gnu++20", "-c a.i"},
		{"clang -std=c++17 -c a.cpp", "-std=c++17 -c a.cpp"},
		{"clang -std=c++17 -x c++ -c a.c", "-std=c++17 -x c++ -c a.c"},
		{"clang++ -std=c++17 -c a.c", "-std=c++17 -c a.c"},
		{"clang++ -std=c++17 -c -x c a.c", "-c -x c a.c"},
		{"clang++ -std=gnu99 -c a.cpp", "-c a.cpp"},
		{"clang -std=c11 -std=c++14 -c a.c", "-std=c11 -c a.c"},
		{"clang -std=c11 -x hip -c a.cu", "-x hip -c a.cu"},
		{"clang -std=c++17 -o -std=c++17 -c a.c", "-o -std=c++17 -c a.c"},
		{"clang -std=c++17 a.o -o a", "-std=c++17 a.o -o a"},
		{"gcc -std=c++17 -c a.c", "-std=c++17 -c a.c"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct strs list = str_split(&a, str_from(rows[i].line), ' ');
		struct strs args = {.v = list.v + 1, .n = list.n - 1};
		struct cc_words w = words(&a, rows[i].line);
		struct str left_out;
		struct strs fit = cc_fit_standard(&a, list.v[0], &w, &args, &left_out);
		assert_str(str_join(&a, &fit, S(" ")), rows[i].kept);
		assert_int_equal(left_out.n > 0, fit.n < args.n);
	}
}

static void hipcc_takes_options_of_nvcc(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const rows[][2] = {
		{"-c a.cu -ccbin g++ -o a.o", "-c a.cu -o a.o"},
		{"-ccbin=/usr/bin/gcc -c a.cu", "-c a.cu"},
		{"-gencode arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90 -c a.cu",
			"-c a.cu"},
		{"--expt-relaxed-constexpr -lineinfo --threads 4 -Xptxas -v --maxrregcount=64 a.cu",
			"a.cu"},
		{"-Xcompiler -fPIC,-Wall --compiler-options=-O2 a.cu", "-fPIC -Wall -O2 a.cu"},
		{"--use_fast_math -fmad=false --default-stream per-thread a.cu",
			"-fgpu-flush-denormals-to-zero -ffp-contract=off "
			"-fgpu-default-stream=per-thread a.cu"},
		{"-std c++17 --extra-device-vectorization --restrict -Wno-deprecated-gpu-targets "
		 "a.cu",
			"-std=c++17 a.cu"},
		{"--fmad=true a.cu -o -ccbin", "a.cu -o -ccbin"},
		{"-D ccbin -pthread -lineinfox --offload-arch=gfx1201 @a.rsp - -- -ccbin",
			"-D ccbin -pthread -lineinfox --offload-arch=gfx1201 @a.rsp - --"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct strs args = str_split(&a, str_from(rows[i][0]), ' ');
		struct strs out = cc_from_nvcc(&a, &args);
		assert_str(str_join(&a, &out, S(" ")), rows[i][1]);
	}
}

/* No test machine has these folders: the names are those of no release. */
static void folders_of_cuda_that_are_not_here_are_the_shim_folders(void **state)
{
	(void)state;
	ARENA(a);
	struct str top = test_dir(&a), cuda = path_join(&a, top, S("cuda"));
	static const struct {
		const char *word, *option, *rest; /* rest NULL: the word stays */
	} rows[] = {
		{"-I/usr/local/cuda-0.9/include", "-I", "/include"},
		{"/usr/local/cuda-0.9/include", "", "/include"},
		{"-L/opt/cuda-0.9", "-L", ""},
		{"-isystem=/opt/cuda-0.9/include/", "-isystem=", "/include/"},
		{"/usr/local/cuda-0.9/lib64/libcudart.so", "", "/lib64/libcudart.so"},
		{"-I/usr/local/cudafication/include", "", NULL},
		{"-I/home/usr/local/cuda-0.9/include", "", NULL},
		{"-DX=/usr/local/cuda-0.9", "", NULL},
		{"a.cu", "", NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct strs args = {0};
		struct str want = str_from(rows[i].word);
		strs_add(&a, &args, want);
		assert_str(cc_words_at_home(&a, cuda, &args).v[0], rows[i].word); /* no face */
		assert_ok(fs_mkdirs(cuda));
		if (rows[i].rest)
			want = str_fmt(&a, "%s%.*s%s", rows[i].option, STR(cuda), rows[i].rest);
		assert_true(str_eq(cc_words_at_home(&a, cuda, &args).v[0], want));
		assert_ok(fs_remove_tree(cuda));
	}
	struct strs link = str_split(&a, S("a.o -lcuda -o a.so"), ' ');
	assert_int_equal(cc_words_at_home(&a, cuda, &link).n, 4);
	assert_ok(fs_mkdirs(cuda));
	link = cc_words_at_home(&a, cuda, &link);
	assert_str(link.v[4], str_fmt(&a, "-L%.*s/lib64", STR(cuda)).p);
	test_dir_remove(top);
}

static void a_standard_is_raised_to_what_torch_wants(void **state)
{
	(void)state;
	ARENA(a);
	struct str top = test_dir(&a),
		   include = path_join(&a, top, S("torch/include/torch/csrc/api/include"));
	static const char *const rows[][2] = {
		{"-std=c++14 -c a.cpp", "-std=c++17 -c a.cpp"},
		{"--std=gnu++1y -c a.cpp", "--std=gnu++17 -c a.cpp"},
		{"-std=c++0x -std=c++98", "-std=c++17 -std=c++17"},
		{"-std=c++17 -std=c++20 -std=gnu++2a", "-std=c++17 -std=c++20 -std=gnu++2a"},
		{"-std=c11 -std=c99 -std -O2 x", "-std=c11 -std=c99 -std -O2 x"},
	};
	assert_ok(fs_mkdirs(path_join(&a, include, S("torch"))));
	struct strs args = {0};
	strs_add(&a, &args, S("-isystem"));
	strs_add(&a, &args, include);
	assert_str(cc_torch_standard(&a, &args), ""); /* a torch that says nothing */
	test_put(path_join(&a, include, S("torch/all.h")),
		"#pragma once\n#if __cplusplus < 201703L\n"
		"#error C++17 or later compatible compiler is required to use PyTorch.\n#endif\n");
	assert_str(cc_torch_standard(&a, &args), "17");
	args.n = 0;
	strs_add(&a, &args, str_fmt(&a, "-I%.*s", STR(include)));
	assert_str(cc_torch_standard(&a, &args), "17");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct strs list = str_split(&a, str_from(rows[i][0]), ' ');
		cc_raise_standard(&a, S("17"), &list);
		assert_str(str_join(&a, &list, S(" ")), rows[i][1]);
	}
	test_dir_remove(top);
}

struct history { /* of one compile */
	struct cc cc;
	struct strs args;
	struct history_key key;
};

static struct history compile(struct arena *a, const char *line)
{
	struct strs list = str_split(a, str_from(line), ' ');
	struct history h = {.cc = {.name = list.v[0]}, .args = {.v = list.v + 1, .n = list.n - 1}};
	struct cc_words w = cc_words(h.cc.name, &h.args, S(""));
	h.key = history_key(&h.cc, &h.args, &w);
	return h;
}

static struct history_guess guess(struct str path, const struct history *h)
{
	struct history_guess g;
	assert_ok(history_guess(path, &h->key, &g));
	return g;
}

static void the_last_peak_counts_and_other_flags_are_near(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir, path;
	assert_ok(fs_tempdir(&a, S(""), &dir));
	path = path_join(&a, dir, S("history"));
	struct history one = compile(&a, "clang++ -c a.cpp -O1"),
		       two = compile(&a, "clang++ -c a.cpp -O2"),
		       other = compile(&a, "clang++ -c b.cpp");
	struct history_guess first = guess(path, &one), g;
	assert_int_equal(first.by, HISTORY_KIND);
	assert_true(first.memory > 500 << 20 && first.seconds <= 0);
	assert_ok(history_add(path, &one.key, 5 << 20, 1));
	assert_ok(history_add(path, &one.key, 7 << 20, 2));
	g = guess(path, &one);
	assert_int_equal(g.memory, 7 << 20);
	assert_int_equal(g.by, HISTORY_COMMAND);
	assert_true(g.seconds > 1.9 && g.seconds < 2.1);
	g = guess(path, &two);
	assert_int_equal(g.memory, 7 << 20);
	assert_int_equal(g.by, HISTORY_SOURCE);
	g = guess(path, &other);
	assert_int_equal(g.by, HISTORY_KIND);
	/* what is torn or foreign is passed over */
	struct str text;
	assert_ok(fs_read(&a, path, 4 << 20, &text));
	char *bytes = str_z(&a, text);
	for (size_t i = 0; i < text.n; i++)
		bytes[i] = (char)(bytes[i] ^ (i % 32 == 9));
	assert_ok(fs_write(path, (struct str){.p = bytes, .n = text.n}, 0644));
	assert_int_equal(guess(path, &one).memory, first.memory);
	assert_ok(fs_remove_tree(dir));
}

static void a_kind_is_known_by_its_long_runs(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir, path;
	assert_ok(fs_tempdir(&a, S(""), &dir));
	path = path_join(&a, dir, S("history"));
	struct history unseen = compile(&a, "clang++ -c unseen.cpp"),
		       device = compile(&a, "clang++ -x hip -c k.cu");
	uint64_t before = guess(path, &unseen).memory;
	/* the checks of a configuration are many, short and small */
	for (unsigned i = 0; i < 50; i++) {
		struct history h = compile(&a, str_fmt(&a, "clang++ -c check%u.cpp", i).p);
		assert_ok(history_add(path, &h.key, 50 << 20, 0.05));
	}
	uint64_t checked = guess(path, &unseen).memory;
	assert_true(checked > before / 10 * 8 && checked < before / 10 * 12);
	for (unsigned i = 0; i < 50; i++) {
		struct history h = compile(&a, str_fmt(&a, "clang++ -c real%u.cpp", i).p);
		assert_ok(history_add(path, &h.key, (200 + i % 3 * 10) << 20, 30));
	}
	uint64_t learned = guess(path, &unseen).memory;
	assert_true(learned > 200 << 20 && learned < 300 << 20);
	assert_int_equal(
		guess(path, &device).memory, guess(path_join(&a, dir, S("new")), &device).memory);
	assert_ok(fs_remove_tree(dir));
}

/* Sixteen at a time, some of them killed: what was added and not written over is there. */
static void many_write_the_history_at_once(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir, path;
	struct history_total total;
	pid_t pid[20];
	assert_ok(fs_tempdir(&a, S(""), &dir));
	path = path_join(&a, dir, S("history"));
	for (unsigned p = 0; p < 20; p++) {
		pid[p] = fork();
		for (unsigned i = 0; pid[p] == 0 && (i < 50 || p >= 16); i++) {
			struct history h = compile(
				&a, str_fmt(&a, "cc -c p%u/%u.c", p, p < 16 ? i : i % 50).p);
			struct err *e = history_add(path, &h.key, (p * 50 + i % 50) << 20, 1);
			if (e)
				_exit(1);
		}
		if (pid[p] == 0)
			_exit(0);
	}
	for (unsigned p = 0; p < 20; p++) {
		int status;
		if (p >= 16)
			kill(pid[p], SIGKILL);
		waitpid(pid[p], &status, 0);
		assert_true(p >= 16 || status == 0);
	}
	for (unsigned i = 0; i < 800; i++) {
		struct history h = compile(&a, str_fmt(&a, "cc -c p%u/%u.c", i / 50, i % 50).p);
		struct history_guess g = guess(path, &h);
		assert_int_equal(g.by, HISTORY_COMMAND);
		assert_int_equal(g.memory, (uint64_t)i << 20);
	}
	assert_ok(history_total(path, &total));
	assert_true(total.sources >= 800 && total.sources <= 1000);
	assert_true(total.seconds > total.sources - 0.5 && total.seconds < total.sources + 0.5);
	assert_true(total.memory >= 799ull << 20);
	assert_ok(fs_remove_tree(dir));
}

static void what_was_written_longest_ago_goes_first(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir, path;
	struct stat st;
	struct history_total total;
	assert_ok(fs_tempdir(&a, S(""), &dir));
	path = path_join(&a, dir, S("history"));
	for (unsigned i = 0; i < 40000; i++) {
		struct arena_mark m = arena_mark(&a);
		struct history h = compile(&a, str_fmt(&a, "cc -c %u.c", i).p);
		assert_ok(history_add(path, &h.key, 1 << 20, 1));
		arena_rewind(&a, m);
	}
	assert_ok(fs_stat(path, &st));
	assert_true(st.st_size < 2 << 20);
	assert_ok(history_total(path, &total));
	assert_true(total.sources > 10000 && total.sources < 32768);
	assert_int_equal(total.memory, 1 << 20);
	struct history last = compile(&a, "cc -c 39999.c");
	assert_int_equal(guess(path, &last).by, HISTORY_COMMAND);
	assert_ok(fs_remove_tree(dir));
}

static void a_link_takes_its_objects(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	test_put(path_join(&a, dir, S("a.o")), "12345");
	test_put(path_join(&a, dir, S("b.a")), "123");
	struct str rsp = str_fmt(&a, "%.*s/b.a\n %.*s/a.o  -lx", STR(dir), STR(dir));
	test_put(path_join(&a, dir, S("x.rsp")), rsp.p);
	struct strs args = str_split(
		&a, str_fmt(&a, "-o x.o %.*s/a.o @%.*s/x.rsp @none", STR(dir), STR(dir)), ' ');
	assert_int_equal(cc_link_bytes(&args), 5 + 3 + 5);
	test_dir_remove(dir);
}

/* What is left is told by how long the sources took before. */
static void the_rest_of_a_build_is_known_by_its_history(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), history = cc_file(&a, dir, "history");
	struct cc_follow f;
	struct strs now = {0};
	assert_ok(fs_mkdirs(path_dir(history)));
	for (unsigned i = 0; i < 20; i++) { /* the first ten are short */
		struct history h = compile(&a, str_fmt(&a, "cc -c %u.c", i).p);
		assert_ok(history_add(history, &h.key, 1 << 20, i < 10 ? 1 : 100));
	}
	cc_follow_start(dir, dir, 2, 100, &f);
	cc_follow_look(&a, &f, 100, &now);
	assert_true(cc_follow_left(&f, 20) <= 0);
	for (unsigned i = 0; i < 10; i++)
		assert_ok(fs_append(path_join(&a, dir, S("cc.jsonl")),
			S("{\"kind\": \"c\", \"seconds\": 2, \"cpu\": 2, \"predicted\": 5, "
			  "\"expected\": 1, "
			  "\"argv\": [\"\\\"seconds\\\":9\"]}\n")));
	assert_ok(fs_append(path_join(&a, dir, S("cc.jsonl")), S("{\"seconds\": 2, \"pre")));
	cc_follow_look(&a, &f, 110, &now); /* so two at a time */
	assert_int_equal(f.seen, 10);
	double left = cc_follow_left(&f, 10); /* ten of 100 s, twice as slow as then, two at once */
	assert_true(left > 900 && left < 1100);
	assert_int_equal(now.n, 0);
	test_dir_remove(dir);
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
		struct ledger_wish w = {.limit = limit, .want = want, .what = S("a.cpp")};
		struct err *e = ledger_take(path, &w, &l);
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
	struct strs names = {0};
	assert_ok(ledger_names(&a, path, &names));
	assert_int_equal(names.n, 2); /* of three, one waits */
	assert_str(names.v[0], "a.cpp");
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
		struct ledger_wish w = {.limit = 100, .want = 60, .what = S("a.cpp")};
		struct err *e = ledger_take(path, &w, &l);
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

#define TWO "--offload-arch=gfx942 --offload-arch=gfx1100 "

static void only_what_passes_can_express_is_compiled_in_passes(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *line, *gpus; /* "": one direct run */
		size_t host_words;       /* that only the host pass gets, the targets among them */
	} rows[] = {
		{"hipcc " TWO "-c a.cpp -o a.o", "gfx1100 gfx942", 2},
		{"clang++ " TWO "-x hip -c a.cpp -o a.o", "gfx1100 gfx942", 2},
		{"clang++ " TWO "-c a.hip -o a.o -O3 -fPIC -std=c++17 -I x", "gfx1100 gfx942", 2},
		{"hipcc " TWO "-MD -MF a.d -MT a.o -c a.hip -o a.o", "gfx1100 gfx942", 7},
		{"hipcc " TWO "-MD -MF a.d -c a.hip -o a.o", "gfx1100 gfx942", 7},
		{"hipcc -fno-gpu-rdc " TWO "-cuid=x -c a.hip -o a.o", "gfx1100 gfx942", 2},
		/* as PyTorch does, whose object is that of one run of clang 21, byte by byte */
		{"hipcc -fclang-abi-compat=17 " TWO "-c a.hip -o a.o", "gfx1100 gfx942", 2},
		{"hipcc --offload-arch=gfx942 -c a.hip -o a.o", "gfx942", 1},
		{"hipcc --offload-arch=gfx942,gfx1100 -c a.hip -o a.o", "", 0},
		{"hipcc --offload-arch=native " TWO "-c a.hip -o a.o", "", 0},
		{"hipcc --offload-arch=gfx942 " TWO "-c a.hip -o a.o", "", 0},
		{"clang++ " TWO "-c a.cpp -o a.o", "", 0},
		{"clang++ " TWO "-x cuda -c a.cu -o a.o", "", 0},
		{"hipcc " TWO "-fgpu-rdc -c a.hip -o a.o", "", 0},
		{"hipcc " TWO "-MD -c a.hip -o a.o", "", 0},
		{"hipcc " TWO "-g -c a.hip -o a.o", "", 0},
		{"hipcc " TWO "-c a.hip b.hip -o a.o", "", 0},
		{"hipcc " TWO "-c a.hip", "", 0},
		{"hipcc " TWO "a.hip -o a", "", 0},
		{"hipcc " TWO "-c @a.rsp -o a.o", "", 0},
		{"hipcc " TWO "-c a.hip -save-temps -o a.o", "", 0},
		{"hipcc " TWO "-Xclang -x -c a.hip -o a.o", "", 0},
		{"hipcc " TWO "--some-new-option -c a.hip -o a.o", "", 0},
		{"hipcc " TWO "-c a.hip -o", "", 0},
		{"hipcc " TWO "-x hip -c - -o a.o", "", 0}, /* a stream can be read once */
		{"hipcc " TWO "-x hip -c /dev/stdin -o a.o", "", 0},
		{"clang++ " TWO "-x hip -c /dev/fd/63 -o a.o", "", 0},
		{"hipcc " TWO "-x hip -c /dev/shm/a.hip -o a.o", "gfx1100 gfx942", 2},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct strs list = str_split(&a, str_from(rows[i].line), ' ');
		struct strs args = {.v = list.v + 1, .n = list.n - 1};
		struct compile_step step;
		bool passes = compile_read(&a, list.v[0], &args, &(struct strs){0}, &step);
		struct str gpus = passes ? str_join(&a, &step.gpus, S(" ")) : S("");
		if (!str_eq(gpus, str_from(rows[i].gpus)))
			fail_msg("%s: '%.*s'", rows[i].line, STR(gpus));
		if (passes && step.host_words.n != rows[i].host_words)
			fail_msg("%s: %zu words of the host", rows[i].line, step.host_words.n);
	}
}

static void passes_say_what_they_read_and_share_an_id(void **state)
{
	(void)state;
	ARENA(a);
	struct strs args = str_split(&a, S(TWO "-MD -MF a.d -c a.hip -o /x/a.o"), ' ');
	struct compile_step step;
	struct compile_passes passes;
	assert_true(compile_read(&a, S("hipcc"), &args, &(struct strs){0}, &step));
	compile_passes(&a, &step, &passes);
	assert_int_equal(passes.n, 4);
	const struct compile_pass *one = passes.v, *bundle = one + 2, *host = one + 3;
	assert_str(one->gpu, "gfx1100");
	assert_true(one->first == one->end && bundle->end - bundle->first == 2 && !bundle->argv.n);
	assert_true(host->first == 2 && host->end == 3);
	assert_true(strs_has(&host->argv, bundle->output) && strs_has(&host->argv, S("-MD")));
	assert_false(strs_has(&one->argv, S("-MD")));
	assert_str(host->output, "/x/a.o");
	struct str id = step.words.v[step.words.n - 1];
	assert_true(str_starts(id, S("-cuid=")));
	assert_true(strs_has(&one->argv, id) && strs_has(&host->argv, id));
	for (size_t i = 0; i < passes.n; i++) /* a pass writes where no result of another lies */
		for (size_t k = 0; k < passes.n; k++)
			assert_false(str_eq(passes.v[i].work, passes.v[k].output));
}

/* The id that the passes of a command line get in a folder. */
static struct str id_in(
	struct arena *a, struct str dir, const char *line, const struct strs *places)
{
	struct strs args = str_split(a, str_from(line), ' ');
	struct compile_step step;
	assert_ok(fs_mkdirs(dir));
	assert_int_equal(chdir(dir.p), 0);
	assert_true(compile_read(a, S("hipcc"), &args, places, &step));
	VEC_EACH (const struct str, word, &step.words)
		if (str_starts(*word, S("-cuid=")))
			return *word;
	return S("");
}

static void passes_of_one_command_line_in_two_folders_have_other_ids(void **state)
{
	(void)state;
	ARENA(a);
	struct str top = test_dir(&a), x = path_join(&a, top, S("x")),
		   y = path_join(&a, top, S("y"));
	struct strs none = {0}, here = {0}, there = {0};
	const char *line = TWO "-c a.hip -o a.o", *own = TWO "-cuid=own -c a.hip -o a.o";
	struct str id = id_in(&a, x, line, &none);
	assert_int_equal(id.n, strlen("-cuid=") + 16);
	assert_true(str_eq(id, id_in(&a, x, line, &none)));
	assert_false(str_eq(id, id_in(&a, y, line, &none)));
	assert_str(id_in(&a, x, own, &none), "-cuid=own");
	assert_str(id_in(&a, y, own, &none), "-cuid=own");
	/* elsewhere, and with one more GPU, they have the same */
	strs_add(&a, &here, x);
	strs_add(&a, &there, y);
	id = id_in(&a, x, line, &here);
	assert_true(str_eq(id, id_in(&a, y, line, &there)));
	assert_true(
		str_eq(id, id_in(&a, x, "--offload-arch=gfx90a " TWO "-c a.hip -o a.o", &here)));
	assert_true(str_eq(id_in(&a, x, TWO "-ivfsoverlay p.json -c a.hip -o a.o", &here),
		id_in(&a, x, TWO "-ivfsoverlay q.json -c a.hip -o a.o", &here)));
	assert_false(str_eq(id, id_in(&a, x, TWO "-c b.hip -o a.o", &here)));
	assert_false(str_eq(id, id_in(&a, x, TWO "-c a.hip -o b.o", &here)));
	assert_int_equal(chdir("/"), 0);
	test_dir_remove(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_line_tells_what_is_made_of_what),
		cmocka_unit_test(openmp_matters_where_something_is_compiled),
		cmocka_unit_test(a_standard_of_another_language_is_left_out),
		cmocka_unit_test(folders_of_cuda_that_are_not_here_are_the_shim_folders),
		cmocka_unit_test(a_standard_is_raised_to_what_torch_wants),
		cmocka_unit_test(hipcc_takes_options_of_nvcc),
		cmocka_unit_test(the_last_peak_counts_and_other_flags_are_near),
		cmocka_unit_test(a_kind_is_known_by_its_long_runs),
		cmocka_unit_test(many_write_the_history_at_once),
		cmocka_unit_test(what_was_written_longest_ago_goes_first),
		cmocka_unit_test(a_link_takes_its_objects),
		cmocka_unit_test(the_rest_of_a_build_is_known_by_its_history),
		cmocka_unit_test(what_does_not_fit_waits_until_another_ends_or_dies),
		cmocka_unit_test(one_that_wants_to_be_alone_is_not_overtaken),
		cmocka_unit_test(only_what_passes_can_express_is_compiled_in_passes),
		cmocka_unit_test(passes_say_what_they_read_and_share_an_id),
		cmocka_unit_test(passes_of_one_command_line_in_two_folders_have_other_ids),
		cmocka_unit_test(a_share_lasts_as_long_as_the_compiler),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
