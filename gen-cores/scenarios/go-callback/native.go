package main

// The C of go-callback: what an exported function is beside may not be defined beside it.

/*
extern void goPanics(int);

__attribute__((noinline)) void c_calls(int depth) {
	volatile char room[256];
	room[depth] = 1;
	goPanics(depth);
	room[depth] = 2;
}
*/
import "C"

func callC(depth int) { C.c_calls(C.int(depth)) }
