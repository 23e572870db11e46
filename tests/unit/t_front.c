/* Device passes that share front ends: which commands and IR may be shared, and what front_pass() makes of a compiler. The
 * compiler is a function of the test: its text is that of the file `source`, its IR and objects repeat what they are
 * made of. */
#include "unit/kit.h"

#include <time.h>

#include "base/buf.h"
#include "base/fs.h"
#include "cc/cc_int.h"
#include "target/target.h"

#define CC1                                                                                        \
	" \"/c/clang++\" \"-cc1\" \"-triple\" \"amdgcn-amd-amdhsa\" \"-O2\" \"-emit-obj\" "        \
	"\"-fcuda-is-device\" \"-mlink-builtin-bitcode\" \"/b/isa_GPU.bc\" \"-target-cpu\" "       \
	"\"GPU\" MORE\"-o\" \"/tmp/x.o\" \"-x\" \"hip\" \"a \\\"b\\\".hip\"\n"
#define LLD " \"/c/lld\" \"-m\" \"elf64_amdgpu\" \"-shared\" \"-o\" \"OUT\" \"/tmp/x.o\"\n"

/* ---- commands and IR ---- */
static const char *commands_of(
	struct arena *a, const char *text, const char *more, struct front_commands *ret)
{
	struct str said = str_replace(a, str_from(text), S("MORE"), str_from(more));
	return front_commands(a, said, ret);
}

static void only_commands_that_are_known_are_shared(void **state)
{
	(void)state;
	ARENA(a);
	struct front_commands c;
	static const char *const bad[] = {"\"-debug-info-kind=constructor\" ",
		"\"-fsanitize=address\" ", "\"-fgpu-rdc\" ", "\"-flto=full\" ",
		"\"-load\" \"x.so\" ", "\"-fprofile-instrument=clang\" ", "\"-some-new-option\" ",
		"\"-mllvm\" \"-stats\" ", "\"-ffp-contract=fast\" ", "\"-fno-signed-zeros\" ",
		"\"-ffast-math\" ", "\"-menable-no-nans\" ", "\"-x\" \"c++\" ",
		"\"-include-pch\" \"p\" ", "\"unterminated ", NULL};
	assert_null(commands_of(&a, "clang 21\n" CC1 LLD, "\"-DX=\\$y\" ", &c));
	assert_str(c.source, "a \"b\".hip");
	assert_str(c.cpu, "GPU");
	assert_str(c.object, "/tmp/x.o");
	assert_true(strs_has(&c.cc1, S("-DX=$y")));
	for (size_t i = 0; bad[i]; i++)
		if (!commands_of(&a, CC1 LLD, bad[i], &c))
			fail_msg("shared with %s", bad[i]);
	assert_non_null(commands_of(&a, CC1, "", &c));
	assert_non_null(commands_of(&a, CC1 CC1 LLD, "", &c));
	assert_non_null(commands_of(&a, CC1 LLD LLD, "", &c));
	assert_non_null(commands_of(&a, LLD LLD, "", &c));
	assert_non_null(commands_of(&a, "", "", &c));
}

static void texts_that_ask_for_the_processor_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"__attribute__((target(\"dot1-insts\"))) void f();",
		"[[gnu::target (\n \"x\")]]", "__attribute__((__target__(u8\"x\")))",
		"if (__builtin_amdgcn_processor_is(\"gfx90a\"))", "__builtin_cpu_is(\"x\")",
		"__attribute__((target_clones(\"a\", \"b\")))", "target(\n# 3 \"f\"\n\"x\")",
		"[[clang::cpu_dispatch(ivybridge)]]", NULL};
	static const char *const good[] = {"f.target();", "target_arch(\"gfx90a\")",
		"struct target { int x; } t; int target (void);", "std::is_invocable_v<F>",
		"cpu_dispatch_ptr", "my_cpu_specific;", "", NULL};
	for (size_t i = 0; bad[i]; i++)
		if (!front_refuses(str_from(bad[i])))
			fail_msg("accepted: %s", bad[i]);
	for (size_t i = 0; good[i]; i++)
		if (front_refuses(str_from(good[i])))
			fail_msg("refused: %s", good[i]);
}

#define TRIPLE "target triple = \"amdgcn-amd-amdhsa\"\n"
#define ATTRIBUTES(cpu, features)                                                                  \
	"attributes #0 = { \"x\"=\"y\" \"target-cpu\"=\"" cpu "\" \"target-features\"=\"" features \
	"\" }\n"

static void ir_of_one_target_gets_another_name(void **state)
{
	(void)state;
	ARENA(a);
	struct ir_target t, to = {.cpu = S_INIT("gfx1100"), .features = S_INIT("+c")};
	struct str text =
		S(TRIPLE "@s = constant c\"gfx90a\"\ndefine void @f() #0 {\n}\n" ATTRIBUTES(
			"gfx90a", "+a,-b") "attributes #1 = { nounwind }\n");
	assert_null(ir_read(text, &t));
	assert_str(t.cpu, "gfx90a");
	assert_str(t.features, "+a,-b");
	assert_str(ir_retarget(&a, text, &t, &to),
		TRIPLE "@s = constant c\"gfx90a\"\ndefine void @f() #0 {\n}\n" ATTRIBUTES(
			"gfx1100", "+c") "attributes #1 = { nounwind }\n");
	assert_null(ir_read(S(TRIPLE "@s = constant i32 1\n"), &t)); /* no code at all */
	assert_int_equal(t.cpu.n, 0);
}

static void ir_of_another_shape_is_refused(void **state)
{
	(void)state;
	struct ir_target t;
	static const char *const bad[] = {"", ATTRIBUTES("gfx90a", "+a"),
		TRIPLE ATTRIBUTES("gfx90a", "+a") ATTRIBUTES("gfx90a", "+b"),
		TRIPLE ATTRIBUTES("gfx90a", "+a") ATTRIBUTES("gfx906", "+a"),
		TRIPLE "define void @f() {\n}\n", TRIPLE ATTRIBUTES("gfx90a", ""),
		TRIPLE ATTRIBUTES("", "+a"), TRIPLE ATTRIBUTES("gfx 90a", "+a"),
		TRIPLE "attributes #0 = { \"target-cpu\"=\"gfx90a\" }\n",
		TRIPLE "attributes #0 = { \"target-cpu\"=\"gfx90a",
		TRIPLE ATTRIBUTES("gfx90a\" \"target-cpu\"=\"gfx90b", "+a"),
		TRIPLE ATTRIBUTES("gfx90a", "+a") "; \"target-cpu\"=\"gfx90a\"\n", NULL};
	for (size_t i = 0; bad[i]; i++)
		if (!ir_read(str_from(bad[i]), &t))
			fail_msg("read: %s", bad[i]);
}

/* ---- passes, with a compiler of the test ---- */
struct fake {
	struct fixture *f;
	const char *features,
		*more; /* a builtin of the text is accepted if a feature has its name */
	bool back_speaks, wrong,
		fails; /* the back end warns; makes another object; errors in the source */
	unsigned fronts, backs, directs;
	unsigned asks[4];   /* the driver, texts, probes, macros */
	bool names_gpus;    /* the driver's words do */
	struct front extra; /* hints, turn, GPUs, memory */
};

static struct str value_after(const struct strs *argv, const char *word)
{
	for (size_t i = 0; i + 1 < argv->n; i++)
		if (str_eq(argv->v[i], str_from(word)))
			return argv->v[i + 1];
	return S("");
}

static struct err *fake_run(
	struct arena *a, const struct front *f, const struct strs *argv, struct proc_result *ret)
{
	struct fake *k = f->user;
	struct str out = value_after(argv, "-o"), cpu = value_after(argv, "-target-cpu"), text;
	*ret = (struct proc_result){.cpu = 1, .out = S(""), .err = S("")};
	TRY(fs_read(a, at(k->f, "source"), 1 << 16, &text));
	if (strs_has(argv, S("-###"))) {
		const struct str arch = S("--offload-arch=");
		k->asks[0]++;
		VEC_EACH (const struct str, word, argv) {
			bool names = str_starts(*word, arch);
			if (!names && (k->names_gpus || word != argv->v + 1))
				continue;
			struct str gpu = str_sub(*word, names ? arch.n : 0, word->n);
			struct str said = str_replace(a, S(CC1 LLD), S("GPU"), gpu);
			said = str_replace(a, said, S("MORE"), str_from(k->more));
			said = str_replace(a, said, S("OUT"), out.n ? out : S("a.out"));
			ret->err = str_fmt(a, "%.*s%.*s", STR(ret->err), STR(said));
		}
		return NULL;
	}
	if (strs_has(argv, S("-dM"))) {
		k->asks[3]++;
		return fs_write(out,
			str_fmt(a, "#define __%.*s__ 1\n#define __AMDGCN__ 1\n", STR(cpu)), 0644);
	}
	if (!strs_has(argv, S("-cc1")) && !strs_has(argv, S("-m"))) { /* the driver */
		k->directs++;
		ret->status = k->fails;
		ret->err = k->fails ? S("error: here\n") : S("warning: direct\n");
		struct str gpu = argv->v[1];
		gpu = str_sub(
			gpu, str_starts(gpu, S("--")) ? sizeof("--offload-arch=") - 1 : 0, gpu.n);
		return fs_write(out, str_fmt(a, "%.*s for %.*s", STR(text), STR(gpu)), 0644);
	}
	if (strs_has(argv, S("-E"))) {
		k->asks[1]++;
		ret->status = k->fails;
		return fs_write(out, text, 0644);
	}
	if (strs_has(argv, S("-emit-llvm"))) {
		bool probe = str_ends(argv->v[argv->n - 1], S("probe.hip"));
		k->fronts += !probe;
		k->asks[2] += probe;
		if (probe) /* the names come last: those of the headers are asked for, too */
			TRY(fs_read(a, argv->v[argv->n - 1], 1 << 16, &text));
		ret->err = probe ? S("") : S("warning: front\n");
		BUF(accepted, a);
		struct strs names = {0};
		front_builtins(a, text, &names);
		VEC_EACH (const struct str, name, &names) {
			struct str word = str_sub(*name, sizeof("__builtin_amdgcn_") - 1, name->n);
			buf_char(&accepted, str_contains(str_from(k->features), word) ? '1' : '0');
		}
		if (probe)
			text = S("probe");
		return fs_write(out,
			str_fmt(a,
				TRIPLE ";%.*s\n@x = [9 x i8] c\"_%.*s\\00\"\ndefine void @f() "
				       "{\nattributes #0 = { "
				       "\"target-cpu\"=\"%.*s\" \"target-features\"=\"%s\" }\n",
				STR(text), STR(buf_str(&accepted)), STR(cpu), k->features),
			0644);
	}
	if (strs_has(argv,
		    S("ir"))) { /* an object from the IR: the text in its comment, and the GPU in it */
		struct ir_target t;
		struct str ir;
		k->backs++;
		ret->err = k->back_speaks ? S("warning: loop\n") : S("");
		TRY(fs_read(a, argv->v[argv->n - 1], 1 << 16, &ir));
		assert_null(ir_read(ir, &t));
		assert_true(str_eq(t.cpu, cpu));
		assert_true(str_contains(value_after(argv, "-mlink-builtin-bitcode"), cpu));
		ir = str_sub(ir, sizeof(TRIPLE), ir.n);
		return fs_write(out,
			str_fmt(a, "%.*s for %.*s%s", STR(str_sub(ir, 0, str_chr(ir, '\n'))),
				STR(cpu), k->wrong ? "!" : ""),
			0644);
	}
	TRY(fs_read(a, argv->v[argv->n - 1], 1 << 16, &text));
	return fs_write(out, text, 0644);
}

static struct front_result pass(struct fake *k, enum front_share share, const char *gpu)
{
	struct arena *a = &k->f->a;
	struct front_result r;
	struct str text;
	struct front f = k->extra;
	assert_ok(fs_read(a, at(k->f, "source"), 1 << 16, &text));
	f.share = share;
	f.store = at(k->f, "store");
	f.run = fake_run;
	f.user = k;
	struct compile_pass p = {.gpu = str_from(gpu), .work = at(k->f, "work")};
	struct strs argv = {0};
	p.out = path_join(a, p.work, S("out"));
	p.output = at(k->f, gpu);
	assert_ok(fs_remove_tree(p.work));
	assert_ok(fs_mkdirs(p.work));
	strs_add(a, &argv, S("clang"));
	strs_add(a, &argv, str_fmt(a, "%s%s", k->names_gpus ? "--offload-arch=" : "", gpu));
	strs_add(a, &argv, S("-o"));
	strs_add(a, &argv, p.out);
	assert_ok(front_pass(a, &f, &p, &argv, &r));
	if (!r.run.status)
		assert_file(k->f, "work/out",
			str_z(a, str_fmt(a, "%.*s for %s%s", STR(text), gpu,
					 k->wrong && r.how ? "!" : "")));
	return r;
}

static struct fake fake(struct fixture *f)
{
	put(f, "source", "text");
	return (struct fake){.f = f, .features = "+a", .more = ""};
}

static void passes_with_one_text_share_a_front_end(void **state)
{
	struct fake k = fake(*state);
	struct front_result r = pass(&k, FRONT_AUTO, "gfx1100");
	assert_int_equal(r.how, FRONT_MADE);
	assert_str(r.run.err, "warning: front\n");
	r = pass(&k, FRONT_AUTO, "gfx1101");
	assert_int_equal(r.how, FRONT_SHARED);
	assert_int_equal(r.run.err.n, 0);
	assert_str(r.said, "warning: front\n");
	assert_true(k.fronts == 1 && k.backs == 2 && k.directs == 0);
	k.features = "+a,+b"; /* a GPU with features that this text does not ask for */
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx90a").how, FRONT_SHARED);
	k.features = "+wavefrontsize64";
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx90a").how, FRONT_MADE);
	k.features = "+a";
	k.more = "\"-DX\" ";
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx1102").how, FRONT_MADE);
	k.more = "";
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx1102").how, FRONT_SHARED);
	put(k.f, "source", "text for x");
	struct strs names;
	assert_ok(fs_list(&k.f->a, at(k.f, "store"), &names));
	assert_int_equal(names.n, 3 * 3); /* .ll, .said and .lock of each, with one text */
}

static void doubts_end_in_a_direct_pass(void **state)
{
	struct fake k = fake(*state);
	assert_int_equal(pass(&k, FRONT_OFF, "gfx1100").how, FRONT_DIRECT);
	assert_true(k.fronts == 0 && k.backs == 0 && k.directs == 1);
	k.more = "\"-debug-info-kind=full\" ";
	struct front_result r = pass(&k, FRONT_AUTO, "gfx1100");
	assert_int_equal(r.how, FRONT_DIRECT);
	assert_str(r.run.err, "warning: direct\n");
	assert_true(strlen(r.why) && !r.doubt.n && k.fronts == 0);
	k.more = "";
	k.back_speaks = true; /* its messages are those of the direct pass */
	r = pass(&k, FRONT_AUTO, "gfx1100");
	assert_int_equal(r.how, FRONT_DIRECT);
	assert_str(r.run.err, "warning: direct\n");
	k.back_speaks = false;
	k.fails = true;
	r = pass(&k, FRONT_AUTO, "gfx1100");
	assert_true(r.how == FRONT_DIRECT && r.run.status == 1);
	assert_str(r.run.err, "error: here\n");
}

static void a_damaged_front_end_is_made_again(void **state)
{
	struct fake k = fake(*state);
	struct strs names;
	pass(&k, FRONT_AUTO, "gfx1100");
	assert_ok(fs_list(&k.f->a, at(k.f, "store"), &names));
	VEC_EACH (const struct str, name, &names) {
		struct str path = path_join(&k.f->a, at(k.f, "store"), *name), text;
		if (!str_ends(*name, S(".ll")))
			continue;
		assert_ok(fs_read(&k.f->a, path, 1 << 16, &text));
		assert_ok(fs_write(path, str_replace(&k.f->a, text, S(";text"), S(";fext")), 0644));
	}
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx1101").how, FRONT_MADE);
	assert_int_equal(k.fronts, 2);
}

static void proving_finds_a_wrong_object_and_drops_its_front_end(void **state)
{
	struct fake k = fake(*state);
	struct front_result r = pass(&k, FRONT_PROVE, "gfx1100");
	assert_true(r.how == FRONT_MADE && !r.differs && k.directs == 1);
	assert_false(fs_present(at(k.f, "gfx1100.shared")));
	k.wrong = true;
	r = pass(&k, FRONT_PROVE, "gfx1101");
	assert_true(r.how == FRONT_DIRECT && r.differs);
	assert_file(k.f, "gfx1101.shared", "text for gfx1101!");
	k.wrong = false;
	r = pass(&k, FRONT_AUTO, "gfx1102"); /* nobody uses it again */
	assert_int_equal(r.how, FRONT_DIRECT);
	r = pass(&k, FRONT_PROVE, "gfx1101");
	assert_false(r.differs || fs_present(at(k.f, "gfx1101.shared")));
}

static void builtins_that_one_gpu_lacks_are_not_shared(void **state)
{
	struct fake k = fake(*state);
	put(k.f, "source", "p = __builtin_amdgcn_dot(q) + __builtin_amdgcn_shared(q);");
	k.features = "+shared,+dot";
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx1030").how, FRONT_MADE);
	k.features = "+shared,+dot,+more";
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx1031").how, FRONT_SHARED);
	k.features = "+shared";
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx1100").how, FRONT_MADE);
	put(k.f, "source", "__builtin_amdgcn_load_to_lds(p);"); /* its sizes depend on features */
	k.features = "+load_to_lds,+x";
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx942").how, FRONT_MADE);
	k.features = "+load_to_lds,+y";
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx950").how, FRONT_MADE);
}

static void a_source_that_names_the_gpu_is_direct_once_that_is_seen(void **state)
{
	static const char *const texts[] = {"one", "two", "three", "four"};
	struct fake k = fake(*state);
	k.extra.turn = S("now");
	for (size_t i = 0; i < 4; i++) {
		put(k.f, "source", texts[i]);
		assert_int_equal(pass(&k, FRONT_AUTO, "gfx1100").how, FRONT_MADE);
	}
	put(k.f, "source", "five");
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx900").how, FRONT_DIRECT);
	assert_int_equal(pass(&k, FRONT_PROVE, "gfx900").how, FRONT_MADE); /* proving proves all */
	k.extra.turn = S("later"); /* another build asks again */
	put(k.f, "source", "six");
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx1100").how, FRONT_MADE);
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx1101").how, FRONT_SHARED);
	for (size_t i = 0; i < 4; i++) {
		put(k.f, "source", str_z(&k.f->a, str_fmt(&k.f->a, "%s!", texts[i])));
		assert_int_equal(pass(&k, FRONT_AUTO, "gfx1100").how, FRONT_MADE);
	}
}

/* ---- what passes need not ask ---- */

/* A second GPU's pass, with the header as it is when the first one runs; `then` replaces it after that. How many texts are
 * made? */
static unsigned texts_of_two(struct fake *k, const char *header, const char *then)
{
	struct arena *a = &k->f->a;
	const struct timespec tick = {.tv_nsec = 30000000};
	struct strs programs = {0};
	struct str compiler = at(k->f, "compiler");
	CLEANUP(front_memory_freep) struct front_memory *memory = front_memory_new();
	strs_add(a, &programs,
		str_fmt(a, "%.*s %.*s", STR(fs_exact_state(a, compiler)), STR(compiler)));
	put(k->f, "header", header);
	put(k->f, "source", str_z(a, str_fmt(a, "# 1 \"%.*s\" 1", STR(at(k->f, "header")))));
	nanosleep(&tick, NULL); /* a file that is younger than the text is not trusted */
	memset(k->asks, 0, sizeof(k->asks));
	k->extra.memory = memory;
	k->extra.programs = &programs;
	assert_int_equal(pass(k, FRONT_AUTO, "gfx1100").how, FRONT_MADE);
	if (then)
		put(k->f, "header", then);
	assert_true(pass(k, FRONT_AUTO, "gfx1101").how == FRONT_SHARED);
	assert_int_equal(k->asks[0], 1);
	assert_ok(fs_remove_tree(at(k->f, "store")));
	return k->asks[1];
}

/* A source whose header has this text, and which has the GPU's name in its text, as rocPRIM has. */
static void put_name(struct fake *k, const char *header, const char *gpu)
{
	const struct timespec tick = {.tv_nsec = 30000000};
	put(k->f, "header", header);
	put(k->f, "source",
		str_z(&k->f->a,
			str_fmt(&k->f->a, "# 1 \"%.*s\" 1 \"%s\"", STR(at(k->f, "header")), gpu)));
	nanosleep(&tick, NULL); /* as in texts_of_two(): a younger file is not trusted */
}

static void a_text_with_the_name_of_its_gpu_is_direct(void **state)
{
	CLEANUP(front_memory_freep) struct front_memory *memory = front_memory_new();
	struct fake k = fake(*state);
	struct strs programs = {0};
	struct str compiler = at(k.f, "compiler");
	put(k.f, "compiler", "");
	strs_add(&k.f->a, &programs,
		str_fmt(&k.f->a, "%.*s %.*s", STR(fs_exact_state(&k.f->a, compiler)),
			STR(compiler)));
	k.extra.hints = at(k.f, "hints");
	k.extra.memory = memory;
	k.extra.programs = &programs;
	k.extra.turn = S("one");
	put_name(&k, "bool is_known(const char *gpu);", "gfx1100"); /* in the source's own words */
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx1100").how, FRONT_MADE);
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx1101").how, FRONT_SHARED);
	assert_ok(fs_remove_tree(at(k.f, "store")));
	put_name(&k, "f(__amdgcn_processor__)", "gfx1100");
	assert_int_equal(pass(&k, FRONT_PROVE, "gfx1100").how, FRONT_MADE);
	k.extra.turn = S("two");
	assert_ok(fs_remove_tree(at(k.f, "store")));
	memset(k.asks, 0, sizeof(k.asks));
	k.fronts = 0;
	struct front_result r = pass(&k, FRONT_AUTO, "gfx1100");
	assert_true(r.how == FRONT_DIRECT && k.fronts == 0 && k.asks[1] == 1);
	assert_str(str_from(r.why), "its text is another for each GPU");
	put_name(&k, "f(__amdgcn_processor__)", "gfx1101"); /* no other GPU's text is made */
	r = pass(&k, FRONT_AUTO, "gfx1101");
	assert_true(r.how == FRONT_DIRECT && k.fronts == 0 && k.asks[1] == 1);
	k.extra.turn = S("three"); /* the next build looks again */
	put_name(&k, "f(__amdgcn_processor__)", "gfx11");
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx1101").how, FRONT_MADE);
}

static void a_text_is_made_once_if_no_file_asks_for_the_gpu(void **state)
{
	static const char *const once[] = {"int x;", "/* gfx1101 */ int __; // __g##fx1101",
		"const char *s = \"gfx1101\"; int __;", "_ _ g f x 1 1 0 1 _ _", NULL};
	static const char *const twice[] = {"#if __gfx1101__", "#if __gf\\\nx1101__",
		"_Pragma(\"push_macro(\\\"__gfx1100__\\\")\")", "CAT(__gfx, 1101__)",
		"#define IS(x) defined(__##x##__)\nIS(gfx1101)", "CAT(__gfx110, 1, __)",
		"char c = R\"(/*)\"; CAT(__, gfx1101, __) /* */",
		"#if 0\ndon't /* this\n#endif\nCAT(__, gfx1101__) /* */",
		"#define M 1'0\nCAT(__gfx, 1100__) '", NULL};
	struct fake k = fake(*state);
	struct strs gpus = {0};
	strs_add(&k.f->a, &gpus, S("gfx1100"));
	strs_add(&k.f->a, &gpus, S("gfx1101"));
	k.names_gpus = true;
	k.extra.hints = at(k.f, "hints");
	k.extra.gpus = &gpus;
	put(k.f, "compiler", "");
	assert_int_equal(texts_of_two(&k, "int y;", NULL), 1);
	assert_true(k.asks[2] == 2 && k.asks[3] == 2);
	for (size_t i = 0; once[i]; i++) {
		if (texts_of_two(&k, once[i], NULL) != 1)
			fail_msg("asked again: %s", once[i]);
		assert_true(k.asks[2] == 0 && k.asks[3] == 0); /* answers are kept */
	}
	for (size_t i = 0; twice[i]; i++)
		if (texts_of_two(&k, twice[i], NULL) != 2)
			fail_msg("not asked again: %s", twice[i]);
	struct strs old = {0};
	strs_add(&k.f->a, &old, S("1:2:3:4.5:6.7 /absent")); /* a compiler that was replaced */
	k.extra.programs = &old;
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx1100").how, FRONT_DIRECT);
	/* a header that was changed in between; another compiler; another builtin */
	assert_int_equal(texts_of_two(&k, "int x;", "int x;"), 2);
	put(k.f, "compiler", "");
	assert_int_equal(texts_of_two(&k, "int x;", NULL), 1);
	assert_true(k.asks[2] == 2 && k.asks[3] == 2);
	assert_int_equal(texts_of_two(&k, "x __builtin_amdgcn_a", NULL), 1);
	assert_int_equal(k.asks[2], 2);
}

/* ---- texts that differ ---- */
#define HEADER(body)                                                                               \
	"# 7 \"/sdk/h.h\" 1 3\nextern \"C\" {\n__attribute__((device)) inline\nlong plain(const "  \
	"float *p, int n) {\n" body "\n}\n}\n# 3 \"a.hip\" 2\n"

static bool reduces(const char *one, const char *other, const char *ir)
{
	ARENA(a);
	struct str x = front_reduce(&a, str_from(one), str_from(ir));
	return str_eq(x, front_reduce(&a, str_from(other), str_from(ir)));
}

static void bodies_of_plain_functions_that_were_not_emitted_do_not_count(void **state)
{
	(void)state;
	static const char *const plain[] = {"int k = n; return *p + k;",
		"return __builtin_amdgcn_s_memtime();",
		"if (n < 2) { return 1; } return n ? 2 : 3;",
		"\n# 10 \"/sdk/h.h\" 3\n float old; do { old = *p; } while (old < n);",
		"float a, b; a = b = *p; return a < n;",
		"static_assert(sizeof(int) == 4); union u { int i; float f; }; u a, b; a.i = n; "
		"return b.f;",
		"typedef short __attribute__((ext_vector_type(2))) v; union { v a; int i; } u "
		"{static_cast<int>(n)}; u.i = 1; return u.a < 2;",
		NULL};
	static const char *const others[] = {"return other(n);", "return a::b;",
		"T t = n; return t;", "return [n] { return n; }();", "__asm__(\"nop\");",
		"static int k; return k;", "return p->x;", "return text<int>(n);",
		"return n + sizeof(struct s);", "return global;", "other.x = n;", "{ } other = n;",
		"f(n, other);", "typedef T v; v x;", "union u : v { int i; };",
		"\n# 4 \"a.hip\"\n return 2;\n# 9 \"/sdk/h.h\" 3\n", "return \"}\"[n];", NULL};
	const char *ir = "define void @_Z6kernelv()\ncall void @_ZN1a3fooEv()",
		   *same = HEADER("return 1;");
	for (size_t i = 0; plain[i]; i++) {
		ARENA(a);
		char *text = str_z(
			&a, str_replace(&a, S(HEADER("BODY")), S("BODY"), str_from(plain[i])));
		if (!reduces(same, text, ir))
			fail_msg("counted: %s", plain[i]);
		if (reduces(same, text, "declare i64 @_Z5plainPKfi()"))
			fail_msg("left out, though it is used: %s", plain[i]);
		assert_false(reduces(str_z(&a, str_fmt(&a, "%sint x;", same)), text, ir));
	}
	for (size_t i = 0; others[i]; i++) {
		ARENA(a);
		if (reduces(same,
			    str_z(&a, str_replace(&a, S(HEADER("BODY")), S("BODY"),
					      str_from(others[i]))),
			    ir))
			fail_msg("left out: %s", others[i]);
	}
}

static void plain_functions_may_call_each_other(void **state)
{
	(void)state;
#define CALLS(before, body) "# 1 \"h\" 3\n" before "\ninline int f(__half2 x) { return " body "; }"
#define G "inline int g(int n) { return n; }"
	static const struct {
		const char *one, *other;
		bool same;
	} rows[] = {
		{CALLS(G, "0"), CALLS(G, "g(1)"), true},
		{CALLS(G, "0"), CALLS(G, "g"), false},
		{CALLS("static int g(int n);", "0"), CALLS("static int g(int n);", "g(1)"), true},
		{CALLS("int g(int n);", "0"), CALLS("int g(int n);", "g(1)"), false},
		{CALLS(G "template <class T> int g(T n);", "0"),
			CALLS(G "template <class T> int g(T n);", "g(1)"), false},
		{CALLS(G "using a::g;", "0"), CALLS(G "using a::g;", "g(1)"), false},
		{CALLS("struct __half2 { int x; };", "0"),
			CALLS("struct __half2 { int x; };", "x.y"), true},
		{CALLS("struct __half2 { template <class T> operator T(); };", "0"),
			CALLS("struct __half2 { template <class T> operator T(); };", "x.y"),
			false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (reduces(rows[i].one, rows[i].other, "") != rows[i].same)
			fail_msg("%s", rows[i].other);
}

static void functions_that_nothing_names_may_be_unavailable(void **state)
{
	(void)state;
#define TEX(attribute, rest)                                                                       \
	"# 1 \"h\" 3\nnamespace a {\ntemplate <class T> static __attribute__((device)) " attribute \
	"T tex(T t, int x) { return t.get(x); }\n}\n" rest
#define NOT "__attribute__((unavailable(\"not here\"))) "
	assert_true(reduces(TEX("", ""), TEX(NOT, ""), ""));
	assert_true(reduces(TEX("", ""), TEX("__attribute__((unavailable))", ""), ""));
	assert_true(reduces(TEX("", "int x;"), TEX(NOT, "int x;"), ""));
	assert_true(reduces(TEX("", "int " NOT "b();"), TEX(NOT, "int b();"), ""));
	assert_false(
		reduces(TEX("", "int y = a::tex(1, 2);"), TEX(NOT, "int y = a::tex(1, 2);"), ""));
	assert_false(reduces(TEX("", "# 1 \"a.hip\"\nint y(int tex);"),
		TEX(NOT, "# 1 \"a.hip\"\nint y(int tex);"), ""));
	assert_false(reduces("# 1 \"a.hip\"\nint f();", "# 1 \"a.hip\"\nint " NOT "f();", ""));
	assert_false(reduces(TEX("", ""), TEX("__attribute__((unavailable, weak)) ", ""), ""));
	assert_false(
		reduces(TEX("", ""), TEX("__attribute__((unavailable(\"a\" \"b\"))) ", ""), ""));
}

static void functions_of_other_kinds_count(void **state)
{
	(void)state;
	static const char *const heads[] = {"long f()", "constexpr long f()", "inline auto f()",
		"template <class T> inline long f()", "inline long f(T x)",
		"inline long f(int n = 1)", "__attribute__((used)) inline long f()",
		"__attribute__((global)) inline void f()", "struct s { inline long f()",
		"inline long s::f()", "static inline long operator+(int n)",
		"template <class T> requires requires { T(); } inline long f()",
		"inline long f() noexcept(x)", "template <auto X = A{}> inline long f()",
		"__attribute__((alias(\"x\"))) inline long f()", NULL};
	for (size_t i = 0; heads[i]; i++) {
		ARENA(a);
		char *one = str_z(&a, str_fmt(&a, "# 1 \"h\" 3\n%s { return 1; } }", heads[i]));
		char *other = str_z(&a, str_fmt(&a, "# 1 \"h\" 3\n%s { return 2; } }", heads[i]));
		if (reduces(one, other, ""))
			fail_msg("left out: %s", heads[i]);
	}
	/* not in a system header, whose warnings are not shown; a namespace is no reason */
	assert_false(reduces("# 1 \"h\"\ninline int f() { return 1; }",
		"# 1 \"h\"\ninline int f() { return 2; }", ""));
	assert_true(reduces("# 1 \"h\" 3\nnamespace a { inline int f() { return 1; } }",
		"# 1 \"h\" 3\nnamespace a { inline int f() { return 2; } }", ""));
	/* the same text at another place */
	assert_false(reduces("# 1 \"h\" 3\nint x;", "# 2 \"h\" 3\nint x;", ""));
	assert_true(reduces("# 1 \"h\" 3\n\n\nint x;", "# 3 \"h\" 3\nint x;", ""));
	assert_false(reduces("# 1 \"h\" 3\nint x;", "# 1 \"i\" 3\nint x;", ""));
	/* what is not understood to its end counts as a whole */
	assert_false(reduces("# 1 \"h\" 3\ninline int f() { return 1; } x {",
		"# 1 \"h\" 3\ninline int f() { return 2; } x {", ""));
}

/* ---- objects for several GPUs ---- */
static void questions_about_the_number_of_the_gpu_decide(void **state)
{
	(void)state;
	ARENA(a);
	struct str q;
	const char *load = "define void @f() {\n  %1 = load i32, ptr addrspace(4) "
			   "@__oclc_ISA_version, align 4, !tbaa !3\n";
	struct str text = str_fmt(&a,
		"@__oclc_ISA_version = internal addrspace(4) constant i32 10300, align 4\n%s"
		"  %%2 = freeze i32 %%1\n  %%3 = icmp samesign ult i32 %%2, 10000\n  %%4 = add nsw "
		"i32 %%1, -9400\n"
		"  %%5 = icmp ugt i32 %%4, 900\n}\ndefine void @g() {\n  %%1 = icmp eq i32 %%2, "
		"4\n}\n",
		load);
	assert_int_equal(ir_isa(str_fmt(&a, "x\n%.*s", STR(text))), 10300);
	assert_int_equal(ir_isa(S("no number")), 0);
	assert_true(ir_questions(&a, text, &q));
	assert_str(q, "ult 0 10000\nugt -9400 900\n");
	assert_true(ir_answers_agree(&a, q, 10301, 10306));
	assert_false(ir_answers_agree(&a, q, 10300, 10301)); /* 900 is not greater than 900 */
	assert_false(ir_answers_agree(&a, q, 9999, 10301));
	assert_false(ir_answers_agree(&a, S("what 0 1\n"), 1, 1));
	static const char *const bad[] = {"  %2 = mul i32 %1, 2\n", "  %2 = icmp eq i32 %1, %3\n",
		"  store i32 %1, ptr %p\n", "  switch i32 %1, label %2 [\n",
		"  %2 = select i1 %c, i32 %1, i32 3\n", "  %2 = icmp eq i64 %1, 3\n",
		"  call void @f(ptr @__oclc_ISA_version)\n", "  ret i32 %1\n", NULL};
	for (size_t i = 0; bad[i]; i++)
		if (ir_questions(&a, str_fmt(&a, "%s%s", load, bad[i]), &q))
			fail_msg("understood: %s", bad[i]);
}

static void an_object_is_cloned_if_its_name_is_in_the_note_alone(void **state)
{
	(void)state;
	ARENA(a);
	char bytes[256] = "\177ELF\2\1\1", *note = bytes + 100;
	struct str object = {.p = bytes, .n = sizeof(bytes)}, made;
	bytes[18] = (char)224; /* e_machine */
	bytes[48] = 0x36;      /* e_flags: gfx1030 */
	memcpy(note, "amdgcn-amd-amdhsa--gfx1030", 26);
	assert_true(processor_clone(&a, object, S("gfx1030"), S("gfx1031"), &made));
	assert_int_equal(made.p[48], 0x37);
	assert_memory_equal(made.p + 100, "amdgcn-amd-amdhsa--gfx1031", 26);
	assert_int_equal(bytes[48], 0x36);
	assert_false(processor_clone(&a, object, S("gfx1031"), S("gfx1032"), &made));
	assert_false(processor_clone(&a, object, S("gfx1030"), S("gfx906"), &made));
	memcpy(bytes + 200, "gfx1030", 7);
	assert_false(processor_clone(&a, object, S("gfx1030"), S("gfx1031"), &made));
	assert_str(processors_row(S("gfx1030 ab\ngfx1031 cd\n"), S("gfx1031")), "cd");
	assert_str(processors_row(S("gfx1030 ab\n"), S("gfx103")), "");
}

/* A table of processors in this program, as LLVM has one. The names are one object: ASan has a table of all objects. */
#define NAME(gpu) "\0gfx" gpu
#define ROW(i, features)                                                                           \
	{                                                                                          \
		names[i] + 1, {features}, names[0]                                                 \
	}
static const char names[][10] = {NAME("1010"), NAME("1011"), NAME("1012"), NAME("1030"),
	NAME("1031"), NAME("1032"), NAME("1033"), NAME("1034"), NAME("1035"), NAME("1036"),
	NAME("1100"), NAME("1101"), NAME("1102"), NAME("1103"), NAME("1150"), NAME("1151"),
	NAME("1200"), NAME("1201"), NAME("900"), NAME("906"), NAME("908"), NAME("90a"),
	NAME("942")};
static const struct processor {
	const char *name;
	uint64_t features[6];
	const char *model;
} processors[] = {ROW(0, 1), ROW(1, 2), ROW(2, 2), ROW(3, 3), ROW(4, 3), ROW(5, 3), ROW(6, 3),
	ROW(7, 3), ROW(8, 3), ROW(9, 3), ROW(10, 4), ROW(11, 5), ROW(12, 6), ROW(13, 7), ROW(14, 8),
	ROW(15, 9), ROW(16, 10), ROW(17, 10), ROW(18, 3), ROW(19, 11), ROW(20, 12), ROW(21, 13),
	ROW(22, 14)};

static void rows_of_the_table_of_processors_are_compared(void **state)
{
	(void)state;
	ARENA(a);
	struct str path, rows;
	struct strs none = {0};
	for (size_t i = 0; i < sizeof(processors) / sizeof(processors[0]); i++)
		assert_non_null(gpu_by_name(str_from(processors[i].name)));
	assert_ok(processors_file(&a, S("/proc/self/exe"), &none, &path));
	assert_str(path, "/proc/self/exe");
	assert_ok(processors_read(&a, path, &rows));
	struct str row = processors_row(rows, S("gfx1030"));
	assert_int_equal(row.n, 32);
	assert_true(str_eq(row, processors_row(rows, S("gfx1036"))));
	assert_false(str_eq(row, processors_row(rows, S("gfx1100"))));
	assert_false(
		str_eq(row, processors_row(rows, S("gfx900")))); /* its waves have another size */
	assert_int_equal(processors_row(rows, S("gfx950")).n, 0);
	assert_ok(processors_read(&a, S("/bin/true"), &rows)); /* which has no such table */
	assert_int_equal(rows.n, 0);
	assert_err(processors_file(&a, S("/dev/null"), &none, &path), E_FORMAT);
}

static void a_sample_is_compared(void **state)
{
	struct fake k = fake(*state);
	unsigned found = 0;
	k.wrong = true;
	for (unsigned i = 0; i < 300 && !found; i++) {
		struct str gpu = str_fmt(&k.f->a, "gfx%u", 1000 + i);
		found += pass(&k, FRONT_AUTO, gpu.p).differs;
		assert_int_equal(k.directs, found);
	}
	assert_int_equal(found, 1);
	assert_int_equal(pass(&k, FRONT_AUTO, "gfx999").how, FRONT_DIRECT);
}

int main(void)
{
#define FILES(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_commands_that_are_known_are_shared),
		cmocka_unit_test(texts_that_ask_for_the_processor_are_refused),
		cmocka_unit_test(ir_of_one_target_gets_another_name),
		cmocka_unit_test(ir_of_another_shape_is_refused),
		FILES(passes_with_one_text_share_a_front_end),
		FILES(a_text_with_the_name_of_its_gpu_is_direct),
		FILES(doubts_end_in_a_direct_pass),
		FILES(a_damaged_front_end_is_made_again),
		FILES(proving_finds_a_wrong_object_and_drops_its_front_end),
		FILES(builtins_that_one_gpu_lacks_are_not_shared),
		FILES(a_source_that_names_the_gpu_is_direct_once_that_is_seen),
		FILES(a_text_is_made_once_if_no_file_asks_for_the_gpu),
		cmocka_unit_test(bodies_of_plain_functions_that_were_not_emitted_do_not_count),
		cmocka_unit_test(plain_functions_may_call_each_other),
		cmocka_unit_test(functions_that_nothing_names_may_be_unavailable),
		cmocka_unit_test(functions_of_other_kinds_count),
		cmocka_unit_test(questions_about_the_number_of_the_gpu_decide),
		cmocka_unit_test(an_object_is_cloned_if_its_name_is_in_the_note_alone),
		cmocka_unit_test(rows_of_the_table_of_processors_are_compared),
		FILES(a_sample_is_compared),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
