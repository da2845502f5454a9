// SPDX-License-Identifier: MIT
//
// wire.h - messages after their lengths, for client and server.
#ifndef WIRE_H
#define WIRE_H

#include <cstdint>
#include <cstring>
#include <string>
#include <sys/socket.h>

constexpr uint32_t MESSAGE_MAX = 1 << 20;

inline bool send_all(int fd, const std::string &bytes)
{
	for (size_t sent = 0; sent < bytes.size();) {
		const ssize_t done =
			send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);

		if (done < 0)
			return false;
		sent += static_cast<size_t>(done);
	}
	return true;
}

template <typename Message> std::string frame(const Message &message)
{
	std::string bytes(sizeof(uint32_t), '\0');
	message.AppendToString(&bytes);
	const uint32_t length = static_cast<uint32_t>(bytes.size() - sizeof(length));
	memcpy(&bytes[0], &length, sizeof(length));
	return bytes;
}

// Takes the first message off; 1: there was one, 0: not yet, -1: it is none.
template <typename Message> int unframe(std::string *bytes, Message *out_message)
{
	uint32_t length;

	if (bytes->size() < sizeof(length))
		return 0;
	memcpy(&length, bytes->data(), sizeof(length));
	if (length > MESSAGE_MAX)
		return -1;
	if (bytes->size() - sizeof(length) < length)
		return 0;
	if (!out_message->ParseFromArray(bytes->data() + sizeof(length), static_cast<int>(length)))
		return -1;
	bytes->erase(0, sizeof(length) + length);
	return 1;
}

#endif
