/* Texts of the kernel and of configuration files: each input goes through all parsers of
 * machine/parse.h and target/target.h, and what they return must keep its promises. */
#include <stdlib.h>

#include "machine/parse.h"
#include "machine/python.h"
#include "machine/root.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void topology(struct arena *a, struct str text)
{
	kfd_bank_size(text);
	struct str address = kfd_pci_address(a, text);
	check(!address.n || str_contains(address, S(":")));
	uint64_t version = kfd_number(text, S("gfx_target_version"));
	struct str name = target_from_kfd(a, (uint32_t)version);
	check(!name.n || str_starts(name, S("gfx")));
}

static void system_files(struct arena *a, struct str text)
{
	struct machine m = {0};
	struct str value = parse_os_release(a, text, S("PRETTY_NAME"));
	check(value.n <= text.n);
	parse_identity(a, text, &m);
	check(m.gids.n <= text.n);
	for (size_t i = 0; i < m.gids.n && i < 8; i++)
		check(parse_passwd(text, m.gids.v[i], PASSWD_NAME).n <= text.n);
	check(parse_cpu_list(text) <= 1 << 20);
	line_number(text, ':', S("MemTotal"));
	check(parse_passwd(text, 1000, PASSWD_HOME).n <= text.n);
	/* what a recording says can be recorded again */
	const struct root r = {.user = S("alice"), .home = S("home/user")};
	struct str hidden = root_hide(&r, a, text, true);
	check(str_eq(root_hide(&r, a, hidden, true), hidden));
	check(!str_contains(hidden, S("/home/alice")) && !str_contains(hidden, S("/alice/")));
	struct str shown = clean_text(a, text);
	for (size_t i = 0; i < shown.n; i++)
		check((unsigned char)shown.p[i] >= ' ' && shown.p[i] != 0x7f);
}

static void driver_files(struct arena *a, struct str text)
{
	parse_modprobe(text, S("amdgpu"));
	struct strs words = parse_cmdline(a, text);
	cmdline_blocks(&words, S("amdgpu"));
	check(words.n <= text.n);
	parse_cgroup(text);
	parse_environ(text, S("container"));
	parse_version_header(a, text, "ROCM_VERSION_");
}

static void libraries(struct arena *a, struct str text)
{
	struct library l;
	if (!library_parse(a, text, &l))
		return;
	check(l.needed.n <= text.n && l.targets.n <= text.n && l.bundles <= 5);
	for (size_t i = 0; i < l.targets.n; i++)
		check(l.targets.v[i].n && str_chr(l.targets.v[i], ' ') == l.targets.v[i].n);
	for (size_t i = 0; i < l.runpath.n; i++)
		check((unsigned char)l.runpath.p[i] >= ' ');
}

static void targets(struct arena *a, struct str text)
{
	struct target t = target_read(text);
	struct str written = target_text(a, &t);
	struct target again = target_read(written);
	check(str_eq(t.name, again.name) && t.xnack == again.xnack && t.sramecc == again.sramecc);
	struct targets strict;
	struct strs words = {.v = &text, .n = 1};
	struct err *e = targets_parse(a, &words, &strict);
	check(e || strict.v[0].gpu);
	if (!e && t.gpu)
		check(target_covers(&strict.v[0], &t));
	err_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct str text = {.p = (const char *)data, .n = size};
	topology(&a, text);
	system_files(&a, text);
	driver_files(&a, text);
	libraries(&a, text);
	if (size <= 256)
		targets(&a, text);
	return 0;
}
