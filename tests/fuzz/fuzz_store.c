/* A store of releases that a stranger filled: METADATA, a set, a state and a quarantine, with NULs between them. "@M", "@S" and "@W"
 * stand for the hashes by which one names the other. What it shows is an error, or pages of wheels in the store. */
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "formats/node.h"
#include "release/release.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WHEEL "x-1.0-cp312-cp312-linux_x86_64.whl"

static void check(bool good)
{
	if (!good)
		abort();
}

static void put(struct arena *a, struct str dir, struct str name, struct str text)
{
	struct str path = path_join(a, dir, name);
	check(!fs_mkdirs(path_dir(path)) && !fs_write(path, text, 0644));
}

static void fill(struct arena *a, struct str dir, struct str rest)
{
	struct str metadata, set, state, wheel = sha256_hex(a, S("wheel"));
	(void)str_cut(rest, 0, &metadata, &rest);
	(void)str_cut(rest, 0, &set, &rest);
	(void)str_cut(rest, 0, &state, &rest);
	set = str_replace(a, set, S("@M"), sha256_hex(a, metadata));
	set = str_replace(a, set, S("@W"), wheel);
	struct str id = sha256_hex(a, set);
	state = str_replace(a, state, S("@S"), id);
	put(a, dir, S("rocsmith-store.json"), S("{\"schema\": \"rocsmith.store/1\"}\n"));
	put(a, dir, str_fmt(a, "files/%.*s/" WHEEL, STR(wheel)), S("wheel"));
	put(a, dir, str_fmt(a, "files/%.*s/" WHEEL ".metadata", STR(wheel)), metadata);
	put(a, dir, str_fmt(a, "sets/%.*s.json", STR(id)), set);
	put(a, dir, str_fmt(a, "states/%.*s.json", STR(sha256_hex(a, state))), state);
	put(a, dir, S("dev/stream.json"), state);
	if (rest.n)
		put(a, dir, str_fmt(a, "quarantine/%.*s.json", STR(id)), rest);
}

static struct err *show(struct arena *a, struct str dir)
{
	struct release_store s = {.lock = -1};
	struct release_state state;
	struct release_set set = {0};
	const struct node *doc;
	struct str id;
	TRY(fs_mkdirs(path_join(a, dir, S("site"))));
	TRY(release_open(a, path_join(a, dir, S("dev")), false, &s));
	TRY(release_state(a, &s, s.stream, &state, &id));
	TRY(release_shown(a, &s, &state, &set));
	VEC_EACH (const struct release_wheel, w, &set) {
		check(path_is_below(w->path, dir) && str_eq(path_base(w->path), S(WHEEL)));
		(void)release_page(a, &set, w->project, S("../"));
		struct err *e =
			json_parse(a, release_json(a, &set, w->project, S("../")), S("page"), &doc);
		check(!e);
	}
	(void)release_people(a, &set);
	return release_site(a, &set, path_join(a, dir, S("site")), S("../"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	const char *tmp = getenv("TMPDIR");
	struct str dir = str_fmt(&a, "%s/fuzz-store-%d", tmp ? tmp : "/tmp", (int)getpid());
	fill(&a, dir, (struct str){.p = (const char *)data, .n = size});
	struct err *e = show(&a, dir);
	check(!e || e->code != E_INTERNAL);
	err_free(e);
	err_free(fs_remove_tree(dir));
	return 0;
}
