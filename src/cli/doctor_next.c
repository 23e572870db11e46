/* The last section of `rocsmith doctor`: the next step for each GPU; see flow/next.h. */
#include "cli/doctor.h"

#include "know/rule.h"
#include "term/out.h"

static const char *const bys[] = {
	[NEXT_WHEEL] = "a wheel of PyTorch", [NEXT_DEVICE_WHEEL] = "wheels of AMD for one GPU"};
static const char *const hows[] = {[COMPAT_EXACT] = "has code for exactly this GPU",
	[COMPAT_GENERIC] = "has code of a generic target that covers it",
	[COMPAT_OVERRIDE] = "serves it by an override only"};

static void heading(struct arena *a, const struct next_steps *s, const struct next_gpu *g)
{
	struct str text = str_fmt(a, "next step for %.*s", STR(g->target));
	out_fmt("\n%.*s", STR(styled_out(a, STYLE_BOLD, text)));
	if (g->products.n)
		out_fmt(" (%.*s)", STR(g->products));
	if (s->version.n)
		out_fmt(", Python %.*s of %.*s", STR(s->version), STR(s->python));
	out_text(S("\n"));
}

static void lines(const struct strs *list, const char *lead)
{
	VEC_EACH (const struct str, line, list)
		out_fmt("%s%.*s\n", lead, STR(*line));
}

static void cost(struct arena *a, const struct next_steps *s, const struct next_route *r)
{
	BUF(b, a);
	if (r->download)
		buf_fmt(&b, "%.*s to download, ", STR(human_bytes(a, r->download)));
	else if (r->by != NEXT_BUILD)
		buf_add(&b, S("size of the download: not known, "));
	if (r->disk)
		buf_fmt(&b, "%.*s of disk", STR(human_bytes(a, r->disk)));
	else
		buf_add(&b, r->history ? S("no more disk") : S("disk: not known"));
	if (s->disk.n)
		buf_fmt(&b, " (%.*s: %.*s free)", STR(s->disk), STR(human_bytes(a, s->disk_free)));
	if (r->memory)
		buf_fmt(&b, ", %.*s of memory for the largest compile (%.*s free)",
			STR(human_memory(a, r->memory)), STR(human_memory(a, s->memory_free)));
	if (r->by == NEXT_BUILD)
		buf_fmt(&b, ", %s %.*s by %s", r->history ? "about" : "at best",
			STR(human_seconds(a, r->seconds)),
			r->history ? "an earlier build here"
				   : "the processor time that was measured");
	out_fmt("      %.*s\n", STR(buf_str(&b)));
	if ((r->disk > s->disk_free && s->disk.n) || (r->memory > s->memory_free && s->memory_free))
		out_text(S("      as things are it does not fit\n"));
}

static void route(struct arena *a, const struct next_steps *s, const struct next_route *r)
{
	if (r->by == NEXT_BUILD)
		out_text(S(
			"  or build one, with the libraries of an SDK that has kernels for it\n"));
	else
		out_fmt("  torch %s with ROCm %s, %s: %s\n", r->torch, r->rocm, bys[r->by],
			hows[r->how]);
	lines(&r->commands, "      ");
	cost(a, s, r);
	lines(&r->notes, "      ");
	if (out_verbosity() > 0)
		out_fmt("      source: %.*s\n", STR(str_join(a, &r->evidence, S("; "))));
}

static void step(struct arena *a, const struct next_steps *s, const struct next_gpu *g)
{
	heading(a, s, g);
	lines(&g->notes, "  ");
	if (g->served_by.n)
		out_fmt("  the torch %.*s in %.*s has code for it: nothing to install. To see it "
			"work:\n",
			STR(g->served_version), STR(g->served_by));
	lines(&g->commands, "      ");
	VEC_EACH (const struct next_route, r, &g->routes)
		route(a, s, r);
}

void doctor_show_next(struct arena *a, const struct next_steps *s)
{
	bool addresses = false;
	VEC_EACH (const struct next_gpu, g, &s->gpus) {
		step(a, s, g);
		addresses = addresses || (g->routes.n && g->routes.v[0].by != NEXT_BUILD);
	}
	if (addresses)
		out_fmt("\nWhat is known of published wheels is as of %s. TORCH_INDEX is the "
			"address of PyTorch's wheel "
			"index as its\ninstall page gives it, without the last folder; "
			"THEROCK_INDEX "
			"that of AMD's, as AMD's "
			"page \"Install PyTorch\"\ngives it, without the last folder.\n",
			compat_state_table()->date);
}

const struct json_field doctor_fields[] = {
	FIELD_FROM(struct doctor, machine, machine_report_fields),
	FIELD_LIST("next", struct doctor, next.gpus, next_gpu_fields),
	{.kind = FIELD_END},
};
