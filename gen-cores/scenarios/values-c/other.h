/* other: declarations of what other.c holds. */
#ifndef OTHER_H
#define OTHER_H

struct secret;

extern struct secret *g_secret;
extern struct secret outer;
extern int g_shared;

long other_touch(void);

#endif
