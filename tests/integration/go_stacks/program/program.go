// SPDX-License-Identifier: MIT

// A program in Go that allocates in C: from goroutines, deep in the stack, from a locked thread,
// and from Go that C has called.
package main

// #include "program.h"
import "C"

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
)

//go:noinline
func keepInC(bytes int) { C.keep(C.size_t(bytes)) }

//go:noinline
func deep(depth, bytes int) {
	if depth > 0 {
		deep(depth-1, bytes)
		return
	}
	keepInC(bytes)
}

//go:noinline
func throughC(bytes int) { C.call_go(C.size_t(bytes)) }

// grow has the goroutine's stack copied to another place before it allocates.
//
//go:noinline
func grow(bytes int) byte {
	var room [64 << 10]byte
	room[bytes%len(room)] = 1
	keepInC(bytes)
	return room[0]
}

func work(rounds int, done *sync.WaitGroup) {
	defer done.Done()
	for i := 0; i < rounds; i++ {
		deep(10, 100)
		throughC(200)
	}
	grow(300)
}

func workLocked(rounds int, done *sync.WaitGroup) {
	runtime.LockOSThread()
	work(rounds, done)
}

// main reads how many rounds each of four goroutines does, and says when they are done.
func main() {
	input := bufio.NewScanner(os.Stdin)
	fmt.Println("ready")
	for input.Scan() {
		var rounds int
		var done sync.WaitGroup
		if _, err := fmt.Sscan(strings.TrimSpace(input.Text()), &rounds); err != nil {
			return
		}
		done.Add(4)
		for i := 0; i < 3; i++ {
			go work(rounds, &done)
		}
		go workLocked(rounds, &done)
		done.Wait()
		fmt.Println("done")
	}
}
