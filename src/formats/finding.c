/* Findings; see finding.h. */
#include "formats/finding.h"

struct finding *finding_add(struct arena *a, struct findings *list, const char *id,
	enum severity severity, struct str path)
{
	struct finding *f = VEC_PUSH(a, list);
	f->id = id;
	f->severity = severity;
	f->path = str_dup(a, path);
	return f;
}

void finding_say(struct arena *a, struct finding *f, const char *fmt, ...)
{
	FORMAT(text, a, fmt);
	f->message = text;
}

void finding_fix(struct arena *a, struct finding *f, const char *fmt, ...)
{
	FORMAT(text, a, fmt);
	strs_add(a, &f->fix, text);
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
	FIELD("message", struct finding, message),
	FIELD("path", struct finding, path),
	FIELD("fix", struct finding, fix),
	{.kind = FIELD_END},
};
