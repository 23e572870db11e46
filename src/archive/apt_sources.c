/* Reads sources.list and *.sources; see apt.h. */
#include "archive/apt.h"
#include "base/fs.h"
#include "base/vec.h"

enum { MAX_FILE = 1 << 20 };

/* Suite names that identify an archive as Debian's. */
static const char *const debian_suites[] = {"stable", "oldstable", "testing", "unstable", "sid",
	"bullseye", "bookworm", "trixie", "forky", "duke", "experimental", NULL};

static struct strs words(struct arena *a, struct str line)
{
	struct strs out = {0};
	for (size_t i = 0, from = 0; i <= line.n; i++) {
		if (i < line.n && line.p[i] != ' ' && line.p[i] != '\t' && line.p[i] != '\n')
			continue;
		if (i > from)
			strs_add(a, &out, str_sub(line, from, i));
		from = i + 1;
	}
	return out;
}

void apt_sources_lines(struct arena *a, struct str text, struct apt_sources *ret)
{
	struct str line, key, value;
	while (str_next(&text, '\n', &line)) {
		line = str_trim(str_sub(line, 0, str_chr(line, '#')));
		if (!str_starts(line, S("deb ")) && !str_starts(line, S("deb\t")))
			continue;
		struct apt_source s = {0};
		struct str options = S(""); /* [arch=amd64 signed-by=/x] */
		line = str_trim(str_sub(line, 4, line.n));
		if (str_starts(line, S("[")))
			(void)str_cut(str_sub(line, 1, line.n), ']', &options, &line);
		struct strs list = words(a, options), w = words(a, line);
		VEC_EACH (const struct str, option, &list)
			if (!s.keyring.n && str_cut(*option, '=', &key, &value) &&
				str_eq(key, S("signed-by")))
				s.keyring = value;
		if (w.n < 2)
			continue;
		s.uri = w.v[0];
		strs_add(a, &s.suites, w.v[1]);
		for (size_t i = 2; i < w.n; i++)
			strs_add(a, &s.components, w.v[i]);
		*VEC_PUSH(a, ret) = s;
	}
}

/* The fields of a deb822 stanza that we use. */
enum field { TYPES, URIS, SUITES, COMPONENTS, SIGNED_BY, ENABLED, OTHER, FIELDS };
static const char *const field_names[OTHER] = {
	"types", "uris", "suites", "components", "signed-by", "enabled"};

static void end_stanza(struct arena *a, struct str v[FIELDS], struct apt_sources *ret)
{
	static const char *const no[] = {"no", "false", "0", NULL};
	struct strs types = words(a, v[TYPES]), uris = words(a, v[URIS]);
	bool on = !str_is_one_of(str_lower(a, str_trim(v[ENABLED])), no);
	struct str keyring = str_trim(v[SIGNED_BY]);
	for (size_t i = 0; on && strs_has(&types, S("deb")) && i < uris.n; i++)
		*VEC_PUSH(a, ret) = (struct apt_source){
			.uri = uris.v[i],
			.suites = words(a, v[SUITES]),
			.components = words(a, v[COMPONENTS]),
			/* Signed-By may also hold the key itself */
			.keyring = str_starts(keyring, S("/")) ? words(a, keyring).v[0] : S(""),
		};
	for (size_t i = 0; i < FIELDS; i++)
		v[i] = S("");
}

void apt_sources_deb822(struct arena *a, struct str text, struct apt_sources *ret)
{
	struct str values[FIELDS] = {0}, key, value, line;
	size_t f = OTHER;
	while (str_next(&text, '\n', &line)) {
		if (str_starts(line, S("#")))
			continue;
		if (!str_trim(line).n) {
			end_stanza(a, values, ret);
			f = OTHER;
		} else if (line.p[0] == ' ' || line.p[0] == '\t') { /* continues the field above */
			values[f] = str_fmt(a, "%.*s\n%.*s", STR(values[f]), STR(line));
		} else {
			str_cut(line, ':', &key, &value);
			key = str_lower(a, str_trim(key));
			for (f = 0; f < OTHER && !str_eq(key, str_from(field_names[f]));)
				f++;
			values[f] = value;
		}
	}
	end_stanza(a, values, ret);
}

/* Scores how likely this is Debian's own archive. Vendors also use Debian's suite and component names, so the keyring
 * counts most, then the address. */
static int likeness(const struct apt_source *s)
{
	bool debian = false;
	for (size_t i = 0; i < s->suites.n; i++)
		debian |= str_is_one_of(s->suites.v[i], debian_suites);
	if (!debian || !strs_has(&s->components, S("main")) || str_contains(s->uri, S("security")))
		return 0;
	return 1 + 2 * str_contains(s->keyring, S("debian-archive")) +
	       (str_contains(path_base(s->uri), S("debian")) || str_ends(s->uri, S("/debian/")));
}

struct err *apt_sources_find(struct arena *a, struct str dir, struct apt_source *ret)
{
	struct apt_sources list = {0};
	struct strs names = {0}, files = {0};
	struct str parts = path_join(a, dir, S("sources.list.d")), text;
	const struct apt_source *best = NULL;
	if (fs_is_dir(parts))
		TRY(fs_list(a, parts, &names));
	strs_add(a, &files, path_join(a, dir, S("sources.list")));
	for (size_t i = 0; i < names.n; i++)
		strs_add(a, &files, path_join(a, parts, names.v[i]));
	for (size_t i = 0; i < files.n; i++) {
		bool deb822 = str_ends(files.v[i], S(".sources"));
		if (!deb822 && !str_ends(files.v[i], S(".list")))
			continue;
		TRY(fs_read_opt(a, files.v[i], MAX_FILE, &text));
		(deb822 ? apt_sources_deb822 : apt_sources_lines)(a, text, &list);
	}
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
