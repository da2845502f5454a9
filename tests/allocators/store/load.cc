// SPDX-License-Identifier: MIT
//
// Load for the server of the store, that checks every reply. Its connections make --rate requests a
// second together. It answers lines of standard input:
//
//   state             requests served, and replies that were wrong or did not come
//   pause, resume     "ok" once no request is under way
//   mark              number of a new mark
//   held MARK         of each function: name, bytes, objects
//   profile           "ok" once the server's own profile has begun
//   dump FILE         "ok" once it is in the file
//   counter           what the allocator has allocated
#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <gflags/gflags.h>
#include <iostream>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <random>
#include <sstream>
#include <thread>
#include <unistd.h>
#include <vector>

#include "store.pb.h"
#include "wire.h"

DEFINE_int32(port, 0, "of the server");
DEFINE_int32(connections, 6, "");
DEFINE_int32(rate, 1200, "requests a second");

namespace
{

std::atomic<uint64_t> served{0}, wrong{0};
std::atomic<bool> is_paused{false};
std::atomic<int> under_way{0};
constexpr int ANSWER_SECONDS = 30;

class Connection
{
      public:
	Connection() : fd(socket(AF_INET, SOCK_STREAM, 0))
	{
		const int yes = 1;
		const timeval patience = {ANSWER_SECONDS, 0};
		sockaddr_in address = {};

		address.sin_family = AF_INET;
		address.sin_port = htons(static_cast<uint16_t>(FLAGS_port));
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		if (connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address))) {
			perror("connect");
			exit(1);
		}
	}
	// False: there is no answer, or it says no.
	bool ask(const store::Request &request, store::Reply *out_reply)
	{
		char buffer[16384];
		int taken;

		if (!send_all(fd, frame(request)))
			return false;
		while ((taken = unframe(&bytes, out_reply)) == 0) {
			const ssize_t got = recv(fd, buffer, sizeof(buffer), 0);

			if (got <= 0)
				return false;
			bytes.append(buffer, static_cast<size_t>(got));
		}
		return taken > 0;
	}

      private:
	int fd;
	std::string bytes;
};

// The text of a key and version: what it says can be told again.
std::string text_of(uint64_t seed, size_t least, size_t most)
{
	std::minstd_rand random(static_cast<uint32_t>(seed * 2654435761u + 1));
	std::string text(least + random() % (most - least), '\0');

	for (char &letter : text)
		letter = static_cast<char>('a' + random() % 26);
	return text;
}

struct Visit {
	uint64_t number;
	std::string said;
};

// A client with keys and sessions of its own, so that it knows what the server must answer.
class Client
{
      public:
	explicit Client(int index) : index(static_cast<uint64_t>(index) << 32), random(index + 1)
	{
	}
	bool step()
	{
		const uint32_t chance = random() % 100;

		if (chance < 40)
			return put();
		if (chance < 65)
			return get();
		if (visits.empty() || (chance < 75 && visits.size() < 2000))
			return login();
		if (chance < 95 || visits.size() < 200)
			return say();
		return logout();
	}

      private:
	// New keys mostly, and some of before, whose text is replaced.
	bool put()
	{
		const bool is_new = versions.empty() || random() % 4;
		const uint64_t key = is_new ? versions.size() : random() % versions.size();

		if (is_new)
			versions.push_back(0);
		request.Clear();
		request.set_kind(store::PUT);
		request.set_key(index + key);
		request.set_text(text_of(index + key + ++versions[key] * 7919, 400, 4000));
		return connection.ask(request, &reply) && reply.found();
	}
	// What is in the cache is what was put last; what is old may be gone.
	bool get()
	{
		if (versions.empty())
			return put();
		const uint64_t key = random() % versions.size();
		request.Clear();
		request.set_kind(store::GET);
		request.set_key(index + key);
		return connection.ask(request, &reply) &&
		       (!reply.found() ||
			reply.text() == text_of(index + key + versions[key] * 7919, 400, 4000));
	}
	bool login()
	{
		const std::string name = text_of(index + logins++, 20, 60);

		request.Clear();
		request.set_kind(store::LOGIN);
		request.set_text(name);
		if (!connection.ask(request, &reply) || !reply.found())
			return false;
		visits.push_back({reply.number(), name});
		return true;
	}
	bool say()
	{
		Visit &visit = visits[random() % visits.size()];
		const std::string text = text_of(random(), 10, random() % 5 ? 300 : 3900);

		request.Clear();
		request.set_kind(store::SAY);
		request.set_number(visit.number);
		request.set_text(text);
		visit.said.append(text, 0, 1024);
		return connection.ask(request, &reply) && reply.found();
	}
	bool logout()
	{
		const size_t which = random() % visits.size();

		request.Clear();
		request.set_kind(store::LOGOUT);
		request.set_number(visits[which].number);
		const bool is_right = connection.ask(request, &reply) && reply.found() &&
				      reply.text() == visits[which].said;
		visits.erase(visits.begin() + static_cast<long>(which));
		return is_right;
	}

	const uint64_t index;
	std::minstd_rand random;
	std::vector<uint32_t> versions;
	std::vector<Visit> visits;
	uint64_t logins = 0;
	Connection connection;
	store::Request request;
	store::Reply reply;
};

void drive(int index)
{
	using clock = std::chrono::steady_clock;
	const auto period = std::chrono::nanoseconds(1000000000ll * FLAGS_connections / FLAGS_rate);
	Client client(index);

	for (auto due = clock::now();; due += period) {
		std::this_thread::sleep_until(due);
		if (clock::now() - due > std::chrono::milliseconds(500))
			due = clock::now();
		under_way++;
		if (!is_paused) {
			if (!client.step()) {
				wrong++;
				under_way--;
				return; // of what comes after it nothing is known
			}
			served++;
		}
		under_way--;
	}
}

std::string answer(Connection *connection, const std::string &line)
{
	static const std::map<std::string, store::Kind> kinds = {{"mark", store::MARK},
								 {"held", store::HELD},
								 {"profile", store::PROFILE},
								 {"dump", store::DUMP},
								 {"counter", store::COUNTER}};
	std::istringstream words(line);
	std::ostringstream out;
	std::string word, text;
	store::Request request;
	store::Reply reply;

	words >> word;
	if (word == "state") {
		out << served << " " << wrong;
		return out.str();
	}
	if (word == "pause" || word == "resume") {
		is_paused = word == "pause";
		for (int i = 0; is_paused && under_way && i < 100 * ANSWER_SECONDS; i++)
			std::this_thread::sleep_for(std::chrono::milliseconds(10));
		return is_paused && under_way ? "still under way" : "ok";
	}
	if (!kinds.count(word))
		return "what?";
	request.set_kind(kinds.at(word));
	if (words >> text && word == "dump")
		request.set_text(text);
	else if (word == "held")
		request.set_number(std::stoull(text));
	if (!connection->ask(request, &reply) || !reply.found())
		return "no";
	for (const store::Held &held : reply.held())
		out << held.function() << " " << held.bytes() << " " << held.objects() << " ";
	if (request.kind() == store::MARK || request.kind() == store::COUNTER)
		out << reply.number();
	return out.str().empty() ? "ok" : out.str();
}

} // namespace

int main(int argc, char **argv)
{
	gflags::ParseCommandLineFlags(&argc, &argv, true);
	Connection connection;
	for (int i = 0; i < FLAGS_connections; i++)
		std::thread(drive, i).detach();
	for (std::string line; std::getline(std::cin, line);)
		std::cout << answer(&connection, line) << std::endl;
	_exit(0);
}
