/* Makes sysroots; see sysroot.h. One is FS_DATA/sysroot/glibc-2.N, complete once it has its receipt. */
#include "sdk/sysroot.h"

#include <string.h>

#include "archive/index.h"
#include "archive/unpack.h"
#include "base/buf.h"
#include "base/fs_stage.h"
#include "formats/elf.h"
#include "formats/le.h"

enum { MAX_HEADER = 1 << 20, MAX_LIBRARY = 64 << 20, SINGLE_THREADED = 32 };

static const char *const lib_dirs[] = {"usr/lib64", "usr/lib/x86_64-linux-gnu", "usr/lib"};

struct err *sysroot_check(struct arena *a, struct str root)
{
	if (fs_is_file(path_join(a, root, S("usr/include/features.h"))))
		return NULL;
	return err_hint(err_new(E_USAGE, "'%.*s' has no usr/include/features.h", STR(root)),
		"name the root of a system that has glibc-devel or libc6-dev");
}

/* ---- the headers and libraries of a glibc ---- */

struct sysroot_copy {
	struct str from, to;
	const char *const *names; /* only these files, by the names that links ask for; or NULL */
};

static struct err *copy_entry(void *user, struct fs_entry *e)
{
	const struct sysroot_copy *c = user;
	struct str name = path_base(e->path);
	ARENA(tmp);
	if (c->names && !str_is_one_of(name, c->names))
		return NULL;
	name = str_sub(name, 0, str_find(name, S(".so")) + 3);
	struct str to = path_join(&tmp, c->to, c->names ? name : e->path);
	if (S_ISDIR(e->st.st_mode))
		return fs_mkdirs(to);
	TRY(fs_remove(to)); /* a later folder is more specific */
	return fs_copy(path_join(&tmp, c->from, e->path), to, &e->st);
}

static struct err *fetch_zig(struct arena *a, struct str cache, struct str *ret)
{
	const struct sysroot_zig *zig = sysroot_zig_table();
	struct str config = {0};
	struct index_job job = {.config = &config};
	struct archive_items files = {0};
	struct archive_items items = {0};
	TRY(index_list(a, &job, S("ziglang"), &files));
	VEC_EACH (const struct archive_item, f, &files)
		if (str_eq(f->sha256, str_from(zig->sha256)) && !items.n)
			*VEC_PUSH(a, &items) = *f;
	if (!items.n)
		return err_new(E_NET, "the index has no wheel of ziglang %s with the known hash",
			zig->version);
	TRY(index_fetch(a, &job, &items, cache));
	*ret = items.v[0].path;
	return NULL;
}

/* Fills the tree by the zig in a folder. */
static struct err *fill_root(struct arena *a, unsigned minor, struct str dir, struct str tree)
{
	const struct sysroot_zig *zig = sysroot_zig_table();
	struct str include = path_join(a, tree, S("usr/include")), text;
	struct str lib = path_join(a, tree, S("usr/lib")), cache = path_join(a, dir, S("cache"));
	struct str features = path_join(a, include, S("features.h"));
	struct proc p = {.input = S("int main(void) { return 0; }\n"), .timeout = 1200};
	struct proc_result r;
	TRY(fs_mkdirs(lib));
	for (size_t i = 0; zig->headers[i]; i++) {
		struct sysroot_copy c = {.to = include};
		c.from = str_fmt(a, "%.*s/ziglang/lib/libc/include/%s", STR(dir), zig->headers[i]);
		TRY(fs_walk(c.from, copy_entry, &c));
	}
	/* zig's headers are the newest ones, with conditions on this macro, which its clang gets as an option */
	TRY(fs_read(a, features, MAX_HEADER, &text));
	text = str_fmt(a, "#define __GLIBC_MINOR__ %u\n%.*s", minor, STR(text));
	TRY(fs_write(features, text, 0644));
	STRS_ADD(a, &p.argv, path_join(a, dir, S("ziglang/zig")), S("cc"));
	strs_fmt(a, &p.argv, "--target=x86_64-linux-gnu.2.%u", minor);
	proc_arg(a, &p, "-xc", "-", "-o", path_join(a, dir, S("program")).p, NULL);
	strs_fmt(a, &p.setenv, "ZIG_GLOBAL_CACHE_DIR=%.*s", STR(cache));
	strs_fmt(a, &p.setenv, "ZIG_LOCAL_CACHE_DIR=%.*s", STR(cache));
	TRY_CTX(proc_check(a, &p, &r), "zig cannot make the libraries of glibc 2.%u", minor);
	struct sysroot_copy c = {cache, lib, zig->files};
	TRY(fs_walk(cache, copy_entry, &c));
	TRY(fs_rename(path_join(a, lib, S("libc.so")), path_join(a, lib, S("libc.so.6"))));
	return fs_write(path_join(a, lib, S("libc.so")),
		S("GROUP(libc.so.6 libc_nonshared.a AS_NEEDED(libld.so libpthread.so libdl.so "
		  "librt.so libutil.so))\n"),
		0644);
}

static struct err *make_root(struct arena *a, const struct sdk_sysroot *w, struct str *ret)
{
	struct str wheel, place = fs_place(a, FS_DATA, str_fmt(a, "sysroot/glibc-2.%u", w->minor));
	struct str cache = fs_place(a, FS_CACHE, S("sysroot"));
	struct fs_stage s = {.place = place, .receipt = S("zig")};
	CLEANUP(fd_closep) int lock = -1;
	*ret = place;
	TRY(fs_mkdirs(cache));
	TRY(progress_lock(path_join(a, cache, S("lock")), &lock, "makes a sysroot"));
	if (fs_exists(path_join(a, place, s.receipt)))
		return fs_hold(place, FS_HOLD_USED);
	struct err *e = w->offline ? err_new(E_NET, "nothing may be fetched (--offline)")
				   : fetch_zig(a, cache, &wheel);
	if (e)
		return err_hint(
			err_wrap(e, "cannot get the headers and libraries of glibc 2.%u", w->minor),
			"name a folder that has them, an unpacked AlmaLinux 8 for example: "
			"--policy-sysroot DIR");
	progress_note(S("Making"), "headers and libraries of glibc 2.%u, by zig %s", w->minor,
		sysroot_zig_table()->version);
	TRY(fs_stage_begin(a, &s));
	struct str dir = path_join(a, path_dir(s.tree), S("zig"));
	struct unpack_job u = {.path = wheel, .root = dir, .id = S("zig"), .closed = true};
	e = fs_mkdirs(dir);
	e = e ? e : unpack_zip(a, &u);
	e = e ? e : fill_root(a, w->minor, dir, s.tree);
	e = e ? e : fs_remove_tree(dir); /* before everything is synced */
	e = e ? e : fs_stage_commit(&s, str_from(sysroot_zig_table()->version));
	e = err_join(e, fs_stage_end(&s));
	return e ? e : fs_hold(place, FS_HOLD_USED);
}

/* ---- this machine's C++ library with less in it ---- */

/* Hides symbols from linkers, which read nothing of a shared library but its symbols: one that is too new gets another
 * name, its own without the first letter. Linkers number versions in the order of their definitions. */
static struct err *hide_late(struct arena *a, const struct sdk_sysroot *w, struct str *io)
{
	enum { INDEX = 0x7fff, SYMBOL = 24 };
	struct bytes src = bytes_mem(*io);
	struct elf e;
	struct elf_dynamic dyn;
	struct str of_symbols;
	bool glibc;
	TRY(elf_open(a, &src, &e));
	TRY(elf_needs(a, &e, &dyn));
	const struct elf_section *symbols = elf_section(&e, S(".dynsym"));
	const struct elf_section *versions = elf_section(&e, S(".gnu.version"));
	if (!symbols || !versions || symbols->size / SYMBOL != versions->size / 2 ||
		symbols->offset > io->n || symbols->size > io->n - symbols->offset)
		return err_new(E_ELF, "it has no symbols with versions");
	TRY(bytes_slice(a, &src, versions->offset, versions->size, &of_symbols));
	char *image = memcpy(arena_raw(a, io->n), io->p, io->n);
	for (size_t i = 1; i < of_symbols.n / 2; i++) {
		char *symbol = image + symbols->offset + SYMBOL * i;
		size_t version = le16(of_symbols.p + 2 * i) & INDEX;
		if (version && version <= dyn.offers.n &&
			w->minor_of(dyn.offers.v[version - 1], &glibc) > w->minor)
			put_le(symbol, le32(symbol) + 1, 4);
	}
	io->p = image;
	return NULL;
}

/* Makes own/lib of a libstdc++.so.6. Without libstdc++.a, or where gcc-toolset has such a library already, newer symbols
 * show in the result. */
static struct err *make_library(
	struct arena *a, const struct sdk *sdk, const struct sdk_sysroot *w, struct str code)
{
	struct str lib = path_join(a, w->own, S("lib")), text, real;
	struct proc p = {.input = code, .merge = true};
	struct proc_result r;
	struct sdk_binds binds = {0};
	TRY(fs_mkdirs(lib));
	if (!fs_is_file(path_join(a, w->gcc_dir, S("libstdc++.a"))) ||
		!fs_real(a, path_join(a, w->gcc_dir, S("libstdc++.so")), &real))
		return NULL;
	TRY(fs_read(a, real, MAX_LIBRARY, &text));
	if (!elf_is(text))
		return NULL;
	TRY_CTX(hide_late(a, w, &text), "cannot use '%.*s'", STR(real));
	TRY(fs_write(path_join(a, lib, S("libstdc++.so.6")), text, 0644));
	*VEC_PUSH(a, &binds) = (struct sdk_bind){.path = lib, .writable = true};
	strs_add(a, &p.argv, sdk->clang);
	proc_arg(a, &p, "-x", "c", "-", "-c", "-O2", "-fPIC",
		"-DOWN=__attribute__((visibility(\"hidden\")))", "-o",
		path_join(a, lib, S("stand_in.o")).p, NULL);
	TRY(sdk_wrap(a, sdk, &binds, &p));
	TRY(proc_check(a, &p, &r));
	return fs_write(path_join(a, lib, S("libstdc++.so")),
		S("INPUT(libstdc++.so.6 -l:libstdc++.a stand_in.o)\n"), 0644);
}

/* Makes the folder `own`. */
static struct err *make_own(struct arena *a, const struct sdk *sdk, const struct sdk_sysroot *w)
{
	struct str include = path_join(a, w->own, S("include"));
	struct str made = path_join(a, w->own, S("made"));
	bool same;
	BUF(config, a);
	BUF(code, a);
	TRY(fs_receipt_check(made, w->key, &same));
	if (same)
		return NULL;
	buf_fmt(&config, "#include_next <bits/c++config.h>\n");
	TABLE_EACH (sysroot_newer, row) {
		if (row->minor > w->minor && row->macro)
			buf_fmt(&config, "#undef %s\n", row->macro);
		else if (row->minor > w->minor)
			buf_fmt(&code, "%s", row->code);
	}
	TRY(fs_remove_tree(w->own));
	TRY(fs_mkdirs(path_join(a, include, S("bits"))));
	TRY(fs_mkdirs(path_join(a, include, S("sys"))));
	TRY(fs_write(path_join(a, include, S("bits/c++config.h")), buf_str(&config), 0644));
	/* libstdc++ includes this one wherever it is found */
	if (w->minor < SINGLE_THREADED)
		TRY(fs_write(path_join(a, include, S("sys/single_threaded.h")),
			S("#pragma once\nstatic const char __libc_single_threaded = 0;\n"), 0644));
	TRY(make_library(a, sdk, w, buf_str(&code)));
	return fs_write(made, w->key, 0644);
}

struct err *sysroot_make(struct arena *a, const struct sdk *sdk, struct sdk_sysroot *io)
{
	const char *zig = io->root.n ? "" : sysroot_zig_table()->version;
	TRY(io->root.n ? sysroot_check(a, io->root) : make_root(a, io, &io->root));
	io->key = str_fmt(a, "1 glibc 2.%u %s %.*s %.*s", io->minor, zig,
		STR(fs_state(a, path_join(a, io->root, S("usr/include/features.h")))),
		STR(fs_state(a, path_join(a, io->gcc_dir, S("libstdc++.so")))));
	return make_own(a, sdk, io);
}

void sysroot_flags(struct arena *a, const struct sdk_sysroot *s, struct strs *io,
	struct strs *io_link, struct strs *io_last)
{
	struct str usr = str_fmt(a, "%.*s/usr/include", STR(s->machine));
	strs_fmt(a, io, "--sysroot=%.*s", STR(s->root));
	strs_fmt(a, io, "-isystem%.*s/include", STR(s->own));
	strs_fmt(a, io, "-idirafter%.*s/%.*s", STR(usr), STR(s->triplet));
	strs_fmt(a, io, "-idirafter%.*s", STR(usr));
	strs_fmt(a, io_link, "-L%.*s/lib", STR(s->own));
	for (size_t i = 0; i < sizeof(lib_dirs) / sizeof(lib_dirs[0]); i++) {
		struct str dir = str_fmt(a, "%.*s/%s", STR(s->root), lib_dirs[i]);
		strs_fmt(a, io_link, "-L%.*s", STR(dir));
		strs_fmt(a, io_link, "-B%.*s", STR(dir)); /* crti.o */
		strs_fmt(a, io_last, "-L%.*s/%s", STR(s->machine), lib_dirs[i]);
	}
	strs_add(a, io_link, S("-Wl,--exclude-libs,libstdc++.a"));
	/* since 2.34 these are parts of libc, and a build on such a machine need not name them */
	strs_add(a, io_last,
		S("-Wl,--push-state,--as-needed,-lpthread,-ldl,-lrt,-lutil,--pop-state"));
}
