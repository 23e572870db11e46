/* Reading sources.list and *.sources; see apt.h. */
#include "base/fs.h"
#include "base/vec.h"
#include "sdk/apt.h"

enum { MAX_FILE = 1 << 20 };

/* Suites of the Debian archive: only Debian itself has all of sid, experimental, trixie. */
static const char *const debian_suites[] = {
	"stable",
	"oldstable",
	"testing",
	"unstable",
	"sid",
	"bullseye",
	"bookworm",
	"trixie",
	"forky",
	"duke",
	"experimental",
};

static struct strs words(struct arena *a, struct str line)
{
	struct strs out = {0};
	for (size_t i = 0; i < line.n;) {
		size_t from = i;
		while (i < line.n && line.p[i] != ' ' && line.p[i] != '\t' && line.p[i] != '\n')
			i++;
		if (i > from)
			strs_add(a, &out, str_sub(line, from, i));
		else
			i++;
	}
	return out;
}

/* "[arch=amd64 signed-by=/x]" behind "deb" -> signed-by; *rest is what follows. */
static struct str take_options(struct arena *a, struct str *rest)
{
	*rest = str_trim(*rest);
	if (!rest->n || rest->p[0] != '[')
		return S("");
	size_t end = str_chr(*rest, ']');
	struct strs list = words(a, str_sub(*rest, 1, end));
	*rest = str_sub(*rest, end + 1, rest->n);
	for (size_t i = 0; i < list.n; i++) {
		struct str key, value;
		if (str_cut(list.v[i], '=', &key, &value) && str_eq(key, S("signed-by")))
			return value;
	}
	return S("");
}

void apt_sources_lines(struct arena *a, struct str text, struct apt_sources *ret)
{
	struct str line;
	while (str_next(&text, '\n', &line)) {
		line = str_trim(str_sub(line, 0, str_chr(line, '#')));
		if (!str_starts(line, S("deb ")) && !str_starts(line, S("deb\t")))
			continue;
		struct str rest = str_sub(line, 4, line.n);
		struct str keyring = take_options(a, &rest);
		struct strs w = words(a, rest);
		if (w.n < 2)
			continue;
		struct apt_source *s = VEC_PUSH(a, ret);
		*s = (struct apt_source){.uri = w.v[0], .keyring = keyring};
		strs_add(a, &s->suites, w.v[1]);
		for (size_t i = 2; i < w.n; i++)
			strs_add(a, &s->components, w.v[i]);
	}
}

struct stanza { /* of a deb822 file */
	struct str types, uris, suites, components, signed_by, enabled;
};

static struct str *field(struct stanza *s, struct str key)
{
	struct {
		const char *name;
		struct str *value;
	} known[] = {
		{.name = "types", .value = &s->types},
		{.name = "uris", .value = &s->uris},
		{.name = "suites", .value = &s->suites},
		{.name = "components", .value = &s->components},
		{.name = "signed-by", .value = &s->signed_by},
		{.name = "enabled", .value = &s->enabled},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (str_eq(key, str_from(known[i].name)))
			return known[i].value;
	return NULL;
}

static void end_stanza(struct arena *a, struct stanza *s, struct apt_sources *ret)
{
	struct strs types = words(a, s->types), uris = words(a, s->uris);
	struct str on = str_lower(a, str_trim(s->enabled));
	bool off = str_eq(on, S("no")) || str_eq(on, S("false")) || str_eq(on, S("0"));
	struct str keyring = str_trim(s->signed_by);
	for (size_t i = 0; !off && strs_has(&types, S("deb")) && i < uris.n; i++) {
		struct apt_source *out = VEC_PUSH(a, ret);
		out->uri = uris.v[i];
		out->suites = words(a, s->suites);
		out->components = words(a, s->components);
		/* a key may also be written out in place of a path */
		out->keyring = str_starts(keyring, S("/")) ? words(a, keyring).v[0] : S("");
	}
	*s = (struct stanza){0};
}

void apt_sources_deb822(struct arena *a, struct str text, struct apt_sources *ret)
{
	struct stanza s = {0};
	struct str line, *last = NULL;
	while (str_next(&text, '\n', &line)) {
		if (line.n && line.p[0] == '#')
			continue;
		if (!str_trim(line).n) {
			end_stanza(a, &s, ret);
			last = NULL;
			continue;
		}
		if (line.p[0] == ' ' || line.p[0] == '\t') { /* continues the field above */
			if (last)
				*last = str_fmt(a, "%.*s\n%.*s", STR(*last), STR(line));
			continue;
		}
		struct str key, value;
		str_cut(line, ':', &key, &value);
		last = field(&s, str_lower(a, str_trim(key)));
		if (last)
			*last = value;
	}
	end_stanza(a, &s, ret);
}

static bool is_debian(const struct apt_source *s)
{
	if (!strs_has(&s->components, S("main")) || str_contains(s->uri, S("security")))
		return false;
	for (size_t i = 0; i < sizeof(debian_suites) / sizeof(debian_suites[0]); i++)
		if (strs_has(&s->suites, str_from(debian_suites[i])))
			return true;
	return false;
}

/* Vendors give their archives Debian's names of suites and components, too; the keyring, then the
 * address, tell which is Debian's own. */
static unsigned likeness(const struct apt_source *s)
{
	unsigned points = 1;
	if (!is_debian(s))
		return 0;
	points += 2 * str_contains(s->keyring, S("debian-archive"));
	points += str_contains(path_base(s->uri), S("debian")) || str_ends(s->uri, S("/debian/"));
	return points;
}

static struct err *read_one(struct arena *a, struct str path, struct apt_sources *list)
{
	struct str text;
	TRY(fs_read_opt(a, path, MAX_FILE, &text));
	if (text.p && str_ends(path, S(".sources")))
		apt_sources_deb822(a, text, list);
	else if (text.p)
		apt_sources_lines(a, text, list);
	return NULL;
}

struct err *apt_sources_find(struct arena *a, struct str dir, struct apt_source *ret)
{
	struct apt_sources list = {0};
	struct strs names = {0};
	struct str parts = path_join(a, dir, S("sources.list.d"));
	TRY(read_one(a, path_join(a, dir, S("sources.list")), &list));
	if (fs_is_dir(parts))
		TRY(fs_list(a, parts, &names));
	for (size_t i = 0; i < names.n; i++)
		if (str_ends(names.v[i], S(".list")) || str_ends(names.v[i], S(".sources")))
			TRY(read_one(a, path_join(a, parts, names.v[i]), &list));
	const struct apt_source *best = NULL;
	VEC_EACH (struct apt_source, s, &list)
		if (likeness(s) > (best ? likeness(best) : 0))
			best = s;
	if (best) {
		*ret = *best;
		return NULL;
	}
	struct err *e = err_new(E_SDK_SOURCE,
		"this machine's apt configuration ('%.*s') names no "
		"Debian archive",
		STR(dir));
	return err_hint(e, "--mirror URL names one");
}
