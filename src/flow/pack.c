/* Packs linked modules, their generated loaders and pure-Python files into a wheel; see build.h. */
#include "base/fs.h"
#include "flow/build.h"
#include "know/know.h"
#include "make/make.h"
#include "wheel/wheel.h"

extern const struct str flow_loader; /* the text of loader.py */

static void add_modules(const struct make *make, struct wheel_spec *w, struct strs *elfs)
{
	struct arena *a = make->a;
	VEC_EACH (const struct plan_module, m, &make->plan->modules) {
		struct str path = make_module_path(make, m);
		struct str data = str_fmt(
			a, "%.*s-%.*s.data/", STR(wheel_normalise(a, w->name)), STR(w->version));
		strs_add(a, elfs, path);
		*VEC_PUSH(a, &w->files) = (struct zip_input){
			.name = m->program ? str_fmt(a, "%.*s%.*s", STR(data), STR(m->file))
					   : m->file,
			.path = path,
			.mode = 0755};
		if (m->loader)
			*VEC_PUSH(a, &w->files) = (struct zip_input){.name = m->loader_file,
				.content = str_replace(
					a, flow_loader, S("@LIBRARY@"), path_base(m->file))};
	}
}

struct err *build_pack(const struct make *m, struct str out, struct build_result *ret)
{
	struct arena *a = m->a;
	const struct plan *p = m->plan;
	struct wheel_spec w = {.name = p->name,
		.version = p->version,
		.summary = p->summary,
		.license = p->license,
		.requires_python = p->requires_python,
		.requires = p->requires,
		.python = p->python_tag,
		.abi = p->abi_tag,
		.jobs = m->jobs};
	struct wheel_platform platform;
	/* License-File names by convention (core metadata 2.4) */
	static const char *const licenses[] = {
		"LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING", "NOTICE", "AUTHORS", NULL};
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct strs elfs = {0};
	struct stat st;
	struct str dir = path_clean(a, path_join(a, p->project, p->python_dir));
	TRY(fs_guard_sources(p->project, &guard));
	TRY(wheel_epoch(&w.epoch));
	if (!w.python.n) { /* "3.14" -> "cp314" */
		struct str major, minor;
		str_cut(m->sdk_python, '.', &major, &minor);
		w.python = str_fmt(a, "cp%.*s%.*s", STR(major), STR(minor));
		w.abi = w.python;
	}
	add_modules(m, &w, &elfs);
	VEC_EACH (const struct str, name, &p->python_files) {
		struct str path = path_join(a, dir, *name);
		*VEC_PUSH(a, &w.files) = (struct zip_input){.name = *name,
			.path = path,
			.mode = fs_try_stat(path, &st) && (st.st_mode & 0100) ? 0755 : 0644};
	}
	for (size_t i = 0; licenses[i]; i++) {
		struct str path = path_join(a, p->project, str_from(licenses[i]));
		if (fs_is_file(path) && !fs_leads_out(path))
			*VEC_PUSH(a, &w.info) = (struct zip_input){
				.name = str_fmt(a, "licenses/%s", licenses[i]), .path = path};
	}
	TRY(wheel_platform(a, &elfs, &platform));
	w.platform = platform.tag;
	/* the libraries of ROCm that the modules link come with AMD's wheels, or with another requirement */
	struct str wheels = plan_rocm_wheels(a, p, m->sdk);
	bool wanted = false;
	VEC_EACH (const struct str, lib, &platform.outside)
		wanted = wanted || know_provider(*lib);
	VEC_EACH (const struct str, r, &w.requires)
		wanted = wanted && !wheel_brings_rocm(a, *r);
	if (wanted && wheels.n)
		strs_add(a, &w.requires, wheels);
	ret->platform_why = platform.why;
	TRY(fs_make_output(out));
	TRY(wheel_build(a, &w, out, &ret->wheel));
	TRY(fs_stat(ret->wheel, &st));
	ret->wheel_size = (uint64_t)st.st_size;
	return build_provenance(a, p, NULL, NULL, ret);
}
