/* What a compiler prints and writes between front end and back end: its commands, a text, and LLVM's IR. */
#include <stdlib.h>

#include "cc/cc_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct str text = {.p = (const char *)data, .n = size};
	struct front_commands c;
	struct ir_target t, again;
	if (!front_commands(&a, text, &c))
		check(c.cc1.n > 4 && c.lld.n > 1 && c.cpu.n && c.object.n && c.source.p);
	front_refuses(text);
	/* a reduced text has no more than the text and the numbers of its lines, and each of its builtins is in the text */
	struct str reduced = front_reduce(&a, text, text), questions, clone;
	struct strs all = {0}, some = {0};
	front_builtins(&a, text, &all);
	front_builtins(&a, reduced, &some);
	VEC_EACH (const struct str, name, &some)
		check(strs_has(&all, *name));
	if (ir_questions(&a, text, &questions))
		check(ir_answers_agree(&a, questions, ir_isa(text), ir_isa(text)));
	if (processor_clone(&a, text, S("gfx1030"), S("gfx1031"), &clone)) {
		check(clone.n == size);
		if (processor_clone(&a, clone, S("gfx1031"), S("gfx1030"), &reduced))
			check(str_eq(reduced, text));
	}
	if (ir_read(text, &t))
		return 0;
	check(!t.cpu.n == !t.features.n);
	const struct ir_target to = {.cpu = S("gfx1"), .features = S("+x")};
	struct str other = ir_retarget(&a, text, &t, &to);
	check(!ir_read(other, &again));
	check(!t.cpu.n || (str_eq(again.cpu, S("gfx1")) && str_eq(again.features, S("+x"))));
	/* and back: only name and features have changed */
	other = ir_retarget(&a, other, &again, &t);
	check(str_eq(str_sub(other, 0, size), text));
	return 0;
}
