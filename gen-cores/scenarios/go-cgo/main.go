// go-cgo: stacks that go from Go to C and back, each with what it is made of told in joined.txt: goroutines that sleep
// in C or wait in Go that C called, threads of C that called Go, and an end in C that Go called.
package main

/*
#include <stdint.h>
*/
import "C"

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
)

// Who is who: the frames of each that are not the runtime's, innermost first.
const (
	sleeps = iota + 1
	parks
	nests
	deepest
	threadParks
	threadNests
)

var stacks = map[int]string{
	sleeps: "c_sleep c_sleep_outer main._Cfunc_c_sleep_outer main.sleepInC main.started",
	parks: "main.park main.goPark _cgoexp_goPark goPark c_calls_park main._Cfunc_c_calls_park main.parkByC " +
		"main.started",
	nests: "c_sleep main._Cfunc_c_sleep main.sleepDirectly main.goNested _cgoexp_goNested goNested c_calls_nested " +
		"main._Cfunc_c_calls_nested main.nestByC main.started",
	deepest: "main.park main.goPark _cgoexp_goPark goPark c_calls_park main._Cfunc_c_calls_park main.parkByC " +
		"main.goNested _cgoexp_goNested goNested c_calls_nested main._Cfunc_c_calls_nested main.nestByC main.started",
	threadParks: "main.park main.goPark _cgoexp_goPark goPark c_calls_park c_deep c_thread_parks",
	threadNests: "c_sleep main._Cfunc_c_sleep main.sleepDirectly main.goNested _cgoexp_goNested goNested " +
		"c_calls_nested c_thread_nests",
}

const end = "c_ends main._Cfunc_c_ends main.endInC main.goEnd _cgoexp_goEnd goEnd c_to_end main._Cfunc_c_to_end " +
	"main.endByC main.main"

var (
	lock  sync.Mutex
	told  bytes.Buffer
	ready sync.WaitGroup
	never = make(chan int)
)

func goroutine() string {
	text := make([]byte, 64)
	text = text[:runtime.Stack(text, false)]
	return string(bytes.Fields(text)[1])
}

// tell writes a line: the goroutine, the thread if it stays on one, and its frames.
func tell(which int, thread string) {
	lock.Lock()
	defer lock.Unlock()
	told.WriteString(goroutine() + " " + thread + " " + stacks[which] + "\n")
	ready.Done()
}

//go:noinline
func park() { <-never }

//export goPark
func goPark(which C.int) {
	tell(int(which), "-")
	park()
}

//export goNested
func goNested(which C.int) {
	switch int(which) {
	case deepest:
		parkByC(int(which))
	default:
		sleepDirectly(int(which))
	}
}

//export goQuick
func goQuick(which C.int) {
	runtime.Gosched()
}

//export goEnd
func goEnd(how C.int) { endInC(int(how)) }

//export goTold
func goTold(which, thread C.int) { tell(int(which), strconv.Itoa(int(thread))) }

//go:noinline
func started(run func(int), which int) { run(which) }

func main() {
	debug.SetTraceback("crash")
	ready.Add(6)
	go started(sleepInC, sleeps)
	go started(parkByC, parks)
	go started(nestByC, nests)
	go started(nestByC, deepest)
	startThreads(threadParks, threadNests)
	ready.Wait()
	time.Sleep(100 * time.Millisecond)
	told.WriteString("1 - " + end + "\n")
	if err := os.WriteFile("joined.txt", told.Bytes(), 0o644); err != nil {
		panic(err)
	}
	account := "{\"pid\":" + strconv.Itoa(os.Getpid()) + "}\n{\"done\":true}\n"
	if err := os.WriteFile(os.Getenv("KCORE_TRUTH"), []byte(account), 0o644); err != nil {
		panic(err)
	}
	switch os.Args[1] {
	case "abort":
		endByC(0)
	case "fault":
		endByC(1)
	case "wait":
		time.Sleep(time.Hour)
	}
}
