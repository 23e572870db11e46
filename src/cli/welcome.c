/* rocsmith without a command: says what this machine is, and what to type next. */
#include "cli/opt.h"
#include "flow/next.h"
#include "know/rule.h"
#include "term/out.h"

struct err *welcome(struct arena *a)
{
	struct machine m;
	struct next_steps steps;
	struct next_commands list;
	struct strs none = {0}, gpus = {0};
	size_t width = 0;
	TRY(machine_examine(a, S(""), &m));
	TRY(next_steps(a, &m, &none, &steps));
	next_first(a, &m, &steps, &list);
	VEC_EACH (const struct machine_gpu, g, &m.gpus)
		strs_fmt(a, &gpus, "%.*s%s%.*s%s", STR(g->target), g->product.n ? " (" : "",
			STR(g->product), g->product.n ? ")" : "");
	VEC_EACH (const struct next_command, c, &list)
		width = c->command.n > width ? c->command.n : width;
	out_fmt("rocsmith %s: CUDA projects as Python wheels for AMD GPUs\n\n", ROCSMITH_VERSION);
	out_fmt("this machine: %.*s, %.*s%u CPUs, %.*s of memory\n",
		STR(m.distro.n ? m.distro : S("unknown distribution")),
		STR(m.container ? S("in a container, ") : S("")), m.cpus,
		STR(human_memory(a, m.memory)));
	out_fmt("GPUs: %.*s\n\nnext:\n",
		STR(gpus.n ? str_join(a, &gpus, S(", ")) : S("none that ROCm's driver lists")));
	VEC_EACH (const struct next_command, c, &list)
		out_fmt("  %-*.*s  %.*s\n", (int)width, STR(c->command), STR(c->why));
	out_text(S("\n'rocsmith help' lists all commands\n"));
	return NULL;
}
