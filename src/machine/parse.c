/* Texts of /proc and /etc; see parse.h. KFD has its own file. */
#include "machine/parse.h"

struct str line_value(struct str text, char sep, struct str key)
{
	struct str line, name, value;
	while (str_next(&text, '\n', &line))
		if (str_cut(str_trim(line), sep, &name, &value) && str_eq(str_trim(name), key))
			return str_trim(value);
	return S("");
}

void keep_keys(struct buf *out, struct str text, char sep, const char *const *keys)
{
	struct str line, key, value;
	while (str_next(&text, '\n', &line)) {
		str_cut(line, sep, &key, &value);
		if (str_is_one_of(str_trim(key), keys))
			buf_fmt(out, "%.*s\n", STR(line));
	}
}

uint64_t line_number(struct str text, char sep, struct str key)
{
	struct str s = line_value(text, sep, key);
	size_t n = 0;
	uint64_t value;
	while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
		n++;
	return str_u64(str_sub(s, 0, n), 10, &value) ? value : 0;
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

/* The second of "Uid:\t0\t0\t0\t0": real, effective, saved, file system. */
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

struct str parse_group(struct str text, unsigned gid)
{
	struct str line, name, password, number;
	while (str_next(&text, '\n', &line)) {
		uint64_t n;
		str_cut(line, ':', &name, &line);
		str_cut(line, ':', &password, &line);
		str_cut(line, ':', &number, &line);
		if (str_u64(number, 10, &n) && n == gid)
			return name;
	}
	return S("");
}

struct str parse_passwd(struct str text, unsigned uid, enum passwd_field field)
{
	enum { UID = 2 };
	struct str line, parts[PASSWD_HOME + 1];
	while (str_next(&text, '\n', &line)) {
		uint64_t n;
		for (size_t i = 0; i <= PASSWD_HOME; i++)
			str_cut(line, ':', &parts[i], &line);
		if (str_u64(parts[UID], 10, &n) && n == uid)
			return parts[field];
	}
	return S("");
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

bool parse_modules(struct str text, struct str module)
{
	struct str line, name, rest;
	while (str_next(&text, '\n', &line))
		if (str_cut(line, ' ', &name, &rest) && str_eq(name, module))
			return true;
	return false;
}

static struct str next_word(struct str *rest)
{
	size_t n = 0;
	*rest = str_trim(*rest);
	while (n < rest->n && rest->p[n] != ' ' && rest->p[n] != '\t')
		n++;
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
	static const char *const wanted[] = {"amdgpu.", "amdkfd.", "ttm.", "amdttm.",
		"iommu=", "iommu.", "amd_iommu=", "intel_iommu=", "nomodeset",
		"modprobe.blacklist=", "module_blacklist=", "rd.driver.blacklist=", "pci=",
		"pcie_"};
	struct strs list = {0};
	for (struct str word; (word = next_word(&text)).n;)
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
			if (str_starts(word, str_from(wanted[i])))
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
	static const struct cgroup_mark marks[] = {
		{"kubepods", "kubernetes"},
		{"/docker", "docker"},
		{"libpod", "podman"},
		{"/lxc", "lxc"},
		{"containerd", "containerd"},
		{"machine.slice/systemd-nspawn", "systemd-nspawn"},
	};
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (str_contains(text, str_from(marks[i].mark)))
			return &marks[i];
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

uint32_t parse_override(struct arena *a, struct str version)
{
	struct strs parts = str_split(a, version, '.');
	uint64_t n[3];
	for (size_t i = 0; i < 3; i++)
		if (parts.n != 3 || !str_u64(parts.v[i], 10, &n[i]) || n[i] > 99)
			return 0;
	return (uint32_t)(n[0] * 10000 + n[1] * 100 + n[2]);
}
