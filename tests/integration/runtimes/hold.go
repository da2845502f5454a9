// SPDX-License-Identifier: MIT
// Holds 94 MB of its own heap, and 12 MB of C's if it is built with cgo.
package main

import (
	"fmt"
	"os"
)

var kept [][]byte

func main() {
	command := make([]byte, 64)
	fmt.Println("ready")
	os.Stdin.Read(command)
	for i := 0; i < 96; i++ {
		own := make([]byte, 1000<<10)
		for k := range own {
			own[k] = 1
		}
		kept = append(kept, own)
		hold(125 << 10)
	}
	fmt.Println("done")
	os.Stdin.Read(command)
}
