/* rocsmith sdk install: from a spec on the command line to a tree that compiles. */
#include "base/vec.h"
#include "cli/opt.h"
#include "cli/sdk_show.h"
#include "term/out.h"

struct args {
	struct common common;
	struct str provider;
	struct str suite, mirror, keyring, prefix;
	struct strs components;
	bool refresh;
};

static const struct opt opts[] = {
	{.lname = "PROVIDER",
		.kind = OPT_POS,
		.off = offsetof(struct args, provider),
		.help = "debian (the default) or prefix"},
	{.lname = "suite",
		.kind = OPT_STR,
		.off = offsetof(struct args, suite),
		.arg = "SUITE",
		.help = "Debian suite: sid, experimental or trixie"},
	{.lname = "components",
		.kind = OPT_LIST,
		.flags = OPT_COMMA,
		.off = offsetof(struct args, components),
		.arg = "LIST",
		.help = "compiler, math, dnn, torch-build or library names"},
	{.lname = "mirror",
		.kind = OPT_STR,
		.off = offsetof(struct args, mirror),
		.arg = "URL",
		.help = "Debian archive, instead of this machine's"},
	{.lname = "keyring",
		.kind = OPT_PATH,
		.off = offsetof(struct args, keyring),
		.arg = "FILE",
		.help = "keys that the archive is signed with"},
	{.lname = "prefix",
		.kind = OPT_PATH,
		.off = offsetof(struct args, prefix),
		.arg = "DIR",
		.help = "tree of the provider prefix, e.g. /opt/rocm"},
	{.lname = "refresh",
		.kind = OPT_BOOL,
		.off = offsetof(struct args, refresh),
		.help = "take the archive's present index"},
	{.kind = OPT_END},
};

static struct err *make_spec(const struct args *o, struct sdk_spec *ret)
{
	bool prefix = str_eq(o->provider, S("prefix"));
	if (o->provider.n && !prefix && !str_eq(o->provider, S("debian"))) {
		struct err *e = err_new(E_USAGE, "unknown provider '%.*s'", STR(o->provider));
		return err_hint(e, "known: debian, prefix");
	}
	if (prefix && !o->prefix.n)
		return err_new(E_USAGE, "the provider 'prefix' needs --prefix DIR");
	*ret = (struct sdk_spec){
		.provider = o->provider.n ? o->provider : S("debian"),
		.suite = o->suite,
		.components = o->components,
		.mirror = o->mirror,
		.keyring = o->keyring,
		.prefix = prefix ? o->prefix : S(""),
		.refresh = o->refresh,
	};
	return NULL;
}

static struct err *preview(struct arena *a, const struct args *o, const struct sdk_spec *spec)
{
	struct sdk_done d;
	struct strs packages = {0};
	TRY(sdk_preview(a, spec, &d, &packages));
	if (o->common.json) {
		show_preview_json(a, &d, &packages);
		return NULL;
	}
	if (d.nothing) {
		say_status(S("Unchanged"), "all is installed");
		return NULL;
	}
	for (size_t i = 0; i < packages.n; i++)
		out_fmt("%.*s\n", STR(packages.v[i]));
	struct str bytes = human_bytes(a, d.bytes);
	say_status(S("Would"), "fetch and unpack %zu packages, %.*s", packages.n, STR(bytes));
	return NULL;
}

static void tell(struct arena *a, const struct sdk *sdk, const struct sdk_done *d)
{
	for (size_t i = 0; i < sdk->notes.n; i++)
		say_status(S("Note"), "%.*s", STR(sdk->notes.v[i]));
	struct str bytes = human_bytes(a, sdk->bytes);
	if (d->nothing)
		say_status(S("Unchanged"), "%.*s", STR(sdk->name));
	else if (d->packages)
		say_status(S("Installed"), "%.*s: %llu packages, %.*s", STR(sdk->name),
			(unsigned long long)d->packages, STR(bytes));
	else
		say_status(S("Ready"), "%.*s", STR(sdk->name));
}

static struct err *run(struct arena *a, void *args, int *ret_status)
{
	struct args *o = args;
	struct sdk_spec spec;
	struct sdk sdk;
	struct sdk_done done;
	(void)ret_status;
	TRY(make_spec(o, &spec));
	if (o->common.dry_run)
		return preview(a, o, &spec);
	TRY(sdk_install_report(a, &spec, &sdk, &done));
	if (o->common.json)
		show_sdk_json(a, &sdk, NULL, &done);
	else
		tell(a, &sdk, &done);
	return NULL;
}

const struct command cmd_sdk_install = {
	.name = "sdk install",
	.summary = "install, complete or repair a ROCm SDK",
	.opts = opts,
	.size = sizeof(struct args),
	.needs = NEED_WRITE,
	.run = run,
};
