/* Chooses the SDK's C library for the host side if the torch needs it: a torch that was built against a newer glibc
 * than this machine's can be neither linked with nor imported here. See plan_int.h. */
#include "base/fs.h"
#include "formats/zip.h"
#include "plan/plan_int.h"

/* "GLIBC_2.38" -> 38 */
static uint64_t minor_of(struct str version)
{
	uint64_t n = 0;
	struct str prefix = S("GLIBC_2.");
	if (!str_starts(version, prefix) || !str_u64(str_sub(version, prefix.n, version.n), 10, &n))
		return 0;
	return n;
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
		uint64_t minor = minor_of(v->version);
		*ret = minor > *ret ? minor : *ret;
	}
	return NULL;
}

void libc_choose(struct arena *a, struct plan *plan)
{
	uint64_t here = minor_of(str_fmt(a, "GLIBC_%.*s", STR(plan->host.libc)));
	VEC_EACH (const struct str, wheel, &plan->foreign->with) {
		struct zip z;
		struct findings findings = {0};
		uint64_t minor = 0;
		if (!str_starts(path_base(*wheel), S("torch-")))
			continue;
		struct err *e = zip_open(a, *wheel, &findings, &z);
		if (!e) {
			e = newest_glibc(a, &z, &minor);
			zip_close(&z);
		}
		err_free(e); /* pip reports a damaged wheel when it installs it */
		if (!here || minor <= here)
			continue;
		plan->host_native = false;
		plan_explain(a, plan, "host libc", S("the SDK's"),
			"the torch of --with needs glibc 2.%u, and this machine has %.*s",
			(unsigned)minor, STR(plan->host.libc));
	}
}
