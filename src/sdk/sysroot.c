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
	bool found = fs_is_file(path_join(a, root, S("usr/include/features.h")));
	for (size_t i = 0; found && i < sizeof(lib_dirs) / sizeof(lib_dirs[0]); i++)
		if (fs_is_file(str_fmt(a, "%.*s/%s/libc.so", STR(root), lib_dirs[i])))
			return NULL;
	return err_hint(err_new(E_USAGE, "'%.*s' is no sysroot: it has no %s", STR(root),
				found ? "libc.so in usr/lib64 or usr/lib" : "usr/include/features.h"),
		"glibc-devel, glibc-headers and kernel-headers have these files, or libc6-dev and "
		"linux-libc-dev");
}

/* ---- the headers and libraries of a glibc ---- */

struct sysroot_copy {
	struct str from, to;
	const char *const *names; /* only these files, into `to` itself; NULL = the whole tree */
};

static struct err *copy_entry(void *user, const struct fs_entry *e, bool *prune)
{
	const struct sysroot_copy *c = user;
	struct str name = path_base(e->path);
	ARENA(tmp);
	(void)prune;
	if (c->names && !str_is_one_of(name, c->names))
		return NULL;
	struct str to = path_join(&tmp, c->to, c->names ? name : e->path);
	if (S_ISDIR(e->st.st_mode))
		return fs_mkdirs(to);
	TRY(fs_remove(to)); /* what comes later is more specific */
	return fs_copy(path_join(&tmp, c->from, e->path), to, &e->st);
}

static struct err *fetch_zig(struct arena *a, struct str cache, struct str *ret)
{
	CLEANUP(fd_closep) int lock = -1;
	const struct sysroot_zig *zig = sysroot_zig_table();
	struct index_job job = {0};
	struct index_files files = {0};
	struct archive_items items = {0};
	TRY(fs_mkdirs(cache));
	TRY(progress_lock(path_join(a, cache, S("lock")), &lock, "fetches zig"));
	TRY(index_list(a, &job, S("ziglang"), &files));
	VEC_EACH (const struct index_file, f, &files)
		if (str_eq(f->sha256, str_from(zig->sha256)) && !items.n)
			*VEC_PUSH(a, &items) = (struct archive_item){.name = S("ziglang"),
				.url = f->url,
				.file = f->name,
				.size = f->size,
				.sha256 = f->sha256};
	if (!items.n)
		return err_new(E_NET, "the index has no wheel of ziglang %s with the known hash",
			zig->version);
	TRY(index_fetch(a, &job, &items, cache));
	*ret = items.v[0].path;
	return NULL;
}

static struct str zig_member(void *user, struct arena *tmp, struct str path)
{
	(void)user;
	(void)tmp;
	return str_starts_one_of(path, sysroot_zig_table()->without) ? S("") : path;
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
	TRY(fs_mkdirs(include));
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
	strs_add(a, &p.argv, path_join(a, dir, S("ziglang/zig")));
	strs_add(a, &p.argv, S("cc"));
	strs_add(a, &p.argv, str_fmt(a, "--target=x86_64-linux-gnu.2.%u", minor));
	proc_arg(a, &p, "-xc", "-", "-o", path_join(a, dir, S("program")).p, NULL);
	strs_add(a, &p.setenv, str_fmt(a, "ZIG_GLOBAL_CACHE_DIR=%.*s", STR(cache)));
	strs_add(a, &p.setenv, str_fmt(a, "ZIG_LOCAL_CACHE_DIR=%.*s", STR(cache)));
	TRY_CTX(proc_check(a, &p, &r), "zig cannot make the libraries of glibc 2.%u", minor);
	struct sysroot_copy c = {cache, lib, zig->files};
	TRY(fs_walk(cache, copy_entry, &c));
	for (size_t i = 0; zig->files[i]; i++) {
		struct str name = str_from(zig->files[i]);
		struct str link = str_sub(name, 0, str_find(name, S(".so")) + 3);
		if (link.n < name.n && !str_starts(name, S("libc.")))
			TRY(fs_symlink_new(name, path_join(a, lib, link)));
	}
	TRY(fs_symlink_new(S("Scrt1.o"), path_join(a, lib, S("crt1.o"))));
	return fs_write(path_join(a, lib, S("libc.so")),
		S("GROUP(libc.so.6 libc_nonshared.a AS_NEEDED(libld.so.2))\n"), 0644);
}

static struct err *make_root(struct arena *a, const struct sdk_sysroot *w, struct str *ret)
{
	struct str wheel, place = fs_place(a, FS_DATA, str_fmt(a, "sysroot/glibc-2.%u", w->minor));
	struct fs_stage s = {.place = place, .receipt = S("zig")};
	*ret = place;
	if (fs_exists(path_join(a, place, s.receipt)))
		return NULL;
	struct err *e = w->offline ? err_new(E_NET, "nothing may be fetched (--offline)")
				   : fetch_zig(a, fs_place(a, FS_CACHE, S("sysroot")), &wheel);
	if (e)
		return err_hint(err_wrap(e, "cannot get the headers and libraries of glibc 2.%u",
					w->minor),
			"name a folder that has them, an unpacked AlmaLinux 8 for example: "
			"--policy-sysroot DIR");
	progress_note(S("Making"), "headers and libraries of glibc 2.%u, by zig %s", w->minor,
		sysroot_zig_table()->version);
	TRY(fs_stage_begin(a, &s));
	struct str dir = path_join(a, path_dir(s.tree), S("zig"));
	struct unpack_job u = {
		.path = wheel, .root = dir, .id = S("zig"), .closed = true, .place = zig_member};
	e = fs_mkdirs(dir);
	e = e ? e : unpack_zip(a, &u);
	e = e ? e : fill_root(a, w->minor, dir, s.tree);
	e = e ? e : fs_remove_tree(dir); /* before everything is synced */
	e = e ? e : fs_stage_commit(&s, str_from(sysroot_zig_table()->version));
	return err_join(e, fs_stage_end(&s));
}

/* ---- this machine's C++ library with less in it ---- */

enum { INDEX = 0x7fff, HIDDEN = 0x8000, SYMBOL = 24, VERDEF = 20, VERDAUX = 8 };

struct symbol_table {
	struct str symbols, versions; /* .dynsym, .gnu.version */
	uint64_t symbols_at, versions_at;
	bool *late; /* by index of a version: newer than the policy */
};

static struct err *read_part(struct arena *a, const struct elf *e, const char *name,
	struct str *ret, uint64_t *ret_at)
{
	const struct elf_section *s = elf_section(e, str_from(name));
	if (!s)
		return err_new(E_ELF, "there is no section '%s'", name);
	*ret_at = s->offset;
	return bytes_slice(a, e->src, s->offset, s->size, ret);
}

static struct err *read_table(struct arena *a, const struct elf *e, const struct sdk_sysroot *w,
	struct symbol_table *ret)
{
	struct str names, defs;
	uint64_t skip;
	TRY(read_part(a, e, ".dynsym", &ret->symbols, &ret->symbols_at));
	TRY(read_part(a, e, ".gnu.version", &ret->versions, &ret->versions_at));
	TRY(read_part(a, e, ".gnu.version_d", &defs, &skip));
	TRY(read_part(a, e, ".dynstr", &names, &skip));
	if (ret->symbols.n / SYMBOL != ret->versions.n / 2)
		return err_new(E_ELF, "its symbols and their versions do not match");
	ret->late = arena_array(a, INDEX + 1, sizeof(*ret->late));
	for (size_t at = 0, next = 1; next && at + VERDEF <= defs.n; at += next) {
		size_t aux = at + le32(defs.p + at + 12);
		next = le32(defs.p + at + 16);
		if (aux + VERDAUX > defs.n)
			break;
		struct str name = str_sub(names, le32(defs.p + aux), names.n);
		name = str_sub(name, 0, str_chr(name, '\0'));
		ret->late[le16(defs.p + at + 4) & INDEX] = w->newer(name, w->minor);
	}
	return NULL;
}

/* The symbol with the name of symbol i and the newest version that the policy has; 0 = none. */
static size_t older_symbol(const struct symbol_table *t, size_t i)
{
	size_t best = 0;
	for (size_t k = 1, newest = 0; k < t->versions.n / 2; k++) {
		const char *s = t->symbols.p + SYMBOL * k;
		size_t version = le16(t->versions.p + 2 * k) & INDEX;
		if (le32(s) != le32(t->symbols.p + SYMBOL * i) || !le16(s + 6) ||
			t->late[version] || version < newest)
			continue;
		newest = version;
		best = k;
	}
	return best;
}

/* Hides symbols from linkers, which read nothing of a shared library but its symbols: one that is too new gets another
 * name, its own without the first letter. If it was the default of its name, the next older one is now. */
static struct err *hide_late(struct arena *a, const struct sdk_sysroot *w, struct str *io)
{
	struct bytes src = bytes_mem(*io);
	struct elf e;
	struct symbol_table t;
	TRY(elf_open(a, &src, &e));
	TRY(read_table(a, &e, w, &t));
	char *image = memcpy(arena_raw(a, io->n), io->p, io->n);
	for (size_t i = 1; i < t.versions.n / 2; i++) {
		size_t version = le16(t.versions.p + 2 * i), at = SYMBOL * i;
		if (!t.late[version & INDEX])
			continue;
		put_le(image + t.symbols_at + at, le32(t.symbols.p + at) + 1, 4);
		size_t older = version & HIDDEN ? 0 : older_symbol(&t, i);
		if (older)
			put_le(image + t.versions_at + 2 * older,
				le16(t.versions.p + 2 * older) & INDEX, 2);
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
	for (size_t i = 0; i < sysroot_newer_count; i++) {
		const struct sysroot_newer *row = &sysroot_newer_table()[i];
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

/* ---- the two together ---- */

struct err *sysroot_make(struct arena *a, const struct sdk *sdk, struct sdk_sysroot *io)
{
	BUF(key, a);
	buf_fmt(&key, "1 glibc 2.%u %s", io->minor, io->root.n ? "" : sysroot_zig_table()->version);
	TRY(io->root.n ? sysroot_check(a, io->root) : make_root(a, io, &io->root));
	const struct str files[] = {path_join(a, io->root, S("usr/include/features.h")),
		path_join(a, io->gcc_dir, S("libstdc++.so")),
		path_join(a, io->gcc_dir, S("libstdc++.a"))};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		buf_fmt(&key, " %.*s", STR(fs_state(a, files[i])));
	io->key = buf_str(&key);
	return make_own(a, sdk, io);
}

void sysroot_flags(struct arena *a, const struct sdk_sysroot *s, struct strs *io,
	struct strs *io_link, struct strs *io_last)
{
	struct str usr = str_fmt(a, "%.*s/usr/include", STR(s->machine));
	strs_add(a, io, str_fmt(a, "--sysroot=%.*s", STR(s->root)));
	strs_add(a, io, str_fmt(a, "-isystem%.*s/include", STR(s->own)));
	strs_add(a, io, str_fmt(a, "-idirafter%.*s/%.*s", STR(usr), STR(s->triplet)));
	strs_add(a, io, str_fmt(a, "-idirafter%.*s", STR(usr)));
	strs_add(a, io_link, str_fmt(a, "-L%.*s/lib", STR(s->own)));
	for (size_t i = 0; i < sizeof(lib_dirs) / sizeof(lib_dirs[0]); i++) {
		struct str dir = str_fmt(a, "%.*s/%s", STR(s->root), lib_dirs[i]);
		strs_add(a, io_link, str_fmt(a, "-L%.*s", STR(dir)));
		strs_add(a, io_link, str_fmt(a, "-B%.*s", STR(dir))); /* crti.o */
		strs_add(a, io_last, str_fmt(a, "-L%.*s/%s", STR(s->machine), lib_dirs[i]));
	}
	strs_add(a, io_link, S("-Wl,--exclude-libs,libstdc++.a"));
}
