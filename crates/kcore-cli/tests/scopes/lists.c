/* Lists whose links are embedded in their elements, and values of each kind of text and number. */

#include <stddef.h>
#include <sys/queue.h>

struct list_head { struct list_head *next, *prev; };
struct item { int id; char *name; struct list_head link; struct item *after; };
struct list_head head = { &head, &head };
struct owner { long other; struct list_head items; } owner = { 1, { &owner.items, &owner.items } };
struct item items[3], owned[2];

struct entry { long pad; int id; TAILQ_ENTRY(entry) queue; };
TAILQ_HEAD(entries, entry) queue = TAILQ_HEAD_INITIALIZER(queue);
struct entry entries[3];

char negative = -5;
signed char lowest = -128;
char controls[8] = "x\001y\033[";
char latin[8] = "caf\xe9";
const char *behind = "bell\a caf\xe9 \"quoted\" \\";
struct numbers { double third; float tenth; long double wide; long beyond; } numbers = {
    1.0 / 3, 0.1f, 1.0L / 3, 9007199254740993L };

static void append(struct list_head *to, struct list_head *link) {
    link->prev = to->prev;
    link->next = to;
    to->prev->next = link;
    to->prev = link;
}

static int die(int less, long much) {
    *(volatile int *)8 = less;
    return less + (int)much;
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        items[i].id = 10 + i;
        items[i].name = (char *)behind;
        items[i].after = i < 2 ? &items[i + 1] : NULL;
        append(&head, &items[i].link);
        entries[i].id = 20 + i;
        TAILQ_INSERT_HEAD(&queue, &entries[i], queue);
    }
    for (int i = 0; i < 2; i++) {
        owned[i].id = 30 + i;
        append(&owner.items, &owned[i].link);
    }
    return die(-7, -123456789012L);
}
