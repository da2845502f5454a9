// SPDX-License-Identifier: MIT
//
// A server on loopback, with a cache and sessions, that knows what it holds: see held.h. Each
// worker waits for its connections by epoll. Prints its port once it listens, and ends with its
// standard input.
#include <atomic>
#include <cstdio>
#include <gflags/gflags.h>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include "held.h"
#include "keep.h"
#include "own_profile.h"
#include "store.pb.h"
#include "wire.h"

DEFINE_int32(workers, 3, "threads that serve");
DEFINE_uint64(cache_bytes, 96 << 20, "texts in the cache; what is older is dropped");

namespace
{

constexpr size_t BUCKETS = 1 << 16;

class Cache
{
      public:
	void put(uint64_t key, const std::string &text)
	{
		const std::lock_guard<std::mutex> lock(mutex);
		Entry **place = find(key);

		if (*place)
			drop(place);
		Entry *entry = add_entry(key, text);
		place = &buckets[key % BUCKETS];
		entry->next = *place;
		*place = entry;
		entry->older = newest;
		(newest ? newest->newer : oldest) = entry;
		newest = entry;
		bytes += text.size();
		while (bytes > FLAGS_cache_bytes)
			drop(find(oldest->key));
	}
	bool get(uint64_t key, std::string *out_text)
	{
		const std::lock_guard<std::mutex> lock(mutex);
		const Entry *entry = *find(key);

		if (entry)
			out_text->assign(entry->text, entry->length);
		return entry;
	}

      private:
	Entry **find(uint64_t key)
	{
		Entry **place = &buckets[key % BUCKETS];

		while (*place && (*place)->key != key)
			place = &(*place)->next;
		return place;
	}
	void drop(Entry **place)
	{
		Entry *const entry = *place;

		*place = entry->next;
		(entry->older ? entry->older->newer : oldest) = entry->newer;
		(entry->newer ? entry->newer->older : newest) = entry->older;
		bytes -= entry->length;
		drop_entry(entry);
	}

	std::mutex mutex;
	Entry *buckets[BUCKETS] = {}, *oldest = nullptr, *newest = nullptr;
	size_t bytes = 0;
};

class Sessions
{
      public:
	uint64_t login(const std::string &name)
	{
		const std::lock_guard<std::mutex> lock(mutex);
		Session *session = open_session(++last, name);
		Session **place = &buckets[session->number % BUCKETS];

		session->next = *place;
		*place = session;
		return session->number;
	}
	bool say(uint64_t number, const std::string &text)
	{
		const std::lock_guard<std::mutex> lock(mutex);
		Session *session = *find(number);

		if (session)
			add_to_log(session, text);
		return session;
	}
	bool logout(uint64_t number, std::string *out_text)
	{
		const std::lock_guard<std::mutex> lock(mutex);
		Session **place = find(number);
		Session *const session = *place;

		if (!session)
			return false;
		*out_text = session->name;
		out_text->append(session->log ? session->log : "", session->log_used);
		*place = session->next;
		close_session(session);
		return true;
	}

      private:
	Session **find(uint64_t number)
	{
		Session **place = &buckets[number % BUCKETS];

		while (*place && (*place)->number != number)
			place = &(*place)->next;
		return place;
	}

	std::mutex mutex;
	Session *buckets[BUCKETS] = {};
	uint64_t last = 0;
};

Cache cache;
Sessions sessions;

void tell_held(uint64_t mark, store::Reply *reply)
{
	for (int holder = 0; holder < HOLDERS; holder++) {
		int64_t bytes, objects;
		store::Held *held = reply->add_held();

		ledger.since(static_cast<uint32_t>(mark), static_cast<Holder>(holder), &bytes,
			     &objects);
		held->set_function(holder_names[holder]);
		held->set_bytes(bytes);
		held->set_objects(objects);
	}
}

void serve(const store::Request &request, store::Reply *reply)
{
	switch (request.kind()) {
	case store::PUT:
		cache.put(request.key(), request.text());
		reply->set_found(true);
		break;
	case store::GET:
		reply->set_found(cache.get(request.key(), reply->mutable_text()));
		break;
	case store::LOGIN:
		reply->set_number(sessions.login(request.text()));
		reply->set_found(true);
		break;
	case store::SAY:
		reply->set_found(sessions.say(request.number(), request.text()));
		break;
	case store::LOGOUT:
		reply->set_found(sessions.logout(request.number(), reply->mutable_text()));
		break;
	case store::MARK:
		reply->set_number(ledger.new_mark());
		reply->set_found(reply->number() != 0);
		break;
	case store::HELD:
		tell_held(request.number(), reply);
		reply->set_found(true);
		break;
	case store::PROFILE:
		reply->set_found(own_profile_begin());
		break;
	case store::DUMP:
		reply->set_found(own_profile_end(request.text()));
		break;
	case store::COUNTER:
		reply->set_number(own_counter());
		reply->set_found(true);
		break;
	default:
		break;
	}
}

// Reads what there is, and answers what is complete. False: the connection has ended.
bool advance(int fd, std::string *bytes)
{
	char buffer[16384];
	const ssize_t got = recv(fd, buffer, sizeof(buffer), 0);
	store::Request request;
	int taken;

	if (got <= 0)
		return false;
	bytes->append(buffer, static_cast<size_t>(got));
	while ((taken = unframe(bytes, &request)) > 0) {
		store::Reply reply;

		serve(request, &reply);
		if (!send_all(fd, frame(reply)))
			return false;
	}
	return taken == 0;
}

void work(int epoll)
{
	std::unordered_map<int, std::string> waiting; // what came of a message that is not complete

	for (;;) {
		epoll_event events[16];
		const int count = epoll_wait(epoll, events, 16, -1);

		for (int i = 0; i < count; i++) {
			const int fd = events[i].data.fd;

			if (!advance(fd, &waiting[fd])) {
				waiting.erase(fd);
				close(fd);
			}
		}
	}
}

int listen_on_loopback(uint16_t *out_port)
{
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	sockaddr_in address = {};
	socklen_t length = sizeof(address);

	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, reinterpret_cast<sockaddr *>(&address), length) ||
	    listen(listener, 64) ||
	    getsockname(listener, reinterpret_cast<sockaddr *>(&address), &length))
		return -1;
	*out_port = ntohs(address.sin_port);
	return listener;
}

void accept_all(int listener, const std::vector<int> &epolls)
{
	for (size_t next = 0;; next++) {
		const int fd = accept(listener, nullptr, nullptr), yes = 1;
		epoll_event event = {};

		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
		event.events = EPOLLIN;
		event.data.fd = fd;
		epoll_ctl(epolls[next % epolls.size()], EPOLL_CTL_ADD, fd, &event);
	}
}

} // namespace

int main(int argc, char **argv)
{
	uint16_t port;
	std::vector<int> epolls;
	char byte;

	gflags::ParseCommandLineFlags(&argc, &argv, true);
	const int listener = listen_on_loopback(&port);
	if (listener < 0) {
		perror("listen");
		return 1;
	}
	for (int i = 0; i < FLAGS_workers; i++) {
		epolls.push_back(epoll_create1(0));
		std::thread(work, epolls.back()).detach();
	}
	std::thread(accept_all, listener, epolls).detach();
	printf("%u\n", port);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	_exit(0);
}
