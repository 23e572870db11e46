/* The parts of machine_read(): each reads one subject below a root into the struct machine. They
 * must run in the order of machine_gather(). */
#pragma once

#include "machine/parse.h"
#include "machine/root.h"

enum { VENDOR_AMD = 0x1002 }; /* PCI */

/* A stranger's sysroot may contain absurd numbers. Rules read the facts as JSON, whose readers are limited to
 * INT64_MAX. */
static inline uint64_t bounded(uint64_t n)
{
	return n < INT64_MAX ? n : INT64_MAX;
}

struct machine_names { /* data/machine.yaml explains each list */
	const char *const *packages, *const *families, *const *extensions, *const *no_extensions;
	const char *const *rocm_libraries, *const *components, *const *rocm_folders;
	const char *const *usual_folders, *const *kernel_words, *const *environments;
	const char *const *own_environments, *const *no_names;
};
const struct machine_names *machine_names_table(void); /* one row */

struct redaction { /* a row of data/recording.yaml, which explains it */
	const char *path, *by, *separator;
	const char *const *keys;
};
TABLE(redaction);

void gather_system(struct root *r, struct machine *m);    /* kernel, distro, CPU, memory */
void gather_container(struct root *r, struct machine *m); /* WSL, container, virtual machine */
void gather_driver(struct root *r, struct machine *m);    /* amdgpu, or why it is not loaded */
void gather_kfd(struct root *r, struct machine *m);       /* GPUs of the compute driver */
void gather_displays(struct root *r, struct machine *m);  /* PCI and DRM */
void gather_boards(struct root *r, struct machine *m);    /* firmware and links of GPUs, IOMMU */
void gather_nodes(struct root *r, struct machine *m);     /* identity and device nodes */
void gather_sdks(struct root *r, struct machine *m);      /* ROCm trees */
void gather_variables(struct root *r, struct machine *m); /* environment variables */
void gather_disks(struct root *r, struct machine *m);     /* free space */
void gather_pythons(struct root *r, struct machine *m); /* Python environments; needs all others */

/* Opens the root and runs all parts; Python environments only if `all` is set. Fails only as root_open() does. */
MUST_USE struct err *machine_gather(struct root *r, bool all, struct machine *m);

/* Reads version, components and slimming of the ROCm in `dir`, which is relative to the root: a tree, or the folder
 * _rocm_sdk_core of rocm wheels. */
void read_components(struct root *r, struct str dir, struct machine_sdk *s);

/* torch.c: reads the GPUs that the rocBLAS of each ROCm tree has files for. */
void gather_sdk_rocblas(struct root *r, struct machine *m);

/* root.c: adds a warning that the file at `path` could not be read. */
void note_unreadable(struct arena *a, struct machine *m, struct str path, enum root_status why);

/* ---- host.c: the parts of host_read(), on given text or below a given root ---- */
/* Finds the C library and gcc below root ("" = this computer) for programs of arch, e.g. "x86_64". */
MUST_USE struct err *host_read_files(
	struct arena *a, struct str root, struct str arch, struct host *ret);
/* Parses the output of the probe that python3 runs, one value on each line. E_USAGE if it is not Python 3. */
MUST_USE struct err *host_parse_python(struct arena *a, struct str text, struct host *h);
