/* SPDX-License-Identifier: MIT */
/* known_stacks.c - see known_stacks.h. */
#include "known_stacks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plain_text.h"

#define FILE_BYTES_MAX (4ull << 30)
#define TEXT_MAX 1024u

static int read_file(int fd, char **out_bytes, size_t *out_size)
{
	struct stat file;
	size_t done = 0;

	if (fstat(fd, &file))
		return -errno;
	if (file.st_size < (off_t)sizeof(struct hi_stacked) ||
	    (uint64_t)file.st_size > FILE_BYTES_MAX)
		return -EBADMSG;
	const size_t size = (size_t)file.st_size;
	char *bytes = malloc(size);

	while (bytes && done < size) {
		const ssize_t got = pread(fd, bytes + done, size - done, (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			const int err = got ? -errno : -EBADMSG;

			free(bytes);
			return err;
		}
		done += (size_t)got;
	}
	*out_bytes = bytes;
	*out_size = size;
	return bytes ? 0 : -ENOMEM;
}

static bool is_head(const struct hi_stacked *head, size_t size)
{
	size -= sizeof(*head);
	return head->magic == HI_STACKED_MAGIC &&
	       head->block_count <= size / sizeof(struct hi_stacked_block) &&
	       head->text_bytes == size - head->block_count * sizeof(struct hi_stacked_block) &&
	       head->stack_count <= head->text_bytes;
}

/* Each text as it may be shown. */
static int take_texts(const char *from, const struct hi_stacked *head, struct known_stacks *stacks)
{
	const char *const end = from + head->text_bytes;
	char text[TEXT_MAX];

	stacks->text = calloc(head->stack_count + 1, sizeof(*stacks->text));
	if (!stacks->text)
		return -ENOMEM;
	while (stacks->text_count < head->stack_count) {
		const char *const zero = memchr(from, 0, (size_t)(end - from));

		if (!zero)
			return -EBADMSG;
		plain_text_copy(text, sizeof(text), from);
		stacks->text[stacks->text_count] = strdup(text);
		if (!stacks->text[stacks->text_count++])
			return -ENOMEM;
		from = zero + 1;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct hi_stacked_block *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

static int take_blocks(const char *from, const struct hi_stacked *head, struct known_stacks *stacks)
{
	const size_t bytes = head->block_count * sizeof(*stacks->block);

	stacks->block = malloc(bytes + 1);
	if (!stacks->block)
		return -ENOMEM;
	memcpy(stacks->block, from, bytes);
	stacks->count = head->block_count;
	for (size_t i = 0; i < stacks->count; i++)
		if (stacks->block[i].stack >= head->stack_count)
			return -EBADMSG;
	if (stacks->count)
		qsort(stacks->block, stacks->count, sizeof(*stacks->block), compare);
	return 0;
}

int known_stacks_read(int fd, struct known_stacks *out_stacks)
{
	struct hi_stacked head;
	char *bytes = NULL;
	size_t size;

	*out_stacks = (struct known_stacks){0};
	int err = read_file(fd, &bytes, &size);
	if (err)
		return err;
	memcpy(&head, bytes, sizeof(head));
	const char *const block = bytes + sizeof(head);

	err = is_head(&head, size) ? take_blocks(block, &head, out_stacks) : -EBADMSG;
	if (!err)
		err = take_texts(block + head.block_count * sizeof(struct hi_stacked_block), &head,
				 out_stacks);
	free(bytes);
	if (err)
		known_stacks_close(out_stacks);
	return err;
}

void known_stacks_close(struct known_stacks *stacks)
{
	for (size_t i = 0; i < stacks->text_count; i++)
		free(stacks->text[i]);
	free(stacks->text);
	free(stacks->block);
	*stacks = (struct known_stacks){0};
}
