/* Delivers the result of another build system to the output folder, and inspects it; see build.h. */
#include "base/fs_stage.h"
#include "base/progress.h"
#include "devcode/devcode.h"
#include "flow/build.h"
#include "flow/get.h"
#include "know/know.h"
#include "wheel/wheel.h"

/* ---- a wheel ---- */

/* Removes the folders of this machine from the search paths of the wheel's libraries. */
static struct err *relocate(struct foreign *f, struct wheel_relocation *r)
{
	const struct str dirs[] = {f->dir, f->plan->project, f->sdk->root, f->plan->sdk.prefix};
	struct str real;
	struct know_cudas cudas;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		/* AMD's standard location is the same on every machine */
		if (dirs[i].n < 2 || str_starts(dirs[i], S("/opt/rocm")))
			continue;
		strs_put(f->a, &r->gone, dirs[i]);
		if (fs_real(f->a, dirs[i], &real))
			strs_put(f->a, &r->gone, real);
	}
	know_cuda_libraries(f->a, &cudas);
	VEC_EACH (const struct know_cuda, c, &cudas)
		*VEC_PUSH(f->a, &r->copies) =
			(struct wheel_copy){str_fmt(f->a, "lib%.*s.so", STR(c->name)),
				str_fmt(f->a, "%.*s/lib/lib%.*s.so", STR(f->rocm), STR(c->hip))};
	TRY(fs_remove_tree(r->scratch));
	TRY(fs_mkdirs(r->scratch));
	TRY(wheel_epoch(&r->epoch));
	struct err *e = wheel_relocate(f->a, r);
	if (e && (e->code == E_ZIP || e->code == E_WHEEL)) { /* verify will report the damage */
		err_free(e);
		e = NULL;
		r->changed.n = r->left_out.n = 0;
		r->requires = S("");
	}
	TRY_CTX(e, "cannot remove this machine's folders from the libraries of '%.*s'",
		STR(r->from));
	if (r->changed.n)
		progress_note(S("Cleaned"), "the search paths of %zu libraries", r->changed.n);
	if (r->left_out.n)
		progress_note(S("Left out"), "copies of ROCm's libraries under CUDA's names: %.*s",
			STR(str_join(f->a, &r->left_out, S(", "))));
	if (r->requires.n)
		progress_note(S("Requires"), "%.*s, whose libraries it links", STR(r->requires));
	VEC_EACH (const struct str, file, &r->kept)
		finding_note(f->a, &f->findings, "path-kept", *file,
			"its search path names folders of this machine, and cannot be changed");
	return fs_remove_tree(r->scratch);
}

/* Reports a version that differs from the requested one, and wheels of other versions in the output folder. These are
 * not removed, since they may be the user's own. */
static void check_names(struct foreign *f, const struct wheel_name *name, struct str wheel)
{
	struct strs files = {0};
	struct str planned = f->plan->version;
	bool ours = str_chr(planned, '+') < planned.n; /* a known project: we chose the suffix */
	if (ours && !str_eq(planned, name->version))
		finding_note(f->a, &f->findings, "wheel-other-version", wheel,
			"its version is %.*s, and %.*s was asked for", STR(name->version),
			STR(planned));
	err_free(fs_list(f->a, path_dir(wheel), &files));
	VEC_EACH (const struct str, file, &files) {
		struct wheel_name n;
		CLEANUP(err_freep) struct err *e = wheel_name_parse(f->a, *file, &n);
		if (e || str_eq(*file, path_base(wheel)) || !str_eq(n.dist, name->dist) ||
			!str_eq(n.python, name->python) || !str_eq(n.platform, name->platform))
			continue;
		finding_note(f->a, &f->findings, "wheel-other-there", *file,
			"another version lies beside the new wheel, and stays: %.*s-*.whl names "
			"both",
			STR(name->dist));
	}
}

/* The states of all files of a delivery. The wheel is delivered again only when one of them changes. */
static struct str delivery_state(const struct foreign *f, struct str to)
{
	return str_fmt(f->a, "1\n%.*s\n%.*s\n%.*s\n%.*s\n", STR(fs_state(f->a, f->result)), STR(to),
		STR(fs_state(f->a, to)), STR(fs_state(f->a, build_provenance_path(f->a, to))));
}

struct err *build_deliver_wheel(struct foreign *f, struct str out, struct build_result *ret)
{
	struct arena *a = f->a;
	struct wheel_name name;
	struct stat st;
	bool same;
	struct str to = path_join(a, path_abs(a, out), path_base(f->result));
	struct str receipt = path_join(a, f->state, S("delivered"));
	struct wheel_relocation r = {.from = f->result,
		.to = to,
		.scratch = path_join(a, f->tmp, S("wheel")),
		.requires = plan_rocm_wheels(a, f->plan, f->sdk),
		.jobs = f->jobs};
	TRY(fs_make_output(out));
	TRY_CTX(wheel_name_parse(a, f->result, &name),
		"the back end's result '%.*s' cannot be installed", STR(path_base(f->result)));
	check_names(f, &name, to);
	ret->wheel = path_join(a, out, path_base(to));
	TRY(fs_receipt_check(receipt, delivery_state(f, to), &same));
	if (!same)
		TRY(relocate(f, &r));
	if (!same && !r.changed.n && !r.requires.n && !r.left_out.n) {
		struct str beside = fs_temp_name(a, to);
		TRY(fs_stat(f->result, &st));
		TRY(fs_remove(beside));
		TRY(fs_copy(f->result, beside, &st));
		TRY(fs_sync(beside));
		TRY(fs_rename(beside, to));
	}
	TRY(fs_stat(to, &st));
	ret->wheel_size = (uint64_t)st.st_size;
	if (same)
		return NULL;
	TRY(build_provenance(a, f->plan, f, &r, ret));
	return fs_write(receipt, delivery_state(f, to), 0644);
}

/* ---- an editable wheel ---- */

/* The states of the wheel and of what pip made of it: a user may have uninstalled it, or installed another. */
static struct str installed_state(
	const struct foreign *f, struct str site, const struct wheel_name *name)
{
	struct str record = str_fmt(f->a, "%.*s/%.*s-%.*s.dist-info/RECORD", STR(site),
		STR(name->dist), STR(name->version));
	return str_fmt(f->a, "1\n%.*s\n%.*s\n", STR(fs_state(f->a, f->result)),
		STR(fs_state(f->a, record)));
}

/* Environments of uv have no pip; that of the build can install into others since pip 22.3. */
struct err *build_deliver_editable(struct foreign *f, struct build_result *ret)
{
	struct arena *a = f->a;
	struct wheel_name name;
	struct strs words = {0};
	struct stat st;
	bool same;
	struct str python = path_join(a, f->editable, S("bin/python3")), to = python;
	struct str receipt = path_join(a, f->state, S("installed"));
	struct str site = str_fmt(a, "%.*s/lib/python%.*s/site-packages", STR(f->editable),
		STR(f->plan->host.python_version));
	TRY_CTX(wheel_name_parse(a, f->result, &name),
		"the back end's result '%.*s' cannot be installed", STR(path_base(f->result)));
	TRY(fs_stat(f->result, &st));
	ret->wheel = f->result;
	ret->wheel_size = (uint64_t)st.st_size;
	TRY(fs_receipt_check(receipt, installed_state(f, site, &name), &same));
	if (same)
		return NULL;
	if (!fs_is_dir(path_join(a, site, S("pip")))) {
		python = path_join(a, f->venv, S("bin/python"));
		strs_fmt(a, &words, "--python=%.*s", STR(to));
	}
	STRS_ADD(a, &words, S("install"), S("--no-deps"), S("--no-index"), S("--force-reinstall"),
		f->result);
	progress_note(S("Installing"), "'%.*s' into '%.*s'", STR(f->plan->name), STR(f->editable));
	TRY_CTX(get_python(a, python, "pip", &words), "cannot install into '%.*s'",
		STR(f->editable));
	return fs_write(receipt, installed_state(f, site, &name), 0644);
}

/* ---- a tree ---- */

struct tree_copy {
	struct str from, to;
	uint64_t size;
};

static struct err *copy_entry(void *user, struct fs_entry *e)
{
	struct tree_copy *c = user;
	ARENA(tmp);
	struct str from = path_join(&tmp, c->from, e->path), to = path_join(&tmp, c->to, e->path);
	struct str target;
	if (S_ISDIR(e->st.st_mode))
		return fs_mkdirs(to);
	if (S_ISLNK(e->st.st_mode)) {
		TRY(fs_readlink(&tmp, from, &target));
		return fs_symlink_new(target, to);
	}
	if (!S_ISREG(e->st.st_mode))
		return NULL;
	c->size += (uint64_t)e->st.st_size;
	return fs_copy(from, to, &e->st);
}

/* The new tree replaces the old one only when it is complete, and only if rocsmith made the old one: a file beside it
 * says so, which is written before the tree gets its name. */
struct err *build_deliver_tree(struct foreign *f, struct str out, struct build_result *ret)
{
	struct arena *a = f->a;
	struct str parent = path_abs(a, out), to = path_join(a, parent, f->plan->name);
	struct str ours = path_join(a, parent, str_fmt(a, ".%.*s.rocsmith", STR(f->plan->name)));
	struct fs_stage s = {.place = to};
	TRY(fs_make_output(out));
	if (fs_present(to) && !fs_present(ours))
		return err_hint(
			err_new(E_USAGE, "'%.*s' exists already, and rocsmith did not make it",
				STR(to)),
			"name another folder with -o");
	TRY(fs_stage_begin(a, &s));
	struct tree_copy c = {.from = f->result, .to = s.tree};
	struct err *e = fs_mkdirs(c.to);
	e = e ? e : fs_walk(c.from, copy_entry, &c);
	e = e ? e : fs_sync_all(c.to);
	e = e ? e
	      : fs_write(ours,
			S("made by rocsmith build, which may replace the folder of this "
			  "name\n"),
			0644);
	e = e ? e : fs_stage_commit(&s, S(""));
	e = e ? e : fs_sync(parent);
	ret->wheel = to;
	ret->wheel_size = c.size;
	return err_join(e, fs_stage_end(&s));
}

struct err *build_check_tree(const struct foreign *f, struct str dir, struct build_result *ret)
{
	struct arena *a = f->a;
	struct verdict *v = &ret->verdict;
	struct devcode code;
	struct targets require;
	size_t files = 0;
	TRY(targets_parse(a, &f->plan->gpus, &require));
	TRY_CTX(devcode_scan(a, dir, DEVCODE_KERNELS, &code),
		"cannot inspect what was installed into '%.*s'", STR(dir));
	*v = (struct verdict){.path = dir, .served = code.served};
	VEC_EACH (const struct devcode_file, file, &code.files) {
		struct devcode_cover c = {0};
		for (size_t i = 0; i < require.n; i++) {
			bool served[DEVCODE_TARGETS];
			devcode_serves(&code, &require.v[i], served);
			c = devcode_cover(file, served);
			if (c.bundles && c.without == c.bundles)
				finding_note(a, &v->findings, "device-target-missing", file->path,
					"no kernel for %.*s", STR(target_text(a, &require.v[i])));
		}
		files += c.bundles > 0;
	}
	if (!files)
		TRY(foreign_without_kernels(f, &v->findings));
	v->pass = findings_worst(&f->findings) != SEV_ERROR &&
		  findings_worst(&v->findings) != SEV_ERROR;
	ret->verified = true;
	return NULL;
}
