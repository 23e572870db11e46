/* Texts that a row of data/rules.yaml leaves out, for the table that is filled with its rows; see rule.h. */
#include <string.h>

#include "know/diagnosis.h"
#include "know/rule.h"

void rule_complete(struct rule *r)
{
	static const char *const none[] = {NULL};
	const struct diagnosis *d = diagnosis_find(str_from(r->id));
	r->title = d ? d->title : "";
	for (const struct finding_row *row = finding_rows; !d && row->id; row++)
		if (!strcmp(row->id, r->id))
			r->title = row->meaning;
	if (!r->why)
		r->why = d ? d->cause : "";
	if (!r->evidence)
		r->evidence = d ? d->evidence : none;
	if (!r->confidence)
		r->confidence = d ? d->confidence : "";
}
