/* Commands of containers: container/container.h, and the table data/container.yaml. */
#include "container/container.h"
#include "test.h"

#include "base/fs.h"

/* A machine with two GPUs of a user who may open them. */
static struct machine machine_of(struct arena *a, unsigned uid)
{
	struct machine m = {.has_identity = true, .uid = uid, .gid = 100};
	static const char *const nodes[] = {
		"/dev/kfd", "/dev/dri/renderD128", "/dev/dri/renderD129"};
	for (size_t i = 0; i < 3; i++)
		*VEC_PUSH(a, &m.nodes) = (struct machine_node){
			.path = str_from(nodes[i]), .mode = 0660, .gid = 993, .usable = true};
	for (unsigned i = 0; i < 2; i++)
		*VEC_PUSH(a, &m.gpus) = (struct machine_gpu){.index = i,
			.target = i ? S("gfx1201") : S("gfx1100"),
			.render = str_from(nodes[i + 1])};
	return m;
}

static struct container opened(struct arena *a, const char *engine, struct str image)
{
	struct container c;
	assert_ok(container_open(a, str_from(engine), image, &c));
	strs_add(a, &c.words, S("network"));
	return c;
}

static bool known(const char *word, const char *words)
{
	ARENA(a);
	struct strs list = str_split(&a, str_from(words), ' ');
	return strs_has(&list, str_from(word));
}

/* A word that nobody sets would never hold, and an unknown value is nothing at all, without a complaint. */
static void every_word_and_value_of_the_table_exists(void **state)
{
	(void)state;
	ARENA(a);
	for (const struct container_part *p = container_part_table(); p->engines; p++) {
		struct strs when = str_split(&a, str_from(p->when), ' ');
		struct strs engines = str_split(&a, str_from(p->engines), ' ');
		for (size_t i = 0; i < engines.n; i++)
			assert_true(known(str_z(&a, engines.v[i]), "podman docker bwrap nspawn"));
		assert_true(!p->each || known(p->each, "device group bind variable entry command"));
		for (size_t i = 0; i < when.n; i++)
			assert_true(known(str_z(&a, when.v[i]) + (when.v[i].p[0] == '!'),
				"user groups devices subset selinux relabel debug ipc shm tty work "
				"network pinned systemd link colon env cache"));
		assert_true(!p->args != !p->refuse);
		for (const char *const *arg = p->args; arg && *arg; arg++) {
			struct str rest = str_from(*arg), name;
			while (str_cut(rest, '{', &name, &rest) && str_cut(rest, '}', &name, &rest))
				assert_true(known(str_z(&a, name),
					p->each ? "from at mode ro- -ro ,readonly src dst left "
						  "right"
						: "program image uid gid groups gpus shm work"));
		}
	}
}

static void digests_pin_images(void **state)
{
	(void)state;
	ARENA(a);
#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	static const char *const pinned[][2] = {{"x@sha256:" HEX, "x@sha256:" HEX},
		{"host:5000/x:1@sha256:" HEX, "host:5000/x@sha256:" HEX},
		{"x:1@sha256:" HEX, "x@sha256:" HEX}, {HEX, HEX}, {"sha256:" HEX, "sha256:" HEX}};
	static const char *const loose[] = {"x", "x:1", "host:5000/x", "x@sha256:", "x@sha256:0123",
		"x@sha256:" HEX "0", "x@md5:" HEX, "X" HEX, "x:" HEX};
	for (size_t i = 0; i < sizeof(pinned) / sizeof(*pinned); i++) {
		struct container c = opened(&a, "podman", str_from(pinned[i][0]));
		assert_str(c.image, pinned[i][1]);
		assert_str(c.digest, "sha256:" HEX);
		assert_int_equal(c.warnings.n, 0);
	}
	for (size_t i = 0; i < sizeof(loose) / sizeof(*loose); i++) {
		struct container c = opened(&a, "docker", str_from(loose[i]));
		assert_str(c.image, loose[i]);
		assert_str(c.digest, "");
		assert_int_equal(c.warnings.n, 1);
	}
}

/* An argument of the last command that begins so, or "". */
static struct str argument(const struct container *c, const char *begin)
{
	for (size_t i = 0; i < c->argv.n; i++)
		if (str_starts(c->argv.v[i], str_from(begin)))
			return c->argv.v[i];
	return S("");
}

/* Each path below is given as a bind, and must be in the place that the engine reads. */
static void a_path_is_never_an_option(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *bind, *path, *csv, *colons;
	} paths[] = {
		{"/a,readonly", "/a,readonly", NULL, "/a,readonly"},
		{"/a\\:b", "/a:b", "src=/a:b", "/a\\:b"},
		{"/a\\\\b", "/a\\b", NULL, "/a\\\\b"},
		{"/a\\b\\:", "/a\\b:", "src=/a\\b:", "/a\\\\b\\:"},
		{"/a\\:,dst=/etc", "/a:,dst=/etc", "\"src=/a:,dst=/etc\"", "/a\\:,dst=/etc"},
		{"/\"\\:\n", "/\":\n", "\"src=/\"\":\n\"", "/\"\\:\n"},
		{"/--privileged", "/--privileged", NULL, "/--privileged"},
	};
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct str path = str_from(paths[i].path);
		struct container podman = opened(&a, "podman", S("x"));
		assert_ok(container_bind(&a, str_from(paths[i].bind), &podman));
		assert_ok(container_write(&a, &podman));
		if (paths[i].csv)
			assert_true(str_starts(argument(&podman, "--mount="),
				str_fmt(&a, "--mount=type=bind,%s,", paths[i].csv)));
		else
			assert_str(argument(&podman, "--volume="),
				str_z(&a, str_fmt(&a, "--volume=%.*s:%.*s:rw", STR(path),
						  STR(path))));

		struct container nspawn = opened(&a, "nspawn", S("/usr"));
		assert_ok(container_bind(&a, str_fmt(&a, "%s:/x:ro", paths[i].bind), &nspawn));
		assert_ok(container_write(&a, &nspawn));
		assert_str(argument(&nspawn, "--bind-ro="),
			str_z(&a, str_fmt(&a, "--bind-ro=%s:/x", paths[i].colons)));
	}
}

/* The folder as bwrap gets it: "@" is the root folder. */
static struct str entries(struct arena *a, struct str root, const char *bind)
{
	struct container c = opened(a, "bwrap", root);
	assert_ok(container_bind(a, str_from(bind), &c));
	assert_ok(container_write(a, &c));
	struct str all = str_join(a, &c.argv, S(" "));
	size_t from = str_find(all, S("--tmpfs / ")) + 10, to = str_find(all, S(" --proc"));
	return str_replace(a, str_sub(all, from, to), root, S("@"));
}

static void folders_on_the_way_to_a_bind_are_made_in_memory(void **state)
{
	(void)state;
	ARENA(a);
	struct str root = test_dir(&a);
	static const char *const folders[] = {"usr/bin", "usr/share/x", "dev", "proc", "home"};
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		assert_ok(fs_mkdirs(path_join(&a, root, str_from(folders[i]))));
	assert_ok(fs_symlink(S("usr/bin"), path_join(&a, root, S("bin"))));
	assert_str(entries(&a, root, "/work"),
		"--symlink usr/bin /bin --ro-bind @/home /home --ro-bind @/usr /usr");
	assert_str(entries(&a, root, "/x:/usr/share/y"),
		"--symlink usr/bin /bin --ro-bind @/home /home --ro-bind @/usr/bin /usr/bin "
		"--ro-bind @/usr/share/x /usr/share/x");
	assert_str(entries(&a, root, "/x:/usr"), "--symlink usr/bin /bin --ro-bind @/home /home");
	struct container c = opened(&a, "bwrap", root);
	assert_ok(container_bind(&a, S("/x:/bin/tool"), &c));
	assert_err_says(container_write(&a, &c), E_USAGE, "/bin");
	test_dir_remove(root);
}

static void groups_are_those_that_open_the_nodes(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		unsigned mode, gid;
		const char *want;
	} nodes[] = {{0660, 993, "--group-add=993"}, {0666, 993, ""}, {0600, 993, ""},
		{0660, 0, ""}, {0660, 65534, ""}, {0664, 105, "--group-add=105"}};
	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
		struct machine m = machine_of(&a, 1000);
		struct container c = opened(&a, "docker", S("x"));
		VEC_EACH (struct machine_node, n, &m.nodes) {
			n->mode = nodes[i].mode;
			n->gid = nodes[i].gid;
		}
		assert_ok(container_machine(&a, &m, &(struct strs){0}, &c));
		assert_ok(container_write(&a, &c));
		assert_str(argument(&c, "--group-add"), nodes[i].want);
	}
}

static void rights_that_an_engine_needs_are_told(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *engine, *image;
		size_t warnings;
	} engines[] = {{"podman", "sha256:" HEX, 1}, {"docker", "sha256:" HEX, 0},
		{"bwrap", "/usr", 1}, {"nspawn", "/usr", 0}};
	for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++) {
		struct machine m = machine_of(&a, 1000);
		struct container c = opened(&a, engines[i].engine, str_from(engines[i].image));
		VEC_EACH (struct machine_node, n, &m.nodes)
			n->usable = false;
		assert_ok(container_machine(&a, &m, &(struct strs){0}, &c));
		assert_int_equal(c.warnings.n, engines[i].warnings);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_word_and_value_of_the_table_exists),
		cmocka_unit_test(digests_pin_images),
		cmocka_unit_test(a_path_is_never_an_option),
		cmocka_unit_test(folders_on_the_way_to_a_bind_are_made_in_memory),
		cmocka_unit_test(groups_are_those_that_open_the_nodes),
		cmocka_unit_test(rights_that_an_engine_needs_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
