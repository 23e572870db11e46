/* The JSON form of an SDK; see rocsmith-sdk(1). */
#include "sdk/provider.h"

struct sdk_shown {
	const struct sdk *sdk;
	const struct sdk_targets *targets;
	const struct sdk_done *done;
};

static const char *const runners[] = {
	[SDK_DIRECT] = "direct",
	[SDK_BWRAP] = "bwrap",
	[SDK_BWRAP_NET] = "bwrap with network",
	[SDK_CHROOT] = "chroot",
	[SDK_NORUN] = "none",
	NULL,
};

const struct json_field sdk_component_fields[] = FIELDS_ONLY(struct sdk_component, name, version);

static const struct json_field path_fields[] = {
	FIELDS(struct sdk, root, clang, device_libs),
	FIELD("hip", struct sdk, hip_path),
	FIELD("include", struct sdk, include),
	FIELD("lib", struct sdk, lib_dirs),
	{.kind = FIELD_END},
};

static const struct json_field sdk_fields[] = {
	FIELDS(struct sdk, name, provider, suite),
	FIELD("components", struct sdk, requested),
	FIELDS(struct sdk, gpus, index_date, notes, packages, bytes, downloads, fingerprint),
	FIELD_ENUM("runs_by", struct sdk, runner, runners),
	FIELD_MAP("versions", struct sdk, components, sdk_component_fields),
	FIELD_PART("paths", path_fields),
	FIELD("clang_flags", struct sdk, clang_flags),
	{.kind = FIELD_END},
};

const struct json_field sdk_target_fields[] = {
	FIELD("target", struct sdk_target, name),
	FIELD("compiles", struct sdk_target, compiles),
	FIELD_OPTIONAL("why", struct sdk_target, why),
	{.kind = FIELD_END},
};

static const struct json_field targets_fields[] = {
	FIELD_LIST("targets", struct sdk_targets, list, sdk_target_fields),
	{.kind = FIELD_END},
};

static const struct json_field done_fields[] =
	FIELDS_ONLY(struct sdk_done, nothing, packages, bytes, repaired, wheels);

static const struct json_field shown_fields[] = {
	FIELD_CONST("schema", "rocsmith.sdk-info/1"),
	FIELD_FROM(struct sdk_shown, sdk, sdk_fields),
	FIELD_FROM(struct sdk_shown, targets, targets_fields),
	FIELD_POINTER("done", struct sdk_shown, done, done_fields),
	{.kind = FIELD_END},
};

struct str sdk_json(struct arena *a, const struct sdk *sdk, const struct sdk_targets *targets,
	const struct sdk_done *done)
{
	struct sdk_shown s = {.sdk = sdk, .targets = targets, .done = done};
	return json_document(a, 2, shown_fields, &s);
}
