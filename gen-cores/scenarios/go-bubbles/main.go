// go-bubbles: goroutines in a bubble of testing/synctest, which has a clock of its own, its timers, and goroutines that
// nothing can wake any more. The program tells in trace.txt what Go prints of the goroutines, and in timers.txt which timers
// the bubble has.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var (
	told  bytes.Buffer
	ready atomic.Bool
)

//go:noinline
func rings() { told.WriteByte('!') }

//go:noinline
func parked(channel chan int) int { return <-channel }

func tellTimer(what, whom string, due time.Duration) {
	fmt.Fprintf(&told, "timer %s %s %d %d\n", what, whom, time.Now().Add(due).UnixNano(), time.Now().UnixNano())
}

// bubble waits in ways that only the bubble can end, and in one that it cannot. It keeps running, so that the clock of the
// bubble stands still.
func bubble(t *testing.T) {
	time.Sleep(90 * time.Minute)
	var group sync.WaitGroup
	group.Add(1)
	var mutex sync.Mutex
	condition := sync.NewCond(&mutex)
	inside := make(chan int)
	time.AfterFunc(time.Hour, rings)
	tellTimer("function", "main.rings", time.Hour)
	go time.Sleep(3 * time.Hour)
	tellTimer("sleep", "0", 3*time.Hour)
	go func() {
		select {
		case <-time.After(2 * time.Hour):
		case <-inside:
		}
	}()
	tellTimer("channel", "0", 2*time.Hour)
	go parked(inside)
	go parked(nil)
	go group.Wait()
	go func() {
		mutex.Lock()
		condition.Wait()
	}()
	synctest.Wait()
	mutex.Lock()
	go mutex.Lock()
	ready.Store(true)
	for {
		runtime.Gosched()
	}
}

//go:noinline
func leaks() {
	for range 3 {
		go parked(make(chan int))
	}
}

// findLeaks lets Go look for goroutines that nothing can wake, where it can: since 1.27 without being built for that.
func findLeaks() {
	leaks()
	time.Sleep(50 * time.Millisecond)
	if profile := pprof.Lookup("goroutineleak"); profile != nil {
		if err := profile.WriteTo(io.Discard, 0); err != nil {
			panic(err)
		}
	}
}

func main() {
	debug.SetTraceback("crash")
	findLeaks()
	debug.SetGCPercent(-1)
	test := testing.InternalTest{Name: "bubble", F: func(t *testing.T) { synctest.Test(t, bubble) }}
	match := func(pattern, name string) (bool, error) { return true, nil }
	go testing.Main(match, []testing.InternalTest{test}, nil, nil)
	for !ready.Load() {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond)
	trace := make([]byte, 1<<20)
	trace = trace[:runtime.Stack(trace, true)]
	for name, text := range map[string][]byte{"trace.txt": trace, "timers.txt": told.Bytes()} {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			panic(err)
		}
	}
	account := "{\"pid\":" + strconv.Itoa(os.Getpid()) + "}\n{\"done\":true}\n"
	if err := os.WriteFile(os.Getenv("KCORE_TRUTH"), []byte(account), 0o644); err != nil {
		panic(err)
	}
	panic("told")
}
