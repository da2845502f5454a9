// SPDX-License-Identifier: MIT
//
// own_profile.h - what the allocator itself says of its heap: gperftools' heap profiler, which
// counts every allocation, or jemalloc's sampled profile. Chosen at compile time by OWN_TCMALLOC,
// OWN_JEMALLOC; without them there is none.
#ifndef OWN_PROFILE_H
#define OWN_PROFILE_H

#include <cstdint>
#include <string>

bool own_profile_begin();
bool own_profile_end(const std::string &file);
uint64_t own_counter();

#endif
