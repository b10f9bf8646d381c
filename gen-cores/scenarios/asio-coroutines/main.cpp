// Coroutines of Asio: some wait for timers, one for a socket, one for a channel's worth of others, under abort() in a
// handler. Each tells in coroutines.jsonl its function, its line, and how many await it.
#include "truth.h"

#include <asio.hpp>
#include <cstdio>
#include <cstdlib>
#include <optional>

using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;

static FILE *out;

/* FUNCTION waits in LINE, so many calls below the one that was spawned. */
static void tell(const char *function, int line, int depth)
{
	fprintf(out, "{\"function\":\"%s\",\"line\":%d,\"depth\":%d}\n", function, line, depth);
	fflush(out);
}

#define HERE(depth) tell(__func__, __LINE__, depth)

static awaitable<void> sleeps(int hours)
{
	asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::hours(hours));
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
	HERE(0), (void)co_await acceptor.async_accept(use_awaitable);
}

int main()
{
	out = fopen("coroutines.jsonl", "w");
	asio::io_context io;
	tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
	for (int hours = 1; hours <= 3; hours++)
		asio::co_spawn(io, session(hours), asio::detached);
	asio::co_spawn(io, listens(acceptor), asio::detached);
	io.poll();
	DIE_IN("libc", abort());
}
