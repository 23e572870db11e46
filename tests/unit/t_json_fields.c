/* JSON by tables: formats/json_fields.h. */
#include "test.h"

#include "base/vec.h"
#include "formats/json_fields.h"
#include "formats/node.h"

enum size { SMALL, LARGE };

struct item {
	struct str name;
	double weight;
};

struct place {
	const char *path;
	unsigned line;
};

struct thing {
	struct str name, note;
	const char *kind;
	struct strs words;
	bool good;
	unsigned count, id;
	uint64_t bytes;
	int64_t kernels;
	enum size size;
	struct place place;
	const struct place *other;
	VEC(struct item) items;
};

static const char *const sizes[] = {"small", "large", NULL};

static const struct json_field item_fields[] = {
	FIELD("name", struct item, name),
	FIELD("weight", struct item, weight),
	{.kind = FIELD_END},
};

static const struct json_field place_fields[] = {
	FIELD("path", struct place, path),
	FIELD("line", struct place, line),
	{.kind = FIELD_END},
};

static void write_double(struct json *j, const void *thing)
{
	json_u64(j, 2 * ((const struct thing *)thing)->count);
}

static const struct json_field thing_fields[] = {
	FIELD_CONST("schema", "test/1"),
	FIELD("name", struct thing, name),
	FIELD_OPTIONAL("note", struct thing, note),
	FIELD("kind", struct thing, kind),
	FIELD("words", struct thing, words),
	FIELD("good", struct thing, good),
	FIELD("count", struct thing, count),
	FIELD_WRITE("double", write_double),
	FIELD_NUMBER_HEX("id", struct thing, id, 4),
	FIELD("bytes", struct thing, bytes),
	FIELD_OPTIONAL("kernels", struct thing, kernels),
	FIELD_ENUM("size", struct thing, size, sizes),
	FIELD_STRUCT("place", struct thing, place, place_fields),
	FIELD_POINTER("other", struct thing, other, place_fields),
	FIELD_LIST("items", struct thing, items, item_fields),
	FIELD_MAP("weights", struct thing, items, item_fields),
	{.kind = FIELD_END},
};

static void every_kind_is_written(void **state)
{
	(void)state;
	ARENA(a);
	struct place other = {.path = "b", .line = 2};
	struct thing t = {.name = S("n"),
		.kind = NULL,
		.good = true,
		.count = 3,
		.id = 0x1002,
		.bytes = UINT64_MAX,
		.kernels = -1,
		.size = LARGE,
		.place = {.path = "a", .line = 1}};
	strs_add(&a, &t.words, S("w"));
	*VEC_PUSH(&a, &t.items) = (struct item){S("x"), 1.5};
	*VEC_PUSH(&a, &t.items) = (struct item){S("y"), 2};
	assert_str(json_document(&a, 0, thing_fields, &t),
		"{\"schema\":\"test/1\",\"name\":\"n\",\"kind\":\"\",\"words\":[\"w\"],"
		"\"good\":true,\"count\":3,\"double\":6,\"id\":\"0x1002\","
		"\"bytes\":18446744073709551615,\"size\":\"large\","
		"\"place\":{\"path\":\"a\",\"line\":1},"
		"\"items\":[{\"name\":\"x\",\"weight\":1.5},{\"name\":\"y\",\"weight\":2}],"
		"\"weights\":{\"x\":1.5,\"y\":2}}\n");
	t = (struct thing){.note = S("o"), .other = &other};
	assert_str(json_document(&a, 0, thing_fields, &t),
		"{\"schema\":\"test/1\",\"name\":\"\",\"note\":\"o\",\"kind\":\"\",\"words\":[],"
		"\"good\":false,\"count\":0,\"double\":0,\"id\":\"0x0000\",\"bytes\":0,"
		"\"kernels\":0,\"size\":\"small\",\"place\":{\"path\":\"\",\"line\":"
		"0},"
		"\"other\":{\"path\":\"b\",\"line\":2},\"items\":[],\"weights\":{}}\n");
}

/* Sections of a document that are members of one struct. */
static const struct json_field part_fields[] = {
	FIELD("name", struct thing, name),
	FIELD("good", struct thing, good),
	{.kind = FIELD_END},
};

static const struct json_field read_fields[] = {
	FIELD_CONST("schema", "test/1"),
	FIELD_PART("part", part_fields),
	FIELDS(struct thing, words, bytes, kind, count),
	FIELD_ENUM("size", struct thing, size, sizes),
	FIELD_LIST("items", struct thing, items, item_fields),
	{.kind = FIELD_END},
};

static struct err *read_text(struct arena *a, const char *text, struct thing *ret)
{
	const struct node *doc;
	assert_ok(json_parse(a, str_from(text), S("t.json"), &doc));
	return json_fields_read(a, doc, read_fields, ret);
}

static void what_was_written_is_read(void **state)
{
	(void)state;
	ARENA(a);
	struct thing t = {.name = S("n"),
			     .good = true,
			     .bytes = 7,
			     .kind = "k",
			     .count = 9,
			     .size = LARGE},
		     back = {0};
	strs_add(&a, &t.words, S("w"));
	for (int i = 0; i < 20; i++)
		*VEC_PUSH(&a, &t.items) =
			(struct item){.name = str_fmt(&a, "i%d", i), .weight = i + 0.25};
	struct str text = json_document(&a, 2, read_fields, &t);
	assert_ok(read_text(&a, text.p, &back));
	assert_str(json_document(&a, 2, read_fields, &back), text.p);
	assert_int_equal(back.size, LARGE);
	assert_int_equal(back.count, 9);
	assert_string_equal(back.kind, "k");
	assert_true(back.items.v[19].weight > 19.2);
}

static void what_is_absent_keeps_its_default(void **state)
{
	(void)state;
	ARENA(a);
	struct thing t = {.name = S("n"), .bytes = 7};
	assert_ok(read_text(&a, "{\"part\": {\"name\": null}, \"words\": null}", &t));
	assert_str(t.name, "n");
	assert_int_equal(t.bytes, 7);
}

static void reading_is_strict(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{"[]", "this must be an object"},
		{"{\"byte\": 1}", "unknown key 'byte'"},
		{"{\"part\": {\"words\": 1}}", "unknown key 'words'"},
		{"{\"part\": []}", "'part' must be an object"},
		{"{\"part\": {\"good\": 1}}", "'good' must be true or false, not a number"},
		{"{\"bytes\": -1}", "'bytes' must be a whole number, not '-1'"},
		{"{\"count\": 4294967296}", "'count' must be at most 4294967295"},
		{"{\"size\": \"lage\"}", "'size' does not take 'lage'"},
		{"{\"size\": 1}", "'size' does not take '1'"},
		{"{\"size\": []}", "'size' must be text, not a list"},
		{"{\"items\": {}}", "'items' must be a list"},
		{"{\"items\": [1]}", "this must be an object"},
		{"{\"items\": [{\"n\": 1}]}", "unknown key 'n'"},
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		ARENA(a);
		struct thing t = {0};
		struct err *e = read_text(&a, wrong[i].text, &t);
		assert_non_null(e);
		assert_int_equal(e->code, E_SYNTAX);
		assert_string_equal(e->msg, wrong[i].message);
		assert_string_equal(e->path, "t.json");
		err_free(e);
	}
	ARENA(a);
	struct thing t = {0};
	CLEANUP(err_freep)
	struct err *e = read_text(&a, "{\"items\": [{\"name\": \"x\"}, {\"n\": 1}]}", &t);
	assert_string_equal(e->detail, "in number 2 of 'items'");
}

static void a_value_that_was_read_is_written_again_as_it_was(void **state)
{
	(void)state;
	ARENA(a);
	struct parsed {
		const struct node *kept, *absent;
	} object = {0};
	static const struct json_field fields[] = {
		FIELD_AS_PARSED("kept", struct parsed, kept),
		FIELD_AS_PARSED("absent", struct parsed, absent),
		{.kind = FIELD_END},
	};
	struct str text = S("{\"a\":[1,-2,\"x\\\"y\",true,false,null],\"b\":{},\"c\":[]}");
	assert_ok(json_parse(&a, text, S("text"), &object.kept));
	assert_str(json_document(&a, 0, fields, &object),
		str_fmt(&a, "{\"kept\":%.*s}\n", STR(text)).p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_written),
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(what_is_absent_keeps_its_default),
		cmocka_unit_test(reading_is_strict),
		cmocka_unit_test(a_value_that_was_read_is_written_again_as_it_was),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
