/* Writes the provenance file beside a wheel: its inputs, recorded because only the wheel is passed on, not the build
 * folder. See build.h. */
#include "base/fs.h"
#include "base/hash.h"
#include "flow/build.h"
#include "wheel/wheel.h"

struct provenance_input {
	struct str file, sha256;
};

struct provenance {
	struct str file, sha256, rocm;
	uint64_t bytes;
	const struct sdk *sdk;
	const struct plan *plan;
	const struct source_tree *source;     /* or NULL */
	const struct foreign *foreign;        /* or NULL */
	const struct wheel_relocation *paths; /* or NULL */
	VEC(struct provenance_input) with;
};

static const struct json_field input_fields[] = FIELDS_ONLY(struct provenance_input, file, sha256);

static const struct json_field wheel_fields[] = FIELDS_ONLY(struct provenance, file, bytes, sha256);

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

static const struct json_field provenance_fields[] = {
	FIELD_CONST("schema", "rocsmith.wheel/1"),
	FIELD_CONST("rocsmith", ROCSMITH_VERSION),
	FIELD_PART("wheel", wheel_fields),
	FIELD_FROM(struct provenance, plan, plan_part),
	FIELD("rocm", struct provenance, rocm),
	FIELD_POINTER("sdk", struct provenance, sdk, sdk_fields),
	FIELD_POINTER("source", struct provenance, source, source_tree_fields),
	FIELD_LIST("with", struct provenance, with, input_fields),
	FIELD_FROM(struct provenance, foreign, foreign_fields),
	FIELD_FROM(struct provenance, paths, paths_fields),
	{.kind = FIELD_END},
};

struct str build_provenance_path(struct arena *a, struct str wheel)
{
	return str_fmt(a, "%.*s.json", STR(wheel));
}

struct err *build_provenance(struct arena *a, const struct plan *plan, const struct foreign *f,
	const struct wheel_relocation *paths, struct build_result *ret)
{
	struct source_tree source;
	struct provenance m = {.file = path_base(ret->wheel),
		.bytes = ret->wheel_size,
		.rocm = sdk_rocm(a, &ret->sdk),
		.sdk = &ret->sdk,
		.plan = plan,
		.foreign = f,
		.paths = paths};
	TRY(sha256_file(a, ret->wheel, &m.sha256));
	if (plan->foreign) { /* a local path or a mirror means nothing on another machine */
		source = plan->foreign->source;
		source.mirror = S("");
		if (!str_starts(source.from, S("debian:")) && !str_starts(source.from, S("sdist:")))
			source.from = S("");
		m.source = &source;
	}
	for (size_t i = 0; plan->foreign && i < plan->foreign->with.n; i++) {
		struct str wheel = plan->foreign->with.v[i];
		struct provenance_input *input = VEC_PUSH(a, &m.with);
		input->file = path_base(wheel);
		TRY(sha256_file(a, wheel, &input->sha256));
	}
	return fs_write(build_provenance_path(a, ret->wheel),
		json_document(a, 2, provenance_fields, &m), 0644);
}
