/* Facts of the files around a GPU: its link, its firmware and its name. */
#include "base/buf.h"
#include "unit/fixture_machine.h"

/* ---- GPUs ---- */
static void a_link_is_that_of_the_card(void **state)
{
	(void)state;
	static const struct {
		const char *now, *most, *files[MORE];
	} cases[] = {
		{"16.0 GT/s PCIe x16", "16.0 GT/s PCIe x16",
			{PCI "current_link_speed", "16.0 GT/s PCIe\n", PCI "current_link_width",
				"16\n", PCI "max_link_speed", "16.0 GT/s PCIe\n",
				PCI "max_link_width", "16\n"}},
		/* as Linux before 5.7 writes it */
		{"8 GT/s x4", "",
			{PCI "current_link_speed", "8 GT/s\n", PCI "current_link_width", "4\n"}},
		{"", "",
			{PCI "current_link_speed", "Unknown\n", PCI "current_link_width", "63\n",
				PCI "max_link_speed", "16.0 GT/s PCIe\n", PCI "max_link_width",
				"255\n"}},
		{"", "",
			{PCI "current_link_speed", "16.0 GT/s PCIe\n", PCI "current_link_width",
				"0\n"}},
		{"", "", {PCI "current_link_width", "16\n"}},
		{"", "",
			{PCI "power/runtime_status", "suspended\n", PCI "current_link_speed",
				"16.0 GT/s PCIe\n", PCI "current_link_width", "16\n"}},
		{"2.5 GT/s PCIe x1", "",
			{PCI "power/runtime_status", "active\n", PCI "current_link_speed",
				"2.5 GT/s PCIe\n", PCI "current_link_width", "1\n"}},
		/* only below the DRM node of its address; another card's comes first */
		{"5.0 GT/s PCIe x8", "",
			{"sys/class/drm/card0/device/uevent", "PCI_SLOT_NAME=0000:09:00.0\n",
				"sys/class/drm/card0/device/current_link_speed", "2.5 GT/s PCIe\n",
				"sys/class/drm/card0/device/current_link_width", "16\n",
				"sys/class/drm/card1-DP-1/device/uevent",
				"PCI_SLOT_NAME=0000:03:00.0\n", "sys/class/drm/card1/device/uevent",
				"PCI_SLOT_NAME=0000:03:00.0\n",
				"sys/class/drm/card1/device/current_link_speed", "5.0 GT/s PCIe\n",
				"sys/class/drm/card1/device/current_link_width", "8\n"}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		struct str dir = machine_of(&a, cases[i].files), copy;
		static const char *const gpu[] = {GPU("1"), NULL};
		put(&a, dir, gpu[0], gpu[1]);
		read_twice(&a, dir, &m, &copy);
		assert_int_equal(m.gpus.n, 1);
		assert_str(m.gpus.v[0].link, cases[i].now);
		assert_str(m.gpus.v[0].link_max, cases[i].most);
		done(dir, copy);
	}
}

/* Devices from the root port on, with their vendor, what they are at and what they can: the last one is the GPU. */
struct hop {
	const char *address, *vendor, *speed, *width, *most, *most_width;
};

static void put_chain(struct arena *a, struct str dir, const struct hop *hops)
{
	struct str place = S("sys/devices/pci0000:00");
	for (; hops->address; hops++) {
		place = str_fmt(a, "%.*s/%s", STR(place), hops->address);
		const char *const files[][2] = {{"vendor", hops->vendor},
			{"current_link_speed", hops->speed}, {"current_link_width", hops->width},
			{"max_link_speed", hops->most}, {"max_link_width", hops->most_width}};
		for (size_t i = 0; i < 5; i++)
			put(a, dir, str_fmt(a, "%.*s/%s", STR(place), files[i][0]).p, files[i][1]);
		link_to(a, dir, str_fmt(a, "sys/bus/pci/devices/%s", hops->address).p,
			str_fmt(a, "../../../%.*s", STR(str_sub(place, 4, place.n))).p);
	}
}

static void bridges_of_the_card_do_not_count(void **state)
{
	(void)state;
	static const struct {
		const char *now, *most;
		struct hop hops[6];
	} cases[] = {
		/* a slot of eight lanes, and a bridge of the card that is the narrow end */
		{"8.0 GT/s PCIe x8", "8.0 GT/s PCIe x8",
			{{"0000:00:01.1", "0x1022", "8.0 GT/s PCIe", "8", "8.0 GT/s PCIe", "8"},
				{"0000:01:00.0", "0x1002", "8.0 GT/s PCIe", "8", "16.0 GT/s PCIe",
					"16"},
				{"0000:02:00.0", "0x1002", "16.0 GT/s PCIe", "16", "16.0 GT/s PCIe",
					"16"},
				{"0000:03:00.0", "0x1002", "16.0 GT/s PCIe", "16", "16.0 GT/s PCIe",
					"16"}}},
		/* the slot can do more than the card */
		{"5.0 GT/s PCIe x1", "8.0 GT/s PCIe x4",
			{{"0000:00:01.1", "0x8086", "5.0 GT/s PCIe", "1", "32.0 GT/s PCIe", "16"},
				{"0000:03:00.0", "0x1002", "5.0 GT/s PCIe", "1", "8.0 GT/s PCIe",
					"4"}}},
		/* a switch of another maker in between is the other end */
		{"16.0 GT/s PCIe x16", "16.0 GT/s PCIe x16",
			{{"0000:00:01.1", "0x1022", "2.5 GT/s PCIe", "1", "2.5 GT/s PCIe", "1"},
				{"0000:01:00.0", "0x1000", "16.0 GT/s PCIe", "16", "Unknown", "0"},
				{"0000:03:00.0", "0x1002", "16.0 GT/s PCIe", "16", "16.0 GT/s PCIe",
					"16"}}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		static const char *const gpu[] = {GPU("1"), NULL};
		struct str dir = machine_of(&a, gpu), copy;
		put_chain(&a, dir, cases[i].hops);
		read_twice(&a, dir, &m, &copy);
		assert_str(m.gpus.v[0].link, cases[i].now);
		assert_str(m.gpus.v[0].link_max, cases[i].most);
		done(dir, copy);
	}
}

static void atomics_are_those_of_links_to_processors(void **state)
{
	(void)state;
	static const struct {
		bool lacks;
		const char *to, *flags;
	} cases[] = {{false, "0", "1"}, {true, "0", "13"}, {true, "0", "5"}, {true, "0", "9"},
		{false, "0", "2147483649"}, {false, "2", "13"}, {false, "1", "13"}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct machine m;
		struct str copy, text = str_fmt(&a, "type 2\nnode_from 1\nnode_to %s\nflags %s\n",
					 cases[i].to, cases[i].flags);
		const char *const files[] = {NODES "0/properties", "cpu_cores_count 8\n", GPU("1"),
			GPU("2"), NODES "1/io_links/0/properties", text.p, NULL};
		struct str dir = machine_of(&a, files);
		read_twice(&a, dir, &m, &copy);
		assert_int_equal(m.gpus.v[0].no_atomics, cases[i].lacks);
		assert_false(m.gpus.v[1].no_atomics);
		done(dir, copy);
	}
}

static void boards_tell_their_firmware_and_memory(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	static const char *const files[] = {GPU("1"), PCI "mem_info_gtt_total", "33285996544\n",
		PCI "vbios_version", "113-D70201-00\n", PCI "fw_version/smc_fw_version",
		"0x004e8200\n", PCI "fw_version/mes_fw_version", "0x0000007c\n",
		PCI "fw_version/vce_fw_version", "0x00000000\n", PCI "fw_version/README", "x\n",
		PCI "fw_version/me_fw_version", "", PCI "unique_id", "feedbeef\n", NULL};
	struct str dir = machine_of(&a, files), copy;
	read_twice(&a, dir, &m, &copy);
	assert_int_equal(m.gpus.v[0].gtt, 33285996544);
	assert_str(m.gpus.v[0].vbios, "113-D70201-00");
	assert_str(parts_text(&a, &m.gpus.v[0].firmware), "mes 0x0000007c, smc 0x004e8200, ");
	assert_false(fs_exists(path_join(&a, copy, S(PCI "unique_id"))));
	done(dir, copy);
}

static void a_board_has_the_name_that_libdrm_gives_it(void **state)
{
	(void)state;
	ARENA(a);
	struct machine m;
	static const char *const files[] = {GPU("1"), PCI "vendor", "0x1002\n", PCI "class",
		"0x030000\n", PCI "device", "0xabcd\n", PCI "revision", "0xc1\n",
		"sys/bus/pci/devices/0000:04:00.0/vendor", "0x1002\n",
		"sys/bus/pci/devices/0000:04:00.0/class", "0x038000\n",
		"sys/bus/pci/devices/0000:04:00.0/device", "0x9999\n",
		"opt/amdgpu/share/libdrm/amdgpu.ids",
		"ABCD,\tC0,\tAMD Radeon 1\nABCD,\tC1,\tAMD Radeon \x1b[1m2\n", NODES "1/name",
		"x\n", NULL};
	struct str dir = machine_of(&a, files), copy;
	read_twice(&a, dir, &m, &copy);
	assert_str(m.displays.v[0].product, "Radeon [1m2");
	assert_str(m.displays.v[0].revision, "0xc1");
	assert_str(m.displays.v[1].product, "GPU 1002:9999");
	assert_str(m.displays.v[1].revision, "");
	struct str ids;
	assert_ok(fs_read(
		&a, path_join(&a, copy, S("opt/amdgpu/share/libdrm/amdgpu.ids")), 999, &ids));
	assert_false(str_contains(ids, S("C0"))); /* only what concerns this machine */
	done(dir, copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_is_that_of_the_card),
		cmocka_unit_test(bridges_of_the_card_do_not_count),
		cmocka_unit_test(atomics_are_those_of_links_to_processors),
		cmocka_unit_test(boards_tell_their_firmware_and_memory),
		cmocka_unit_test(a_board_has_the_name_that_libdrm_gives_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
