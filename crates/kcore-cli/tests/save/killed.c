/* The same program under another name: tests run at the same time. */
#include "big.c"
