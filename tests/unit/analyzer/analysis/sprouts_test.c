/* SPDX-License-Identifier: MIT */
/* sprouts_test.c - of a large tree the heaviest nodes are kept, as they are in the whole one, and no more than asked for. */
#include "sprouts.h"

#include "sample_profile.h"

/* Stacks of all lengths, that begin alike. */
static struct profile many_stacks(size_t count, bool are_equal)
{
	struct profile profile = sample_open();
	uint64_t random = 1;

	for (size_t i = 0; i < count; i++) {
		char names[256] = "main";
		const size_t depth = 1 + (random >> 33) % 8;

		for (size_t k = 0; k < depth; k++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			snprintf(names + strlen(names), sizeof(names) - strlen(names), ";f%d", (int)(random >> 33) % 4);
		}
		if (are_equal)
			snprintf(names, sizeof(names), "root%zu;leaf%zu", i, i);
		sample_stack(&profile, names, are_equal ? 1 : 1 + (random >> 33) % 100, 64);
	}
	return profile;
}

static struct sprouts sprouts_of(const struct profile *profile, size_t enough, struct functions *functions)
{
	struct sprouts sprouts;

	CHECK_EQ(sprouts_open(profile, &(struct sprouts_options){.enough = enough}, functions, &sprouts), 0);
	return sprouts;
}

/* By the names from the root; functions are numbered alike. */
static const struct sprout *same_in(const struct sprouts *whole, const struct sprouts *part, uint32_t index)
{
	const struct sprout *parent;

	if (index == 0)
		return &whole->sprout[0];
	parent = same_in(whole, part, part->sprout[index].parent);
	for (size_t i = 1; i < whole->count; i++) {
		if (whole->sprout[i].function == part->sprout[index].function && &whole->sprout[whole->sprout[i].parent] == parent)
			return &whole->sprout[i];
	}
	UNIT_FAIL("a node that is not in the whole tree");
}

/* The share of the lightest one that is kept; the others are checked against the whole tree. */
static double lightest_share(const struct sprouts *whole, const struct sprouts *part, size_t *out_count)
{
	double least = 1;

	*out_count = 0;
	for (uint32_t i = 0; i < part->count; i++) {
		const struct sprout *sprout = &part->sprout[i];

		CHECK(i == 0 || sprout->parent < i);
		if (sprout->function == SPROUT_REST) {
			CHECK_EQ(sprout->weight[INUSE_SPACE], 0);
			continue;
		}
		CHECK_EQ(sprout->weight[INUSE_SPACE], same_in(whole, part, i)->weight[INUSE_SPACE]);
		if (sprout_share(part->sprout, sprout, NULL) < least)
			least = sprout_share(part->sprout, sprout, NULL);
		++*out_count;
	}
	return least;
}

UNIT_TEST(the_heaviest_are_kept)
{
	struct profile profile = many_stacks(2000, false);
	struct functions functions, others;
	struct sprouts whole = sprouts_of(&profile, SIZE_MAX, &functions);

	CHECK_EQ(whole.count, whole.node_count);
	CHECK(whole.count > 1500);
	for (size_t enough = 2; enough < 1000; enough *= 5) {
		struct sprouts part = sprouts_of(&profile, enough, &others);
		size_t kept, heavier = 0;
		const double least = lightest_share(&whole, &part, &kept);

		CHECK_EQ(part.node_count, whole.node_count);
		CHECK(kept <= enough + 1 && kept >= enough / 2); /* the root comes on top */
		/* Nothing is left out that is clearly heavier than what is kept. */
		for (size_t i = 0; i < whole.count; i++)
			heavier += sprout_share(whole.sprout, &whole.sprout[i], NULL) > least * 1.04;
		CHECK(heavier <= kept);
		for (size_t i = 0; i < profile.stack_count; i++)
			CHECK(part.leaf[i] < part.count);
		sprouts_close(&part);
		functions_close(&others);
	}
	sprouts_close(&whole);
	functions_close(&functions);
	profile_close(&profile);
}

/* What a stack holds is found where it ends, or in the rest below a node that it goes through. */
UNIT_TEST(leaves)
{
	struct profile profile = many_stacks(2000, false);
	struct functions functions;
	struct sprouts part = sprouts_of(&profile, 40, &functions);

	for (size_t i = 0; i < profile.stack_count; i++) {
		const struct sprout *leaf = &part.sprout[part.leaf[i]];
		size_t count, depth = 0;
		const uint32_t *calls = functions_unfold(&functions, &profile.stack[i], &count);
		uint32_t at = leaf->function == SPROUT_REST ? leaf->parent : part.leaf[i];

		for (uint32_t up = at; up; up = part.sprout[up].parent)
			depth++;
		CHECK(leaf->function == SPROUT_REST ? depth < count : depth == count);
		for (; depth > 0; depth--, at = part.sprout[at].parent)
			CHECK_EQ(part.sprout[at].function, functions.call[calls[count - depth]].function);
	}
	sprouts_close(&part);
	functions_close(&functions);
	profile_close(&profile);
}

UNIT_TEST(of_equals_not_all)
{
	struct profile profile = many_stacks(3000, true);
	struct functions functions;
	struct sprouts part = sprouts_of(&profile, 100, &functions);

	CHECK_EQ(part.node_count, 6001);
	CHECK(part.count <= 2 * 101 && part.count > 50);
	sprouts_close(&part);
	functions_close(&functions);
	profile_close(&profile);
}

UNIT_MAIN()
