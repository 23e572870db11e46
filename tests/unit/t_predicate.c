/* Conditions over facts: what holds, what does not, what is not known, what is wrong; texts with facts. */
#include "know/predicate.h"
#include "test.h"

static const char facts[] =
	"{\"kernel\": \"6.8.0-31-generic\", \"wsl\": false, \"container\": true, \"memory\": "
	"17179869184,"
	" \"cpu\": \"a'b $(c)\", \"container_kind\": \"docker\", \"distro\": \"\", \"identity\": "
	"null, \"hidden_gpus\": 0,"
	" \"groups\": [\"users\", \"video\"], \"sdks\": [],"
	" \"gpus\": [{\"target\": \"gfx1100\", \"apu\": false, \"vram\": 21474836480, \"mes\": "
	"\"0x80\"},"
	"            {\"target\": \"gfx1036\", \"apu\": true, \"vram\": 536870912, \"mes\": "
	"\"0x83\"}],"
	" \"pythons\": [{\"path\": \"/a\", \"torch\": {\"version\": \"2.9.1+rocm6.4\", "
	"\"targets\": [\"gfx11-generic\","
	"   \"gfx1030\"]}}, {\"path\": \"/b\", \"torch\": null}]}";

struct asked {
	const char *condition;
	enum truth want;
};

static const struct node *tree(struct arena *a)
{
	const struct node *n;
	assert_ok(json_parse(a, str_from(facts), S("facts"), &n));
	return n;
}

static void conditions_hold_or_not_or_are_not_known(void **state)
{
	(void)state;
	static const struct asked cases[] = {
		{"container", TRUTH_YES},
		{"wsl", TRUTH_NO},
		{"not wsl", TRUTH_YES},
		{"distro", TRUTH_NO},
		{"identity", TRUTH_NO},
		{"hidden_gpus", TRUTH_NO},
		{"sdks", TRUTH_NO},
		{"gpus", TRUTH_YES},
		{"nothing", TRUTH_UNKNOWN},
		{"not nothing", TRUTH_UNKNOWN},
		{"wsl and container", TRUTH_NO},
		{"wsl or container", TRUTH_YES},
		{"wsl and container or container", TRUTH_YES},
		{"wsl and (container or container)", TRUTH_NO},
		{"nothing and wsl", TRUTH_NO},
		{"nothing and container", TRUTH_UNKNOWN},
		{"nothing or container", TRUTH_YES},
		{"kernel < 6.18.4", TRUTH_YES},
		{"kernel < 6.8", TRUTH_NO},
		{"kernel <= 6.8", TRUTH_YES},
		{"kernel >= 6.8.0", TRUTH_YES},
		{"kernel > 6.8.0", TRUTH_NO},
		{"kernel > 6.7.99", TRUTH_YES},
		{"kernel < 6.10", TRUTH_YES},
		{"kernel < 6.8.0.32", TRUTH_YES},
		{"kernel < 6.8.0.31", TRUTH_NO},
		{"kernel < 6.8.0.4", TRUTH_NO},
		{"kernel < 6.8.1.1", TRUTH_YES},
		{"kernel < 6.7.0.99", TRUTH_NO},
		{"kernel = 6.8.0.31", TRUTH_YES},
		{"kernel = 6.8", TRUTH_YES},
		{"kernel != 6.8", TRUTH_NO},
		{"kernel = '6.8'", TRUTH_NO},
		{"kernel = kernel", TRUTH_YES},
		{"'0000:03:00.0' = '0000:07:00.0'", TRUTH_NO},
		{"distro < 6.8", TRUTH_UNKNOWN},
		{"distro = 'debian'", TRUTH_UNKNOWN},
		{"identity.uid = 0", TRUTH_UNKNOWN},
		{"container_kind = 'docker'", TRUTH_YES},
		{"container_kind != 'docker'", TRUTH_NO},
		{"container_kind < 5", TRUTH_UNKNOWN},
		{"container_kind in 'podman dock*'", TRUTH_YES},
		{"container_kind in 'podman'", TRUTH_NO},
		{"memory >= 16GiB", TRUTH_YES},
		{"memory < 16GiB", TRUTH_NO},
		{"memory > 16383MiB", TRUTH_YES},
		{"groups in 'render video'", TRUTH_YES},
		{"groups in 'render'", TRUTH_NO},
		{"'video' in groups", TRUTH_YES},
		{"'render' in groups", TRUTH_NO},
		{"'render' in sdks", TRUTH_NO},
		{"'gfx1100' served sdks", TRUTH_UNKNOWN},
		{"any g in gpus: g.apu", TRUTH_YES},
		{"all g in gpus: g.apu", TRUTH_NO},
		{"all g in gpus: g.vram > 256MiB", TRUTH_YES},
		{"(any g in gpus: g.apu and g.vram > 1GiB) or wsl", TRUTH_NO},
		{"any g in gpus: g.mes >= 0x83", TRUTH_YES},
		{"any g in gpus: g.mes > 0x83", TRUTH_NO},
		{"any g in sdks: g.apu", TRUTH_NO},
		{"all g in sdks: g.apu", TRUTH_YES},
		{"any g in nothing: g.apu", TRUTH_UNKNOWN},
		{"any p in pythons: any g in gpus: g.target served p.torch.targets", TRUTH_YES},
		{"any p in pythons: any g in gpus: g.target in p.torch.targets", TRUTH_UNKNOWN},
		{"any p in pythons: any g in gpus: p.torch and g.target in p.torch.targets",
			TRUTH_NO},
		{"all g in gpus: any p in pythons: g.target served p.torch.targets", TRUTH_UNKNOWN},
		{"any p in pythons: p.torch.version >= 2.10", TRUTH_UNKNOWN},
		{"any p in pythons: p.torch.version >= 2.9.1", TRUTH_YES},
	};
	ARENA(a);
	const struct scope s = {.value = tree(&a)};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum truth got = TRUTH_NO;
		assert_ok(predicate_ask(&a, &s, str_from(cases[i].condition), NULL, &got));
		if (got != cases[i].want)
			fail_msg("%s: %d", cases[i].condition, got);
	}
}

static void a_wrong_condition_is_an_error_with_its_place(void **state)
{
	(void)state;
	static const struct {
		const char *condition, *says;
	} cases[] = {
		{"", "a fact or a value is wanted"},
		{"wsl wsl", "the end is wanted at 'wsl'"},
		{"wsl and", "a fact or a value is wanted"},
		{"(wsl", ") is wanted"},
		{"any g gpus: g", "in is wanted at 'gpus: g'"},
		{"any g in gpus g", ": is wanted at 'g'"},
		{"kernel <", "a fact or a value is wanted"},
		{"kernel ~ 3", "the end is wanted at '~ 3'"},
		{"((((((((((((((((((wsl))))))))))))))))))", "less nesting"},
		{"not not not not not not not not not not not not not not not not not wsl",
			"less nesting"},
	};
	ARENA(a);
	const struct scope s = {.value = tree(&a)};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum truth got;
		assert_err_says(predicate_ask(&a, &s, str_from(cases[i].condition), NULL, &got),
			E_SYNTAX, cases[i].says);
	}
}

static void an_answer_says_what_was_so(void **state)
{
	(void)state;
	ARENA(a);
	const struct scope s = {.value = tree(&a)};
	struct strs because = {0};
	enum truth t;
	assert_ok(predicate_ask(&a, &s,
		S("kernel < 6.18.4 and not wsl and 'x' in groups and distro = 'a' and kernel < 7"),
		&because, &t));
	assert_str(str_join(&a, &because, S("; ")), "kernel is 6.8.0-31-generic; wsl is false");
	because = (struct strs){0};
	assert_ok(predicate_ask(&a, &s, S("groups in 'x' or sdks"), &because, &t));
	assert_str(str_join(&a, &because, S("; ")), "groups is users, video; sdks is empty");
	/* Of items their own names; once it is settled no other item is asked; lists without any are said, too. */
	because = (struct strs){0};
	assert_ok(predicate_ask(&a, &s,
		S("(all g in sdks: g.apu) and any g in gpus: g.target = 'gfx1100'"), &because, &t));
	assert_str(str_join(&a, &because, S("; ")), "sdks is empty; target is gfx1100");
	because = (struct strs){0};
	assert_ok(predicate_ask(&a, &s, S("all g in gpus: g.apu"), &because, &t));
	assert_str(str_join(&a, &because, S("; ")), "apu is false");
	assert_int_equal(t, TRUTH_NO);
}

static void texts_take_facts(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *n = tree(&a);
	const struct scope top = {.value = n}, gpu = {.name = S("gpu"),
						       .value = &node_get(n, S("gpus"))->v[0],
						       .up = &top};
	assert_str(facts_expand(&a, &gpu,
			   S("{gpu.target} has {gpu.vram size}, {gpus count} of {kernel}: "
			     "{groups}{x}{gpu.y}.")),
		"gfx1100 has 20 GiB, 2 of 6.8.0-31-generic: users, video.");
	assert_str(facts_expand(&a, &gpu, S("ls {cpu shell}/{kernel shell}")),
		"ls 'a'\\''b $(c)'/6.8.0-31-generic");
	assert_str(facts_expand(&a, &top, S("no facts, open {kernel")),
		"no facts, open 6.8.0-31-generic");
	assert_str(facts_expand(&a, &top, S("")), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_hold_or_not_or_are_not_known),
		cmocka_unit_test(a_wrong_condition_is_an_error_with_its_place),
		cmocka_unit_test(an_answer_says_what_was_so),
		cmocka_unit_test(texts_take_facts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
