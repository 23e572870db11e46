/* git on repositories of strangers: what is run, what is refused, what its failures become. */
#include "archive/git.h"
#include "unit/kit.h"

/* Runs git on its own, as a user does. */
static void git(struct fixture *f, const char *words)
{
	struct proc p = {.cwd = f->dir};
	struct proc_result r;
	proc_arg(&f->a, &p, "sh", "-c",
		str_fmt(&f->a, "git -c user.name=n -c user.email=e %s", words).p, NULL);
	assert_ok(proc_check(&f->a, &p, &r));
}

static int begin(void **state)
{
	struct fixture *f = kit_new(state);
	put(f, "up/a", "1\n");
	git(f, "init -q -b main up && cd up && git add a && git -c user.name=n -c user.email=e "
	       "commit -qm one");
	return 0;
}

static void hooks_and_variables_of_the_caller_do_nothing(void **state)
{
	struct fixture *f = *state;
	struct git g = {.dir = at(f, "up")};
	struct proc_result r;
	put(f, "up/.git/hooks/post-checkout", "#!/bin/sh\ntouch ran\n");
	git(f, "--version; chmod +x up/.git/hooks/post-checkout");
	setenv("GIT_DIR", "/nowhere", 1);
	assert_ok(git_run(&f->a, &g, &r, "checkout", "-q", "-b", "other", NULL));
	unsetenv("GIT_DIR");
	assert_false(fs_present(at(f, "up/ran")));
	assert_ok(git_run(&f->a, &g, &r, "rev-parse", "--abbrev-ref", "HEAD", NULL));
	assert_str(str_trim(r.out), "other");
}

static void a_configuration_that_runs_programs_is_refused(void **state)
{
	static const char *const bad[] = {"filter.x/y.clean", "core.sshcommand",
		"credential.helper", "credential.https://x.helper", "diff.a.textconv",
		"submodule.s.update", "url.a.insteadof"};
	struct fixture *f = *state;
	struct proc_result r;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct git g = {.dir = at(f, "up")};
		git(f, str_fmt(&f->a, "-C up config %s '!touch ran'", bad[i]).p);
		assert_err_says(git_run(&f->a, &g, &r, "status", NULL), E_PERM, bad[i]);
		git(f, str_fmt(&f->a, "-C up config --unset %s", bad[i]).p);
		assert_ok(git_run(&f->a, &g, &r, "status", NULL));
	}
	put(f, "up/.git/more", "[filter \"z\"]\n\tsmudge = touch ran\n");
	git(f, "-C up config include.path more");
	struct git g = {.dir = at(f, "up")};
	assert_err_says(git_run(&f->a, &g, &r, "status", NULL), E_PERM, "filter.z.smudge");
}

static void neither_a_folder_above_nor_another_work_tree_is_found(void **state)
{
	struct fixture *f = *state;
	struct git g = {.dir = at(f, "up/sub")}, top = {.dir = at(f, "up")};
	struct proc_result r;
	put(f, "up/sub/b", "2\n");
	assert_err_says(git_run(&f->a, &g, &r, "status", NULL), E_TOOL_FAILED, "status 128");
	put(f, "victim/a", "mine\n");
	git(f, str_fmt(&f->a, "-C up config core.worktree '%.*s'", STR(at(f, "victim"))).p);
	put(f, "up/a", "changed\n");
	assert_ok(git_run(&f->a, &top, &r, "checkout", "-f", "HEAD", NULL));
	assert_file(f, "victim/a", "mine\n");
	assert_file(f, "up/a", "1\n");
}

static void failures_have_codes(void **state)
{
	struct fixture *f = *state;
	struct git g = {.dir = at(f, "up"), .local = true};
	struct proc_result r;
	const char *sha = "1234567890123456789012345678901234567890";
	assert_err(git_run(&f->a, &g, &r, "fetch", at(f, "up").p, sha, NULL), E_SOURCE);
	assert_err(git_run(&f->a, &g, &r, "fetch", at(f, "up").p, "gone", NULL), E_SOURCE);
	assert_err(git_run(&f->a, &g, &r, "fetch", at(f, "no").p, NULL), E_SOURCE);
	assert_err(git_run(&f->a, &g, &r, "fetch", "https://no.invalid/x", NULL), E_NET);
	g.local = false;
	assert_err(git_run(&f->a, &g, &r, "fetch", at(f, "up").p, NULL), E_SOURCE);
	assert_err(git_run(&f->a, &g, &r, "fetch", "ext::touch ran", NULL), E_SOURCE);
	assert_ok(git_try(&f->a, &g, &r, "diff", "--quiet", "--exit-code", NULL));
	assert_int_equal(r.status, 0);
	put(f, "up/a", "2\n");
	assert_ok(git_try(&f->a, &g, &r, "diff", "--quiet", "--exit-code", NULL));
	assert_int_equal(r.status, 1);
}

static void words_of_strangers_are_checked(void **state)
{
	(void)state;
	static const char *const urls[] = {"https://github.com/pytorch/pytorch", "git@host:a/b.git",
		"git://127.0.0.1:9418/x", "ssh://git@host/x"};
	static const char *const bad[] = {"-u", "--upload-pack=x", "ext::sh -c x", "https://",
		"https://a/\nb", "https://-x/y", "ssh://-oProxyCommand=x/y", "a", "", "ftp://x/y",
		"/srv/x", "file:///x", "git@-x:y"};
	static const char *const secret[] = {
		"https://u:p4ss@h/x", "https://t0ken@h/x", "ssh://u:p4ss@h/x"};
	static const char *const refs[] = {
		"main", "release/2.14", "v2.14.0", "refs/pull/12/head", "a@b", "nightly"};
	static const char *const no[] = {"-f", "", "a..b", "a b", "/a", "a/", "a^", "a:b", "@",
		"a.lock", "@{-1}", "a\n", "*"};
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
		assert_ok(git_check_url(str_from(urls[i]), false));
	assert_ok(git_check_url(S("/srv/x.git"), true));
	assert_ok(git_check_url(S("file:///srv/x.git"), true));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_err(git_check_url(str_from(bad[i]), false), E_USAGE);
	for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++) {
		struct err *e = git_check_url(str_from(secret[i]), true);
		assert_null(strstr(e->msg, "p4ss"));
		assert_err_says(e, E_USAGE, "name or a password");
	}
	for (size_t i = 0; i < sizeof(refs) / sizeof(refs[0]); i++)
		assert_ok(git_check_ref(str_from(refs[i])));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_err(git_check_ref(str_from(no[i])), E_USAGE);
	assert_true(git_is_sha(S("1234567890abcdef1234567890abcdef12345678")));
	assert_false(git_is_sha(S("1234567890abcdef1234567890abcdef1234567")));
}

#define WITH_REPOSITORY(name) cmocka_unit_test_setup_teardown(name, begin, teardown)
static const struct CMUnitTest tests[] = {
	WITH_REPOSITORY(hooks_and_variables_of_the_caller_do_nothing),
	WITH_REPOSITORY(a_configuration_that_runs_programs_is_refused),
	WITH_REPOSITORY(neither_a_folder_above_nor_another_work_tree_is_found),
	WITH_REPOSITORY(failures_have_codes),
	cmocka_unit_test(words_of_strangers_are_checked),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
