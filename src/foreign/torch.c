/* Checks that an extension is built against a torch for ROCm, or (--torch-as-rocm) makes another torch look like one.
 *
 * An extension needs a torch's headers, its libraries to link with, and torch.version.hip, from which
 * torch.utils.cpp_extension decides what to build. A torch of the same release for CUDA or the CPU has the same
 * headers, except those under ATen/hip and c10/hip, which torch's own hipify generates from the headers for CUDA. So
 * extensions can be built where no torch for ROCm is available, but not imported there. */
#include "foreign/foreign_int.h"
#include "formats/node.h"
#include "lang/python/version.h"

/* Older releases need headers that only a torch for ROCm has (ATen/hip/impl, "masquerading as CUDA"). */
#define FIRST_AS_ROCM ">=2.11"

static void add_word(struct foreign *f, struct strs *words, const char *key, struct str value)
{
	strs_add(f->a, words, str_fmt(f->a, "%s=%.*s", key, STR(value)));
}

static struct err *make_torch_rocm(struct foreign *f, struct str torch)
{
	struct strs words = {0};
	const struct version *version;
	bool fits = false;
	const struct node *answer;
	struct str hip = sdk_component_version(f->sdk, "hip"), cc = foreign_program(f, "cc");
	TRY(version_parse(f->a, torch, &version));
	TRY(version_match(version, S(FIRST_AS_ROCM), &fits));
	if (!fits)
		return err_hint(
			err_new(E_FOREIGN, "torch %.*s cannot count as one for ROCm", STR(torch)),
			"--torch-as-rocm takes torch 2.11 and later");
	if (!hip.n)
		return err_new(E_SDK, "the version of HIP in the SDK '%.*s' is not known",
			STR(f->sdk->name));
	if (!cc.n)
		return err_hint(err_new(E_TOOL_MISSING, "'cc' is not installed"),
			"a C++ compiler is needed for the host side: apt install g++");
	strs_add(f->a, &words, S("rocm"));
	add_word(f, &words, "hip", hip);
	add_word(f, &words, "cc", cc);
	TRY_CTX(foreign_drive(f, "torch", &words, &answer),
		"cannot make this torch look like one for ROCm");
	return NULL;
}

struct err *foreign_torch(struct foreign *f)
{
	struct strs words = {0};
	const struct node *answer;
	strs_add(f->a, &words, S("torch"));
	TRY(foreign_drive(f, "torch", &words, &answer));
	struct str hip = node_text(answer, S("hip"), S(""));
	struct str cuda = node_text(answer, S("cuda"), S(""));
	struct str version = node_text(answer, S("version"), S(""));
	if (!hip.n && f->plan->foreign->torch_as_rocm)
		TRY(make_torch_rocm(f, version));
	else if (!hip.n)
		return err_hint(
			err_hint(err_new(E_FOREIGN, "torch %.*s was built for %s%.*s, not for ROCm",
					 STR(version), cuda.n ? "CUDA " : "the CPU", STR(cuda)),
				"give the wheel of a torch for ROCm: --with torch-*.whl"),
			"to build without one, for GPUs elsewhere: --torch-as-rocm");
	foreign_step(f, "torch")->done = true;
	return NULL;
}
