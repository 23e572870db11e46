"""Where a C source can be changed in one small way, and what it then says.

The style of this tree is taken for granted: clang-format puts spaces around a binary operator and
none behind a unary one, a macro in capitals is called like a function, and a statement that does
something starts at the beginning of a line.
"""
import collections
import re

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+)?[uUlL]*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<op><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S | re.M)

BINARY = {  # between spaces
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "&": ["|"], "|": ["&"], "^": ["&"],
    "<<": [">>"], ">>": ["<<"], "&&": ["||"], "||": ["&&"],
    "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "|=": ["&="], "&=": ["|="], "<<=": [">>="],
    ">>=": ["<<="],
}
STEP = {"++": "--", "--": "++"}
WORDS = {"true": "false", "false": "true"}
# What a statement that can be left out does not start with.
KEYWORDS = set("""if else for while do switch case default return goto struct union enum static const void
    typedef extern unsigned signed char short int long float double bool sizeof size_t CLEANUP ARENA BUF""".split())

Token = collections.namedtuple("Token", "kind text at")
# old and new: the changed lines, as a diff would show them; edit: (start, end, replacement).
Mutant = collections.namedtuple("Mutant", "file line kind old new edit")


def tokens_of(text):
    return [Token(m.lastgroup, m.group(), m.start()) for m in TOKEN.finditer(text) if m.lastgroup != "skip"]


def spaced(text, t):
    end = t.at + len(t.text)
    return text[t.at - 1:t.at] == " " and text[end:end + 1] in (" ", "\n")


def closing(tokens, i):
    """Index of the parenthesis that closes the one at i."""
    depth = 0
    for k in range(i, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[k].text, 0)
        if not depth:
            return k
    return None


def says_nothing(tokens, i):
    """A number that is part of an idiom: {0} for "all zero", sizeof(x[0]) for the size of any of them."""
    before, after = tokens[i - 1].text, tokens[i + 1].text
    return tokens[i].text == "0" and ((before, after) == ("{", "}") or (before, after) == ("[", "]") and
        [t.text for t in tokens[i - 4:i - 2]] == ["sizeof", "("])


def number_edits(text):
    m = re.fullmatch(r"(0[xX]|0(?=[0-7]))?([0-9a-fA-F]+)([uUlL]*)", text)
    if not m or (not m[1] and not m[2].isdigit()):
        return
    base, form = {None: (10, "%d"), "0": (8, "0%o")}.get(m[1], (16, "0x%x"))
    value = int(m[2], base)
    for other in (value + 1, value - 1):
        if other >= 0:
            yield "constant", form % other + m[3]


def statement_end(text, tokens, i):
    """Index of the ';' of a simple statement that starts at token i, or None."""
    first, before = tokens[i], tokens[i - 1].text if i else ""
    if text[text.rfind("\n", 0, first.at) + 1:first.at].strip():
        return None
    if (before not in (";", "{", "}", ")", "else", ":") or first.kind != "word" or first.text in KEYWORDS or
            first.text.endswith("_EACH")):
        return None
    if first.text not in ("break", "continue") and tokens[i + 1].text not in (
            "(", "=", "->", ".", "[", "++", "--", "+=", "-=", "|=", "&=", "*=", "/=", "<<=", ">>="):
        return None
    depth = 0
    for k in range(i, len(tokens)):
        c = tokens[k].text
        if c in "{}" or depth < 0:  # a loop macro, an initialiser: no simple statement
            return None
        if c == ";" and not depth:
            return k
        depth += {"(": 1, ")": -1, "[": 1, "]": -1}.get(c, 0)
    return None


def edits_of(text):
    """All small changes: (kind, start, end, replacement); only inside of function bodies and tables."""
    tokens = tokens_of(text)
    depth = 0
    for i, t in enumerate(tokens):
        depth += {"{": 1, "}": -1}.get(t.text, 0)
        if not depth:
            continue
        end = t.at + len(t.text)
        if t.kind == "number" and not says_nothing(tokens, i):
            for kind, new in number_edits(t.text):
                yield kind, t.at, end, new
        elif t.text in WORDS:
            yield "constant", t.at, end, WORDS[t.text]
        elif t.text in BINARY and spaced(text, t):
            kind = ("logical" if t.text in ("&&", "||") else
                "relation" if t.text in ("<", "<=", ">", ">=", "==", "!=") else "arithmetic")
            for new in BINARY[t.text]:
                yield kind, t.at, end, new
        elif t.text in STEP:
            yield "arithmetic", t.at, end, STEP[t.text]
        elif t.text == "!":
            yield "condition", t.at, end, ""
        elif t.text in ("if", "while") and tokens[i + 1].text == "(":
            last = closing(tokens, i + 1)
            if last:
                start, stop = tokens[i + 1].at + 1, tokens[last].at
                yield "condition", start, stop, "!(" + text[start:stop] + ")"
        if (last := statement_end(text, tokens, i)) is not None:
            yield "statement", t.at, tokens[last].at, ""


def mutated(text, edit):
    start, end, new = edit
    return text[:start] + new + text[end:]


def mutants_of(name, text):
    """By line: {line: [Mutant]}."""
    ret = collections.defaultdict(list)
    for kind, start, end, new in edits_of(text):
        first, stop = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        line = text.count("\n", 0, start) + 1
        ret[line].append(Mutant(name, line, kind, text[first:stop],
            text[first:start] + new + text[end:stop], (start, end, new)))
    return ret
