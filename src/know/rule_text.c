/* Texts that a row of data/rules.yaml leaves out, for the table that is filled with its rows; see rule.h. */
#include <string.h>

#include "know/diagnosis.h"
#include "know/rule.h"

void rule_complete(struct rule *r)
{
	static const char *const none[] = {NULL};
	static const struct {
		const char *id, *title;
	} titles[] = {
#define FINDING(id, severity, meaning) {id, meaning},
#include "../../data/findings.def"
	};
	const struct diagnosis *d = diagnosis_find(str_from(r->id));
	r->title = d ? d->title : "";
	for (size_t i = 0; !d && i < sizeof(titles) / sizeof(titles[0]); i++)
		if (!strcmp(titles[i].id, r->id))
			r->title = titles[i].title;
	if (!r->why)
		r->why = d ? d->cause : "";
	if (!r->evidence)
		r->evidence = d ? d->evidence : none;
	if (!r->confidence)
		r->confidence = d ? d->confidence : "";
}
