/* What follows from the facts alone: why GPUs cannot be used here, and facts that contradict each
 * other. Rules that need knowledge of versions are not here but in the knowledge base; ids are
 * those of its entries where there is one. Every message names the object, every fix is a command
 * or a thing to do that is known to help.
 */
#include "machine/facts.h"

void note_unreadable(struct arena *a, struct machine *m, struct str path, enum root_status why)
{
	static const char *const reasons[] = {
		[ROOT_OK] = "is not understood",
		[ROOT_ABSENT] = "is not there",
		[ROOT_DENIED] = "may not be read",
		[ROOT_BAD] = "cannot be read or is not understood",
	};
	struct finding *f = finding_add(
		a, &m->findings, "fact-unreadable", SEV_WARNING, str_fmt(a, "/%.*s", STR(path)));
	finding_say(a, f, "'/%.*s' %s: facts from it are missing", STR(path), reasons[why]);
}

static bool has_amd_gpu(const struct machine *m)
{
	return m->gpus.n || m->displays.n;
}

static const struct machine_node *find_node(const struct machine *m, struct str path)
{
	VEC_EACH (struct machine_node, n, &m->nodes)
		if (str_eq(n->path, path))
			return n;
	return NULL;
}

static struct finding *add(struct arena *a, struct machine *m, const char *id, struct str path)
{
	return finding_add(a, &m->findings, id, SEV_ERROR, path);
}

static void check_wsl(struct arena *a, struct machine *m)
{
	if (m->has_dxg) {
		struct finding *f =
			finding_add(a, &m->findings, "wsl-gpu", SEV_INFO, S("/dev/dxg"));
		finding_say(a, f,
			"WSL reaches GPUs through /dev/dxg, which does not tell what they are");
		finding_fix(a, f, "name the GPU yourself: --gpu gfx1100");
		return;
	}
	struct finding *f = add(a, m, "wsl-no-gpu", S("/dev/dxg"));
	finding_say(a, f, "this is WSL, but there is no /dev/dxg");
	finding_fix(a, f, "use WSL 2 and install AMD's Windows driver, then run: wsl --shutdown");
}

static void fix_container(struct arena *a, struct machine *m, struct finding *f)
{
	if (str_eq(m->container_kind, S("kubernetes")))
		finding_fix(a, f, "request the resource amd.com/gpu for the pod");
	else if (str_eq(m->container_kind, S("apptainer")))
		finding_fix(a, f, "start it with --rocm");
	else
		finding_fix(a, f, "start it with --device=/dev/kfd --device=/dev/dri");
}

/* The kernel answers EPERM for GPUs that the container was not given. */
static void check_hidden(struct arena *a, struct machine *m)
{
	bool there = find_node(m, S("/dev/kfd"));
	struct finding *f = add(a, m, there ? "gpu-hidden" : "kfd-missing-node", S("/dev/kfd"));
	finding_say(a, f, "the kernel hides %u GPU%s from us: the device rules of this %s%s",
		m->hidden, m->hidden > 1 ? "s" : "", m->container ? "container" : "session",
		there ? " do not allow them" : " allow none, and /dev/kfd is not there");
	fix_container(a, m, f);
}

static void check_no_gpu(struct arena *a, struct machine *m)
{
	const char *what = m->container ? "container" : m->virtual ? "virtual machine" : "computer";
	struct finding *f = add(a, m, "no-gpu", S(""));
	finding_say(a, f, "the kernel shows no AMD GPU in this %s", what);
	if (m->virtual && !m->container)
		finding_fix(a, f, "pass a GPU through to the virtual machine");
	finding_fix(a, f, "building needs no GPU: name the targets, e.g. --gpu gfx1201,gfx90a");
}

static void check_loaded(struct arena *a, struct machine *m)
{
	const struct machine_driver *d = &m->driver;
	struct finding *f = add(a, m, "rock-module-not-loaded", S("/sys/module/amdgpu"));
	if (d->loaded) {
		finding_say(a, f, "the kernel module amdgpu is not ready: its state is '%.*s'",
			STR(d->state));
		finding_fix(a, f, "look for its errors: sudo dmesg | grep -i amdgpu");
		return;
	}
	finding_say(a, f,
		"there is an AMD GPU%s%.*s, but the kernel driver amdgpu is not loaded%s%.*s",
		m->displays.n && m->displays.v[0].pci.n ? " at " : "",
		STR(m->displays.n ? m->displays.v[0].pci : S("")),
		d->blacklisted ? ": kept away by " : "", STR(d->blacklisted_by));
	if (d->blacklisted)
		finding_fix(a, f, "remove what keeps it away from %.*s, then reboot",
			STR(d->blacklisted_by));
	else
		finding_fix(a, f, "sudo modprobe -v amdgpu");
}

static bool held_by_other(const struct machine_display *d)
{
	return d->driver.n && !str_eq(d->driver, S("amdgpu"));
}

/* A GPU that another driver holds, e.g. vfio-pci for a virtual machine. */
static void check_bound_elsewhere(struct arena *a, struct machine *m)
{
	VEC_EACH (struct machine_display, d, &m->displays) {
		if (!held_by_other(d))
			continue;
		struct finding *f = finding_add(a, &m->findings, "gpu-other-driver",
			m->gpus.n ? SEV_WARNING : SEV_ERROR, d->pci);
		finding_say(a, f,
			"the driver '%.*s' holds the GPU at %.*s, so amdgpu cannot use it",
			STR(d->driver), STR(d->pci));
	}
}

static bool all_held_by_others(const struct machine *m)
{
	VEC_EACH (struct machine_display, d, &m->displays)
		if (!held_by_other(d))
			return false;
	return !m->gpus.n;
}

static bool kfd_lists(const struct machine *m, struct str pci)
{
	VEC_EACH (struct machine_gpu, g, &m->gpus)
		if (str_eq(g->pci, pci))
			return true;
	return false;
}

/* Driven by amdgpu, yet not offered for computing; or not driven at all. */
static void check_kfd_lists_all(struct arena *a, struct machine *m)
{
	VEC_EACH (struct machine_display, d, &m->displays) {
		if (held_by_other(d) || !d->pci.n || kfd_lists(m, d->pci) || m->hidden)
			continue;
		struct finding *f = finding_add(a, &m->findings, "gpu-not-in-kfd",
			m->gpus.n ? SEV_WARNING : SEV_ERROR, d->pci);
		if (!d->driver.n)
			finding_say(a, f, "no driver has taken the GPU at %.*s", STR(d->pci));
		else
			finding_say(a, f, "amdgpu drives the GPU at %.*s, but %s", STR(d->pci),
				m->has_kfd ? "the compute driver (KFD) does not list it"
					   : "this kernel has no compute driver (KFD)");
		finding_fix(a, f, "see why: sudo dmesg | grep -iE 'kfd|amdgpu'");
	}
}

static void check_kfd_node(struct arena *a, struct machine *m)
{
	if (!m->gpus.n || find_node(m, S("/dev/kfd")))
		return;
	struct finding *f = add(a, m, "kfd-missing-node", S("/dev/kfd"));
	finding_say(a, f, "the kernel lists %zu GPU%s for computing, but /dev/kfd is not there%s",
		m->gpus.n, m->gpus.n > 1 ? "s" : "", m->container ? " in this container" : "");
	if (m->container)
		fix_container(a, m, f);
	else
		finding_fix(a, f, "sudo modprobe amdgpu; ls -l /dev/kfd");
}

static bool is_render_node(const struct machine_node *n)
{
	return str_starts(path_base(n->path), S("renderD"));
}

/* A driver that is too old to name the render node leaves open which one it is. */
static bool has_render_node(const struct machine *m, const struct machine_gpu *g)
{
	if (g->render.n)
		return find_node(m, g->render);
	VEC_EACH (struct machine_node, n, &m->nodes)
		if (is_render_node(n))
			return true;
	return false;
}

static void check_render_nodes(struct arena *a, struct machine *m)
{
	const struct machine_gpu *first = NULL;
	unsigned missing = 0;
	VEC_EACH (struct machine_gpu, g, &m->gpus) {
		if (has_render_node(m, g))
			continue;
		first = first ? first : g;
		missing++;
	}
	if (!missing)
		return;
	struct finding *f = add(a, m, "render-node-missing", first->render);
	BUF(what, a);
	buf_fmt(&what, "GPU %u (%.*s) has no render node", first->node, STR(first->target));
	if (first->render.n)
		buf_fmt(&what, ": '%.*s' is not there", STR(first->render));
	if (missing > 1)
		buf_fmt(&what, ", and %u more", missing - 1);
	f->message = buf_str(&what);
	if (m->container)
		fix_container(a, m, f);
}

/* /dev/kfd, and the render nodes of our GPUs: other makers' nodes do not matter. */
static bool is_needed(const struct machine *m, const struct machine_node *n)
{
	if (str_eq(n->path, S("/dev/kfd")))
		return true;
	VEC_EACH (struct machine_gpu, g, &m->gpus)
		if (!g->render.n || str_eq(g->render, n->path))
			return true;
	return false;
}

static bool is_number(struct str s)
{
	uint64_t n;
	return str_u64(s, 10, &n);
}

static void fix_access(
	struct arena *a, struct machine *m, struct finding *f, const struct machine_node *n)
{
	if ((n->mode >> 3 & 6) != 6)
		finding_fix(a, f, "let its group read and write it: sudo chmod g+rw %.*s",
			STR(n->path));
	else if (m->container)
		finding_fix(a, f, "start the container with --group-add %u", n->gid);
	else if (is_number(n->group))
		finding_fix(a, f, "make a group with the id %u and add yourself to it", n->gid);
	else
		finding_fix(
			a, f, "sudo usermod -aG %.*s \"$USER\", then log in again", STR(n->group));
}

/* One finding for all nodes of the same mode and owner as n, unless an earlier node had them. */
static void check_access_of(struct arena *a, struct machine *m, const struct machine_node *n)
{
	unsigned more = 0;
	VEC_EACH (struct machine_node, o, &m->nodes) {
		bool same = o->mode == n->mode && o->uid == n->uid && o->gid == n->gid;
		if (o->usable || !same || !is_needed(m, o))
			continue;
		if (o < n)
			return;
		more += o > n;
	}
	struct finding *f = add(a, m, "kfd-permission", n->path);
	BUF(others, a);
	if (more)
		buf_fmt(&others, " and %u more", more);
	finding_say(a, f, "user %u may not open '%.*s'%.*s (mode %04o, group '%.*s')", m->uid,
		STR(n->path), STR(buf_str(&others)), n->mode, STR(n->group));
	fix_access(a, m, f, n);
}

static void check_access(struct arena *a, struct machine *m)
{
	for (size_t i = 0; m->has_identity && i < m->nodes.n; i++)
		if (!m->nodes.v[i].usable && is_needed(m, &m->nodes.v[i]))
			check_access_of(a, m, &m->nodes.v[i]);
}

static void check_targets(struct arena *a, struct machine *m)
{
	VEC_EACH (struct machine_gpu, g, &m->gpus) {
		if (gpu_by_name(g->target))
			continue;
		struct finding *f =
			finding_add(a, &m->findings, "gpu-unknown-target", SEV_WARNING, g->pci);
		if (g->target.n)
			finding_say(a, f, "GPU %u is %.*s, which this rocsmith does not know",
				g->node, STR(g->target));
		else
			finding_say(a, f, "the driver does not tell the target of GPU %u", g->node);
	}
}

/* Programs see all of them, and often have code for one only. */
static void check_mixed(struct arena *a, struct machine *m)
{
	const struct machine_gpu *apu = NULL, *card = NULL;
	VEC_EACH (struct machine_gpu, g, &m->gpus)
		*(g->apu ? &apu : &card) = g;
	if (!apu || !card)
		return;
	struct finding *f =
		finding_add(a, &m->findings, "igpu-dgpu-conflict", SEV_WARNING, apu->pci);
	finding_say(a, f, "programs see the processor's own GPU (%.*s) beside the card (%.*s)",
		STR(apu->target), STR(card->target));
	BUF(cards, a);
	for (size_t i = 0; i < m->gpus.n; i++)
		if (!m->gpus.v[i].apu)
			buf_fmt(&cards, "%s%zu", cards.n ? "," : "", i);
	finding_fix(
		a, f, "show them the card only: ROCR_VISIBLE_DEVICES=%.*s", STR(buf_str(&cards)));
}

static void check_driver(struct arena *a, struct machine *m)
{
	bool ready = !m->driver.state.n || str_eq(m->driver.state, S("live"));
	check_bound_elsewhere(a, m);
	if (all_held_by_others(m))
		return;
	if (!m->driver.loaded || !ready)
		check_loaded(a, m);
	else
		check_kfd_lists_all(a, m);
}

void check_machine(struct arena *a, struct machine *m)
{
	if (m->wsl && !has_amd_gpu(m)) {
		check_wsl(a, m);
		return;
	}
	if (m->hidden && !m->gpus.n) {
		check_hidden(a, m);
		return;
	}
	if (!has_amd_gpu(m)) {
		check_no_gpu(a, m);
		return;
	}
	check_driver(a, m);
	check_kfd_node(a, m);
	check_render_nodes(a, m);
	check_access(a, m);
	check_targets(a, m);
	check_mixed(a, m);
}
