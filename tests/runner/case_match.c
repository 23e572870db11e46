/* Comparing: text with placeholders, JSON with a subset. JSON is read by jansson itself, not by
 * rocsmith's reader, so that the program is not compared to itself. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "case.h"

bool match_line(struct str pattern, struct str line)
{
	struct str star = S("<*>");
	size_t at = str_find(pattern, star);
	if (at == pattern.n)
		return str_eq(pattern, line);
	if (!str_starts(line, str_sub(pattern, 0, at)))
		return false;
	struct str rest = str_sub(pattern, at + star.n, pattern.n);
	for (size_t i = at; i <= line.n; i++)
		if (match_line(rest, str_sub(line, i, line.n)))
			return true;
	return false;
}

bool match_text(struct str pattern, struct str text)
{
	struct str want, have;
	while (pattern.n) {
		str_next(&pattern, '\n', &want);
		if (str_eq(want, S("<...>"))) {
			for (;;) {
				if (match_text(pattern, text))
					return true;
				if (!text.n)
					return false;
				str_next(&text, '\n', &have);
			}
		}
		if (!text.n)
			return false;
		str_next(&text, '\n', &have);
		if (!match_line(want, have))
			return false;
	}
	return !text.n;
}

static const char *subset(
	struct arena *a, const char *where, const json_t *want, const json_t *have);

static const char *objects(
	struct arena *a, const char *where, const json_t *want, const json_t *have)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)want, key, value)
	{
		struct str path = str_fmt(a, "%s.%s", where, key);
		const json_t *got = json_object_get(have, key);
		if (!got)
			return str_fmt(a, "%s is missing", path.p).p;
		const char *wrong = subset(a, path.p, value, got);
		if (wrong)
			return wrong;
	}
	return NULL;
}

/* A list that starts with "..." wants its elements somewhere, in that order. */
static const char *anywhere(
	struct arena *a, const char *where, const json_t *want, const json_t *have)
{
	size_t at = 0;
	for (size_t i = 1; i < json_array_size(want); i++, at++) {
		const json_t *w = json_array_get(want, i);
		while (at < json_array_size(have) && subset(a, where, w, json_array_get(have, at)))
			at++;
		if (at >= json_array_size(have))
			return str_fmt(a, "%s has no element %zu of those wanted", where, i).p;
	}
	return NULL;
}

static const char *arrays(
	struct arena *a, const char *where, const json_t *want, const json_t *have)
{
	const char *first = json_string_value(json_array_get(want, 0));
	if (first && strcmp(first, "...") == 0)
		return anywhere(a, where, want, have);
	size_t n = json_array_size(have);
	if (json_array_size(want) != n)
		return str_fmt(a, "%s has %zu elements, not %zu", where, n, json_array_size(want))
			.p;
	for (size_t i = 0; i < n; i++) {
		const char *wrong = subset(a, str_fmt(a, "%s[%zu]", where, i).p,
			json_array_get(want, i), json_array_get(have, i));
		if (wrong)
			return wrong;
	}
	return NULL;
}

static bool scalars(const json_t *want, const json_t *have)
{
	if (json_is_string(want) && json_is_string(have))
		return match_line(
			str_from(json_string_value(want)), str_from(json_string_value(have)));
	if (json_is_number(want) && json_is_number(have))
		return fabs(json_number_value(want) - json_number_value(have)) <= 1e-9;
	return json_typeof(want) == json_typeof(have);
}

static const char *subset(
	struct arena *a, const char *where, const json_t *want, const json_t *have)
{
	if (json_is_string(want) && strcmp(json_string_value(want), "<any>") == 0)
		return NULL;
	if (json_is_object(want) && json_is_object(have))
		return objects(a, where, want, have);
	if (json_is_array(want) && json_is_array(have))
		return arrays(a, where, want, have);
	if (!json_is_object(want) && !json_is_array(want) && scalars(want, have))
		return NULL;
	char *text = json_dumps(have, JSON_ENCODE_ANY | JSON_COMPACT);
	struct str wrong = str_fmt(a, "%s is %s", where, text);
	free(text);
	return wrong.p;
}

const char *match_json(struct arena *a, struct str expected, struct str text)
{
	json_error_t e;
	json_t *want = json_loadb(expected.p, expected.n, JSON_DECODE_ANY, &e);
	if (!want)
		return str_fmt(a, "the expected JSON is wrong: line %d: %s", e.line, e.text).p;
	json_t *have = json_loadb(text.p, text.n, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &e);
	const char *wrong = have ? subset(a, "$", want, have)
				 : str_fmt(a, "stdout is not one JSON value: %s", e.text).p;
	json_decref(want);
	json_decref(have);
	return wrong;
}
