// SPDX-License-Identifier: Apache-2.0
// What all pages share: elements, numbers, colors of maps.
"use strict";

function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value != null) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((c) => c != null));
  return node;
}

function svg(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children.flat().filter((c) => c != null));
  return node;
}

// A sieve, seen from above.
function mark(words) {
  const icon = svg("svg", {viewBox: "0 0 20 20", fill: "none", stroke: "currentColor", "stroke-width": 1.5,
                           "aria-hidden": "true"},
                   svg("circle", {cx: 10, cy: 10, r: 8}),
                   svg("path", {d: "M7 2.8v14.4M10 2v16M13 2.8v14.4M2.8 7h14.4M2 10h16M2.8 13h14.4",
                                "stroke-width": 0.8}));
  return el("p", {class: "mark"}, icon, el("span", {}, words));
}

// As many digits as say something.
function number(value, digits = 3) {
  if (value == null) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(digits - 1);
  return size >= 10 ** digits ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(digits)));
}

function seconds(value) {
  if (value == null) return "–";
  if (value < 1e-3) return number(1e6 * value) + " µs";
  return value < 1 ? number(1e3 * value) + " ms" : number(value) + " s";
}

function baseName(path) {
  return path == null ? "" : path.slice(path.lastIndexOf("/") + 1);
}

function shape(file) {
  const alpha = file.alpha === "none" ? "" : ", alpha";
  return `${file.width} × ${file.height}, ${file.type}${file.channels > 1 ? " × " + file.channels : ""}${alpha}`;
}

function channelNames(count) {
  return {1: ["Gray"], 2: ["Channel 1", "Channel 2"], 3: ["Red", "Green", "Blue"]}[count] ||
    Array.from({length: count}, (_, i) => "Channel " + (i + 1));
}

// What may be wider than the page; where it is, keys can scroll it.
function scroller(words, classes, ...children) {
  const node = el("div", {class: classes, role: "group", "aria-label": words}, children);
  new ResizeObserver(() => {
    if (node.scrollWidth > node.clientWidth) node.setAttribute("tabindex", 0);
    else node.removeAttribute("tabindex");
  }).observe(node);
  return node;
}

// For a POSIX shell; what begins with - is a file's name here, and no option.
function quoted(word) {
  if (word.startsWith("-")) return quoted("./" + word);
  return /^[\w@%+=:,.\/-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
}

// Colors of maps, dark to bright and evenly so: the cube helix of D. A. Green (2011), start 0.5,
// -1.5 turns, hue 1.
const heatColors = (() => {
  const table = new Uint8ClampedArray(256 * 3);
  for (let i = 0; i < 256; i++) {
    const v = i / 255, angle = 2 * Math.PI * (0.5 / 3 + 1 - 1.5 * v), swing = v * (1 - v) / 2;
    const c = Math.cos(angle) * swing, s = Math.sin(angle) * swing;
    table[3 * i] = 255 * (v - 0.14861 * c + 1.78277 * s);
    table[3 * i + 1] = 255 * (v - 0.29227 * c - 0.90649 * s);
    table[3 * i + 2] = 255 * (v + 1.97294 * c);
  }
  return table;
})();

function heatGradient() {
  const stops = [];
  for (let i = 0; i <= 16; i++) {
    const at = 3 * Math.min(255, i * 16);
    stops.push(`rgb(${heatColors[at]} ${heatColors[at + 1]} ${heatColors[at + 2]})`);
  }
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

function copyButton(text, words) {
  const button = el("button", {type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select and copy by hand";
    }
    setTimeout(() => { button.textContent = words; }, 1500);
  }}, words);
  return button;
}
