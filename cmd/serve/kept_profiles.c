/* SPDX-License-Identifier: MIT */
/* kept_profiles.c - see kept_profiles.h. */
#include "kept_profiles.h"

#include <string.h>
#include <unistd.h>

void kept_profiles_drop_oldest(struct kept_profiles *kept)
{
	close(kept->profile[0].fd);
	kept->bytes -= kept->profile[0].bytes;
	kept->count--;
	memmove(kept->profile, kept->profile + 1, kept->count * sizeof(*kept->profile));
}

void kept_profiles_drop_all(struct kept_profiles *kept)
{
	while (kept->count)
		kept_profiles_drop_oldest(kept);
}

void kept_profiles_add(struct kept_profiles *kept, uint64_t time, int fd, uint64_t bytes)
{
	/* a clock that was set back: names have to rise */
	if (kept->count && time <= kept->profile[kept->count - 1].time)
		time = kept->profile[kept->count - 1].time + 1;
	if (kept->count == KEPT_PROFILES_MAX)
		kept_profiles_drop_oldest(kept);
	kept->profile[kept->count++] = (struct kept_profile){time, bytes, fd};
	kept->bytes += bytes;
}

const struct kept_profile *kept_profiles_find(const struct kept_profiles *kept, uint64_t time)
{
	for (size_t i = 0; i < kept->count; i++)
		if (kept->profile[i].time == time)
			return &kept->profile[i];
	return NULL;
}
