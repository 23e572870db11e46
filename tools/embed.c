/* A file as a constant of the program: embed NAME OUTPUT INPUT writes C that defines
 * `const struct str NAME` with the bytes of INPUT. Runs at build time.
 */
#include <stdio.h>

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: embed NAME OUTPUT INPUT\n");
		return 2;
	}
	FILE *in = fopen(argv[3], "rb"), *out = in ? fopen(argv[2], "w") : NULL;
	if (!in || !out) {
		perror(in ? argv[2] : argv[3]);
		return 1;
	}
	fprintf(out, "#include \"base/str.h\"\n\nstatic const char bytes[] = {");
	size_t n = 0;
	for (int c; (c = getc(in)) != EOF; n++)
		fprintf(out, "%s%d,", n % 20 ? " " : "\n\t", c < 128 ? c : c - 256);
	fprintf(out, "\n\t0};\nextern const struct str %s;\n", argv[1]);
	fprintf(out, "const struct str %s = {bytes, %zu};\n", argv[1], n);
	int bad = ferror(in);
	if (fclose(out) || fclose(in) || bad) {
		perror(argv[2]);
		return 1;
	}
	return 0;
}
