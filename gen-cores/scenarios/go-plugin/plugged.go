// A plugin.
package main

// Parked calls back into the program from code of the plugin, and waits.
//
//go:noinline
func Parked(ready func(), on chan int) int {
	ready()
	return <-on + 1
}

func main() {}
