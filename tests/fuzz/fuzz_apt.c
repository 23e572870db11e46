/* Texts that archive/ and sdk/ read: apt's source lists in both formats, lines of --print-uris, records. What
 * is accepted keeps its promises: names without a slash, paths inside the tree. */
#include <stdlib.h>

#include "archive/apt.h"
#include "base/fs.h"
#include "sdk/provider.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void sources(struct arena *a, struct str text)
{
	struct apt_sources list = {0};
	apt_sources_lines(a, text, &list);
	apt_sources_deb822(a, text, &list);
	VEC_EACH (struct apt_source, s, &list)
		check(s->uri.n > 0);
}

static void uris(struct arena *a, struct str text)
{
	struct str line;
	while (str_next(&text, '\n', &line)) {
		struct archive_item i;
		if (!apt_parse_uri(a, line, &i))
			continue;
		check(i.name.n && str_chr(i.file, '/') == i.file.n && i.sha256.n == 64);
	}
}

static void records(struct str text)
{
	struct sdk_file r;
	bool bad;
	while (file_list_next(&text, &r, &bad))
		check(path_is_inside(r.path) && (r.type == 'f' || r.type == 'l'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct str text = {.p = (const char *)data, .n = size};
	sources(&a, text);
	uris(&a, text);
	records(text);
	return 0;
}
