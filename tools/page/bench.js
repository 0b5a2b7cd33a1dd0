// SPDX-License-Identifier: Apache-2.0
// Speed-ups on a logarithmic scale, and the table. Three kinds of data: tamis bench (all threads
// beside one, or a GPU without copies beside with), tamis bench --table published, and bench/peers/run.py (other libraries).
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
const peerNames = {one_by_one: "one by one", opencv5: "OpenCV 5", opencv46: "OpenCV 4.6", vips: "libvips", ffmpeg: "FFmpeg"};

// ---- one shape for all: groups of {title, note, series, head, rows: [{name, cells, bars: [{series, ratio, other}]}]}

function ms(value) {
  return value == null ? "–" : number(value) + " ms";
}

function fromFilters() {
  const gpu = data.results.some((r) => r.on_device);
  const keys = gpu ? ["with_copies", "on_device"] : ["one_thread", "all_threads"];
  const words = gpu ? ["to the GPU and back", "on the GPU"] : ["1 thread", "all threads"];
  const p = data.picture, first = data.results[0];
  return [{
    title: `${words[1]} beside ${words[0]}`,
    note: `${p.width} × ${p.height}, ${p.type}${p.channels > 1 ? " × " + p.channels : ""}; ` +
      (gpu ? first.device : data.cpu + (first ? `; ${first.all_threads.threads} threads` : "")),
    series: [`${words[1]}, times faster than ${words[0]}`],
    head: ["Filter", ...words, "Mpix/s", "Speed-up"],
    rows: data.results.map((r) => {
      const [a, b] = keys.map((k) => r[k]);
      return {name: r.chain, bars: [{series: 0, ratio: r.speedup}],
              cells: [ms(1e3 * a.best_seconds), ms(1e3 * b.best_seconds), number(b.mpix_per_second), number(r.speedup) + "×"]};
    }),
  }];
}

function fromPublished() {
  const gpu = data.results.some((r) => r.on_device);
  const own = [["one_thread", "1 thread"], ["all_threads", "all threads"],
               ...(gpu ? [["on_device", "GPU"], ["with_copies", "GPU with copies"]] : [])];
  const pairs = [["cpu_one_thread_ms", "one_thread", "published, one CPU thread"], ["cpu_all_threads_ms", "all_threads", "published, all CPU threads"],
                 ["gpu_ms", gpu ? "on_device" : "all_threads", "published, GPU"],
                 ...(gpu ? [["gpu_with_transfers_ms", "with_copies", "published, GPU with copies"]] : [])];
  return [{
    title: "Beside published times", note: `${data.cpu}${gpu ? "; " + data.results[0].device : ""}; the published times are of other machines`,
    series: pairs.map((p) => "times faster than " + p[2]),
    head: ["Case", ...own.map((o) => "tamis, " + o[1]), ...pairs.map((p) => p[2]), "Note"],
    rows: data.results.map((r) => ({
      name: r.what,
      cells: [...own.map((o) => ms(1e3 * r[o[0]].best_seconds)), ...pairs.map((p) => ms(r.published[p[0]])), r.published.note || ""],
      bars: pairs.flatMap((p, i) => r.published[p[0]] ? [{series: i, ratio: r.published[p[0]] / (1e3 * r[p[1]].best_seconds)}] : []),
    })),
  }];
}

function fromPeers() {
  const keys = [...new Set(data.runs.flatMap((run) => run.rows.flatMap((r) => Object.keys(r.peers || {}))))];
  return data.runs.map((run) => ({
    title: `${run.threads} thread${run.threads > 1 ? "s" : ""}`,
    note: [data.machine && data.machine.cpu, run.isa, data.date, data.commit && "commit " + data.commit,
           ...Object.values(run.versions || {})].filter(Boolean).join("; "),
    series: keys.map((k) => "times faster than " + (peerNames[k] || k)),
    head: ["Case", "tamis", ...keys.map((k) => peerNames[k] || k), "Largest difference"],
    rows: run.rows.filter((r) => r.peers).map((r) => ({
      name: r.row,
      bars: keys.flatMap((k, i) => r.peers[k] ? [{series: i, ratio: r.peers[k].ratio, other: !r.peers[k].same}] : []),
      cells: [ms(r.tamis.min), ...keys.map((k) => r.peers[k] ? `${r.peers[k].same ? "" : "~"}${number(r.peers[k].min)} ms (${number(r.peers[k].ratio)}×)` : "–"),
              Object.values(r.peers).filter((p) => p.same).reduce((m, p) => Math.max(m, p.difference), 0) || "0"],
    })),
  }));
}

function groupsOf() {
  if (data.runs) return fromPeers();
  return data.results.some((r) => r.published) ? fromPublished() : fromFilters();
}

// ---- the chart

const LEFT = 230, WIDTH = 620, RIGHT = 70, BAR = 9, GAP = 8, TOP = 26;

function ticksOf(low, high) {
  const list = [];
  for (let decade = -4; decade <= 6; decade++)
    for (const step of [1, 2, 5]) list.push(step * 10 ** decade);
  return list.filter((v) => v >= low * 0.999 && v <= high * 1.001);
}

function chart(group) {
  const ratios = group.rows.flatMap((r) => r.bars.map((b) => b.ratio)).filter((v) => v > 0);
  const low = Math.min(0.8, ...ratios) / 1.1, high = Math.max(2, ...ratios) * 1.25;
  const x = (v) => LEFT + WIDTH * Math.log(v / low) / Math.log(high / low);
  let y = TOP;
  const parts = [];
  for (const row of group.rows) {
    const h = Math.max(1, row.bars.length) * BAR;
    parts.push(svg("text", {x: LEFT - 10, y: y + h / 2 + 4, "text-anchor": "end"}, row.name.length > 36 ? row.name.slice(0, 35) + "…" : row.name));
    row.bars.forEach((bar, i) => {
      const from = Math.min(x(1), x(bar.ratio)), to = Math.max(x(1), x(bar.ratio)), at = y + i * BAR;
      parts.push(svg("rect", {x: from, y: at + 1, width: Math.max(1, to - from), height: BAR - 2, rx: 1,
                              class: "series" + bar.series % 5, "fill-opacity": bar.other ? 0.4 : 1},
                     svg("title", {}, `${row.name}: ${number(bar.ratio)} ${group.series[bar.series]}`)));
      parts.push(svg("text", {x: to + 5, y: at + BAR - 1, class: bar.ratio < 1 ? "slower" : "faint", "font-size": 10},
                     (bar.other ? "~" : "") + number(bar.ratio)));
    });
    y += h + GAP;
  }
  const grid = ticksOf(low, high).flatMap((v) => [
    svg("line", {x1: x(v), x2: x(v), y1: TOP - 6, y2: y - 2, class: v === 1 ? "one" : "grid"}),
    svg("text", {x: x(v), y: 14, "text-anchor": "middle", class: "axis"}, number(v) + "×")]);
  return svg("svg", {viewBox: `0 0 ${LEFT + WIDTH + RIGHT} ${y + 6}`, role: "img",
                     "aria-label": `${group.title}: bars on a logarithmic scale; the numbers are in the table below`}, grid, parts);
}

function section(group, i) {
  const others = group.rows.some((r) => r.bars.some((b) => b.other));
  return el("section", {"aria-labelledby": "g" + i},
    el("h2", {id: "g" + i}, group.title), el("p", {class: "small soft"}, group.note),
    el("div", {class: "keys"}, group.series.map((words, k) => el("span", {class: `key series${k % 5}`}, el("i"), el("span", {class: "soft"}, words)))),
    scroller(group.title, "card chart", chart(group)),
    others ? el("p", {class: "small soft"}, "Pale bars and ~: the other's result is of another definition.") : null,
    scroller(`${group.title}, as a table`, "card scroll", el("table", {},
      el("thead", {}, el("tr", {}, group.head.map((c) => el("th", {scope: "col"}, c)))),
      el("tbody", {}, group.rows.map((r) => el("tr", {}, el("td", {}, r.name), r.cells.map((c) => el("td", {}, c))))))));
}

const groups = groupsOf();
page.replaceChildren(
  el("header", {}, mark("tamis bench"), el("h1", {}, data.runs ? "tamis beside its peers" : "How fast the filters are"),
     el("p", {class: "soft small"}, "Times faster on a logarithmic scale: bars to the right of 1 are faster, to the left slower.")),
  ...groups.map(section),
  el("p", {class: "small soft", style: "margin-top:2rem"}, `${data.version ? "Made by tamis " + data.version + ". " : ""}This page is one file and loads nothing.`));
window.tamis = {data, groups};
