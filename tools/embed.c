/* Files as constants of the program, made at build time: embed NAME OUTPUT INPUT writes C that
 * defines `const struct str NAME` with the bytes of INPUT. embed --list NAME OUTPUT INPUT... gives
 * arrays in the order of the files' names: NAME[], NAME_files[] (names without folders), NAME_count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(base(*(char *const *)a), base(*(char *const *)b));
}

static size_t put_bytes(FILE *out, FILE *in, int number)
{
	size_t n = 0;
	fprintf(out, "\nstatic const char bytes_%d[] = {", number);
	for (int c; (c = getc(in)) != EOF; n++)
		fprintf(out, "%s%d,", n % 20 ? " " : "\n\t", c < 128 ? c : c - 256);
	fprintf(out, "\n\t0};\n");
	return n;
}

static void put_list(FILE *out, const char *name, char **files, const size_t *sizes, int n)
{
	fprintf(out, "extern const struct str %s[];\nconst struct str %s[] = {\n", name, name);
	for (int i = 0; i < n; i++)
		fprintf(out, "\t{bytes_%d, %zu},\n", i, sizes[i]);
	fprintf(out, "};\nextern const char *const %s_files[];\n", name);
	fprintf(out, "const char *const %s_files[] = {\n", name);
	for (int i = 0; i < n; i++)
		fprintf(out, "\t\"%s\",\n", base(files[i]));
	fprintf(out, "};\nextern const size_t %s_count;\nconst size_t %s_count = %d;\n", name, name,
		n);
}

int main(int argc, char **argv)
{
	int list = argc > 1 && strcmp(argv[1], "--list") == 0;
	argv += list;
	argc -= list;
	if (argc < 4 || (argc > 4 && !list)) {
		fprintf(stderr, "usage: embed [--list] NAME OUTPUT INPUT...\n");
		return 2;
	}
	char **files = argv + 3;
	int n = argc - 3, bad = 0;
	size_t *sizes = calloc((size_t)n, sizeof(*sizes));
	FILE *out = sizes ? fopen(argv[2], "w") : NULL;
	if (!out) {
		perror(argv[2]);
		return 1;
	}
	qsort(files, (size_t)n, sizeof(*files), by_name);
	fprintf(out, "#include \"base/str.h\"\n");
	for (int i = 0; i < n; i++) {
		FILE *in = fopen(files[i], "rb");
		if (!in) {
			perror(files[i]);
			return 1;
		}
		sizes[i] = put_bytes(out, in, i);
		bad |= ferror(in) | fclose(in);
	}
	if (list)
		put_list(out, argv[1], files, sizes, n);
	else
		fprintf(out, "extern const struct str %s;\nconst struct str %s = {bytes_0, %zu};\n",
			argv[1], argv[1], sizes[0]);
	free(sizes);
	if (fclose(out) || bad) {
		perror(argv[2]);
		return 1;
	}
	return 0;
}
