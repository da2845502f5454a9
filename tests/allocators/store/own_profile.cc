// SPDX-License-Identifier: MIT
#include "own_profile.h"

#if defined(OWN_TCMALLOC)
#include <cstdio>
#include <cstdlib>
#include <gperftools/heap-profiler.h>
#include <gperftools/malloc_extension.h>

bool own_profile_begin()
{
	HeapProfilerStart("/dev/null"); // it is not written there, but where own_profile_end says
	return IsHeapProfilerRunning();
}

bool own_profile_end(const std::string &file)
{
	char *const profile = GetHeapProfile();
	FILE *const out = fopen(file.c_str(), "w");
	const bool is_good = out && fputs(profile, out) >= 0;

	free(profile);
	HeapProfilerStop();
	return out && fclose(out) == 0 && is_good;
}

uint64_t own_counter()
{
	size_t bytes = 0;

	MallocExtension::instance()->GetNumericProperty("generic.current_allocated_bytes", &bytes);
	return bytes;
}

#elif defined(OWN_JEMALLOC)
#include <jemalloc/jemalloc.h>

// Until it begins, it takes no samples; then one per 16 KiB.
const char *malloc_conf = "prof:true,prof_active:false,lg_prof_sample:14";

static bool set_active(bool is_active)
{
	return mallctl("prof.active", nullptr, nullptr, &is_active, sizeof(is_active)) == 0;
}

bool own_profile_begin()
{
	return mallctl("prof.reset", nullptr, nullptr, nullptr, 0) == 0 && set_active(true);
}

bool own_profile_end(const std::string &file)
{
	const char *name = file.c_str();
	const bool is_good = mallctl("prof.dump", nullptr, nullptr, &name, sizeof(name)) == 0;

	return set_active(false) && is_good;
}

uint64_t own_counter()
{
	uint64_t epoch = 1;
	size_t bytes = 0, length = sizeof(bytes);

	mallctl("epoch", nullptr, nullptr, &epoch, sizeof(epoch));
	mallctl("stats.allocated", &bytes, &length, nullptr, 0);
	return bytes;
}

#else

bool own_profile_begin()
{
	return false;
}

bool own_profile_end(const std::string &)
{
	return false;
}

uint64_t own_counter()
{
	return 0;
}
#endif
