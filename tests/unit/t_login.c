/* Start-up files of a user: set, switched off, taken back to the old bytes, and refused. */
#include <sys/stat.h>
#include <unistd.h>

#include "flow/login.h"

#define KIT_MORE struct login_files files;
#include "unit/kit.h"

static int begin(void **state)
{
	struct fixture *f = kit_new(state);
	assert_int_equal(setenv("HOME", str_z(&f->a, f->dir), 1), 0);
	assert_int_equal(unsetenv("XDG_CONFIG_HOME"), 0);
	assert_int_equal(unsetenv("ROCSMITH_HOME"), 0);
	return 0;
}

static void is(struct fixture *f, const char *name, const char *text)
{
	struct str got;
	assert_ok(fs_read_opt(&f->a, at(f, name), 1 << 16, &got));
	if (!text)
		assert_null(got.p);
	else
		assert_str(got, text);
}

static struct err *plan(struct fixture *f, const char *set, const char *unset, const char *undo)
{
	const struct login_request r = {.id = str_from(undo ? undo : "some-id"),
		.set = str_split(&f->a, str_from(set), ' '),
		.unset = str_split(&f->a, str_from(unset), ' '),
		.undo = undo != NULL};
	return login_plan(&f->a, &r, &f->files);
}

static void run(struct fixture *f, const char *set, const char *unset, const char *undo)
{
	assert_ok(plan(f, set, unset, undo));
	assert_ok(login_apply(&f->files));
	assert_ok(plan(f, set, unset, undo));
	assert_int_equal(f->files.n, 0); /* twice is once */
}

static const char env_head[] = "# Made by \"rocsmith doctor --fix\", which also takes it back "
			       "(--undo). Other lines do not belong here.\n";

static struct str with_block(struct fixture *f, const char *text)
{
	return str_fmt(&f->a,
		"# >>> rocsmith doctor --fix >>>\nif [ -r %.*s/.config/rocsmith/env.sh ]; then . "
		"%.*s/.config/rocsmith/env.sh; fi\n# <<< rocsmith doctor --fix <<<\n%s",
		STR(f->dir), STR(f->dir), text);
}

static void a_variable_is_set_for_every_kind_of_session(void **state)
{
	struct fixture *f = *state;
	put(f, ".profile", "umask 22");
	assert_int_equal(chmod(at(f, ".profile").p, 0666), 0);
	put(f, ".bash_profile", "x\n");
	put(f, ".bashrc", "y\n");
	assert_ok(plan(f, "A=1,2", "", NULL));
	is(f, ".profile", "umask 22"); /* a plan writes nothing */
	run(f, "A=1,2", "", NULL);
	is(f, ".config/rocsmith/env.sh",
		str_z(&f->a, str_fmt(&f->a, "%sexport A=1,2 # some-id\n", env_head)));
	is(f, ".config/environment.d/rocsmith.conf",
		str_z(&f->a, str_fmt(&f->a, "%sA=1,2\n", env_head)));
	is(f, ".profile", str_z(&f->a, with_block(f, "umask 22")));
	is(f, ".bash_profile", str_z(&f->a, with_block(f, "x\n")));
	is(f, ".bashrc", "y\n");
	is(f, ".zprofile", NULL);
	struct stat st;
	assert_ok(fs_stat(at(f, ".profile"), &st));
	assert_int_equal(st.st_mode & 0777, 0666);
	run(f, "A=3", "", NULL); /* another value takes its place */
	is(f, ".config/rocsmith/env.sh",
		str_z(&f->a, str_fmt(&f->a, "%sexport A=3 # some-id\n", env_head)));
	run(f, "", "", "other-id");
	run(f, "", "", "some-id");
	is(f, ".config/rocsmith/env.sh", NULL);
	is(f, ".config/environment.d/rocsmith.conf", NULL);
	is(f, ".profile", "umask 22");
	is(f, ".bash_profile", "x\n");
}

static void without_start_up_files_one_is_made_and_goes_again(void **state)
{
	struct fixture *f = *state;
	static const char made[] =
		"# Made by \"rocsmith doctor --fix\": the undo removes this file, "
		"unless other lines are in it.\n";
	struct str whole = str_fmt(&f->a, "%s%.*s", made, STR(with_block(f, "")));
	run(f, "A=1", "", NULL);
	is(f, ".profile", str_z(&f->a, whole));
	run(f, "", "A", NULL); /* what we set ourselves we take away */
	is(f, ".config/rocsmith/env.sh", NULL);
	is(f, ".profile", NULL);
	run(f, "A=1", "", NULL);
	put(f, ".profile", str_z(&f->a, str_fmt(&f->a, "%.*sumask 22\n", STR(whole))));
	run(f, "", "A", NULL);
	is(f, ".profile", "umask 22\n"); /* not ours alone any more */
	put(f, ".profile", "");
	run(f, "", "A", NULL);
	is(f, ".profile", "");
	run(f, "A=1", "", NULL); /* empty, but not made by us */
	is(f, ".profile", str_z(&f->a, with_block(f, "")));
	run(f, "", "A", NULL);
	is(f, ".profile", "");
}

static void lines_that_set_a_variable_are_switched_off(void **state)
{
	struct fixture *f = *state;
	static const char profile[] = "# export V=1\n"
				      "if x; then\n"
				      "\texport V=10.3.0 # for my card\n"
				      "fi\n"
				      "export W=$V VV=1\n"
				      "V='a b'\n"
				      "export V\n"
				      "declare -x V=\"$HOME/x\"\n"
				      "echo V $V; unset V";
	static const char off[] =
		"# export V=1\n"
		"if x; then\n"
		"\t: # rocsmith doctor --fix some-id: export V=10.3.0 # for my card\n"
		"fi\n"
		"export W=$V VV=1\n"
		": # rocsmith doctor --fix some-id: V='a b'\n"
		": # rocsmith doctor --fix some-id: export V\n"
		": # rocsmith doctor --fix some-id: declare -x V=\"$HOME/x\"\n"
		"echo V $V; unset V";
	put(f, ".bashrc", profile);
	put(f, ".config/environment.d/10-gpu.conf", "V=1\nW=2\n");
	put(f, ".config/environment.d/README", "V=1\n");
	run(f, "", "V", NULL);
	is(f, ".bashrc", off);
	is(f, ".config/environment.d/10-gpu.conf", "# rocsmith doctor --fix some-id: V=1\nW=2\n");
	is(f, ".config/environment.d/README", "V=1\n");
	is(f, ".profile", NULL);
	run(f, "", "", "other-id");
	is(f, ".bashrc", off);
	run(f, "", "", "some-id");
	is(f, ".bashrc", profile);
	is(f, ".config/environment.d/10-gpu.conf", "V=1\nW=2\n");
}

static void what_is_not_understood_is_left_alone(void **state)
{
	struct fixture *f = *state;
	static const char *const odd[] = {"export U=1 V=2", "V=1 python x", "alias x='V=1 python'",
		"V=1; export V", "V=$(cat x)", "V=`cat x`", "V=\"a", "V=a\\ b", "readonly V=1",
		"cat <<E\nV=1\nE", "echo \\\nV=1"};
	put(f, ".profile", "export V=1\n");
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		put(f, ".zshrc", odd[i]);
		assert_err_says(
			plan(f, "", "V", NULL), E_SYNTAX, "sets V in a way that is not understood");
	}
	is(f, ".profile", "export V=1\n");
	put(f, ".zshrc", "V\0x");
	assert_int_equal(truncate(str_z(&f->a, at(f, ".zshrc")), 8), 0);
	assert_err_says(plan(f, "", "V", NULL), E_SYNTAX, "is no text");
	assert_ok(fs_remove(at(f, ".zshrc")));
	assert_err_says(plan(f, "V=$(x)", "", NULL), E_USAGE, "cannot be set");
	assert_err_says(plan(f, "V", "", NULL), E_USAGE, "cannot be set");
	assert_err_says(plan(f, "V=", "", NULL), E_USAGE, "cannot be set");
	put(f, ".config/rocsmith/env.sh", "export A=1\n");
	assert_err_says(
		plan(f, "V=1", "", NULL), E_SYNTAX, "a line that is not rocsmith's: 'export A=1'");
	assert_ok(fs_remove(at(f, ".config/rocsmith/env.sh")));
	put(f, ".profile", "a\n# >>> rocsmith doctor --fix >>>\n");
	assert_err_says(plan(f, "V=1", "", NULL), E_SYNTAX, "not as it was made");
}

static void links_are_followed_to_own_files_only(void **state)
{
	struct fixture *f = *state;
	put(f, "dotfiles/profile", "x\n");
	assert_ok(fs_symlink(S("dotfiles/profile"), at(f, ".profile")));
	run(f, "A=1", "", NULL);
	assert_true(fs_is_link(at(f, ".profile")));
	is(f, "dotfiles/profile", str_z(&f->a, with_block(f, "x\n")));
	run(f, "", "", "some-id");
	assert_true(fs_is_link(at(f, ".profile")));
	is(f, "dotfiles/profile", "x\n");
	assert_ok(fs_remove(at(f, "dotfiles/profile")));
	assert_err_says(plan(f, "A=1", "", NULL), E_PERM, "leads nowhere");
	assert_ok(fs_symlink(S("/dev/null"), at(f, ".profile")));
	assert_err_says(plan(f, "A=1", "", NULL), E_PERM, "not a plain file of this user's own");
	assert_ok(fs_remove(at(f, ".profile")));
	put(f, ".profile", "x\n");
	assert_ok(fs_link(at(f, ".profile"), at(f, "second")));
	assert_err_says(plan(f, "A=1", "", NULL), E_PERM, "not a plain file");
	assert_ok(fs_remove(at(f, "second")));
	if (geteuid() == 0) {
		assert_true(fs_try_chown(at(f, ".profile"), 12345, 12345));
		assert_err_says(plan(f, "A=1", "", NULL), E_PERM, "not a plain file");
		assert_true(fs_try_chown(f->dir, 12345, 12345));
		assert_err_says(plan(f, "A=1", "", NULL), E_PERM, "belongs to another user");
	}
	assert_int_equal(setenv("HOME", "here", 1), 0);
	assert_err_says(plan(f, "A=1", "", NULL), E_NOENT, "HOME does not say");
}

static void a_file_that_changes_meanwhile_stays_as_it_is(void **state)
{
	struct fixture *f = *state;
	put(f, ".profile", "x\n");
	assert_ok(plan(f, "A=1", "", NULL));
	put(f, ".profile", "y\n");
	assert_err_says(login_apply(&f->files), E_IO, "was changed meanwhile");
	is(f, ".profile", "y\n");
	run(f, "A=1", "", NULL); /* from what was done by then */
	run(f, "", "", "some-id");
	is(f, ".profile", "y\n");
	assert_ok(plan(f, "A=1", "", NULL));
	put(f, ".config/rocsmith/env.sh", "");
	assert_err_says(login_apply(&f->files), E_IO, "was changed meanwhile");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_variable_is_set_for_every_kind_of_session, begin, teardown),
		cmocka_unit_test_setup_teardown(
			without_start_up_files_one_is_made_and_goes_again, begin, teardown),
		cmocka_unit_test_setup_teardown(
			lines_that_set_a_variable_are_switched_off, begin, teardown),
		cmocka_unit_test_setup_teardown(
			what_is_not_understood_is_left_alone, begin, teardown),
		cmocka_unit_test_setup_teardown(
			links_are_followed_to_own_files_only, begin, teardown),
		cmocka_unit_test_setup_teardown(
			a_file_that_changes_meanwhile_stays_as_it_is, begin, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
