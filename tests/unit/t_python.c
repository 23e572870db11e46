/* Python environments of sysroots that each test makes: which are found, what is in them, what their torch loads. */
#include "formats/kpack.h"
#include "know/environment.h"
#include "machine/machine.h"
#include "machine/python.h"
#include "unit/fixture_elf.h"
#include "unit/kit.h"

#define VENV "home/alice/venv"
#define SITE VENV "/lib/python3.12/site-packages"
#define TORCH SITE "/torch"
#define TEXT "rocsmith-library 1\n"

static void link_to(struct fixture *f, const char *path, const char *target)
{
	assert_ok(fs_mkdirs(path_dir(at(f, path))));
	assert_ok(fs_symlink(str_from(target), at(f, path)));
}

static void variables(struct fixture *f, struct str text)
{
	assert_ok(fs_mkdirs(at(f, "proc/self")));
	assert_ok(fs_write(at(f, "proc/self/environ"), text, 0644));
}

/* NAME "torch-2.6.0": its dist-info with these lines of METADATA. */
static void dist(struct fixture *f, const char *site, const char *name, const char *lines)
{
	struct str text = str_fmt(&f->a, "Metadata-Version: 2.1\nName: x\n%s\n\ntext\n", lines);
	put(f, str_fmt(&f->a, "%s/%s.dist-info/METADATA", site, name).p, text.p);
}

static void venv(struct fixture *f, const char *dir, const char *package)
{
	put(f, str_fmt(&f->a, "%s/pyvenv.cfg", dir).p, "home = /usr/bin\nversion = 3.12.3\n");
	dist(f, str_fmt(&f->a, "%s/lib/python3.12/site-packages", dir).p, package, "");
}

static const struct machine *look(struct fixture *f)
{
	struct machine *m = NEW(&f->a, struct machine);
	put(f, "proc/sys/kernel/arch", "x86_64\n");
	assert_ok(machine_read_all(&f->a, f->dir, m));
	return m;
}

/* "/opt/venv venv 3.12 torch=2.9.1 numpy=1" a line, "*" for the active one; paths of packages are left out. */
static struct str pythons(struct arena *a, const struct machine *m)
{
	BUF(out, a);
	VEC_EACH (const struct machine_python, p, &m->pythons) {
		buf_fmt(&out, "%s%.*s %.*s %.*s", p->active ? "*" : "", STR(p->path), STR(p->kind),
			STR(p->version));
		VEC_EACH (const struct machine_package, x, &p->packages)
			buf_fmt(&out, " %.*s=%.*s", STR(x->name), STR(x->version));
		buf_char(&out, '\n');
	}
	return buf_str(&out);
}

#define assert_pythons(f, want) assert_str(pythons(&(f)->a, look(f)), want)

static const struct machine_torch *torch_of(struct fixture *f)
{
	const struct machine *m = look(f);
	assert_true(m->pythons.n > 0 && m->pythons.v[0].has_torch);
	return &m->pythons.v[0].torch;
}

#define assert_list(list, want) assert_str(str_join(&f->a, (list), S(" ")), want)

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

/* ---- torch ---- */

static void a_version_is_read_as_text(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *text, *version, *hip, *rocm, *build;
	} v[] = {
		{"__version__ = '2.9.1+rocm6.4'\nhip: Optional[str] = '6.4.43484-123eb5128'\n"
		 "cuda: Optional[str] = None\n",
			"2.9.1+rocm6.4", "6.4.43484-123eb5128", "6.4", "rocm"},
		{"__version__ = \"2.0.1\"\nhip = None\ncuda = '11.8'\n", "2.0.1", "", "", "cuda"},
		{"__version__ = '2.9.0+xpu'\nxpu: Optional[str] = '20250101'\n", "2.9.0+xpu", "",
			"", "xpu"},
		{"__version__ = '2.9.0+cpu'\n", "2.9.0+cpu", "", "", "cpu"},
		{"__version__ = '2.12.0+rocm7.10.0a20251006'\n", "2.12.0+rocm7.10.0a20251006", "",
			"7.10", "rocm"},
		{"__version__ = __import__('os').system('x')\nhip = 'x' * 3\n", "2.9.1", "", "",
			""},
		{"__version__ = '", "2.9.1", "", "", ""},
		{"\xff\xfe", "2.9.1", "", "", ""},
	};
	venv(f, VENV, "torch-2.9.1");
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		put(f, TORCH "/version.py", v[i].text);
		const struct machine_torch *t = torch_of(f);
		assert_str(t->version, v[i].version);
		assert_str(t->hip, v[i].hip);
		assert_str(t->rocm, v[i].rocm);
		assert_str(t->build, v[i].build);
		assert_str(t->path, "/" TORCH);
	}
	assert_ok(fs_remove_tree(at(f, TORCH)));
	assert_str(torch_of(f)->version, "2.9.1");
	assert_str(torch_of(f)->path, "");
	/* built in place: no dist-info */
	put(f, "opt/venv/pyvenv.cfg", "");
	put(f, "opt/venv/lib/python3.9/site-packages/torch/version.py", "__version__ = '3'\n");
	assert_pythons(f, "/home/alice/venv venv 3.12 torch=2.9.1\n/opt/venv venv 3.9\n");
	assert_str(look(f)->pythons.v[1].torch.version, "3");
}

static void libraries_tell_the_build(void **state)
{
	struct fixture *f = *state;
	static const char *const kinds[][2] = {{"libtorch.so", "cpu"}, {"libtorch_xpu.so", "xpu"},
		{"libtorch_cuda.so", "cuda"}, {"libtorch_hip.so", "rocm"}};
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/version.py", "hip = '6.4.1'\n");
	assert_str(torch_of(f)->build, "rocm");
	for (size_t i = 0; i < 4; i++) {
		put(f, str_fmt(&f->a, TORCH "/lib/%s", kinds[i][0]).p, "");
		assert_str(torch_of(f)->build, kinds[i][1]);
	}
	assert_false(torch_of(f)->bundled);
	put(f, TORCH "/lib/libamdhip64.so.6", "");
	assert_true(torch_of(f)->bundled);
}

static void a_text_stands_for_a_library(void **state)
{
	struct fixture *f = *state;
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/lib/libtorch_hip.so",
		TEXT
		"needed libamdhip64.so.7\nneeded libc.so.6\nneeded libamd.so.3\nrpath $ORIGIN\n"
		"unknown 7\ntargets gfx1100 gfx90a:xnack- gfx1100\nneeded \033[31m\nbundles 8\n");
	const struct machine_torch *t = torch_of(f);
	assert_list(&t->targets, "gfx90a:xnack- gfx1100");
	assert_list(&t->needed, "libamdhip64.so.7");
	assert_list(&t->missing, "libamdhip64.so.7");
	assert_str(t->runpath, "$ORIGIN");
	assert_str(t->rocm, "7");
	/* of two libraries what both have */
	put(f, TORCH "/lib/libtorch_hip_linalg.so", TEXT "targets gfx942 gfx1100\n");
	assert_list(&torch_of(f)->targets, "gfx1100");
	assert_false(torch_of(f)->split);
	put(f, TORCH "/lib/libtorch_hip_linalg.so", TEXT "archives 1\ntargets gfx942 gfx1100\n");
	assert_true(torch_of(f)->split);
	put(f, TORCH "/lib/libtorch_hip.so", "rocsmith-library 2\ntargets gfx900\n");
	assert_list(&torch_of(f)->targets, "gfx942 gfx1100");
	assert_int_equal(mkfifo(str_z(&f->a, at(f, TORCH "/lib/libtorch_hip2.so")), 0644), 0);
	assert_list(&torch_of(f)->targets, "gfx942 gfx1100");
}

static struct str bundle_of(struct arena *a, const char *const *ids, size_t n)
{
	struct fx_entry v[8] = {{"host-x86_64-unknown-linux-gnu-", {0}}};
	for (size_t i = 0; i < n; i++)
		v[i + 1] = (struct fx_entry){
			str_fmt(a, "hipv4-amdgcn-amd-amdhsa--%s", ids[i]).p, S("code")};
	return fx_bundle(a, v, n + 1, 4096);
}

static void put_library(struct fixture *f, const struct fx_host_section *v, size_t n)
{
	struct str bytes = host_elf(&f->a, (struct fx_host){.v = v, .n = n});
	assert_ok(fs_mkdirs(at(f, TORCH "/lib")));
	assert_ok(fs_write(at(f, TORCH "/lib/libtorch_hip.so"), bytes, 0644));
}

static void add_bundle(struct buf *fat, struct str bundle)
{
	fx_pad(fat, (fat->n + 4095) / 4096 * 4096);
	buf_add(fat, bundle);
}

static void most_bundles_of_a_library_decide(void **state)
{
	struct fixture *f = *state;
	static const char *const all[] = {"gfx90a:xnack-", "gfx1100"}, *const one[] = {"gfx942"};
	venv(f, VENV, "torch-2.9.1");
	BUF(fat, &f->a);
	add_bundle(&fat, bundle_of(&f->a, one, 1));
	for (unsigned i = 0; i < 3; i++)
		add_bundle(&fat, i == 1 ? fx_ccob(&f->a, bundle_of(&f->a, all, 2), 3, true)
					: bundle_of(&f->a, all, 2));
	struct fx_host_section section = {.name = ".hip_fatbin", .bytes = buf_str(&fat)};
	put_library(f, &section, 1);
	assert_list(&torch_of(f)->targets, "gfx90a:xnack- gfx1100");
	/* only the first five are looked at */
	fat.n = 0;
	for (unsigned i = 0; i < 30; i++)
		add_bundle(&fat, i < 5 ? bundle_of(&f->a, all, 1) : S("damage"));
	section.bytes = buf_str(&fat);
	put_library(f, &section, 1);
	assert_list(&torch_of(f)->targets, "gfx90a:xnack-");
	/* what is damaged ends it; what was read counts */
	section.bytes = str_sub(section.bytes, 0, 5000);
	put_library(f, &section, 1);
	assert_list(&torch_of(f)->targets, "gfx90a:xnack-");
	section.bytes = S("nothing of that kind");
	put_library(f, &section, 1);
	assert_list(&torch_of(f)->targets, "");
}

static void archives_beside_a_library_count(void **state)
{
	struct fixture *f = *state;
	/* MessagePack: {"kpack_search_paths": [".kpack/t_@GFXARCH@.kpack"], "kernel_name": "t"} */
	static const char mark[] = "\x82\xb2kpack_search_paths\x91\xb8.kpack/t_@GFXARCH@.kpack"
				   "\xabkernel_name\xa1t";
	struct fx_host_section section = {
		.name = ".rocm_kpack_ref", .bytes = {.p = mark, .n = sizeof(mark) - 1}};
	venv(f, VENV, "torch-2.9.1");
	put_library(f, &section, 1);
	assert_list(&torch_of(f)->targets, "");
	assert_true(torch_of(f)->split);
	put(f, TORCH "/lib/.kpack/t_gfx1151.kpack", "");
	put(f, TORCH "/lib/.kpack/t_gfx942.kpack", "");
	put(f, TORCH "/lib/.kpack/other_gfx900.kpack", "");
	assert_list(&torch_of(f)->targets, "gfx942 gfx1151");
}

static void put_archive(struct fixture *f, const char *target, size_t size)
{
	struct kpack_out k;
	struct str path =
		str_fmt(&f->a, "%.*s/t_%s.kpack", STR(at(f, TORCH "/lib/.kpack")), target);
	char *code = arena_array(&f->a, size, 1);
	memset(code, 'x', size);
	assert_ok(fs_mkdirs(path_dir(path)));
	assert_ok(kpack_out_open(&f->a, path, S("t"), str_from(target), &k));
	for (uint32_t i = 0; i < 2; i++) {
		assert_ok(kpack_out_begin(&k, S("lib/t.so"), i, size));
		assert_ok(kpack_out_add(&k, code, size));
		assert_ok(kpack_out_end(&k));
	}
	assert_ok(kpack_out_commit(&k));
	kpack_out_close(&k);
}

/* The runtime takes the archive for the mode of the GPU before the one for all modes (ROCm/TheRock#7620). */
static void an_archive_with_next_to_nothing_hides_another(void **state)
{
	struct fixture *f = *state;
	static const char mark[] = "\x82\xb2kpack_search_paths\x91\xb8.kpack/t_@GFXARCH@.kpack"
				   "\xabkernel_name\xa1t";
	struct fx_host_section section = {
		.name = ".rocm_kpack_ref", .bytes = {.p = mark, .n = sizeof(mark) - 1}};
	venv(f, VENV, "torch-2.12.0");
	put_library(f, &section, 1);
	put_archive(f, "gfx90a", 9000);
	put_archive(f, "gfx90a:xnack-", 100);
	put_archive(f, "gfx90a:xnack+", 8000);
	put_archive(f, "gfx942:xnack-", 10); /* alone */
	assert_list(&torch_of(f)->shadowed, "gfx90a:xnack-");
	assert_false(environment_has(torch_of(f), S("gfx90a")));
	assert_true(environment_has(torch_of(f), S("gfx942")));
	put_archive(f, "gfx90a:xnack-", 9000);
	assert_list(&torch_of(f)->shadowed, "");
	assert_true(environment_has(torch_of(f), S("gfx90a")));
	put_archive(f, "gfx90a:xnack+", 10); /* another mode than the usual one */
	assert_list(&torch_of(f)->shadowed, "gfx90a:xnack+");
	assert_true(environment_has(torch_of(f), S("gfx90a")));
	put(f, TORCH "/lib/.kpack/t_gfx90a.kpack", "none");
	assert_list(&torch_of(f)->shadowed, "");
	put(f, TORCH "/lib/libtorch_hip.so",
		TEXT "targets gfx90a\nempty gfx90a:xnack-\narchives 1\n");
	assert_list(&torch_of(f)->shadowed, "gfx90a:xnack-");
}

static void development_files_are_unpacked_or_not(void **state)
{
	struct fixture *f = *state;
	venv(f, VENV, "rocm_sdk_devel-7.14.0");
	assert_str(look(f)->pythons.v[0].rocm_devel, "");
	put(f, SITE "/rocm_sdk_devel/_devel.tar.xz", "");
	assert_str(look(f)->pythons.v[0].rocm_devel, "packed");
	put(f, SITE "/_rocm_sdk_devel_linux_x86_64/__init__.py", "");
	assert_str(look(f)->pythons.v[0].rocm_devel, "stale");
	assert_ok(fs_remove_tree(at(f, SITE "/rocm_sdk_devel/_devel.tar.xz")));
	assert_str(look(f)->pythons.v[0].rocm_devel, "expanded");
}

static void rocm_is_looked_for_as_the_loader_does(void **state)
{
	struct fixture *f = *state;
	static const char *const places[] = {SITE "/_rocm_sdk_core/lib", "r/path", "ld/path",
		TORCH "/run/path", TORCH "/lib", "usr/lib/x86_64-linux-gnu", "opt/rocm-7.1.0/lib"};
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/lib/libtorch_hip.so",
		TEXT
		"needed librocblas.so.5\nrpath /r/path\nrunpath $ORIGIN/../run/path:relative:\n");
	put(f, TORCH "/_rocm_init.py", "");
	put(f, "opt/rocm-7.1.0/.info/version", "7.1.0\n");
	variables(f, S("HOME=/home/alice\0LD_LIBRARY_PATH=/ld/path::/nowhere\0"));
	assert_list(&torch_of(f)->missing, "librocblas.so.5");
	/* from the last place to the first: each hides the one before */
	for (size_t i = sizeof(places) / sizeof(*places); i--;) {
		struct str gpu = str_fmt(&f->a, "gfx110%zu", i < 4 ? i : 3);
		put(f, str_fmt(&f->a, "%s/librocblas.so.5", places[i]).p, "");
		if (i < 4)
			put(f,
				str_fmt(&f->a, "%s/rocblas/library/TensileLibrary_lazy_%.*s.dat",
					places[i], STR(gpu))
					.p,
				"");
		assert_int_equal(torch_of(f)->missing.n, 0);
		assert_list(&torch_of(f)->rocblas, i < 4 ? gpu.p : "");
	}
	/* a torch that brings its ROCm does not load that of wheels */
	put(f, TORCH "/lib/libamdhip64.so", "");
	assert_list(&torch_of(f)->rocblas, "gfx1101");
	const struct machine *m = look(f);
	assert_int_equal(m->sdks.n, 2);
	assert_str(m->sdks.v[1].kind, "pip");
	assert_str(m->sdks.v[1].path, "/" SITE "/_rocm_sdk_core");
}

/* The runtime opens it by name; before ROCm 7.2, and where there is no WSL, it does not. */
static void wsl_needs_a_library_of_its_own(void **state)
{
	struct fixture *f = *state;
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/lib/libtorch_hip.so", TEXT "targets gfx1100\n");
	put(f, TORCH "/version.py", "hip = '7.2.53211'\n");
	assert_int_equal(torch_of(f)->missing.n, 0);
	put(f, "dev/dxg", "");
	assert_list(&torch_of(f)->missing, "librocdxg.so");
	put(f, "usr/lib/librocdxg.so.1", "");
	assert_int_equal(torch_of(f)->missing.n, 0);
	assert_ok(fs_remove(at(f, "usr/lib/librocdxg.so.1")));
	put(f, TORCH "/version.py", "hip = '7.1.9'\n");
	assert_int_equal(torch_of(f)->missing.n, 0);
	put(f, TORCH "/version.py", "hip = '10.0.1'\n");
	assert_list(&torch_of(f)->missing, "librocdxg.so");
}

static void side_files_are_found_in_all_layouts(void **state)
{
	struct fixture *f = *state;
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/lib/libtorch_hip.so", TEXT "needed librocblas.so.4\n");
	put(f, TORCH "/lib/libamdhip64.so", "");
	/* hand-written kernels, as before ROCm 5.2 */
	put(f, TORCH "/lib/rocblas/library/Kernels.so-000-gfx906-xnack-.hsaco", "");
	put(f, TORCH "/lib/rocblas/library/TensileLibrary_gfx90a.co", "");
	assert_list(&torch_of(f)->rocblas, "gfx906");
	put(f, TORCH "/lib/rocblas/library/gfx942/TensileLibrary_lazy_gfx942.dat", "");
	put(f, TORCH "/lib/rocblas/library/gfx950/TensileManifest.txt", "");
	assert_list(&torch_of(f)->rocblas, "gfx942");
	put(f, TORCH "/lib/rocblas/library/TensileLibrary_lazy_gfx1100.dat", "");
	put(f, TORCH "/lib/rocblas/library/TensileLibrary_lazy_gfx90a.dat", "");
	put(f, TORCH "/lib/rocblas/library/TensileLibrary_lazy_gfx9999.dat", "");
	assert_list(&torch_of(f)->rocblas, "gfx90a gfx942 gfx1100");
	/* names of MIOpen: GPU and number of CUs, glued together */
	put(f, TORCH "/share/miopen/db/gfx90a68.HIP.fdb.txt", "");
	put(f, TORCH "/share/miopen/db/gfx90a6e.kdb", "");
	put(f, TORCH "/share/miopen/db/gfx1030_36.db.txt", "");
	put(f, TORCH "/share/miopen/db/gfx942130.HIP.db", "");
	put(f, TORCH "/share/miopen/db/README", "");
	assert_list(&torch_of(f)->miopen, "gfx90a gfx942 gfx1030");
	/* Debian's folder, of a library that the loader finds */
	put(f, "usr/lib/x86_64-linux-gnu/libhipblaslt.so.1", "");
	put(f, "usr/lib/x86_64-linux-gnu/hipblaslt/7/library/TensileLibrary_lazy_gfx1200.dat", "");
	put(f, TORCH "/lib/libtorch_hip.so", TEXT "needed libhipblaslt.so.1\n");
	assert_list(&torch_of(f)->hipblaslt, "gfx1200");
	/* a variable wins */
	put(f, "srv/t/TensileLibrary_lazy_gfx1010.dat", "");
	variables(f, S("HOME=/home/alice\0ROCBLAS_TENSILE_LIBPATH=/srv/t/\0"
		       "HIPBLASLT_TENSILE_LIBPATH=/srv/none\0"));
	assert_list(&torch_of(f)->rocblas, "gfx1010");
	assert_list(&torch_of(f)->hipblaslt, "");
}

static void slimming_leaves_a_mark(void **state)
{
	struct fixture *f = *state;
	static const char *const places[] = {VENV, SITE, TORCH, SITE "/torch-2.9.1.dist-info"};
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/version.py", "");
	assert_false(torch_of(f)->slim);
	put(f, VENV "/rocsmith-slim.json", "{\"files\": [{\"path\": \"lib/else.so\"}]}");
	assert_false(torch_of(f)->slim);
	for (size_t i = 0; i < 4; i++) {
		struct str path = str_fmt(&f->a, "%s/rocsmith-slim.json", places[i]);
		put(f, path.p, "{\"files\": [{\"path\": \"x/torch/lib/libtorch_hip.so\"}]}");
		assert_true(torch_of(f)->slim);
		assert_ok(fs_remove(at(f, path.p)));
	}
}

/* ---- recordings ---- */

static struct str facts(struct arena *a, struct str root)
{
	struct machine m;
	assert_ok(machine_read_all(a, root, &m));
	return json_document(a, 2, machine_fields, &m);
}

static struct err *no_alice(void *user, const struct fs_entry *e, bool *prune)
{
	(void)prune;
	ARENA(a);
	struct str *dir = user, text = S("");
	if (S_ISREG(e->st.st_mode))
		TRY(fs_read(&a, path_join(&a, *dir, e->path), 1 << 20, &text));
	if (S_ISLNK(e->st.st_mode))
		TRY(fs_readlink(&a, path_join(&a, *dir, e->path), &text));
	text = str_fmt(&a, "%.*s %.*s", STR(e->path), STR(text));
	if (str_contains(text, S("alice")) || str_contains(text, S("secret")))
		return err_new(E_INTERNAL, "'%.*s'", STR(text));
	return NULL;
}

static void a_recording_tells_the_same_without_names(void **state)
{
	struct fixture *f = *state;
	unsigned files = 0, again = 0;
	struct str copy = path_join(&f->a, test_dir(&f->a), S("copy"));
	struct str twice = path_join(&f->a, path_dir(copy), S("twice"));
	static const char *const all[] = {"gfx90a", "gfx1100"};
	struct fx_host_section section = {.name = ".hip_fatbin", .bytes = bundle_of(&f->a, all, 2)};
	venv(f, VENV, "torch-2.9.1+rocm6.4");
	put(f, VENV "/pyvenv.cfg", "home = /home/alice/bin\nversion = 3.12.1\nprompt = secret\n");
	dist(f, SITE, "torchvision-0.1",
		"Author: alice\nRequires-Dist: secret==1\nRequires-Dist: torch==2.8\n"
		"Requires-Dist: torch @ https://alice:secret@example.org/torch.whl");
	put(f, TORCH "/version.py", "git_version = 'secret'\nhip = '6.4.1'\n");
	put_library(f, &section, 1);
	put(f, TORCH "/lib/librocblas.so", "secret");
	put(f, TORCH "/lib/libtorch_hip_x.so",
		TEXT "runpath /home/alice/build:$ORIGIN\ntargets gfx1100\nauthor alice\n");
	put(f, TORCH "/lib/rocblas/library/TensileLibrary_lazy_gfx1100.dat", "secret");
	put(f, TORCH "/lib/libamdhip64.so", "secret");
	put(f, VENV "/rocsmith-slim.json", "{\"secret\": \"torch/lib\"}");
	venv(f, "home/alice/secret/venv", "requests-1");
	venv(f, "srv/alice/env", "torch-1.0");
	link_to(f, "home/alice/.venv", "/srv/alice/env");
	assert_ok(fs_mkdirs(at(f, "opt/conda/conda-meta")));
	put(f, "opt/conda/conda-meta/secret.json", "secret");
	dist(f, "opt/conda/lib/python3.9/site-packages", "numpy-1.0", "");
	put(f, "etc/passwd", "alice:x:7:7::/home/alice:\n");
	put(f, "proc/self/status", "Uid:\t7\t7\t7\t7\nGid:\t7\t7\t7\t7\n");
	variables(f, S("HOME=/home/alice\0PATH=/home/alice/venv/bin:/usr/bin\0"));
	look(f);
	assert_ok(machine_record(f->dir, copy, &files));
	assert_ok(machine_record(copy, twice, &again));
	assert_int_equal(files, again);
	assert_ok(fs_walk(copy, no_alice, &copy));
	struct str want =
		str_replace(&f->a, facts(&f->a, f->dir), S("/home/alice"), S("/home/user"));
	want = str_replace(&f->a, want, S("/srv/alice"), S("/srv/user"));
	assert_str(facts(&f->a, copy), want.p);
	assert_str(facts(&f->a, twice), want.p);
	assert_true(str_contains(want, S("gfx1100")) && str_contains(want, S("/srv/user/env")));
	test_has(path_join(&f->a, copy,
			 S("home/user/venv/lib/python3.12/site-packages/torch/lib/"
			   "libtorch_hip.so")),
		TEXT "targets gfx90a gfx1100\nbundles 1\n");
	test_dir_remove(path_dir(copy));
}

/* "torch_scatter rocm libamdhip64.so.6, ..." */
static struct str extensions(struct fixture *f)
{
	BUF(b, &f->a);
	const struct machine *m = look(f);
	VEC_EACH (const struct machine_extension, x, &m->pythons.v[0].extensions)
		buf_fmt(&b, "%.*s %.*s %.*s, ", STR(x->name), STR(x->build),
			STR(str_join(&f->a, &x->missing, S(" "))));
	return buf_str(&b);
}

static void extensions_are_built_for_one_torch(void **state)
{
	struct fixture *f = *state;
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/version.py", "hip = '7.1.1'\n");
	put(f, TORCH "/lib/libtorch_hip.so", TEXT "needed libamdhip64.so\n");
	put(f, TORCH "/lib/libamdhip64.so", "");
	put(f, TORCH "/lib/librocblas.so", "");
	put(f, TORCH "/_C.so", TEXT "needed libtorch_cuda.so\n");
	put(f, "opt/rocm/lib/libamdhip64.so.6", "");
	put(f, SITE "/a/x.so",
		TEXT "needed libc10.so\nneeded libamdhip64.so.6\nneeded librocblas.so.4\n");
	put(f, SITE "/a/deep/x.so", TEXT "needed libtorch_cuda.so\n");
	put(f, SITE "/b/x.so", TEXT "needed libtorch.so\n");
	put(f, SITE "/b/y.so", TEXT "needed libc10_hip.so\nneeded libamdhip64.so.7\n");
	put(f, SITE "/c/x.so", TEXT "needed libamdhip64.so.6\n"); /* none of torch's */
	put(f, SITE "/d_cuda.cpython-312-x86_64-linux-gnu.so", TEXT "needed libtorch_cuda.so\n");
	put(f, SITE "/e/x.so", "no library");
	put(f, SITE "/torchaudio/lib/libtorchaudio.so",
		TEXT "needed libtorch_cpu.so\nneeded libhipfft.so.0\n");
#define LIKELY "d_cuda cuda , torchaudio cpu libhipfft.so.0, "
	assert_str(extensions(f), LIKELY); /* of one that is not in use */
	variables(f, S("HOME=/home/alice\0VIRTUAL_ENV=/home/alice/venv\0"));
	assert_str(extensions(f), LIKELY "a rocm libamdhip64.so.6, b rocm , ");
	assert_int_equal(look(f)->pythons.v[0].torch.missing.n, 0);
	put(f, TORCH "/lib/libtorch_hip.so", TEXT "needed libamdhip64.so.6\n");
	assert_str(extensions(f), LIKELY "a rocm , b rocm libamdhip64.so.7, ");
	for (unsigned i = 0; i < 200; i++)
		put(f, str_fmt(&f->a, SITE "/0/%u.so", i).p, TEXT "needed libtorch.so\n");
	assert_str(extensions(f), LIKELY "0 cpu , ");
}

static void rocm_wheels_are_there_when_torch_loads_them(void **state)
{
	struct fixture *f = *state;
	venv(f, VENV, "torch-2.9.1");
	put(f, TORCH "/version.py", "hip = '7.1.1'\n");
	put(f, TORCH "/lib/libtorch_hip.so", TEXT "needed libamdhip64.so.7\nrunpath $ORIGIN\n");
	put(f, TORCH "/lib/libtorch_cpu.so",
		TEXT "needed librocprofiler-sdk.so.1\nneeded libm.so.6\n");
	put(f, SITE "/_rocm_sdk_core/lib/libamdhip64.so.7", "");
	assert_list(&torch_of(f)->missing, "libamdhip64.so.7 librocprofiler-sdk.so.1");
	assert_true(torch_of(f)->unloaded);
	put(f, TORCH "/__init__.py", "import os\n");
	assert_true(torch_of(f)->unloaded);
	put(f, TORCH "/__init__.py", "import os\nimport rocm_sdk\n");
	assert_list(&torch_of(f)->missing, "librocprofiler-sdk.so.1");
	assert_false(torch_of(f)->unloaded);
	put(f, TORCH "/__init__.py", "");
	put(f, TORCH "/_rocm_init.py", "");
	assert_false(torch_of(f)->unloaded);
	assert_ok(fs_remove_tree(at(f, TORCH "/_rocm_init.py")));
	put(f, TORCH "/lib/libtorch_hip.so",
		TEXT "needed libamdhip64.so.7\nrunpath $ORIGIN/../../_rocm_sdk_core/lib\n");
	assert_list(&torch_of(f)->missing, "librocprofiler-sdk.so.1");
	assert_false(torch_of(f)->unloaded);
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
		T(a_version_is_read_as_text),
		T(libraries_tell_the_build),
		T(a_text_stands_for_a_library),
		T(extensions_are_built_for_one_torch),
		T(rocm_wheels_are_there_when_torch_loads_them),
		T(most_bundles_of_a_library_decide),
		T(archives_beside_a_library_count),
		T(an_archive_with_next_to_nothing_hides_another),
		T(development_files_are_unpacked_or_not),
		T(rocm_is_looked_for_as_the_loader_does),
		T(wsl_needs_a_library_of_its_own),
		T(side_files_are_found_in_all_layouts),
		T(slimming_leaves_a_mark),
		T(a_recording_tells_the_same_without_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
