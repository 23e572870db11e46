/* Lines of logs as patterns see them; see diagnosis.h. Logs come through terminals, CI systems, journals,
 * containers and editors, and each adds or changes something; what is a message is the same for all. */
#include <regex.h>

#include "know/diagnosis.h"

enum { CLEAN_MAX = 4096 };

/* Quotes of several languages and of broken encodings, blanks, and what HTML and JSON make of a character. */
static const struct {
	struct str from;
	char to; /* 0: nothing */
} others[] = {
	{S_INIT("\xe2\x80\x98"), '\''}, /* U+2018 to U+201F */
	{S_INIT("\xe2\x80\x99"), '\''}, {S_INIT("\xe2\x80\x9a"), '\''},
	{S_INIT("\xe2\x80\x9b"), '\''}, {S_INIT("\xe2\x80\x9c"), '\''},
	{S_INIT("\xe2\x80\x9d"), '\''}, {S_INIT("\xe2\x80\x9e"), '\''},
	{S_INIT("\xe2\x80\x9f"), '\''}, {S_INIT("\xe2\x80\xb9"), '\''}, /* single angle quotes */
	{S_INIT("\xe2\x80\xba"), '\''}, {S_INIT("\xc2\xab"), '\''},     /* double ones */
	{S_INIT("\xc2\xbb"), '\''}, {S_INIT("\xe3\x80\x8c"), '\''},     /* corner brackets */
	{S_INIT("\xe3\x80\x8d"), '\''},
	{S_INIT("\xc3\xa2\xe2\x82\xac\xcb\x9c"), '\''}, /* U+2018, U+2019 read as Windows-1252 */
	{S_INIT("\xc3\xa2\xe2\x82\xac\xe2\x84\xa2"), '\''}, {S_INIT("\\\""), '\''}, /* JSON */
	{S_INIT("\\u001b"), '\033'}, {S_INIT("&quot;"), '\''}, {S_INIT("&#39;"), '\''},
	{S_INIT("&#x27;"), '\''}, {S_INIT("&lt;"), '<'}, {S_INIT("&gt;"), '>'},
	{S_INIT("&amp;"), '&'}, {S_INIT("\xc2\xa0"), ' '}, {S_INIT("\xe2\x80\xaf"), ' '},
	{S_INIT("\xe2\x80\x8b"), 0}, {S_INIT("\xef\xbb\xbf"), 0},
	{S_INIT("\xef\xbc\x9a"), ':'}, /* the wide colon of Chinese and Japanese messages */
};

/* Length of an escape sequence behind ESC: CSI (ECMA-48), OSC up to its end, or one character. */
static size_t escape_length(struct str s)
{
	size_t n = 1;
	if (!s.n)
		return 0;
	if (s.p[0] == ']') {
		while (n < s.n && s.p[n] != '\a' && s.p[n] != '\033')
			n++;
		return n < s.n && s.p[n] == '\033' ? n + 2 : n + 1;
	}
	if (s.p[0] != '[')
		return 1;
	while (n < s.n && (unsigned char)s.p[n] < 0x40)
		n++;
	return n + 1;
}

static size_t other_at(struct str s, char *to)
{
	if (!s.p[0] || !strchr("\xe2\xc2\xc3\xe3\xef\\& ", s.p[0]))
		return 0;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (str_starts(s, others[i].from)) {
			*to = others[i].to;
			return others[i].from.n;
		}
	}
	return 0;
}

void line_clean(struct buf *out, struct str line)
{
	size_t begin = out->n;
	for (size_t i = 0, step; i < line.n && out->n - begin < CLEAN_MAX; i += step) {
		struct str rest = str_sub(line, i, line.n);
		char c = line.p[i];
		step = other_at(rest, &c);
		if (!step)
			step = 1;
		if (c == '\033') {
			step += escape_length(str_sub(rest, step, rest.n));
			continue;
		}
		if (c == '"' || c == '`')
			c = '\'';
		bool blank = (unsigned char)c <= ' ' || c == 127;
		if (blank && (out->n == begin || out->p[out->n - 1] == ' '))
			continue;
		if (c || step == 1)
			buf_char(out, blank ? ' ' : c);
	}
}

/* ---- what stands around a message ---- */

enum shape { LEAD, REPORT, SPEAKS, SOURCE, AFTER, TEST, SHAPES };

#define DAY "[0-9]{4}-[0-9]{2}-[0-9]{2}"
#define CLOCK "[0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?(Z|[+-][0-9:]{4,6})?"
#define MONTH "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"

static const char *const shapes[SHAPES] = {
	[LEAD] = "^((" DAY "[T ])?" CLOCK "( [AP]M)?:?|" DAY "|\\[?" DAY "[T ]" CLOCK "\\]?"
		 "|(Mon |Tue |Wed |Thu |Fri |Sat |Sun )?" MONTH " ?[0-9]{1,2} [0-9:]{8}( [0-9]{4})?"
		 "( [^ :']+ [^ :']+:)?"
		 "|\\[[^]']{1,80}\\]|\\([^)']*pid=[0-9]+[^)']*\\)|\\(?[A-Za-z]+Worker[^)']*\\)"
		 "|#[0-9]+ [0-9.]+ |[A-Za-z0-9_./-]+ ?\\| |<[0-9]+>|##\\[[a-z]+\\]"
		 "|(kernel|stderr|stdout|stdout F|stderr "
		 "F|rank[0-9]+|E|F|W|I|ERR|OUT|err|out|!|=+>):? "
		 "|\\{'[a-z]+':'|[a-z]+: \\|| |[0-9]+>)+",
	/* a compiler's or interpreter's own way to say where and what */
	[REPORT] = "(error|Error|ERROR|warning|Warning|fatal|FATAL|Exception|CRITICAL|Fehler|erreur"
		   "|Erreur|errore|erro|FAILED [^ ]+ -) ?[:(]?[ ']*$|^[^ ]+:[0-9]+(:[0-9]+)?: "
		   "$|[]:)] ?$|^$",
	/* prose, commits, Markdown, tables, options, prompts */
	[SPEAKS] =
		"\\b([Ii]f|[Ww]hen|[Yy]ou|[Yy]our|[Ww]hy|[Hh]ow|[Ss]ee|[Ff]ix(es|ed|ing)?|[Aa]void"
		"|[Pp]revents?|[Ww]orkarounds?|e\\.g\\.|[Ee]xamples?|[Ss]uch as|[Kk]nown|[Ii]ssues?"
		"|[Tt]roubleshoot[a-z]*|[Mm]eans?|[Ee]xpect(s|ed|ing)?|[Ss]hould|[Mm]ight|[Gg]rep|["
		"Ee]cho"
		"|[Rr]evert|[Hh]andle[ds]?|[Dd]ocument(ed|s)?|[Ss]ubject|[Tt]itle|[Cc]ommit|[Cc]"
		"hangelog"
		"|[Ll]ook(s|ing)? "
		"for|[Ss]earch(es|ing)?|[Rr]eports?|[Rr]eported|[Ii]gnore[ds]?|[Nn]o longer"
		"|[Rr]esolved?|[Cc]lose[ds]?|[Ww]as|[Gg]et(s|ting)?|[Ss]ays|[Tt]hrows?|[Rr]aises?)"
		"\\b"
		"|^[0-9a-f]{7,40} |^[-*+]( |$)|^#+( |$)|^> |^\\|.*\\||^[$%] |^>>> |^//|^'[a-z_]+': "
		"'"
		"|^(HEAD|Author|Date|Merge|Subject|Re|feat|fix|docs|chore|test|ci)(\\([a-z]+\\))?:",
	/* a line of a program's or a document's text, also as grep and diff print it */
	[SOURCE] =
		"^[^ :]+\\.(md|rst|txt|ya?ml|json|adoc|html|ipynb|toml|patch|diff|cfg|ini)[:-]"
		"|^[^ :]+\\.(c|cc|cpp|cxx|cu|h|hpp|cuh|hip|py|sh|rs|go|js|ts|cmake)[:-][0-9]+[:-] "
		"*[^ 0-9:][^:]*$"
		"|^[^ :]+\\.(c|cc|cpp|cxx|cu|h|hpp|cuh|hip|py|sh|rs|go|js|ts)[:-][0-9]+[:-] *"
		"(if|case|return|raise|throw|assert|//|/"
		"\\*|#|\\*|'|with|def|elif|print|fprintf|[a-z_.]+\\()"
		"|^(raise|throw|assert|static_assert|return|case|printf|fprintf|print|if|elif|with|"
		"#define|//|/\\*|\\+|def"
		"|except|std::|msg|self\\.|TORCH_CHECK|EXPECT_|ASSERT_|pytest)[ (:._A-Z]"
		"|//[/!]?<|/\\*[*!]<|^[A-Za-z_0-9]+ = (0x)?[0-9a-f]+,",
	[AFTER] = "^[A-Za-z0-9_]*'? *(in (str\\(|log|text|output|err|the (log|output|docs))|\\)+ "
		  "*[:;]|;$|==)"
		  "|\\b(PASSED|SKIPPED|XFAIL|xfail|\\.\\.\\. ok|\\([0-9]+ ms\\))"
		  "|\\(#[0-9]+\\)$|^[A-Za-z0-9_]* = (0x)?[0-9]|^' "
		  "(means|is|was|error|when|if|on|errors|messages?|in)\\b",
	[TEST] = "\\[ (RUN|OK|PASSED|SKIPPED) \\] ",
};

/* They are compiled once, when they are asked for, and live as long as the program. */
static bool has_shape(enum shape which, struct str s, size_t *ret_end)
{
	static regex_t compiled[SHAPES];
	static bool ready[SHAPES];
	regmatch_t at = {.rm_so = 0, .rm_eo = (regoff_t)s.n};
	if (!ready[which] && regcomp(&compiled[which], shapes[which], REG_EXTENDED) != 0)
		return false;
	ready[which] = true;
	if (regexec(&compiled[which], s.n ? s.p : "", 1, &at, REG_STARTEND) != 0)
		return false;
	*ret_end = (size_t)at.rm_eo;
	return true;
}

size_t line_lead(struct str clean)
{
	size_t end = 0;
	return has_shape(LEAD, clean, &end) ? end : 0;
}

static bool is_word(char c)
{
	return ascii_alnum(c) || c == '_';
}

bool line_quotes(struct str clean, size_t from, size_t to)
{
	size_t lead = line_lead(clean), end;
	lead = lead < from ? lead : from;
	struct str said = str_sub(clean, lead, clean.n), before = str_sub(clean, lead, from);
	struct str after = str_sub(clean, to, clean.n);
	/* part of another name */
	if (from && to > from && is_word(clean.p[from - 1]) && is_word(clean.p[from]))
		return true;
	if (after.n && to > from && is_word(clean.p[to - 1]) && is_word(after.p[0]) &&
		!ascii_digit(after.p[0]))
		return true;
	if (has_shape(TEST, clean, &end) || has_shape(SOURCE, said, &end) ||
		has_shape(AFTER, after, &end) || has_shape(SPEAKS, before, &end))
		return true;
	/* put in quotes by somebody who writes about it; a log that quotes has the quote behind '(' or '=' */
	bool opened = str_ends(before, S("'")) && !str_ends(before, S("('")) &&
		      !str_ends(before, S("='")) && !str_ends(before, S(":'"));
	return opened && !has_shape(REPORT, str_trim(str_sub(before, 0, before.n - 1)), &end);
}
