/* What another build system made, brought to where it is wanted and looked at. */
#include "base/fs.h"
#include "build/build.h"
#include "devcode/devcode.h"
#include "wheel/wheel.h"

/* Beside the install tree: which one is ours to replace. */
static struct str mark_of(struct arena *a, struct str tree)
{
	return path_join(a, path_dir(tree), str_fmt(a, ".%.*s.rocsmith", STR(path_base(tree))));
}

static struct err *deliver_wheel(const struct foreign *f, struct str out, struct build_result *ret)
{
	struct arena *a = f->a;
	struct wheel_name name;
	struct stat st;
	struct str from = f->result, to = path_join(a, out, path_base(from));
	TRY_CTX(wheel_name_parse(a, from, &name),
		"the back end made no wheel that can be installed");
	TRY(fs_stat(from, &st));
	struct str beside = fs_temp_name(a, to);
	TRY(fs_remove(beside));
	TRY(fs_stage_copy(from, beside, &st));
	TRY(fs_sync(beside));
	TRY(fs_rename(beside, to));
	ret->wheel = to;
	ret->wheel_size = (uint64_t)st.st_size;
	return NULL;
}

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
static struct err *deliver_tree(const struct foreign *f, struct str out, struct build_result *ret)
{
	struct arena *a = f->a;
	struct str to = path_join(a, path_abs(a, out), f->plan->name);
	struct str fresh = str_fmt(a, "%.*s.new", STR(mark_of(a, to))), mark = mark_of(a, to);
	struct copy c = {.a = a, .from = f->result, .to = fresh};
	if (fs_present(to) && !fs_present(mark))
		return err_hint(
			err_new(E_USAGE, "'%.*s' is there already, and rocsmith did not make it",
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

struct err *build_deliver(const struct foreign *f, struct str out, struct build_result *ret)
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
