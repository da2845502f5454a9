// SPDX-License-Identifier: MIT
// An HTTP server for the load: node server.js PORT. /page holds 20,000 known bytes, put together anew for every request; anything else does not exist.
// Work on the side keeps the thread pool and the garbage collector busy.
const crypto = require('crypto')
const http = require('http')
const zlib = require('zlib')

const text = '0123456789'
let rounds = 0

function onTheSide() {
	zlib.gzip(crypto.randomBytes(50000), (error, packed) => {
		if (error) throw error
		zlib.gunzip(packed, (failure, data) => {
			if (failure || data.length !== 50000) throw failure || new Error('gunzip')
			rounds++
			setTimeout(onTheSide, 1)
		})
	})
}

http.createServer((request, response) => {
	if (request.url !== '/page') {
		response.writeHead(404, { 'Content-Length': 0 })
		response.end()
		return
	}
	const parts = []
	for (let i = 0; i < 20; i++) parts.push(Buffer.from(text.repeat(100)))
	const body = Buffer.concat(parts)
	response.writeHead(200, { 'Content-Length': body.length })
	response.end(body)
}).listen(Number(process.argv[2]), '127.0.0.1')
onTheSide()
