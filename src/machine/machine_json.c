/* The facts as JSON; documented in rocsmith-doctor(1). Numbers of PCI are hex text as in sysfs. */
#include "machine/machine.h"

static void write_identity(struct json *j, const void *machine)
{
	static const struct json_field fields[] = {
		FIELD("uid", struct machine, uid),
		FIELD("gid", struct machine, gid),
		FIELD("groups", struct machine, groups),
		{.kind = FIELD_END},
	};
	const struct machine *m = machine;
	if (m->has_identity)
		json_object(j, fields, m);
	else
		json_null(j);
}

static const struct json_field driver_fields[] = {
	FIELD_CONST("name", "amdgpu"),
	FIELD("loaded", struct machine_driver, loaded),
	FIELD("state", struct machine_driver, state),
	FIELD("version", struct machine_driver, version),
	FIELD("blacklisted", struct machine_driver, blacklisted),
	FIELD("blacklisted_by", struct machine_driver, blacklisted_by),
	{.kind = FIELD_END},
};

static void write_generic(struct json *j, const void *gpu)
{
	const struct gpu *known = gpu_by_name(((const struct machine_gpu *)gpu)->target);
	json_str(j, str_from(known ? known->generic : NULL));
}

static void write_products(struct json *j, const void *gpu)
{
	const struct gpu *known = gpu_by_name(((const struct machine_gpu *)gpu)->target);
	json_str(j, str_from(known ? known->products : NULL));
}

static const struct json_field gpu_fields[] = {
	FIELD("node", struct machine_gpu, node),
	FIELD("target", struct machine_gpu, target),
	FIELD_WRITE("generic", write_generic),
	FIELD("name", struct machine_gpu, name),
	FIELD_WRITE("products", write_products),
	FIELD_NUMBER_HEX("vendor", struct machine_gpu, vendor, 4),
	FIELD_NUMBER_HEX("device", struct machine_gpu, device, 4),
	FIELD("pci", struct machine_gpu, pci),
	FIELD("render", struct machine_gpu, render),
	FIELD("vram", struct machine_gpu, vram),
	FIELD("compute_units", struct machine_gpu, compute_units),
	FIELD("wave_size", struct machine_gpu, wave_size),
	FIELD("apu", struct machine_gpu, apu),
	{.kind = FIELD_END},
};

static const struct json_field display_fields[] = {
	FIELD("pci", struct machine_display, pci),
	FIELD_NUMBER_HEX("vendor", struct machine_display, vendor, 4),
	FIELD_NUMBER_HEX("device", struct machine_display, device, 4),
	FIELD_NUMBER_HEX("class", struct machine_display, class, 6),
	FIELD("driver", struct machine_display, driver),
	{.kind = FIELD_END},
};

static void write_mode(struct json *j, const void *node)
{
	ARENA(tmp);
	json_str(j, str_fmt(&tmp, "%04o", ((const struct machine_node *)node)->mode));
}

static const struct json_field node_fields[] = {
	FIELD("path", struct machine_node, path),
	FIELD_WRITE("mode", write_mode),
	FIELD("uid", struct machine_node, uid),
	FIELD("gid", struct machine_node, gid),
	FIELD("group", struct machine_node, group),
	FIELD("usable", struct machine_node, usable),
	FIELD("acl", struct machine_node, acl),
	{.kind = FIELD_END},
};

static const struct json_field sdk_fields[] = {
	FIELD("path", struct machine_sdk, path),
	FIELD("version", struct machine_sdk, version),
	{.kind = FIELD_END},
};

const struct json_field machine_fields[] = {
	FIELD("kernel", struct machine, kernel),
	FIELD("arch", struct machine, arch),
	FIELD("distro", struct machine, distro),
	FIELD("distro_id", struct machine, distro_id),
	FIELD("distro_version", struct machine, distro_version),
	FIELD("cpu", struct machine, cpu),
	FIELD("cpus", struct machine, cpus),
	FIELD("memory", struct machine, memory),
	FIELD("memory_free", struct machine, memory_free),
	FIELD("swap", struct machine, swap),
	FIELD("wsl", struct machine, wsl),
	FIELD("virtual", struct machine, virtual),
	FIELD("container", struct machine, container),
	FIELD("container_kind", struct machine, container_kind),
	FIELD("parameters", struct machine, parameters),
	FIELD_WRITE("identity", write_identity),
	FIELD_STRUCT("driver", struct machine, driver, driver_fields),
	FIELD("kfd", struct machine, has_kfd),
	FIELD("hidden_gpus", struct machine, hidden),
	FIELD_LIST("gpus", struct machine, gpus, gpu_fields),
	FIELD_LIST("displays", struct machine, displays, display_fields),
	FIELD_LIST("nodes", struct machine, nodes, node_fields),
	FIELD_LIST("sdks", struct machine, sdks, sdk_fields),
	{.kind = FIELD_END},
};

const struct json_field machine_report_fields[] = {
	FIELD_CONST("schema", "rocsmith.doctor/1"),
	FIELD_PART("facts", machine_fields),
	FIELD_LIST("findings", struct machine, findings, finding_fields),
	{.kind = FIELD_END},
};
