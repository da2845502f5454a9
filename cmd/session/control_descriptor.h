/* SPDX-License-Identifier: MIT */
/*
 * control_descriptor.h - a descriptor of sealed memory as the answer to a request
 * (control_socket.h).
 */
#ifndef HI_CONTROL_DESCRIPTOR_H
#define HI_CONTROL_DESCRIPTOR_H

#include <stddef.h>

/*
 * Answers "ok" with a descriptor, which other clients may have, too: they are to open it anew, for
 * a position of their own. Returns 0 or negative errno. The caller closes both.
 */
int control_descriptor_give(int connection, int fd);
/*
 * Reads such an answer: the descriptor, opened anew for reading. Or negative errno: -EREMOTEIO: the
 * answer is another one, which is in `text`, terminated, untrusted; -EPERM: what was given is not
 * sealed memory.
 */
int control_descriptor_take(int connection, char *text, size_t size);

#endif
