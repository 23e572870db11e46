/* The manifest beside a wheel, read back; sha256sum is the judge of its hashes. */
#include "base/proc.h"
#include "flow/build.h"
#include "formats/node.h"
#include "test.h"
#include "wheel/wheel.h"

static struct str sha256sum(struct arena *a, struct str path)
{
	struct proc p = {0};
	struct proc_result r;
	proc_arg(a, &p, "sha256sum", str_z(a, path), NULL);
	assert_ok(proc_check(a, &p, &r));
	return str_sub(r.out, 0, 64);
}

static struct str text(const struct node *n, const char *key)
{
	return node_text(n, str_from(key), S(""));
}

static void it_tells_what_the_wheel_was_made_of(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir, bytes, again;
	const struct node *doc;
	struct plan_foreign how = {.source = {.kind = S("sdist"),
					   .from = S("/home/u/x-1.tar.gz"),
					   .mirror = S("https://me:pw@x/home/u"),
					   .version = S("2.6.0+dfsg-7")}};
	struct plan plan = {.project = S("/home/u/p"),
		.name = S("torch"),
		.version = S("2.6.0+rocm6.4"),
		.foreign = &how};
	struct foreign f = {.dir = S("/home/u/build")};
	struct wheel_relocation paths = {.from = S("/home/u/build/dist/x.whl")};
	struct build_result r = {.dir = f.dir, .wheel_size = 5};
	assert_ok(fs_tempdir(&a, S(""), &dir));
	r.wheel = path_join(&a, dir, S("torch-2.6.0.whl"));
	struct str with = path_join(&a, dir, S("triton.whl"));
	assert_ok(fs_write(r.wheel, S("wheel"), 0644));
	assert_ok(fs_write(with, S("triton"), 0644));
	strs_add(&a, &how.with, with);
	strs_add(&a, &f.patched, S("rocprim-half"));
	strs_add(&a, &plan.gpus, S("gfx1201"));
	*VEC_PUSH(&a, &plan.features) = (struct plan_feature){.name = S("nccl"), .choice = S("on")};
	*VEC_PUSH(&a, &how.source.files) =
		(struct source_file){.name = S("x.tar.xz"), .sha256 = S("ab"), .size = 3};
	*VEC_PUSH(&a, &paths.changed) = (struct wheel_path){S("torch/lib/x.so"), S("$ORIGIN")};
	*VEC_PUSH(&a, &r.sdk.components) = (struct sdk_component){S("hip"), S("6.4.43484")};
	assert_ok(build_provenance(&a, &plan, &f, &paths, &r));
	assert_str(build_provenance_path(&a, r.wheel), str_fmt(&a, "%.*s.json", STR(r.wheel)).p);
	assert_ok(fs_read(&a, build_provenance_path(&a, r.wheel), 1 << 20, &bytes));
	assert_ok(json_parse(&a, bytes, S("manifest"), &doc));
	const struct node *wheel = node_get(doc, S("wheel"));
	assert_str(text(doc, "schema"), "rocsmith.wheel/1");
	assert_str(text(wheel, "file"), "torch-2.6.0.whl");
	assert_true(str_eq(text(wheel, "sha256"), sha256sum(&a, r.wheel)));
	assert_true(str_eq(text(node_get(doc, S("with"))->v, "sha256"), sha256sum(&a, with)));
	assert_str(text(doc, "version"), "2.6.0+rocm6.4");
	assert_str(text(doc, "rocm"), "6.4");
	assert_str(text(node_get(doc, S("source")), "version"), "2.6.0+dfsg-7");
	assert_str(text(node_get(node_get(doc, S("source")), S("files"))->v, "sha256"), "ab");
	assert_str(text(node_get(doc, S("features"))->v, "choice"), "on");
	assert_str(text(node_get(doc, S("paths"))->v, "path"), "$ORIGIN");
	assert_int_equal(node_get(doc, S("recipes"))->n, 1);
	assert_false(str_contains(bytes, S("/home/u")));
	assert_false(str_contains(bytes, dir));
	assert_ok(build_provenance(&a, &plan, &f, &paths, &r));
	assert_ok(fs_read(&a, build_provenance_path(&a, r.wheel), 1 << 20, &again));
	assert_true(str_eq(bytes, again));
	assert_ok(fs_remove_tree(dir));
}

static void a_build_of_ours_has_one_too(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir;
	const struct node *doc;
	struct plan plan = {.name = S("saxpy"), .version = S("1.0")};
	struct build_result r = {.wheel_size = 1};
	assert_ok(fs_tempdir(&a, S(""), &dir));
	r.wheel = path_join(&a, dir, S("saxpy.whl"));
	assert_ok(fs_write(r.wheel, S("w"), 0644));
	assert_ok(build_provenance(&a, &plan, NULL, NULL, &r));
	assert_ok(json_read(&a, build_provenance_path(&a, r.wheel), &doc));
	assert_str(text(doc, "name"), "saxpy");
	assert_null(node_get(doc, S("source")));
	assert_null(node_get(doc, S("recipes")));
	assert_ok(fs_remove_tree(dir));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_tells_what_the_wheel_was_made_of),
		cmocka_unit_test(a_build_of_ours_has_one_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
