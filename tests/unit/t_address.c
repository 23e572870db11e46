/* Addresses of package indexes: the public ones, mirrors of three origins, passwords, and texts of data/. */
#include <sys/stat.h>

#include "know/address.h"
#include "know/compat.h"
#include "know/diagnosis.h"
#include "know/rule.h"
#include "unit/kit.h"

static int begin(void **state)
{
	struct fixture *f = kit_new(state);
	assert_int_equal(setenv("ROCSMITH_HOME", str_z(&f->a, f->dir), 1), 0);
	assert_int_equal(unsetenv("ROCSMITH_AMD_INDEX"), 0);
	assert_int_equal(unsetenv("ROCSMITH_TORCH_INDEX"), 0);
	return 0;
}

static void is(struct fixture *f, const char *name, const char *option, const char *want)
{
	struct str url;
	assert_ok(address_of(&f->a, name, S("rocm7.2"), str_from(option), &url));
	assert_str(url, want);
}

static void option_variable_and_file_stand_before_the_public_address(void **state)
{
	struct fixture *f = *state;
	is(f, "amd-stable", "", "https://stable.repo.amd.com/rocm/whl-next/");
	is(f, "amd-multi-arch", "", "https://repo.amd.com/rocm/whl-multi-arch/");
	is(f, "torch", "", "https://download.pytorch.org/whl/rocm7.2");
	put(f, "config/config.yaml", "indexes: {amd: 'https://file/{index}/simple'}\n");
	is(f, "amd-stable", "", "https://file/whl-next/simple");
	is(f, "amd-multi-arch", "", "https://file/whl-multi-arch/simple");
	is(f, "torch", "", "https://download.pytorch.org/whl/rocm7.2");
	setenv("ROCSMITH_AMD_INDEX", "http://variable", 1);
	setenv("ROCSMITH_TORCH_INDEX", "http://variable/torch/", 1);
	is(f, "amd-stable", "", "http://variable");
	is(f, "torch", "", "http://variable/torch/rocm7.2");
	is(f, "torch", "file:///mirror/{index}/x", "file:///mirror/rocm7.2/x");
	is(f, "amd-nightly", "http://[::1]:80/o", "http://[::1]:80/o");
}

static void what_is_no_address_is_refused_with_its_origin(void **state)
{
	struct fixture *f = *state;
	static const char *const wrong[] = {"ftp://x", "-e", "https://x/ y", "https://x/\"",
		"https://x/$(id)", "https://x/`id`", "https://x;id", "https://x/\n",
		"https://x/\xc3\xa4", "file://x"};
	struct str url;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_err(address_of(&f->a, "torch", S(""), str_from(wrong[i]), &url), E_USAGE);
		assert_str(address_in_text(&f->a, S("https://download.pytorch.org/whl/rocm7.2")),
			"https://download.pytorch.org/whl/rocm7.2");
		setenv("ROCSMITH_TORCH_INDEX", wrong[i], 1);
	}
	struct err *e = address_of(&f->a, "torch", S(""), S(""), &url);
	assert_non_null(e);
	assert_non_null(strstr(e->msg, "ROCSMITH_TORCH_INDEX"));
	err_free(e);
	setenv("ROCSMITH_TORCH_INDEX", "", 1);
	put(f, "config/config.yaml", "indexes: {amb: 'https://x'}\n");
	assert_err(address_of(&f->a, "amd-rc", S(""), S(""), &url), E_SYNTAX);
	assert_int_equal(chmod(at(f, "config").p, 0777), 0); /* anybody's: not read */
	assert_err(address_of(&f->a, "amd-rc", S(""), S(""), &url), E_PERM);
}

static void passwords_are_not_shown(void **state)
{
	struct fixture *f = *state;
	assert_str(address_shown(&f->a, S("https://me:w@rd@host/a@b")), "https://host/a@b");
	assert_str(address_shown(&f->a, S("https://host/a@b")), "https://host/a@b");
	assert_str(address_shown(&f->a, S("file:///a@b")), "file:///a@b");
	assert_str(address_shown(&f->a, S("no address")), "no address");
}

static void texts_get_the_mirrors(void **state)
{
	struct fixture *f = *state;
	const struct str text = S("pip --index-url https://download.pytorch.org/whl/rocmA.B x; "
				  "pip -i https://stable.repo.amd.com/rocm/whl-next/ \"y\" "
				  "https://download.pytorch.org/whl/rocm7.2");
	assert_str(address_in_text(&f->a, text), text.p);
	setenv("ROCSMITH_TORCH_INDEX", "https://me:word@t/{index}/s", 1);
	setenv("ROCSMITH_AMD_INDEX", "https://a", 1);
	assert_str(address_in_text(&f->a, text), "pip --index-url https://t/rocmA.B/s x; pip -i "
						 "https://a \"y\" https://t/rocm7.2/s");
	assert_str(address_in_text(&f->a, S("-i https://download.pytorch.org/whl/{p.torch local}")),
		"-i https://t/{p.torch local}/s");
}

static void a_version_tells_who_publishes_it(void **state)
{
	(void)state;
	assert_string_equal(address_for_rocm(S("10.1.0")), "amd-stable");
	assert_string_equal(address_for_rocm(S("10.1")), "amd-stable");
	assert_string_equal(address_for_rocm(S("7.14.1")), "amd-multi-arch");
	assert_string_equal(address_for_rocm(S("10.1.0a20261101")), "amd-nightly");
	assert_string_equal(address_for_rocm(S("10.2.0rc1")), "amd-rc");
}

static void rows_name_their_source_and_those_of_compat_exist(void **state)
{
	struct fixture *f = *state;
	struct str url;
	for (size_t i = 0; i < address_count; i++) {
		const struct address *x = &address_table()[i];
		assert_true(x->evidence && *x->evidence && strlen(x->seen) == 7);
		assert_true(!x->folder == str_contains(str_from(x->url), S("{index}")));
	}
	for (size_t i = 0; i < compat_wheel_count; i++)
		if (compat_wheel_table()[i].amd)
			assert_ok(
				address_of(&f->a, compat_wheel_table()[i].amd, S(""), S(""), &url));
	assert_err(address_of(&f->a, "none", S(""), S(""), &url), E_INTERNAL);
}

/* A public address in a text begins with one of the table. */
static void check_text(const char *text)
{
	struct str rest = str_from(text), scheme = S("https://");
	for (size_t at; (at = str_find(rest, scheme)) < rest.n;) {
		rest = str_sub(rest, at, rest.n);
		struct str host = str_sub(rest, scheme.n, rest.n);
		host = str_sub(host, 0, str_chr(host, '/'));
		bool known = !str_ends(host, S("repo.amd.com")) &&
			     !str_eq(host, S("download.pytorch.org"));
		for (size_t i = 0; i < address_count; i++) {
			struct str url = str_from(address_table()[i].url);
			known |= str_starts(rest, str_sub(url, 0, str_chr(url, '{')));
		}
		if (!known)
			fail_msg("this address is not in data/addresses.yaml: %s", text);
		rest = str_sub(rest, scheme.n, rest.n);
	}
}

static void commands_have_addresses_of_the_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < diagnosis_count; i++)
		for (const struct diagnosis_fix *x = diagnosis_table()[i].fix; x && x->action; x++)
			check_text(x->command);
	for (size_t i = 0; i < rule_count; i++)
		for (const struct rule_fix *x = rule_table()[i].fix; x && x->action; x++)
			check_text(x->command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			option_variable_and_file_stand_before_the_public_address, begin, teardown),
		cmocka_unit_test_setup_teardown(
			what_is_no_address_is_refused_with_its_origin, begin, teardown),
		cmocka_unit_test(commands_have_addresses_of_the_table),
		cmocka_unit_test_setup_teardown(passwords_are_not_shown, begin, teardown),
		cmocka_unit_test_setup_teardown(texts_get_the_mirrors, begin, teardown),
		cmocka_unit_test_setup_teardown(a_version_tells_who_publishes_it, begin, teardown),
		cmocka_unit_test_setup_teardown(
			rows_name_their_source_and_those_of_compat_exist, begin, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
