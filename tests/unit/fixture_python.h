/* Sysroots with Python environments, and what is found in them. */
#pragma once

#include "machine/machine.h"
#include "unit/kit.h"

#define VENV "home/alice/venv"
#define SITE VENV "/lib/python3.12/site-packages"
#define TORCH SITE "/torch"
#define TEXT "rocsmith-library 1\n"

static inline void link_to(struct fixture *f, const char *path, const char *target)
{
	assert_ok(fs_mkdirs(path_dir(at(f, path))));
	assert_ok(fs_symlink(str_from(target), at(f, path)));
}

static inline void variables(struct fixture *f, struct str text)
{
	assert_ok(fs_mkdirs(at(f, "proc/self")));
	assert_ok(fs_write(at(f, "proc/self/environ"), text, 0644));
}

/* NAME "torch-2.6.0": its dist-info with these lines of METADATA. */
static inline void dist(struct fixture *f, const char *site, const char *name, const char *lines)
{
	struct str text = str_fmt(&f->a, "Metadata-Version: 2.1\nName: x\n%s\n\ntext\n", lines);
	put(f, str_fmt(&f->a, "%s/%s.dist-info/METADATA", site, name).p, text.p);
}

static inline void venv(struct fixture *f, const char *dir, const char *package)
{
	put(f, str_fmt(&f->a, "%s/pyvenv.cfg", dir).p, "home = /usr/bin\nversion = 3.12.3\n");
	dist(f, str_fmt(&f->a, "%s/lib/python3.12/site-packages", dir).p, package, "");
}

static inline const struct machine *look(struct fixture *f)
{
	struct machine *m = NEW(&f->a, struct machine);
	put(f, "proc/sys/kernel/arch", "x86_64\n");
	assert_ok(machine_read_all(&f->a, f->dir, m));
	return m;
}

/* "/opt/venv venv 3.12 torch=2.9.1 numpy=1" a line, "*" for the active one; paths of packages are left out. */
static inline struct str pythons(struct arena *a, const struct machine *m)
{
	BUF(out, a);
	VEC_EACH (const struct machine_python, p, &m->pythons) {
		buf_fmt(&out, "%s%.*s %.*s %.*s", p->active ? "*" : "", STR(p->path), STR(p->kind),
			STR(p->version));
		VEC_EACH (const struct machine_package, x, &p->packages)
			buf_fmt(&out, " %.*s=%.*s", STR(x->name), STR(x->version));
		buf_char(&out, '\n');
	}
	return buf_str(&out);
}

#define assert_pythons(f, want) assert_str(pythons(&(f)->a, look(f)), want)

static inline const struct machine_torch *torch_of(struct fixture *f)
{
	const struct machine *m = look(f);
	assert_true(m->pythons.n > 0 && m->pythons.v[0].has_torch);
	return &m->pythons.v[0].torch;
}

#define assert_list(list, want) assert_str(str_join(&f->a, (list), S(" ")), want)
