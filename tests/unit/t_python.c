/* Python environments of sysroots that each test makes: which are found, and which packages are in them. */
#include <unistd.h>

#include "know/environment.h"
#include "unit/fixture_python.h"

static void environments_lie_where_tools_put_them(void **state)
{
	struct fixture *f = *state;
	static const char *const venvs[] = {"opt/venv", VENV, "home/alice/.venv",
		"home/alice/venvs/one", "home/alice/.virtualenvs/two", "home/alice/ComfyUI/venv",
		"home/alice/webui/.venv", "srv/named"};
	static const char *const condas[] = {
		"opt/conda", "opt/conda/envs/a", "home/alice/miniforge3/envs/b", "data/listed"};
	for (size_t i = 0; i < sizeof(venvs) / sizeof(*venvs); i++)
		venv(f, venvs[i], "torch-1.0");
	for (size_t i = 0; i < sizeof(condas) / sizeof(*condas); i++) {
		assert_ok(fs_mkdirs(at(f, str_fmt(&f->a, "%s/conda-meta", condas[i]).p)));
		dist(f, str_fmt(&f->a, "%s/lib/python3.11/site-packages", condas[i]).p, "torch-2.0",
			"");
	}
	put(f, "home/alice/.conda/environments.txt", "/data/listed\n../etc\n\n/data/gone\n");
	dist(f, "home/alice/.pyenv/versions/3.10.13/lib/python3.10/site-packages", "numpy-1.26.4",
		"");
	dist(f, "home/alice/.local/lib/python3.12/site-packages", "torch-3.0", "");
	/* no environments, or nothing in them */
	venv(f, "home/alice/.hidden/venv", "torch-1.0");
	venv(f, "home/alice/secret-project/venv", "requests-1.0");
	dist(f, "home/alice/no/venv/lib/python3.12/site-packages", "torch-1.0", "");
	variables(f, S("HOME=/home/alice\0VIRTUAL_ENV=/srv/named\0"));
	assert_pythons(f, "*/srv/named venv 3.12 torch=1.0\n"
			  "/data/listed conda 3.11 torch=2.0\n"
			  "/home/alice/.local user 3.12 torch=3.0\n"
			  "/home/alice/.pyenv/versions/3.10.13 pyenv 3.10 numpy=1.26.4\n"
			  "/home/alice/.venv venv 3.12 torch=1.0\n"
			  "/home/alice/.virtualenvs/two venv 3.12 torch=1.0\n"
			  "/home/alice/ComfyUI/venv venv 3.12 torch=1.0\n"
			  "/home/alice/miniforge3/envs/b conda 3.11 torch=2.0\n"
			  "/home/alice/venv venv 3.12 torch=1.0\n"
			  "/home/alice/venvs/one venv 3.12 torch=1.0\n"
			  "/home/alice/webui/.venv venv 3.12 torch=1.0\n"
			  "/opt/conda conda 3.11 torch=2.0\n"
			  "/opt/conda/envs/a conda 3.11 torch=2.0\n"
			  "/opt/venv venv 3.12 torch=1.0\n");
}

static void one_home_needs_no_name(void **state)
{
	struct fixture *f = *state;
	venv(f, VENV, "torch-1.0");
	assert_pythons(f, "/home/alice/venv venv 3.12 torch=1.0\n");
	assert_ok(fs_mkdirs(at(f, "home/bob")));
	assert_pythons(f, "");
	put(f, "proc/self/status", "Uid:\t7\t7\t7\t7\nGid:\t7\t7\t7\t7\n");
	put(f, "etc/passwd", "bob:x:8:8::/home/bob:\nalice:x:7:7:A:/home/alice:/bin/sh\n");
	assert_pythons(f, "/home/alice/venv venv 3.12 torch=1.0\n");
}

static void what_is_reached_twice_is_listed_once(void **state)
{
	struct fixture *f = *state;
	venv(f, "data/env", "torch-1.0");
	link_to(f, VENV, "/data/env");
	link_to(f, "opt/venv", "../home/alice/venv");
	link_to(f, "data/env/lib64", "lib");
	link_to(f, "home/alice/loop", "loop");
	variables(f, S("PATH=/x/bin:/home/alice/venv/bin:/usr/bin\0"));
	assert_pythons(f, "*/data/env venv 3.12 torch=1.0\n");
}

static void the_first_python3_of_path_is_active(void **state)
{
	struct fixture *f = *state;
	venv(f, VENV, "torch-1.0");
	dist(f, "usr/lib/python3/dist-packages", "numpy-1.24.2", "");
	put(f, "usr/bin/python3.11", "");
	link_to(f, "usr/bin/python3", "python3.11");
	link_to(f, "bin", "usr/bin");
	dist(f, "home/alice/.local/lib/python3.11/site-packages", "torch-3.0", "");
	variables(f, S("HOME=/home/alice\0PATH=:relative:/sbin:/bin:/home/alice/venv/bin\0"));
	assert_pythons(f,
		"*/home/alice/.local user 3.11 torch=3.0\n*/usr system 3.11 numpy=1.24.2\n"
		"/home/alice/venv venv 3.12 torch=1.0\n");
	/* a shim of pyenv */
	dist(f, "home/alice/.pyenv/versions/3.10.13/lib/python3.10/site-packages", "numpy-2.0", "");
	put(f, "home/alice/.pyenv/version", "3.10.13\n3.9.1\n");
	variables(f, S("HOME=/home/alice\0PATH=/home/alice/.pyenv/shims:/usr/bin\0"));
	assert_string_equal(look(f)->pythons.v[0].path.p, "/home/alice/.pyenv/versions/3.10.13");
	put(f, "home/alice/.pyenv/version", "../../../../etc\n");
	assert_str(look(f)->pythons.v[1].path, "/usr");
	assert_true(look(f)->pythons.v[1].active);
	/* one that images of Python have */
	put(f, "usr/local/bin/python3", "");
	dist(f, "usr/local/lib/python3.13/site-packages", "torch-4.0", "");
	variables(f, S("PATH=/usr/local/bin:/usr/bin\0"));
	assert_str(look(f)->pythons.v[0].path, "/usr/local");
	assert_true(look(f)->pythons.v[0].active);
	assert_str(look(f)->pythons.v[0].version, "3.13");
}

static void links_of_python3_are_followed(void **state)
{
	struct fixture *f = *state;
	put(f, "usr/bin/python3.9", "");
	link_to(f, "etc/alternatives/python3", "/usr/bin/python3.9");
	link_to(f, "usr/bin/python3", "/etc/alternatives/python3");
	dist(f, "usr/lib/python3.9/site-packages", "numpy-1.0", "");
	assert_pythons(f, "*/usr system 3.9 numpy=1.0\n");
	/* as uv installs one; a venv's own python3 is a link, too, but it is the venv */
	put(f, "data/python/cp312/bin/python3.12", "");
	dist(f, "data/python/cp312/lib/python3.12/site-packages", "numpy-2.0", "");
	link_to(f, "home/alice/.local/bin/python3", "/data/python/cp312/bin/python3.12");
	variables(f, S("PATH=/home/alice/.local/bin:/usr/bin\0"));
	assert_pythons(f, "*/data/python/cp312 system 3.12 numpy=2.0\n"
			  "/usr system 3.9 numpy=1.0\n");
	venv(f, VENV, "torch-1.0");
	link_to(f, VENV "/bin/python3", "/usr/bin/python3");
	variables(f, S("PATH=/home/alice/venv/bin:/usr/bin\0"));
	assert_str(look(f)->pythons.v[0].path, "/home/alice/venv");
	assert_true(look(f)->pythons.v[0].active);
	/* a sysroot without links */
	assert_ok(fs_remove(at(f, "usr/bin/python3")));
	put(f, "usr/bin/python3", "");
	variables(f, S("PATH=/usr/bin\0"));
	assert_pythons(f, "*/usr system 3.9 numpy=1.0\n/home/alice/venv venv 3.12 torch=1.0\n");
}

static void a_system_has_several_folders_and_versions(void **state)
{
	struct fixture *f = *state;
	link_to(f, "usr/bin/python3", "python3.13");
	dist(f, "usr/lib/python3/dist-packages", "torch-2.6.0", "");
	dist(f, "usr/local/lib/python3.13/dist-packages", "torch-2.9.1", "");
	dist(f, "usr/lib64/python3.13/site-packages", "numpy-2.1", "");
	dist(f, "usr/local/lib/python3.12/dist-packages", "triton-3.0", "");
	assert_ok(fs_mkdirs(at(f, "usr/lib/python3.11/dist-packages")));
	/* the first folder hides the second's; Debian's own is of one version */
	assert_pythons(f, "*/usr system 3.13 numpy=2.1 torch=2.9.1\n/usr system 3.12 triton=3.0\n");
}

static void an_environment_may_see_the_systems_packages(void **state)
{
	struct fixture *f = *state;
	link_to(f, "usr/bin/python3", "python3.12");
	dist(f, "usr/lib/python3/dist-packages", "torch-2.6.0", "");
	dist(f, "usr/lib/python3/dist-packages", "numpy-1.0", "");
	venv(f, "opt/venv", "numpy-2.0");
	variables(f, S("PATH=/opt/venv/bin:/usr/bin\0"));
	assert_str(look(f)->pythons.v[0].path, "/opt/venv");
	assert_int_equal(look(f)->pythons.v[0].packages.n, 1);
	put(f, "opt/venv/pyvenv.cfg",
		"include-system-site-packages = true\nversion_info = 3.12.3.final.0\n");
	put(f, "usr/lib/python3/dist-packages/torch/version.py", "__version__ = '2.6.0+debian'\n");
	assert_pythons(f, "*/opt/venv venv 3.12 numpy=2.0 torch=2.6.0\n"
			  "/usr system 3.12 numpy=1.0 torch=2.6.0\n");
	assert_str(torch_of(f)->version, "2.6.0+debian");
	assert_str(torch_of(f)->path, "/usr/lib/python3/dist-packages/torch");
}

static void packages_are_known_by_their_folders(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = {"Torch-2.9.1+rocm6.4", "torch-2.6.0",
		"pytorch_triton_rocm-3.5.1", "flash_attn-2.8", "Bitsandbytes-0.50.2",
		"nvidia_cublas_cu12-12.8.4.1", "rocm_sdk_device_gfx1151-7.13",
		"jax_rocm7_pjrt-0.12.0", "requests-2.0", "torchx-1.0", "my_torch-1.0", "numpy",
		"numpy-", "x\033[31m-1.0"};
	venv(f, VENV, "xformers-0.0.30");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		dist(f, SITE, names[i], "");
	put(f, SITE "/vllm-0.9.0-py3.12.egg-info/PKG-INFO", "Name: vllm\n");
	put(f, SITE "/apex-0.1.egg-info", "Name: apex\n");
	dist(f, SITE, "triton-1\033]0;x\007", "");
	assert_pythons(f,
		"/home/alice/venv venv 3.12 apex=0.1 bitsandbytes=0.50.2 flash-attn=2.8 "
		"jax-rocm7-pjrt=0.12.0 nvidia-cublas-cu12=12.8.4.1 pytorch-triton-rocm=3.5.1 "
		"rocm-sdk-device-gfx1151=7.13 torch=2.6.0 torch=2.9.1+rocm6.4 triton=1]0;x "
		"vllm=0.9.0 xformers=0.0.30\n");
}

/* Each is the only line of torchvision's METADATA, beside torch 2.9.1+rocm6.4 and numpy 2.3.4. */
static void requirements_that_are_not_met_are_told(void **state)
{
	struct fixture *f = *state;
	static const char *const lines[][2] = {
		{"torch==2.9.1", ""}, {"torch==2.8.0", "torch==2.8.0, but 2.9.1+rocm6.4 is here"},
		{"Torch (>=2.10)", "Torch>=2.10, but 2.9.1+rocm6.4 is here"},
		{"torch==2.9.1+rocm6.4", ""},
		{"torch==2.9.1+rocm6.3", "torch==2.9.1+rocm6.3, but 2.9.1+rocm6.4 is here"},
		{"torch<2.9.1", "torch<2.9.1, but 2.9.1+rocm6.4 is here"},
		{"triton==3.5.1", "triton==3.5.1, but it is not here"},
		{"triton==3.5.1; platform_system == \"Linux\" and platform_machine == \"x86_64\"",
			"triton==3.5.1, but it is not here"},
		{"triton; sys_platform == 'win32'", ""},
		{"triton; sys_platform == 'win32' or python_version >= '3.9'",
			"triton, but it is not here"},
		{"triton; python_version < '3.9'", ""},
		{"triton; python_version not in '3.11, 3.10'", "triton, but it is not here"},
		{"triton; platform_machine == 'aarch64'", ""}, {"triton; extra == 'all'", ""},
		{"triton; python_full_version >= '3.9.1'", ""}, /* not known */
		{"triton; (os_name == 'posix' and 'linux' in sys_platform)",
			"triton, but it is not here"},
		{"torch @ https://example.org/torch.whl", ""},
		{"torch ==", ""}, /* no requirement: says nothing */
		{"requests==99", ""}, {"torch==1.0\n ; extra == 'x'", ""}, /* goes on */
		{"numpy>=2.3,<3", ""},
		{"numpy>=2.3\nRequires-Dist: numpy<2", "numpy<2, but 2.3.4 is here"},
		{"numpy\n\nRequires-Dist: torch==1.0", ""}, /* behind the header */
	};
	venv(f, VENV, "torch-2.9.1+rocm6.4");
	dist(f, SITE, "numpy-2.3.4", "");
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		dist(f, SITE, "torchvision-0.24.1",
			str_fmt(&f->a, "Requires-Dist: %s", lines[i][0]).p);
		const struct machine *m = look(f);
		assert_list(&m->pythons.v[0].packages.v[2].unmet, lines[i][1]);
	}
}

/* Wheels of AMD's need any torch, and were made for one. */
static void numbers_tell_which_torch_a_wheel_is_for(void **state)
{
	struct fixture *f = *state;
	static const char *const lines[][3] = {
		{"torchaudio-2.8.0a0+rocm7.0.0", "torch",
			"torch==2.8.*, but 2.7.1+rocm7.9 is here"},
		{"torchaudio-2.7.1a0+rocm7.9.0", "torch", ""},
		{"torchaudio-2.11.0+rocm7.14.0", "torch", ""}, /* goes with any */
		{"torchaudio-2.8.0+gitabc", "torch", ""},      /* made for the one there */
		{"torchaudio-2.8.0+rocm7.0", "torch>=2.7", ""},
		{"torchaudio-2+rocm7.0", "torch", ""},
		{"torchvision-0.23.0+rocm7.0", "torch", "torch==2.8.*, but 2.7.1+rocm7.9 is here"},
		{"torchvision-0.22.1+rocm7.9", "torch", ""},
		{"torchvision-0.14.1+rocm5.2", "torch", ""},
		{"torchvision-0.99999999999999999999.1+rocm5.2", "torch", ""},
		{"vllm-0.23.0+rocm7.0", "torch", ""},
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		assert_ok(fs_remove_tree(at(f, VENV)));
		venv(f, VENV, "torch-2.7.1+rocm7.9");
		dist(f, SITE, lines[i][0], str_fmt(&f->a, "Requires-Dist: %s", lines[i][1]).p);
		assert_list(&look(f)->pythons.v[0].packages.v[1].unmet, lines[i][2]);
	}
	assert_ok(fs_remove_tree(at(f, VENV)));
	venv(f, VENV, "torch-2.7.0a0+gitabc"); /* between releases */
	dist(f, SITE, "torchaudio-2.8.0a0+rocm7.0.0", "Requires-Dist: torch");
	assert_int_equal(look(f)->pythons.v[0].packages.v[1].unmet.n, 0);
}

static void one_of_two_versions_may_meet_it(void **state)
{
	struct fixture *f = *state;
	venv(f, VENV, "torch-2.9.1");
	dist(f, SITE, "torch-2.6.0", "");
	dist(f, SITE, "torchvision-0.21.0", "Requires-Dist: torch==2.6.0");
	assert_int_equal(look(f)->pythons.v[0].packages.v[2].unmet.n, 0);
}

static void hostile_packages_do_not_stop_it(void **state)
{
	struct fixture *f = *state;
	BUF(many, &f->a);
	venv(f, VENV, "torch-2.9.1");
	assert_ok(fs_mkdirs(at(f, SITE "/torchaudio-1.dist-info")));
	assert_int_equal(
		mkfifo(str_z(&f->a, at(f, SITE "/torchaudio-1.dist-info/METADATA")), 0644), 0);
	link_to(f, SITE "/vllm-1.dist-info/METADATA", "METADATA");
	link_to(f, SITE "/xformers-1.dist-info", "/proc/../..//home/alice/venv");
	/* 1 GB, of which little is on disk; what matters stands in front */
	dist(f, SITE, "torchvision-1", "Requires-Dist: torch==1.0");
	assert_int_equal(
		truncate(str_z(&f->a, at(f, SITE "/torchvision-1.dist-info/METADATA")), 1 << 30),
		0);
	/* cut in the middle of a line, which says something else then */
	while (many.n < 128 << 10)
		buf_add(&many, S("Requires-Dist: torch>=2.9\n"));
	buf_fmt(&many, "Requires-Dist: torch>=2.999\n");
	dist(f, SITE, "jax-1", buf_str(&many).p);
	const struct machine *m = look(f);
	assert_str(pythons(&f->a, m), "/home/alice/venv venv 3.12 jax=1 torch=2.9.1 torchaudio=1 "
				      "torchvision=1 vllm=1 xformers=1\n");
	assert_list(&m->pythons.v[0].packages.v[3].unmet, "torch==1.0, but 2.9.1 is here");
	assert_int_equal(m->pythons.v[0].packages.v[0].unmet.n, 0);
	/* a search path has an end */
	BUF(path, &f->a);
	buf_add(&path, S("PATH="));
	for (unsigned i = 0; i < 100; i++)
		buf_add(&path, S("/nowhere:"));
	buf_fmt(&path, "/home/alice/venv/bin%c", 0);
	variables(f, buf_str(&path));
	assert_false(look(f)->pythons.v[0].active);
	variables(f, str_fmt(&f->a, "PATH=%.*s", STR(str_sub(buf_str(&path), 14, path.n))));
	assert_true(look(f)->pythons.v[0].active);
	for (unsigned i = 0; i < 80; i++)
		venv(f, str_fmt(&f->a, "home/alice/venvs/%u", i).p, "torch-1.0");
	assert_int_equal(look(f)->pythons.n, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
		T(environments_lie_where_tools_put_them),
		T(one_home_needs_no_name),
		T(what_is_reached_twice_is_listed_once),
		T(the_first_python3_of_path_is_active),
		T(links_of_python3_are_followed),
		T(a_system_has_several_folders_and_versions),
		T(an_environment_may_see_the_systems_packages),
		T(packages_are_known_by_their_folders),
		T(requirements_that_are_not_met_are_told),
		T(numbers_tell_which_torch_a_wheel_is_for),
		T(one_of_two_versions_may_meet_it),
		T(hostile_packages_do_not_stop_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
