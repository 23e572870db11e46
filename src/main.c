/* rocsmith: finds the command, fills in its options, runs it, and renders its error. Everything else
 * is in the folders beside this file; doc/architecture.md is the map. */
#include <signal.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/trace.h"
#include "cc/cc.h"
#include "cli/opt.h"
#include "term/out.h"

/* The result of a run. */
struct outcome {
	int status;
	bool json; /* the answer is JSON, errors included */
};

static struct err *dispatch(struct arena *a, const struct strs *argv, struct outcome *ret)
{
	const struct command *c;
	size_t words;
	/* before parsing, so that an error about the command line is JSON, too */
	for (size_t i = 0; i < argv->n && !str_eq(argv->v[i], S("--")); i++)
		ret->json = ret->json || str_eq(argv->v[i], S("--json"));
	TRY(command_find(commands, argv, &c, &words));
	struct strs rest = {.v = argv->v + words, .n = argv->n - words};
	void *args = arena_alloc(a, opt_size(c->opts));
	struct common *common = args;
	common->commands = commands;
	TRY(opt_parse(a, c, &rest, args));
	ret->json = common->json;
	if (common->help) {
		help_command(commands, c);
		return NULL;
	}
	out_init((enum color_mode)common->color, common->quiet ? -1 : (int)common->verbose);
	status_init();
	cancel_init();
	char *here = getcwd(NULL, 0);
	if (!here)
		return err_errno("the current folder does not exist any more");
	free(here);
	if (common->trace.n)
		TRY(trace_open(common->trace));
	if (common->dry_run && (c->needs & NEED_WRITE))
		fs_forbid_writes();
	struct err *e = c->run(a, args);
	ret->status = common->status;
	return e;
}

static bool is_help(struct str word)
{
	return str_eq(word, S("-h")) || str_eq(word, S("--help"));
}

static struct err *run(struct arena *a, const struct strs *words, struct outcome *ret)
{
	struct str first = words->n ? words->v[0] : S("");
	fs_umask_begin();
	if (str_eq(first, S("--version")) || str_eq(first, S("version"))) {
		out_text(S("rocsmith " ROCSMITH_VERSION "\n"));
		return NULL;
	}
	if (!words->n)
		return welcome(a);
	if (is_help(first)) {
		help_main(commands);
		return NULL;
	}
	if (words->n > 1 && is_help(words->v[1]) && help_group(commands, first))
		return NULL;
	return dispatch(a, words, ret);
}

int main(int argc, char **argv)
{
	ARENA(a);
	struct outcome out = {0};
	struct strs words = {0};
	struct cc cc;
	for (int i = 1; i < argc; i++)
		strs_add(&a, &words, str_from(argv[i]));
	fs_std_begin();
	out_init(COLOR_AUTO, 0);
	/* called by the name of a compiler, the command line is not ours */
	struct err *e =
		cc_called(&a, &cc) ? cc_run(&a, &cc, &words, &out.status) : run(&a, &words, &out);
	e = err_join(e, out_finish());
	if (out_reader_gone())
		out.status = 128 + SIGPIPE; /* the status of a program that SIGPIPE ends */
	if (e) {
		say_error(e);
		if (out.json && !out_used()) { /* otherwise the answer has the error */
			out_text(error_json(&a, e));
			err_free(out_finish());
		}
		out.status = err_status(e->code);
		if (e->code == E_CANCELLED && cancel_signal())
			out.status = 128 + cancel_signal();
		err_free(e);
	}
	if (out.status)
		fs_outputs_end();
	trace_close();
	return out.status;
}
