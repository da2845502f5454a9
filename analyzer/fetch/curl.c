/* SPDX-License-Identifier: MIT */
/* curl.c - see curl.h. */
#include "curl.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>

#include "shared_library.h"

const struct curl_library *curl_load(void)
{
	static const char *const files[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
	static struct curl_library library;
	void *from = NULL;

	if (library.init)
		return &library;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !from; i++)
		from = shared_library_open(files[i]);
	return from && shared_library_find(from, "curl_easy_setopt", &library.set) &&
			       shared_library_find(from, "curl_easy_perform", &library.perform) &&
			       shared_library_find(from, "curl_easy_getinfo", &library.get_info) &&
			       shared_library_find(from, "curl_easy_strerror", &library.explain) &&
			       shared_library_find(from, "curl_easy_cleanup", &library.cleanup) &&
			       shared_library_find(from, "curl_slist_append",
						   &library.list_append) &&
			       shared_library_find(from, "curl_slist_free_all",
						   &library.list_free) &&
			       shared_library_find(from, "curl_easy_init", &library.init)
		       ? &library
		       : NULL;
}

void curl_explain_none(const char *what, const char *when_static, char *text, unsigned size)
{
	if (shared_library_is_loadable())
		snprintf(text, size,
			 "%s by libcurl.so.4, which is not installed (Debian: libcurl4)", what);
	else
		snprintf(text, size, "%s", when_static);
}

int curl_perform(const struct curl_library *library, void *curl)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction before;
	const bool is_ignored = sigaction(SIGPIPE, &ignore, &before) == 0;
	const int code = library->perform(curl);

	if (is_ignored)
		sigaction(SIGPIPE, &before, NULL);
	return code;
}
