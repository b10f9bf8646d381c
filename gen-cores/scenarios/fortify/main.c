/* fortify: copies a name that is longer than its buffer; the checked copy aborts. */
#include "truth.h"

#include <string.h>

struct user {
	char name[8];
	int id;
};

static struct user user;

FN static int set_name(const char *name)
{
	truth_push(__func__, __FILE__, __LINE__ + 6);
	/* The header's strcpy is an inlined function of its own. */
	truth_push("strcpy", "string_fortified.h", 0);
	truth_inlined(1);
	truth_gap("libc");
	truth_write();
	strcpy(user.name, name);
	return user.id;
}

FN static int add_user(const char *name)
{
	return CALL(set_name(name)) + 1;
}

int main(void)
{
	return CALL(add_user(truth_launder("a name of many letters")));
}
