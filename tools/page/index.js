// SPDX-License-Identifier: Apache-2.0
// Many pictures: a table that can be sorted, those that stand out first.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
const files = data.files;
const ROWS = 200; // at a time

// ---- what stands out

const traits = {
  noise_before: "noise before", noise_after: "noise after", change: "change",
};

function median(sorted) {
  const n = sorted.length;
  return n ? (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2 : null;
}

// How many robust standard deviations a file is from the median of all, at its farthest trait.
function score() {
  for (const [key, words] of Object.entries(traits)) {
    const values = files.map((f) => f[key]).filter((v) => v != null).sort((a, b) => a - b);
    const middle = median(values);
    const spread = 1.4826 * median(values.map((v) => Math.abs(v - middle)).sort((a, b) => a - b));
    const least = Math.abs(middle) / 20 || 1e-9; // files that are nearly alike do not stand out
    for (const file of files) {
      const v = file[key];
      const z = v == null ? 0 : (v - middle) / Math.max(spread, least);
      if (!(Math.abs(z) <= Math.abs(file.score || 0))) Object.assign(file, {score: z, why: `${words} ${z > 0 ? "high" : "low"}`});
    }
  }
  for (const file of files) {
    if (file.status === "failed") Object.assign(file, {score: Infinity, why: file.message || "failed"});
    file.score = Math.abs(file.score || 0);
    file.out = file.score > 3.5 && files.length > 4 || file.status === "failed";
  }
}

// ---- the table

const percent = (v) => v == null ? "–" : number(v) + " %";
const columns = [
  {key: "pictures", words: "Before, after", text: true},
  {key: "input", words: "File", text: true, value: (f) => f.input},
  {key: "score", words: "Stands out", value: (f) => f.score, down: true,
   show: (f) => f.status === "failed" ? "failed" : f.status === "skipped" ? "skipped" : number(f.score, 2)},
  {key: "noise_before", words: "Noise before", value: (f) => f.noise_before, show: (f) => percent(f.noise_before), down: true},
  {key: "noise_after", words: "Noise after", value: (f) => f.noise_after, show: (f) => percent(f.noise_after), down: true},
  {key: "change", words: "Change", value: (f) => f.change, show: (f) => percent(f.change), down: true},
  {key: "size", words: "Picture", value: (f) => f.picture ? f.picture.width * f.picture.height : null, down: true,
   show: (f) => f.picture ? `${f.picture.width} × ${f.picture.height}` : "–"},
  {key: "time", words: "Filtering", value: (f) => f.filter_seconds, show: (f) => seconds(f.filter_seconds), down: true},
];
const state = {sort: "score", down: true, find: "", only: "all", rows: ROWS};

function chosen() {
  const column = columns.find((c) => c.key === state.sort), sign = state.down ? -1 : 1;
  const list = files.filter((f) => (state.only === "all" || (state.only === "out" ? f.out : f.status === "failed")) &&
                            f.input.toLowerCase().includes(state.find.toLowerCase()));
  return list.sort((a, b) => {
    const x = column.value(a), y = column.value(b);
    if (x == null || y == null) return (x == null) - (y == null);
    return sign * (typeof x === "string" ? x.localeCompare(y, "en", {numeric: true}) : x === y ? 0 : x < y ? -1 : 1);
  });
}

function rowOf(file) {
  const pair = file.before && el("button", {class: "pair", type: "button", "aria-label": `Compare ${baseName(file.input)}`,
    onclick: () => open(file)}, el("img", {src: file.before, alt: "", loading: "lazy"}),
    file.after ? el("img", {src: file.after, alt: "", loading: "lazy"}) : null);
  return el("tr", {class: file.status === "failed" ? "failed" : file.out ? "out" : ""},
    el("td", {}, pair || null),
    el("td", {class: "text file", title: file.input}, baseName(file.input),
       file.out || file.message ? el("div", {class: "why"}, file.out ? file.why : file.message) : null),
    columns.slice(2).map((c) => el("td", {}, c.show(file))));
}

const body = el("tbody"), count = el("span", {class: "soft small", role: "status"});
const more = el("button", {type: "button", onclick: () => { state.rows += ROWS; draw(); }}, "Show more");
const head = columns.map((c) => el("th", {scope: "col", class: c.text ? "text" : ""}, c.value
  ? el("button", {type: "button", onclick: () => {
      state.down = state.sort === c.key ? !state.down : Boolean(c.down);
      state.sort = c.key;
      draw();
    }}, c.words)
  : c.words));

function draw() {
  const list = chosen();
  body.replaceChildren(...list.slice(0, state.rows).map(rowOf));
  columns.forEach((c, i) => {
    if (c.key === state.sort) head[i].setAttribute("aria-sort", state.down ? "descending" : "ascending");
    else head[i].removeAttribute("aria-sort");
  });
  more.hidden = list.length <= state.rows;
  count.textContent = list.length === files.length ? `${files.length} files` : `${list.length} of ${files.length} files`;
}

// ---- one pair, larger

const title = el("h2", {class: "grow"}), dialog = el("dialog", {"aria-label": "Before and after"});
const viewer = new Viewer({label: "Before and after", wheel: "always"});
dialog.append(el("div", {class: "head row"}, title, viewer.zoomBar,
                 el("button", {type: "button", onclick: () => dialog.close()}, "Close")), viewer.stage);

async function open(file) {
  title.textContent = baseName(file.input);
  dialog.showModal();
  const [before, after] = await Promise.all([file.before, file.after || file.before].map((url) => pictureCanvas(url)));
  viewer.setLayout("slide");
  viewer.show("left", [{node: before, x: 0, y: 0, w: before.width, h: before.height}], "Before");
  viewer.show("right", [{node: after, x: 0, y: 0, w: before.width, h: before.height}], "After");
  viewer.setSize(before.width, before.height);
}

// ---- the page

function figure(name, value, note) {
  return el("div", {}, el("dt", {}, name), el("dd", {}, value), note ? el("dd", {class: "note"}, note) : null);
}

function keyFigures() {
  const done = files.filter((f) => f.status === "done"), with_ = (key) => done.map((f) => f[key]).filter((v) => v != null).sort((a, b) => a - b);
  const failed = files.filter((f) => f.status === "failed").length, skipped = files.filter((f) => f.status === "skipped").length;
  const out = files.filter((f) => f.out && f.status !== "failed").length;
  const time = done.reduce((sum, f) => sum + f.filter_seconds, 0);
  return el("dl", {class: "card figures"},
    figure("Done", String(done.length), `${failed} failed, ${skipped} skipped`),
    figure("Standing out", String(out), "far from the median of all"),
    figure("Noise, median", `${percent(median(with_("noise_before")))} → ${percent(median(with_("noise_after")))}`, "of the range"),
    figure("Change, median", percent(median(with_("change"))), "root mean square, of the range"),
    figure("Filtering", seconds(time), `all files, CPU (${data.cpu}), ${data.threads} threads`));
}

function segments(name, label, choices, first, onchange) {
  return el("div", {class: "segments", role: "radiogroup", "aria-label": label},
    Object.entries(choices).map(([value, words]) => el("label", {}, el("input", {type: "radio", name, value,
      checked: value === first, onchange: () => onchange(value)}), words)));
}

score();
const command = `tamis run ${quoted(data.chain)} IN... -o OUT`;
page.replaceChildren(
  el("header", {}, mark("tamis report"), el("h1", {}, `${files.length} pictures`), el("p", {class: "mono soft"}, data.chain)),
  keyFigures(),
  el("section", {"aria-label": "Files"},
    el("div", {class: "row filter"},
      segments("only", "Files shown", {all: "All", out: "Standing out", failed: "Failed"}, "all",
               (v) => { state.only = v; state.rows = ROWS; draw(); }),
      el("input", {type: "text", placeholder: "Find a name", "aria-label": "Find a name",
                   oninput: (e) => { state.find = e.target.value; state.rows = ROWS; draw(); }}),
      count, el("span", {class: "grow"}), copyButton(command, "Copy command")),
    el("div", {class: "card scroll"}, el("table", {class: "index"}, el("thead", {}, el("tr", {}, head)), body)),
    el("div", {class: "row"}, more),
    el("p", {class: "small soft"},
      "“Stands out” is how far a file lies from the median of all, in standard deviations by the median of deviations, in noise before, noise after or change, whichever is farthest. Noise and change are in per cent of the type's range."),
    files.length > data.most_pictures ? el("p", {class: "small soft"}, `Pictures are kept of the first ${data.most_pictures} files that were done.`) : "",
    el("p", {class: "small soft"}, `Made by tamis ${data.version}. This page is one file and loads nothing.`)),
  dialog);
draw();
window.tamis = {data, state};
