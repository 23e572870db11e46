/* The parts of machine_read(): each reads one subject below a root into the struct machine. They
 * must run in the order of machine_gather(). */
#pragma once

#include "machine/machine.h"
#include "machine/parse.h"
#include "machine/root.h"

void gather_system(struct root *r, struct machine *m);    /* kernel, distro, CPU, memory */
void gather_container(struct root *r, struct machine *m); /* WSL, container, virtual machine */
void gather_driver(struct root *r, struct machine *m);    /* amdgpu, and what keeps it away */
void gather_kfd(struct root *r, struct machine *m);       /* GPUs of the compute driver */
void gather_displays(struct root *r, struct machine *m);  /* PCI and DRM */
void gather_boards(struct root *r, struct machine *m);    /* firmware and links of GPUs, IOMMU */
void gather_nodes(struct root *r, struct machine *m);     /* identity and device nodes */
void gather_sdks(struct root *r, struct machine *m);      /* ROCm trees */
void gather_around(struct root *r, struct machine *m); /* variables, disks, limits of the process */
void gather_pythons(struct root *r, struct machine *m); /* Python environments; needs all others */

/* All of them; all: Python environments, too. Fails only when r->dir is no folder. */
MUST_USE struct err *machine_gather(struct root *r, bool all, struct machine *m);

/* Version, components and slimming of a ROCm in this folder, relative to the root: a tree's, or that of rocm wheels
 * (_rocm_sdk_core). */
void read_components(struct root *r, struct str dir, struct machine_sdk *s);
/* Parts of that: the libraries in a folder, and the version in HIP's own header. */
void read_libraries(struct root *r, struct str dir, struct machine_sdk *s);
void read_hip_header(struct root *r, struct str dir, struct machine_sdk *s);

/* torch.c: GPUs that the rocBLAS of ROCm trees has files for. */
void gather_sdk_rocblas(struct root *r, struct machine *m);

/* root.c: adds a warning that a file could not be used. */
void note_unreadable(struct arena *a, struct machine *m, struct str path, enum root_status why);

/* ---- host.c: what host_read() does, on given text or below a given root ---- */
/* C library and gcc below root ("" = this computer), for programs of arch, e.g. "x86_64". */
MUST_USE struct err *host_read_files(
	struct arena *a, struct str root, struct str arch, struct host *ret);
/* The probe's answer: one value a line. E_USAGE when it is no Python 3. */
MUST_USE struct err *host_parse_python(struct arena *a, struct str text, struct host *h);
