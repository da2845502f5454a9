/* SPDX-License-Identifier: MIT */
/*
 * peer_user.c - see peer_user.h. Only of a connection within this machine (and network namespace)
 * does the kernel know the other end. Netlink has one socket by its addresses (sock_diag(7));
 * /proc/net/tcp would have to be read to its end for each request.
 */
#include "peer_user.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* Port and address as the kernel has them, in the order of the network. */
static void split(const union address *address, __be16 *out_port, __be32 out_ip[4])
{
	if (address->any.sa_family == AF_INET) {
		*out_port = address->v4.sin_port;
		memcpy(out_ip, &address->v4.sin_addr, sizeof(address->v4.sin_addr));
	} else {
		*out_port = address->v6.sin6_port;
		memcpy(out_ip, &address->v6.sin6_addr, sizeof(address->v6.sin6_addr));
	}
}

/* What is ours is the other end's peer. */
static int ask_for(int connection, struct question *out_question)
{
	union address own = {0}, peer = {0};
	socklen_t own_size = sizeof(own), peer_size = sizeof(peer);
	struct question *question = out_question;

	if (getsockname(connection, &own.any, &own_size) ||
	    getpeername(connection, &peer.any, &peer_size))
		return -errno;
	if (own.any.sa_family != AF_INET && own.any.sa_family != AF_INET6)
		return -EAFNOSUPPORT;
	*question = (struct question){
		.head = {.nlmsg_len = sizeof(*question),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST},
		.body = {.sdiag_family = (__u8)own.any.sa_family,
			 .sdiag_protocol = IPPROTO_TCP,
			 .idiag_states = UINT32_MAX,
			 .id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}};
	split(&peer, &question->body.id.idiag_sport, question->body.id.idiag_src);
	split(&own, &question->body.id.idiag_dport, question->body.id.idiag_dst);
	return 0;
}

/*
 * A socket that no process has any more has no inode, and the user is then said to be root. Where
 * none is connected, the kernel answers with one that listens at the port.
 */
static bool is_held(const struct question *question, const struct inet_diag_msg *found)
{
	return found->idiag_inode && found->idiag_state != TCP_LISTEN &&
	       found->id.idiag_sport == question->body.id.idiag_sport &&
	       found->id.idiag_dport == question->body.id.idiag_dport;
}

static int read_answer(int netlink, const struct question *question, uid_t *out_uid)
{
	union {
		struct nlmsghdr head;
		char bytes[4096];
	} answer;
	const ssize_t size = recv(netlink, &answer, sizeof(answer), 0);

	if (size < 0)
		return -errno;
	if (!NLMSG_OK(&answer.head, (size_t)size))
		return -EPROTO;
	if (answer.head.nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *error = NLMSG_DATA(&answer.head);

		return answer.head.nlmsg_len >= NLMSG_LENGTH(sizeof(*error)) && error->error
			       ? error->error
			       : -EPROTO;
	}
	const struct inet_diag_msg *found = NLMSG_DATA(&answer.head);
	if (answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    answer.head.nlmsg_len < NLMSG_LENGTH(sizeof(*found)))
		return -EPROTO;
	if (!is_held(question, found))
		return -ENOENT;
	*out_uid = found->idiag_uid;
	return 0;
}

int peer_user(int connection, uid_t *out_uid)
{
	const struct timeval patience = {.tv_sec = 1};
	struct question question;
	int err = ask_for(connection, &question);

	if (err)
		return err;
	const int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (netlink < 0)
		return -errno;
	(void)setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	err = send(netlink, &question, sizeof(question), 0) < 0
		      ? -errno
		      : read_answer(netlink, &question, out_uid);
	close(netlink);
	return err;
}

/* What connects to an address of this machine has the same one, or one of loopback. */
static bool is_within_machine(int connection)
{
	union address own = {0}, peer = {0};
	socklen_t own_size = sizeof(own), peer_size = sizeof(peer);
	__be32 own_ip[4] = {0}, peer_ip[4] = {0};
	__be16 port;

	if (getsockname(connection, &own.any, &own_size) ||
	    getpeername(connection, &peer.any, &peer_size))
		return false;
	split(&own, &port, own_ip);
	split(&peer, &port, peer_ip);
	return memcmp(own_ip, peer_ip, sizeof(own_ip)) == 0 ||
	       (peer.any.sa_family == AF_INET && ntohl(peer_ip[0]) >> 24 == IN_LOOPBACKNET);
}

bool peer_is_gone(int connection)
{
	uid_t uid;
	char byte;
	const ssize_t got = recv(connection, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT);

	if (got)
		return got < 0 && errno != EAGAIN && errno != EINTR;
	return is_within_machine(connection) && peer_user(connection, &uid) == -ENOENT;
}
