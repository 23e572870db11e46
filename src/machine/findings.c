/* What follows from the facts alone: why GPUs cannot be used here, and facts that contradict each
 * other. Rules that need knowledge of versions are not here but in the knowledge base; ids are
 * those of its entries where there is one. Every message names the object, every fix is a command
 * or a thing to do that is known to help.
 */
#include <stdarg.h>

#include "machine/facts.h"

struct check {
	struct arena *a;
	struct machine *m;
};

PRINTF(5, 6)
static struct finding *finding_new(struct check *c, const char *id, enum severity severity,
	struct str path, const char *fmt, ...)
{
	struct finding *f = finding_add(c->a, &c->m->findings, id, severity, path);
	FORMAT(text, c->a, fmt);
	f->message = text;
	return f;
}

void note_unreadable(struct arena *a, struct machine *m, struct str path, enum root_status why)
{
	static const char *const reasons[] = {
		[ROOT_OK] = "is not understood",
		[ROOT_ABSENT] = "is not there",
		[ROOT_DENIED] = "may not be read",
		[ROOT_BAD] = "cannot be read or is not understood",
	};
	struct str full = str_fmt(a, "/%.*s", STR(path));
	struct check c = {.a = a, .m = m};
	(void)finding_new(&c, "fact-unreadable", SEV_WARNING, full,
		"'%.*s' %s: facts from it are missing", STR(full), reasons[why]);
}

static void fix_container(struct check *c, struct finding *f)
{
	if (str_eq(c->m->container_kind, S("kubernetes")))
		finding_fix(c->a, f, "request the resource amd.com/gpu for the pod");
	else if (str_eq(c->m->container_kind, S("apptainer")))
		finding_fix(c->a, f, "start it with --rocm");
	else
		finding_fix(c->a, f, "start it with --device=/dev/kfd --device=/dev/dri");
}

/* Why there is no GPU at all. */
static void check_no_gpu(struct check *c)
{
	const struct machine *m = c->m;
	const char *place = m->container ? "container"
			    : m->virtual ? "virtual machine"
					 : "computer";
	bool kfd = machine_node_at(m, S("/dev/kfd"));
	struct finding *f;
	if (m->wsl && m->has_dxg && !m->displays.n) {
		f = finding_new(c, "wsl-gpu", SEV_INFO, S("/dev/dxg"),
			"WSL reaches GPUs through /dev/dxg, which does not tell what they are");
		finding_fix(c->a, f, "name the GPU yourself: --gpu gfx1100");
	} else if (m->wsl && !m->displays.n) {
		f = finding_new(c, "wsl-no-gpu", SEV_ERROR, S("/dev/dxg"),
			"this is WSL, but there is no /dev/dxg");
		finding_fix(c->a, f,
			"use WSL 2 and install AMD's Windows driver, then run: wsl --shutdown");
	} else if (m->hidden) { /* the kernel answers EPERM for what a container was not given */
		f = finding_new(c, kfd ? "gpu-hidden" : "kfd-missing-node", SEV_ERROR,
			S("/dev/kfd"),
			"the kernel hides %u GPU%s from us: the device rules of this %s%s",
			m->hidden, m->hidden > 1 ? "s" : "", m->container ? "container" : "session",
			kfd ? " do not allow them" : " allow none, and /dev/kfd is not there");
		fix_container(c, f);
	} else {
		f = finding_new(c, "no-gpu", SEV_ERROR, S(""),
			"the kernel shows no AMD GPU in this %s", place);
		if (m->virtual && !m->container)
			finding_fix(c->a, f, "pass a GPU through to the virtual machine");
		finding_fix(c->a, f,
			"building needs no GPU: name the targets, e.g. --gpu gfx1201,gfx90a");
	}
}

static void check_loaded(struct check *c)
{
	const struct machine *m = c->m;
	const struct machine_driver *d = &m->driver;
	struct str path = S("/sys/module/amdgpu"),
		   first = m->displays.n ? m->displays.v[0].pci : S("");
	if (d->loaded) {
		finding_fix(c->a,
			finding_new(c, "rock-module-not-loaded", SEV_ERROR, path,
				"the kernel module amdgpu is not ready: its state is '%.*s'",
				STR(d->state)),
			"look for its errors: sudo dmesg | grep -i amdgpu");
		return;
	}
	struct finding *f = finding_new(c, "rock-module-not-loaded", SEV_ERROR, path,
		"there is an AMD GPU%s%.*s, but the kernel driver amdgpu is not loaded%s%.*s",
		first.n ? " at " : "", STR(first), d->blacklisted ? ": kept away by " : "",
		STR(d->blacklisted_by));
	if (d->blacklisted)
		finding_fix(c->a, f, "remove what keeps it away from %.*s, then reboot",
			STR(d->blacklisted_by));
	else
		finding_fix(c->a, f, "sudo modprobe -v amdgpu");
}

static bool held_by_other(const struct machine_display *d)
{
	return d->driver.n && !str_eq(d->driver, S("amdgpu"));
}

/* Driven by amdgpu, yet not offered for computing; or not driven at all. */
static void check_kfd_lists_all(struct check *c)
{
	const struct machine *m = c->m;
	enum severity severity = m->gpus.n ? SEV_WARNING : SEV_ERROR;
	VEC_EACH (struct machine_display, d, &m->displays) {
		struct finding *f;
		bool listed = false;
		VEC_EACH (struct machine_gpu, g, &m->gpus)
			listed |= str_eq(g->pci, d->pci);
		if (held_by_other(d) || !d->pci.n || listed || m->hidden)
			continue;
		if (!d->driver.n)
			f = finding_new(c, "gpu-not-in-kfd", severity, d->pci,
				"no driver has taken the GPU at %.*s", STR(d->pci));
		else
			f = finding_new(c, "gpu-not-in-kfd", severity, d->pci,
				"amdgpu drives the GPU at %.*s, but %s", STR(d->pci),
				m->has_kfd ? "the compute driver (KFD) does not list it"
					   : "this kernel has no compute driver (KFD)");
		finding_fix(c->a, f, "see why: sudo dmesg | grep -iE 'kfd|amdgpu'");
	}
}

/* A GPU may also be held by another driver, e.g. vfio-pci for a virtual machine. */
static void check_driver(struct check *c)
{
	const struct machine *m = c->m;
	bool ready = !m->driver.state.n || str_eq(m->driver.state, S("live"));
	bool all_held = !m->gpus.n;
	VEC_EACH (struct machine_display, d, &m->displays) {
		all_held = all_held && held_by_other(d);
		if (held_by_other(d))
			(void)finding_new(c, "gpu-other-driver",
				m->gpus.n ? SEV_WARNING : SEV_ERROR, d->pci,
				"the driver '%.*s' holds the GPU at %.*s, so amdgpu cannot use it",
				STR(d->driver), STR(d->pci));
	}
	if (all_held)
		return;
	if (!m->driver.loaded || !ready)
		check_loaded(c);
	else
		check_kfd_lists_all(c);
}

static void check_kfd_node(struct check *c)
{
	const struct machine *m = c->m;
	if (!m->gpus.n || machine_node_at(m, S("/dev/kfd")))
		return;
	struct finding *f = finding_new(c, "kfd-missing-node", SEV_ERROR, S("/dev/kfd"),
		"the kernel lists %zu GPU%s for computing, but /dev/kfd is not there%s", m->gpus.n,
		m->gpus.n > 1 ? "s" : "", m->container ? " in this container" : "");
	if (m->container)
		fix_container(c, f);
	else
		finding_fix(c->a, f, "sudo modprobe amdgpu; ls -l /dev/kfd");
}

/* A driver that is too old to name the render node leaves open which one it is. */
static bool has_render_node(const struct machine *m, const struct machine_gpu *g)
{
	if (g->render.n)
		return machine_node_at(m, g->render);
	VEC_EACH (struct machine_node, n, &m->nodes)
		if (str_starts(path_base(n->path), S("renderD")))
			return true;
	return false;
}

static void check_render_nodes(struct check *c)
{
	const struct machine_gpu *first = NULL;
	unsigned missing = 0;
	VEC_EACH (struct machine_gpu, g, &c->m->gpus) {
		if (has_render_node(c->m, g))
			continue;
		first = first ? first : g;
		missing++;
	}
	if (!missing)
		return;
	BUF(more, c->a);
	if (first->render.n)
		buf_fmt(&more, ": '%.*s' is not there", STR(first->render));
	if (missing > 1)
		buf_fmt(&more, ", and %u more", missing - 1);
	struct finding *f = finding_new(c, "render-node-missing", SEV_ERROR, first->render,
		"GPU %u (%.*s) has no render node%.*s", first->node, STR(first->target),
		STR(buf_str(&more)));
	if (c->m->container)
		fix_container(c, f);
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

/* One finding for all nodes of the same mode and owner as n, unless an earlier node had them. */
static void check_access_of(struct check *c, const struct machine_node *n)
{
	const struct machine *m = c->m;
	unsigned more = 0;
	uint64_t number;
	VEC_EACH (struct machine_node, o, &m->nodes) {
		bool same = o->mode == n->mode && o->uid == n->uid && o->gid == n->gid;
		if (o->usable || !same || !is_needed(m, o))
			continue;
		if (o < n)
			return;
		more += o > n;
	}
	BUF(others, c->a);
	if (more)
		buf_fmt(&others, " and %u more", more);
	struct finding *f = finding_new(c, "kfd-permission", SEV_ERROR, n->path,
		"user %u may not open '%.*s'%.*s (mode %04o, group '%.*s')", m->uid, STR(n->path),
		STR(buf_str(&others)), n->mode, STR(n->group));
	if ((n->mode >> 3 & 6) != 6)
		finding_fix(c->a, f, "let its group read and write it: sudo chmod g+rw %.*s",
			STR(n->path));
	else if (m->container)
		finding_fix(c->a, f, "start the container with --group-add %u", n->gid);
	else if (str_u64(n->group, 10, &number))
		finding_fix(c->a, f, "make a group with the id %u and add yourself to it", n->gid);
	else
		finding_fix(c->a, f, "sudo usermod -aG %.*s \"$USER\", then log in again",
			STR(n->group));
}

static void check_targets(struct check *c)
{
	VEC_EACH (struct machine_gpu, g, &c->m->gpus) {
		if (gpu_by_name(g->target))
			continue;
		if (g->target.n)
			(void)finding_new(c, "gpu-unknown-target", SEV_WARNING, g->pci,
				"GPU %u is %.*s, which this rocsmith does not know", g->node,
				STR(g->target));
		else
			(void)finding_new(c, "gpu-unknown-target", SEV_WARNING, g->pci,
				"the driver does not tell the target of GPU %u", g->node);
	}
}

/* Programs see all of them, and often have code for one only. */
static void check_mixed(struct check *c)
{
	const struct machine_gpu *apu = NULL, *card = NULL;
	BUF(cards, c->a);
	for (size_t i = 0; i < c->m->gpus.n; i++) {
		const struct machine_gpu *g = &c->m->gpus.v[i];
		*(g->apu ? &apu : &card) = g;
		if (!g->apu)
			buf_fmt(&cards, "%s%zu", cards.n ? "," : "", i);
	}
	if (apu && card)
		finding_fix(c->a,
			finding_new(c, "igpu-dgpu-conflict", SEV_WARNING, apu->pci,
				"programs see the processor's own GPU (%.*s) beside the card "
				"(%.*s)",
				STR(apu->target), STR(card->target)),
			"show them the card only: ROCR_VISIBLE_DEVICES=%.*s", STR(buf_str(&cards)));
}

void check_machine(struct arena *a, struct machine *m)
{
	struct check c = {.a = a, .m = m};
	if (!m->gpus.n && (m->hidden || !m->displays.n)) {
		check_no_gpu(&c);
		return;
	}
	check_driver(&c);
	check_kfd_node(&c);
	check_render_nodes(&c);
	VEC_EACH (struct machine_node, n, &m->nodes)
		if (m->has_identity && !n->usable && is_needed(m, n))
			check_access_of(&c, n);
	check_targets(&c);
	check_mixed(&c);
}
