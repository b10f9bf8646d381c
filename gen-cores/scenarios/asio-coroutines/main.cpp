// Coroutines of Asio: some wait for timers, one for a socket; and operations without coroutines: a timer, a socket, a
// handler that was posted. Each coroutine tells in coroutines.jsonl its function, its line, and how many await it, and the
// innermost what they wait for; reactors.jsonl has all that waits.
#include "truth.h"

#include <asio.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;

static FILE *out, *reactors;

/* FUNCTION waits in LINE, so many calls below the one that was spawned. */
static void tell(const char *function, int line, int depth)
{
	fprintf(out, "{\"function\":\"%s\",\"line\":%d,\"depth\":%d}\n", function, line, depth);
	fflush(out);
}

/* Seconds of the monotonic clock. */
static std::string seconds(const asio::steady_timer &timer)
{
	long long nanos = timer.expiry().time_since_epoch() / std::chrono::nanoseconds(1);
	char text[64];
	snprintf(text, sizeof text, "%lld.%03lld", nanos / 1000000000, nanos % 1000000000 / 1000000);
	return text;
}

/* An operation on a file descriptor, or none. */
static void waits(const char *event, int fd)
{
	fprintf(reactors, "{\"event\":\"%s\",\"fd\":%d}\n", event, fd);
	fflush(reactors);
}

static void waits(const asio::steady_timer &timer)
{
	fprintf(reactors, "{\"event\":\"timer\",\"deadline\":\"%s\"}\n", seconds(timer).c_str());
	fflush(reactors);
}

#define HERE(depth) tell(__func__, __LINE__, depth)

static awaitable<void> sleeps(int hours)
{
	asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::hours(hours));
	waits(timer);
	HERE(2), co_await timer.async_wait(use_awaitable);
}

static awaitable<int> works(int hours)
{
	HERE(1), co_await sleeps(hours);
	co_return hours;
}

static awaitable<void> session(int hours)
{
	HERE(0), (void)co_await works(hours);
}

static awaitable<void> listens(tcp::acceptor &acceptor)
{
	waits("read", acceptor.native_handle());
	HERE(0), (void)co_await acceptor.async_accept(use_awaitable);
}

int main()
{
	out = fopen("coroutines.jsonl", "w");
	reactors = fopen("reactors.jsonl", "w");
	asio::io_context io;
	tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
	for (int hours = 1; hours <= 3; hours++)
		asio::co_spawn(io, session(hours), asio::detached);
	asio::co_spawn(io, listens(acceptor), asio::detached);
	asio::steady_timer plain(io, std::chrono::hours(9));
	plain.async_wait([](asio::error_code) {});
	waits(plain);
	asio::ip::udp::socket socket(io, asio::ip::udp::endpoint(asio::ip::address_v4::loopback(), 0));
	char bytes[16];
	socket.async_receive(asio::buffer(bytes), [](asio::error_code, std::size_t) {});
	waits("read", socket.native_handle());
	io.poll();
	asio::post(io, [] {});
	waits("posted", -1);
	DIE_IN("libc", abort());
}
