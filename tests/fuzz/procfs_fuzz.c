/* SPDX-License-Identifier: MIT */
/*
 * procfs_fuzz.c - the other texts of /proc/PID: status, stat, syscall. The first byte says which.
 *
 * libFuzzer: -max_len=2048
 */
#include "fuzz.h"
#include "procfs.h"

static void read_status(const char *text)
{
	struct proc_status status;

	if (!proc_status_parse(text, &status))
		FUZZ_CHECK(memchr(status.comm, 0, sizeof(status.comm)));
}

static void read_stat(const char *text)
{
	for (unsigned field = 0; field < 60; field++) {
		uint64_t value;

		if (!proc_stat_field(text, field, &value))
			FUZZ_CHECK(field >= 4);
	}
}

static void read_syscall(const char *text)
{
	struct proc_syscall syscall;

	if (!proc_syscall_parse(text, &syscall) && syscall.running)
		FUZZ_CHECK(!syscall.sp && !syscall.pc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(const char *) = {read_status, read_stat, read_syscall};
	const uint64_t which = fuzz_take(&data, &size, 1);
	char *text = fuzz_text(data, size);

	readers[which % 3](text);
	free(text);
	return 0;
}
