// SPDX-License-Identifier: MIT

// Command shop allocates in several ways, and writes the profiles of Go's runtime of it: shop
// DIRECTORY RATE. RATE is runtime.MemProfileRate.
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	httppprof "net/http/pprof"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

type item struct {
	name  string
	stock []int
	next  *item
}

type catalogue struct {
	items map[string]*item
	first *item
}

type tree struct {
	left, right *tree
	load        []byte
}

//go:noinline
func label(number int) string {
	return strings.Repeat("x", number%90) + fmt.Sprintf("item number %d", number)
}

func restock(i *item, count int) {
	i.stock = make([]int, count)
}

//go:noinline
func (c *catalogue) add(number, round int) {
	i := &item{name: label(number), next: c.first}
	restock(i, 10+number%50*round)
	c.items[i.name+strconv.Itoa(round)] = i
	c.first = i
}

//go:noinline
func grow(depth int) *tree {
	t := &tree{load: make([]byte, 64<<(depth%8))}
	if depth > 1 {
		t.left = grow(depth - 1)
		t.right = grow(depth - 2)
	}
	return t
}

//go:noinline
func scratch(size int) int {
	b := make([]byte, size)
	return len(append(b, b...))
}

func each(count int, do func(int)) {
	for i := 0; i < count; i++ {
		do(i)
	}
}

var (
	shop  = &catalogue{items: map[string]*item{}}
	trees []*tree
	sink  int
)

func work(round int) {
	each(2000, func(i int) { shop.add(i, round) })
	trees = append(trees, grow(12+round%3))
	each(300, func(i int) { sink += scratch(1000 * (1 + i%40)) })
	done := make(chan []string)
	go func() {
		var names []string
		each(3000, func(i int) { names = append(names, label(i)) })
		done <- names
	}()
	if round%2 == 0 {
		kept = append(kept, <-done)
	} else {
		<-done
	}
}

var kept [][]string

func write(directory, name string, debug int, what string) {
	file, err := os.Create(filepath.Join(directory, name))
	if err == nil {
		err = pprof.Lookup(what).WriteTo(file, debug)
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		panic(err)
	}
}

// delta writes what the handler of /debug/pprof/ answers to seconds=1: the difference.
func delta(directory, name, what string, change func()) {
	answer := httptest.NewRecorder()
	go func() {
		time.Sleep(300 * time.Millisecond)
		change()
		runtime.GC()
		runtime.GC()
	}()
	httppprof.Handler(what).ServeHTTP(answer,
		httptest.NewRequest(http.MethodGet, "/debug/pprof/"+what+"?seconds=1", nil))
	if err := os.WriteFile(filepath.Join(directory, name), answer.Body.Bytes(), 0o600); err != nil {
		panic(err)
	}
}

func main() {
	directory := os.Args[1]
	rate, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	runtime.MemProfileRate = rate
	runtime.SetMutexProfileFraction(1)
	for round := 1; round <= 3; round++ {
		work(round)
	}
	runtime.GC()
	runtime.GC()
	write(directory, "old.heap.pb.gz", 0, "heap")
	write(directory, "old.heap.txt", 1, "heap")
	write(directory, "old.allocs.pb.gz", 0, "allocs")
	work(4)
	shop.items, trees = map[string]*item{}, trees[1:]
	work(5)
	runtime.GC()
	runtime.GC()
	write(directory, "new.heap.pb.gz", 0, "heap")
	write(directory, "new.heap.txt", 1, "heap")
	write(directory, "new.allocs.pb.gz", 0, "allocs")
	write(directory, "goroutine.txt", 1, "goroutine")
	write(directory, "goroutine.pb.gz", 0, "goroutine")
	write(directory, "threads.txt", 1, "threadcreate")
	write(directory, "mutex.txt", 1, "mutex")
	delta(directory, "delta.heap.pb.gz", "heap", func() { trees, shop.first = nil, nil; work(6) })
	delta(directory, "delta.allocs.pb.gz", "allocs", func() { work(7) })
}
