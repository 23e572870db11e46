/* rocsmith sdk install: makes the spec from the command line, and installs or previews it. */
#include "base/fs.h"
#include "cli/opt.h"
#include "know/rule.h"
#include "sdk/sdk.h"
#include "term/out.h"
#include "wheel/rocm.h"

struct sdk_install_args {
	struct common common;
	struct sdk_spec spec;
	struct str file, wheels;
};
#define ARGS struct sdk_install_args

const struct opt cmd_sdk_install_opts[] = {
	{OPT_ARGUMENT("PROVIDER", OPT_POS, spec.provider,
		"debian, rocm:VERSION, tarball, artifacts or prefix")},
	{OPT_ARGUMENT("FILE", OPT_POS, file, "tarball: file or URL; artifacts: folder")},
	{OPT_VALUE("suite", OPT_STR, spec.suite, "SUITE",
		"Debian suite: sid, experimental or trixie; a tarball's name")},
	{OPT_VALUE("components", OPT_WORDS, spec.components, "LIST",
		"compiler, math, dnn, torch-build or library names")},
	{OPT_GPUS(spec.gpus, "GPUs that libraries need kernels for, or all")},
	{OPT_VALUE("mirror", OPT_STR, spec.mirror, "URL",
		 "Debian archive to use instead of this machine's"),
		.env = "ROCSMITH_MIRROR"},
	{OPT_VALUE("keyring", OPT_PATH, spec.keyring, "FILE",
		 "keyring that the archive's index is signed with"),
		.env = "ROCSMITH_KEYRING"},
	{OPT_VALUE("prefix", OPT_PATH, spec.prefix, "DIR",
		"tree of the provider prefix, e.g. /opt/rocm")},
	{OPT_VALUE("index-url", OPT_STR, spec.from, "URL",
		"rocm: simple index of wheels, instead of AMD's")},
	{OPT_VALUE("find-links", OPT_LIST, spec.links, "DIR",
		"rocm: folder or page of wheels instead")},
	{OPT_VALUE("sha256", OPT_STR, spec.sha256, "HASH", "tarball: its SHA-256")},
	{OPT_FLAG("no-verify", spec.unverified,
		"tarball: take it without a hash, which its receipt tells")},
	{OPT_VALUE("wheels-out", OPT_PATH, wheels, "DIR",
		"artifacts: also make ROCm's wheels, in this new folder")},
	{OPT_FLAG("refresh", spec.refresh, "fetch the archive's current index")},
	OPT_LAST,
};

struct preview {
	struct sdk_done done;
	struct strs packages, wheels; /* "NAME VERSION" */
};

static const struct json_field preview_fields[] = {
	FIELD_CONST("schema", "rocsmith.sdk-preview/1"),
	FIELD("nothing", struct preview, done.nothing),
	FIELD("packages", struct preview, packages),
	FIELD("bytes", struct preview, done.bytes),
	FIELD("wheels", struct preview, wheels),
	{.kind = FIELD_END},
};

static struct err *preview(struct arena *a, const struct sdk_install_args *o)
{
	struct preview p = {0};
	TRY(sdk_preview(a, &o->spec, &p.done, &p.packages));
	if (o->wheels.n)
		TRY(rocm_wheels_preview(a, &o->spec, &p.packages, &p.wheels));
	if (show_json(&o->common, preview_fields, &p))
		return NULL;
	out_lines("", &p.packages);
	out_lines("", &p.wheels);
	if (p.done.nothing)
		say_status(S("Unchanged"), "everything is installed already");
	else
		say_status(S("Would"), "fetch and unpack %.*s, %.*s",
			STR(human_count(a, p.packages.n, "package")),
			STR(human_bytes(a, p.done.bytes)));
	if (p.wheels.n)
		say_status(S("Would"), "make %.*s of ROCm in '%.*s'",
			STR(human_count(a, p.wheels.n, "wheel")), STR(o->wheels));
	return NULL;
}

/* therock-dist-linux-gfx94X-dcgpu-7.11.0.tar.gz is the SDK tarball-gfx94X-dcgpu-7.11.0; a folder NAME artifacts-NAME. */
static struct err *name_files(struct arena *a, struct sdk_spec *io)
{
	struct str name = path_base(io->from), mark = S("therock-dist-linux-"), end = S(".tar.gz");
	if (str_eq(io->provider, S("artifacts")) && !io->suite.n)
		io->suite = path_base(path_abs(a, io->from));
	if (!str_eq(io->provider, S("tarball")) || io->suite.n)
		return NULL;
	if (!io->from.n)
		return err_new(E_USAGE,
			"no tarball is named: rocsmith sdk install tarball FILE --sha256 HASH");
	if (!str_starts(name, mark) || !str_ends(name, end))
		return err_hint(err_new(E_USAGE,
					"'%.*s' is not named like "
					"therock-dist-linux-gfx94X-dcgpu-7.11.0.tar.gz",
					STR(name)),
			"--suite NAME names the SDK");
	io->suite = str_sub(name, mark.n, name.n - end.n);
	return NULL;
}

struct err *cmd_sdk_install(struct arena *a, void *args)
{
	struct sdk_install_args *o = args;
	struct sdk_spec *spec = &o->spec, named;
	struct sdk sdk;
	struct sdk_done done;
	struct err *e = sdk_spec_parse(a, spec->provider, &named);
	if (!e) { /* options override the parts of the SDK's name */
		spec->provider = named.provider;
		spec->suite = spec->suite.n ? spec->suite : named.suite;
		spec->prefix = spec->prefix.n ? spec->prefix : named.prefix;
	}
	err_free(e); /* it is the name of a provider, or a mistake that sdk_install() reports */
	spec->from = spec->from.n ? spec->from : o->file;
	TRY(name_files(a, spec));
	if (o->wheels.n)
		TRY(rocm_wheels_place(spec->provider, o->wheels));
	TRY(machine_native(a, S(""), &spec->gpus));
	if (o->common.dry_run)
		return preview(a, o);
	TRY(sdk_install(a, spec, &sdk, &done));
	TRY(sdk_count_downloads(a, &sdk));
	if (o->wheels.n)
		TRY(rocm_wheels_make(a, &sdk, o->wheels, &done.wheels));
	if (o->common.json) {
		out_text(sdk_json(a, &sdk, NULL, &done));
		return NULL;
	}
	for (size_t i = 0; i < sdk.notes.n; i++)
		say_status(S("Note"), "%.*s", STR(sdk.notes.v[i]));
	if (sdk.gpus.n)
		say_status(S("Note"), "kernels of other GPUs than %.*s are left out",
			STR(str_join(a, &sdk.gpus, S(", "))));
	if (done.nothing)
		say_status(S("Unchanged"), "%.*s", STR(sdk.name));
	else if (done.packages)
		say_status(S("Installed"), "%.*s: %.*s, %.*s", STR(sdk.name),
			STR(human_count(a, done.packages, "package")),
			STR(human_bytes(a, sdk.bytes)));
	else
		say_status(S("Ready"), "%.*s", STR(sdk.name));
	if (o->wheels.n)
		say_status(S("Made"), "%.*s of ROCm in '%.*s'",
			STR(human_count(a, done.wheels.n, "wheel")), STR(o->wheels));
	return NULL;
}
