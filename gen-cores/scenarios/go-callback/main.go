// go-callback: a panic in Go that C called, which Go called from Go that C called. When Go prints it, the runtime has given
// up all calls of C, and uses their stack again. What Go prints of the stack stays in the output.
package main

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// #include <stdint.h>
import "C"

//export goPanics
func goPanics(depth C.int) {
	if depth > 0 {
		outer(int(depth))
		return
	}
	panic("in a callback")
}

//go:noinline
func outer(depth int) { callC(depth - 1) }

func main() {
	debug.SetTraceback("crash")
	account := "{\"pid\":" + strconv.Itoa(os.Getpid()) + "}\n" +
		"{\"argv\":[\"" + strings.Join(os.Args, "\",\"") + "\"]}\n{\"done\":true}\n"
	if err := os.WriteFile(os.Getenv("KCORE_TRUTH"), []byte(account), 0o644); err != nil {
		panic(err)
	}
	outer(3)
}
