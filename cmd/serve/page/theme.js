// SPDX-License-Identifier: MIT
// theme.js - light and dark: by the system's wish, until the button is pressed.
"use strict";

function setTheme(isDark) {
	document.documentElement.dataset.theme = isDark ? "dark" : "light";
	byId("theme").setAttribute("aria-pressed", String(isDark));
}

function beginTheme() {
	const dark = matchMedia("(prefers-color-scheme: dark)");
	setTheme(dark.matches);
	dark.addEventListener("change", (event) => setTheme(event.matches));
	byId("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
}
