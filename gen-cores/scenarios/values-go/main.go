// values-go: values of every kind of type that Go has, in variables of the package and locals. The program tells all of
// them in values.jsonl, then it dies.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

type Color int

const (
	Red Color = iota
	Green
	Blue
)

func (c Color) String() string { return [...]string{"Red", "Green", "Blue"}[c] }

type Point struct{ X, Y int }

type Named struct {
	Point
	Name  string
	Tags  []string
	inner struct{ deep bool }
}

type Shape interface{ Area() float64 }

type Circle struct{ Radius float64 }

type Square struct{ Side int }

func (c *Circle) Area() float64 { return math.Pi * c.Radius * c.Radius }
func (s Square) Area() float64  { return float64(s.Side * s.Side) }

type List struct {
	Value int
	Next  *List
}

type Pair[K comparable, V any] struct {
	Key   K
	Value V
}

type Empty struct{}

type Only struct{ Value int }

type Temperature float64

type OnePtr struct{ P *Point }

type MyErr struct{ code int }

func (e *MyErr) Error() string { return "my error" }

type Deep struct {
	Name  string
	Inner Only
	List  []Only
	Two   [2]Only
	P     *Only
	Any   any
	F     float32
	B     bool
	C     uint8
}

// Numbers.
var (
	gBool      = true
	gFalse     bool
	gInt                 = -42
	gInt8      int8      = -128
	gInt16     int16     = -30000
	gInt32     int32     = math.MinInt32
	gInt64     int64     = math.MinInt64
	gUint      uint      = 42
	gUint8     uint8     = 255
	gUint16    uint16    = 65535
	gUint32    uint32    = 4000000000
	gUint64    uint64    = math.MaxUint64
	gUintptr             = uintptr(0x1000)
	gByte      byte      = 'b'
	gRune                = '€'
	gFloat32   float32   = -0.15625
	gFloat64             = math.Pi
	gInf                 = math.Inf(1)
	gNaN                 = math.NaN()
	gComplex64 complex64 = complex(1.5, -2.5)
	gComplex             = complex(-1, 0.25)
	gColor               = Blue
	gDuration            = 1500 * time.Millisecond
)

// Strings, arrays and slices.
var (
	gString      = "a string"
	gEmptyString string
	gUtf8        = "grüß €"
	gLong        = strings.Repeat("long ", 60)
	gNul         = "a\x00b"
	gSub         = gLong[5:9]
	gArray       = [3]int{1, -2, 3}
	gMatrix      = [2][2]int8{{1, 2}, {3, 4}}
	gNoArray     [0]int
	gSlice       = []int{10, 20, 30}
	gNilSlice    []int
	gEmptySlice  = []int{}
	gPart        = gSlice[1:2]
	gMany        []int
	gStrings     = []string{"one", "", "three"}
	gBytes       = []byte("bytes")
	gNested      = [][]int{{1}, nil, {2, 3}}
	gPoints      = []Point{{1, 2}, {3, 4}}
	gBools       = []bool{true, false}
)

// Structures and pointers.
var (
	gPoint     = Point{3, -4}
	gNamed     = Named{Point{1, 2}, "named", []string{"a", "b"}, struct{ deep bool }{true}}
	gAnonymous = struct {
		A int
		B string
	}{1, "anonymous"}
	gEmpty   Empty
	gPair    = Pair[string, int]{"key", 7}
	gNilPtr  *int
	gPtr     = &gInt
	gPtrPtr  = &gPtr
	gToPoint = &gPoint
	gUnsafe  = unsafe.Pointer(&gInt)
	gList    = &List{1, &List{2, &List{3, nil}}}
	gRing    = &List{4, nil}
)

// Maps.
var (
	gNilMap   map[string]int
	gNoMap    = map[string]int{}
	gOneMap   = map[string]int{"one": 1}
	gAges     = map[string]int{"Ada": 36, "Bob": 25, "Eve": 99}
	gManyMap  = map[int]string{}
	gPointMap = map[Point]string{{1, 2}: "a", {3, 4}: "b"}
	gDeepMap  = map[string][]int{"x": {1, 2}, "y": nil}
	gGrown    = map[int]int{}
	gBoolMap  = map[bool]int{true: 1, false: 0}
	gBigMap   = map[[20]int64]string{{1}: "indirect key"}
	gWide     = map[int][20]int64{7: {70, 71}}
	gBothBig  = map[[17]int64][17]int64{{1}: {2}}
	gManyBig  = map[[20]int64][20]int64{}
	gHuge     = map[int]int{}
	gThinned  = map[int]string{}
	gPtrMap   = map[string]*Point{"p": &gPoint}
	gPtrKeys  = map[*Point]bool{&gPoint: true}
	gAnyMap   = map[any]any{1: "one", "two": 2.5, Point{1, 2}: nil, Only{9}: Only{8}}
)

// Interfaces, functions and channels.
var (
	gNilAny    any
	gAnyInt    any = 42
	gAnyString any = "in an interface"
	gAnyPoint  any = Point{5, 6}
	gAnyPtr    any = &gPoint
	gAnySlice  any = []int{1, 2}
	gNilShape  Shape
	gAnyOnly   any   = Only{4}
	gAnyDeep   any   = Deep{Name: "deep", Inner: Only{1}, List: []Only{{2}, {3}}, Two: [2]Only{{5}, {6}}, P: &Only{7}, Any: Only{8}, F: 1.5, B: true, C: 7}
	gAnyOnePtr any   = OnePtr{&gPoint}
	gAnyMapped any   = map[string]int{"in": 1}
	gAnyNamed  any   = Temperature(36.6)
	gAnyFunc   any   = twice
	gAnyErr    error = &MyErr{5}
	gCircle    Shape = &Circle{2}
	gSquare    Shape = Square{3}
	gError           = errors.New("an error")
	gShapes          = []Shape{Square{1}, nil, &Circle{1}}
	gNilFunc   func(int) int
	gFunc      = twice
	gClosure   = adder(5)
	gNilChan   chan int
	gChan      = make(chan int, 4)
	gNoBuffer  = make(chan string)
	gClosed    = make(chan bool, 1)
)

//go:noinline
func twice(n int) int { return n * 2 }

func adder(by int) func(int) int { return func(n int) int { return n + by } }

var out *os.File

func quoted(text string) string {
	bytes, _ := json.Marshal(text)
	return string(bytes)
}

func hex(address uintptr) string { return fmt.Sprintf("\"0x%x\"", address) }

func float(value float64) string {
	switch {
	case math.IsNaN(value):
		return "\"nan\""
	case math.IsInf(value, 0):
		return "\"inf\""
	}
	return fmt.Sprintf("\"%.17g\"", value)
}

func listed(v reflect.Value) string {
	parts := make([]string, v.Len())
	for i := range parts {
		parts[i] = tree(v.Index(i))
	}
	return fmt.Sprintf("{\"list\":[%s],\"total\":%d}", strings.Join(parts, ","), len(parts))
}

func mapped(v reflect.Value) string {
	parts := []string{}
	for at := v.MapRange(); at.Next(); {
		parts = append(parts, "["+tree(at.Key())+","+tree(at.Value())+"]")
	}
	return fmt.Sprintf("{\"hash\":[%s],\"total\":%d}", strings.Join(parts, ","), len(parts))
}

func members(v reflect.Value) string {
	parts := []string{}
	for i := 0; i < v.NumField(); i++ {
		parts = append(parts, quoted(v.Type().Field(i).Name)+":"+tree(v.Field(i)))
	}
	return "{\"struct\":{" + strings.Join(parts, ",") + "}}"
}

func dynamic(v reflect.Value) string {
	if v.IsNil() {
		return "{\"interface\":null}"
	}
	name := strings.Replace(v.Elem().Type().String(), "interface {}", "any", 1)
	return "{\"interface\":" + tree(v.Elem()) + ",\"dynamic\":" + quoted(name) + "}"
}

// What a value is, as a tree of JSON.
func tree(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Bool:
		return fmt.Sprintf("{\"bool\":%t}", v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("{\"int\":\"%d\"}", v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return fmt.Sprintf("{\"int\":\"%d\"}", v.Uint())
	case reflect.Float32, reflect.Float64:
		return "{\"float\":" + float(v.Float()) + "}"
	case reflect.Complex64, reflect.Complex128:
		return "{\"complex\":[" + float(real(v.Complex())) + "," + float(imag(v.Complex())) + "]}"
	case reflect.String:
		return "{\"text\":" + quoted(v.String()) + "}"
	case reflect.Slice, reflect.Array:
		return listed(v)
	case reflect.Map:
		return mapped(v)
	case reflect.Struct:
		return members(v)
	case reflect.Interface:
		return dynamic(v)
	case reflect.Ptr, reflect.UnsafePointer:
		return "{\"ptr\":" + hex(v.Pointer()) + "}"
	}
	return "{\"says\":\"?\"}"
}

func raw(name string, tree string) { fmt.Fprintf(out, "{\"print\":%s,%s\n", quoted(name), tree[1:]) }

func tell(name string, pointer any) { raw("main."+name, tree(reflect.ValueOf(pointer).Elem())) }

func tellLocal(frame string, name string, value any) {
	text := tree(reflect.ValueOf(value))
	fmt.Fprintf(out, "{\"print\":%s,\"frame\":%s,%s\n", quoted(name), quoted(frame), text[1:])
}

func fill() {
	for i := 0; i < 100; i++ {
		gMany = append(gMany, i*3)
		gManyMap[i] = strconv.Itoa(i)
	}
	// The last of these makes the map grow: its old buckets are moved bit by bit.
	for i := 0; i < 53; i++ {
		gGrown[i] = i * i
	}
	for i := int64(0); i < 30; i++ {
		gManyBig[[20]int64{i, i}] = [20]int64{-i}
	}
	for i := 0; i < 5000; i++ {
		gHuge[i] = -i
	}
	for i := 0; i < 3000; i++ {
		gThinned[i] = strconv.Itoa(i)
	}
	for i := 0; i < 3000; i++ {
		if i%100 != 0 {
			delete(gThinned, i)
		}
	}
	gRing.Next = gRing
	gChan <- 1
	gChan <- 2
	<-gChan
	gChan <- 3
	close(gClosed)
}

func tellNumbers() {
	tell("gBool", &gBool)
	tell("gFalse", &gFalse)
	tell("gInt", &gInt)
	tell("gInt8", &gInt8)
	tell("gInt16", &gInt16)
	tell("gInt32", &gInt32)
	tell("gInt64", &gInt64)
	tell("gUint", &gUint)
	tell("gUint8", &gUint8)
	tell("gUint16", &gUint16)
	tell("gUint32", &gUint32)
	tell("gUint64", &gUint64)
	tell("gUintptr", &gUintptr)
	tell("gByte", &gByte)
	tell("gRune", &gRune)
	tell("gFloat32", &gFloat32)
	tell("gFloat64", &gFloat64)
	tell("gInf", &gInf)
	tell("gNaN", &gNaN)
	tell("gComplex64", &gComplex64)
	tell("gComplex", &gComplex)
	tell("gColor", &gColor)
	tell("gDuration", &gDuration)
}

func tellSequences() {
	tell("gString", &gString)
	tell("gEmptyString", &gEmptyString)
	tell("gUtf8", &gUtf8)
	tell("gLong", &gLong)
	tell("gNul", &gNul)
	tell("gSub", &gSub)
	tell("gArray", &gArray)
	tell("gMatrix", &gMatrix)
	tell("gNoArray", &gNoArray)
	tell("gSlice", &gSlice)
	tell("gNilSlice", &gNilSlice)
	tell("gEmptySlice", &gEmptySlice)
	tell("gPart", &gPart)
	tell("gMany", &gMany)
	tell("gStrings", &gStrings)
	tell("gBytes", &gBytes)
	tell("gNested", &gNested)
	tell("gPoints", &gPoints)
	tell("gBools", &gBools)
	raw("main.gSlice[1]", "{\"int\":\"20\"}")
	raw("main.gPoints[1].X", "{\"int\":\"3\"}")
}

func tellStructures() {
	tell("gPoint", &gPoint)
	tell("gNamed", &gNamed)
	tell("gAnonymous", &gAnonymous)
	tell("gEmpty", &gEmpty)
	tell("gPair", &gPair)
	tell("gNilPtr", &gNilPtr)
	tell("gPtr", &gPtr)
	tell("gPtrPtr", &gPtrPtr)
	tell("gToPoint", &gToPoint)
	tell("gUnsafe", &gUnsafe)
	tell("gList", &gList)
	tell("gRing", &gRing)
	raw("main.gNamed.Name", "{\"text\":\"named\"}")
	raw("main.gList->Next->Value", "{\"int\":\"2\"}")
	raw("main.gRing->Next->Next->Value", "{\"int\":\"4\"}")
}

func tellMaps() {
	tell("gNilMap", &gNilMap)
	tell("gNoMap", &gNoMap)
	tell("gOneMap", &gOneMap)
	tell("gAges", &gAges)
	tell("gManyMap", &gManyMap)
	tell("gPointMap", &gPointMap)
	tell("gDeepMap", &gDeepMap)
	tell("gGrown", &gGrown)
	tell("gBoolMap", &gBoolMap)
	tell("gBigMap", &gBigMap)
	tell("gWide", &gWide)
	tell("gBothBig", &gBothBig)
	tell("gManyBig", &gManyBig)
	tell("gHuge", &gHuge)
	tell("gThinned", &gThinned)
	tell("gPtrMap", &gPtrMap)
	tell("gPtrKeys", &gPtrKeys)
	tell("gAnyMap", &gAnyMap)
}

func tellInterfaces() {
	tell("gNilAny", &gNilAny)
	tell("gAnyInt", &gAnyInt)
	tell("gAnyString", &gAnyString)
	tell("gAnyPoint", &gAnyPoint)
	tell("gAnyPtr", &gAnyPtr)
	tell("gAnySlice", &gAnySlice)
	tell("gNilShape", &gNilShape)
	tell("gAnyOnly", &gAnyOnly)
	tell("gAnyDeep", &gAnyDeep)
	tell("gAnyOnePtr", &gAnyOnePtr)
	tell("gAnyMapped", &gAnyMapped)
	tell("gAnyNamed", &gAnyNamed)
	tell("gAnyErr", &gAnyErr)
	tell("gCircle", &gCircle)
	tell("gSquare", &gSquare)
	tell("gShapes", &gShapes)
	raw("main.gNilFunc", "{\"ptr\":\"0x0\"}")
	raw("main.gFunc", "{\"says\":\"main.twice\"}")
	raw("main.gClosure", "{\"says\":\"main.adder.func1\"}")
	raw("main.gNilChan", "{\"ptr\":\"0x0\"}")
	raw("main.gChan", "{\"list\":[{\"int\":\"2\"},{\"int\":\"3\"}],\"total\":2}")
	raw("main.gNoBuffer", "{\"list\":[],\"total\":0}")
	raw("main.gClosed", "{\"list\":[],\"total\":0}")
}

//go:noinline
func deepest(count int, name string, numbers []int, point *Point) int {
	total := count + len(numbers)
	words := map[string]int{"local": total}
	tellLocal("main.deepest", "count", count)
	tellLocal("main.deepest", "name", name)
	tellLocal("main.deepest", "numbers", numbers)
	tellLocal("main.deepest", "point", point)
	tellLocal("main.deepest", "total", total)
	tellLocal("main.deepest", "words", words)
	out.Close()
	account()
	*(*int)(unsafe.Pointer(uintptr(8 * count))) = total
	return total + words[name] + point.X
}

// The account that `gen-cores` makes the truth of.
func account() {
	text := fmt.Sprintf("{\"pid\":%d}\n{\"argv\":[%s]}\n{\"done\":true}\n", os.Getpid(), quoted(os.Args[0]))
	if os.WriteFile(os.Getenv("KCORE_TRUTH"), []byte(text), 0o644) != nil {
		os.Exit(1)
	}
}

func main() {
	// A core at the end of a panic.
	debug.SetTraceback("crash")
	out, _ = os.Create("values.jsonl")
	fill()
	tellNumbers()
	tellSequences()
	tellStructures()
	tellMaps()
	tellInterfaces()
	// What nothing refers to, the linker leaves out.
	fmt.Println(gError, gNilFunc == nil, gNilChan, gNoBuffer, gClosed)
	fmt.Println(gFunc(1) + gClosure(2) + deepest(1, "local", gSlice, &gPoint))
}
