/* Parses the words that name sources; see fetch.h. Only characters that apt and pip allow in a name are accepted, so
 * that no word can become an option or a path. Sources: Debian Policy 5.6.1 and 5.6.12; PEP 508 and PEP 440; PEP 625
 * for the names of sdists. */
#include "base/fs.h"
#include "source/fetch.h"

const char *const source_kinds[] = {[SOURCE_DIR] = "dir",
	[SOURCE_DEBIAN] = "debian",
	[SOURCE_SDIST] = "sdist",
	[SOURCE_GIT] = "git",
	NULL};

static bool consists_of(struct str s, const char *more)
{
	return str_made_of(s, more) && ascii_alnum(s.p[0]);
}

static struct err *wrong_word(struct str word, const char *want)
{
	return err_hint(err_new(E_USAGE, "'%.*s' does not name sources", STR(word)), "%s", want);
}

/* NAME-VERSION.tar.gz: the version follows the last '-' and begins with a digit. */
static bool parse_file(struct arena *a, struct str word, struct source_spec *ret)
{
	static const char *const suffixes[] = {".tar.gz", ".zip", ".tar.bz2", ".tar.xz", ".tgz"};
	struct str stem = path_base(word);
	size_t n = 0;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]) && !n; i++)
		n = str_ends(stem, str_from(suffixes[i])) ? str_from(suffixes[i]).n : 0;
	if (!n)
		return false;
	stem.n -= n;
	size_t at = str_rchr(stem, '-');
	ret->kind = SOURCE_SDIST;
	ret->path = path_abs(a, word);
	ret->package = str_sub(stem, 0, at);
	ret->version = str_sub(stem, at + 1, stem.n);
	return consists_of(ret->package, "._-") && consists_of(ret->version, ".+!_-") &&
	       ascii_digit(ret->version.p[0]);
}

struct err *source_spec_parse(struct arena *a, struct str word, struct source_spec *ret)
{
	struct str debian = S("debian:"), sdist = S("sdist:"), what;
	*ret = (struct source_spec){.text = str_dup(a, word)};
	word = ret->text;
	if (str_starts(word, debian)) {
		ret->kind = SOURCE_DEBIAN;
		bool good = str_cut(str_sub(word, debian.n, word.n), '/', &ret->suite, &what);
		bool versioned = str_cut(what, '=', &ret->package, &ret->version);
		if (good && consists_of(ret->suite, "-") && consists_of(ret->package, "+.-") &&
			(!versioned || consists_of(ret->version, ".+~:-")))
			return NULL;
		return wrong_word(word,
			"debian:SUITE/PACKAGE or debian:SUITE/PACKAGE=VERSION, for example "
			"debian:trixie/pytorch=2.6.0");
	}
	if (str_starts(word, sdist)) {
		struct str rest = str_sub(word, sdist.n, word.n);
		size_t at = str_find(rest, S("=="));
		ret->kind = SOURCE_SDIST;
		ret->package = str_sub(rest, 0, at);
		ret->version = str_sub(rest, at + 2, rest.n);
		if (consists_of(ret->package, "._-") && consists_of(ret->version, ".+!_-"))
			return NULL;
		return wrong_word(word,
			"sdist:NAME==VERSION, for example sdist:torch-scatter==2.1.2; 'pip "
			"index versions NAME' lists versions");
	}
	if (str_starts(word, S("git:")) && !fs_is_dir(word)) {
		size_t at = str_rchr(word, '#');
		ret->kind = SOURCE_GIT;
		ret->path = path_abs(a, str_sub(word, 4, at));
		ret->package = str_sub(word, at + 1, word.n);
		return consists_of(ret->package, "._-")
			       ? NULL
			       : wrong_word(word, "git:LOCK#NAME, for example "
						  "git:src/rocsmith.lock#torch");
	}
	if (!fs_is_dir(word) && parse_file(a, word, ret))
		return NULL;
	*ret = (struct source_spec){.text = word, .path = path_abs(a, word)};
	if (word.n && (str_chr(word, ':') == word.n || fs_exists(word)))
		return NULL;
	return wrong_word(word, "a folder, debian:SUITE/PACKAGE, sdist:NAME==VERSION, or a file "
				"NAME-VERSION.tar.gz");
}
