/* Who we are here, and which GPU device nodes we may open.
 *
 * Two lists of groups: those of this process, and those that the account has by now in /etc/group, which the next login
 * will give. A recording says "user" for the account's name, and of other members of a group nothing.
 *
 * Mode, owner and groups decide; root may open everything. On the live machine the kernel is asked
 * too (faccessat), as desktops grant the user of the seat access by an ACL that the mode does not
 * show. Names of groups are taken from /etc/group; that of a person's own group is not a fact about
 * the machine, so groups of GID_USER and above stay numbers unless a node belongs to them.
 */
#include <sys/stat.h>

#include "machine/facts.h"
#include "machine/parse.h"

enum { GID_USER = 1000, READ_WRITE = 06, GROUPS_MAX = 1024 };

static void keep_status(struct buf *out, struct str text)
{
	static const char *const keys[] = {"Uid", "Gid", "Groups", "Seccomp", NULL};
	keep_keys(out, text, ':', keys);
}

static bool in_group(const struct machine *m, unsigned gid)
{
	if (m->gid == gid)
		return true;
	for (size_t i = 0; i < m->gids.n; i++)
		if (m->gids.v[i] == gid)
			return true;
	return false;
}

/* Root of a user namespace is none over what belongs to ids that it does not map: these are shown as 65534
 * (user_namespaces(7)). */
static bool node_usable(const struct machine *m, unsigned mode, unsigned uid, unsigned gid)
{
	enum { UNMAPPED = 65534 };
	unsigned bits = mode & 7;
	if (m->has_identity && m->uid == 0 && uid != UNMAPPED && gid != UNMAPPED)
		return true;
	if (m->has_identity && m->uid == uid)
		bits = mode >> 6 & 7;
	else if (m->has_identity && in_group(m, gid))
		bits = mode >> 3 & 7;
	return (bits & READ_WRITE) == READ_WRITE;
}

static struct str number_name(struct arena *a, unsigned gid)
{
	return str_fmt(a, "%u", gid);
}

/* A group that is named after the user is nobody's business. */
static bool is_own(const struct root *r, struct str name)
{
	return str_eq(name, r->user) && !str_eq(name, S("root"));
}

/* Its name, copied into the recording as well. */
static struct str group_name(struct root *r, struct str groups, unsigned gid, struct buf *used)
{
	struct str name = clean_text(r->a, parse_group(groups, gid));
	if (!name.n || is_own(r, name))
		return number_name(r->a, gid);
	struct str line = str_fmt(r->a, "%.*s:x:%u:\n", STR(name), gid);
	if (!str_contains(buf_str(used), line))
		buf_add(used, line);
	return name;
}

static struct str own_group(struct root *r, struct str groups, unsigned gid, struct buf *used)
{
	return gid < GID_USER ? group_name(r, groups, gid, used) : number_name(r->a, gid);
}

/* Is the user's name in "alice,bob"? */
static bool has_member(struct str members, struct str user)
{
	struct str name;
	while (str_next(&members, ',', &name))
		if (user.n && str_eq(str_trim(name), user))
			return true;
	return false;
}

/* The account's own group, and those that list it. */
static void read_account(struct root *r, struct machine *m, struct str groups, struct buf *used)
{
	struct str users, line, part[4];
	uint64_t gid;
	root_peek(r, S("etc/passwd"), &users);
	struct str user = parse_passwd(users, m->uid, PASSWD_NAME);
	if (!user.n)
		return;
	struct str own = parse_passwd(users, m->uid, PASSWD_GID);
	struct str home = parse_passwd(users, m->uid, PASSWD_HOME);
	struct str name = m->uid ? S("user") : S("root");
	root_tell_text(r, S("etc/passwd"),
		str_fmt(r->a, "%.*s:x:%u:%.*s::%.*s:\n", STR(name), m->uid, STR(own), STR(home)));
	if (str_u64(own, 10, &gid) && gid <= UINT32_MAX)
		strs_add(r->a, &m->account_groups, own_group(r, groups, (unsigned)gid, used));
	while (str_next(&groups, '\n', &line) && m->account_groups.n < GROUPS_MAX) {
		for (size_t i = 0; i < 4; i++)
			str_cut(line, ':', &part[i], &line);
		if (!has_member(part[3], user) || !str_u64(part[2], 10, &gid) || gid > UINT32_MAX)
			continue;
		struct str shown = gid < GID_USER && !is_own(r, part[0])
					   ? clean_text(r->a, part[0])
					   : number_name(r->a, (unsigned)gid);
		if (strs_put(r->a, &m->account_groups, shown))
			buf_fmt(used, "%.*s:x:%u:%.*s\n", STR(shown), (unsigned)gid, STR(name));
	}
}

/* Documentation/userspace-api/seccomp_filter.rst */
static struct str seccomp_of(struct str status)
{
	static const char *const modes[] = {"off", "strict", "filter"};
	struct str mode = line_value(status, ':', S("Seccomp"));
	return mode.n == 1 && mode.p[0] >= '0' && mode.p[0] <= '2'
		       ? str_from(modes[mode.p[0] - '0'])
		       : S("");
}

static void add_node(
	struct root *r, struct machine *m, struct str path, struct str groups, struct buf *used)
{
	struct stat st;
	enum root_status s = root_node(r, path, &st);
	if (s == ROOT_ABSENT)
		return;
	if (s != ROOT_OK) {
		note_unreadable(r->a, m, path, s);
		return;
	}
	struct machine_node n = {
		.path = clean_text(r->a, str_fmt(r->a, "/%.*s", STR(path))),
		.group = group_name(r, groups, st.st_gid, used),
		.mode = st.st_mode & 07777,
		.uid = st.st_uid,
		.gid = st.st_gid,
		.usable = node_usable(m, st.st_mode, st.st_uid, st.st_gid),
	};
	/* on the live machine the kernel's own answer counts */
	if (!n.usable && !r->dir.n && fs_readable(n.path) && fs_writable(n.path))
		n.usable = n.acl = true;
	*VEC_PUSH(r->a, &m->nodes) = n;
}

void gather_nodes(struct root *r, struct machine *m)
{
	struct str status, groups;
	struct strs names;
	BUF(used, r->a);
	enum root_status s = root_read(r, S("proc/self/status"), keep_status, &status);
	m->has_identity = parse_identity(r->a, status, m);
	if (!m->has_identity)
		note_unreadable(r->a, m, S("proc/self/status"), s == ROOT_OK ? ROOT_BAD : s);
	m->seccomp = seccomp_of(status);
	bool has_groups = root_peek(r, S("etc/group"), &groups) == ROOT_OK;
	if (m->has_identity)
		strs_add(r->a, &m->groups, own_group(r, groups, m->gid, &used));
	for (size_t i = 0; i < m->gids.n; i++)
		if (m->gids.v[i] != m->gid)
			strs_add(r->a, &m->groups, own_group(r, groups, m->gids.v[i], &used));
	add_node(r, m, S("dev/kfd"), groups, &used);
	root_list(r, S("dev/dri"), &names);
	for (size_t i = 0; i < names.n; i++)
		if (str_starts(names.v[i], S("renderD")))
			add_node(r, m, path_join(r->a, S("dev/dri"), names.v[i]), groups, &used);
	if (m->has_identity)
		read_account(r, m, groups, &used);
	if (has_groups)
		root_tell_text(r, S("etc/group"), buf_str(&used));
}
