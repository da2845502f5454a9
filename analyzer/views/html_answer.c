/* SPDX-License-Identifier: MIT */
/* html_answer.c - see html_answer.h. */
#include "html_answer.h"

#include <errno.h>
#include <stdlib.h>

#include "html_write.h"
#include "render_answer.h"
#include "row_history.h"

bool html_answer_is_known(const struct profile *profile, size_t file_count)
{
	struct history history;

	if (profile_has_base(profile) || file_count > 1 || !profile->meta.duration_ns)
		return false;
	for (size_t i = 0; i < profile->row_count; i++) {
		if (row_history_get(profile, &profile->row[i], &history))
			return true;
	}
	return false;
}

/* What a function prints of the answer. The caller frees it. NULL = out of memory. */
static char *text_of(const struct answer *answer, void (*print)(const struct answer *, FILE *))
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	print(answer, stream);
	if (fclose(stream)) {
		free(text);
		return NULL;
	}
	return text;
}

static void write_bars(const struct answer *answer, FILE *out)
{
	fputs(",\"bars\":[", out);
	for (size_t i = 0; i < answer->row_count; i++) {
		fputs(i ? ",[" : "[", out);
		for (size_t bar = 0; bar < ANSWER_BARS; bar++)
			fprintf(out, "%s%.3g", bar ? "," : "", answer->row[i].bar[bar]);
		fputc(']', out);
	}
	fputc(']', out);
}

int html_answer_write(const struct answer *answer, FILE *out)
{
	char *json = answer ? text_of(answer, render_answer_json) : NULL,
	     *words = answer ? text_of(answer, render_answer_sentences) : NULL;
	const int err = answer && (!json || !words) ? -ENOMEM : 0;

	fputs("\"answer\":", out);
	if (!answer || err)
		fputs("null", out);
	else {
		html_write_json(json, out);
		write_bars(answer, out);
		fputs(",\"lines\":", out);
		html_write_lines(words, out);
		fputc('}', out);
	}
	fputs(",\n", out);
	free(json);
	free(words);
	return err;
}
