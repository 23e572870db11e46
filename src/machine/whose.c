/* Opening a root: whose machine it is, and the variables of that user's environment. */
#include <stdlib.h>
#include <unistd.h>

#include "machine/parse.h"
#include "machine/root.h"

void root_open(struct root *r)
{
	struct str status, users, home;
	struct machine id = {.uid = geteuid()};
	if (r->dir.n) {
		root_peek(r, S(".nodes"), &r->nodes);
		root_peek(r, S("proc/self/environ"), &r->environ);
		root_peek(r, S("proc/self/status"), &status);
		if (!parse_identity(r->a, status, &id))
			id.uid = UINT32_MAX;
	}
	root_peek(r, S("etc/passwd"), &users);
	r->user = parse_passwd(users, id.uid, PASSWD_NAME);
	if (!root_variable(r, S("HOME"), &home) || !str_starts(home, S("/")))
		home = parse_passwd(users, id.uid, PASSWD_HOME);
	home = path_clean(r->a, home);
	r->home = str_starts(home, S("/")) ? str_sub(home, 1, home.n) : S("");
	r->real_home = root_real(r, r->home);
	if (!r->user.n)
		r->user = path_base(r->home);
}

bool root_variable(struct root *r, struct str name, struct str *ret)
{
	ARENA(tmp);
	const char *value = r->dir.n ? NULL : getenv(str_z(&tmp, name));
	*ret = r->dir.n ? parse_environ(r->environ, name) : str_from(value);
	return r->dir.n ? ret->p != NULL : value != NULL;
}
