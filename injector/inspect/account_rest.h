/* SPDX-License-Identifier: MIT */
/*
 * account_rest.h - what mappings are for that no allocator has.
 */
#ifndef HI_ACCOUNT_REST_H
#define HI_ACCOUNT_REST_H

#include "account_part.h"
#include "procfs.h"

/* What is known of mappings beside what smaps says. Zero-initialized = nothing. */
struct account_rest {
	uint64_t *tmpfs; /* devices; owned */
	size_t tmpfs_count;
	bool *is_stack; /* by mapping; owned */
	size_t threads;
};

/* 0 or -ENOMEM. Close it in either case. */
must_check int account_rest_open(const struct memory *memory, const struct maps *maps,
				 struct account_rest *out_rest);
void account_rest_close(struct account_rest *rest);

/* Of mapping number `at`: the part that its pages belong to if they are of a file, or shared. */
enum account_part account_rest_file_part(const struct account_rest *rest,
					 const struct mapping *mapping);
/* Of its private pages. */
enum account_part account_rest_anonymous_part(const struct account_rest *rest,
					      const struct maps *maps, size_t at);

#endif
