/* Finds and reads the hipify of a torch; see source.h.
 *
 * An algorithm is identified by its fingerprint: the SHA-256 over the tokens of hipify_python.py,
 * without comments, documentation strings and layout. data/torch_hipify.yaml has one row for each version of
 * that file in a release.
 */
#include "hipify/torch/model/source.h"

#include "base/fs.h"
#include "base/hash.h"
#include "formats/zip.h"
#include "lang/python/literal.h"

enum { MAX_TEXT = 16 << 20 };

/* The files of a hipify, relative to the folder that has "torch". */
static const struct part {
	size_t offset; /* the struct torch_file in struct torch_source */
	const char *path;
} parts[] = {
	{offsetof(struct torch_source, algorithm), "torch/utils/hipify/hipify_python.py"},
	{offsetof(struct torch_source, mappings), "torch/utils/hipify/cuda_to_hip_mappings.py"},
	{offsetof(struct torch_source, constants), "torch/utils/hipify/constants.py"},
	{offsetof(struct torch_source, hipify_version), "torch/utils/hipify/version.py"},
	{offsetof(struct torch_source, build_amd), "tools/amd_build/build_amd.py"},
};
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

static struct torch_file *file_of(struct torch_source *s, const struct part *p)
{
	return (struct torch_file *)(void *)((char *)s + p->offset);
}

/* ---- folders ---- */

static bool has_hipify(struct arena *a, struct str root)
{
	return fs_exists(path_join(a, root, str_from(parts[0].path)));
}

/* Finds the folder that has "torch": path itself, its parent, or the site-packages of a venv's newest Python. */
static struct err *find_root(struct arena *a, struct str path, struct str *ret)
{
	static const char *const libs[] = {"lib", "lib64", "local/lib"};
	*ret = path;
	if (has_hipify(a, path))
		return NULL;
	if (fs_exists(path_join(a, path, S("utils/hipify/hipify_python.py")))) {
		*ret = path_clean(a, path_join(a, path, S("..")));
		if (has_hipify(a, *ret))
			return NULL;
	}
	for (size_t i = 0; i < sizeof(libs) / sizeof(libs[0]); i++) {
		struct str lib = path_join(a, path, str_from(libs[i]));
		struct strs names = {0};
		err_free(fs_list(a, lib, &names)); /* without names if it cannot be read */
		for (size_t k = 2 * names.n; k-- > 0;) {
			struct str name = names.v[k / 2];
			*ret = str_fmt(a, "%.*s/%.*s/%s", STR(lib), STR(name),
				k % 2 ? "site-packages" : "dist-packages");
			if (str_starts(name, S("python")) && has_hipify(a, *ret))
				return NULL;
		}
	}
	return err_hint(
		err_new(E_TORCH,
			"'%.*s' has no hipify: no %s in it, nor a site-packages that has one",
			STR(path), parts[0].path),
		"name a PyTorch checkout, an installed torch package, or a torch wheel");
}

static struct err *read_text(struct arena *a, struct str path, struct str *ret)
{
	ret->p = NULL;
	if (fs_is_dir(path))
		return NULL;
	return fs_read_opt(a, path, MAX_TEXT, ret);
}

/* The version that a module's text sets; "" if it cannot be read. */
static struct str version_in(struct arena *a, struct torch_file f)
{
	struct py_module m;
	const struct py_value *v = NULL;
	CLEANUP(err_freep) struct err *e = f.text.p ? py_read(a, f.text, f.path, &m) : NULL;
	if (f.text.p && !e)
		e = py_get(a, &m, S("__version__"), &v);
	return v && v->kind == PY_STRING ? v->text : S("");
}

static struct err *open_folder(struct arena *a, struct str path, struct torch_source *ret)
{
	struct str root, text = {0};
	TRY(find_root(a, path, &root));
	for (size_t i = 0; i < PARTS; i++) {
		struct torch_file *f = file_of(ret, &parts[i]);
		f->path = path_join(a, root, str_from(parts[i].path));
		TRY(read_text(a, f->path, &f->text));
	}
	/* In a checkout, torch/version.py may stem from a build of another commit. */
	if (ret->build_amd.text.p)
		TRY(read_text(a, path_join(a, root, S("version.txt")), &text));
	if (text.p)
		ret->version = str_trim(text);
	struct torch_file v = {.path = path_join(a, root, S("torch/version.py"))};
	if (!ret->version.n) {
		TRY(read_text(a, v.path, &v.text));
		ret->version = version_in(a, v);
	}
	return NULL;
}

/* ---- wheels ---- */

static struct err *read_member(
	struct arena *a, const struct zip *z, const char *name, struct torch_file *ret)
{
	/* In a wheel with a .data folder member names have a prefix. */
	const struct zip_member *m = zip_find(z, str_from(name));
	struct str pure = str_fmt(a, ".data/purelib/%s", name);
	struct str plat = str_fmt(a, ".data/platlib/%s", name);
	VEC_EACH (struct zip_member, it, &z->members)
		if (!m && (str_ends(it->name, pure) || str_ends(it->name, plat)))
			m = it;
	ret->path = str_fmt(a, "%.*s:%s", STR(z->path), name);
	if (!m)
		return NULL;
	TRY_CTX(zip_read(a, z, m, MAX_TEXT, &ret->text), "reading '%s' of '%.*s'", name,
		STR(z->path));
	if (!ret->text.p)
		ret->text = S("");
	return NULL;
}

static struct err *open_wheel(struct arena *a, struct str path, struct torch_source *ret)
{
	struct torch_file version = {0};
	CLEANUP(zip_close) struct zip z = {.fd = -1};
	TRY(zip_open(a, path, NULL, &z));
	for (size_t i = 0; i < PARTS; i++)
		TRY(read_member(a, &z, parts[i].path, file_of(ret, &parts[i])));
	TRY(read_member(a, &z, "torch/version.py", &version));
	ret->version = version_in(a, version);
	if (ret->version.n)
		return NULL;
	/* "torch-2.6.0-cp312-...whl" */
	struct str rest = path_base(path), piece;
	if (str_next(&rest, '-', &piece) && str_next(&rest, '-', &piece))
		ret->version = piece;
	return NULL;
}

/* ---- identification ---- */

static void hash_number(struct hash *h, uint64_t n)
{
	hash_add(h, &n, sizeof(n));
}

static void hash_text(struct hash *h, struct str s)
{
	hash_number(h, s.n);
	hash_add(h, s.p, s.n);
}

/* Recognises the algorithm by the hash of its tokens; an unknown one is taken for that of its generation. */
static void recognise(struct arena *a, struct torch_source *s)
{
	const struct torch_file *f = &s->algorithm;
	struct py_module m;
	struct hash *h = hash_new(HASH_SHA256);
	CLEANUP(err_freep) struct err *unreadable = py_read(a, f->text, f->path, &m);
	if (unreadable)
		hash_text(h, f->text); /* no valid Python: its hash is in no row of the table */
	VEC_EACH (struct py_statement, line, &m.statements) {
		bool docstring = true;
		for (size_t i = line->from; i < line->to; i++)
			docstring = docstring && m.tokens.v[i].kind == PY_TOKEN_STRING;
		if (docstring)
			continue;
		hash_number(h, m.tokens.v[line->from].col);
		for (size_t i = line->from; i < line->to; i++)
			hash_text(h, m.tokens.v[i].text);
	}
	s->fingerprint = digest_hex(a, hash_end(h));
	TABLE_EACH (torch_algorithm, k) {
		if (!str_eq(s->fingerprint, str_from(k->fingerprint)))
			continue;
		s->known = true;
		s->generation = k->generation;
		s->fbgemm = k->fbgemm;
		return;
	}
	struct str version = version_in(a, s->hipify_version);
	bool v2 = str_starts(version, S("2.")) ||
		  (!version.n && str_contains(s->algorithm.text, S("CAFFE2_PATH_MAPPINGS")));
	s->generation = v2 ? TORCH_V2 : TORCH_V1;
	s->fbgemm = !v2 && str_contains(s->algorithm.text, S("\"third_party/fbgemm/\""));
}

struct err *torch_open(struct arena *a, struct str path, struct torch_source *ret)
{
	*ret = (struct torch_source){.path = str_dup(a, path)};
	if (!fs_exists(path))
		return err_new(E_NOENT, "there is no torch at '%.*s'", STR(path));
	TRY(fs_is_dir(path) ? open_folder(a, ret->path, ret) : open_wheel(a, ret->path, ret));
	for (size_t i = 0; i < 2; i++)
		if (!file_of(ret, &parts[i])->text.p)
			return err_new(E_TORCH, "'%.*s' has no hipify: no %s in it", STR(path),
				parts[i].path);
	/* The identity is of all that determines the tables and the script's behaviour, environment included. */
	struct hash *h = hash_new(HASH_SHA256);
	for (size_t i = 0; i < PARTS; i++)
		hash_text(h, file_of(ret, &parts[i])->text);
	if (str_contains(ret->mappings.text, S("IS_FBCODE")))
		hash_text(h, str_from(getenv("IS_FBCODE")));
	if (str_contains(ret->build_amd.text, S("FBCODE_BUILD_TOOL")))
		hash_text(h, str_from(getenv("FBCODE_BUILD_TOOL")));
	ret->identity = digest_hex(a, hash_end(h));
	recognise(a, ret);
	return NULL;
}
