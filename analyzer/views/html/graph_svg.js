// SPDX-License-Identifier: MIT
// graph_svg.js - the call graph that graphviz has drawn pans and zooms: drag, wheel, arrow keys, + and -; 0 or a double click shows all. Without it the file is
// a picture.
"use strict";
(function () {
	const svg = document.documentElement, whole = svg.getAttribute("viewBox").split(/[ ,]+/).map(Number), NATURAL = 96 / 72;
	let [x, y, width, height] = whole, last = null;

	const scale = () => Math.min(innerWidth / width, innerHeight / height);

	function place() {
		svg.setAttribute("viewBox", [x, y, width, height].map((value) => value.toFixed(3)).join(" "));
	}

	// About a point of the window, which stays where it is.
	function zoom(factor, px, py) {
		const was = scale(), left = x + width / 2 + (px - innerWidth / 2) / was, top = y + height / 2 + (py - innerHeight / 2) / was;
		const now = Math.min(20, Math.max(0.02, was * factor));
		width = innerWidth / now;
		height = innerHeight / now;
		x = left - px / now;
		y = top - py / now;
		place();
	}

	function pan(dx, dy) {
		x -= dx / scale();
		y -= dy / scale();
		place();
	}

	function showAll() {
		[x, y, width, height] = whole;
		place();
	}

	// As large as it was drawn at most, and from its top if not all of it can be read.
	function showFirst() {
		const now = Math.min(NATURAL, Math.max(0.6, Math.min(innerWidth / whole[2], innerHeight / whole[3])));
		width = innerWidth / now;
		height = innerHeight / now;
		x = whole[0] + Math.min(0, (whole[2] - width) / 2);
		y = whole[1];
		place();
	}

	const zoomMiddle = (factor) => zoom(factor, innerWidth / 2, innerHeight / 2);
	const keys = {
		ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60), 0: showAll, Home: showFirst,
		"+": () => zoomMiddle(1.25), "=": () => zoomMiddle(1.25), "-": () => zoomMiddle(0.8),
	};
	addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key])
			return;
		keys[event.key]();
		event.preventDefault();
	});
	addEventListener("wheel", (event) => {
		zoom(Math.exp(-event.deltaY / 400), event.clientX, event.clientY);
		event.preventDefault();
	}, { passive: false });
	addEventListener("pointerdown", (event) => {
		last = event;
		event.preventDefault();
	});
	addEventListener("pointermove", (event) => {
		if (!last)
			return;
		pan(event.clientX - last.clientX, event.clientY - last.clientY);
		last = event;
	});
	for (const end of ["pointerup", "pointercancel"])
		addEventListener(end, () => { last = null; });
	addEventListener("dblclick", showAll);
	svg.style.cursor = "grab";
	svg.style.touchAction = "none";
	showFirst();
})();
