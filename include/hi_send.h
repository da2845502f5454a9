/* SPDX-License-Identifier: MIT */
/*
 * hi_send.h - one request by HTTP that takes bytes to a server. cmd/push/ calls it, in a process of
 * its own; analyzer/fetch/, which knows libcurl, has it.
 */
#ifndef HI_SEND_H
#define HI_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HI_SEND_TEXT_MAX 256u
#define HI_SEND_ANSWER_MAX 4096u
#define HI_SEND_NO_GRPC_STATUS (-1)

struct hi_send {
	const char *url;            /* http or https */
	const char *const *headers; /* whole lines; the last one is NULL */
	const void *body;
	size_t size;
	uint64_t timeout_ms; /* for all of it, above 0 */
	bool is_grpc;        /* HTTP/2, without TLS from the first byte on; otherwise HTTP/1.1 */
	bool is_direct;      /* by no proxy that the environment names */
	/* asked often meanwhile: true gives up; may be NULL */
	bool (*gives_up)(void *context);
	void *context;
};

struct hi_sent {
	/*
	 * 0 = the server has answered. Otherwise negative errno: it has not, or not wholly, and
	 * was_taken says whether it may have taken the bytes all the same.
	 */
	int err;
	bool was_taken;
	long status;            /* of HTTP; 0 = there was none */
	int grpc_status;        /* HI_SEND_NO_GRPC_STATUS = there was none */
	bool is_page;           /* the answer is HTML: that of a proxy, or of another server */
	uint64_t retry_after_s; /* what the server asks to wait; 0 = it does not say */
	/* what is wrong, or the beginning of what the server says; printable ASCII */
	char text[HI_SEND_TEXT_MAX];
	/* the answer as it came; what is longer is cut off */
	uint8_t answer[HI_SEND_ANSWER_MAX];
	size_t answer_size;
};

/*
 * To be called before rights are given up that loading libcurl needs. False: `text` says why
 * nothing can be sent. grpc: HTTP/2 will be needed.
 */
bool hi_send_prepare(bool is_grpc, char text[HI_SEND_TEXT_MAX]);
void hi_send(const struct hi_send *request, struct hi_sent *out_sent);

#endif
