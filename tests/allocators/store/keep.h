// SPDX-License-Identifier: MIT
//
// keep.h - what the server keeps: a cache of texts, and sessions. Each kind of block is allocated
// by one function, by another function of the allocator, and freed by the one that belongs to it.
//
// Callers hold the lock of what they change.
#ifndef KEEP_H
#define KEEP_H

#include <cstddef>
#include <cstdint>
#include <string>

struct Entry { // operator new, freed by sized operator delete
	uint64_t key;
	char *text; // operator new[]
	size_t length;
	uint32_t mark, text_mark;
	Entry *next; // of those with the same hash
	Entry *older, *newer;
	uint64_t about[8];
};

struct alignas(64) Page { // aligned operator new
	Page *next;
	uint32_t mark;
	char text[8192 - 128];
};

struct Session {
	uint64_t number;
	char *name; // strdup: libc calls malloc
	uint32_t mark, name_mark, log_mark;
	char *log; // realloc
	size_t log_used, log_size;
	Page *pages;
	size_t page_used;
	Session *next;
	uint64_t about[48];
};

Entry *add_entry(uint64_t key, const std::string &text);
void drop_entry(Entry *entry);
Session *open_session(uint64_t number, const std::string &name);
void add_to_log(Session *session, const std::string &text);
void close_session(Session *session);

#endif
