/* SPDX-License-Identifier: MIT */
/* cli_push.h - the options by which attach, run and guard push their profiles to a server. */
#ifndef HI_CLI_PUSH_H
#define HI_CLI_PUSH_H

#include "hi_options.h"
#include "push_options.h"

/* Their codes, from here to below CLI_PUSH_END. */
#define CLI_PUSH_OPTIONS 300
#define CLI_PUSH_END 320

/* The last one has no name. */
extern const struct option cli_push_options[];
/* Their lines of the help of attach. */
#define CLI_PUSH_HELP                                                                             \
	"      --push URL         send each profile that is written to a server, too: "           \
	"http://localhost:4040 (Pyroscope), https://HOST;\n"                                      \
	"                         the session never waits for it, and what it does not take "     \
	"waits "                                                                                  \
	"on the disk, also for the next session\n"                                                \
	"      --push-protocol pyroscope|parca|otlp  what the server is (default: parca at port " \
	"7070, otlp at port 4318, else pyroscope)\n"                                              \
	"      --push-label LABEL  NAME=VALUE, besides the program's name, host and pid; again "  \
	"for "                                                                                    \
	"another; NAME= leaves one out\n"                                                         \
	"      --push-token FILE  whose first line is a token, or USER:PASSWORD (default: "       \
	"HEAPINJECT_PUSH_TOKEN in the environment)\n"                                             \
	"      --push-tenant NAME  for a server with several tenants\n"                           \
	"      --push-spool PATH  the directory in which profiles wait, in one of their own "     \
	"(default: where the files are)\n"                                                        \
	"      --push-spool-max BYTES  the oldest ones beyond that are dropped (default 256M)\n"  \
	"      --push-wait TIME   at the end, wait so long at most until all are sent (default "  \
	"10s)\n"                                                                                  \
	"      --push-plain       allow http to another machine\n"                                \
	"      --experimental     allow otlp, whose profiles are alpha and may change\n"

/* These return HI_EXIT_OK, or HI_EXIT_USAGE once the error is printed. */
int cli_push_parse(const char *command, int option, const struct hi_options *given,
		   struct push_options *options);
/* Once all are read. */
int cli_push_complete(const char *command, struct push_options *options);

#endif
