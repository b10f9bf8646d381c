/* Values of GLib's public structures. */
#include <glib.h>
#include "told.h"

GString *text;
GList *list;
GSList *single;
GQueue queue = G_QUEUE_INIT;
GPtrArray *pointers;
GByteArray *bytes;
GArray *words, *no_words;

int main(void)
{
	static int numbers[3];

	text = g_string_new("some text");
	pointers = g_ptr_array_new();
	bytes = g_byte_array_new();
	words = g_array_new(FALSE, FALSE, sizeof(guint16));
	no_words = g_array_new(FALSE, FALSE, sizeof(guint64));
	for (int i = 0; i < 3; i++) {
		list = g_list_append(list, &numbers[i]);
		single = g_slist_prepend(single, &numbers[i]);
		g_queue_push_head(&queue, &numbers[i]);
		g_ptr_array_add(pointers, &numbers[i]);
		g_byte_array_append(bytes, (const guint8 *)&i, 1);
	}
	told("*text", "\"%s\"", text->str);
	told("*list", "[%p, %p, %p]", g_list_nth_data(list, 0), g_list_nth_data(list, 1), g_list_nth_data(list, 2));
	told("*single", "[%p, %p, %p]", g_slist_nth_data(single, 0), g_slist_nth_data(single, 1), g_slist_nth_data(single, 2));
	told("queue", "[%p, %p, %p]", g_queue_peek_nth(&queue, 0), g_queue_peek_nth(&queue, 1), g_queue_peek_nth(&queue, 2));
	told("*pointers", "[%p, %p, %p]", pointers->pdata[0], pointers->pdata[1], pointers->pdata[2]);
	told("*bytes", "[0, 1, 2]");
	for (guint16 i = 0x0201; i < 0x0204; i++)
		g_array_append_val(words, i);
	told("*words", "{len: %u, element_size: %u, bytes: [1, 2, 2, 2, 3, 2]}", words->len, g_array_get_element_size(words));
	told("*no_words", "{len: 0, element_size: %u}", g_array_get_element_size(no_words));
	told_all();
}
