// The numbers of the search as pictures: states and work by level, memory by use and over time; and what an answer rests on.

function showNumbers(data) {
  const place = document.querySelector("#numbers > div");
  const block = (title, ...children) => make("div", {}, make("h3", {}, title), ...children);
  const table = (rows) => make("table", {}, ...rows.map(([name, value]) => make("tr", {}, make("td", {}, name), make("td", {}, value))));
  const { lines, unit, levels, memory: used } = data.numbers;
  const parts = [];
  if (data.certificate.length) parts.push(block("what the proof rests on", ...data.certificate.map((line) => make("div", {}, line))));
  if (lines.length) parts.push(block("searched by " + (data.answeredBy ? `${data.engine}, ${data.answeredBy}` : data.engine), table(lines)));
  if (data.executed) parts.push(executedBlock(data, block));
  if (levels.length > 1) {
    parts.push(block(`new states by ${unit}`, bars(levels.map(([level, states]) => [level, states]), "")));
    parts.push(block(`work (transitions) by ${unit}`, bars(levels.map(([level, , work]) => [level, work]), " work")));
  }
  if (used && used.some((part) => part > 0)) parts.push(block("memory", stack([["states", used[0]], ["frontier", used[1]], ["the way to them", used[2]]])));
  if (data.history.length > 2) {
    const curve = (index) => data.history.map((sample) => [sample[0], sample[index]]);
    if (curve(2).some(([, bytes]) => bytes > 0)) parts.push(block("memory over time", graph(curve(2), inBytes)));
    parts.push(block("found over time", graph(curve(1), grouped)));
  }
  if (data.options.length) parts.push(block("options", table(data.options)));
  place.replaceChildren(...parts);
  byId("numbers").hidden = parts.length === 0;
}

/** What no run has executed, process by process. */
function executedBlock(data, block) {
  const line = (place) => (place ? `${data.files.length > 1 ? data.files[place[0]].name + ":" : ""}${place[1]}` : "");
  const byLine = (one, other) => (one[0] ? one[0][1] : 0) - (other[0] ? other[0][1] : 0);
  const rows = data.executed.parts.flatMap(([name, entries]) => [...entries].sort(byLine).map(([place, text, remark], index) =>
    make("tr", {}, make("td", {}, index ? "" : name), make("td", { class: "line" }, line(place)),
      make("td", {}, make("code", {}, text), remark ? make("span", { class: "remark" }, remark) : ""))));
  return block(data.executed.title, make("table", { class: "executed" }, ...rows));
}

/** `[label, number]` a bar each. */
function bars(rows, kind) {
  const most = Math.max(...rows.map(([, number]) => number), 1);
  return make("div", { class: "bars" }, ...rows.flatMap(([label, number]) => [
    make("span", { class: "label" }, String(label)),
    make("span", { class: "bar" + kind, style: `width:${Math.max(100 * number / most, number ? 1 : 0)}%` }),
    make("span", {}, grouped(number)),
  ]));
}

function stack(parts) {
  const whole = parts.reduce((sum, [, bytes]) => sum + bytes, 0);
  const colour = (index) => `background:hsl(${(215 + index * 137.5) % 360} 55% 55%)`;
  return make("div", {},
    make("div", { class: "stack" }, ...parts.map(([name, bytes], index) =>
      make("span", { style: `width:${100 * bytes / whole}%;${colour(index)}`, title: `${name}: ${inBytes(bytes)}` }))),
    make("div", { class: "legend" }, ...parts.flatMap(([name, bytes], index) =>
      [make("i", { style: colour(index) }), `${name} ${inBytes(bytes)}`])));
}

/** `[seconds, number]` as a curve that begins at nothing. */
function graph(points, written) {
  const [width, height, left] = [340, 120, 8];
  const end = points[points.length - 1][0] || 1;
  const most = Math.max(...points.map(([, number]) => number), 1);
  const at = ([time, number]) => `${left + time / end * (width - left)},${height - 18 - number / most * (height - 34)}`;
  return draw("svg", { width, height },
    draw("path", { class: "axis", d: `M${left},${height - 18} H${width}` }),
    draw("path", { class: "curve", d: "M" + points.map(at).join(" L") }),
    draw("text", { class: "tick", x: left, y: 10 }, written(most)),
    draw("text", { class: "tick", x: width, y: height - 4, "text-anchor": "end" }, end.toFixed(2) + " s"));
}

function inBytes(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1024 && unit + 1 < units.length) { bytes /= 1024; unit++; }
  return (unit ? bytes.toFixed(1) : String(bytes)) + " " + units[unit];
}

