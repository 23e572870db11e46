/* Host code for an older C library than this machine's, so that a wheel fits a manylinux policy.
 *
 * The compilers see glibc in another folder, the sysroot. The user names one, a tree of an old distribution, or it is
 * made once for each version of glibc: the package ziglang of the Python index has the headers of all versions, and makes
 * libraries with the symbols of one and no code. libstdc++ stays this machine's. An extension must share libstdc++.so.6
 * with torch, so it is linked as gcc-toolset does it on the manylinux images: with a copy that hides the symbols that are
 * newer than the policy, and libstdc++.a behind it, whose objects with these symbols become part of the module, unseen
 * from outside. Other headers and libraries (zlib) are this machine's. Whether the result fits is for verify/ to say.
 */
#pragma once

#include "sdk/sdk.h"

struct sdk_sysroot {
	struct str root; /* has usr/include and usr/lib; "" = it is made */
	struct str own;  /* include/ and lib/, which stand in front of this machine's libstdc++ */
	struct str
		machine; /* prefix of this machine's files, where a sandbox shows them; else "" */
	struct str gcc_dir, triplet; /* as in struct host */
	struct str key;              /* returned: changes with the contents */
	unsigned minor;              /* 28 for glibc 2.28 */
	bool offline;                /* fetch nothing */
	/* The minor of the first glibc whose distributions have "GLIBCXX_3.4.29" */
	unsigned (*minor_of)(struct str version, bool *ret_glibc);
};

/* E_USAGE if a folder has no headers of glibc. */
MUST_USE struct err *sysroot_check(struct arena *a, struct str root);
/* Makes what is missing of root and own. sdk: compiles a file. E_NET, with the hint to name a folder. */
MUST_USE struct err *sysroot_make(struct arena *a, const struct sdk *sdk, struct sdk_sysroot *io);
/* Adds the flags of all commands, and the first and last ones of links. clang needs --gcc-install-dir, too. */
void sysroot_flags(struct arena *a, const struct sdk_sysroot *s, struct strs *io,
	struct strs *io_link, struct strs *io_last);

struct sysroot_zig { /* data/sysroot.yaml */
	const char *version, *sha256, *const *headers, *const *files;
};
struct sysroot_newer {
	unsigned minor;
	const char *macro, *code; /* NULL: not this one */
};
const struct sysroot_zig *sysroot_zig_table(void); /* one row */
TABLE(sysroot_newer);
