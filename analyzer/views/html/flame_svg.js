// SPDX-License-Identifier: MIT
// flame_svg.js - zoom, search and details of the flame graph as an SVG file. Without it the file is a picture.
"use strict";
(function () {
	const LETTER = 6.7, LEFT = 12, WIDTH = 1176;
	const byId = (id) => document.getElementById(id);
	const boxes = Array.from(document.querySelectorAll(".f"), (group) => {
		const rect = group.querySelector("rect"), number = (name) => parseFloat(rect.getAttribute(name));
		const title = group.querySelector("title").textContent, text = group.querySelector("text");
		const sign = text && /^[+\u2212] /.test(text.textContent) ? text.textContent.slice(0, 2) : "";
		return { group, rect, text, title, sign, name: title.split("\n")[0], x: number("x"), y: number("y"), width: number("width") };
	});

	// Shows [x, x + width) as wide as the picture. Callers of what is shown are further down, and dimmed.
	function show(x, width, y) {
		const scale = WIDTH / width;
		for (const box of boxes) {
			const left = Math.max((box.x - x) * scale, 0), right = Math.min((box.x + box.width - x) * scale, WIDTH);
			const isShown = right - left > 0.1 && box.x < x + width && box.x + box.width > x;
			box.group.style.display = isShown ? "" : "none";
			if (!isShown)
				continue;
			box.rect.setAttribute("x", LEFT + left);
			box.rect.setAttribute("width", right - left);
			box.group.classList.toggle("dim", box.y > y);
			label(box, LEFT + left, right - left);
		}
		byId("unzoom").textContent = width < WIDTH - 1 ? "Reset zoom" : " ";
	}

	function label(box, x, width) {
		const letters = Math.floor((width - 6) / LETTER), name = Array.from(box.sign + box.name);
		if (!box.text && letters >= 6) {
			box.text = box.group.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "text"));
			box.text.setAttribute("y", box.y + 12.5);
		}
		if (!box.text)
			return;
		box.text.setAttribute("x", x + 3);
		box.text.textContent = letters < 6 ? "" : name.length > letters ? name.slice(0, letters - 1).join("") + "\u2026" : name.join("");
	}

	// The share counts what lies below a match once.
	function search() {
		const wanted = prompt("Functions to look for (regular expression):", "");
		let pattern = null;
		try {
			pattern = wanted ? new RegExp(wanted, "i") : null;
		} catch (error) {
			alert(error.message);
			return;
		}
		let share = 0, end = -1;
		for (const box of boxes.slice().sort((a, b) => a.x - b.x || b.width - a.width || b.y - a.y)) {
			const isHit = pattern !== null && pattern.test(box.name);
			box.group.classList.toggle("hit", isHit);
			box.group.classList.toggle("miss", pattern !== null && !isHit);
			if (isHit && box.x >= end - 0.05) {
				share += box.width + 0.6;
				end = box.x + box.width;
			}
		}
		byId("matched").textContent = pattern ? "matched: " + Math.min(100 * share / WIDTH, 100).toFixed(1) + "%" : " ";
	}

	for (const box of boxes) {
		box.group.addEventListener("click", () => show(box.x, box.width, box.y));
		box.group.addEventListener("mouseover", () => { byId("details").textContent = box.title.replace("\n", ": "); });
		box.group.addEventListener("mouseout", () => { byId("details").textContent = " "; });
	}
	byId("unzoom").addEventListener("click", () => show(LEFT, WIDTH, Infinity));
	byId("search").textContent = "Search";
	byId("search").addEventListener("click", search);
	addEventListener("keydown", (event) => {
		if (event.key === "/" || (event.key === "f" && (event.ctrlKey || event.metaKey))) {
			event.preventDefault();
			search();
		} else if (event.key === "Escape")
			show(LEFT, WIDTH, Infinity);
	});
})();
