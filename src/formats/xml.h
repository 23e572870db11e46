/* XML 1.0 as a sequence of events: elements, their attributes, text. For JUnit reports, which come from anybody.
 *
 * The reader is our own, in place of libexpat, because the little that is needed is the harmless part: a document type,
 * and with it every entity but the five of XML and numbers of characters, is refused at its first byte, so that nothing
 * can expand and nothing else is ever opened. Memory: one element's attributes, and the names of open elements. Text is
 * UTF-8. Comments and processing instructions are passed over; namespaces are part of the names.
 *
 *     struct xml x = xml_begin(text, name);
 *     for (;;) {
 *         TRY(xml_next(&x, &e));
 *         if (e.kind == XML_END) break;
 *     }
 *     xml_end(&x);                or CLEANUP(xml_end)
 *
 * Source: Extensible Markup Language (XML) 1.0, 5th edition. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

enum { XML_DEPTH = 64, XML_ATTRIBUTES = 64, XML_NAME = 256, XML_ELEMENTS = 4000000 };

enum xml_kind { XML_END, XML_OPEN, XML_CLOSE, XML_TEXT };

struct xml_attribute {
	struct str name, value;
};

struct xml_event { /* valid until the next one */
	enum xml_kind kind;
	struct str name; /* the element's; its close event has it, too, also for <a/> */
	struct str text; /* a piece of text between two tags, unless it is white space */
	VEC(struct xml_attribute) attributes;
};

struct xml {
	struct str text, name; /* name: for messages */
	size_t at;
	struct arena a; /* the present event's */
	size_t depth, elements;
	struct str open[XML_DEPTH]; /* views of the text */
	bool empty;                 /* the last tag was <a/>, and its close event comes next */
	bool closed;                /* the outermost element has ended */
};

struct xml xml_begin(struct str text, struct str name);
/* The next event. E_SYNTAX, with the line, for text that is not well-formed or has a document type; E_LIMIT. */
MUST_USE struct err *xml_next(struct xml *x, struct xml_event *ret);
void xml_end(struct xml *x);
/* The value of an attribute, or "". */
struct str xml_attribute(const struct xml_event *e, const char *name);
/* Adds the text with its special characters as entities; what XML cannot hold becomes U+FFFD. */
void xml_escape(struct buf *b, struct str text);
