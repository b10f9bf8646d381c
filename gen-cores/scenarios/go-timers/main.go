// go-timers: what waits for times, for conditions and for a sync.Once, contexts with their chain, and finalizers. The
// program tells in timers.txt what it made and where that lies; instants are nanoseconds of the monotonic clock, between
// which a deadline lies.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

var told bytes.Buffer

func goroutine() string {
	text := make([]byte, 64)
	return string(bytes.Fields(text[:runtime.Stack(text, false)])[1])
}

// now is an instant of the clock that timers have.
func now() int64 {
	var at [2]int64
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&at)), 0)
	return at[0]*1e9 + at[1]
}

var arrived = make(chan string)

// next lets the goroutine that was just started come to wait, and tells its number.
func next() string {
	id := <-arrived
	time.Sleep(20 * time.Millisecond)
	return id
}

var kept []any

//go:noinline
func rings() { told.WriteByte('!') }

func timers() {
	start := now()
	go func() { arrived <- goroutine(); time.Sleep(3 * time.Hour) }()
	id := next()
	fmt.Fprintf(&told, "timer sleep %s 0 %d %d\n", id, start+3*3600e9, now()+3*3600e9)

	start = now()
	timer := time.NewTimer(5 * time.Hour)
	go func() { arrived <- goroutine(); <-timer.C }()
	id = next()
	fmt.Fprintf(&told, "timer channel %s 0 %d %d\n", id, start+5*3600e9, now()+5*3600e9)

	start = now()
	ticker := time.NewTicker(7 * time.Hour)
	go func() {
		arrived <- goroutine()
		select {
		case <-ticker.C:
		case <-arrivedNever:
		}
	}()
	id = next()
	fmt.Fprintf(&told, "timer channel %s %d %d %d\n", id, int64(7*3600e9), start+7*3600e9, now()+7*3600e9)

	start = now()
	called := time.AfterFunc(9*time.Hour, rings)
	fmt.Fprintf(&told, "timer function main.rings 0 %d %d\n", start+9*3600e9, now()+9*3600e9)

	stopped := time.AfterFunc(11*time.Hour, rings)
	stopped.Stop()

	later := time.AfterFunc(time.Hour, func() { rings() })
	start = now()
	later.Reset(13 * time.Hour)
	fmt.Fprintf(&told, "timer function main.timers.func4 0 %d %d\n", start+13*3600e9, now()+13*3600e9)
	kept = append(kept, timer, ticker, called, stopped, later)
}

var arrivedNever = make(chan string)

func deadline() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	tcp := listener.(*net.TCPListener)
	start := now()
	tcp.SetDeadline(time.Now().Add(15 * time.Hour))
	raw, _ := tcp.SyscallConn()
	var fd uintptr
	raw.Control(func(it uintptr) { fd = it })
	fmt.Fprintf(&told, "timer io %d 0 %d %d\n", fd, start+15*3600e9, now()+15*3600e9)
	kept = append(kept, listener)
}

type key struct{ name string }

// where is the address of what an interface points to.
func where(context context.Context) uintptr { return (*[2]uintptr)(unsafe.Pointer(&context))[1] }

func tellContext(context, parent context.Context, kind, rest string) {
	fmt.Fprintf(&told, "context %x %x %s %s\n", where(context), where(parent), kind, rest)
}

//go:noinline
func waits(on context.Context) {
	arrived <- goroutine()
	<-on.Done()
}

func contexts() {
	root, end := context.WithCancel(context.Background())
	valued := context.WithValue(root, key{"request"}, 17)
	at := time.Now().Add(17 * time.Hour)
	timed, endTimed := context.WithDeadline(valued, at)
	ended, endEnded := context.WithCancel(timed)
	endEnded()
	past, endPast := context.WithTimeout(timed, time.Nanosecond)
	time.Sleep(5 * time.Millisecond)
	go waits(timed)
	id := next()
	fmt.Fprintf(&told, "context %x 0 cancel open children=1\n", where(root))
	tellContext(valued, root, "value", "open key=main.key{name: \"request\"} value=int(17)")
	tellContext(timed, valued, "deadline", fmt.Sprintf("open deadline=%d waits=%s", at.UnixNano(), id))
	tellContext(ended, timed, "cancel", "ended why=context canceled")
	tellContext(past, timed, "deadline", "ended why=context deadline exceeded")
	kept = append(kept, root, valued, timed, ended, past, end, endTimed, endPast)
}

func conditions() {
	condition := sync.NewCond(new(sync.Mutex))
	for range make([]int, 2) {
		go func() {
			condition.L.Lock()
			arrived <- goroutine()
			condition.Wait()
		}()
		fmt.Fprintf(&told, "waits %s %p sync.Cond\n", next(), condition)
	}
	once := new(sync.Once)
	go once.Do(func() { arrived <- goroutine(); <-arrivedNever })
	next()
	go func() { arrived <- goroutine(); once.Do(func() {}) }()
	fmt.Fprintf(&told, "waits %s %p sync.Once\n", next(), once)
	var both sync.RWMutex
	both.Lock()
	go func() { arrived <- goroutine(); both.Lock() }()
	fmt.Fprintf(&told, "waits %s %p sync.RWMutex\n", next(), &both)
	kept = append(kept, condition, once, &both)
}

type file struct {
	name  string
	inner *file
}

//go:noinline
func finalize(it *file) { rings() }

func finalizers() {
	it := &file{name: "one"}
	runtime.SetFinalizer(it, finalize)
	fmt.Fprintf(&told, "special finalizer %p main.finalize main.file\n", it)
	kept = append(kept, it)
}

func main() {
	debug.SetTraceback("crash")
	debug.SetGCPercent(-1)
	timers()
	deadline()
	contexts()
	conditions()
	finalizers()
	if err := os.WriteFile("timers.txt", told.Bytes(), 0o644); err != nil {
		panic(err)
	}
	account := "{\"pid\":" + strconv.Itoa(os.Getpid()) + "}\n{\"done\":true}\n"
	if err := os.WriteFile(os.Getenv("KCORE_TRUTH"), []byte(account), 0o644); err != nil {
		panic(err)
	}
	panic("told")
}
