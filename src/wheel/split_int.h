/* The state of a split, shared by its files: what goes where (split.c), the format and its reasons (split_format.c), kpack
 * archives (split_kpack.c), and the texts of dist-info folders (split_text.c). The interface is split.h. */
#pragma once

#include "formats/kpack.h"
#include "wheel/rewrite.h"
#include "wheel/split.h"

struct split_file { /* a member */
	const struct wheel_member *m;
	struct str path;  /* its place when it is installed, below site-packages */
	struct str owner; /* the GPU or family that a side file is for */
	bool image;       /* it is a library, a program or a bundle */
	bool fat;         /* it has device code that is taken out */
	bool licence;     /* a text that every wheel of the set has */
	enum bundle_encoding encoding;
	struct bytes src; /* its content, while it is open */
	int fd;
	struct slim_sums targets; /* the code in its bundles, decoded */
	uint64_t objects, code;   /* bytes of that together, and of its bundles */
	/* its new content, a file in the scratch folder: a host part, or code for one GPU */
	struct str content;
	/* kpack: its name in archives; split_member.absent */
	struct str name;
	struct strs absent;
};

struct split_archive {                 /* a kpack archive */
	struct str target, name, path; /* name in the wheel; path of the file */
	struct kpack_out out;
};

struct splitting {
	struct arena *a;
	const struct split_request *q;
	struct split_done *done;
	struct wheel w;
	struct split_file *files; /* parallel to w.members */
	struct strs families;
	struct strs lacking;         /* GPUs for which a bundle has generic code only */
	struct str metadata;         /* METADATA, with its headers */
	struct dist_headers headers; /* views of `metadata` */
	struct str version, project, pure, prefix, overlay;
	struct str set, scratch;
	struct budget budget; /* the cost of reading all contents; reset for each new wheel */
	unsigned open;        /* contents that stay open */
	bool plain;
	bool all;   /* there is a wheel for all GPUs */
	bool again; /* this is a host wheel already */
	/* kpack: `root` gets the folder .kpack ("": the top of the wheel does); `top` is the folder of all libraries,
	 * left out of their names ("": they have several) */
	struct str group, root, top;
	VEC(struct split_archive) archives;
	struct split_file *file;       /* the current file */
	const struct split_wheel *now; /* the current new wheel, and its NAME-VERSION */
	struct str stem;
	struct split_evidence *evidence; /* split_format.c's */
};

/* split_format.c: calls fn for a file whose content is open; chooses the format, unless the request names one, and says why,
 * when the code of the files is not known yet. */
MUST_USE struct err *split_content(struct splitting *s, struct split_file *f,
	struct err *(*fn)(struct splitting *s, struct split_file *f));
MUST_USE struct err *split_choose(struct splitting *s);
/* Finds the bundles of the current file. A DLL of which no host part can be made has none; those of another one are in
 * *ret_dll, too. */
MUST_USE struct err *split_bundles(
	struct splitting *s, struct arena *a, struct slim_plan *ret, struct kpack_dll *ret_dll);

/* split_kpack.c: names the archives; makes them, and the host parts. If all libraries lie below one folder, or in that of
 * the request, their names are relative to it. */
MUST_USE struct err *split_name_archives(struct splitting *s);
MUST_USE struct err *split_archives(struct splitting *s);
/* The path of a file's new content. */
struct str split_scratch(struct splitting *s, const struct split_file *f);

/* split_text.c */
extern const char *const split_roles[]; /* by enum split_role */
bool split_is_host(const struct split_wheel *w);
struct str split_project(struct splitting *s, struct str key); /* a device wheel's name */
/* E_USAGE for a prefix or a requirement that would make METADATA wrong. */
MUST_USE struct err *split_check_names(struct splitting *s);
/* Lists in done->serves the GPUs that have code of their own or generic code. */
void split_list_served(struct splitting *s);
/* METADATA, provenance and variant.json of the current wheel. */
struct str split_metadata(struct splitting *s);
struct str split_provenance(struct splitting *s);
struct str split_variants(struct splitting *s);
struct split_variants { /* data/split.yaml */
	const char *text;
};
const struct split_variants *split_variants_table(void); /* one row */
