/* Looks into a torch: is it for ROCm, and does it need the SDK's C library? One that was built against a newer glibc than
 * this machine's can be neither linked with nor imported here. See plan_int.h. */
#include "base/fs.h"
#include "formats/zip.h"
#include "plan/plan_int.h"
#include "sdk/sysroot.h"

/* "2.38" -> 38 */
static uint64_t minor_of(struct str glibc)
{
	uint64_t v[2];
	str_numbers(glibc, v, 2);
	return v[0] == 2 ? v[1] : 0;
}

/* The newest glibc that the wheel's libc10.so requires. This library is small, and was built with libtorch_cpu.so. */
static struct err *newest_glibc(struct arena *a, const struct zip *z, uint64_t *ret)
{
	struct bytes src;
	struct elf elf;
	struct elf_dynamic dyn;
	CLEANUP(fd_closep) int fd = -1;
	const struct zip_member *m = zip_find(z, S("torch/lib/libc10.so"));
	if (!m || m->unsafe)
		return NULL;
	TRY(zip_src(z, m, &src, &fd));
	TRY(elf_open_head(a, &src, &elf));
	TRY(elf_needs(a, &elf, &dyn));
	VEC_EACH (const struct elf_need_version, v, &dyn.versions) {
		struct str of = str_sub(v->version, sizeof("GLIBC_") - 1, v->version.n);
		uint64_t minor = str_starts(v->version, S("GLIBC_")) ? minor_of(of) : 0;
		*ret = minor > *ret ? minor : *ret;
	}
	return NULL;
}

/* Fails with E_PLAN if the wheel's torch/version.py says that it was not built for ROCm. */
static struct err *check_rocm(struct arena *a, const struct zip *z, struct str wheel)
{
	struct str text, line, name, value, cuda = S("None"), hip = S("");
	const struct zip_member *m = zip_find(z, S("torch/version.py"));
	if (!m || m->unsafe)
		return NULL;
	TRY(zip_read(a, z, m, 1 << 20, &text));
	while (str_next(&text, '\n', &line)) {
		if (!str_cut(line, '=', &name, &value))
			continue;
		name = str_trim(str_sub(name, 0, str_chr(name, ':')));
		if (str_eq(name, S("cuda")))
			cuda = str_trim(value);
		else if (str_eq(name, S("hip")))
			hip = str_trim(value);
	}
	if (!str_eq(hip, S("None")))
		return NULL;
	bool cpu = str_eq(cuda, S("None"));
	return err_hint(
		err_hint(err_new(E_PLAN, "'%.*s' of --with is a torch for %s%.*s, not for ROCm",
				 STR(path_base(wheel)), cpu ? "the CPU" : "CUDA ",
				 STR(cpu ? S("") : cuda)),
			"give the wheel of a torch for ROCm: --with torch-*.whl"),
		"to build for GPUs elsewhere without one: --torch-as-rocm");
}

struct err *libc_choose(struct arena *a, struct plan *plan)
{
	uint64_t here = minor_of(plan->host.libc);
	VEC_EACH (const struct str, wheel, &plan->foreign->with) {
		struct zip z;
		struct findings findings = {0};
		uint64_t minor = 0;
		if (!str_starts(path_base(*wheel), S("torch-")))
			continue;
		struct err *e = zip_open(a, *wheel, &findings, &z);
		if (!e) {
			e = newest_glibc(a, &z, &minor);
			struct err *no =
				plan->foreign->torch_as_rocm ? NULL : check_rocm(a, &z, *wheel);
			zip_close(&z);
			e = err_join(no, e);
		}
		if (e && e->code == E_PLAN)
			return e;
		err_free(e); /* pip reports a damaged wheel when it installs it */
		if (!here || minor <= here)
			continue;
		plan->host_native = false;
		plan_explain(a, plan, "host libc", S("the SDK's"),
			"the torch of --with needs glibc 2.%u, and this machine has %.*s",
			(unsigned)minor, STR(plan->host.libc));
	}
	return NULL;
}

bool plan_needs_sysroot(const struct plan *p)
{
	return p->policy && p->host_native &&
	       (p->policy_sysroot.n || minor_of(p->host.libc) > p->policy);
}

struct err *libc_policy(struct arena *a, const struct plan_request *r, struct plan *plan)
{
	plan->policy = r->policy;
	if (r->policy_sysroot.n) {
		plan->policy_sysroot = path_abs(a, r->policy_sysroot);
		TRY(sysroot_check(a, plan->policy_sysroot));
		plan_explain(a, plan, "host", plan->policy_sysroot, "--policy-sysroot");
	} else if (plan_needs_sysroot(plan)) {
		plan_explain(a, plan, "host", str_fmt(a, "glibc 2.%u", plan->policy),
			"by zig %s of the Python index, since this machine has %.*s",
			sysroot_zig_table()->version, STR(plan->host.libc));
	}
	return NULL;
}
