/* From a word to a folder of sources; see fetch.h. */
#include "source/fetch.h"

#include "base/fs.h"

static const struct json_field file_fields[] = {
	FIELD("name", struct source_file, name),
	FIELD("size", struct source_file, size),
	FIELD("sha256", struct source_file, sha256),
	{.kind = FIELD_END},
};

const struct json_field source_tree_fields[] = {
	FIELD("kind", struct source_tree, kind),
	FIELD("from", struct source_tree, from),
	FIELD("package", struct source_tree, package),
	FIELD("version", struct source_tree, version),
	FIELD("upstream", struct source_tree, upstream),
	FIELD("mirror", struct source_tree, mirror),
	FIELD("index_date", struct source_tree, index_date),
	FIELD_LIST("files", struct source_tree, files, file_fields),
	FIELD("patches", struct source_tree, patches),
	FIELD("notes", struct source_tree, notes),
	{.kind = FIELD_END},
};

struct err *source_fetch(struct arena *a, const struct source_request *r, struct source_tree *ret)
{
	const struct source_spec *s = &r->spec;
	(void)a;
	*ret = (struct source_tree){
		.kind = str_from(source_kinds[s->kind]), .from = s->text, .dir = s->path};
	if (s->kind != SOURCE_DIR)
		return err_new(E_SOURCE, "'%.*s' cannot be fetched yet", STR(s->text));
	return fs_is_dir(s->path) ? NULL
				  : err_new(E_NOENT, "there is no folder '%.*s'", STR(s->path));
}
