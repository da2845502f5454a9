// SPDX-License-Identifier: MIT
package main

func hold(size int) {}
