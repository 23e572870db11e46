/* Findings; see finding.h. */
#include "formats/finding.h"

#include <stdio.h>

enum { MAX_TEXT = 1000 };

const struct finding_row finding_rows[] = {
#define X(name, id, severity, meaning) {id, severity, meaning},
#define FINDING(id, severity, meaning) {id, severity, meaning},
#include "../../data/findings.def"
	{NULL, SEV_ERROR, NULL},
};

/* Untrusted text may be long: it is cut between two characters. */
static struct str shortened(struct arena *a, struct str s)
{
	return s.n <= MAX_TEXT ? str_dup(a, s)
			       : str_fmt(a, "%.*s...", (int)utf8_fit(s, MAX_TEXT, MAX_TEXT), s.p);
}

static struct str text_of(struct arena *a, const char *fmt, va_list ap)
{
	char text[MAX_TEXT + 5]; /* enough for the last character to be whole */
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	size_t have = n > 0 ? (size_t)n : 0;
	return shortened(
		a, (struct str){.p = text, .n = have < sizeof(text) ? have : sizeof(text) - 1});
}

struct finding *finding_add(struct arena *a, struct findings *list, const char *id,
	enum severity severity, struct str path)
{
	enum { ROOM = 100 };
	struct finding_kind *k = NULL; /* NULL: there is no limit */
	for (size_t i = 0; list->most && i < list->kinds.n && !k; i++)
		if (str_eq(str_from(list->kinds.v[i].id), str_from(id)))
			k = &list->kinds.v[i];
	if (list->most && !k) {
		k = VEC_PUSH(a, &list->kinds);
		k->id = id;
	}
	size_t more = k && k->n++ >= list->most ? k->n - list->most : 0;
	if (more <= 1) {
		if (more)
			k->more = list->n;
		struct finding *f = VEC_PUSH(a, list);
		*f = (struct finding){.id = more ? "more-findings" : id,
			.severity = severity,
			.path = shortened(a, path)};
		if (!more)
			return f;
		f->message.p = arena_alloc(a, ROOM);
	}
	/* this finding stands for all beyond the limit */
	struct finding *f = &list->v[k->more];
	f->severity = severity > f->severity ? severity : f->severity;
	int n = snprintf((char *)(uintptr_t)f->message.p, ROOM,
		"%zu more of the findings '%.40s' are not shown", more, k->id);
	f->message.n = n > 0 ? (size_t)n : 0;
	list->unseen = list->unseen ? list->unseen : NEW(a, struct finding);
	return list->unseen;
}

void finding_vsay(struct arena *a, struct finding *f, const char *fmt, va_list ap)
{
	if (f->id)
		f->message = text_of(a, fmt, ap);
}

void finding_say(struct arena *a, struct finding *f, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	finding_vsay(a, f, fmt, ap);
	va_end(ap);
}

enum severity finding_severity(const char *id)
{
	const struct finding_row *row = finding_rows;
	while (row->id && !str_eq(str_from(row->id), str_from(id)))
		row++;
	return row->severity;
}

struct finding *finding_note(struct arena *a, struct findings *list, const char *id,
	struct str path, const char *fmt, ...)
{
	va_list ap;
	struct finding *f = finding_add(a, list, id, finding_severity(id), path);
	va_start(ap, fmt);
	finding_vsay(a, f, fmt, ap);
	va_end(ap);
	return f;
}

void finding_fix(struct arena *a, struct finding *f, const char *fmt, ...)
{
	va_list ap;
	if (!f->id)
		return;
	va_start(ap, fmt);
	strs_add(a, &f->fix, text_of(a, fmt, ap));
	va_end(ap);
}

void findings_sort(struct arena *a, struct findings *list)
{
	struct findings sorted = {0};
	for (int s = SEV_ERROR; s >= SEV_INFO; s--)
		VEC_EACH (const struct finding, f, list)
			if (f->severity == (enum severity)s)
				*VEC_PUSH(a, &sorted) = *f;
	*list = sorted;
}

enum severity findings_worst(const struct findings *list)
{
	enum severity worst = SEV_INFO;
	VEC_EACH (struct finding, f, list)
		if (f->severity > worst)
			worst = f->severity;
	return worst;
}

static const char *const severities[] = {
	[SEV_INFO] = "info",
	[SEV_WARNING] = "warning",
	[SEV_ERROR] = "error",
	NULL,
};

const char *severity_name(enum severity s)
{
	return severities[s];
}

const struct json_field finding_fields[] = {
	FIELD("id", struct finding, id),
	FIELD_ENUM("severity", struct finding, severity, severities),
	FIELD_LAST(FIELDS(struct finding, message, path, fix)),
};
