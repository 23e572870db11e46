/* The manifest beside a wheel: what it was made of, for whoever gets the wheel and not the build folder.
 * See build.h. */
#include "base/fs.h"
#include "base/hash.h"
#include "flow/build.h"
#include "wheel/wheel.h"

struct input {
	struct str file, sha256;
};

struct manifest {
	struct str file, sha256, rocm;
	uint64_t bytes;
	const struct sdk *sdk;
	const struct plan *plan;
	const struct source_tree *source;     /* or NULL */
	const struct foreign *foreign;        /* or NULL */
	const struct wheel_relocation *paths; /* or NULL */
	VEC(struct input) with;
};

static const struct json_field input_fields[] = FIELDS_ONLY(struct input, file, sha256);

static const struct json_field wheel_fields[] = FIELDS_ONLY(struct manifest, file, bytes, sha256);

static const struct json_field plan_part[] = {
	FIELDS(struct plan, name, version, gpus),
	FIELD("python", struct plan, host.python_version),
	FIELD_LIST("features", struct plan, features, plan_feature_fields),
	{.kind = FIELD_END},
};

static const struct json_field sdk_fields[] = {
	FIELDS(struct sdk, provider, suite, index_date, fingerprint),
	FIELD_MAP("components", struct sdk, components, sdk_component_fields),
	{.kind = FIELD_END},
};

static const struct json_field foreign_fields[] = {
	FIELD("recipes", struct foreign, patched),
	FIELD_LIST("packages", struct foreign, packages, build_package_fields),
	{.kind = FIELD_END},
};

static const struct json_field path_fields[] = FIELDS_ONLY(struct wheel_path, file, path);

static const struct json_field paths_fields[] = {
	FIELD_LIST("paths", struct wheel_relocation, changed, path_fields),
	{.kind = FIELD_END},
};

static const struct json_field manifest_fields[] = {
	FIELD_CONST("schema", "rocsmith.wheel/1"),
	FIELD_CONST("rocsmith", ROCSMITH_VERSION),
	FIELD_PART("wheel", wheel_fields),
	FIELD_FROM(struct manifest, plan, plan_part),
	FIELD("rocm", struct manifest, rocm),
	FIELD_POINTER("sdk", struct manifest, sdk, sdk_fields),
	FIELD_POINTER("source", struct manifest, source, source_tree_fields),
	FIELD_LIST("with", struct manifest, with, input_fields),
	FIELD_FROM(struct manifest, foreign, foreign_fields),
	FIELD_FROM(struct manifest, paths, paths_fields),
	{.kind = FIELD_END},
};

struct str build_manifest_path(struct arena *a, struct str wheel)
{
	return str_fmt(a, "%.*s.json", STR(wheel));
}

/* Where an archive lies here, and whose mirror it came from, is nobody's business. */
static const struct source_tree *public_source(struct arena *a, const struct plan_foreign *how)
{
	struct source_tree *tree = NEW(a, struct source_tree);
	*tree = how->source;
	tree->mirror = S("");
	if (!str_starts(tree->from, S("debian:")) && !str_starts(tree->from, S("sdist:")))
		tree->from = S("");
	return tree;
}

struct err *build_manifest(struct arena *a, const struct plan *plan, const struct foreign *f,
	const struct wheel_relocation *paths, struct build_result *ret)
{
	struct digest d;
	struct manifest m = {.file = path_base(ret->wheel),
		.bytes = ret->wheel_size,
		.rocm = sdk_rocm(a, &ret->sdk),
		.sdk = &ret->sdk,
		.plan = plan,
		.source = plan->foreign ? public_source(a, plan->foreign) : NULL,
		.foreign = f,
		.paths = paths};
	TRY(hash_file(HASH_SHA256, ret->wheel, &d));
	m.sha256 = digest_hex(a, &d);
	for (size_t i = 0; plan->foreign && i < plan->foreign->with.n; i++) {
		struct str wheel = plan->foreign->with.v[i];
		TRY(hash_file(HASH_SHA256, wheel, &d));
		*VEC_PUSH(a, &m.with) = (struct input){path_base(wheel), digest_hex(a, &d)};
	}
	return fs_write(
		build_manifest_path(a, ret->wheel), json_document(a, 2, manifest_fields, &m), 0644);
}
