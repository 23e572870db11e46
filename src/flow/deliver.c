/* What another build system made, brought to where it is wanted and looked at. */
#include "base/fs.h"
#include "base/progress.h"
#include "devcode/devcode.h"
#include "flow/build.h"
#include "wheel/wheel.h"

/* Beside the install tree: which one is ours to replace. */
static struct str mark_of(struct arena *a, struct str tree)
{
	return path_join(a, path_dir(tree), str_fmt(a, ".%.*s.rocsmith", STR(path_base(tree))));
}

/* ---- a wheel ---- */

/* Folders of this machine that no wheel should speak of. AMD's own place is the same everywhere. */
static struct strs own_folders(const struct foreign *f)
{
	const struct str dirs[] = {f->dir, f->plan->project, f->sdk->root, f->plan->sdk.prefix};
	struct strs list = {0};
	struct str real;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if (dirs[i].n < 2 || str_starts(dirs[i], S("/opt/rocm")))
			continue;
		strs_put(f->a, &list, dirs[i]);
		if (fs_real(f->a, dirs[i], &real))
			strs_put(f->a, &list, real);
	}
	return list;
}

static void say_kept(struct foreign *f, const struct wheel_relocation *r)
{
	VEC_EACH (const struct str, file, &r->kept) {
		struct finding *fi =
			finding_add(f->a, &f->findings, "path-kept", SEV_WARNING, *file);
		finding_say(f->a, fi,
			"its search path names folders of this machine, and cannot be changed");
	}
}

static struct err *relocate(struct foreign *f, struct wheel_relocation *r)
{
	TRY(fs_remove_tree(r->scratch));
	TRY(fs_mkdirs(r->scratch));
	TRY(wheel_epoch(&r->epoch));
	struct err *e = wheel_relocate(f->a, r);
	if (e && (e->code == E_ZIP || e->code == E_WHEEL)) { /* verify will say what is wrong */
		err_free(e);
		e = NULL;
		r->changed.n = 0;
	}
	TRY_CTX(e, "cannot take the paths of this machine out of the wheel");
	if (r->changed.n)
		progress_note(S("Cleaned"), "the search paths of %zu libraries", r->changed.n);
	say_kept(f, r);
	return fs_remove_tree(r->scratch);
}

static struct err *copy_wheel(struct arena *a, struct str from, struct str to)
{
	struct stat st;
	struct str beside = fs_temp_name(a, to);
	TRY(fs_stat(from, &st));
	TRY(fs_remove(beside));
	TRY(fs_stage_copy(from, beside, &st));
	TRY(fs_sync(beside));
	return fs_rename(beside, to);
}

/* The version that we asked the build for: of a known project, whose suffix is ours. */
static void check_version(struct foreign *f, const struct wheel_name *name, struct str file)
{
	struct str planned = f->plan->version;
	if (str_chr(planned, '+') == planned.n || str_eq(planned, name->version))
		return;
	struct finding *fi =
		finding_add(f->a, &f->findings, "wheel-other-version", SEV_WARNING, file);
	finding_say(f->a, fi, "its version is %.*s, and %.*s was asked for", STR(name->version),
		STR(planned));
}

/* What is there already may be the user's own, so it stays. */
static void say_others(struct foreign *f, const struct wheel_name *name, struct str wheel)
{
	struct strs files = {0};
	struct wheel_name n;
	err_free(fs_list(f->a, path_dir(wheel), &files));
	VEC_EACH (const struct str, file, &files) {
		CLEANUP(err_freep) struct err *e = wheel_name_parse(f->a, *file, &n);
		if (e || str_eq(*file, path_base(wheel)) || !str_eq(n.dist, name->dist) ||
			!str_eq(n.python, name->python) || !str_eq(n.platform, name->platform))
			continue;
		struct finding *fi =
			finding_add(f->a, &f->findings, "wheel-other-there", SEV_WARNING, *file);
		finding_say(f->a, fi,
			"another version lies beside the new wheel, and stays: %.*s-*.whl names "
			"both",
			STR(name->dist));
	}
}

/* What was delivered the last time, as long as nobody touched it. */
static struct str delivered(const struct foreign *f, struct str to)
{
	struct str manifest = fs_state(f->a, build_manifest_path(f->a, to));
	return manifest.n ? str_fmt(f->a, "1\n%.*s\n%.*s\n%.*s\n%.*s\n",
				    STR(fs_state(f->a, f->result)), STR(to),
				    STR(fs_state(f->a, to)), STR(manifest))
			  : S("");
}

static struct err *deliver_wheel(struct foreign *f, struct str out, struct build_result *ret)
{
	enum { MAX_STAMP = 1 << 16 };
	struct arena *a = f->a;
	struct wheel_name name;
	struct stat st;
	struct str to = path_join(a, path_abs(a, out), path_base(f->result)), old;
	struct str stamp = path_join(a, f->state, S("delivered"));
	struct wheel_relocation r = {.from = f->result,
		.to = to,
		.scratch = path_join(a, f->tmp, S("wheel")),
		.gone = own_folders(f),
		.jobs = f->jobs};
	TRY_CTX(wheel_name_parse(a, f->result, &name),
		"the back end made no wheel that can be installed");
	check_version(f, &name, to);
	say_others(f, &name, to);
	ret->wheel = path_join(a, out, path_base(to));
	TRY(fs_read_opt(a, stamp, MAX_STAMP, &old));
	bool same = old.n && str_eq(old, delivered(f, to));
	if (!same) {
		TRY(relocate(f, &r));
		if (!r.changed.n)
			TRY(copy_wheel(a, f->result, to));
	}
	TRY(fs_stat(to, &st));
	ret->wheel_size = (uint64_t)st.st_size;
	if (same)
		return NULL;
	TRY(build_manifest(a, f->plan, f, &r, ret));
	return fs_write(stamp, delivered(f, to), 0644);
}

/* ---- a tree ---- */

struct copy {
	struct arena *a;
	struct str from, to;
	uint64_t size;
};

static struct err *copy_entry(void *user, const struct fs_entry *e, bool *prune)
{
	struct copy *c = user;
	ARENA(tmp);
	struct str from = path_join(&tmp, c->from, e->path), to = path_join(&tmp, c->to, e->path);
	struct str target;
	(void)prune;
	if (S_ISDIR(e->st.st_mode))
		return fs_mkdirs(to);
	if (S_ISLNK(e->st.st_mode)) {
		TRY(fs_readlink(&tmp, from, &target));
		return fs_stage_link(target, to);
	}
	if (!S_ISREG(e->st.st_mode))
		return NULL;
	c->size += (uint64_t)e->st.st_size;
	return fs_stage_copy(from, to, &e->st);
}

/* The new tree is whole before it takes the place of the old one, which has to be one of ours. */
static struct err *deliver_tree(struct foreign *f, struct str out, struct build_result *ret)
{
	struct arena *a = f->a;
	struct str to = path_join(a, path_abs(a, out), f->plan->name);
	struct str fresh = str_fmt(a, "%.*s.new", STR(mark_of(a, to))), mark = mark_of(a, to);
	struct copy c = {.a = a, .from = f->result, .to = fresh};
	if (fs_present(to) && !fs_present(mark))
		return err_hint(
			err_new(E_USAGE, "'%.*s' exists already, and rocsmith did not make it",
				STR(to)),
			"name another folder with -o");
	TRY(fs_remove_tree(fresh));
	TRY(fs_mkdirs(fresh));
	TRY(fs_walk(c.from, copy_entry, &c));
	TRY(fs_sync_all(fresh));
	TRY(fs_write(mark, S("made by rocsmith build, which may replace the folder of this name\n"),
		0644));
	if (fs_present(to))
		TRY(fs_exchange(fresh, to));
	else
		TRY(fs_rename(fresh, to));
	ret->wheel = to;
	ret->wheel_size = c.size;
	return fs_remove_tree(fresh);
}

struct err *build_deliver(struct foreign *f, struct str out, struct build_result *ret)
{
	bool tree = f->plan->foreign->system == SOURCE_CMAKE;
	TRY(fs_mkdirs(out));
	return tree ? deliver_tree(f, out, ret) : deliver_wheel(f, out, ret);
}

static bool has_target(const struct devcode_file *file, const struct target *want)
{
	VEC_EACH (const struct code_object, o, &file->objects) {
		struct target have = target_read(o->target);
		if (o->kernels != 0 &&
			(target_covers(&have, want) || str_eq(have.name, want->name)))
			return true;
	}
	return false;
}

static bool has_kernels(const struct devcode_file *file)
{
	VEC_EACH (const struct code_object, o, &file->objects)
		if (o->kernels != 0)
			return true;
	return false;
}

struct err *build_check_tree(struct arena *a, const struct plan *plan, struct build_result *ret)
{
	struct verdict *v = &ret->verdict;
	struct devcode code;
	struct targets require;
	size_t files = 0;
	TRY(targets_parse(a, &plan->gpus, &require));
	TRY_CTX(devcode_scan(a, ret->wheel, DEVCODE_KERNELS, &code),
		"cannot look at what was built");
	*v = (struct verdict){.path = ret->wheel, .served = code.served, .pass = true};
	VEC_EACH (const struct devcode_file, file, &code.files) {
		files += has_kernels(file);
		VEC_EACH (const struct target, want, &require) {
			if (!has_kernels(file) || has_target(file, want))
				continue;
			struct finding *fi = finding_add(
				a, &v->findings, "device-target-missing", SEV_ERROR, file->path);
			finding_say(a, fi, "no kernel for %.*s", STR(target_text(a, want)));
			v->pass = false;
		}
	}
	if (!files && plan->foreign->device) {
		struct finding *fi =
			finding_add(a, &v->findings, "device-none", SEV_ERROR, ret->wheel);
		finding_say(a, fi, "there is no device code with kernels in what was installed");
		v->pass = false;
	}
	ret->verified = true;
	return NULL;
}
