/* A private apt with lists, cache and an empty dpkg status of its own. It needs no privileges and changes
 * nothing on the machine: APT_CONFIG gives apt-get a generated apt.conf(5).
 */
#pragma once

#include "archive/item.h"
#include "base/err.h"

struct apt {
	struct str dir; /* holds etc/ lists/ archives/ status apt.conf */
	struct str mirror, keyring;
	struct strs suites; /* "sid", or "sid" and "experimental" */
	bool sources;       /* use the index of source packages, not of binary ones */
};

/* Is this the URL of an archive that apt-get reaches by its own methods, without starting other programs? User
 * names and passwords in it are refused, and not printed: they belong in apt_auth.conf(5), either this machine's or
 * FS_CONFIG "auth.conf". E_USAGE. */
MUST_USE struct err *apt_check_mirror(struct str url);
/* Sets mirror and keyring, if they are "", from this machine's apt configuration. E_NOENT if the keyring does not
 * exist, E_USAGE if mirror, keyring or dir has characters that apt's files cannot express. */
MUST_USE struct err *apt_complete(struct arena *a, struct apt *apt);

/* Writes the configuration. */
MUST_USE struct err *apt_prepare(struct arena *a, const struct apt *apt);
bool apt_has_lists(struct arena *a, const struct apt *apt);
/* Fetches the index; signatures are verified. */
MUST_USE struct err *apt_update(struct arena *a, const struct apt *apt);
/* The date of the last suite's index; adds a note for each index that has expired. */
MUST_USE struct err *apt_index_date(
	struct arena *a, const struct apt *apt, struct str *ret, struct strs *notes);
/* Adds packages and everything they depend on (unless `alone`) to the items. */
MUST_USE struct err *apt_resolve(struct arena *a, const struct apt *apt,
	const struct strs *packages, bool alone, struct archive_items *ret);
/* Fetches the items' files into archives/ and sets their path. A file with a wrong hash is removed. */
MUST_USE struct err *apt_fetch(
	struct arena *a, const struct apt *apt, const struct archive_items *items);
/* The text of an apt_preferences(5) file that prefers a suite for ROCm's packages, and for no others. */
struct str apt_preferences(struct arena *a, struct str suite);
/* Gives the folder `to` the index of `from` by links (it is large), so that packages can be resolved without changing
 * `from`. */
MUST_USE struct err *apt_borrow(struct arena *a, struct str from, struct str to, bool with_index);
/* Reads "'URI' FILE SIZE SHA256:HEX", a line of apt-get --print-uris. apt_parse_uri() accepts
 * only packages. */
bool apt_parse_file(struct arena *a, struct str line, struct archive_item *ret);
bool apt_parse_uri(struct arena *a, struct str line, struct archive_item *ret);

/* ---- apt_debsrc.c: source packages ---- */
struct apt_package {
	struct str name;
	struct str version;         /* "" = the newest */
	struct archive_items files; /* .dsc, .orig.tar.*, .debian.tar.*, ... */
};

/* "1:2.6.0+dfsg-7" -> "2.6.0" */
struct str apt_upstream(struct str version);
/* Finds ret->name in the index. `asked` is a full version or only upstream's part of it; "" = the newest. */
MUST_USE struct err *apt_source_resolve(
	struct arena *a, const struct apt *apt, struct str asked, struct apt_package *ret);
/* Fetches the files into the folder dir and sets their path. Files that the index still lists but the archive no
 * longer has are added to ret_gone, and get no path. */
MUST_USE struct err *apt_source_fetch(struct arena *a, const struct apt *apt,
	struct apt_package *package, struct str dir, struct strs *ret_gone);

/* ---- apt_sources.c: the machine's apt configuration ---- */
struct apt_source {
	struct str uri, keyring; /* keyring: the path in Signed-By, or "" */
	struct strs suites, components;
};

struct apt_sources VEC_OF(struct apt_source);

/* Adds the enabled "deb" entries of a text in one-line (sources.list, *.list) or deb822 (*.sources) format, see
 * sources.list(5). Skips anything else: apt itself reports mistakes. */
void apt_sources_lines(struct arena *a, struct str text, struct apt_sources *ret);
void apt_sources_deb822(struct arena *a, struct str text, struct apt_sources *ret);
/* Reads dir/sources.list and dir/sources.list.d/ (dir = "/etc/apt") and picks the entry that is a Debian archive
 * (main; no security, updates or backports); E_SDK_SOURCE if there is none. */
MUST_USE struct err *apt_sources_find(struct arena *a, struct str dir, struct apt_source *ret);
