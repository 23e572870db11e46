/* Whether a manifest is one that this user's rocsmith wrote. A tree of sources comes from strangers, and
 * so may its .rocsmith; what it says would have files replaced and removed. So each manifest carries a
 * sum (HMAC) made with a key that lies in no tree: FS_STATE "key". */
#include <sys/random.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "changes/manifest.h"

enum { KEY_BYTES = 64 };

static struct err *read_key(struct arena *a, struct str path, struct str *ret)
{
	TRY(fs_place_check(FS_STATE));
	TRY(fs_read_opt(a, path, KEY_BYTES, ret));
	if (ret->p && ret->n != KEY_BYTES)
		return err_new(E_CORRUPT, "'%.*s' is no key of rocsmith", STR(path));
	return NULL;
}

/* Two processes may want the first one at once. */
static struct err *make_key(struct arena *a, struct str path, struct str *ret)
{
	CLEANUP(fd_closep) int lock = -1;
	char *key = arena_alloc(a, KEY_BYTES);
	TRY(fs_mkdirs(path_dir(path)));
	TRY(fs_lock(str_fmt(a, "%.*s.lock", STR(path)), true, &lock));
	TRY(read_key(a, path, ret));
	if (ret->p)
		return NULL;
	if (getentropy(key, KEY_BYTES) < 0)
		return err_errno("cannot make a key");
	*ret = (struct str){key, KEY_BYTES};
	return fs_write(path, *ret, 0600);
}

struct err *seal_of(struct str text, struct sum *ret)
{
	ARENA(tmp);
	struct str key, path = fs_place(&tmp, FS_STATE, S("key"));
	*ret = (struct sum){0};
	TRY(read_key(&tmp, path, &key));
	if (!key.p && fs_writes_forbidden())
		return NULL;
	if (!key.p)
		TRY_CTX(make_key(&tmp, path, &key),
			"cannot store the key that marks trees as ours");
	struct digest d = hash_sealed(key, text);
	for (size_t i = 0; i < sizeof(ret->b); i++)
		ret->b[i] = d.b[i];
	return NULL;
}
