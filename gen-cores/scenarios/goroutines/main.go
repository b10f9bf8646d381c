// goroutines: goroutines in every state that a program can bring them to. The program tells what Go's own printer says of
// all of them in trace.txt, then it dies as its argument says.
package main

import (
	"errors"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

type worker struct{ name string }

type runner interface {
	run(started func(), on chan int)
}

//go:noinline
func (w *worker) run(started func(), on chan int) {
	started()
	<-on
}

type wrapped struct{ worker }

//go:noinline
func deep(depth int, started func(), on chan int) int {
	if depth == 0 {
		started()
		return <-on
	}
	var room [64]int
	room[depth%64] = deep(depth-1, started, on)
	return room[depth%64] + 1
}

// Inlined into its caller.
func receive(on chan int) int { return <-on }

func receiveTwice(on chan int) int { return receive(on) + 1 }

//go:noinline
func generic[T any](value T, started func(), on chan T) T {
	started()
	on <- value
	return value
}

//go:noinline
func deferred(started func(), on chan int) {
	defer func() {
		recover()
		started()
		<-on
	}()
	panic("recovered later")
}

var spun int

//go:noinline
func spin(started func()) {
	started()
	for {
		spun++
	}
}

//go:noinline
func fault(at *int) int { return *at }

// nobody is what nothing is ever sent on.
var nobody = make(chan int)

// kept is the end of a pipe that would be closed if nothing held it.
var kept *os.File

// park starts all goroutines that wait; each calls `started` right before.
func park(started func()) int {
	var mutex sync.Mutex
	var lock sync.RWMutex
	var group sync.WaitGroup
	cond := sync.NewCond(&sync.Mutex{})
	mutex.Lock()
	lock.Lock()
	group.Add(1)
	texts := make(chan string)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	kept = write
	all := []func(){
		func() { started(); <-nobody },
		func() { started(); one := make(chan int); one <- 1 },
		func() {
			started()
			select {
			case <-nobody:
			case <-texts:
			}
		},
		func() { started(); select {} },
		func() { started(); var none chan int; <-none },
		func() { started(); var none chan int; none <- 1 },
		func() { started(); mutex.Lock() },
		func() { started(); lock.RLock() },
		func() { started(); group.Wait() },
		func() { cond.L.Lock(); started(); cond.Wait() },
		func() { started(); time.Sleep(time.Hour) },
		func() { started(); listener.Accept() },
		func() { started(); read.Read(make([]byte, 1)) },
		func() { (&worker{"w"}).run(started, nobody) },
		func() { var r runner = &wrapped{}; r.run(started, nobody) },
		func() { deep(40, started, nobody) },
		func() { started(); receiveTwice(nobody) },
		func() { generic("text", started, nobodyReads) },
		func() { generic(1, started, make(chan int)) },
		func() { deferred(started, nobody) },
		func() { runtime.LockOSThread(); started(); <-nobody },
	}
	for _, one := range all {
		go one()
	}
	go (&worker{"method"}).run(started, nobody)
	return len(all) + 1
}

var nobodyReads = make(chan string)

// tell writes what Go's printer says of all goroutines.
func tell(pid int) {
	buf := make([]byte, 1<<20)
	n := runtime.Stack(buf, true)
	if err := os.WriteFile("trace.txt", buf[:n], 0o644); err != nil {
		panic(err)
	}
	account := "{\"pid\":" + strconv.Itoa(pid) + "}\n" +
		"{\"argv\":[\"" + strings.Join(os.Args, "\",\"") + "\"]}\n{\"done\":true}\n"
	if err := os.WriteFile(os.Getenv("KCORE_TRUTH"), []byte(account), 0o644); err != nil {
		panic(err)
	}
}

func main() {
	// All frames and all goroutines, and a core when the program dies.
	debug.SetTraceback("crash")
	count := 0
	if len(os.Args) > 2 {
		count, _ = strconv.Atoi(os.Args[2])
	}
	var ready sync.WaitGroup
	ready.Add(1)
	started := make(chan int)
	report := func() { started <- 1 }
	wanted := park(report) + 1 + count
	go spin(report)
	for range make([]int, count) {
		go (&worker{"many"}).run(report, nobody)
	}
	for ; wanted > 0; wanted-- {
		<-started
	}
	time.Sleep(100 * time.Millisecond)
	// The first collection has no time yet.
	runtime.GC()
	runtime.GC()
	time.Sleep(100 * time.Millisecond)
	tell(os.Getpid())
	end(os.Args[1])
}

//go:noinline
func end(how string) {
	switch how {
	case "fault":
		println(fault(nil))
	case "text":
		panic("told as text")
	case "error":
		panic(errors.New("told as an error"))
	case "fatal":
		var unlocked sync.Mutex
		unlocked.Unlock()
	case "wait":
		time.Sleep(time.Hour)
	}
}
