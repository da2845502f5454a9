// SPDX-License-Identifier: MIT

// Go's heap in a program that is linked with C, where Go maps by the C library's function. Each
// line is answered once as many MiB as it says are in use and written to.
package main

// #include <stdlib.h>
import "C"

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
)

var kept [][]byte

func main() {
	C.free(C.malloc(1))
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		blocks, _ := strconv.Atoi(lines.Text())
		for ; blocks > 0; blocks-- {
			block := make([]byte, 1<<20)
			for i := range block {
				block[i] = 1
			}
			kept = append(kept, block)
		}
		fmt.Println("kept")
	}
}
