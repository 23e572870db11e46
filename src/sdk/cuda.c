/* The folder `cuda` of a shim folder, which looks like a CUDA toolkit; see shims.h. Headers and link names are there as
 * far as the SDK has what they lead to, so that build systems find out what is missing. */
#include "base/fs.h"
#include "base/vec.h"
#include "cc/cc.h"
#include "hipify/hipify.h"
#include "know/know.h"
#include "sdk/shims.h"

/* Links to all headers of the SDK stand beside CUDA's, which include them. */
static struct err *add_headers(struct arena *a, struct str dir, struct str cuda)
{
	struct str include = path_join(a, cuda, S("include")),
		   here = path_join(a, dir, S("include"));
	struct strs names = {0};
	struct str all;
	TRY(hipify_face_texts(a, &all));
	TRY(fs_mkdirs(include));
	for (size_t i = 0; i < hipify_face_count; i++) {
		const struct hipify_header *h = &hipify_face[i];
		struct str path = path_join(a, include, h->path);
		if (h->hip.n && !fs_exists(path_join(a, here, h->hip)))
			continue;
		TRY(fs_mkdirs(path_dir(path)));
		TRY(fs_write(path, str_sub(all, h->at, h->at + h->n), FS_LOOSE));
	}
	TRY(fs_list(a, here, &names));
	VEC_EACH (const struct str, name, &names) {
		struct str path = path_join(a, include, *name);
		if (!fs_present(path)) /* the prefix /usr may have headers of CUDA itself */
			TRY(fs_symlink_new(str_fmt(a, "../../include/%.*s", STR(*name)), path));
	}
	return NULL;
}

static struct err *add_pkgconfig(struct arena *a, struct str cuda, struct str name)
{
	struct str dir = path_join(a, cuda, S("lib64/pkgconfig"));
	struct str text = str_from(shim_data_table()->pkgconfig);
	text = str_replace(a, text, S("@NAME@"), name);
	text = str_replace(a, text, S("@RELEASE@"), S(CUDA_RELEASE));
	text = str_replace(a, text, S("@CUDA@"), cuda);
	TRY(fs_mkdirs(dir));
	TRY(fs_write(path_join(a, dir, str_fmt(a, "%.*s.pc", STR(name))), text, FS_LOOSE));
	return fs_write(path_join(a, dir, str_fmt(a, "%.*s-" CUDA_RELEASE ".pc", STR(name))), text,
		FS_LOOSE);
}

/* libNAME.so is a link, and libNAME_static.a a linker's script, which names the same library. So is libNAME.so.N, for
 * build systems that look for it, and for programs that open it; by a link against it nobody gets that soname. */
static struct err *add_library(
	struct arena *a, struct str dir, struct str cuda, const struct know_cuda *c)
{
	struct str name = c->name, hip = c->hip,
		   real = str_fmt(a, "%.*s/lib/lib%.*s.so", STR(dir), STR(hip));
	struct str lib = path_join(a, cuda, S("lib64"));
	if (!fs_exists(real) && str_eq(hip, S("hiprtc"))) /* older HIP has it in its runtime */
		real = str_fmt(a, "%.*s/lib/libamdhip64.so", STR(dir));
	if (!fs_exists(real))
		return NULL;
	/* clang's OpenMP comes with the runtime, since nobody who links with g++ would ask for it */
	struct str omp = str_fmt(a, "%.*s/llvm/lib/libomp.so", STR(dir));
	struct str path = str_fmt(a, "%.*s/lib%.*s.so", STR(lib), STR(name));
	if (str_eq(name, S("cudart")) && fs_exists(omp))
		TRY(fs_write(path,
			str_fmt(a, "/* made by rocsmith */\nINPUT(%.*s AS_NEEDED(%.*s))\n",
				STR(real), STR(omp)),
			FS_LOOSE));
	else
		TRY(fs_symlink_new(str_fmt(a, "../../lib/%.*s", STR(path_base(real))), path));
	TRY(fs_symlink_new(str_fmt(a, "../../lib/%.*s", STR(path_base(real))),
		str_fmt(a, "%.*s.%.*s", STR(path), STR(c->version))));
	TRY(fs_write(str_fmt(a, "%.*s/lib%.*s_static.a", STR(lib), STR(name)),
		str_fmt(a, "/* made by rocsmith */\nINPUT(%.*s)\n", STR(real)), FS_LOOSE));
	return add_pkgconfig(a, cuda, name);
}

struct err *shims_cuda(struct arena *a, struct str dir)
{
	struct str cuda = path_join(a, dir, S("cuda"));
	struct know_cudas all;
	for (const char *const *folder = shim_data_table()->cuda_folders; *folder; folder++)
		TRY(fs_mkdirs(path_join(a, cuda, str_from(*folder))));
	TRY(add_headers(a, dir, cuda));
	know_cuda_libraries(a, &all);
	VEC_EACH (const struct know_cuda, c, &all)
		TRY(add_library(a, dir, cuda, c));
	TABLE_EACH (cuda_link, l)
		TRY(fs_symlink_new(str_from(l->target), path_join(a, cuda, str_from(l->path))));
	TABLE_EACH (cuda_file, f)
		TRY(fs_write(path_join(a, cuda, str_from(f->path)),
			str_replace(a, str_from(f->text), S("@RELEASE@"), S(CUDA_RELEASE_FULL)),
			FS_LOOSE));
	return NULL;
}
