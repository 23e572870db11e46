/* The contents of a container, whatever the engine: an image or a root folder, nodes of GPUs with their groups, binds. */
#include "base/fs.h"
#include "base/proc.h"
#include "container/container.h"

enum { UNMAPPED = 65534, DIGEST = 64 };

void container_add(struct arena *a, const char *kind, struct str from, struct container *io)
{
	*VEC_PUSH(a, &io->items) =
		(struct container_item){.kind = str_from(kind), .from = from, .at = from};
}

/* ---- the engine and its image ---- */

/* Finds the digest, without which a name may lead to another image tomorrow: NAME@sha256:HEX, or an image's own id. With
 * it a tag says nothing, and podman refuses both together, so the tag goes. */
static void read_image(struct arena *a, struct container *c)
{
	struct str name, digest, hex = c->image;
	if (str_cut(c->image, '@', &name, &digest))
		hex = digest;
	if (str_starts(hex, S("sha256:")))
		hex = str_sub(hex, 7, hex.n);
	if (hex.n != DIGEST || !str_is_hex(hex))
		return;
	c->digest = str_fmt(a, "sha256:%.*s", STR(hex));
	strs_add(a, &c->words, S("pinned"));
	size_t folder = str_rchr(name, '/');
	folder = folder < name.n ? folder : 0;
	size_t tag = folder + str_chr(str_sub(name, folder, name.n), ':');
	if (digest.n)
		c->image = str_fmt(a, "%.*s@%.*s", STR(str_sub(name, 0, tag)), STR(c->digest));
}

static struct err *engine_for(
	struct arena *a, struct str name, bool image, const struct container_engine **ret)
{
	struct strs names = {0};
	const struct container_engine *found = NULL;
	TABLE_EACH (container_engine, e) {
		strs_add(a, &names, str_from(e->name));
		bool wanted = name.n ? str_eq(name, str_from(e->name)) : e->image == image;
		bool here = name.n || proc_find(a, str_from(e->program)).n;
		if (wanted && (!found || (here && !proc_find(a, str_from(found->program)).n)))
			found = e;
	}
	*ret = found;
	if (!found)
		return err_near(err_new(E_USAGE, "there is no engine '%.*s': %.*s", STR(name),
					STR(str_join(a, &names, S(", ")))),
			name, &names);
	if (found->image && !image)
		return err_hint(err_new(E_USAGE, "%s takes an image, not a folder", found->name),
			"tar -C ROOT -c . | %s import - localhost/NAME makes one; bwrap and nspawn "
			"take the folder itself",
			found->name);
	if (!found->image && image)
		return err_hint(
			err_new(E_USAGE, "%s takes a root folder, not an image", found->name),
			"a folder is named by a path with a slash in front, or './'");
	return NULL;
}

struct err *container_open(
	struct arena *a, struct str engine, struct str image, struct container *ret)
{
	bool folder = image.n && (image.p[0] == '/' || image.p[0] == '.');
	*ret = (struct container){.image = image};
	if (!image.n || image.p[0] == '-')
		return err_new(E_USAGE, "'%.*s' is no name of an image", STR(image));
	TRY(engine_for(a, engine, !folder, &ret->engine));
	if (folder)
		ret->image = path_abs(a, image);
	if (folder && !fs_is_dir(ret->image))
		return err_new(E_NOENT, "there is no folder '%.*s'", STR(ret->image));
	if (!folder)
		read_image(a, ret);
	if (!folder && !ret->digest.n)
		strs_fmt(a, &ret->warnings,
			"no digest pins the image '%.*s', so another one may have this "
			"name tomorrow; %s image inspect -f '{{.RepoDigests}}' shows it",
			STR(image), ret->engine->program);
	return NULL;
}

/* ---- GPUs ---- */

static struct err *check_words(struct arena *a, const struct machine *m, const struct strs *words)
{
	struct strs have = {0};
	VEC_EACH (const struct machine_gpu, g, &m->gpus) {
		strs_fmt(a, &have, "%u", g->index);
		strs_put(a, &have, g->target);
	}
	STRS_ADD(a, &have, S("all"), S("none"));
	for (size_t i = 0; i < words->n; i++)
		if (!strs_has(&have, words->v[i]))
			return err_new(E_USAGE, "this machine has no GPU '%.*s', only %.*s",
				STR(words->v[i]), STR(str_join(a, &have, S(", "))));
	return NULL;
}

/* Adds a node, and its group if that is what opens it. */
static void add_device(
	struct arena *a, const struct machine *m, struct str path, struct container *c)
{
	enum { OTHERS = 06, GROUP = 060 };
	const struct machine_node *node = VEC_FIND(struct machine_node, &m->nodes, path, path);
	container_add(a, "device", path, c);
	if (!node) {
		strs_fmt(a, &c->warnings, "'%.*s' is not there; 'rocsmith doctor' tells why",
			STR(path));
		return;
	}
	struct str group = str_fmt(a, "%u", node->gid);
	bool opens = (node->mode & OTHERS) != OTHERS && (node->mode & GROUP) == GROUP &&
		     node->gid && node->gid != UNMAPPED;
	bool known = !opens;
	VEC_EACH (const struct container_item, i, &c->items)
		known = known || (str_eq(i->kind, S("group")) && str_eq(i->from, group));
	if (!known)
		container_add(a, "group", group, c);
	if (!node->usable && c->engine->own_rights)
		strs_put(a, &c->warnings,
			str_fmt(a,
				"user %u may not open nodes of group %u with mode %04o, so the "
				"container cannot either; 'rocsmith doctor' tells what helps",
				m->uid, node->gid, node->mode));
}

static void add_gpus(
	struct arena *a, const struct machine *m, const struct strs *words, struct container *c)
{
	struct strs chosen = {0};
	if (strs_has(words, S("none")))
		return;
	bool all = !words->n || strs_has(words, S("all"));
	VEC_EACH (const struct machine_gpu, g, &m->gpus) {
		struct str index = str_fmt(a, "%u", g->index);
		if (!all && !strs_has(words, g->target) && !strs_has(words, index))
			continue;
		if (!chosen.n)
			add_device(a, m, S("/dev/kfd"), c);
		strs_add(a, &chosen, index);
		if (g->render.n)
			add_device(a, m, g->render, c);
	}
	if (chosen.n && chosen.n < m->gpus.n)
		strs_add(a, &c->words, S("subset"));
	strs_fmt(a, &c->values, "gpus=%.*s", STR(str_join(a, &chosen, S(","))));
	if (!m->gpus.n && m->has_dxg) {
		/* in WSL by one node, and libraries of Windows (ROCm/librocdxg:README.md) */
		container_add(a, "device", S("/dev/dxg"), c);
		container_add(a, "bind", S("/usr/lib/wsl"), c);
		c->items.v[c->items.n - 1].readonly = true;
	} else if (!m->gpus.n) {
		strs_add(a, &c->warnings,
			S("the kernel offers no AMD GPU here; 'rocsmith doctor' tells why, and "
			  "--gpu none says that none is wanted"));
	}
}

struct err *container_machine(
	struct arena *a, const struct machine *m, const struct strs *gpus, struct container *io)
{
	struct strs groups = {0};
	TRY(check_words(a, m, gpus));
	if (!m->has_identity)
		strs_add(a, &io->warnings, S("the user is not known: root is assumed"));
	add_gpus(a, m, gpus, io);
	VEC_EACH (const struct container_item, i, &io->items) {
		if (str_eq(i->kind, S("group")))
			strs_add(a, &groups, i->from);
		if (str_eq(i->kind, S("device")))
			strs_put(a, &io->words, S("devices"));
	}
	if (groups.n)
		strs_add(a, &io->words, S("groups"));
	if (m->uid)
		strs_add(a, &io->words, S("user"));
	if (m->selinux)
		strs_add(a, &io->words, S("selinux"));
	strs_fmt(a, &io->values, "uid=%u", m->uid);
	strs_fmt(a, &io->values, "gid=%u", m->gid);
	strs_fmt(a, &io->values, "groups=%.*s", STR(str_join(a, &groups, S(","))));
	return NULL;
}

/* ---- binds ---- */

struct err *container_bind(struct arena *a, struct str text, struct container *io)
{
	struct str piece[3] = {0};
	size_t n = 0;
	BUF(b, a);
	for (size_t i = 0; i <= text.n && n < 3; i++) {
		bool quoted = i + 1 < text.n && text.p[i] == '\\' &&
			      (text.p[i + 1] == ':' || text.p[i + 1] == '\\');
		if (i == text.n || text.p[i] == ':') {
			piece[n++] = str_dup(a, buf_str(&b));
			b.n = 0;
			if (i == text.n)
				break;
		} else {
			i += quoted;
			buf_char(&b, text.p[i]);
		}
	}
	struct container_item item = {.kind = S("bind"), .from = path_abs(a, piece[0])};
	struct str mode = piece[n - 1];
	item.readonly = n > 1 && str_eq(mode, S("ro"));
	n -= n > 1 && (item.readonly || str_eq(mode, S("rw")));
	item.at = n > 1 ? path_clean(a, piece[1]) : item.from;
	if (n > 2 || !piece[0].n || item.at.n < 2 || item.at.p[0] != '/')
		return err_hint(err_new(E_USAGE, "a bind is FROM[:AT][:ro], not '%.*s'", STR(text)),
			"AT is a path from the root, but not the root; a colon in a path is '\\:'");
	*VEC_PUSH(a, &io->items) = item;
	return NULL;
}
