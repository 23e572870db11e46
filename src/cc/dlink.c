/* Links relocatable device code apart from the host's, as nvcc -dlink does; see cc_int.h.
 *
 * Sources: LLVM 21, clang/lib/Driver/ToolChains/HIPUtility.cpp (the host object of a link with --hip-link, and the names
 * of its symbols) and clang/docs/ClangOffloadBundler.rst (the sections of an object). */
#include "base/buf.h"
#include "base/fs.h"
#include "cc/cc_int.h"

/* ---- what objects have ---- */

/* Adds the symbols by which the object's host code reaches the linked code of the GPUs. */
static void add_symbols(struct arena *a, struct str object, struct strs *io)
{
	static const char *const names[] = {"__hip_fatbin", "__hip_gpubin_handle"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct str name = str_from(names[i]), rest = object;
		for (size_t at; at = str_find(rest, name), at < rest.n;) {
			size_t end = at + name.n;
			if (end < rest.n && rest.p[end] == '_')
				end++;
			end += str_span(str_sub(rest, end, rest.n), ASCII_DIGITS "abcdef");
			/* a whole name of a table of strings, which "__hip_fatbin_wrapper" is not */
			if (at && !rest.p[at - 1] && end < rest.n && !rest.p[end])
				strs_put(a, io, str_dup(a, str_sub(rest, at, end)));
			rest = str_sub(rest, end, rest.n);
		}
	}
}

/* Does the object or archive have relocatable code? Then its symbols are added to *io, unless that is NULL. */
static struct err *look_into(struct arena *a, struct str path, struct strs *io, bool *ret)
{
	static const char *const kinds[] = {".o", ".a", ".obj", ".lo", NULL};
	struct str object = {0};
	struct stat st;
	*ret = false;
	if (!str_is_one_of(path_ext(path), kinds) || !fs_try_stat(path, &st) ||
		!S_ISREG(st.st_mode) || !st.st_size)
		return NULL;
	TRY(fs_map(path, &object));
	*ret = str_contains(object, S("__CLANG_OFFLOAD_BUNDLE__hip"));
	bool other = str_contains(object, S(".llvm.offloading"));
	if (*ret && io)
		add_symbols(a, object, io);
	fs_unmap(&object);
	return !other ? NULL
		      : err_new(E_LINK,
				"the relocatable device code of '%.*s' is in the format of LLVM's "
				"new offload driver, which cannot be linked apart",
				STR(path));
}

/* The inputs of a link, with the archives that its -l and -L name. */
static struct strs all_inputs(struct arena *a, const struct nvcc *call)
{
	struct strs out = call->objects;
	VEC_EACH (const struct str, word, &call->words) {
		if (!str_starts(*word, S("-l")))
			continue;
		struct str file = str_fmt(a, "lib%.*s.a", STR(str_sub(*word, 2, word->n)));
		VEC_EACH (const struct str, dir, &call->words) {
			struct str path = path_join(a, str_sub(*dir, 2, dir->n), file);
			if (str_starts(*dir, S("-L")) && fs_is_file(path)) {
				strs_put(a, &out, path);
				break;
			}
		}
	}
	return out;
}

struct err *dlink_needed(struct arena *a, const struct nvcc *call, bool *ret)
{
	struct strs inputs = all_inputs(a, call);
	*ret = false;
	for (size_t i = 0; i < inputs.n && !*ret; i++)
		TRY(look_into(a, inputs.v[i], NULL, ret));
	return NULL;
}

/* ---- the passes ---- */

/* The host object, as assembly: what the objects' symbols mean. They are weak, because a static library whose device
 * code was linked before brings its own. */
static struct str host_text(struct arena *a, const struct strs *symbols)
{
	static const struct {
		const char *name, *section, *content;
	} kinds[] = {
		{"__hip_gpubin_handle", ".hip_gpubin_handle,\"aw\"\n  .p2align 3", "  .zero 8\n"},
		{"__hip_fatbin", ".hip_fatbin,\"a\",@progbits\n  .p2align 12", ""},
	};
	BUF(out, a);
	for (size_t i = 0; symbols->n && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		buf_fmt(&out, "  .section %s\n", kinds[i].section);
		VEC_EACH (const struct str, s, symbols)
			if (str_starts(*s, str_from(kinds[i].name)))
				buf_fmt(&out,
					"  .weak %.*s\n  .protected %.*s\n  .type %.*s,@object\n"
					"%.*s:\n%s",
					STR(*s), STR(*s), STR(*s), STR(*s), kinds[i].content);
	}
	if (symbols->n)
		buf_add(&out, S("  .incbin \"device.hipfb\"\n"));
	buf_add(&out, S("  .section .note.GNU-stack,\"\",@progbits\n"));
	return buf_str(&out);
}

struct err *dlink_passes(struct arena *a, const struct nvcc *call, const struct strs *gpus,
	struct compile_passes *ret)
{
	const struct strs assemble =
		str_split(a, S("-Wno-unused-command-line-argument -c -x assembler"), ' ');
	const struct strs link = str_split(a, S("--hip-link -fgpu-rdc --offload-device-only"), ' ');
	struct str output = path_abs(a, call->output.n ? call->output : S("a_dlink.o"));
	struct str folder = str_fmt(a, "%.*s.passes", STR(output));
	struct str text = path_join(a, folder, S("host.s"));
	const struct compile_step step = {.work = path_join(a, folder, S("work"))};
	struct strs inputs = all_inputs(a, call), linked = {0}, symbols = {0};
	bool has;
	*ret = (struct compile_passes){0};
	if (call->sources.n)
		return err_hint(err_new(E_USAGE, "nvcc's '-dlink' takes objects, not '%.*s'",
					STR(call->sources.v[0])),
			"compile it with '-dc' first");
	VEC_EACH (const struct str, input, &inputs) {
		TRY(look_into(a, *input, &symbols, &has));
		if (has)
			strs_put(a, &linked, *input);
	}
	if (linked.n && !gpus->n)
		return err_hint(
			err_new(E_USAGE, "no GPU is named to link '%.*s' for", STR(linked.v[0])),
			"make the shim folder with --gpu");
	TRY(fs_remove_tree(folder)); /* left by a run that was killed */
	TRY(fs_mkdirs(folder));
	if (symbols.n) { /* otherwise no host code uses the device code */
		/* clang links the code of archives only beside an object */
		struct compile_pass *p =
			compile_add_pass(a, &step, ret, path_join(a, folder, S("empty.o")));
		strs_add_all(a, &p->argv, &assemble);
		strs_add(a, &p->argv, S("/dev/null"));
		strs_add(a, &linked, p->output);
		p = compile_add_pass(a, &step, ret, path_join(a, folder, S("device.hipfb")));
		strs_add_all(a, &p->argv, &link);
		VEC_EACH (const struct str, gpu, gpus)
			strs_fmt(a, &p->argv, "--offload-arch=%.*s", STR(*gpu));
		VEC_EACH (const struct str, word, &call->words)
			if (str_starts(*word, S("-O")))
				strs_add(a, &p->argv, *word);
		strs_add_all(a, &p->argv, &linked);
	}
	struct compile_pass *host = compile_add_pass(a, &step, ret, output);
	strs_add_all(a, &host->argv, &assemble);
	STRS_ADD(a, &host->argv, S("-I"), folder, text);
	return fs_write(text, host_text(a, &symbols), FS_LOOSE);
}

struct str dlink_folder(struct arena *a, const struct compile_passes *passes)
{
	return str_fmt(a, "%.*s.passes", STR(passes->v[passes->n - 1].output));
}
