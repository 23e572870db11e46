/* An error as a program reads it, where a command was to print JSON; see out.h. */
#include "base/buf.h"
#include "formats/json_fields.h"
#include "term/out.h"

struct place {
	const char *path;
	unsigned line, column;
};

struct shown {
	const char *code, *message;
	struct strs causes, hints, details;
	const struct place *place; /* the first of them, or NULL */
};

static const struct json_field place_fields[] = FIELDS_ONLY(struct place, path, line, column);
static const struct json_field fields[] = {
	FIELD_CONST("schema", "rocsmith.error/1"),
	FIELDS(struct shown, code, message, causes, hints, details),
	FIELD_POINTER("place", struct shown, place, place_fields),
	{.kind = FIELD_END},
};

static void collect(struct arena *a, struct shown *s, const struct err *first)
{
	for (const struct err *e = first; e; e = e->cause) {
		if (e != first)
			strs_add(a, &s->causes, str_from(e->msg));
		for (const struct err_hint *h = e->hints; h; h = h->next)
			strs_put(a, &s->hints, str_from(h->text));
		struct str detail = str_from(e->detail), line;
		while (str_next(&detail, '\n', &line))
			strs_add(a, &s->details, line);
		if (!e->path || s->place)
			continue;
		struct place *at = NEW(a, struct place);
		*at = (struct place){.path = e->path, .line = e->line, .column = e->col};
		s->place = at;
	}
}

struct str error_json(struct arena *a, const struct err *e)
{
	struct shown s = {.code = err_id(e->code), .message = e->msg};
	collect(a, &s, e);
	return json_document(a, 2, fields, &s);
}
