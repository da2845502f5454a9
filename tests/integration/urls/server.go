// SPDX-License-Identifier: MIT

// Holds memory, and serves its profile as programs in Go do, by HTTP and by HTTPS. Arguments: a file
// for the profile, and one for the certificate.
package main

import (
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	_ "net/http/pprof"
	"os"
	"runtime"
	"runtime/pprof"
)

var held [][]byte

func hoard() {
	for i := 0; i < 64; i++ {
		held = append(held, make([]byte, 100000))
	}
}

func main() {
	runtime.MemProfileRate = 1
	hoard()
	secure := httptest.NewTLSServer(http.DefaultServeMux)
	certificate := pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}
	os.WriteFile(os.Args[2], pem.EncodeToMemory(&certificate), 0600)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	runtime.GC()
	file, _ := os.Create(os.Args[1])
	pprof.Lookup("heap").WriteTo(file, 0)
	file.Close()
	fmt.Println("secure", secure.URL)
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	http.Serve(listener, nil)
}
