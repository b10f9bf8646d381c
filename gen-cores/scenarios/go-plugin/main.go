// go-plugin: goroutines that run code of a plugin, which has tables of functions of its own. What Go's own printer says
// of them stands in trace.txt.
package main

import (
	"os"
	"plugin"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
)

func main() {
	debug.SetTraceback("crash")
	plugged, err := plugin.Open("./plugged.so")
	if err != nil {
		panic(err)
	}
	found, err := plugged.Lookup("Parked")
	if err != nil {
		panic(err)
	}
	parked := found.(func(func(), chan int) int)
	var ready sync.WaitGroup
	ready.Add(3)
	for range make([]int, 3) {
		go func() { parked(ready.Done, make(chan int)) }()
	}
	ready.Wait()
	time.Sleep(100 * time.Millisecond)
	buf := make([]byte, 1<<20)
	n := runtime.Stack(buf, true)
	if err := os.WriteFile("trace.txt", buf[:n], 0o644); err != nil {
		panic(err)
	}
	account := "{\"pid\":" + strconv.Itoa(os.Getpid()) + "}\n{\"done\":true}\n"
	if err := os.WriteFile(os.Getenv("KCORE_TRUTH"), []byte(account), 0o644); err != nil {
		panic(err)
	}
	panic("plugged")
}
