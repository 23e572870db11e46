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
	if (ir_read(text, &t))
		return 0;
	check(!t.cpu.n == !t.features.n);
	struct str other = ir_retarget(&a, text, &t, S("gfx1"));
	check(!ir_read(other, &again));
	check(!t.cpu.n || (str_eq(again.cpu, S("gfx1")) && str_eq(again.features, t.features)));
	/* and back: only the name has changed */
	other = ir_retarget(&a, other, &again, t.cpu);
	check(str_eq(str_sub(other, 0, size), text));
	return 0;
}
