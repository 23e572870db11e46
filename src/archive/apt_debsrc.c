/* Source packages by apt-get; see apt.h. Parses the results of look-ups and downloads from its output, as worded
 * by apt 2.6 to 3.1 (methods/, apt-pkg/acquire-item.cc). */
#include "archive/apt_int.h"
#include "base/fs.h"

enum { SECONDS = 120 };

/* Debian Policy 5.6.12: [epoch:]upstream[-revision]. "+dfsg", "+ds" and the like mean that files were left out of
 * upstream's archive. */
struct str apt_upstream(struct str version)
{
	static const char *const repacked[] = {"+dfsg", "~dfsg", ".dfsg", "+ds", "~ds", "+repack"};
	size_t colon = str_chr(version, ':');
	struct str s = colon < version.n ? str_sub(version, colon + 1, version.n) : version;
	s.n = str_rchr(s, '-');
	for (size_t i = 0; i < sizeof(repacked) / sizeof(repacked[0]); i++)
		s.n = str_find(s, str_from(repacked[i]));
	return s;
}

static void add_word(struct arena *a, struct proc *p, const struct apt_package *package)
{
	const char *between = package->version.n ? "=" : "";
	strs_fmt(a, &p->argv, "%.*s%s%.*s", STR(package->name), between, STR(package->version));
}

struct err *apt_source_resolve(
	struct arena *a, const struct apt *apt, struct str asked, struct apt_package *ret)
{
	struct proc find = apt_command(a, apt, "apt-cache"), p = apt_command(a, apt, "apt-get");
	struct proc_result r = {0};
	struct str line, key, value;
	struct strs all = {0};
	ret->version = S("");
	ret->files = (struct archive_items){0};
	proc_arg(a, &find, "showsrc", "--only-source", str_z(a, ret->name), NULL);
	find.timeout = p.timeout = SECONDS;
	if (asked.n)
		TRY(proc_run(a, &find, &r));
	while (str_next(&r.out, '\n', &line)) {
		if (!str_cut(line, ':', &key, &value) || !str_eq(key, S("Version")))
			continue;
		value = str_trim(value);
		if (str_eq(value, asked) || str_eq(apt_upstream(value), asked))
			ret->version = value;
		strs_put(a, &all, value);
	}
	if (!ret->version.n && all.n) /* apt-get reports an unknown package */
		return err_new(E_SDK_SOURCE,
			"the suite '%.*s' has '%.*s' in the version %.*s, and not %.*s",
			STR(apt->suites.v[0]), STR(ret->name), STR(str_join(a, &all, S(", "))),
			STR(asked));
	proc_arg(a, &p, "source", "-q", "--only-source", "--print-uris", NULL);
	add_word(a, &p, ret);
	/* an empty folder, since apt does not list files that it already has */
	p.cwd = path_join(a, apt->dir, S("none"));
	TRY_CTX(apt_run(a, &p, &r), "cannot find the source package '%.*s' in suite '%.*s'",
		STR(ret->name), STR(apt->suites.v[0]));
	while (str_next(&r.out, '\n', &line)) {
		struct archive_item i;
		if (apt_parse_file(a, line, &i))
			*VEC_PUSH(a, &ret->files) = i;
	}
	return NULL;
}

struct err *apt_source_fetch(struct arena *a, const struct apt *apt, struct apt_package *package,
	struct str dir, struct strs *ret_gone)
{
	struct proc p = apt_command(a, apt, "apt-get");
	size_t need = 0;
	bool there;
	VEC_EACH (struct archive_item, i, &package->files) {
		i->path = path_join(a, dir, i->file);
		TRY(apt_is_there(a, i, &there));
		need += !there;
	}
	if (!need)
		return NULL;
	proc_arg(a, &p, "source", "-q", "--only-source", "--download-only", NULL);
	add_word(a, &p, package);
	p.cwd = dir;
	return apt_get_items(a, &p, str_fmt(a, "the sources of %.*s", STR(package->name)),
		&package->files, ret_gone);
}
