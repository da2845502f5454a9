/* SPDX-License-Identifier: MIT */
/* census_looks.c - see census_looks.h. */
#include "census_looks.h"

#include <errno.h>
#include <stdlib.h>

#define SHARE 4u /* of the time: one part of so many is for looking, if there is a choice */

unsigned census_looks_wanted(uint64_t duration_ns, uint64_t look_ns)
{
	const uint64_t cost_ns = look_ns ? look_ns : 1;
	const uint64_t cheap = duration_ns / SHARE / cost_ns, possible = duration_ns / cost_ns;

	if (cheap >= CENSUS_LOOKS_MIN)
		return cheap < CENSUS_LOOKS_MAX ? (unsigned)cheap : CENSUS_LOOKS_MAX;
	return possible >= CENSUS_LOOKS_MIN ? CENSUS_LOOKS_MIN : 2;
}

int census_looks_add(struct census_looks *looks, const struct census *census, uint64_t at_ns)
{
	struct census_look *look = &looks->look[looks->count];
	struct census_amount *amount =
		calloc(looks->met.count + census->count + 1, sizeof(*amount));
	int err = amount ? 0 : -ENOMEM;

	for (size_t i = 0; i < census->count && !err; i++) {
		uint32_t index;

		err = census_intern(&looks->met, &census->group[i], &index);
		if (err)
			break;
		amount[index].blocks += census->group[i].count;
		amount[index].bytes += census->group[i].bytes;
	}
	if (err) {
		free(amount);
		return err;
	}
	*look = (struct census_look){at_ns, amount, looks->met.count};
	looks->count++;
	return 0;
}

bool census_looks_of(const struct census_looks *looks, const struct census_group *group,
		     struct census_amount out_amount[CENSUS_LOOKS_MAX])
{
	const struct census_group *met = census_find(&looks->met, group);
	const struct census_amount none = {0};

	if (!met)
		return false;
	const size_t index = (size_t)(met - looks->met.group);

	for (unsigned i = 0; i < looks->count; i++)
		out_amount[i] = index < looks->look[i].groups ? looks->look[i].amount[index] : none;
	return true;
}

void census_looks_close(struct census_looks *looks)
{
	for (unsigned i = 0; i < looks->count; i++)
		free(looks->look[i].amount);
	census_close(&looks->met);
	*looks = (struct census_looks){0};
}
