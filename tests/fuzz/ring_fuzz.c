/* SPDX-License-Identifier: MIT */
/*
 * ring_fuzz.c - a target that scribbles over the rings and the stacks while they are being read.
 * The input is a script of 11-byte steps: what to do next, and one word of the rings (heads and
 * tails included) or of the stacks behind it, with what to write there. Whatever it writes, the
 * record stream that comes out must be sound.
 *
 * libFuzzer: -max_len=4096
 */
#include <errno.h>

#include "fuzz.h"
#include "pump.h"
#include "records.h"
#include "replay.h"

#define RINGS 4u
#define CAPACITY 1024u
#define RING_BYTES (RINGS * (sizeof(struct hi_ring) + CAPACITY))
#define STACKS_BYTES 2048u
#define BATCH_BYTES 256u /* several to what the rings hold */
/* what one round may find: all that the rings hold */
#define READS_MAX (RINGS * CAPACITY / HI_RING_UNIT)

enum { MARK = 1, READ = 4, ROUND = 8 };

/* As many records as the rings can hold are read in one go, and no more. */
static void read_some(struct ring_reader *reader)
{
	struct ring_batch batch = {.enough = BATCH_BYTES};
	unsigned reads = 0;

	while (ring_reader_read(reader, 1, 0, &batch) > 0) {
		for (const union ring_record *record; (record = ring_batch_next(&batch));) {
			FUZZ_CHECK(++reads <= READS_MAX);
			FUZZ_CHECK(record->header.type_busy >= HI_RECORD_ALLOC &&
				   record->header.type_busy <= HI_RECORD_NAMED);
			FUZZ_CHECK(record->header.type_busy != HI_RECORD_ALLOC ||
				   (record->alloc.frame_count >= 1 &&
				    record->alloc.frame_count <= HI_FRAMES_MAX));
		}
		FUZZ_CHECK(batch.at == batch.size);
	}
}

static int play(struct pump *pump, struct hi_ring *ring, const uint8_t *data, size_t size)
{
	int err = 0;

	while (size && !err) {
		const unsigned step = (unsigned)fuzz_take(&data, &size, 1);
		const size_t word = fuzz_take(&data, &size, 2) % ((RING_BYTES + STACKS_BYTES) / 8);
		const uint64_t value = fuzz_take(&data, &size, 8);

		memcpy((uint8_t *)ring + 8 * word, &value, sizeof(value));
		if (step & MARK)
			pump_mark(pump);
		if (step & READ)
			read_some(&pump->reader);
		if (step & ROUND)
			err = pump_round(pump, false);
	}
	return err;
}

/* Addresses and sizes are passed on as the target's memory has them. */
static bool is_of_values(const char *damage)
{
	return strstr(damage, "an allocation of an impossible size, address") ||
	       strstr(damage, "a mapping that cannot be") ||
	       strstr(damage, "a block of a pool that cannot be");
}

/* The analyzer has nothing else to complain of. */
static void check_stream(int fd)
{
	struct profile profile;
	struct input input;

	FUZZ_CHECK(lseek(fd, 0, SEEK_SET) == 0 && !profile_open(&profile) &&
		   !input_open(&input, fd));
	FUZZ_CHECK(!replay_stream(&input, NULL, &profile));
	if (profile.meta.damage && !is_of_values(profile.meta.damage)) {
		fprintf(stderr, "%s\n", profile.meta.damage);
		abort();
	}
	input_close(&input);
	profile_close(&profile);
}

/* All keys were thinned. */
static const struct thinned_due *all_due(void)
{
	static struct thinned_due due;

	if (due.at[0][20].count == 0)
		for (size_t key = 0; key < HI_THINNING_KEYS; key++)
			thinned_due_add(&due, key, &(struct thinned_due_part){1000, 20, 64});
	return &due;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct pump_target target = {.pid = 1,
						  .interval = 1,
						  .comm = "",
						  .exe = "",
						  .host = "",
						  .version = "",
						  .cmdline = ""};
	static const struct elf_images no_images;
	static int out_fd = -1;
	const struct memory memory = {.fd = fuzz_file(data, size)};
	struct hi_ring *ring = calloc(1, RING_BYTES + STACKS_BYTES);
	struct stream_out out;
	struct pump pump;

	if (out_fd < 0)
		out_fd = memfd_create("stream", MFD_CLOEXEC);
	FUZZ_CHECK(ring && out_fd >= 0 && !ftruncate(out_fd, 0) &&
		   lseek(out_fd, 0, SEEK_SET) == 0 && !stream_out_open(&out, out_fd));
	FUZZ_CHECK(!pump_open(&pump, &out, &memory, &no_images, getpid()) &&
		   !pump_header(&pump, &target));
	pump_connect(&pump, &(struct rings){ring, CAPACITY, RINGS});
	FUZZ_CHECK(
		!pump_connect_stacks(&pump, (void *)((uint8_t *)ring + RING_BYTES), STACKS_BYTES));
	pump_mark(&pump);
	const int err = play(&pump, ring, data, size);
	FUZZ_CHECK(err == 0 || err == -EPROTO);
	(void)!pump_round(&pump, true);
	FUZZ_CHECK(!pump_thinned(&pump, all_due()));
	FUZZ_CHECK(!pump_end(&pump, HI_STREAM_END_ERROR) && !stream_out_drain(&out, 0));
	check_stream(out_fd);
	pump_close(&pump);
	stream_out_close(&out);
	free(ring);
	return 0;
}
