// go-heap: objects of many types, and values of all kinds. The program tells in heap.txt how many objects of its types
// there are, where some lie and what keeps them, what values are in Go's own words, which objects were dropped before
// the last collection, and what the runtime counted by size after it.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"unsafe"
)

type leaf struct {
	name string
	n    int
	next *leaf
}

type node struct {
	left, right *node
	val         any
	tags        []string
}

type big struct {
	a [100]*leaf
	s string
}

type shape interface{ area() float64 }

type square struct {
	side  float64
	label string
	l     *leaf
}

func (s *square) area() float64 { return s.side * s.side }

type wide struct{ words [40]uint64 }

type level int8

type all struct {
	b  bool
	i8 int8
	u  uint32
	f  float64
	lv level
	s  string
	e  any
	n  any
	sh shape
	sl []int16
	ar [3]uint8
	p  *leaf
	np *leaf
	m  map[string]int
	mw map[int]wide
	nm map[string]int
	fn func()
}

// Roots.
var (
	root   *node
	shapes []shape
	dict   map[string]*leaf
	large  *big
	values *all
	held   any
	table  map[int]*leaf
	ch     chan *leaf
	hidden uintptr
	hold   any
)

var told bytes.Buffer

//go:noinline
func leafOf(name string, n int) *leaf { return &leaf{name: name + fmt.Sprint(n), n: n} }

//go:noinline
func build() {
	root = &node{}
	last := root
	for i := 0; i < 200; i++ {
		last.left = &node{val: leafOf("val", i), tags: []string{"a", "b", "c"}}
		last = last.left
	}
	for i := 0; i < 50; i++ {
		shapes = append(shapes, &square{float64(i), fmt.Sprint("sq", i), leafOf("sq", i)})
	}
	dict = map[string]*leaf{}
	for i := 0; i < 300; i++ {
		dict[fmt.Sprint("key", i)] = leafOf("dict", i)
	}
	table = map[int]*leaf{7: leafOf("table", 7)}
	large = &big{s: "x"}
	large.a[7] = leafOf("large", 7)
	ch = make(chan *leaf, 4)
	ch <- leafOf("sent", 1)
	values = &all{true, -5, 7, 2.5, -3, "text \"q\"", 42, nil, shapes[2], []int16{1, -2, 3}, [3]uint8{9, 8, 7},
		leafOf("p", 1), nil, map[string]int{"one": 1}, map[int]wide{3: {}}, nil, build}
	held = values
	// What has no type of its own is reached through interfaces.
	hold = []any{dict, large, shapes, root, table, ch}
}

//go:noinline
func drop() uintptr {
	dropped := make([]*[24]*leaf, 0, 8)
	for i := 0; i < 8; i++ {
		dropped = append(dropped, &[24]*leaf{leafOf("dropped", i)})
	}
	return uintptr(unsafe.Pointer(dropped[3]))
}

func at(name string, p unsafe.Pointer) { fmt.Fprintf(&told, "at %s %x\n", name, uintptr(p)) }

func main() {
	debug.SetTraceback("crash")
	debug.SetGCPercent(150)
	hidden = drop()
	build()
	at("root", unsafe.Pointer(root))
	at("second", unsafe.Pointer(root.left))
	at("square", unsafe.Pointer(shapes[3].(*square)))
	at("leaf", unsafe.Pointer(shapes[3].(*square).l))
	at("dict", unsafe.Pointer(dict["key1"]))
	at("large", unsafe.Pointer(large))
	at("values", unsafe.Pointer(values))
	at("held", unsafe.Pointer(&held))
	at("table", unsafe.Pointer(table[7]))
	fmt.Fprintf(&told, "dropped %x\n", hidden)
	fmt.Fprintf(&told, "count main.node 201\ncount main.square 50\ncount main.big 1\ncount main.all 1\n")
	// Those of nodes, of squares, of both maps, of the array, in the channel and among the values.
	fmt.Fprintf(&told, "count main.leaf %d\n", 200+50+300+1+1+1+1)
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	fmt.Fprintf(&told, "collections %d %d\nobjects %d\ngoal %d\n", stats.NumGC, stats.NumForcedGC, stats.HeapObjects,
		stats.NextGC)
	for _, size := range stats.BySize {
		fmt.Fprintf(&told, "size %d %d\n", size.Size, size.Mallocs-size.Frees)
	}
	if err := os.WriteFile("heap.txt", told.Bytes(), 0o644); err != nil {
		panic(err)
	}
	account := "{\"pid\":" + strconv.Itoa(os.Getpid()) + "}\n{\"done\":true}\n"
	if err := os.WriteFile(os.Getenv("KCORE_TRUTH"), []byte(account), 0o644); err != nil {
		panic(err)
	}
	runtime.KeepAlive(hold)
	panic("told")
}
