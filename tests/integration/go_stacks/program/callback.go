// SPDX-License-Identifier: MIT

package main

// #include "program.h"
import "C"

//export go_called_by_c
func go_called_by_c(bytes C.size_t) { keepInC(int(bytes)) }
