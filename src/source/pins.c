/* Finds the commit and the repository of a target; see checkout.h. */
#include "archive/git.h"
#include "base/fs.h"
#include "base/glob.h"
#include "source/checkout.h"

enum { MAX_PINS = 1 << 20 };

struct err *checkout_related_parse(struct arena *a, struct str text, struct str path,
	struct str project, struct checkout_project *io)
{
	enum { OS, SOURCE, PROJECT, BRANCH, COMMIT, ORIGIN, FIELDS_N };
	struct str line;
	for (unsigned n = 1; str_next(&text, '\n', &line); n++) {
		struct str field[FIELDS_N] = {0}, rest = str_trim(line), whole = rest;
		struct err *e = NULL;
		size_t k = 0;
		if (!rest.n || rest.p[0] == '#')
			continue;
		while (k < FIELDS_N && str_next(&rest, '|', &field[k]))
			k++;
		struct loc at = {.path = path, .line = n, .col = 1};
		if (k < FIELDS_N || rest.n || str_ends(whole, S("|"))) {
			at.col = (unsigned)whole.n + 1;
			e = err_new(E_SYNTAX, "a line of related_commits has six fields: "
					      "os|source|project|branch|commit|origin");
		} else if (!git_is_sha(field[COMMIT])) {
			at.col = (unsigned)(field[COMMIT].p - line.p) + 1;
			e = err_new(
				E_SYNTAX, "'%.*s' is not a whole commit id", STR(field[COMMIT]));
		} else if ((e = git_check_url(field[ORIGIN], false))) {
			at.col = (unsigned)(field[ORIGIN].p - line.p) + 1;
		} else if (str_eq(field[PROJECT], project) && io->commit.n &&
			   (!str_eq(io->commit, field[COMMIT]) ||
				   !str_eq(io->origin, field[ORIGIN]))) {
			e = err_new(E_SYNTAX, "the lines for '%.*s' do not agree: %.*s has %.*s",
				STR(project), STR(io->pinned_by), STR(io->commit));
		}
		if (e)
			return err_at(e, at);
		if (!str_eq(field[PROJECT], project) || io->commit.n)
			continue;
		io->origin = field[ORIGIN];
		io->commit = field[COMMIT];
		io->pinned_by = str_fmt(a, "related_commits:%u", n);
	}
	return NULL;
}

/* The only word in a file of torch's .ci/docker. */
static struct err *read_pin(struct arena *a, struct str torch, const char *name, struct str *ret)
{
	struct str file = str_fmt(a, ".ci/docker/%s", name);
	TRY_CTX(fs_read_below(a, torch, file, MAX_PINS, ret),
		"cannot read which triton this torch wants");
	*ret = str_trim(*ret);
	return NULL;
}

/* triton: the commit that torch's own builds use, or the release branch of the version that they want. */
static struct err *resolve_triton(struct arena *a, const struct checkout_request *r,
	struct str torch, struct checkout_project *io)
{
	struct str major, minor, rest;
	TRY(read_pin(a, torch, "triton_version.txt", &rest));
	io->version = rest;
	if (!r->release) {
		TRY(read_pin(a, torch, "ci_commit_pins/triton.txt", &io->commit));
		io->pinned_by = S("torch's .ci/docker/ci_commit_pins/triton.txt");
		if (git_is_sha(io->commit))
			return NULL;
		return err_at(err_new(E_SYNTAX, "'%.*s' is not a whole commit id", STR(io->commit)),
			(struct loc){.path = path_join(
					     a, torch, S(".ci/docker/ci_commit_pins/triton.txt")),
				.line = 1,
				.col = 1});
	}
	(void)str_next(&rest, '.', &major);
	(void)str_next(&rest, '.', &minor);
	io->ref = str_fmt(a, "release/%.*s.%.*s.x", STR(major), STR(minor));
	io->pinned_by = S("torch's .ci/docker/triton_version.txt");
	return NULL;
}

/* The rows of data/branches.yaml for a ref of torch. */
static void resolve_by_branch(struct str torch_ref, struct checkout_project *io)
{
	TABLE_EACH (checkout_branch, b) {
		if (io->origin.n || !str_eq(io->name, str_from(b->project)) ||
			!glob_match(str_from(b->torch), torch_ref))
			continue;
		io->origin = str_from(b->origin);
		io->ref = b->branch ? str_from(b->branch) : torch_ref;
		if (!io->pinned_by.n)
			io->pinned_by = S("the branch of torch");
	}
}

/* Asks torch for the commit of a neighbour: its pins, else the branch table. */
static struct err *resolve_neighbour(struct arena *a, const struct checkout_request *r,
	const struct checkout_known *k, const struct checkout_project *torch,
	struct checkout_project *io)
{
	struct str dir = path_join(a, r->root, S("torch")), text;
	struct str pins = path_join(a, dir, S("related_commits"));
	if (str_eq(io->name, S("therock"))) /* only users and manifests know which */
		return NULL;
	if (torch && fs_writes_forbidden() && !fs_is_dir(dir)) {
		io->pinned_by = S("torch, once it is there");
		return NULL;
	}
	if (!torch || !fs_is_dir(dir))
		return err_hint(err_new(E_USAGE,
					"which commit of '%.*s' is wanted depends on a torch, and "
					"there is none in '%.*s'",
					STR(io->name), STR(r->root)),
			"check it out with torch ('torch,%.*s'), or name the commit: --ref",
			STR(io->name));
	if (!k->related)
		return resolve_triton(a, r, dir, io);
	if (fs_is_file(pins)) {
		TRY(fs_read_below(a, dir, S("related_commits"), MAX_PINS, &text));
		TRY(checkout_related_parse(a, text, pins, str_from(k->related), io));
	}
	if (!io->commit.n && r->require)
		return err_new(E_SOURCE, "'%.*s' has no line for '%s', and --require wants one",
			STR(pins), k->related);
	if (!io->commit.n)
		resolve_by_branch(torch->ref, io);
	return NULL;
}

struct err *checkout_resolve(struct arena *a, const struct checkout_request *r,
	const struct checkout_lock *given, const struct checkout_project *torch,
	struct checkout_project *io)
{
	const struct checkout_known *k = checkout_known_table();
	while (!str_eq(io->name, str_from(k->name)))
		k++;
	bool is_torch = !k->origin, named = is_torch || r->targets.n == 1;
	if (named && r->ref.n) {
		io->ref = r->ref;
		io->pinned_by = S("--ref");
		io->commit = git_is_sha(r->ref) ? r->ref : S("");
		if (is_torch && !r->origin.n)
			resolve_by_branch(r->ref, io);
	} else if (given) {
		const struct checkout_project *p = checkout_find(given, io->name);
		if (!p)
			return err_new(E_SOURCE, "'%.*s' has no entry for '%.*s'",
				STR(r->lock.n ? r->lock : r->manifest), STR(io->name));
		*io = *p;
	} else if (!is_torch) {
		TRY(resolve_neighbour(a, r, k, torch, io));
	}
	if (named && r->origin.n)
		io->origin = r->origin;
	else if (!io->origin.n && k->origin && (io->ref.n || io->commit.n))
		io->origin = str_from(k->origin);
	if (fs_writes_forbidden() && io->pinned_by.n && !io->ref.n && !io->commit.n)
		return NULL;
	if (io->origin.n && (io->ref.n || io->commit.n)) {
		bool local =
			(named && r->origin.n) || (given && !str_contains(r->manifest, S("://")));
		TRY(git_check_url(io->origin, local));
		return io->ref.n ? git_check_ref(io->ref) : NULL;
	}
	struct err *e =
		io->ref.n ? err_new(E_USAGE, "which repository has '%.*s' of '%.*s' is not known",
				    STR(io->ref), STR(io->name))
			  : err_new(E_USAGE, "which commit of '%.*s' is wanted is not known",
				    STR(io->name));
	return io->ref.n ? err_hint(e, "--origin URL names it, for example "
				       "https://github.com/pytorch/pytorch")
			 : err_hint(e, "name it: --ref release/2.14, a tag, or a commit with "
				       "--origin; or give --lock or --manifest");
}
