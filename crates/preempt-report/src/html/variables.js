// Variables at a position, with what the step has changed. For a net these are its places, and the values tokens.

/** So many elements of a list are shown before one has to ask for more. */
const MOST_ELEMENTS = 48;
/** So many variables at once; a filter finds the others. */
const MOST_VARIABLES = 400;

/** A variable of a process of a protocol. */
const OF_A_PROCESS = /^(P\d+)\.(.*)$/;

class VariablesView {
  constructor(file) {
    this.place = document.querySelector("#variables .values");
    this.filter = byId("filter");
    this.only = byId("only");
    this.key = "filter:" + file;
    this.filter.value = memory.get(this.key) || "";
    this.only.checked = memory.get("only") === "yes";
    this.filter.addEventListener("input", () => { memory.set(this.key, this.filter.value); this.render(); });
    this.only.addEventListener("change", () => { memory.set("only", this.only.checked ? "yes" : ""); this.render(); });
  }

  at(run, position) {
    this.run = run;
    this.position = position;
    this.isProtocol = run.data.marking && run.names.some((name) => OF_A_PROCESS.test(name));
    byId("what").textContent = this.isProtocol ? "local states" : run.data.marking ? "marking" : "variables";
    this.render();
  }

  render() {
    const { run, position } = this;
    const now = run.values(position);
    const before = position > 0 ? run.values(position - 1) : now;
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [];
    let hidden = 0;
    for (const name of run.names) {
      const value = now.has(name) ? now.get(name) : null;
      const old = before.has(name) ? before.get(name) : null;
      const changed = position > 0 && !same(old, value);
      if (value === null && !changed) continue;
      if (words.length && !words.some((word) => name.toLowerCase().includes(word))) { hidden++; continue; }
      if (this.only.checked && !changed) { hidden++; continue; }
      if (run.data.marking && value === 0 && !changed) continue;
      if (rows.length >= MOST_VARIABLES) { hidden++; continue; }
      rows.push(this.row(name, value, old, changed));
    }
    const none = make("div", { class: "none" }, run.names.length ? "nothing to show" : "this run has no variables");
    const rest = hidden ? make("div", { class: "none" }, `${grouped(hidden)} not shown`) : null;
    const together = this.isProtocol ? [multiset(now)] : [];
    this.place.replaceChildren(...together, rows.length ? make("table", {}, ...rows) : none, ...(rest ? [rest] : []));
  }

  row(name, value, old, changed) {
    const cell = make("td", {});
    if (changed && old !== null && !(Array.isArray(old) && Array.isArray(value))) {
      cell.append(make("span", { class: "old" }, plain(old)), "→ ");
    }
    cell.append(this.run.data.marking ? tokens(value) : shown(value, changed ? old : value));
    return make("tr", { class: changed ? "changed" : "" }, make("td", {}, name), cell);
  }
}

const same = (one, other) => one === other || JSON.stringify(one) === JSON.stringify(other);
const plain = (value) => value === null ? "gone" : Array.isArray(value) ? "[" + value.map(plain).join(", ") + "]" : String(value);

/** A value; what is different from the one before is marked, inside of lists as well. */
function shown(value, old) {
  if (!Array.isArray(value)) return make("span", { class: same(value, old) ? "" : "new" }, plain(value));
  const aligned = Array.isArray(old) && old.length === value.length;
  const element = (item, index) => {
    const known = aligned ? old[index] : Array.isArray(old) && old.some((other) => same(other, item)) ? item : undefined;
    return shown(item, known);
  };
  const list = make("span", {}, "[");
  const add = (from, to) => value.slice(from, to).forEach((item, index) => {
    list.append(from + index ? ", " : "", element(item, from + index));
  });
  add(0, MOST_ELEMENTS);
  if (value.length > MOST_ELEMENTS) {
    const more = make("button", { class: "more" }, `… ${grouped(value.length - MOST_ELEMENTS)} more`);
    more.addEventListener("click", () => { more.remove(); add(MOST_ELEMENTS, value.length); list.append("]"); });
    list.append(more);
  } else {
    list.append("]");
  }
  return list;
}

/** How many processes are in which local state: who they are makes no difference to a protocol. */
function multiset(values) {
  const processes = new Map();
  for (const [name, value] of values) {
    const [, process, variable] = OF_A_PROCESS.exec(name) || [];
    if (process) processes.set(process, (processes.get(process) || []).concat(`${variable} = ${plain(value)}`));
  }
  const counts = new Map();
  for (const state of processes.values()) counts.set(state.join(", "), (counts.get(state.join(", ")) || 0) + 1);
  return make("div", { class: "multiset" }, ...[...counts].map(([state, count]) => make("span", {}, make("b", {}, `${grouped(count)} ×`), " " + state)));
}

/** As dots, as long as they can be counted at a glance. */
function tokens(value) {
  const few = typeof value === "number" && value > 0 && value <= 10;
  return make("span", { title: plain(value) }, make("span", { class: "new" }, plain(value)), few ? make("span", { class: "dots" }, " " + "●".repeat(value)) : "");
}

