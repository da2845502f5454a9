/* SPDX-License-Identifier: MIT */
/* push_target.c - see push_target.h. */
#include "push_target.h"

#include <string.h>

static bool is_replaced(const struct push_options *options, const char *name)
{
	for (size_t i = 0; i < options->label_count; i++)
		if (!strcmp(options->label[i].name, name))
			return true;
	return false;
}

size_t push_target_labels(const struct push_target *target,
			  const struct push_label *out_label[PUSH_LABELS_ALL])
{
	const struct push_options *options = target->options;
	size_t count = 0;

	for (size_t i = 0; i < target->label_count; i++)
		if (*target->label[i].value && !is_replaced(options, target->label[i].name))
			out_label[count++] = &target->label[i];
	for (size_t i = 0; i < options->label_count; i++)
		if (*options->label[i].value)
			out_label[count++] = &options->label[i];
	return count;
}
