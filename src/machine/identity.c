/* The user and groups of this process, and its access to the GPUs' device nodes.
 *
 * There are two lists of groups: those of this process, and those that /etc/group gives the account now, which the next
 * login will have.
 *
 * Access follows from mode, owner and groups; root may open everything. On the live machine the kernel decides as well
 * (faccessat), as desktops grant the user at the seat access by an ACL that the mode does not show. Names of groups
 * come from /etc/group; a person's own group is not a fact about the machine, so groups of GID_USER and above stay
 * numbers unless a node belongs to them. A recording contains only the lines of these groups, with "user" for the
 * account and no other member.
 */
#include <unistd.h>

#include "machine/facts.h"

enum { GID_USER = 1000, READ_WRITE = 06, GROUPS_MAX = 1024 };

/* The text of /etc/group, and the lines of it that are recorded. */
struct group_file {
	struct str text;
	struct buf used;
};

/* The group's name, or its number if it has no name or is named after the user. */
static struct str shown_name(const struct root *r, struct str name, unsigned gid)
{
	name = clean_text(r->a, name);
	bool own = str_eq(name, r->user) && !str_eq(name, S("root"));
	return name.n && !own ? name : str_fmt(r->a, "%u", gid);
}

static struct str group_name(struct root *r, struct group_file *f, unsigned gid)
{
	struct str number = str_fmt(r->a, "%u", gid);
	struct str name = shown_name(r, parse_passwd(f->text, gid, PASSWD_NAME), gid);
	struct str line = str_fmt(r->a, "%.*s:x:%u:\n", STR(name), gid);
	if (!str_eq(name, number) && !str_contains(buf_str(&f->used), line))
		buf_add(&f->used, line);
	return name;
}

static struct str process_group(struct root *r, struct group_file *f, unsigned gid)
{
	return gid < GID_USER ? group_name(r, f, gid) : str_fmt(r->a, "%u", gid);
}

/* Reads the account's primary group and the groups that list the account as a member. */
static void read_account(struct root *r, struct machine *m, struct group_file *f)
{
	struct str users, line, name, part[4], rest = f->text;
	uint64_t gid;
	root_read(r, S("etc/passwd"), &users);
	struct str user = parse_passwd(users, m->uid, PASSWD_NAME);
	if (!user.n)
		return;
	if (str_u64(parse_passwd(users, m->uid, PASSWD_GID), 10, &gid) && gid <= UINT32_MAX)
		strs_add(r->a, &m->account_groups, process_group(r, f, (unsigned)gid));
	while (str_next(&rest, '\n', &line) && m->account_groups.n < GROUPS_MAX) {
		for (size_t i = 0; i < 4; i++)
			str_cut(line, ':', &part[i], &line);
		bool member = false;
		while (!member && str_next(&part[3], ',', &name)) /* "alice,bob" */
			member = str_eq(str_trim(name), user);
		if (!member || !str_u64(part[2], 10, &gid) || gid > UINT32_MAX)
			continue;
		name = shown_name(r, gid < GID_USER ? part[0] : S(""), (unsigned)gid);
		if (strs_put(r->a, &m->account_groups, name))
			buf_fmt(&f->used, "%.*s:x:%u:%s\n", STR(name), (unsigned)gid,
				r->uid ? "user" : "root");
	}
}

/* Adds a node, which the user may read and write by its mode, owner and group. The root of a user namespace has no rights
 * over nodes whose owner or group the namespace does not map; their ids appear as 65534 (user_namespaces(7)). */
static void add_node(struct root *r, struct machine *m, struct str path, struct group_file *f)
{
	enum { UNMAPPED = 65534 };
	struct stat st;
	enum root_status s = root_node(r, path, &st);
	if (s == ROOT_ABSENT)
		return;
	if (s != ROOT_OK) {
		note_unreadable(r->a, m, path, s);
		return;
	}
	bool in_group = m->gid == st.st_gid;
	for (size_t i = 0; i < m->gids.n; i++)
		in_group = in_group || m->gids.v[i] == st.st_gid;
	unsigned shift = m->has_identity && m->uid == st.st_uid ? 6
			 : m->has_identity && in_group          ? 3
								: 0;
	bool root =
		m->has_identity && m->uid == 0 && st.st_uid != UNMAPPED && st.st_gid != UNMAPPED;
	struct machine_node n = {
		.path = shown_path(r->a, path),
		.group = group_name(r, f, st.st_gid),
		.mode = st.st_mode & 07777,
		.uid = st.st_uid,
		.gid = st.st_gid,
		.usable = root || (st.st_mode >> shift & READ_WRITE) == READ_WRITE,
	};
	/* on the live machine the kernel has the last word */
	if (!n.usable && !r->dir.n && fs_access(n.path, R_OK | W_OK))
		n.usable = n.acl = true;
	*VEC_PUSH(r->a, &m->nodes) = n;
}

void gather_nodes(struct root *r, struct machine *m)
{
	struct str status;
	struct strs names;
	struct group_file f = {.used = {.a = r->a}};
	enum root_status s = root_read(r, S("proc/self/status"), &status);
	m->has_identity = parse_identity(r->a, status, m);
	if (!m->has_identity)
		note_unreadable(r->a, m, S("proc/self/status"), s == ROOT_OK ? ROOT_BAD : s);
	/* source of the modes: Linux Documentation/userspace-api/seccomp_filter.rst */
	struct str mode = line_value(status, ':', S("Seccomp"));
	m->seccomp = str_eq(mode, S("0"))   ? S("off")
		     : str_eq(mode, S("1")) ? S("strict")
		     : str_eq(mode, S("2")) ? S("filter")
					    : S("");
	bool has_groups = root_read(r, S("etc/group"), &f.text) == ROOT_OK;
	if (m->has_identity)
		strs_add(r->a, &m->groups, process_group(r, &f, m->gid));
	for (size_t i = 0; i < m->gids.n; i++)
		if (m->gids.v[i] != m->gid)
			strs_add(r->a, &m->groups, process_group(r, &f, m->gids.v[i]));
	add_node(r, m, S("dev/kfd"), &f);
	root_list(r, S("dev/dri"), &names);
	for (size_t i = 0; i < names.n; i++)
		if (str_starts(names.v[i], S("renderD")))
			add_node(r, m, path_join(r->a, S("dev/dri"), names.v[i]), &f);
	if (m->has_identity)
		read_account(r, m, &f);
	if (has_groups)
		root_note(r, S("etc/group"), buf_str(&f.used));
}
