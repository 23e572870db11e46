/* One wheel for many GPUs as a host wheel and one wheel for each GPU, and such sets put together again.
 *
 * The host wheel keeps the name, and has everything that is for no particular GPU. A device wheel is named as AMD's are,
 * amd-PROJECT-device-GPU, has the same version and tags, and requires exactly that version of the host wheel;
 * the host wheel has extras device-GPU, for each GPU that a device wheel serves, and device-all. Side files whose path names a family of GPUs
 * ("amd-gfx11xx/") become a wheel of that family, which the wheels of its GPUs require. Keys are "gfx90a", with all of
 * its variants, or "gfx11-generic" for GPUs, and "gfx11", "gfx110x" or "gfx12_0" for families.
 *
 * Plain: the host wheel lacks the files with device code. Each device wheel has all of them, with the code of its GPU (and of
 * generic targets that cover it); one device wheel is installed. No file is in two wheels that are installed together, since
 * installers would let either of them win. One more wheel, "all", has the files unchanged.
 * kpack: see formats/kpack.h. The host wheel has the libraries, marked; device wheels have archives.
 *
 * Variants (the drafts of PEP 825 and 850, schema 0.2.0 as variantlib 0.2.2 reads it): one more host wheel with the label
 * SPLIT_LABEL, whose requirements follow from the GPU that AMD's provider rocm-bootstrap finds (namespace "amd", feature
 * "gfx_arch"), and the index file of the release.
 *
 * In each dist-info folder SPLIT_MANIFEST is the provenance of the wheel: schema rocsmith.split-part/1.
 * Sources: rocm-systems shared/kpack (wheel_splitter) and python/rocm-bootstrap for names, extras and families.
 */
#pragma once

#include "wheel/archive.h"

#define SPLIT_MANIFEST "rocsmith-split.json"
#define SPLIT_LABEL "rocm"

struct split_member {              /* a file with device code */
	struct str path, encoding; /* encoding: of its bundles; "" = raw */
	/* host wheels of kpack: targets of the set for which the file had no code, with the bundle number ("3 gfx90a"),
	 * or "*" for all of its bundles ("* gfx90a") */
	struct strs absent;
};

struct split_part {         /* the provenance file */
	struct str wheel;   /* name of the file that was split */
	struct str set;     /* the same in all parts: a hash over the content */
	struct str format;  /* "plain", "kpack" */
	struct str role;    /* "host", "device", "family", "all" */
	struct str key;     /* "gfx1100", "gfx11"; "" of the host */
	struct strs keys;   /* keys of all device wheels */
	struct str headers; /* lines that were added to the METADATA of the host wheel */
	VEC(struct split_member) members;
};
extern const struct json_field split_part_fields[];
extern const char *const split_encodings[4]; /* by enum bundle_encoding */
enum bundle_encoding split_encoding(struct str name);
/* Reads the provenance file; *ret_is = false when there is none. */
MUST_USE struct err *split_part_read(
	struct arena *a, const struct wheel *w, struct split_part *ret, bool *ret_is);
/* The same for a wheel without one, such as AMD's, guessed from its name, requirements, libraries and archives: part of a
 * set of kpack, host or device, of an unknown encoding. All libraries of a host wheel are unpacked, one by one. */
MUST_USE struct err *split_part_guess(
	struct arena *a, const struct wheel *w, struct split_part *ret, bool *ret_is);
#define SPLIT_ARCHIVE ".kpack"
/* Removes from METADATA the fields that AMD's splitter adds to a host wheel. */
MUST_USE struct err *split_without(struct arena *a, struct str text, struct str *ret);

enum split_format { SPLIT_CHOOSE, SPLIT_KPACK, SPLIT_PLAIN };

struct split_done;
struct split_request {
	struct str from, to; /* a wheel; a folder */
	unsigned format;     /* one of enum split_format */
	bool force, variants;
	unsigned jobs;
	struct str prefix; /* begins the names of device wheels; "": amd-PROJECT-device */
	struct str
		overlay; /* the folder that has .kpack, and all files that are split; "": the top */
	/* requirements of device wheels; one with @GFXARCH@ is that of a GPU's wheel, and of the extras of GPUs that have
	 * none */
	struct strs requires;
	/* Called when it is known what will be written, before that; sizes are expected ones. May be NULL. */
	void (*planned)(const struct split_done *done);
};

enum split_role { SPLIT_HOST, SPLIT_DEVICE, SPLIT_FAMILY, SPLIT_ALL, SPLIT_VARIANT };

struct split_wheel {
	struct str path, key;
	enum split_role role;
	size_t members;
	uint64_t size; /* bytes of the file; before it is written, about as many */
};

struct split_done {
	struct str path, output, format, why; /* why: the reason for the format */
	bool chosen;                          /* the format was not asked for */
	bool reads; /* the HIP runtime that the wheel is for reads the format */
	/* keys of device wheels; these, and the GPUs that their generic code serves: each has an extra */
	struct strs gpus, serves;
	VEC(struct split_wheel) wheels;
	struct str variants; /* path of the index file, or "" */
	struct strs left;    /* members of the host wheel whose device code cannot be taken out */
};
extern const struct json_field split_fields[]; /* rocsmith.split/1 */

/* All wheels appear, or none: they are made in a hidden folder in `to` (base/fs_stage.h), which the next run removes after a
 * kill, and get their names at the end, the host wheel last. A wheel that is a host wheel already is copied. E_GFX when
 * there is no device code. */
MUST_USE struct err *wheel_split(
	struct arena *a, const struct split_request *q, struct split_done *ret);

struct merge_request {
	/* wheels: a host wheel and its device wheels, or whole wheels of the same release */
	struct strs from;
	struct str to;
	bool force;
	unsigned jobs;
};

struct merge_done {
	struct strs paths;
	struct str output;
	struct strs targets;    /* targets that have code */
	struct strs missing;    /* kpack: each "LIBRARY#NUMBER" without any code */
	size_t members, merged; /* merged: files that were put together */
	uint64_t size;
};
extern const struct json_field merge_fields[]; /* rocsmith.merge/1 */

/* E_WHEEL when they do not belong together: except for device code, they must be the same. */
MUST_USE struct err *wheel_merge(
	struct arena *a, const struct merge_request *q, struct merge_done *ret);
