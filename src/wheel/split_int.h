/* The state that the files of split share; split.h is the interface. */
#pragma once

#include "wheel/rewrite.h"
#include "wheel/split.h"

/* split_part.c */
extern const struct json_field split_part_fields[];
extern const char *const split_encodings[4]; /* by enum bundle_encoding */

struct split_file { /* a member */
	const struct wheel_member *m;
	struct str owner; /* the GPU or family that a side file is for */
	bool fat;         /* it has device code that is taken out */
	enum bundle_encoding encoding;
	struct bytes src; /* its content, while it is open */
	int fd;
	/* kpack: path of its host part; its name in archives; number of its bundles; split_member.absent */
	struct str host, name;
	uint32_t bundles;
	struct strs absent;
};

struct split_archive {                 /* a kpack archive */
	struct str target, name, path; /* name in the wheel; path of the file */
};

struct splitting {
	struct arena *a;
	const struct split_request *q;
	struct split_done *done;
	struct wheel w;
	struct split_file *files; /* parallel to w.members */
	struct strs families;
	struct str metadata, version, project, python, pure; /* from its dist-info folder */
	struct str set, scratch;
	struct budget budget; /* the cost of reading all contents; reset for each new wheel */
	unsigned open;        /* contents that stay open */
	bool all;             /* there is a wheel for all GPUs */
	bool again;           /* this is a host wheel already */
	VEC(struct split_archive) archives;
};

/* split_kpack.c: archives, and host parts of files, in the scratch folder. */
MUST_USE struct err *split_kpack(struct splitting *s);
/* split_info.c: a member's content, which stays unpacked while there are few; texts of dist-info folders. */
MUST_USE struct err *split_open(struct splitting *s, struct split_file *f);
void split_close(struct splitting *s, struct split_file *f);
MUST_USE struct err *split_info_read(struct splitting *s);
struct str split_name(struct splitting *s, struct str key); /* the project name of a device wheel */
struct str split_host_metadata(struct splitting *s, bool variant);
struct str split_variants(struct splitting *s); /* variant.json, and the index file */
struct str split_device_metadata(struct splitting *s, const struct split_wheel *w);
struct str split_device_wheel(struct splitting *s);
struct str split_manifest(struct splitting *s, const struct split_wheel *w);
