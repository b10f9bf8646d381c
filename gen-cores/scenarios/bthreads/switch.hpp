// bRPC's switch of contexts as src/bthread/context.cpp publishes it: what is saved where on the stack that is left, and
// with what a new stack begins.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
// Leaves its stack pointer in *FROM and goes on where TO was left; what it returns there is VALUE.
intptr_t bthread_jump_fcontext(void **from, void *to, intptr_t value, bool saves_control_words);
// What a stack that ends at TOP and was not entered is to be left with, so that ENTRY begins there.
void *bthread_make_fcontext(void *top, size_t size, void (*entry)(intptr_t));
}
