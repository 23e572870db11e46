/* The facts as JSON, documented in rocsmith-doctor(1). PCI ids are hexadecimal text as in sysfs. */
#include "machine/machine.h"

static void write_identity(struct json *j, const void *machine)
{
	static const struct json_field fields[] = {
		FIELD("uid", struct machine, uid),
		FIELD("gid", struct machine, gid),
		FIELDS(struct machine, groups, account_groups, seccomp),
		{.kind = FIELD_END},
	};
	const struct machine *m = machine;
	if (m->has_identity)
		json_struct(j, fields, m);
	else
		json_nothing(j);
}

static const struct json_field unknown_fields[] =
	FIELDS_ONLY(struct machine_unknown, name, nearest);

static const struct json_field driver_fields[] = {
	FIELD_CONST("name", "amdgpu"),
	FIELDS(struct machine_driver, loaded, state, version, blacklisted, blacklisted_by,
		secure_boot),
	FIELDS(struct machine_driver, ttm, options, dkms, dkms_log),
	FIELD_LAST(FIELD_LIST("unknown", struct machine_driver, unknown, unknown_fields)),
};

static const struct json_field part_fields[] = FIELDS_ONLY(struct machine_part, name, version);

static void write_generic(struct json *j, const void *gpu)
{
	const struct gpu *known = gpu_by_name(((const struct machine_gpu *)gpu)->target);
	json_str(j, str_from(known ? known->generic : NULL));
}

static void write_products(struct json *j, const void *gpu)
{
	const struct gpu *known = gpu_by_name(((const struct machine_gpu *)gpu)->target);
	ARENA(tmp);
	json_str(j, known ? gpu_products(&tmp, known) : S(""));
}

static void write_known(struct json *j, const void *gpu)
{
	json_bool(j, gpu_by_name(((const struct machine_gpu *)gpu)->target) != NULL);
}

static const struct json_field gpu_fields[] = {
	FIELDS(struct machine_gpu, node, index, target),
	FIELD_WRITE("known", write_known),
	FIELD_WRITE("generic", write_generic),
	FIELDS(struct machine_gpu, name, product),
	FIELD_WRITE("products", write_products),
	FIELD_NUMBER_HEX("vendor", struct machine_gpu, vendor, 4),
	FIELD_NUMBER_HEX("device", struct machine_gpu, device, 4),
	FIELD("revision", struct machine_gpu, revision),
	FIELDS(struct machine_gpu, pci, render, vram, gtt, carve_out, compute_units, wave_size, apu,
		no_atomics, link, link_max),
	FIELDS(struct machine_gpu, link_card, vbios, override, override_target),
	FIELD_LAST(FIELD_LIST("firmware", struct machine_gpu, firmware, part_fields)),
};

static const struct json_field display_fields[] = {
	FIELD("pci", struct machine_display, pci),
	FIELD_NUMBER_HEX("vendor", struct machine_display, vendor, 4),
	FIELD_NUMBER_HEX("device", struct machine_display, device, 4),
	FIELD_NUMBER_HEX("class", struct machine_display, class, 6),
	FIELD_LAST(FIELDS(struct machine_display, revision, product, driver)),
};

static void write_mode(struct json *j, const void *node)
{
	ARENA(tmp);
	json_str(j, str_fmt(&tmp, "%04o", ((const struct machine_node *)node)->mode));
}

static const struct json_field node_fields[] = {
	FIELD("path", struct machine_node, path),
	FIELD_WRITE("mode", write_mode),
	FIELD_LAST(FIELDS(struct machine_node, uid, gid, group, usable, acl)),
};

static const struct json_field sdk_fields[] = {
	FIELDS(struct machine_sdk, path, version, kind, rocblas, slim, slim_gpus),
	FIELD_LAST(FIELD_LIST("components", struct machine_sdk, components, part_fields)),
};

static const struct json_field disk_fields[] =
	FIELDS_ONLY(struct machine_disk, use, path, size, free);
static const struct json_field variable_fields[] =
	FIELDS_ONLY(struct machine_variable, name, value, effect);
static const struct json_field package_fields[] =
	FIELDS_ONLY(struct machine_package, name, version, path, unmet);

static const struct json_field extension_fields[] =
	FIELDS_ONLY(struct machine_extension, name, path, build, missing);

static const struct json_field torch_fields[] = {
	FIELDS(struct machine_torch, path, version, build, hip, rocm, bundled, bundled_hsa, slim,
		split, targets),
	FIELD_LAST(FIELDS(struct machine_torch, rocblas, hipblaslt, miopen, shadowed, needed,
		missing, unloaded, runpath)),
};

static void write_torch(struct json *j, const void *python)
{
	const struct machine_python *p = python;
	if (p->has_torch)
		json_struct(j, torch_fields, &p->torch);
	else
		json_nothing(j);
}

static const struct json_field python_fields[] = {
	FIELDS(struct machine_python, path, kind, version, active, rocm_devel),
	FIELD_WRITE("torch", write_torch),
	FIELD_LIST("extensions", struct machine_python, extensions, extension_fields),
	FIELD_LAST(FIELD_LIST("packages", struct machine_python, packages, package_fields)),
};

static void write_place(struct json *j, const void *machine)
{
	const struct machine *m = machine;
	json_str(j, m->container ? S("container")
		    : m->virtual ? S("virtual machine")
				 : S("computer"));
}

const struct json_field machine_fields[] = {
	FIELDS(struct machine, kernel, arch, distro, distro_id, distro_version, cpu, cpus, memory,
		memory_free, swap, wsl, virtual),
	FIELDS(struct machine, gtt_limit, pressure, iommu, selinux),
	FIELDS(struct machine, container, container_kind, parameters),
	FIELD_WRITE("place", write_place),
	FIELD("dxg", struct machine, has_dxg),
	FIELD_WRITE("identity", write_identity),
	FIELD_STRUCT("driver", struct machine, driver, driver_fields),
	FIELD("kfd", struct machine, has_kfd),
	FIELD("hidden_gpus", struct machine, hidden),
	FIELD_LIST("gpus", struct machine, gpus, gpu_fields),
	FIELD_LIST("displays", struct machine, displays, display_fields),
	FIELDS(struct machine, nvidia),
	FIELD_LIST("nodes", struct machine, nodes, node_fields),
	FIELD_LIST("sdks", struct machine, sdks, sdk_fields),
	FIELD_LIST("disks", struct machine, disks, disk_fields),
	FIELD_LIST("variables", struct machine, variables, variable_fields),
	FIELD_LAST(FIELD_LIST("pythons", struct machine, pythons, python_fields)),
};
