/* Makes ROCm's wheels, one after the other, of the files that belong to each; the tar gets what is left. See rocm.h. */
#include "wheel/rocm.h"

#include "base/fs_stage.h"
#include "base/map.h"
#include "formats/node.h"
#include "formats/tar.h"
#include "sdk/provider.h"
#include "wheel/archive.h"

extern const struct str rocm_texts[]; /* data/rocm_sdk: MODULE-FILE */
extern const char *const rocm_texts_files[];
extern const size_t rocm_texts_count;

struct rocm_making {
	struct arena *a;
	const struct sdk *sdk;
	struct str root, version; /* the SDK's tree; ROCm's version */
	struct sdk_receipt receipt;
	struct fs_stage stage;
	struct wheel_spec rocm;  /* the wheel that requires the others */
	struct map seen;         /* paths */
	struct devel_links tree; /* the content of the tar; target: "" = a file */
	struct strs *made;       /* paths of finished wheels, as they will be */
};

/* The wheel that has an artifact, NAME_COMPONENT_TARGET. */
static const struct rocm_wheel *row_of(struct str artifact, struct str *ret_target)
{
	const struct rocm_wheel *row = rocm_wheel_table(), *last = row + rocm_wheel_count - 1;
	struct str name, component, rest, target;
	*ret_target = S("");
	if (!str_cut(artifact, '_', &name, &rest) || !str_cut(rest, '_', &component, &target))
		return last;
	struct str stem = str_sub(artifact, 0, artifact.n - target.n - 1);
	for (; row < last; row++)
		if (row->device != str_eq(target, S("generic")) &&
			(str_is_one_of(stem, row->artifacts) ||
				(str_is_one_of(name, row->artifacts) &&
					str_is_one_of(component, row->components))))
			break;
	if (row->device) /* code for gfx950:xnack+ comes with that for gfx950 */
		*ret_target = str_sub(target, 0, str_chr(target, ':'));
	return row;
}

/* The GPUs that get a wheel, sorted. */
static struct strs targets_of(struct arena *a, const struct strs *artifacts)
{
	struct strs targets = {0};
	struct str target;
	VEC_EACH (const struct str, name, artifacts)
		if (row_of(*name, &target)->device)
			strs_put(a, &targets, target);
	strs_sort(&targets);
	return targets;
}

/* Adds a file or link to its wheel, unless it is in the tar alone, as links to folders and to nothing are. */
static struct err *take_file(struct rocm_making *m, const struct rocm_wheel *row,
	struct devel_link *io, struct wheel_spec *s)
{
	struct arena *a = m->a;
	CLEANUP(bytes_close) struct bytes_file in = {.fd = -1};
	struct zip_input w = {.name = str_fmt(a, "%s/%.*s", row->folder, STR(io->relpath))};
	struct wheel_elf elf = {0};
	struct str path = path_join(a, m->root, io->relpath), link = io->target, real;
	struct stat st;
	bool is_elf, out = !row->components[0] || str_contains_one_of(io->relpath, row->without);
	if (out || !fs_real(a, path, &w.path) || !fs_is_file(w.path))
		return NULL;
	TRY(bytes_open(w.path, &in));
	TRY(fs_stat(w.path, &st));
	in.src.budget = NULL; /* as large as the artifacts have it */
	TRY(wheel_elf_read(a, &in.src, io->relpath, &elf, &is_elf));
	struct str soname = elf.dyn.soname, own = path_join(a, path_dir(path), soname);
	bool other = soname.n && !str_eq(own, path);
	if (other && !link.n && fs_real(a, own, &real) && str_eq(real, w.path))
		io->target = soname;
	if (other && io->target.n)
		return NULL;
	w.mode = st.st_mode & 0111 ? 0755 : 0644;
	if (link.n && is_elf && w.mode == 0755 && !str_contains(path_base(w.path), S(".so"))) {
		w.path = S("");
		w.content = str_fmt(a, "#!/bin/bash\nexec -a \"$0\" \"${0%%/*}\"/%.*s \"$@\"\n",
			STR(str_shell(a, link)));
	}
	if (!link.n || soname.n)
		io->target = path_rel(a, str_fmt(a, "/%.*s", STR(w.name)),
			path_dir(str_fmt(a, "/devel/%.*s", STR(io->relpath))));
	*VEC_PUSH(a, &s->files) = w;
	return NULL;
}

static struct err *take_files(struct rocm_making *m, const struct rocm_wheel *row,
	struct devel_links *list, struct wheel_spec *s)
{
	VEC_EACH (const struct sdk_package, p, &m->receipt.packages) {
		struct sdk_file f;
		struct str text, target;
		bool bad;
		if (row_of(p->name, &target) != row || !str_ends(s->name, target))
			continue;
		TRY(fs_read(
			m->a, file_list_path(m->a, m->sdk->dir, p->name), FILE_LIST_MAX, &text));
		while (file_list_next(&text, &f, &bad)) {
			if (!map_put(&m->seen, f.path, m))
				continue; /* in two archives */
			struct devel_link *at = VEC_PUSH(m->a, &list->links);
			*at = (struct devel_link){f.path, f.type == 'l' ? f.value : S("")};
			TRY(cancel_check());
			TRY_CTX(take_file(m, row, at, s), "cannot pack '%.*s'", STR(f.path));
		}
	}
	return NULL;
}

static struct err *write_tar(struct rocm_making *m, struct str path)
{
	enum { BLOCK = 512 };
	CLEANUP(fs_out_abandon) struct fs_out out = {.fd = -1, .dir = -1};
	TRY(fs_out_open(&out, path, 0644));
	VEC_EACH (const struct devel_link, l, &m->tree.links) {
		ARENA(tmp);
		BUF(head, &tmp);
		CLEANUP(fs_unmap) struct str text = {0};
		struct str from = path_join(&tmp, m->root, l->relpath);
		struct tar_member t = {.type = TAR_LINK, .text = l->target, .mode = 0777};
		struct stat st;
		t.path = str_fmt(&tmp, "_rocm_sdk_devel/%.*s", STR(l->relpath));
		if (!l->target.n) {
			TRY(fs_stat(from, &st));
			TRY(fs_map(from, &text));
			t.type = TAR_FILE;
			t.mode = st.st_mode & 0111 ? 0755 : 0644;
			t.size = text.n;
		}
		tar_add(&head, &t);
		fs_out_write(&out, head.p, head.n);
		fs_out_write(&out, text.p, text.n);
		fs_out_zeros(&out, (out.offset + BLOCK - 1) / BLOCK * BLOCK);
	}
	fs_out_zeros(&out, out.offset + (uint64_t)2 * BLOCK);
	return fs_out_commit(&out);
}

/* Makes a wheel require another, with an extra or always. */
static void require(struct rocm_making *m, struct wheel_spec *s, struct str wheel, struct str extra)
{
	const char *form = extra.n ? "%.*s==%.*s; extra == '%.*s'" : "%.*s==%.*s";
	strs_fmt(m->a, &s->requires, form, STR(wheel), STR(m->version), STR(extra));
	if (extra.n)
		strs_put(m->a, &s->extras, extra);
}

/* Adds the texts of a wheel's Python module, builds the wheel, and reads it again. */
static struct err *build_wheel(struct rocm_making *m, struct wheel_spec *s, const char *module)
{
	struct arena *a = m->a;
	struct str path, of, file;
	s->version = m->version;
	for (size_t i = 0; i < rocm_texts_count; i++) {
		struct zip_input f = {.content = rocm_texts[i]};
		(void)str_cut(str_from(rocm_texts_files[i]), '-', &of, &file);
		if (!str_eq(of, str_from(module)))
			continue;
		f.name = str_ends(file, S(".txt")) ? file : path_join(a, of, file);
		*(str_eq(f.name, file) ? VEC_PUSH(a, &s->info) : VEC_PUSH(a, &s->files)) = f;
	}
	TRY(wheel_epoch(&s->epoch));
	TRY(wheel_build(a, s, m->stage.tree, &path));
	CLEANUP(wheel_close) struct wheel w;
	TRY(wheel_open(a, path, &w));
	strs_add(a, m->made, path_join(a, m->stage.place, path_base(path)));
	return wheel_check(&w, 0, "Checking", NULL, NULL);
}

static struct err *make_wheel(
	struct rocm_making *m, const struct rocm_wheel *row, struct str target)
{
	struct arena *a = m->a;
	struct devel_links links = {.version = m->version};
	struct wheel_spec s = {.platform = S("linux_x86_64")};
	struct zip_input more = {.name = str_fmt(a, "%s/__init__.py", row->folder)};
	s.name = str_fmt(a, "%s%.*s", row->name, STR(target));
	require(m, &m->rocm, s.name, str_fmt(a, "%s%.*s", row->extra, STR(target)));
	if (*row->needs)
		require(m, &s, str_from(row->needs), S(""));
	TRY(take_files(m, row, row->device ? &links : &m->tree, &s));
	if (row->device) {
		require(m, &m->rocm, s.name, S("device-all"));
		more.name = str_fmt(a, "%s/.devel_links/%.*s.json", row->folder, STR(target));
		more.content = json_document(a, 2, devel_links_fields, &links);
	} else if (!row->components[0]) {
		more.name = S("rocm_sdk_devel/_devel.tar");
		more.path = path_join(a, path_dir(m->stage.tree), path_base(more.name));
		TRY(write_tar(m, more.path));
	}
	*VEC_PUSH(a, &s.files) = more;
	return build_wheel(m, &s, row->module);
}

static struct err *make_wheels(struct rocm_making *m)
{
	struct strs names = {0}, targets;
	TRY(fs_mkdirs(m->stage.tree));
	*VEC_PUSH(m->a, &m->tree.links) =
		(struct devel_link){S("__init__.py"), S("../_rocm_sdk_core/__init__.py")};
	VEC_EACH (const struct sdk_package, p, &m->receipt.packages)
		strs_add(m->a, &names, p->name);
	targets = targets_of(m->a, &names);
	TABLE_EACH (rocm_wheel, row)
		for (size_t k = 0; k < (row->device ? targets.n : 1); k++)
			TRY(make_wheel(m, row, row->device ? targets.v[k] : S("")));
	return build_wheel(m, &m->rocm, "rocm_sdk");
}

struct err *rocm_wheels_place(struct str provider, struct str output)
{
	ARENA(tmp);
	struct strs names = {0};
	if (!str_eq(provider, str_from(sdk_artifacts.name)))
		return err_new(E_USAGE, "--wheels-out makes wheels of artifacts only");
	if (fs_present(output))
		TRY(fs_list(&tmp, output, &names));
	VEC_EACH (const struct str, name, &names)
		if (!str_starts(*name, S("rocm")) || !str_ends(*name, S(".whl")))
			return err_new(E_USAGE, "'%.*s' has more than ROCm's wheels: '%.*s'",
				STR(output), STR(*name));
	return NULL;
}

struct err *rocm_wheels_preview(
	struct arena *a, const struct sdk_spec *spec, const struct strs *packages, struct strs *ret)
{
	struct strs names = {0};
	struct str name, version = S("");
	struct sdk sdk;
	struct sdk_receipt receipt = {0};
	*ret = (struct strs){0};
	VEC_EACH (const struct str, package, packages) {
		str_cut(*package, ' ', &name, &version);
		strs_add(a, &names, name);
	}
	if (!packages->n) {
		TRY(sdk_open(a, spec, &sdk));
		TRY(sdk_receipt_read(a, sdk.dir, &receipt));
	}
	VEC_EACH (const struct sdk_package, p, &receipt.packages) {
		strs_add(a, &names, p->name);
		version = str_eq(p->name, S("base_lib_generic")) ? p->version : version;
	}
	struct strs targets = targets_of(a, &names);
	TABLE_EACH (rocm_wheel, row)
		for (size_t k = 0; k < (row->device ? targets.n : 1); k++)
			strs_fmt(a, ret, "%s%.*s %.*s", row->name,
				STR(row->device ? targets.v[k] : S("")), STR(version));
	strs_fmt(a, ret, "rocm %.*s", STR(version));
	return NULL;
}

struct err *rocm_wheels_make(
	struct arena *a, const struct sdk *sdk, struct str output, struct strs *ret)
{
	struct rocm_making m = {
		.a = a, .sdk = sdk, .stage = {.place = output}, .seen = {.a = a}, .made = ret};
	const struct node *doc;
	CLEANUP(fd_closep) int lock = -1;
	m.rocm.name = S("rocm");
	m.root = path_join(a, sdk->dir, S("root"));
	TRY(sdk_lock(a, sdk->name, &lock));
	TRY(sdk_receipt_read(a, sdk->dir, &m.receipt));
	TRY(json_read(a, path_join(a, m.root, S("share/therock/therock_manifest.json")), &doc));
	if (!node_bool(node_get(doc, S("flags")), S("KPACK_SPLIT_ARTIFACTS"), false))
		return err_new(E_SDK, "'%.*s' gives no wheels: its device code was not split off",
			STR(sdk->name));
	m.version = node_text(doc, S("rocm_package_version"), S(""));
	TRY(fs_stage_begin(a, &m.stage));
	struct err *e = make_wheels(&m);
	e = e ? e : rocm_wheels_place(sdk->provider, output);
	e = e ? e : fs_stage_commit(&m.stage, S(""));
	return err_join(e, fs_stage_end(&m.stage));
}
