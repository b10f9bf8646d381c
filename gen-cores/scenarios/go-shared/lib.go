// A library of Go for programs in C: it waits in Go that C called, and calls C back.
package main

/*
#include <stdlib.h>
typedef void (*native)(void);
static void call(native to) { to(); }
*/
import "C"

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

var (
	ready sync.WaitGroup
	never = make(chan int)
)

//go:noinline
func parked(depth int) int {
	if depth == 0 {
		ready.Done()
		return <-never
	}
	return parked(depth-1) + 1
}

//export startParked
func startParked(count C.int) {
	debug.SetTraceback("crash")
	ready.Add(int(count))
	for depth := range make([]int, int(count)) {
		go parked(depth)
	}
	ready.Wait()
}

//export expectPark
func expectPark() { ready.Add(1) }

//export goPark
func goPark() { parked(2) }

// tellAll waits until all are parked, and writes what Go's own printer says of all goroutines.
//
//export tellAll
func tellAll(path *C.char) {
	ready.Wait()
	time.Sleep(100 * time.Millisecond)
	buf := make([]byte, 1<<20)
	n := runtime.Stack(buf, true)
	if err := os.WriteFile(C.GoString(path), buf[:n], 0o644); err != nil {
		panic(err)
	}
}

//go:noinline
func callNative(to C.native) { C.call(to) }

//export callBack
func callBack(to C.native) { callNative(to) }

func main() {}
