/* Scans of bytes, all of whose results are said (fixture_said.h), but for sizes that hang on a compressor. */
#pragma once

#include "devcode/devcode.h"
#include "unit/fixture_said.h"

static inline void said_object(const struct code_object *o)
{
	buf_fmt(said(), " %u:%.*s %s v%u %llu+%llu", o->bundle, STR(o->target),
		devcode_encoding_name(o->encoding), o->version, (unsigned long long)o->place.offset,
		(unsigned long long)o->size);
	if (o->inner)
		buf_fmt(said(), " inner");
	if (o->kernels >= 0)
		buf_fmt(said(), " %lld '%.*s'", (long long)o->kernels, STR(o->kernel));
	if (o->debug >= 0)
		buf_fmt(said(), " debug %lld", (long long)o->debug);
	if (o->alone >= 0)
		buf_fmt(said(), " alone %lld '%.*s'", (long long)o->alone, STR(o->alone_kernel));
	VEC_EACH (const struct code_kernel, k, &o->resources)
		buf_fmt(said(), " %.*s/%llu/%llu/%llu/%llu/%llu/%llu/%llu/%u/%llu", STR(k->name),
			(unsigned long long)k->vgprs, (unsigned long long)k->agprs,
			(unsigned long long)k->sgprs, (unsigned long long)k->vgpr_spills,
			(unsigned long long)k->sgpr_spills, (unsigned long long)k->lds,
			(unsigned long long)k->scratch, k->waves, (unsigned long long)k->wave);
	buf_char(said(), '\n');
}

static inline void said_devcode(struct str dir, const struct devcode *d)
{
	ARENA(a);
	VEC_EACH (const struct devcode_file, f, &d->files) {
		buf_fmt(said(), "%.*s %s %u, serves %.*s\n", STR(f->path), f->format, f->bundles,
			STR(str_join(&a, &f->served, S(" "))));
		for (size_t i = 0; i < f->objects.n && i < 64; i++)
			said_object(&f->objects.v[i]);
	}
	VEC_EACH (const struct devcode_set, s, &d->sets)
		VEC_EACH (const struct devcode_part, x, &s->parts)
			buf_fmt(said(), "set %s %.*s '%.*s' %llu%s%s%s\n", s->kind, STR(s->path),
				STR(x->target), (unsigned long long)x->files,
				x->entry ? " entry" : "", x->code ? " code" : "",
				x->tuned ? " tuned" : "");
	VEC_EACH (const struct devcode_sum, s, &d->sums)
		buf_fmt(said(), "sum %.*s %u versions %x %llu %lld %lld\n", STR(s->target),
			s->objects, s->versions, (unsigned long long)s->size, (long long)s->kernels,
			(long long)s->debug);
	said_findings(dir, &d->findings);
	buf_fmt(said(), "%u looked at, serves %.*s, some %.*s\n", d->looked_at,
		STR(str_join(&a, &d->served, S(" "))), STR(str_join(&a, &d->some, S(" "))));
}
