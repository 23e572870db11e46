/* Names the commands that install again what `slim --in-place` has made smaller. See wheel.h. Sources: the specification
 * of recording installed projects (RECORD, INSTALLER), PEP 610 (direct_url.json), PEP 405 (pyvenv.cfg); dpkg's database
 * has a list of files for each package. Texts of strangers become words of a command only if they are plain names, or
 * quoted. */
#include "base/fs.h"
#include "base/map.h"
#include "formats/node.h"
#include "know/address.h"
#include "know/compat.h"
#include "lang/python/dist_info.h"
#include "wheel/wheel.h"

enum { TEXT = 64 << 20, NOTE = 1 << 16 };

struct restoring {
	struct arena *a;
	struct str top;  /* the real folder whose dist-info folders are read */
	struct map left; /* real paths of changed files; a value, when their origin is known */
	struct strs *commands;
};

/* Could it be a name or a version? Nothing that pip takes for an option, and no word of a shell. */
static bool is_plain(struct str s)
{
	return str_made_of(s, "._+!-") && ascii_alnum(s.p[0]);
}

/* A text of the dist-info folder, "" if there is none. */
static struct str note_of(struct restoring *x, struct str info, const char *name)
{
	struct str text = S("");
	err_free(fs_read_below(x->a, x->top, path_join(x->a, info, str_from(name)), NOTE, &text));
	return str_trim(text);
}

/* "demo==1.0", or the URL that it was installed from, if that was no index: without a name, a password or a token. */
static struct str requirement_of(
	struct restoring *x, struct str info, struct str name, struct str version)
{
	static const char *const kinds[] = {"https://", "http://", "file:///", NULL};
	const struct node *n = NULL;
	struct str text = note_of(x, info, "direct_url.json");
	if (text.n)
		err_free(json_parse(x->a, text, info, &n));
	struct str url = node_text(n, S("url"), S(""));
	struct str commit = node_text(node_get(n, S("vcs_info")), S("commit_id"), S(""));
	struct str vcs = node_text(node_get(n, S("vcs_info")), S("vcs"), S(""));
	if (!str_starts_one_of(url, kinds))
		return str_shell(x->a, str_fmt(x->a, "%.*s==%.*s", STR(name), STR(version)));
	url = address_shown(x->a, url);
	url = str_sub(url, 0, str_chr(url, '?'));
	if (is_plain(vcs) && is_plain(commit))
		url = str_fmt(x->a, "%.*s+%.*s@%.*s", STR(vcs), STR(url), STR(commit));
	return str_shell(x->a, str_fmt(x->a, "%.*s @ %.*s", STR(name), STR(url)));
}

/* May what is in the folder be believed? One above the folder that was slimmed can be anybody's, and so its commands. */
static bool is_trusted(struct str dir)
{
	struct err *e = fs_check_way(dir);
	err_free(e);
	return !e;
}

/* The Python that a folder of distributions belongs to; "" if only the folder itself is known. */
static struct str python_of(struct restoring *x, struct str site)
{
	for (struct str dir = site; !str_eq(dir, path_dir(dir)); dir = path_dir(dir)) {
		struct str python = path_join(x->a, dir, S("bin/python"));
		struct str marker = path_join(x->a, dir, S("pyvenv.cfg"));
		if (fs_is_file(marker) && fs_present(python) && is_trusted(path_dir(python)))
			return str_shell(x->a, python);
	}
	return S("");
}

static void add_dist(struct restoring *x, struct str info, struct str name, struct str version)
{
	struct arena *a = x->a;
	struct str public, local, url, site = path_join(a, x->top, path_dir(info));
	struct str python = python_of(x, site), what = requirement_of(x, info, name, version);
	struct str where = python.n ? python : str_fmt(a, "--target %.*s", STR(str_shell(a, site)));
	bool uv = str_eq(note_of(x, info, "INSTALLER"), S("uv"));
	const struct compat_wheel *index = NULL;
	const char *from = NULL; /* a name of data/addresses.yaml */
	(void)str_cut(version, '+', &public, &local);
	TABLE_EACH (compat_wheel, c) {
		if (c->index && str_eq(local, str_from(c->index))) {
			index = c;
			from = "torch";
		} else if (c->amd && str_starts(local, str_fmt(a, "rocm%s.", c->rocm))) {
			from = address_for_rocm(str_sub(local, 4, local.n));
		}
	}
	BUF(b, a);
	if (uv)
		buf_fmt(&b, "uv pip install %s%.*s --reinstall --no-deps %.*s",
			python.n ? "--python " : "", STR(where), STR(what));
	else if (python.n)
		buf_fmt(&b, "%.*s -m pip install --force-reinstall --no-deps %.*s", STR(where),
			STR(what));
	else
		buf_fmt(&b, "python3 -m pip install --upgrade --no-deps %.*s %.*s", STR(where),
			STR(what));
	if (str_chr(what, '@') < what.n)
		from = NULL; /* the URL says where it comes from */
	bool named = from && index && uv && index->uv;
	CLEANUP(err_freep)
	struct err *e = from && !named ? address_of(a, from, local, S(""), &url) : NULL;
	if (named)
		buf_fmt(&b, " --torch-backend %s", index->index);
	else if (from && !e)
		buf_fmt(&b, " --index-url %.*s", STR(address_shown(a, url)));
	strs_put(a, x->commands, buf_str(&b));
}

static struct err *visit_record(void *user, struct fs_entry *entry)
{
	struct restoring *x = user;
	struct str text, name, version, info = path_dir(entry->path), site = path_dir(info);
	struct dist_record rows = {0};
	bool hit = false;
	if (!S_ISREG(entry->st.st_mode) || !str_ends(entry->path, S(DIST_INFO "/RECORD")) ||
		!dist_stem_cut(info, &name, &version) || !is_plain(name) || !is_plain(version))
		return NULL;
	struct err *e = fs_read_below(x->a, x->top, entry->path, TEXT, &text);
	e = e ? e : dist_record_parse(x->a, text, text.n, &rows);
	err_free(e); /* then it names nothing */
	VEC_EACH (const struct dist_row, row, &rows) {
		struct str file = path_join(x->a, x->top, path_join(x->a, site, row->path));
		file = path_clean(x->a, file);
		if (map_has(&x->left, file))
			hit = !map_put(&x->left, file, x);
	}
	if (hit)
		add_dist(x, info, name, version);
	return NULL;
}

/* dpkg's lists are the system's own. */
static void add_packages(struct restoring *x, struct str dpkg)
{
	struct strs names = {0}, packages = {0};
	err_free(fs_list(x->a, dpkg, &names)); /* no dpkg here */
	VEC_EACH (const struct str, name, &names) {
		ARENA(tmp);
		struct str text = S(""), line,
			   package = str_sub(*name, 0, str_find(*name, S(".list")));
		bool hit = false;
		if (!str_ends(*name, S(".list")))
			continue;
		err_free(fs_read_opt(&tmp, path_join(&tmp, dpkg, *name), TEXT, &text));
		while (str_next(&text, '\n', &line))
			if (map_has(&x->left, line) && !map_get(&x->left, line))
				hit = !map_put(&x->left, line, x);
		if (hit)
			strs_put(x->a, &packages, str_shell(x->a, package));
	}
	if (packages.n)
		strs_fmt(x->a, x->commands, "apt-get install --reinstall %.*s",
			STR(str_join(x->a, &packages, S(" "))));
}

void wheel_restore(struct arena *a, struct slim_report *r, struct str dpkg)
{
	struct restoring x = {.a = a, .left = {.a = a}, .commands = &r->restore};
	struct str real;
	struct strs names;
	bool all = true;
	if (!r->files.n || !fs_real(a, r->path, &real))
		return;
	VEC_EACH (struct slim_done, f, &r->files)
		if (!f->path.n || path_is_inside(f->path))
			map_put(&x.left, f->path.n ? path_join(a, real, f->path) : real, NULL);
	x.top = real;
	if (fs_is_dir(real))
		err_free(fs_walk(real, visit_record, &x));
	/* a part of what is installed: its distributions are recorded above it */
	while (!r->restore.n && !str_eq(x.top, path_dir(x.top))) {
		x.top = path_dir(x.top);
		if (!is_trusted(x.top))
			break;
		names = (struct strs){0};
		err_free(fs_list(a, x.top, &names));
		VEC_EACH (const struct str, name, &names) {
			struct fs_entry e = {.path = path_join(a, *name, S("RECORD"))};
			if (dist_stem(*name).n && fs_try_lstat(path_join(a, x.top, e.path), &e.st))
				err_free(visit_record(&x, &e));
		}
	}
	VEC_EACH (const struct map_entry, e, &x.left)
		all = all && e->value;
	/* dpkg installs nothing in folders of users, and its lists take a while */
	bool system = str_starts(real, S("/usr/")) || str_starts(real, S("/opt/"));
	if (!all && (dpkg.n || system))
		add_packages(&x, dpkg.n ? dpkg : S("/var/lib/dpkg/info"));
	VEC_EACH (const struct map_entry, e, &x.left)
		r->unlisted += !e->value;
}
