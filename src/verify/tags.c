/* Compares the tags of the file name with the needs of the machine code in the wheel: processor, glibc, C++ library,
 * libraries outside PEP 600, and the Python of its extension modules. */
#include <limits.h>

#include "know/know.h"
#include "verify/exam.h"

/* Adds a finding about the platform tag, with the command that puts the right one into the name. */
PRINTF(5, 6)
static void say_tag(struct exam *x, const struct wheel_platform *p, enum verify_id id,
	struct str member, const char *fmt, ...)
{
	FORMAT(text, x->a, fmt);
	struct finding *f = exam_say(x, id, member, "%.*s", STR(text));
	finding_fix(x->a, f, "rocsmith wheel retag --platform-tag %.*s %.*s", STR(p->tag),
		STR(str_shell(x->a, x->path)));
	/* it writes WHEEL as well; a WHEEL with the tags of the name would be as wrong as the name */
	VEC_EACH (struct finding, it, &x->verdict->findings)
		if (f->severity == SEV_ERROR && str_eq(str_from(it->id), S("wheel-tags")))
			it->fix = f->fix;
}

static void check_platform(struct exam *x, struct str tag, const struct wheel_platform *p)
{
	struct str arch;
	if (str_eq(tag, S("any"))) {
		if (x->elfs.n)
			say_tag(x, p, V_TAG_ANY, x->elfs.v[0].name,
				"machine code, but the platform tag is 'any'");
		return;
	}
	unsigned promised =
		wheel_tag_glibc(tag, &arch); /* the minor version; UINT_MAX = none in particular */
	bool musl = !promised && wheel_tag_musl(tag, &arch);
	if (!promised && !musl) {
		exam_say(x, V_TAG_PLATFORM, S(""), "the platform tag '%.*s' is not checked",
			STR(tag));
		return;
	}
	VEC_EACH (const struct wheel_elf, e, &x->elfs) {
		struct str machine = wheel_machine_name(e->machine);
		if (!machine.n || !str_eq(machine, arch))
			exam_say(x, V_TAG_MACHINE, e->name,
				"it is for %.*s (ELF machine %u), the tag says %.*s",
				STR(machine.n ? machine : S("another processor")), e->machine,
				STR(arch));
	}
	if (!x->elfs.n)
		exam_say(x, V_TAG_NO_ELF, S(""),
			"tagged '%.*s', but there is no machine code for the host", STR(tag));
	if (musl && p->not_musl.n)
		say_tag(x, p, V_TAG_MUSL, S(""), "tagged musllinux, but it needs '%.*s'",
			STR(p->not_musl));
	if (musl)
		return;
	if (promised == UINT_MAX) { /* no installer asks: say at least what is wrong here */
		struct wheel_lacks lacks = {0};
		wheel_lacks_here(x->a, &x->elfs, &lacks);
		VEC_EACH (const struct wheel_lack, l, &lacks)
			exam_say(x, V_TAG_HERE, l->name,
				"it needs %.*s, which this machine's '%.*s' lacks, and the tag "
				"'%.*s' "
				"keeps nobody from installing it",
				STR(l->version), STR(l->library), STR(tag));
		return;
	}
	if (p->glibc_minor > promised)
		say_tag(x, p, V_TAG_GLIBC, p->glibc_by,
			"it needs glibc %.*s, the tag promises to run with 2.%u", STR(p->glibc),
			promised);
	else if (p->minor_by.n && p->minor > promised)
		say_tag(x, p, V_TAG_SYMBOLS, S(""),
			"%.*s came with distributions of glibc 2.%u, the tag says 2.%u",
			STR(p->minor_by), p->minor, promised);
	if (p->beyond.n)
		say_tag(x, p, V_TAG_SYMBOLS, S(""), "%.*s is in no manylinux policy",
			STR(p->beyond));
	bool known = true; /* all of them belong to ROCm, or to packages for it (data/rocm.yaml) */
	VEC_EACH (const struct str, lib, &p->outside)
		known = known && know_soname(*lib);
	struct str but =
		known ? str_fmt(x->a, " (with these allowed, it is manylinux_2_%u)", p->minor)
		      : S("");
	if (p->outside.n)
		say_tag(x, p, V_TAG_LIBRARY, S(""),
			"tagged manylinux, but PEP 600 does not know %.*s%.*s",
			STR(str_join(x->a, &p->outside, S(", "))), STR(but));
}

/* ---- Python ---- */

/* "_C.cpython-312-x86_64-linux-gnu.so" -> "cp312", "_C.abi3.so" -> "abi3", "" for plain names. */
static struct str suffix_of(struct arena *a, struct str file, struct str *ret_stem)
{
	struct str rest, middle, digits;
	*ret_stem = S("");
	if (!str_ends(file, S(".so")) || !str_cut(file, '.', ret_stem, &rest) || rest.n < 3)
		return S("");
	middle = str_sub(rest, 0, rest.n - 3);
	if (str_eq(middle, S("abi3")))
		return S("abi3");
	if (!str_starts(middle, S("cpython-")))
		return S("");
	(void)str_cut(str_sub(middle, 8, middle.n), '-', &digits, &rest);
	return str_fmt(a, "cp%.*s", STR(digits));
}

static bool tag_accepts(const struct exam *x, struct str suffix)
{
	struct str pythons = x->name.python, abis = x->name.abi, one;
	bool limited = str_eq(suffix, S("abi3")), pure_abi = false;
	while (str_next(&abis, '.', &one)) {
		/* abi3 modules load wherever the tag lets the wheel in */
		if (str_eq(one, suffix) || (limited && str_starts(one, S("cp"))))
			return true;
		pure_abi |= str_eq(one, S("none"));
	}
	if (limited)
		return pure_abi;
	while (pure_abi && str_next(&pythons, '.', &one))
		if (str_eq(one, suffix))
			return true;
	return false;
}

/* A module for another Python is fine if one of the same name for the right Python lies beside it. */
static void check_python(struct exam *x)
{
	MAP(right, x->a); /* folder and stem of the modules that are for this Python */
	struct str *names = arena_array(x->a, x->elfs.n + 1, sizeof(*names));
	for (size_t i = 0; i < x->elfs.n; i++) {
		struct str file = x->elfs.v[i].name, stem;
		struct str suffix = suffix_of(x->a, path_base(file), &stem);
		names[i] = str_sub(file, 0, file.n - path_base(file).n + stem.n);
		if (suffix.n && tag_accepts(x, suffix))
			map_put(&right, names[i], NULL);
	}
	VEC_EACH (const struct wheel_elf, e, &x->elfs) {
		struct str stem, suffix = suffix_of(x->a, path_base(e->name), &stem);
		if (!suffix.n || map_has(&right, names[e - x->elfs.v]))
			continue;
		exam_say(x, V_TAG_PYTHON, e->name,
			"it is a module for %.*s, the wheel is for %.*s-%.*s", STR(suffix),
			STR(x->name.python), STR(x->name.abi));
	}
}

struct err *verify_policy(struct arena *a, struct str word, unsigned *ret)
{
	struct str arch;
	struct str name = str_ends(word, S("_x86_64")) ? str_sub(word, 0, word.n - 7) : word;
	*ret = wheel_tag_glibc(str_fmt(a, "%.*s_", STR(name)), &arch);
	if (*ret && *ret != UINT_MAX && !arch.n)
		return NULL;
	return err_hint(err_new(E_USAGE, "'%.*s' is no manylinux policy", STR(word)),
		"a policy is called manylinux_2_28 or manylinux2014, for x86_64");
}

void check_tags(struct exam *x)
{
	struct wheel_platform p;
	struct wheel_elfs all = {0};
	if (x->pure && x->elfs.n)
		exam_say(x, V_WHEEL_PURELIB, x->elfs.v[0].name,
			"machine code, but WHEEL says Root-Is-Purelib: true");
	if (!x->named)
		return;
	check_python(x);
	VEC_EACH (const struct wheel_elf, it, &x->elfs)
		*VEC_PUSH(x->a, &all) = *it;
	/* the libraries of the other parts of its set come with it */
	for (size_t i = 0; all.n && i < x->nset; i++)
		VEC_EACH (const struct wheel_elf, it, &x->set[i].elfs)
			if (&x->set[i] != x && set_same(&x->set[i], x))
				*VEC_PUSH(x->a, &all) = (struct wheel_elf){.name = it->name,
					.machine = all.v[0].machine,
					.dyn.soname = it->dyn.soname};
	struct err *e = wheel_platform_of(x->a, &all, &p);
	if (e)
		exam_say(x, V_TAG_MACHINE, S(""), "%s", e->msg);
	x->verdict->platform = e ? S("") : p.tag;
	if (!e && x->o->policy && (p.minor > x->o->policy || p.beyond.n)) {
		struct finding *f = exam_say(x, V_TAG_POLICY, S(""),
			"needs %.*s, and manylinux_2_%u is asked for",
			STR(p.beyond.n ? p.beyond : p.minor_by), x->o->policy);
		finding_fix(x->a, f,
			"build it where the libraries are as old, as in the container "
			"quay.io/pypa/manylinux_2_%u_x86_64",
			x->o->policy);
	}
	struct str rest = x->name.platform, tag;
	while (!e && str_next(&rest, '.', &tag))
		check_platform(x, tag, &p);
	err_free(e);
}
