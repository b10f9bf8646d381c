// go-ends: the ends of programs in Go that are told in their own words: panics with values of all kinds, one in the
// other, and errors that the runtime gives up for. What Go printed of them stands in output.txt.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

type (
	number   int
	small    uint8
	fraction float64
	single   float32
	flag     bool
	words    string
	pair     complex128
	point    struct{ x, y int }
	named    struct{ name string }
)

func (n named) String() string { return "named " + n.name }

// values panics with each of the rest while the panic with the one before is under way.
//
//go:noinline
func values(all []any) {
	if len(all) > 1 {
		defer values(all[1:])
	}
	panic(all[0])
}

func kinds() []any {
	where := 7
	return []any{
		42, int8(-3), uint64(1) << 63, true, 2.5, float32(0.1), 1e30, complex(1.5, -2), 'x', "two\nlines",
		number(5), small(200), fraction(1e-7), single(3), flag(false), words("in words"), pair(complex(-1, 0)),
		point{1, 2}, &where, []int{1}, map[string]int{"a": 1}, func() {},
		errors.New("an error"), fmt.Errorf("wrapped: %w", os.ErrNotExist), named{"by itself"},
	}
}

//go:noinline
func again() {
	defer func() {
		value := recover()
		defer func() { panic(errors.New("while the same one was under way")) }()
		panic(value)
	}()
	defer func() {
		recover()
		panic("another one")
	}()
	panic(number(1))
}

//go:noinline
func exits() {
	defer func() { panic("while it ended") }()
	runtime.Goexit()
}

//go:noinline
func overflows(depth int) int {
	var room [1024]int
	room[depth%1024] = overflows(depth + 1)
	return room[(depth+1)%1024] + 1
}

var kept [][]byte

// nowhere is an address that nothing lies at, and that is too large for a field of what a nil pointer leads to.
var nowhere uintptr = 1 << 40

func end(how string) {
	switch how {
	case "values":
		values(kinds())
	case "again":
		again()
	case "exit":
		exits()
	case "nil":
		panic(nil)
	case "deadlock":
		var never sync.Mutex
		never.Lock()
		never.Lock()
	case "maps":
		shared := map[int]int{}
		for range make([]int, 4) {
			go func() {
				for number := 0; ; number++ {
					shared[number&7] = number
				}
			}()
		}
		time.Sleep(time.Minute)
	case "overflow":
		debug.SetMaxStack(1 << 20)
		overflows(0)
	case "fault":
		*(*int)(unsafe.Pointer(nowhere)) = 1
	case "quit":
		// Threads that run beside the one that sleeps: the signal goes to each of them.
		for range make([]int, 2) {
			go func() {
				for {
				}
			}()
		}
		time.Sleep(time.Minute)
	case "itself":
		go func() {
			for {
			}
		}()
		time.Sleep(20 * time.Millisecond)
		syscall.Kill(os.Getpid(), syscall.SIGABRT)
		time.Sleep(time.Minute)
	case "memory":
		// Without a limit the core would have all that was reserved.
		limit := syscall.Rlimit{Cur: 4 << 30, Max: 4 << 30}
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
			panic(err)
		}
		kept = append(kept, make([]byte, 16<<30))
	}
}

func main() {
	debug.SetTraceback("crash")
	account := "{\"pid\":" + strconv.Itoa(os.Getpid()) + "}\n{\"done\":true}\n"
	if err := os.WriteFile(os.Getenv("KCORE_TRUTH"), []byte(account), 0o644); err != nil {
		panic(err)
	}
	end(os.Args[1])
}
