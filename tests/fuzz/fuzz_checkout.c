/* related_commits, manifests and lock files from bytes; the first byte says which. What is accepted may be given to git. */
#include "archive/git.h"
#include "source/checkout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct checkout_lock l = {0};
	struct checkout_project p = {0};
	struct err *e;
	if (!size)
		return 0;
	struct str text = {.p = (const char *)data + 1, .n = size - 1};
	if (data[0] == 'r')
		e = checkout_related_parse(&a, text, S("r"), S("apex"), &p);
	else
		e = (data[0] == 'm' ? checkout_manifest_parse : checkout_lock_parse)(
			&a, text, S("m"), &l);
	if (!e && data[0] == 'r' && p.commit.n)
		*VEC_PUSH(&a, &l.projects) = p;
	VEC_EACH (const struct checkout_project, i, &l.projects) {
		struct err *bad = e ? NULL : git_check_url(i->origin, data[0] != 'r');
		if (bad || (!e && !git_is_sha(i->commit)))
			__builtin_trap();
	}
	err_free(e);
	return 0;
}
