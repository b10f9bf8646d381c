// go-contexts: kinds of contexts, those of a program's own among them, and what is done when objects are gone, that Go has since 1.24. The program tells in
// timers.txt what it made and where that lies.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
	"unsafe"
)

var told bytes.Buffer

var kept []any

// where is the address of what an interface points to.
func where(context context.Context) uintptr { return (*[2]uintptr)(unsafe.Pointer(&context))[1] }

func tellContext(context, parent context.Context, kind, rest string) {
	fmt.Fprintf(&told, "context %x %x %s %s\n", where(context), where(parent), kind, rest)
}

//go:noinline
func runs() { told.WriteByte('!') }

func contexts() {
	root, end := context.WithCancelCause(context.TODO())
	free := context.WithoutCancel(root)
	child, endChild := context.WithCancel(free)
	stop := context.AfterFunc(child, runs)
	timed, endTimed := context.WithTimeout(root, 3*time.Hour)
	end(errors.New("no more"))
	fmt.Fprintf(&told, "context %x 0 cancel ended why=context canceled cause=&errors.errorString{s: \"no more\"}\n",
		where(root))
	tellContext(free, root, "without_cancel", "open")
	tellContext(child, free, "cancel", "open children=1")
	tellContext(timed, root, "deadline", "ended why=context canceled cause=&errors.errorString{s: \"no more\"}")
	fmt.Fprintf(&told, "after %x main.runs\n", where(child))
	kept = append(kept, root, free, child, timed, end, endChild, stop, endTimed)
}

// request is a context by the one that is embedded in it, and so is scope, which is no pointer where it is one.
type request struct {
	context.Context
	number int
}

type scope struct {
	name string
	context.Context
}

// outer is one by what is embedded in what is embedded.
type outer struct {
	number int
	scope
}

func ownContexts() {
	base, endBase := context.WithCancel(context.TODO())
	own := &request{base, 7}
	var inner context.Context = scope{"inner", own}
	around := &outer{8, scope{"around", base}}
	below, endBelow := context.WithCancel(inner)
	fmt.Fprintf(&told, "context %x 0 cancel open children=1\n", where(base))
	tellContext(own, base, "own", "open type=main.request")
	tellContext(inner, own, "own", "open type=main.scope")
	tellContext(around, base, "own", "open type=main.outer")
	tellContext(below, inner, "cancel", "open children=0")
	kept = append(kept, below, around, &scope{name: "without a context"}, endBase, endBelow)
}

// forgotten leaves a context that nothing but its timer leads to.
//
//go:noinline
func forgotten() {
	timed, _ := context.WithTimeout(context.Background(), 5*time.Hour)
	deadline, _ := timed.Deadline()
	fmt.Fprintf(&told, "context %x 0 deadline open deadline=%d\n", where(timed), deadline.UnixNano())
}

type file struct {
	name  string
	inner *file
}

//go:noinline
func closes(fd int) { told.WriteByte(byte(fd)) }

//go:noinline
func finalize(it *file) { runs() }

func cleanups() {
	one, both := &file{name: "one"}, &file{name: "both"}
	runtime.AddCleanup(one, closes, 7)
	runtime.SetFinalizer(both, finalize)
	runtime.AddCleanup(both, closes, 8)
	fmt.Fprintf(&told, "special cleanup %p main.closes main.file\n", one)
	fmt.Fprintf(&told, "special finalizer %p main.finalize main.file\n", both)
	fmt.Fprintf(&told, "special cleanup %p main.closes main.file\n", both)
	kept = append(kept, one, both)
}

func main() {
	debug.SetTraceback("crash")
	debug.SetGCPercent(-1)
	contexts()
	ownContexts()
	forgotten()
	cleanups()
	if err := os.WriteFile("timers.txt", told.Bytes(), 0o644); err != nil {
		panic(err)
	}
	account := "{\"pid\":" + strconv.Itoa(os.Getpid()) + "}\n{\"done\":true}\n"
	if err := os.WriteFile(os.Getenv("KCORE_TRUTH"), []byte(account), 0o644); err != nil {
		panic(err)
	}
	panic("told")
}
