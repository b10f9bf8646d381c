/*
 * why-glib-assert: an assertion of GLib fails. -DLOGS: an error is logged, after other messages. -DFATAL: what a function
 * was given is not what it must be, and the program has such messages end the process.
 */
#include "truth.h"

#include <glib.h>

FN int add(int used, int size)
{
#if defined(FATAL)
	DIE_IN("libglib", g_return_val_if_fail(used <= size, 0));
#elif defined(LOGS)
	if (used > size)
		DIE_IN("libglib", g_error("no room for %d of %s", used, "table"));
#else
	DIE_IN("libglib", g_assert(used <= size));
#endif
	return used + 1;
}

FN int fill(int count)
{
	int used = CALL(add(count + 8, 3));

	BARRIER();
	return used + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
#ifdef LOGS
	g_message("almost done");
	g_warning("not quite done");
#endif
#ifdef FATAL
	g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL);
#endif
	return CALL(fill(argc)) + 1;
}
