/* Kernel, distribution, CPU and memory, and the container, WSL or virtual machine that contains them. */
#include <sys/utsname.h>
#include <unistd.h>

#include "machine/facts.h"

enum { CPUINFO_HEAD = 8192, MAX_GROUPS = 32 };

/* /proc/meminfo counts in KiB. */
static uint64_t kib(struct str text, struct str key)
{
	uint64_t n = line_number(text, ':', key);
	return n > INT64_MAX / 1024 ? INT64_MAX : n * 1024;
}

/* ---- control groups ---- */

struct cgroup_files {
	const char *top, *limit, *soft, *used, *inactive, *active;
};

struct cgroup {
	struct str dir;
	const struct cgroup_files *files;
};

/* Lists our control group and its ancestors. A line of proc/self/cgroup is "NUMBER:CONTROLLERS:PATH"; a line without
 * controllers belongs to version 2 (cgroups(7)). */
static size_t our_groups(struct root *r, struct cgroup ret[MAX_GROUPS])
{
	static const struct cgroup_files v1 = {"sys/fs/cgroup/memory", "memory.limit_in_bytes",
		"memory.soft_limit_none", "memory.usage_in_bytes", "total_inactive_file",
		"total_active_file"};
	static const struct cgroup_files v2 = {"sys/fs/cgroup", "memory.max", "memory.high",
		"memory.current", "inactive_file", "active_file"};
	struct str text, line, number, rest, controllers, path;
	size_t n = 0;
	root_read(r, S("proc/self/cgroup"), &text);
	while (str_next(&text, '\n', &line)) {
		if (!str_cut(line, ':', &number, &rest) || !str_cut(rest, ':', &controllers, &path))
			continue;
		struct strs list = str_split(r->a, controllers, ',');
		if (list.n && !strs_has(&list, S("memory")))
			continue;
		const struct cgroup_files *files = list.n ? &v1 : &v2;
		for (bool top = false; !top && n < MAX_GROUPS; path = path_dir(path)) {
			top = path.n <= 1;
			ret[n++] = (struct cgroup){
				str_fmt(r->a, "%s%.*s", files->top, STR(top ? S("") : path)),
				files};
		}
	}
	return n;
}

static struct str group_text(struct root *r, const struct cgroup *g, const char *name)
{
	struct str text;
	root_read(r, str_fmt(r->a, "%.*s/%s", STR(g->dir), name), &text);
	return str_trim(text);
}

/* The bytes that the group can still allocate: its limit minus its use. The kernel can reclaim the page cache, active or not, so it does
 * not count as used: MemAvailable leaves out no more of it than a watermark, of which groups have none. UINT64_MAX without a limit. */
static uint64_t group_room(struct root *r, const struct cgroup *g)
{
	uint64_t most = UINT64_MAX, soft, now = 0;
	bool hard = str_u64(group_text(r, g, g->files->limit), 10, &most);
	if (str_u64(group_text(r, g, g->files->soft), 10, &soft) && (!hard || soft < most))
		most = soft;
	else if (!hard)
		return UINT64_MAX;
	struct str stat = group_text(r, g, "memory.stat");
	str_u64(group_text(r, g, g->files->used), 10, &now);
	uint64_t idle = line_number(stat, ' ', str_from(g->files->inactive)) +
			line_number(stat, ' ', str_from(g->files->active));
	now -= idle < now ? idle : now;
	return now < most ? most - now : 0;
}

/* The number after "avg10=" in the line "full" (Linux Documentation/accounting/psi.rst). */
static double full_pressure(struct str text)
{
	struct str line, mark = S("avg10=");
	ARENA(tmp);
	while (str_next(&text, '\n', &line)) {
		struct str rest = str_sub(line, str_find(line, mark) + mark.n, line.n);
		if (str_starts(line, S("full ")) && rest.n)
			return strtod(str_z(&tmp, str_sub(rest, 0, 15)), NULL);
	}
	return 0;
}

/* The worst pressure of the system and our control groups. It is recorded as one file, without the names of the
 * groups. */
static double memory_pressure(struct root *r)
{
	struct cgroup all[MAX_GROUPS];
	size_t n = our_groups(r, all);
	struct str text, path = S("proc/pressure/memory");
	bool known = root_read(r, path, &text) == ROOT_OK;
	double worst = full_pressure(text);
	for (size_t i = 0; i < n; i++) {
		double group = full_pressure(group_text(r, &all[i], "memory.pressure"));
		worst = group > worst ? group : worst;
	}
	if (known || worst > 0)
		root_note(r, path, str_fmt(r->a, "full avg10=%.2f\n", worst));
	return worst;
}

uint64_t machine_memory_free(struct str root)
{
	ARENA(tmp);
	struct root here = {.a = &tmp, .dir = root};
	struct str memory;
	if (root.n)
		err_free(root_open(&here));
	root_read(&here, S("proc/meminfo"), &memory);
	struct cgroup all[MAX_GROUPS];
	size_t n = our_groups(&here, all);
	uint64_t least = kib(memory, S("MemAvailable"));
	for (size_t i = 0; i < n; i++) {
		uint64_t room = group_room(&here, &all[i]);
		least = room < least ? room : least;
	}
	return least;
}

uint64_t machine_memory_room(struct str root)
{
	const double too_much = 10; /* percent of the last 10 s in which all tasks stalled */
	ARENA(tmp);
	struct root here = {.a = &tmp, .dir = root};
	if (root.n)
		err_free(root_open(&here));
	return memory_pressure(&here) <= too_much ? machine_memory_free(root) : 0;
}

/* Bytes of RAM that GPUs may map: the pages_limit of Linux drivers/gpu/drm/ttm (in pages; AMD's out-of-tree driver has
 * a ttm of its own), or the amdgpu_gtt_size of amdgpu_ttm_init() if that is less (in MiB; -1 = no further limit). A
 * sysroot does not show its page size, so 4096 is assumed. */
static uint64_t gtt_limit(struct root *r)
{
	const uint64_t page = r->dir.n ? 4096 : (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t n = root_number(r, S("sys/module/amdttm/parameters/pages_limit"));
	if (!n)
		n = root_number(r, S("sys/module/ttm/parameters/pages_limit"));
	n = n < UINT64_MAX / page ? n * page : 0;
	uint64_t mib = root_number(r, S("sys/module/amdgpu/parameters/gttsize"));
	bool less = mib && mib < UINT32_MAX && (!n || mib << 20 < n);
	return less ? mib << 20 : n;
}

/* ---- the parts of machine_read() ---- */

void gather_system(struct root *r, struct machine *m)
{
	struct utsname uts;
	struct str text, line;
	m->kernel = root_line(r, S("proc/sys/kernel/osrelease"));
	if (!m->kernel.n && root_read(r, S("proc/version"), &text) == ROOT_OK)
		m->kernel = clean_text(r->a, parse_kernel_version(text));
	m->has_dxg = root_has_file(r, S("dev/dxg"));
	m->selinux = root_line(r, S("sys/fs/selinux/enforce")).n > 0;
	m->wsl = m->has_dxg || str_contains(str_lower(r->a, m->kernel), S("microsoft"));

	if (root_read(r, S("etc/os-release"), &text) != ROOT_OK)
		root_read(r, S("usr/lib/os-release"), &text);
	m->distro = clean_text(r->a, parse_os_release(r->a, text, S("PRETTY_NAME")));
	m->distro_id = clean_text(r->a, parse_os_release(r->a, text, S("ID")));
	m->distro_version = clean_text(r->a, parse_os_release(r->a, text, S("VERSION_ID")));

	struct str online = root_line(r, S("sys/devices/system/cpu/online"));
	root_head(r, S("proc/cpuinfo"), online.n ? CPUINFO_HEAD : 0, &text);
	m->cpu = clean_text(r->a, line_value(text, ':', S("model name")));
	m->virtual = parse_hypervisor(text);
	/* Linux before 6.1 has no proc/sys/kernel/arch. */
	struct str vendor = line_value(text, ':', S("vendor_id"));
	m->arch = root_line(r, S("proc/sys/kernel/arch"));
	if (!m->arch.n && (str_eq(vendor, S("GenuineIntel")) || str_eq(vendor, S("AuthenticAMD"))))
		m->arch = S("x86_64");
	if (!m->arch.n && line_value(text, ':', S("CPU implementer")).n)
		m->arch = S("aarch64");
	if (!m->arch.n && !r->dir.n && uname(&uts) == 0)
		m->arch = str_dup(r->a, str_from(uts.machine));
	m->cpus = parse_cpu_list(online);
	while (!online.n && str_next(&text, '\n', &line))
		m->cpus += str_starts(line, S("processor"));

	enum root_status s = root_read(r, S("proc/meminfo"), &text);
	if (s != ROOT_OK && s != ROOT_ABSENT)
		note_unreadable(r->a, m, S("proc/meminfo"), s);
	m->memory = kib(text, S("MemTotal"));
	m->memory_free = kib(text, S("MemAvailable"));
	m->swap = kib(text, S("SwapTotal"));
	m->gtt_limit = bounded(gtt_limit(r));
	m->pressure = memory_pressure(r);
}

void gather_container(struct root *r, struct machine *m)
{
	struct str text, kind = S("");
	if (root_has_file(r, S("run/.containerenv"))) {
		kind = S("podman");
	} else if (root_has_file(r, S(".dockerenv"))) {
		kind = S("docker");
	} else if (root_exists(r, S(".singularity.d"))) {
		kind = S("apptainer");
	} else if (root_exists(r, S("run/secrets/kubernetes.io")) ||
		   /* a pod without a service account */
		   root_variable(r, S("KUBERNETES_SERVICE_HOST"), &text)) {
		kind = S("kubernetes");
	} else {
		root_read(r, S("proc/1/environ"), &text);
		kind = parse_environ(text, S("container"));
		root_read(r, S("proc/1/cgroup"), &text);
		const struct cgroup_mark *mark = parse_cgroup(text);
		if (!kind.n && mark)
			kind = str_from(mark->kind);
		/* systemd-nspawn and podman set this variable; the environment of PID 1 may not be readable */
		if (!kind.n)
			root_variable(r, S("container"), &kind);
	}
	m->container_kind = clean_text(r->a, kind);
	m->container = m->container_kind.n > 0;
}
