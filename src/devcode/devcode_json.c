/* The JSON of `rocsmith inspect`: schema rocsmith.inspect/1, which other programs rely on. */
#include "devcode/kernels.h"

static const char *const encodings[] = {
	[DEVCODE_RAW] = "raw",
	[DEVCODE_CCOB1] = "ccob1",
	[DEVCODE_CCOB2] = "ccob2",
	[DEVCODE_CCOB3] = "ccob3",
	[DEVCODE_OBJECT] = "object",
	[DEVCODE_AKS2] = "aks2",
	[DEVCODE_KPACK] = "kpack",
	[DEVCODE_OFFLOAD] = "offload",
	[DEVCODE_UNLINKED] = "unlinked",
	NULL,
};

const char *devcode_encoding_name(enum devcode_encoding e)
{
	return encodings[e];
}

const struct json_field code_kernel_fields[] = {
	FIELD("name", struct code_kernel, name),
	FIELD_OPTIONAL("demangled", struct code_kernel, demangled),
	FIELDS(struct code_kernel, size, vgprs, agprs, sgprs, vgpr_spills, sgpr_spills, lds,
		scratch),
	FIELD_OPTIONAL("waves", struct code_kernel, waves),
	FIELD_LAST(FIELD("wave", struct code_kernel, wave)),
};

static const struct json_field object_fields[] = {
	FIELDS(struct code_object, target, bundle),
	FIELD_ENUM("encoding", struct code_object, encoding, encodings),
	FIELDS(struct code_object, size, stored),
	FIELD_OPTIONAL("kernels", struct code_object, kernels),
	FIELD_OPTIONAL("debug", struct code_object, debug),
	FIELD_OPTIONAL("alone", struct code_object, alone),
	FIELD_OPTIONAL("sha256", struct code_object, sha256),
	FIELD_LAST(FIELD_LIST_OPTIONAL(
		"resources", struct code_object, resources, code_kernel_fields)),
};

static const struct json_field file_fields[] = {
	FIELDS(struct devcode_file, path, format, size),
	FIELD_LIST("objects", struct devcode_file, objects, object_fields),
	FIELD_LAST(FIELD("served", struct devcode_file, served)),
};

static const struct json_field part_fields[] =
	FIELDS_ONLY(struct devcode_part, target, files, size, stored);

static const struct json_field set_fields[] = {
	FIELDS(struct devcode_set, kind, path),
	FIELD_LAST(FIELD_LIST("targets", struct devcode_set, parts, part_fields)),
};

static const struct json_field sum_fields[] = {
	FIELDS(struct devcode_sum, target, objects, size, stored),
	FIELD_OPTIONAL("kernels", struct devcode_sum, kernels),
	FIELD_LAST(FIELD_OPTIONAL("debug", struct devcode_sum, debug)),
};

const struct json_field devcode_fields[] = {
	FIELD_CONST("schema", "rocsmith.inspect/1"),
	FIELD("path", struct devcode, path),
	FIELD_LIST("files", struct devcode, files, file_fields),
	FIELD("served", struct devcode, served),
	FIELD("served_by_some", struct devcode, some),
	FIELD_LIST("targets", struct devcode, sums, sum_fields),
	FIELD_LIST_OPTIONAL("sets", struct devcode, sets, set_fields),
	FIELD_LAST(FIELD_LIST("findings", struct devcode, findings, finding_fields)),
};
