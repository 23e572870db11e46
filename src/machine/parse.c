/* Parsers for texts of /proc and /etc; see parse.h. Those of KFD are in kfd.c. */
#include "machine/facts.h"

#include "formats/node.h"
#include "lang/python/dist_info.h"
#include "lang/python/requirement.h"
#include "lang/python/version.h"
#include "target/cut_list.h"

/* ---- texts that will be shown ---- */

static struct str clean(struct arena *a, struct str s)
{
	char *p = str_z(a, s);
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= ' ' && s.p[i] != 0x7f)
			p[n++] = s.p[i];
	p[n] = 0;
	return (struct str){.p = p, .n = n};
}

struct str clean_text(struct arena *a, struct str s)
{
	return clean(a, str_trim(str_sub(s, 0, 200)));
}

struct str clean_long(struct arena *a, struct str s)
{
	return clean(a, str_sub(s, 0, 8192));
}

struct str shown_path(struct arena *a, struct str path)
{
	return clean_long(a, str_fmt(a, "/%.*s", STR(path)));
}

/* ---- /proc and /etc ---- */

struct str line_value(struct str text, char sep, struct str key)
{
	struct str line, name, value;
	while (str_next(&text, '\n', &line))
		if (str_cut(str_trim(line), sep, &name, &value) && str_eq(str_trim(name), key))
			return str_trim(value);
	return S("");
}

uint64_t line_number(struct str text, char sep, struct str key)
{
	uint64_t value;
	str_numbers(line_value(text, sep, key), &value, 1);
	return value;
}

struct str parse_os_release(struct arena *a, struct str text, struct str key)
{
	struct str raw = line_value(text, '=', key);
	bool quoted =
		raw.n >= 2 && (raw.p[0] == '"' || raw.p[0] == '\'') && raw.p[raw.n - 1] == raw.p[0];
	if (quoted)
		raw = str_sub(raw, 1, raw.n - 1);
	char *p = str_z(a, raw);
	size_t n = 0;
	for (size_t i = 0; i < raw.n; i++) {
		if (raw.p[i] == '\\' && i + 1 < raw.n)
			i++;
		p[n++] = raw.p[i];
	}
	return (struct str){.p = p, .n = n};
}

/* Reads the second number of "Uid:\t0\t0\t0\t0" (real, effective, saved, file system). */
static bool effective_id(struct str status, struct str key, unsigned *ret)
{
	struct str rest = line_value(status, ':', key), word;
	uint64_t n;
	if (!str_next(&rest, '\t', &word) || !str_next(&rest, '\t', &word) ||
		!str_u64(str_trim(word), 10, &n) || n > UINT32_MAX)
		return false;
	*ret = (unsigned)n;
	return true;
}

bool parse_identity(struct arena *a, struct str status, struct machine *m)
{
	struct str rest = line_value(status, ':', S("Groups")), word;
	if (!effective_id(status, S("Uid"), &m->uid) || !effective_id(status, S("Gid"), &m->gid))
		return false;
	while (str_next(&rest, ' ', &word)) {
		uint64_t gid;
		if (str_u64(str_trim(word), 10, &gid) && gid <= UINT32_MAX)
			*VEC_PUSH(a, &m->gids) = (unsigned)gid;
	}
	return true;
}

struct str parse_passwd(struct str text, unsigned id, enum passwd_field field)
{
	enum { ID = 2 };
	struct str line, parts[PASSWD_HOME + 1];
	while (str_next(&text, '\n', &line)) {
		uint64_t n;
		for (size_t i = 0; i <= PASSWD_HOME; i++)
			str_cut(line, ':', &parts[i], &line);
		if (str_u64(parts[ID], 10, &n) && n == id)
			return parts[field];
	}
	return S("");
}

struct str parse_kernel_version(struct str text)
{
	struct str word = S("");
	for (unsigned i = 0; i < 3; i++)
		str_next(&text, ' ', &word);
	return word;
}

bool parse_hypervisor(struct str cpuinfo)
{
	struct str flags = line_value(cpuinfo, ':', S("flags")), flag;
	while (str_next(&flags, ' ', &flag))
		if (str_eq(flag, S("hypervisor")))
			return true;
	return false;
}

unsigned parse_cpu_list(struct str text)
{
	enum { CPUS_MAX = 1 << 20 };
	uint64_t cpus = 0, first, last;
	struct str piece, from, to;
	text = str_trim(text);
	while (str_next(&text, ',', &piece)) {
		bool range = str_cut(piece, '-', &from, &to);
		if (!str_u64(from, 10, &first) || !str_u64(range ? to : from, 10, &last))
			continue;
		if (first <= last && last < CPUS_MAX)
			cpus += last - first + 1;
	}
	return cpus < CPUS_MAX ? (unsigned)cpus : CPUS_MAX;
}

static struct str next_word(struct str *rest)
{
	*rest = str_trim(*rest);
	size_t n = str_until(*rest, " \t");
	struct str word = str_sub(*rest, 0, n);
	*rest = str_sub(*rest, n, rest->n);
	return word;
}

bool parse_modprobe(struct str text, struct str module)
{
	struct str line;
	while (str_next(&text, '\n', &line)) {
		struct str command = next_word(&line), name = next_word(&line);
		struct str program = next_word(&line); /* "install amdgpu /bin/false" */
		bool nothing = str_ends(program, S("/false")) || str_ends(program, S("/true"));
		if (str_eq(name, module) && (str_eq(command, S("blacklist")) ||
						    (str_eq(command, S("install")) && nothing)))
			return true;
	}
	return false;
}

void parse_options(struct arena *a, struct str text, struct strs *ret)
{
	static const char *const modules[] = {"amdgpu", "ttm", "amdttm", NULL};
	enum { MANY = 100 };
	struct str line;
	while (str_next(&text, '\n', &line)) {
		struct str command = next_word(&line), module = next_word(&line), word;
		if (!str_eq(command, S("options")) || !str_is_one_of(module, modules))
			continue;
		while (ret->n < MANY && (word = next_word(&line)).n)
			strs_put(a, ret, str_fmt(a, "%.*s.%.*s", STR(module), STR(word)));
	}
}

struct strs parse_cmdline(struct arena *a, struct str text)
{
	struct strs list = {0};
	for (struct str word; (word = next_word(&text)).n;)
		if (str_starts_one_of(word, machine_names_table()->kernel_words))
			strs_add(a, &list, word);
	return list;
}

bool cmdline_blocks(const struct strs *words, struct str module)
{
	for (size_t i = 0; i < words->n; i++) {
		struct str key, list, name;
		if (str_eq(words->v[i], S("nomodeset")))
			return true;
		str_cut(words->v[i], '=', &key, &list);
		while (str_ends(key, S("blacklist")) && str_next(&list, ',', &name))
			if (str_eq(name, module))
				return true;
	}
	return false;
}

const struct cgroup_mark *parse_cgroup(struct str text)
{
	TABLE_EACH (cgroup_mark, x)
		if (str_contains(text, str_from(x->mark)))
			return x;
	return NULL;
}

struct str parse_environ(struct str text, struct str name)
{
	struct str entry, key, value;
	while (str_next(&text, '\0', &entry))
		if (str_cut(entry, '=', &key, &value) && str_eq(key, name))
			return value;
	return (struct str){0};
}

struct str define_value(struct str text, struct str name)
{
	struct str line;
	while (str_next(&text, '\n', &line)) {
		line = str_trim(line);
		if (!str_starts(line, S("#")))
			continue;
		line = str_sub(line, 1, line.n);
		if (str_eq(next_word(&line), S("define")) && str_eq(next_word(&line), name))
			return str_trim(line);
	}
	return S("");
}

struct str parse_version_header(struct arena *a, struct str text, const char *prefix)
{
	static const char *const names[] = {"MAJOR", "MINOR", "PATCH"};
	uint64_t v[3];
	for (unsigned i = 0; i < 3; i++) {
		struct str value = define_value(text, str_fmt(a, "%s%s", prefix, names[i]));
		if (!str_u64(next_word(&value), 10, &v[i]))
			return S("");
	}
	return str_fmt(a, "%llu.%llu.%llu", (unsigned long long)v[0], (unsigned long long)v[1],
		(unsigned long long)v[2]);
}

struct str major_minor(struct arena *a, struct str version)
{
	uint64_t v[2];
	return str_numbers(version, v, 2) == 2
		       ? str_fmt(a, "%llu.%llu", (unsigned long long)v[0], (unsigned long long)v[1])
		       : S("");
}

bool is_version(struct str s)
{
	return s.n && ascii_digit(s.p[0]) && str_span(s, ASCII_DIGITS ".") == s.n;
}

uint32_t parse_override(struct arena *a, struct str version)
{
	struct strs parts = str_split(a, version, '.');
	uint64_t n[3];
	for (size_t i = 0; i < 3; i++)
		if (parts.n != 3 || !str_u64(parts.v[i], 10, &n[i]) || n[i] > 99)
			return 0;
	return (uint32_t)(n[0] * 10000 + n[1] * 100 + n[2]);
}

/* ---- ROCm and Python ---- */

bool package_matters(struct str name)
{
	const struct machine_names *known = machine_names_table();
	return str_is_one_of(name, known->packages) || str_starts_one_of(name, known->families);
}

struct strs parse_requirements(struct arena *a, struct str text)
{
	struct dist_headers headers;
	struct strs list = {0};
	struct requirement q;
	if (text.n >= METADATA_HEAD) /* the last line may be cut off */
		text = str_sub(text, 0, str_rchr(text, '\n'));
	err_free(dist_headers_parse(a, text, &headers));
	VEC_EACH (const struct dist_header, h, &headers) {
		/* a value that continues on the next line is skipped */
		if (!dist_header_is(h, "Requires-Dist") || str_chr(h->value, '\n') < h->value.n)
			continue;
		struct err *e = requirement_parse(h->value, &q);
		if (!e && package_matters(package_name(a, q.name, '-')))
			strs_add(a, &list, h->value);
		err_free(e);
	}
	return list;
}

struct strs parse_slim_gpus(struct arena *a, struct str text)
{
	const struct node *n;
	struct strs gpus = {0};
	BUF(head, a);
	cut_list_head(&head, text);
	struct err *e = json_parse(a, buf_str(&head), S("the cut list"), &n);
	if (!e)
		e = node_want_strs(a, n, S("gpus"), &gpus);
	for (size_t i = 0; !e && i < gpus.n; i++)
		gpus.v[i] = clean_text(a, gpus.v[i]);
	err_free(e);
	return gpus;
}
