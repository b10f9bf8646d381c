// go-waits: what goroutines wait for, and who they are. The program tells in waits.txt which channels there are, what is
// in them and who waits for them in which order, the address of each mutex that somebody waits for, what each goroutine
// began with, and its labels.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"
)

type pair struct{ x, y int }

type runner interface{ run(on chan int) }

type worker struct{ name string }

var told bytes.Buffer

func goroutine() string {
	text := make([]byte, 64)
	return string(bytes.Fields(text[:runtime.Stack(text, false)])[1])
}

// arrived hears the number of a goroutine that is about to wait.
var arrived = make(chan string)

// next lets the goroutine that was just started come to wait, and tells its number.
func next(entry string) string {
	id := <-arrived
	time.Sleep(20 * time.Millisecond)
	if entry != "" {
		fmt.Fprintf(&told, "entry %s %s\n", id, entry)
	}
	return id
}

//go:noinline
func receives(on chan int, more int) int {
	arrived <- goroutine()
	return <-on + more
}

//go:noinline
func sends[T any](on chan T, value T) {
	arrived <- goroutine()
	on <- value
}

//go:noinline
func (w *worker) run(on chan int) { receives(on, len(w.name)) }

func small(on chan int) { receives(on, 1) }

//go:noinline
func boxes(on chan int, held any, more []pair) { receives(on, len(more)); kept = append(kept, held) }

func tellChannel(channel any, rest string) {
	fmt.Fprintf(&told, "channel %p %s\n", channel, rest)
}

func channels() {
	numbers := make(chan int, 3)
	numbers <- 1
	numbers <- 7
	numbers <- 9
	<-numbers
	numbers <- 11
	go sends(numbers, 12)
	first := next("main.sends[...]")
	go sends(numbers, 13)
	second := next("main.sends[...]")
	tellChannel(numbers, "int 3 3 open [7 9 11] [] ["+first+" "+second+"]")

	words := make(chan string, 4)
	words <- "one\n"
	words <- "two words"
	close(words)
	tellChannel(words, `string 2 4 closed ["one\n" "two words"] [] []`)

	never := make(chan int)
	go receives(never, 1)
	all := []string{next("main.receives")}
	go func() { receives(never, 2) }()
	all = append(all, next("main.channels.func1"))
	go (&worker{"w"}).run(never)
	all = append(all, next("main.(*worker).run"))
	var one runner = &worker{"r"}
	go one.run(never)
	all = append(all, next("main.(*worker).run"))
	go small(never)
	all = append(all, next("main.small"))
	go boxes(never, pair{len(all), 2}, []pair{{len(all), 1}})
	all = append(all, next("main.boxes"))

	pairs := make(chan pair, 1)
	go func() {
		arrived <- goroutine()
		select {
		case <-pairs:
		case <-never:
		}
	}()
	id := next("main.channels.func2")
	tellChannel(pairs, "main.pair 0 1 open [] ["+id+"] []")
	tellChannel(never, "int 0 0 open [] ["+strings.Join(append(all, id), " ")+"] []")
	kept = append(kept, numbers, words, never, pairs)
}

var kept []any

func mutexes() {
	var plain sync.Mutex
	var shared sync.RWMutex
	plain.Lock()
	for range make([]int, 2) {
		go func() { arrived <- goroutine(); plain.Lock() }()
		fmt.Fprintf(&told, "mutex %s %p sync.Mutex\n", next(""), &plain)
	}
	shared.RLock()
	go func() { arrived <- goroutine(); shared.Lock() }()
	fmt.Fprintf(&told, "mutex %s %p sync.RWMutex\n", next(""), &shared)
	go func() { arrived <- goroutine(); shared.RLock() }()
	fmt.Fprintf(&told, "mutex %s %p sync.RWMutex\n", next(""), &shared)
	group := new(sync.WaitGroup)
	group.Add(3)
	group.Done()
	go func() { arrived <- goroutine(); group.Wait() }()
	fmt.Fprintf(&told, "mutex %s %p sync.WaitGroup\n", next(""), group)
	kept = append(kept, &plain, &shared, group)
}

func labels() {
	never := make(chan int)
	go pprof.Do(context.Background(), pprof.Labels("request", "17", "kind", "slow one"),
		func(context.Context) { receives(never, 0) })
	fmt.Fprintf(&told, "labels %s kind=slow one request=17\n", next(""))
}

func main() {
	debug.SetTraceback("crash")
	channels()
	mutexes()
	labels()
	time.Sleep(20 * time.Millisecond)
	// The first collection has no time yet.
	runtime.GC()
	runtime.GC()
	if err := os.WriteFile("waits.txt", told.Bytes(), 0o644); err != nil {
		panic(err)
	}
	account := "{\"pid\":" + strconv.Itoa(os.Getpid()) + "}\n{\"done\":true}\n"
	if err := os.WriteFile(os.Getenv("KCORE_TRUTH"), []byte(account), 0o644); err != nil {
		panic(err)
	}
	panic("told")
}
