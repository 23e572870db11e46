/* Writes verdicts as SARIF 2.1.0, which code scanning services read. Source: OASIS sarif-v2.1.0, sections 3.13 to
 * 3.52. */
#include "verify/exam.h"

static const char *const levels[] = {
	[SEV_INFO] = "note", [SEV_WARNING] = "warning", [SEV_ERROR] = "error"};

static void text(struct json *j, const char *key, struct str s)
{
	json_key(j, key);
	json_str(j, s);
}

/* Begins the value of a key; end() ends the innermost `count` values. */
static void begin(struct json *j, const char *key, char bracket)
{
	json_key(j, key);
	json_open(j, bracket);
}

static void end(struct json *j, unsigned count)
{
	while (count--)
		json_close(j);
}

static void message(struct json *j, const char *key, struct str s)
{
	begin(j, key, '{');
	text(j, "text", s);
	end(j, 1);
}

/* A path as a relative reference of RFC 3986. */
static struct str uri(struct arena *a, struct str path)
{
	BUF(b, a);
	for (size_t i = 0; i < path.n; i++)
		if (ascii_alnum(path.p[i]) || str_chr(S("/-._~+"), path.p[i]) < 6)
			buf_char(&b, path.p[i]);
		else
			buf_fmt(&b, "%%%02X", (unsigned char)path.p[i]);
	return buf_str(&b);
}

/* Writes the rules to which results refer. */
static void write_rules(struct json *j, struct arena *a, const struct verdicts *all)
{
	MAP(used, a);
	VEC_EACH (const struct verdict, v, &all->wheels)
		VEC_EACH (const struct finding, f, &v->findings)
			map_put(&used, str_from(f->id), NULL);
	begin(j, "rules", '[');
	for (size_t i = 0; i < V_COUNT; i++) {
		if (!map_has(&used, str_from(finding_rows[i].id)))
			continue;
		json_open(j, '{');
		text(j, "id", str_from(finding_rows[i].id));
		message(j, "shortDescription", str_from(finding_rows[i].meaning));
		begin(j, "defaultConfiguration", '{');
		text(j, "level", str_from(levels[finding_rows[i].severity]));
		end(j, 2);
	}
	end(j, 1);
}

static void write_result(
	struct json *j, struct arena *a, const struct verdict *v, const struct finding *f)
{
	BUF(b, a);
	buf_add(&b, f->message);
	for (size_t i = 0; i < f->fix.n; i++)
		buf_fmt(&b, "; %s: %.*s", i ? "or" : "fix", STR(f->fix.v[i]));
	json_open(j, '{');
	text(j, "ruleId", str_from(f->id));
	text(j, "level", str_from(levels[f->severity]));
	message(j, "message", buf_str(&b));
	begin(j, "locations", '[');
	json_open(j, '{');
	begin(j, "physicalLocation", '{');
	begin(j, "artifactLocation", '{');
	text(j, "uri", uri(a, v->path));
	end(j, 2);
	if (!str_eq(f->path, v->path)) {
		begin(j, "logicalLocations", '[');
		json_open(j, '{');
		text(j, "fullyQualifiedName", f->path);
		text(j, "kind", S("member"));
		end(j, 2);
	}
	end(j, 3);
}

struct str verdicts_sarif(struct arena *a, const struct verdicts *all)
{
	BUF(b, a);
	struct json json = {.out = &b, .indent = 2}, *j = &json;
	json_open(j, '{');
	text(j, "$schema", S("https://json.schemastore.org/sarif-2.1.0.json"));
	text(j, "version", S("2.1.0"));
	begin(j, "runs", '[');
	json_open(j, '{');
	begin(j, "tool", '{');
	begin(j, "driver", '{');
	text(j, "name", S("rocsmith"));
	text(j, "version", S(ROCSMITH_VERSION));
	write_rules(j, a, all);
	end(j, 2);
	begin(j, "results", '[');
	VEC_EACH (const struct verdict, v, &all->wheels)
		VEC_EACH (const struct finding, f, &v->findings)
			write_result(j, a, v, f);
	end(j, 4);
	buf_char(&b, '\n');
	return buf_str(&b);
}
