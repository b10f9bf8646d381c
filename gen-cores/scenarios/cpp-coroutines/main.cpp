// Coroutines of C++20 that wait for one another, some not begun, done, running or destroyed: each tells in
// coroutines.jsonl where it is and in which line. -DMANY makes many of them and tells of none.
#include "truth.h"

#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

static FILE *out;

/* What a coroutine is about to be suspended as. */
struct Told {
	const char *function;
	int line;
};

static void tell(void *frame, void *parent, const char *state, Told told)
{
#ifndef MANY
	fprintf(out, "{\"address\":\"%p\",\"parent\":\"%p\",\"state\":\"%s\",\"function\":\"%s\",\"line\":%d}\n", frame,
		parent, state, told.function, told.line);
	fflush(out);
#endif
}

#define HERE (Told{ __func__, __LINE__ })

/* A lazy task: it begins when it is awaited, and goes on with whoever awaits it. */
struct [[nodiscard]] Task {
	struct promise_type {
		int value = 0;
		std::coroutine_handle<> continuation;

		struct Final {
			bool await_ready() noexcept { return false; }
			std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept
			{
				auto next = self.promise().continuation;
				return next ? next : std::noop_coroutine();
			}
			void await_resume() noexcept {}
		};

		Task get_return_object() { return Task{ handle() }; }
		std::coroutine_handle<promise_type> handle()
		{
			return std::coroutine_handle<promise_type>::from_promise(*this);
		}
		std::suspend_always initial_suspend() noexcept { return {}; }
		Final final_suspend() noexcept { return {}; }
		void return_value(int result) { value = result; }
		void unhandled_exception() { std::terminate(); }
	};

	std::coroutine_handle<promise_type> handle;
	Told told{};

	explicit Task(std::coroutine_handle<promise_type> handle) : handle(handle) {}
	Task(Task &&other) : handle(std::exchange(other.handle, {})), told(other.told) {}
	~Task()
	{
		if (handle)
			handle.destroy();
	}

	Task &&from(Told here)
	{
		told = here;
		return std::move(*this);
	}

	bool await_ready() { return false; }
	std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> parent)
	{
		handle.promise().continuation = parent;
		auto above = parent.promise().continuation;
		tell(parent.address(), above.address(), "suspended", told);
		return handle;
	}
	int await_resume() { return handle.promise().value; }
};

static std::vector<std::coroutine_handle<>> waiting;

/* What the innermost ones wait for. */
struct Event {
	int number;
	Told told;

	bool await_ready() { return false; }
	void await_suspend(std::coroutine_handle<Task::promise_type> self)
	{
		waiting.push_back(self);
		auto parent = self.promise().continuation;
		tell(self.address(), parent.address(), "suspended", told);
	}
	int await_resume() { return number; }
};

/* The same, and what it gives is destroyed later: code for that comes before the result is taken. */
struct TextEvent : Event {
	std::string await_resume() { return std::string(64, 'x'); }
};

FN int work(int n)
{
	return n * 3;
}

static Task leaf(int n)
{
	int sum = work(n);
	sum += co_await Event{ n, HERE };
	sum += co_await Event{ n + 1, HERE };
	co_return sum;
}

static Task text(int n)
{
	std::string result = co_await TextEvent{ { n, HERE } };
	co_return (int)result.size();
}

template <class T> static Task middle(T n)
{
	int local = work(n);
	int result = co_await leaf(n + 1).from(HERE);
	co_return result + local;
}

namespace app {

struct Server {
	int port = 8080;

	Task serve(int n)
	{
		int result = co_await middle(n).from(HERE);
		co_return result + port;
	}
};

} // namespace app

/* One that goes on without being told to, and is not destroyed when it ends. */
struct Detached {
	struct promise_type {
		std::coroutine_handle<> continuation;
		Detached get_return_object() { return {}; }
		std::suspend_never initial_suspend() noexcept { return {}; }
		std::suspend_never final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
};

struct DetachedEvent {
	Told told;

	bool await_ready() { return false; }
	void await_suspend(std::coroutine_handle<Detached::promise_type> self)
	{
		waiting.push_back(self);
		tell(self.address(), nullptr, "suspended", told);
	}
	void await_resume() {}
};

static Detached detached(int n)
{
	for (int turn = 0; turn < 3; turn++) {
		if (work(n) > 100)
			co_await DetachedEvent{ HERE };
		n += work(turn);
		co_await DetachedEvent{ HERE };
		n += work(turn);
	}
}

static Task ends(int n)
{
	co_return work(n);
}

struct Crash {
	bool await_ready() { return false; }
	void await_suspend(std::coroutine_handle<Task::promise_type> self)
	{
		tell(self.address(), nullptr, "running", Told{ "crashes", 0 });
		DIE_IN("libc", abort());
	}
	void await_resume() {}
};

static Task crashes()
{
	co_await Crash{};
	co_return 0;
}

#ifndef COUNT
#define COUNT 3
#endif

int main()
{
	out = fopen("coroutines.jsonl", "w");
	app::Server server;
	std::vector<Task> tasks;
	for (int n = 0; n < COUNT; n++) {
		tasks.push_back(server.serve(n));
		tasks.back().handle.resume();
	}
	/* The second of them is in the second of its two lines. */
	waiting[1].resume();
	detached(1);
	detached(40);
	{
		Task gone = leaf(100);
		gone.handle.resume();
		fprintf(out, "{\"gone\":\"%p\"}\n", gone.handle.address());
	}
#ifndef MANY
	Task texts = text(300);
	texts.handle.resume();
#endif
	Task created = leaf(200), done = ends(1), crashing = crashes();
	tell(created.handle.address(), nullptr, "created", Told{ "leaf", 0 });
	done.handle.resume();
	tell(done.handle.address(), nullptr, "done", Told{ "ends", 0 });
	CALLV(crashing.handle.resume());
	return 0;
}
