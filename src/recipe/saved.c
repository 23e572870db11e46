/* Which recipes are in effect, and for what: the report in the journal, as JSON. */
#include "recipe/recipe_int.h"

static const struct json_field fact_fields[] = FIELDS_ONLY(struct recipe_fact, name, version, from);

static const struct json_field saved_fields[] = {
	FIELD_CONST("schema", "rocsmith.patches/1"),
	FIELD("recipes", struct saved, ids),
	FIELD_LIST("versions", struct saved, facts.versions, fact_fields),
	FIELD("gpus", struct saved, facts.gpus),
	{.kind = FIELD_END},
};

struct err *saved_read(struct arena *a, struct str text, struct saved *ret)
{
	const struct node *root;
	*ret = (struct saved){0};
	if (!text.n)
		return NULL;
	TRY(json_parse(a, text, S(RECIPE_JOURNAL), &root));
	return json_fields_read(a, root, saved_fields, ret);
}

struct str saved_text(struct arena *a, const struct saved *s)
{
	return json_document(a, 0, saved_fields, s);
}
