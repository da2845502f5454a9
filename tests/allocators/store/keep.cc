// SPDX-License-Identifier: MIT
#include "keep.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "held.h"

#define NOINLINE __attribute__((noinline, noipa))

const char *const holder_names[HOLDERS] = {"copy_text", "new_entry", "new_session",
					   "grow_log",  "new_page",  "keep_name"};
Ledger ledger;

// No function here ends in the call that allocates: such a call would leave no frame of the
// function.

static NOINLINE char *copy_text(const std::string &text, uint32_t *out_mark)
{
	char *copy = new char[text.size()];

	memcpy(copy, text.data(), text.size());
	*out_mark = ledger.add(COPY_TEXT, text.size());
	return copy;
}

static NOINLINE Entry *new_entry(uint64_t key)
{
	Entry *entry = new Entry();

	entry->mark = ledger.add(NEW_ENTRY, sizeof(*entry));
	entry->key = key;
	return entry;
}

Entry *add_entry(uint64_t key, const std::string &text)
{
	Entry *const entry = new_entry(key);

	entry->length = text.size();
	entry->text = copy_text(text, &entry->text_mark);
	return entry;
}

void drop_entry(Entry *entry)
{
	ledger.remove(COPY_TEXT, entry->text_mark, entry->length);
	ledger.remove(NEW_ENTRY, entry->mark, sizeof(*entry));
	delete[] entry->text;
	delete entry;
}

static NOINLINE char *keep_name(const std::string &name, uint32_t *out_mark)
{
	char *copy = strdup(name.c_str());

	if (!copy)
		throw std::bad_alloc();
	*out_mark = ledger.add(KEEP_NAME, strlen(copy) + 1);
	return copy;
}

static NOINLINE Session *new_session(uint64_t number)
{
	Session *session = new Session();

	session->mark = ledger.add(NEW_SESSION, sizeof(*session));
	session->number = number;
	return session;
}

Session *open_session(uint64_t number, const std::string &name)
{
	Session *const session = new_session(number);

	session->name = keep_name(name, &session->name_mark);
	return session;
}

static NOINLINE void grow_log(Session *session, size_t size)
{
	void *const log = realloc(session->log, size);

	if (!log)
		throw std::bad_alloc();
	if (session->log)
		ledger.remove(GROW_LOG, session->log_mark, session->log_size);
	session->log_mark = ledger.add(GROW_LOG, size);
	session->log = static_cast<char *>(log);
	session->log_size = size;
}

static NOINLINE Page *new_page(Page *next)
{
	Page *page = new Page();

	page->mark = ledger.add(NEW_PAGE, sizeof(*page));
	page->next = next;
	return page;
}

// Short texts go to the log, which is enlarged; long ones go to a page of their own.
void add_to_log(Session *session, const std::string &text)
{
	if (text.size() > 1024 && text.size() <= sizeof(session->pages->text)) {
		session->pages = new_page(session->pages);
		memcpy(session->pages->text, text.data(), text.size());
	}
	const size_t room = session->log_size - session->log_used;
	const size_t length = text.size() > 1024 ? 1024 : text.size();
	if (length > room)
		grow_log(session, (session->log_used + length) * 3 / 2);
	memcpy(session->log + session->log_used, text.data(), length);
	session->log_used += length;
}

void close_session(Session *session)
{
	while (session->pages) {
		Page *const page = session->pages;

		session->pages = page->next;
		ledger.remove(NEW_PAGE, page->mark, sizeof(*page));
		delete page;
	}
	if (session->log)
		ledger.remove(GROW_LOG, session->log_mark, session->log_size);
	ledger.remove(KEEP_NAME, session->name_mark, strlen(session->name) + 1);
	ledger.remove(NEW_SESSION, session->mark, sizeof(*session));
	free(session->log);
	free(session->name);
	delete session;
}
