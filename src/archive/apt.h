/* A private apt: own lists, own cache, empty dpkg status; needs no rights and changes nothing of
 * the machine's. All by a generated apt.conf(5) in its folder, given to apt-get in APT_CONFIG.
 */
#pragma once

#include "archive/item.h"
#include "base/err.h"

struct apt {
	struct str dir; /* folder: etc/ lists/ archives/ status apt.conf */
	struct str mirror, keyring;
	struct strs suites; /* "sid", or "sid" and "experimental" */
	bool sources;       /* of source packages, not of binary ones */
};

/* Is it the URL of an archive that apt-get can reach by what it brings, and nothing else? Names and
 * passwords in it are refused, and not shown: apt_auth.conf(5) is where they belong, this machine's or
 * FS_CONFIG "auth.conf". E_USAGE. */
MUST_USE struct err *apt_check_mirror(struct str url);
/* Sets mirror and keyring, where they are "", to what this machine's own apt has; E_NOENT when there is
 * no such keyring. E_USAGE where one of them, or the folder, cannot stand in a file of apt's. */
MUST_USE struct err *apt_complete(struct arena *a, struct apt *apt);

/* Writes the configuration. */
MUST_USE struct err *apt_prepare(struct arena *a, const struct apt *apt);
bool apt_has_lists(struct arena *a, const struct apt *apt);
/* Fetches the index; signatures are verified. */
MUST_USE struct err *apt_update(struct arena *a, const struct apt *apt);
/* Date of the (first suite's) index; a line to notes for each index that has expired. */
MUST_USE struct err *apt_index_date(
	struct arena *a, const struct apt *apt, struct str *ret, struct strs *notes);
/* Packages with all that they depend on (alone: just them) -> items. */
MUST_USE struct err *apt_resolve(struct arena *a, const struct apt *apt,
	const struct strs *packages, bool alone, struct archive_items *ret);
/* Puts the items' files into the folder archives/ and sets their path; bytes of a wrong hash never
 * stay there. */
MUST_USE struct err *apt_fetch(
	struct arena *a, const struct apt *apt, const struct archive_items *items);
/* Text of an apt_preferences(5) file that prefers ROCm's (and only ROCm's) packages of a suite. */
struct str apt_preferences(struct arena *a, struct str suite);
/* Gives the folder `to` the index of `from`, by links (it is large): for resolving without a change
 * to anything. */
MUST_USE struct err *apt_borrow(struct arena *a, struct str from, struct str to, bool with_index);
/* "'URI' FILE SIZE SHA256:HEX", a line of apt-get --print-uris, and one whose file is a package. */
bool apt_parse_file(struct arena *a, struct str line, struct archive_item *ret);
bool apt_parse_uri(struct arena *a, struct str line, struct archive_item *ret);

/* ---- apt_debsrc.c: source packages ---- */
struct apt_package {
	struct str name;
	struct str version;         /* to ask apt for; "" = the newest */
	struct archive_items files; /* .dsc, .orig.tar.*, .debian.tar.*, ... */
};

/* "1:2.6.0+dfsg-7" -> "2.6.0" */
struct str apt_upstream(struct str version);
/* Finds ret->name in the index: with this version, the whole or upstream's part of it, "" = newest. */
MUST_USE struct err *apt_source_resolve(
	struct arena *a, const struct apt *apt, struct str asked, struct apt_package *ret);
/* Gets the files into the folder dir and sets their path. Files that the archive does not have any
 * more, though its index does, go to ret_gone, and have no path. */
MUST_USE struct err *apt_source_fetch(struct arena *a, const struct apt *apt,
	struct apt_package *package, struct str dir, struct strs *ret_gone);

/* ---- apt_sources.c: the machine's own configuration ---- */
struct apt_source {
	struct str uri, keyring; /* keyring: path of Signed-By, or "" */
	struct strs suites, components;
};

struct apt_sources {
	struct apt_source *v;
	size_t n, cap;
};

/* The text of a file in one-line (sources.list, *.list) or deb822 (*.sources) format: its enabled
 * "deb" entries. What is no such entry is skipped, as apt would complain itself. sources.list(5).
 */
void apt_sources_lines(struct arena *a, struct str text, struct apt_sources *ret);
void apt_sources_deb822(struct arena *a, struct str text, struct apt_sources *ret);
/* Reads dir/sources.list, dir/sources.list.d/ (dir = "/etc/apt") and picks the entry that is a
 * Debian archive (main, no security, updates or backports); E_SDK_SOURCE when there is none. */
MUST_USE struct err *apt_sources_find(struct arena *a, struct str dir, struct apt_source *ret);
