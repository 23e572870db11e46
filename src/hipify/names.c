/* Look-ups in the tables of names. */
#include "hipify/names.h"

#include <string.h>

#include "hipify/names_hash.h"

enum { SLOTS = 1 << 15 };

static struct str pooled(uint32_t offset)
{
	return str_from(names_pool + offset);
}

static bool has_text(uint32_t offset, struct str s)
{
	const char *p = names_pool + offset;
	return !strncmp(p, s.p, s.n) && !p[s.n];
}

const struct hipify_rule *names_find(struct str name)
{
	if (name.n < 2 || name.n > 255 || memchr(name.p, '\0', name.n))
		return NULL;
	for (size_t i = names_hash(name.p, name.n) % SLOTS; names_slots[i]; i = (i + 1) % SLOTS) {
		const struct hipify_rule *r = &names_rows[names_slots[i] - 1];
		if (has_text(r->cuda, name))
			return r;
	}
	return NULL;
}

const struct arg_rule *names_arg(struct str name)
{
	if (!str_starts(name, S("cuda")) && !str_ends(name, S("_sync")))
		return NULL;
	for (const struct arg_rule *r = names_args; r->arg; r++)
		if (str_eq(r->name, name))
			return r;
	return NULL;
}

bool names_lacks(const struct hipify_rule *r)
{
	return has_text(r->kind, S("unsupported"));
}

bool names_is_header(const struct hipify_rule *r)
{
	return has_text(r->kind, S("header"));
}

/* How names of CUDA and its libraries start; an upper-case letter, '_' or digit must follow. */
static const char *const prefixes[] = {
	"__cuda",
	"__nv_",
	"__nvvm",
	"cu",
	"cublas",
	"cublasLt",
	"cublasXt",
	"cuda",
	"cudnn",
	"cufft",
	"cufftXt",
	"cupti",
	"curand",
	"curand_",
	"cusolver",
	"cusparse",
	"cutensor",
	"npp",
	"nvjpeg",
	"nvml",
	"nvrtc",
	"nvtx",
	"CUBLAS",
	"CUDART",
	"CUDA",
	"CUDNN",
	"CUFFT",
	"CUPTI",
	"CURAND",
	"CUSOLVER",
	"CUSPARSE",
	"CUTENSOR",
	"CU",
	"NVML",
	"NVRTC",
	"NVTX",
	"__CUDA",
	"__CUDACC",
};

static bool starts_word(struct str name, struct str prefix)
{
	if (!str_starts(name, prefix) || name.n <= prefix.n)
		return false;
	char next = name.p[prefix.n];
	bool upper_prefix = prefix.p[prefix.n - 1] >= 'A' && prefix.p[prefix.n - 1] <= 'Z';
	if (upper_prefix)
		return next == '_' && name.n > prefix.n + 1;
	if (prefix.p[prefix.n - 1] == '_')
		return true;
	return next >= 'A' && next <= 'Z';
}

bool names_look_like_cuda(struct str name)
{
	if (name.n < 4 || !(name.p[0] == 'c' || name.p[0] == 'C' || name.p[0] == 'n' ||
				  name.p[0] == 'N' || name.p[0] == '_'))
		return false;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (starts_word(name, str_from(prefixes[i])))
			return true;
	return false;
}

struct str hipify_rule_cuda(const struct hipify_rule *r)
{
	return pooled(r->cuda);
}

struct str hipify_rule_hip(const struct hipify_rule *r)
{
	return pooled(r->hip);
}

struct str hipify_rule_kind(const struct hipify_rule *r)
{
	return pooled(r->kind);
}

struct str hipify_rule_header(const struct hipify_rule *r)
{
	return pooled(r->header);
}

struct str hipify_rule_since(const struct hipify_rule *r)
{
	return pooled(r->since);
}

struct str hipify_rule_source(const struct hipify_rule *r)
{
	return pooled(r->source);
}

struct str hipify_rule_table(const struct hipify_rule *r, unsigned *ret_line)
{
	*ret_line = r->line;
	return names_tables[r->table];
}

const struct hipify_rule *hipify_rule_at(size_t i)
{
	return i < names_count ? &names_rows[i] : NULL;
}
