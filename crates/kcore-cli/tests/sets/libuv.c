/* A loop of libuv with handles of several kinds. */
#include <string.h>
#include <uv.h>
#include "told.h"

uv_loop_t loop;
uv_timer_t soon, often, stopped;
uv_tcp_t server;
uv_async_t waker;

static void on_timer(uv_timer_t *timer)
{
	(void)timer;
}

static void on_wake(uv_async_t *async)
{
	(void)async;
}

static void count(uv_handle_t *handle, void *text)
{
	char *end = (char *)text + strlen(text);
	sprintf(end, "%s%p", *(char *)text ? ", " : "", (void *)handle);
}

int main(void)
{
	static char handles[4096];
	struct sockaddr_in any;
	int fd;

	uv_loop_init(&loop);
	uv_timer_init(&loop, &soon);
	uv_timer_init(&loop, &often);
	uv_timer_init(&loop, &stopped);
	uv_tcp_init(&loop, &server);
	uv_async_init(&loop, &waker, on_wake);
	uv_timer_start(&soon, on_timer, 1500, 0);
	uv_timer_start(&often, on_timer, 40, 250);
	uv_ip4_addr("127.0.0.1", 0, &any);
	uv_tcp_bind(&server, (struct sockaddr *)&any, 0);
	uv_fileno((uv_handle_t *)&server, &fd);
	/* A walk leaves out what the loop made for itself: the handles of signals and of finished work. */
	count((uv_handle_t *)&loop.child_watcher, handles);
	count((uv_handle_t *)&loop.wq_async, handles);
	uv_walk(&loop, count, handles);
	told("loop", "[%s]", handles);
	told("soon.due_in", "%d", 1500);
	told("soon.is_active", "1");
	told("often.repeat", "%d", 250);
	told("often.due_in", "%d", 40);
	told("stopped.is_active", "%d", uv_is_active((uv_handle_t *)&stopped));
	told("server.fd", "%d", fd);
	told("server.is_closing", "%d", uv_is_closing((uv_handle_t *)&server));
	told_all();
}
