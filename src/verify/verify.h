/* Everything that can be proved about a wheel without a GPU.
 *
 * Checks: strict zip, RECORD, METADATA and WHEEL, bills of materials, tags against the real needs of the ELF files,
 * DT_NEEDED closure with reasons, RPATH sanity, device code for the required targets, and requirements between several
 * wheels. All members are unpacked, hashed and parsed in one pass, in parallel. The finding ids are those of
 * data/findings.def and of doc/man/rocsmith-verify.1.scd. Memory: 4 MiB a thread, the size of the ELF tables, and a
 * view (formats/zip.h) of each large ELF file.
 */
#pragma once

#include "formats/kpack.h"
#include "wheel/split.h"

struct verify_options {
	/* Targets that every file with device code must serve: exactly, by a variant or a generic target. */
	struct targets require;
	bool device_code;  /* device code is expected (implied by require) */
	bool optional;     /* none at all will do, too: `require` is for what there is */
	struct strs allow; /* sonames that may come from outside: "libamdhip64.so.*" */
	bool description;  /* they are those of a description, `build: allow` */
	bool takes_no_sdk; /* the command has no --sdk, and no hint may name it */
	/* The name of an SDK whose libraries the wheel will run with, and the folders that hold them. The SDK provides
	 * the libraries in there, and must provide those of ROCm. "" = none. */
	struct str sdk;
	struct strs sdk_dirs;
	/* a torch wheel, or a folder with an installed torch, that extensions will be loaded with; "" = none */
	struct str torch;
	/* also run wheels that pass, on emulated GPUs: all required ones, or else all that are served */
	bool run;
	struct str launcher; /* the emulator; "" = rocjitsu in $PATH */
	unsigned jobs;       /* 0 = one per CPU, 16 at most */
	/* The minor of the glibc of a manylinux policy, 28 for manylinux_2_28: symbol versions beyond it are errors,
	 * whatever the tag. 0 = none. */
	unsigned policy;
};

/* Reads a policy: "manylinux_2_28", "manylinux2014", with or without the processor. E_USAGE for other words. */
MUST_USE struct err *verify_policy(struct arena *a, struct str word, unsigned *ret);

/* a library whose device code is in kpack archives, of this wheel or others */
struct verify_library {
	struct str member, installed; /* installed: path below site-packages */
	struct kpack_host host;
	bool split; /* `rocsmith split` made it, so that `absent` is known */
	/* bundle numbers and targets for which it never had code; see split_member */
	struct map absent;
};

struct verify_archive {
	struct str member, installed;
	struct strs archs;                /* the targets that it says to be for */
	VEC(struct kpack_object) objects; /* path, index and target */
};

struct verdict {
	struct str path;
	struct str state; /* fs_exact_state() of the file that was read; "" = it is no zip file */
	uint64_t size;
	bool pass; /* no finding of severity error */
	struct findings findings;
	struct strs served; /* targets that every file with device code serves */
	bool fat;           /* it has such files, beside archives */
	/* Facts for the checks of several wheels: names are normalised, and "" if they could not be read. */
	struct str project, version, platform; /* platform: the lowest true tag */
	VEC(struct requirement) requires;
	struct map extras; /* by name */
	VEC(struct verify_library) libraries;
	VEC(struct verify_archive) archives;
};

/* Examines one wheel. Findings are data: a missing file, a folder or a file that is not a wheel is a failed verdict.
 * Errors mean that the wheel could not be examined: E_IO, E_CANCELLED. */
MUST_USE struct err *verify_wheel(
	struct arena *a, struct str path, const struct verify_options *o, struct verdict *ret);
struct verdicts {
	VEC(struct verdict) wheels;
};

/* Examines each wheel by itself, then all together. The worst findings come first. */
MUST_USE struct err *verify_wheels(struct arena *a, const struct strs *paths,
	const struct verify_options *o, struct verdicts *ret);
/* Checks the requirements between wheels (versions, extras, device wheels) and the order of their versions. */
void verify_set(struct arena *a, struct verdicts *v);
/* Adds all *.whl of a folder to ret; a folder without any, and any other path, is added itself. */
MUST_USE struct err *verify_paths(struct arena *a, struct str path, struct strs *ret);

/* The document of `rocsmith verify --json`: schema rocsmith.verify/1. */
extern const struct json_field verdicts_fields[], verdict_fields[]; /* all, and one */
/* The same as a log of SARIF 2.1.0 (OASIS); its rules are the ids that occur. */
struct str verdicts_sarif(struct arena *a, const struct verdicts *v);
