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

struct err *foreign_torch(struct foreign *f)
{
	struct strs words = {0};
	const struct node *answer;
	const struct version *parsed;
	bool fits = false;
	strs_add(f->a, &words, S("torch"));
	TRY(foreign_drive(f, "torch", &words, &answer));
	struct str cuda = node_text(answer, S("cuda"), S(""));
	struct str version = node_text(answer, S("version"), S(""));
	bool rocm = node_text(answer, S("hip"), S("")).n > 0;
	foreign_step(f, "torch")->done = rocm;
	if (rocm)
		return NULL;
	if (!f->plan->foreign->torch_as_rocm)
		return err_hint(
			err_hint(err_new(E_FOREIGN,
					 "the torch '%.*s' was built for %s%.*s, not for ROCm",
					 STR(version), cuda.n ? "CUDA " : "the CPU", STR(cuda)),
				"give the wheel of a torch for ROCm: --with torch-*.whl"),
			"to build for GPUs elsewhere without one: --torch-as-rocm");
	struct str hip = sdk_component_version(f->sdk, "hip"), cc = foreign_program(f, "cc");
	TRY(version_parse(f->a, version, &parsed));
	TRY(version_match(parsed, S(FIRST_AS_ROCM), &fits));
	if (!fits)
		return err_hint(err_new(E_FOREIGN, "the torch '%.*s' cannot count as one for ROCm",
					STR(version)),
			"--torch-as-rocm takes torch 2.11 and later");
	if (!hip.n)
		return err_hint(
			err_new(E_SDK, "the SDK '%.*s' does not say which version of HIP it has",
				STR(f->sdk->name)),
			"name another one with --sdk");
	if (!cc.n)
		return err_hint(err_new(E_TOOL_MISSING, "'cc' is not installed"),
			"the host side needs a C++ compiler: apt install g++");
	words.n = 0;
	strs_add(f->a, &words, S("rocm"));
	foreign_word(f, &words, "hip", hip);
	foreign_word(f, &words, "cc", cc);
	TRY_CTX(foreign_drive(f, "torch", &words, &answer),
		"cannot make the torch '%.*s' look like one for ROCm", STR(version));
	foreign_step(f, "torch")->done = true;
	return NULL;
}
