/* Package indexes, as folders of this machine; servers: tests/e2e/amd_index.py. */
#include "archive/index.h"

#define KIT_MORE                                                                                   \
	struct index_job job;                                                                      \
	struct archive_items files;
#include "unit/kit.h"

/* Three wheels that zipfile makes, one of them without metadata, a source distribution, and what is neither. */
static int begin(void **state)
{
	struct fixture *f = kit_new(state);
	struct proc p = {.cwd = f->dir};
	proc_arg(&f->a, &p, "python3", "-c",
		"import os, zipfile\n"
		"os.makedirs('files/my-pkg')\n"
		"for name in 'files/My_Pkg-1.0-py3-none-any.whl', "
		"'files/my-pkg/my_pkg-2.0-py3-none-any.whl':\n"
		"    with zipfile.ZipFile(name, 'w') as z:\n"
		"        z.writestr('my_pkg/__init__.py', '')\n"
		"        z.writestr('My_Pkg-1.0.dist-info/METADATA', 'Name: My_Pkg\\nVersion: "
		"1.0\\n')\n"
		"with zipfile.ZipFile('files/bare-1.0-py3-none-any.whl', 'w') as z:\n"
		"    z.writestr('bare.py', '')\n"
		"open('files/my.pkg-1.5.tar.gz', 'w').write('sdist')\n"
		"open('files/other-1.0-py3-none-any.whl', 'w').close()\n"
		"open('files/my_pkg-1.0.txt', 'w').close()\n",
		NULL);
	ran(f, &p);
	strs_add(&f->a, &f->job.links, at(f, "files"));
	return 0;
}

static void a_folder_has_the_files_of_a_project(void **state)
{
	struct fixture *f = *state;
	struct archive_items items = {0};
	struct index_metadatas metadata;
	assert_ok(index_list(&f->a, &f->job, S("my-pkg"), &f->files));
	assert_int_equal(f->files.n, 3);
	assert_str(f->files.v[0].file, "My_Pkg-1.0-py3-none-any.whl");
	assert_str(f->files.v[1].file, "my.pkg-1.5.tar.gz");
	assert_str(f->files.v[2].file, "my_pkg-2.0-py3-none-any.whl");
	assert_int_equal(f->files.v[1].size, 5);
	assert_false(f->files.v[0].yanked);
	struct archive_items first = {.v = f->files.v, .n = 1};
	assert_ok(index_metadata(&f->a, &f->job, &first, &metadata));
	assert_str(metadata.v[0].text, "Name: My_Pkg\nVersion: 1.0\n");
	assert_ok(fs_mkdirs(at(f, "got")));
	for (size_t i = 0; i < f->files.n; i++)
		*VEC_PUSH(&f->a, &items) = (struct archive_item){.url = f->files.v[i].url,
			.file = f->files.v[i].file,
			.size = f->files.v[i].size};
	assert_ok(index_fetch(&f->a, &f->job, &items, at(f, "got")));
	test_has(items.v[1].path, "sdist");
	assert_str(items.v[1].sha256,
		"714772a9f82b2aeb4fa5f7092d00fe4ac4c9cdeb6800840b6ed39ea64c4d785a");
}

static void metadata_of_several_files_are_read_at_once(void **state)
{
	struct fixture *f = *state;
	struct index_metadatas metadata;
	struct archive_items some = {0};
	assert_ok(index_list(&f->a, &f->job, S("bare"), &some));
	assert_ok(index_list(&f->a, &f->job, S("my-pkg"), &f->files));
	*VEC_PUSH(&f->a, &some) = f->files.v[0];
	assert_ok(index_metadata(&f->a, &f->job, &some, &metadata));
	assert_int_equal(metadata.n, 2);
	assert_str(metadata.v[0].text, "");
	assert_str(metadata.v[0].why, "'bare-1.0-py3-none-any.whl' has no metadata");
	assert_str(metadata.v[1].text, "Name: My_Pkg\nVersion: 1.0\n");
	assert_str(metadata.v[1].why, "");
	*VEC_PUSH(&f->a, &some) = f->files.v[1]; /* no tar */
	assert_err_says(index_metadata(&f->a, &f->job, &some, &metadata), E_NET,
		"'my.pkg-1.5.tar.gz' cannot be read");
}

static void a_wrong_hash_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct archive_items items = {0};
	assert_ok(index_list(&f->a, &f->job, S("My.Pkg"), &f->files));
	*VEC_PUSH(&f->a, &items) = (struct archive_item){.url = f->files.v[1].url,
		.file = f->files.v[1].file,
		.sha256 = S("0000000000000000000000000000000000000000000000000000000000000000")};
	assert_ok(fs_mkdirs(at(f, "got")));
	assert_err_says(
		index_fetch(&f->a, &f->job, &items, at(f, "got")), E_HASH, "my.pkg-1.5.tar.gz");
	struct strs names;
	assert_ok(fs_list(&f->a, at(f, "got"), &names));
	assert_int_equal(names.n, 0);
}

static void what_an_index_lacks_is_named(void **state)
{
	struct fixture *f = *state;
	assert_err_says(index_list(&f->a, &f->job, S("none"), &f->files), E_NOENT, "'none'");
	assert_int_equal(f->files.n, 0);
}

static void an_address_is_checked_and_its_password_not_shown(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *url, *says;
	} rows[] = {{"-x", "neither"}, {"ftp://localhost/", "neither"}, {"https:///x", "neither"},
		{"ftp://me:secret@localhost/", "'ftp://localhost/'"}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct index_job job = {0};
		strs_add(&f->a, &job.urls, str_from(rows[i].url));
		struct err *e = index_list(&f->a, &job, S("my-pkg"), &f->files);
		assert_non_null(e);
		assert_false(str_contains(str_from(e->msg), S("secret")));
		assert_err_says(e, E_USAGE, rows[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_folder_has_the_files_of_a_project, begin, teardown),
		cmocka_unit_test_setup_teardown(
			metadata_of_several_files_are_read_at_once, begin, teardown),
		cmocka_unit_test_setup_teardown(a_wrong_hash_leaves_nothing, begin, teardown),
		cmocka_unit_test_setup_teardown(what_an_index_lacks_is_named, begin, teardown),
		cmocka_unit_test_setup_teardown(
			an_address_is_checked_and_its_password_not_shown, begin, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
