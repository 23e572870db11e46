/* The examination of one wheel: the state that its checks share, and their ways to report. Private to verify/. */
#pragma once

#include "base/hash.h"
#include "devcode/devcode.h"
#include "verify/verify.h"

#define X(name, id, severity, meaning) name,
enum verify_id { /* numbers of finding_rows[], which begin with them */
#include "../../data/findings.def"
	V_COUNT
};

struct exam_member { /* facts about a member, gathered while it was unpacked */
	const struct zip_member *zip;
	bool read;       /* its content is intact; digest is set */
	bool skip;       /* a folder, or unsafe: not read */
	bool listed;     /* RECORD lists it */
	struct err *bad; /* the error of unpacking it */
	struct err *odd; /* the error of parsing an ELF file */
	struct err *device_bad;
	struct digest digest;
	bool elf;              /* a host ELF file: facts are set */
	bool elf_magic, kpack; /* recognized by their first bytes */
	struct wheel_elf facts;
	struct devcode device;
	struct kpack_host host; /* set for a library whose device code is in archives */
	struct strs archs;      /* the targets that a kpack archive says to be for */
	struct arena a,
		code; /* own facts; device, host and archs, which a wheel's own checks use up */
};

struct exam {
	struct arena *a;
	struct str path;
	const struct verify_options *o;
	struct zip zip;
	bool named; /* the file name is a wheel's */
	struct wheel_name name;
	struct str info; /* the dist-info folder, "" = none */
	struct exam_member *members;
	size_t n;
	struct wheel_elfs elfs;
	bool pure;              /* Root-Is-Purelib */
	struct split_part part; /* its role is "" unless `rocsmith split` made the wheel */
	const struct exam *set; /* the wheels that were given with it, and itself */
	size_t nset;
	const struct exam *torch; /* the one of --torch, which is in the set, too; or NULL */
	struct budget loading;    /* the cost of the checks that look at all of them */
	struct verdict *verdict;
};

/* ---- exam.c ---- */
/* Adds a finding of data/findings.def about a member, or ("") the wheel itself. */
struct finding *verdict_say(struct arena *a, struct verdict *v, enum verify_id id,
	struct str member, const char *fmt, ...) PRINTF(5, 6);
/* The same during the examination of a wheel. */
#define exam_say(x, id, member, ...) verdict_say((x)->a, (x)->verdict, (id), (member), __VA_ARGS__)
/* "NAME-VERSION.dist-info/METADATA" for "METADATA". */
struct str exam_path(struct exam *x, const char *name);
/* Content of a dist-info file; false, with a finding, when it is missing or cannot be read. */
bool exam_text(struct exam *x, const char *name, enum verify_id missing, struct str *ret);

/* An oddity that several files may share; it is reported once, for the first of them. */
struct remark {
	enum verify_id id;
	struct str what;                   /* a library or an element of an RPATH */
	const struct wheel_elf *by, *root; /* root: the file that was loaded first, or NULL */
	struct str in;                     /* a wheel that has it */
	struct str why;
	size_t more;
};

struct remarks {
	struct remark *v;
	size_t n, cap;
	struct map of[V_COUNT]; /* by subject: index in v, plus one */
};

void remark(struct exam *x, struct remarks *list, struct remark r);

/* run.c: runs the wheel on an emulated GPU and adds findings, also about the reason why nothing was run. Only called
 * with o->run. */
MUST_USE struct err *verify_run(struct arena *a, const struct verify_options *o, struct verdict *v);

/* set.c: may the two be installed together, so that libraries of one are there for the other? Are they parts of one plain
 * set? Is it one of those that are installed one at a time? */
bool set_together(const struct exam *x, const struct exam *other);
bool set_same(const struct exam *x, const struct exam *other);
bool set_is_one_of(const struct exam *x);
/* Is it another part of a plain set: the host wheel, or one for a family of GPUs? Device code is in the device wheels. */
bool set_is_bare(const struct exam *x);
/* Is the other half of a plain set there: the host wheel of a device wheel, a device wheel of one without device code? */
bool set_is_whole(const struct exam *x);
/* Plain sets: is there a device wheel for each required GPU? */
void set_check_parts(struct exam *x);
/* Does v require another version of the other one's project? */
bool set_excludes(struct arena *a, const struct verdict *v, const struct verdict *other);
/* set.c: does v require the project, by a marker with this text? Does it require this version of the other one? Is it a
 * device wheel, by its name? */
bool set_names(struct arena *a, const struct verdict *v, struct str project, struct str marker);
bool set_requires(struct arena *a, const struct verdict *v, const struct verdict *other);
bool set_is_device(const struct verdict *v);

/* ---- the checks, one file each, in the order in which they run ---- */
MUST_USE struct err *check_members(struct exam *x); /* unpacks, hashes and parses all members */
void check_dist_info(struct exam *x);               /* METADATA, WHEEL */
MUST_USE struct err *check_sbom(struct exam *x);
void check_places(struct exam *x); /* the places in which an installer puts the members */
void check_record(struct exam *x);
void check_tags(struct exam *x);
MUST_USE struct err *check_loader(struct exam *x); /* needed libraries, RPATH */
/* closure.c: simulates the loading of libraries by ld.so; reports mistakes inside the wheel, and remarks on libraries
 * that cannot be loaded. */
MUST_USE struct err *check_closure(struct exam *x, struct remarks *missing);
/* torch.c: do the torch libraries that an extension will be loaded with export what it needs? */
MUST_USE struct err *check_torch(struct exam *x);
/* Fills in the symbols of a library, if it is one of torch's, or needs one. */
MUST_USE struct err *torch_symbols(struct arena *a, const struct bytes *src, struct wheel_elf *io);
/* Reads the libraries of the torch that is installed in x->path: in a folder "torch", a site-packages or a virtual
 * environment. Only files below that folder, through no link. */
MUST_USE struct err *torch_installed(struct exam *x);
MUST_USE struct err *check_device(struct exam *x);
/* kpack.c: notes the contents of libraries and archives for check_kpack(), which sees all wheels. */
MUST_USE struct err *kpack_keep(struct exam *x, bool *ret_any);
MUST_USE struct err *check_kpack(
	struct arena *a, const struct verify_options *o, struct verdicts *all);
/* side.c: code files beside libraries. *ret_sets: the number of sets without which library calls fail. */
MUST_USE struct err *check_side(struct exam *x, size_t *ret_sets);
enum { SIDE_COST = 100 }; /* cost of a file, for each byte of its path */
