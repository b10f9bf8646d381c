// go-variables: goroutines that wait with arguments and locals of all kinds. Right before, each tells what they are in
// variables.jsonl, then the program dies.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

type Point struct{ X, Y int }

type Shape interface{ Area() float64 }

type Square struct{ Side float64 }

type Circle struct{ Radius float64 }

type Worker struct {
	Name  string
	Tags  []string
	Ages  map[string]int
	Owner *Point
}

func (s Square) Area() float64  { return s.Side * s.Side }
func (c *Circle) Area() float64 { return 3 * c.Radius * c.Radius }

// What nothing is ever sent on, and what keeps values alive.
var (
	never = make(chan int)
	sink  []any
	told  sync.Mutex
	out   *os.File
	ready = make(chan bool)
)

// tree is what a value is, without addresses of what may move.
func tree(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.Int, reflect.Int8, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Uint8, reflect.Uint16, reflect.Uint64:
		return v.Uint()
	case reflect.Float64:
		return v.Float()
	case reflect.String:
		return v.String()
	case reflect.Slice, reflect.Array:
		all := []any{}
		for i := 0; i < v.Len(); i++ {
			all = append(all, tree(v.Index(i)))
		}
		return all
	case reflect.Struct:
		all := map[string]any{}
		for i := 0; i < v.NumField(); i++ {
			all[v.Type().Field(i).Name] = tree(v.Field(i))
		}
		return all
	case reflect.Map:
		all := []string{}
		for _, key := range v.MapKeys() {
			all = append(all, text([]any{tree(key), tree(v.MapIndex(key))}))
		}
		sort.Strings(all)
		return map[string]any{"map": all}
	case reflect.Interface:
		if v.IsNil() {
			return map[string]any{"holds": nil}
		}
		return map[string]any{"holds": v.Elem().Type().String(), "value": tree(v.Elem())}
	case reflect.Ptr, reflect.Chan, reflect.Func:
		return map[string]any{"nil": v.IsNil()}
	}
	panic(v.Kind())
}

func text(value any) string {
	bytes, _ := json.Marshal(value)
	return string(bytes)
}

// goroutine is the number of the one that runs.
func goroutine() int {
	buf := make([]byte, 64)
	words := strings.Fields(string(buf[:runtime.Stack(buf, false)]))
	id, _ := strconv.Atoi(words[1])
	return id
}

// values are variables of a function, each a name and a pointer to a copy.
type values map[string]any

// tell writes what the variables of a function are: of a pointer, what it points to.
func tell(function string, all values) {
	told.Lock()
	defer told.Unlock()
	for name, pointer := range all {
		var is any
		if pointer != nil {
			is = tree(reflect.ValueOf(pointer).Elem())
		}
		fmt.Fprintln(out, text(map[string]any{
			"goroutine": goroutine(), "function": function, "name": name, "is": is, "declared": pointer != nil,
		}))
	}
}

// of is a pointer to a copy, so that telling moves nothing to the heap.
func of[T any](value T) *T { return &value }

//go:noinline
func use(all ...any) { sink = append(sink, all...) }

func wait() {
	ready <- true
	<-never
}

//go:noinline
func (w *Worker) run(n int, label string, points []Point, held any, err error, shape Shape, ch chan string, f func(int) int) (result int, failed error) {
	local := n * 2
	escaped := Point{n, local}
	kept := &escaped
	use(kept)
	few := map[int]string{1: "one", 2: label}
	many := map[string]Point{}
	for i := 0; i < 30; i++ {
		many[strconv.Itoa(i)] = Point{i, -i}
	}
	{
		local := "shadow"
		inner := len(local) + n
		tell("main.(*Worker).run", values{
			"n": of(n), "label": of(label), "points": of(points), "held": of(held), "err": of(err), "shape": of(shape),
			"inner": of(inner), "local": of(local), "escaped": of(escaped), "few": of(few), "many": of(many),
			"behind": nil, "last": nil,
		})
		wait()
		behind := inner + 1
		use(local, inner, behind)
	}
	last := local + 5
	use(w, label, points, held, err, shape, ch, f(1), few, many, escaped, last, local)
	return last, err
}

//go:noinline
func (w Worker) byValue(x, y float64) float64 {
	sum := x + y
	tell("main.Worker.byValue", values{"w": of(w), "x": of(x), "y": of(y), "sum": of(sum)})
	wait()
	use(w, x, y, sum)
	return sum
}

//go:noinline
func (p Point) small(k int8, yes bool) int {
	tell("main.Point.small", values{"p": of(p), "k": of(k), "yes": of(yes)})
	wait()
	use(p, k, yes)
	return p.X
}

// moved has arguments that outlive it.
//
//go:noinline
func moved(count int, name string) (made *int) {
	pointer := &count
	names := &name
	count++
	tell("main.moved", values{"count": of(count), "name": of(name)})
	wait()
	use(pointer, names, count)
	return pointer
}

func closures() {
	byValue := 17
	byReference := 3
	captured := "captured"
	go func(argument int) {
		sum := argument + byValue
		byReference++
		tell("main.closures.func1", values{"argument": of(argument), "byReference": of(byReference), "sum": of(sum),
			"byValue": of(byValue), "captured": of(captured)})
		wait()
		byReference++
		use(byValue, byReference, captured, sum)
	}(5)
	<-ready
	use(&byReference)
	ready <- true
}

//go:noinline
func generic[T any](value T, all []T) T {
	tell("main.generic[...]", values{"value": of(value), "all": of(all)})
	wait()
	use(value, all)
	return append(all, value)[0]
}

//go:noinline
func outer(a int, s string) int {
	k := a + len(s)
	tell("main.outer", values{"k": of(k), "a": of(a), "s": of(s)})
	got := leaf(k, s)
	use(k, a, s)
	return got + k
}

//go:noinline
func leaf(k int, s string) int {
	numbers := [4]int{k, k + 1, k + 2, k + 3}
	tell("main.leaf", values{"k": of(k), "s": of(s), "numbers": of(numbers)})
	wait()
	use(numbers, s, k)
	return numbers[k&3]
}

//go:noinline
func nothing(none *Point, empty []int, missing map[string]int, closed error, held any, bytes []byte, pause time.Duration) {
	tell("main.nothing", values{
		"none": of(none), "empty": of(empty), "missing": of(missing), "closed": of(closed), "held": of(held),
		"bytes": of(bytes), "pause": of(pause),
	})
	wait()
	use(none, empty, missing, closed, held, bytes, pause)
}

func deferred() {
	defer func(why string) {
		recover()
		length := len(why)
		tell("main.deferred.func1", values{"why": of(why), "length": of(length)})
		wait()
		use(why, length)
	}("deferred")
	panic("recovered")
}

//go:noinline
func loop(all []string) {
	for i, one := range all {
		with := one + "!"
		if i == 1 {
			tell("main.loop", values{"i": of(i), "one": of(one), "with": of(with), "all": of(all)})
			wait()
		}
		use(i, one, with)
	}
}

func account() {
	text := fmt.Sprintf("{\"pid\":%d}\n{\"argv\":[%q]}\n{\"done\":true}\n", os.Getpid(), os.Args[0])
	if os.WriteFile(os.Getenv("KCORE_TRUTH"), []byte(text), 0o644) != nil {
		os.Exit(1)
	}
}

func main() {
	debug.SetTraceback("crash")
	out, _ = os.Create("variables.jsonl")
	w := &Worker{"worker", []string{"a", "b"}, map[string]int{"x": 1}, nil}
	more := func(x int) int { return x + w.Ages["x"] }
	all := []func(){
		func() {
			w.run(21, "label", []Point{{1, 2}, {3, 4}}, Point{7, 8}, errors.New("bad"), Square{2}, make(chan string, 2), more)
		},
		func() { w.run(22, "other", nil, "held", nil, &Circle{1}, nil, nil) },
		func() { w.byValue(1.5, 2.5) },
		func() { Point{10, 20}.small(-30, true) },
		func() { moved(6, "moved") },
		closures,
		func() { generic("g", []string{"h"}) },
		func() { generic(1, []int{2, 3}) },
		func() { generic(Point{1, 2}, []Point{{3, 4}}) },
		func() { outer(4, "outer") },
		func() { nothing(nil, nil, nil, nil, nil, []byte("bytes"), 1500*time.Millisecond) },
		deferred,
		func() { loop([]string{"first", "second", "third"}) },
	}
	for _, one := range all {
		go one()
		<-ready
	}
	time.Sleep(50 * time.Millisecond)
	account()
	panic("told")
}
