/* Makes ROCm's wheels: sorts the files of an SDK into one specification for each wheel, and builds these. See rocm.h. */
#include "wheel/rocm.h"

#include "base/fs_stage.h"
#include "base/map.h"
#include "formats/elf_edit.h"
#include "formats/node.h"
#include "formats/tar.h"
#include "sdk/provider.h"
#include "wheel/archive.h"

extern const struct str rocm_modules[]; /* data/rocm_sdk */
extern const char *const rocm_modules_files[];
extern const size_t rocm_modules_count;

static const struct json_field made_fields[] = FIELDS_ONLY(struct rocm_made, name, path, size);
const struct json_field rocm_wheels_fields[] = {
	FIELD_CONST("schema", "rocsmith.rocm-wheels/1"),
	FIELDS(struct rocm_wheels, version, output),
	FIELD_LIST("wheels", struct rocm_wheels, wheels, made_fields),
	{.kind = FIELD_END},
};

struct rocm_part { /* a wheel to be */
	const struct rocm_wheel *row;
	struct str target; /* "gfx942", or "" */
	struct wheel_spec spec;
	struct devel_links links;
};

struct rocm_making {
	struct arena *a;
	struct rocm_wheels *r;
	struct fs_stage stage;
	unsigned jobs;
	size_t changed;  /* number of files that were */
	struct str root; /* of the tree */
	VEC(struct rocm_part) parts;
	struct map members;      /* paths that are in a wheel, with its row */
	struct devel_links tree; /* all others, too; target: "" = a file */
};

/* ---- whose file it is ---- */

/* The wheel that claims an artifact, NAME_COMPONENT_TARGET. */
static struct rocm_part *part_of(struct rocm_making *m, struct str artifact)
{
	const struct rocm_wheel *row = rocm_wheel_table();
	struct str rest = artifact, target = S(""), name = S(""), component = S("");
	(void)str_next(&rest, '_', &name);
	(void)str_next(&rest, '_', &component);
	struct str stem = str_fmt(m->a, "%.*s_%.*s", STR(name), STR(component));
	for (size_t i = 1; i < rocm_wheel_count; i++, row++) {
		bool whole = str_is_one_of(name, row->artifacts) &&
			     str_is_one_of(component, row->components);
		if ((whole || str_is_one_of(stem, row->artifacts)) &&
			row->device != str_eq(rest, S("generic")))
			break;
	}
	if (row->device) /* code for gfx950:xnack+ comes with that for gfx950 */
		target = str_sub(rest, 0, str_chr(rest, ':'));
	VEC_EACH (struct rocm_part, p, &m->parts)
		if (p->row == row && str_eq(p->target, target))
			return p;
	struct rocm_part *p = VEC_PUSH(m->a, &m->parts);
	*p = (struct rocm_part){
		row, target, {.platform = S("linux_x86_64")}, {.version = m->r->version}};
	p->spec.name = str_fmt(m->a, "%s%.*s", row->name, STR(target));
	return p;
}

/* Lets a program or library find the libraries of other wheels; it is changed in a copy. */
static struct err *set_search(struct rocm_making *m, const char *const *folders,
	const struct elf_dynamic *dyn, struct wheel_file *io)
{
	CLEANUP(fd_closep) int fd = -1;
	struct elf_change to[] = {{ELF_RUNPATH, S(""), S("")}, {ELF_RPATH, S(""), S("")}};
	struct strs all = {0};
	struct str rest = dyn->runpath.n ? dyn->runpath : dyn->rpath, element, from = io->path;
	struct stat st = {.st_mode = 0644};
	bool changed;
	while (str_next(&rest, ':', &element))
		strs_put(m->a, &all, element);
	for (size_t i = 0; folders[i]; i++)
		strs_put(m->a, &all, wheel_way(m->a, path_dir(io->name), str_from(folders[i])));
	to[1].now = str_join(m->a, &all, S(":"));
	io->path = str_fmt(m->a, "%.*s/%zu", STR(path_dir(m->stage.tree)), m->changed++);
	TRY(fs_copy(from, io->path, &st));
	TRY(fs_open_shared(io->path, 0, &fd));
	return elf_edit_fd(fd, &(struct elf_changes){to, 2, 2}, &changed);
}

/* Adds a file or link to its wheel, unless it is in the devel tree only, as dangling links and those to folders are. */
static struct err *take_file(struct rocm_making *m, struct rocm_part *p, const struct sdk_file *f)
{
	struct arena *a = m->a;
	CLEANUP(bytes_close) struct bytes_file in = {.fd = -1};
	struct devel_links *list = p->row->device ? &p->links : &m->tree;
	struct devel_link *at = VEC_PUSH(a, &list->links);
	struct wheel_file w = {.name = str_fmt(a, "%s/%.*s", p->row->folder, STR(f->path))};
	struct wheel_elf elf = {0};
	struct str path = path_join(a, m->root, f->path), real;
	struct stat st;
	bool is_elf, link = f->type == 'l';
	*at = (struct devel_link){f->path, link ? f->value : S("")};
	if (!p->row->components[0] || !fs_real(a, path, &w.path) || !fs_is_file(w.path))
		return NULL;
	TRY(bytes_open(w.path, &in));
	TRY(fs_stat(w.path, &st));
	in.src.budget = NULL; /* as large as the artifacts have it */
	TRY(wheel_elf_read(a, &in.src, f->path, &elf, &is_elf));
	struct str soname = elf.dyn.soname;
	if (soname.n && !str_eq(path_base(path), soname)) {
		bool named = fs_real(a, path_join(a, path_dir(path), soname), &real);
		if (!link && named && str_eq(real, w.path))
			at->target = soname;
		if (link || at->target.n)
			return NULL;
	}
	w.executable = st.st_mode & 0111;
	if (link && is_elf && w.executable && !str_contains(path_base(w.path), S(".so"))) {
		w.path = S("");
		w.content = str_fmt(a,
			"#!/bin/bash\nexec -a \"$0\" \"$(dirname \"$(readlink -f \"$0\")\")\"/%.*s "
			"\"$@\"\n",
			STR(str_shell(a, f->value)));
	} else if (elf.dyn.needed.n) {
		TRY(set_search(m, p->row->paths, &elf.dyn, &w));
	}
	map_put(&m->members, f->path, (void *)p->row);
	*VEC_PUSH(a, &p->spec.files) = w;
	return NULL;
}

static struct err *read_tree(
	struct rocm_making *m, struct str dir, const struct sdk_receipt *receipt)
{
	MAP(seen, m->a);
	(void)part_of(m, S("")); /* that of the devel tree, which is a Python package, too */
	VEC_PUSH(m->a, &m->tree.links)->relpath = S("__init__.py");
	map_put(&m->members, S("__init__.py"), (void *)rocm_wheel_table());
	VEC_EACH (const struct sdk_package, p, &receipt->packages) {
		struct sdk_file f;
		struct str text;
		bool bad;
		TRY(fs_read(m->a, file_list_path(m->a, dir, p->name), FILE_LIST_MAX, &text));
		while (file_list_next(&text, &f, &bad)) {
			struct rocm_part *part = part_of(m, p->name);
			for (size_t i = 0; part->row->without[i]; i++)
				if (str_contains(f.path, str_from(part->row->without[i])))
					part = m->parts.v;
			/* some archives share a file, and we added their manifests */
			if (str_starts(f.path, S("share/therock/artifacts/")) ||
				!map_put(&seen, f.path, part))
				continue;
			TRY(cancel_check());
			TRY_CTX(take_file(m, part, &f), "cannot pack '%.*s'", STR(f.path));
		}
	}
	return NULL;
}

/* ---- what is not in the artifacts ---- */

static void add_text(struct rocm_making *m, struct wheel_spec *s, struct str name, struct str text)
{
	*VEC_PUSH(m->a, &s->files) = (struct wheel_file){.name = name, .content = text};
}

/* Adds a Python module, and as commands those of its programs that there are; that of `rocm` is in the module. */
static void add_module(
	struct rocm_making *m, struct wheel_spec *s, const char *module, const char *const *scripts)
{
	struct str text = S(""), file = str_fmt(m->a, "%s.py", module);
	BUF(commands, m->a);
	for (size_t i = 0; i < rocm_modules_count; i++)
		text = str_eq(file, str_from(rocm_modules_files[i])) ? rocm_modules[i] : text;
	add_text(m, s, str_fmt(m->a, "%s/__init__.py", module), text);
	for (size_t i = 0; scripts[i]; i++)
		if (!s->platform.n || map_has(&m->members, str_fmt(m->a, "bin/%s", scripts[i])))
			buf_fmt(&commands, "%s = %s:main\n", scripts[i], module);
	text = str_fmt(m->a, "[console_scripts]\n%.*s", STR(buf_str(&commands)));
	*VEC_PUSH(m->a, &s->info) =
		(struct wheel_file){.name = S("entry_points.txt"), .content = text};
}

/* The path of a wheel's file as seen from the place of that file in the devel tree. */
static struct str across(struct arena *a, const struct rocm_wheel *row, struct str path)
{
	return path_rel(a, str_fmt(a, "/%s/%.*s", row->folder, STR(path)),
		path_dir(str_fmt(a, "/_/%.*s", STR(path))));
}

/* Writes the archive of the devel tree. */
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
		struct stat st;
		const struct rocm_wheel *row = map_get(&m->members, l->relpath);
		struct tar_member t = {.type = TAR_LINK, .mode = 0777};
		t.path = str_fmt(&tmp, "_rocm_sdk_devel/%.*s", STR(l->relpath));
		t.text = row ? across(&tmp, row, l->relpath) : l->target;
		if (!t.text.n) {
			TRY(fs_stat(from, &st));
			TRY(fs_map(from, &text));
			t = (struct tar_member){
				TAR_FILE, t.path, S(""), st.st_mode & 0111 ? 0755 : 0644, text.n};
		}
		tar_add(&head, &t);
		fs_out_write(&out, head.p, head.n);
		fs_out_write(&out, text.p, text.n);
		fs_out_zeros(&out, (out.offset + BLOCK - 1) / BLOCK * BLOCK);
	}
	fs_out_zeros(&out, out.offset + (uint64_t)2 * BLOCK);
	return fs_out_commit(&out);
}

/* ---- the wheels ---- */

/* Makes a wheel require another, with an extra or always. */
static void require(struct rocm_making *m, struct wheel_spec *s, struct str wheel, struct str extra)
{
	const char *form = extra.n ? "%.*s==%.*s; extra == '%.*s'" : "%.*s==%.*s";
	strs_add(m->a, &s->requires,
		str_fmt(m->a, form, STR(wheel), STR(m->r->version), STR(extra)));
	if (extra.n)
		strs_put(m->a, &s->extras, extra);
}

/* Builds a wheel, and reads it again. */
static struct err *build_wheel(struct rocm_making *m, struct wheel_spec *s)
{
	ARENA(tmp);
	struct wheel w;
	struct str path;
	s->version = m->r->version;
	s->jobs = m->jobs;
	TRY(wheel_epoch(&s->epoch));
	TRY(wheel_build(&tmp, s, m->stage.tree, &path));
	TRY(wheel_open(&tmp, path, &w));
	path = path_join(m->a, m->r->output, path_base(path));
	*VEC_PUSH(m->a, &m->r->wheels) = (struct rocm_made){s->name, path, w.zip.size};
	struct err *e = wheel_check(&w, s->jobs, "Checking", NULL, NULL);
	wheel_close(&w);
	return e;
}

static struct err *make_wheels(struct rocm_making *m)
{
	static const char *const scripts[] = {"rocm-sdk", NULL};
	struct arena *a = m->a;
	struct wheel_spec rocm = {.name = S("rocm")};
	TRY(fs_mkdirs(m->stage.tree));
	VEC_EACH (struct rocm_part, p, &m->parts) {
		struct wheel_file tar = {.name = S("rocm_sdk_devel/_devel.tar")};
		struct str links =
			str_fmt(a, "%s/.devel_links/%.*s.json", p->row->folder, STR(p->target));
		require(m, &rocm, p->spec.name,
			str_fmt(a, "%s%.*s", p->row->extra, STR(p->target)));
		if (*p->row->needs)
			require(m, &p->spec, str_from(p->row->needs), S(""));
		VEC_EACH (struct devel_link, l, &p->links.links)
			if (map_has(&m->members, l->relpath))
				l->target = across(a, p->row, l->relpath);
		if (p->row->device) {
			require(m, &rocm, p->spec.name, S("device-all"));
			add_text(m, &p->spec, links,
				json_document(a, 2, devel_links_fields, &p->links));
		} else {
			add_module(m, &p->spec, p->row->module, p->row->scripts);
		}
		if (!p->row->components[0]) {
			tar.path = path_join(a, path_dir(m->stage.tree), path_base(tar.name));
			TRY(write_tar(m, tar.path));
			*VEC_PUSH(a, &p->spec.files) = tar;
		} else if (!p->row->device) {
			add_text(m, &p->spec, str_fmt(a, "%s/__init__.py", p->row->folder), S(""));
		}
		TRY(build_wheel(m, &p->spec));
	}
	add_module(m, &rocm, "rocm_sdk", scripts);
	add_text(m, &rocm, S("rocm_sdk/__main__.py"), S("from . import main\n\nmain()\n"));
	return build_wheel(m, &rocm);
}

struct err *rocm_wheels_place(struct str provider, struct str output)
{
	if (!str_eq(provider, str_from(sdk_artifacts.name)))
		return err_new(E_USAGE, "--wheels-out makes wheels of artifacts only");
	return fs_present(output) ? err_new(E_USAGE, "'%.*s' is there already", STR(output)) : NULL;
}

struct err *rocm_wheels_make(
	struct arena *a, const struct sdk *sdk, unsigned jobs, struct rocm_wheels *r)
{
	struct rocm_making m = {.a = a, .r = r, .stage = {.place = r->output}, .jobs = jobs};
	struct sdk_receipt receipt;
	struct strs damaged = {0};
	const struct node *doc;
	CLEANUP(fd_closep) int lock = -1;
	m.members.a = a;
	m.root = path_join(a, sdk->dir, S("root"));
	TRY(sdk_lock(a, sdk->name, &lock));
	TRY(sdk_receipt_read(a, sdk->dir, &receipt));
	TRY(sdk_find_damage(a, sdk->dir, true, &damaged, NULL));
	if (damaged.n)
		return err_new(E_CORRUPT,
			"files of '%.*s' have changed: 'rocsmith sdk verify %.*s' tells which",
			STR(damaged.v[0]), STR(sdk->name));
	TRY(json_read(a, path_join(a, m.root, S("share/therock/therock_manifest.json")), &doc));
	if (!node_bool(node_get(doc, S("flags")), S("KPACK_SPLIT_ARTIFACTS"), false))
		return err_new(E_SDK, "'%.*s' gives no wheels: its device code was not split off",
			STR(sdk->name));
	r->version = node_text(doc, S("rocm_package_version"), S(""));
	TRY(fs_mkdirs(path_dir(r->output)));
	TRY(fs_stage_begin(a, &m.stage));
	struct err *e = read_tree(&m, sdk->dir, &receipt);
	e = e ? e : make_wheels(&m);
	e = e ? e : rocm_wheels_place(sdk->provider, r->output);
	e = e ? e : fs_stage_commit(&m.stage, S(""));
	return err_join(e, fs_stage_end(&m.stage));
}
