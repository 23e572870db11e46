/* Reads the commands of a device pass and LLVM's intermediate representation, and makes the latter for another GPU; see
 * cc_int.h. Both are texts of a compiler that may run code of the project, so nothing is expected of them. */
#include "base/buf.h"
#include "cc/cc_int.h"

enum { MAX_WORDS = 1 << 16, MAX_VALUE = 1 << 14 };

/* ---- the commands of a pass ---- */

/* Splits a line of -###: words in quotes, where a backslash stands before ", \ and $. */
bool front_shown_words(struct arena *a, struct str line, struct strs *ret)
{
	size_t i = 0;
	while (i < line.n && ret->n < MAX_WORDS) {
		BUF(word, a);
		if (line.p[i] == ' ') {
			i++;
			continue;
		}
		if (line.p[i++] != '"')
			return false;
		for (; i < line.n && line.p[i] != '"'; i++) {
			i += line.p[i] == '\\' && i + 1 < line.n;
			buf_char(&word, line.p[i]);
		}
		if (i++ == line.n)
			return false;
		strs_add(a, ret, buf_str(&word));
	}
	return ret->n > 1 && i == line.n;
}

const char *front_commands(struct arena *a, struct str said, struct front_commands *ret)
{
	const struct clang_words *known = clang_words_table();
	struct str line;
	struct strs *lists[] = {&ret->cc1, &ret->lld};
	size_t n = 0, inputs = 0;
	*ret = (struct front_commands){0};
	while (str_next(&said, '\n', &line)) {
		if (!str_starts(line, S(" \"")))
			continue;
		if (n == sizeof(lists) / sizeof(lists[0]) ||
			!front_shown_words(a, line, lists[n++]))
			return "the driver has other steps";
	}
	const struct strs *w = &ret->cc1;
	if (n != 2 || !str_eq(w->v[1], S("-cc1")) || !strs_has(&ret->lld, S("elf64_amdgpu")) ||
		!strs_has(w, S("-fcuda-is-device")) || !strs_has(w, S("-emit-obj")))
		return "the driver has other steps";
	for (size_t i = 1; i < w->n; i++) {
		struct str word = w->v[i], value = i + 1 < w->n ? w->v[i + 1] : S("");
		/* another word may decide more than the IR says: see data/clang.yaml */
		if (word.n > 1 && word.p[0] == '-' && !str_is_one_of(word, known->in_ir) &&
			!str_starts_one_of(word, known->in_ir_begins))
			return str_fmt(a, "'%.*s' may have effects behind the front end", STR(word))
				.p;
		if (str_eq(word, S("-o")))
			ret->object = value;
		if (str_eq(word, S("-target-cpu")))
			ret->cpu = value;
		inputs += str_eq(word, S("-x"));
	}
	/* the input comes last, behind its language */
	size_t end = w->n - 1;
	ret->source = w->v[end];
	if (inputs != 1 || !str_eq(w->v[end - 1], S("hip")) || !str_eq(w->v[end - 2], S("-x")))
		return "the input is no source of HIP";
	if (!ret->cpu.n || !ret->object.n || !strs_has(&ret->lld, ret->object) ||
		!strs_has(&ret->lld, S("-o")))
		return "the driver has other steps";
	return NULL;
}

/* ---- the text ---- */
bool front_word_char(char c)
{
	return ascii_word(c) || c == '$';
}

const char *front_refuses(struct str text)
{
	/* questions about the processor itself, and functions with versions or features of their own */
	static const char *const words[] = {"__builtin_amdgcn_processor_is",
		"__builtin_amdgcn_is_invocable", "__builtin_cpu_", "target_clones",
		"target_version", "cpu_dispatch", "cpu_specific", NULL};
	static const char *const attributes[] = {"target", "__target__", NULL};
	for (size_t i = 0; words[i]; i++) {
		struct str rest = text, word = str_from(words[i]);
		for (size_t at; (at = str_find(rest, word)) < rest.n;) {
			/* a name that only contains it is another: cpu_dispatch_ptr of PyTorch */
			bool inside = at && front_word_char(rest.p[at - 1]);
			rest = str_sub(rest, at + word.n, rest.n);
			if (!inside && (word.p[word.n - 1] == '_' || !rest.n ||
					       !front_word_char(rest.p[0])))
				return "the source asks for the processor";
		}
	}
	/* target("...") is an attribute; a function of that name takes no literal in any header that was seen */
	for (size_t i = 0; attributes[i]; i++) {
		struct str rest = text, word = str_from(attributes[i]);
		for (size_t at; (at = str_find(rest, word)) < rest.n;) {
			rest = str_sub(rest, at + word.n, rest.n);
			struct str next = str_trim(str_sub(rest, 0, 256));
			if (!str_starts(next, S("(")))
				continue;
			next = str_trim(str_sub(next, 1, next.n));
			/* also R"(...)" and u8"..."; # is a line marker before the literal */
			size_t quote = str_chr(next, '"');
			if (!next.n || next.p[0] == '#' || (quote < 4 && quote < next.n))
				return "a function has target features of its own";
		}
	}
	return NULL;
}

/* ---- the IR ---- */
#define CPU "\"target-cpu\"=\""
#define FEATURES "\"target-features\"=\""

/* The value of an attribute on a line, or "" if it is not there once and plain. */
static struct str value_of(struct str line, struct str name, bool *ret_bad)
{
	size_t at = str_find(line, name);
	if (at == line.n)
		return S("");
	struct str rest = str_sub(line, at + name.n, line.n);
	struct str value = str_sub(rest, 0, str_chr(rest, '"'));
	bool plain = value.n < rest.n && value.n < MAX_VALUE && str_made_of(value, "+-,._");
	*ret_bad |= !plain || str_contains(str_sub(rest, value.n, rest.n), name);
	return value;
}

const char *ir_read(struct str text, struct ir_target *ret)
{
	struct str line, rest = text;
	bool triple = false, code = false, bad = false;
	*ret = (struct ir_target){0};
	while (str_next(&rest, '\n', &line)) {
		triple |= str_eq(line, S("target triple = \"amdgcn-amd-amdhsa\""));
		code |= str_starts(line, S("define "));
		if (!str_starts(line, S("attributes #"))) {
			bad |= str_contains(line, S("\"target-"));
			continue;
		}
		struct str cpu = value_of(line, S(CPU), &bad),
			   features = value_of(line, S(FEATURES), &bad);
		if (!cpu.n && !features.n && !bad)
			continue;
		if (!ret->cpu.n)
			*ret = (struct ir_target){.cpu = cpu, .features = features};
		if (bad || !str_starts(cpu, S("gfx")) || !features.n || !str_eq(cpu, ret->cpu) ||
			!str_eq(features, ret->features))
			return "functions have different target features";
	}
	if (!triple || bad || (code && !ret->cpu.n))
		return "its IR has another shape";
	return NULL;
}

struct str ir_retarget(
	struct arena *a, struct str text, const struct ir_target *from, const struct ir_target *to)
{
	BUF(out, a);
	struct str line;
	while (str_next(&text, '\n', &line)) {
		if (str_starts(line, S("attributes #")) && from->cpu.n &&
			str_contains(line, S(CPU))) {
			struct str was = str_fmt(a, CPU "%.*s\"", STR(from->cpu));
			line = str_replace(a, line, was, str_fmt(a, CPU "%.*s\"", STR(to->cpu)));
			was = str_fmt(a, FEATURES "%.*s\"", STR(from->features));
			line = str_replace(
				a, line, was, str_fmt(a, FEATURES "%.*s\"", STR(to->features)));
		}
		buf_add(&out, line);
		buf_char(&out, '\n');
	}
	return buf_str(&out);
}

/* ---- the number of the GPU, which device libraries ask for ---- */
#define ISA "@__oclc_ISA_version"

uint64_t ir_isa(struct str text)
{
	uint64_t ret = 0;
	size_t at = str_find(text, S("\n" ISA " = "));
	struct str line, rest = str_sub(text, at + (at < text.n), text.n);
	if (at == text.n || !str_next(&rest, '\n', &line))
		return 0;
	at = str_find(line, S(" constant i32 "));
	line = str_sub(line, at + sizeof(" constant i32 ") - 1, line.n);
	return str_u64(str_sub(line, 0, str_chr(line, ',')), 10, &ret) ? ret : 0;
}

/* A value that is that number plus a constant. */
struct isa_value {
	struct str name; /* "%25" */
	int64_t plus;
};

struct isa_values VEC_OF(struct isa_value);

/* The next local name in a line, "%25", or "". */
static struct str next_local(struct str *rest)
{
	size_t at = str_chr(*rest, '%'), n = at + 1;
	while (n < rest->n &&
		(front_word_char(rest->p[n]) || rest->p[n] == '.' || rest->p[n] == '-'))
		n++;
	struct str ret = at < rest->n ? str_sub(*rest, at, n) : S("");
	*rest = str_sub(*rest, n < rest->n ? n : rest->n, rest->n);
	return ret;
}

static bool read_int(struct str s, int64_t *ret)
{
	uint64_t n;
	bool minus = str_starts(s, S("-"));
	if (!str_u64(str_sub(s, minus, s.n), 10, &n) || n > INT32_MAX)
		return false;
	*ret = minus ? -(int64_t)n : (int64_t)n;
	return true;
}

/* The answer of one comparison; -1: it is not known. */
static int answer(struct str op, int64_t x, int64_t y)
{
	uint32_t ux = (uint32_t)x, uy = (uint32_t)y;
	int32_t sx = (int32_t)ux, sy = (int32_t)uy;
	const struct {
		const char *op;
		bool yes;
	} all[] = {{"eq", ux == uy}, {"ne", ux != uy}, {"ult", ux < uy}, {"ule", ux <= uy},
		{"ugt", ux > uy}, {"uge", ux >= uy}, {"slt", sx < sy}, {"sle", sx <= sy},
		{"sgt", sx > sy}, {"sge", sx >= sy}};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (str_eq(op, str_from(all[i].op)))
			return all[i].yes;
	return -1;
}

/* Reads a line that uses a value: adds a comparison to *io, or a value that is made of it; false: it does something else. */
static bool read_use(struct arena *a, struct str line, struct isa_values *values, struct buf *io)
{
	struct strs w = str_split(a, str_trim(line), ' ');
	const struct isa_value *of = NULL;
	int64_t n = 0;
	size_t at = 0;
	while (at < w.n && (!at || !of)) /* the operand */
		of = at++ ? VEC_FIND(const struct isa_value, values, name,
				    str_sub(w.v[at - 1], 0, str_chr(w.v[at - 1], ',')))
			  : NULL;
	if (w.n < 5 || !of || !str_eq(w.v[1], S("=")) || !str_eq(w.v[at - 2], S("i32")))
		return false;
	struct str op = w.v[2];
	bool last = at == w.n;
	struct isa_value made = {.name = w.v[0], .plus = of->plus};
	if (str_eq(op, S("freeze")) && last) {
		*VEC_PUSH(a, values) = made;
		return true;
	}
	if (at + 1 != w.n || !read_int(w.v[at], &n))
		return false;
	if (str_eq(op, S("add"))) {
		made.plus += n;
		*VEC_PUSH(a, values) = made;
		return made.plus < INT32_MAX && made.plus > INT32_MIN;
	}
	if (!str_eq(op, S("icmp")) || answer(w.v[at - 3], 0, 0) < 0)
		return false;
	buf_fmt(io, "%.*s %lld %lld\n", STR(w.v[at - 3]), (long long)of->plus, (long long)n);
	return true;
}

bool ir_questions(struct arena *a, struct str text, struct str *ret)
{
	struct isa_values values = {0};
	struct str line;
	BUF(out, a);
	while (str_next(&text, '\n', &line)) {
		if (str_starts(line, S("define ")))
			values.n = 0;
		if (str_contains(line, S(ISA))) {
			struct str rest = line, name = next_local(&rest);
			if (str_starts(line, S(ISA " = ")))
				continue;
			if (!str_starts(rest, S(" = load i32, ptr addrspace(4) " ISA ", ")))
				return false;
			*VEC_PUSH(a, &values) = (struct isa_value){.name = name};
			continue;
		}
		bool uses = false;
		struct str rest = values.n ? line : S("");
		for (struct str name; (name = next_local(&rest)).n;)
			uses |= VEC_FIND(const struct isa_value, &values, name, name) != NULL;
		if (uses && !read_use(a, line, &values, &out))
			return false;
	}
	*ret = buf_str(&out);
	return true;
}

bool ir_answers_agree(struct arena *a, struct str questions, uint64_t isa, uint64_t other)
{
	struct str line;
	while (str_next(&questions, '\n', &line)) {
		struct strs w = str_split(a, line, ' ');
		int64_t plus, n;
		if (w.n != 3 || !read_int(w.v[1], &plus) || !read_int(w.v[2], &n))
			return false;
		int one = answer(w.v[0], (int64_t)isa + plus, n);
		if (one < 0 || one != answer(w.v[0], (int64_t)other + plus, n))
			return false;
	}
	return true;
}
