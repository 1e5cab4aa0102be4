// The page: what is shown of which run, and how one moves in it.

const data = JSON.parse(byId("data").textContent);
const runs = data.runs.map((run) => new Run(run));
const chart = new ChartView(byId("chart"), (position) => go(position));
const source = new SourceView(data.files, data.projection);
const variables = new VariablesView(data.file);
let run = null;
let number = 0;
let position = 0;
let matches = [];

function showAnswer() {
  const [first, ...rest] = data.summary;
  const [word, ...words] = first.split(":");
  document.title = `${first} · ${data.file}`;
  const lines = rest.concat(data.properties).filter(Boolean);
  byId("answer").replaceChildren(
    make("h1", { class: data.verdict }, make("b", {}, word), words.length ? ":" + words.join(":") : ""),
    ...lines.map((line) => make("p", {}, line)),
    ...(data.projection ? [make("p", {}, data.projection.title + "; in the source, the others are faint")] : []),
    ...data.notes.map((note) => make("p", {}, "note: " + note)),
    make("p", { id: "promise" }),
    ...(data.again ? [make("p", {}, "see it again: ", make("code", {}, data.again))] : []));
}

function promise() {
  if (!run) return data.file;
  const { preemptions, switches, processes, marking } = run.data;
  const steps = counted(run.length, "step");
  const parts = marking ? [steps] :
    [steps, counted(preemptions, "preemption"), counted(switches - preemptions, "forced switch"), counted(processes, data.mover)];
  return `${data.file} · ${data.promise ? data.promise + ": " : ""}${parts.join(", ")}`;
}

/** The step in words. */
function showStep() {
  const place = byId("step");
  const step = run.step(position);
  if (!step) {
    const words = run.length ? "before the first step" : "the initial state violates it";
    return place.replaceChildren(make("div", { class: "line" }, words), make("div", { class: "line" }, promise()), ...stands());
  }
  const where = (place) => place ? ` at ${data.files[place[0]].name.split("/").pop()}:${place[1]}` : "";
  const before = position > 1 ? run.step(position - 1) : null;
  const left = before ? run.lanes[before.partner ? before.partner[0] : before.lane] : "";
  const lines = [make("div", { class: "line" },
    make("span", { class: "chip", style: hue(step.lane) + ";margin:0 8px 0 0" }, run.lanes[step.lane]), make("code", {}, step.text), where(step.place))];
  const more = [];
  if (step.switch === 2) more.push(make("span", { class: "preempts" }, `preempts ${left}`));
  if (step.switch === 1) more.push(`${left} cannot move`);
  if (step.partner) more.push(`received by ${run.lanes[step.partner[0]]}: ${step.partner[1]}${where(step.partner[2])}`);
  if (step.calls) more.push(step.calls.join(", "));
  if (step.choice) more.push(`choice: ${step.choice}`);
  if (step.output) more.push(`prints ${JSON.stringify(step.output)}`);
  const { loop } = run.data;
  if (loop !== null && position === run.length) more.push(loop < run.length ? `and back to step ${loop + 1}, for ever` : "and stays like this for ever");
  if (more.length) lines.push(make("div", { class: "line" }, ...more.flatMap((part, index) => index ? [" · ", part] : [part])));
  place.replaceChildren(...lines, ...stands());
}

/** So many are named with their lines; the source has them all. */
const MOST_STANDING = 16;

/** Where everybody stands, also those whose lines are out of sight. */
function stands() {
  const standing = run.data.marking ? [] : run.standing(position).filter((it) => it.place);
  if (standing.length < 2) return [];
  const several = data.files.length > 1;
  const chips = standing.slice(0, MOST_STANDING).map((it) => make("span", {
    class: "chip" + (it.stays ? " stays" : ""), style: hue(it.lane), title: how(it, `at ${data.files[it.place[0]].name}:${it.place[1]}`),
    click: () => source.look(it.place),
  }, `${it.name} ${it.was ? "was at " : ""}${several ? data.files[it.place[0]].name.split("/").pop() + ":" : "line "}${it.place[1]}`));
  return [make("div", { class: "stands" }, ...chips)];
}

function go(wanted) {
  if (!run) return;
  position = Math.min(Math.max(wanted, 0), run.length);
  chart.at(position);
  source.at(run, position);
  variables.at(run, position);
  showStep();
  byId("position").textContent = position ? `step ${grouped(position)} of ${grouped(run.length)}` : `start of ${grouped(run.length)}`;
  const ends = { first: position === 0, previous: position === 0, next: position === run.length, last: position === run.length };
  for (const [id, off] of Object.entries(ends)) byId(id).disabled = off;
  byId("previous-switch").disabled = run.switchFrom(position, -1) === null;
  byId("next-switch").disabled = run.switchFrom(position, 1) === null;
  const link = (number ? `#run-${number + 1}-` : "#") + `step-${position}`;
  if (location.hash !== link) history.replaceState(null, "", link);
}

function open(wanted, at) {
  number = Math.min(Math.max(wanted, 0), runs.length - 1);
  run = runs[number];
  byId("which").value = String(number);
  byId("promise").textContent = promise();
  chart.show(run);
  find();
  go(at);
}

/** `#step-12`, `#run-2-step-12`. */
function fromLink() {
  const found = /^#(?:run-(\d+)-)?step-(\d+)$/.exec(location.hash);
  const wanted = found && found[1] ? Number(found[1]) - 1 : 0;
  open(wanted, found ? Number(found[2]) : 0);
}

function find() {
  const words = byId("search").value.trim();
  matches = words && run ? run.search(words) : [];
  chart.matches = new Set(matches);
  byId("matches").textContent = words ? counted(matches.length, "match") : "";
}

function nextMatch(direction) {
  if (!matches.length) return;
  const later = matches.filter((at) => direction > 0 ? at > position : at < position);
  const wrapped = direction > 0 ? matches[0] : matches[matches.length - 1];
  go(later.length ? (direction > 0 ? later[0] : later[later.length - 1]) : wrapped);
}

function toSwitch(direction) {
  const found = run.switchFrom(position, direction);
  if (found !== null) go(found);
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

function toggleTheme() {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  memory.set("theme", theme);
  setTheme(theme);
}

const page = () => Math.max(1, Math.floor(byId("chart").clientHeight / ROW) - 2);
const KEYS = [
  [["ArrowDown", "ArrowRight", "j"], "one step on", () => go(position + 1)],
  [["ArrowUp", "ArrowLeft", "k"], "one step back", () => go(position - 1)],
  [["PageDown", " "], "a page on", () => go(position + page())],
  [["PageUp"], "a page back", () => go(position - page())],
  [["Home"], "to the beginning", () => go(0)],
  [["End"], "to the end", () => go(run.length)],
  [["n"], "to the next switch", () => toSwitch(1)],
  [["p"], "to the switch before", () => toSwitch(-1)],
  [["/"], "search the steps; Enter finds the next, Shift+Enter the one before", () => byId("search").focus()],
  [["f"], "filter the variables", () => byId("filter").focus()],
  [["t"], "light or dark", toggleTheme],
  [["?"], "these keys", () => byId("help").showModal()],
];

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  if (event.target.matches("input, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const known = KEYS.find(([keys]) => keys.includes(event.key));
  if (!known || !run && !["t", "?"].includes(event.key)) return;
  if (event.key === " " && event.target.matches("button, summary")) return;
  event.preventDefault();
  known[2]();
}

/** Paper is light. */
let onScreen = "light";
addEventListener("beforeprint", () => { onScreen = document.documentElement.dataset.theme; setTheme("light"); });
addEventListener("afterprint", () => setTheme(onScreen));
setTheme(memory.get("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
showAnswer();
showNumbers(data);
document.addEventListener("keydown", onKey);
byId("theme").addEventListener("click", toggleTheme);
byId("keys").addEventListener("click", () => byId("help").showModal());
byId("close").addEventListener("click", () => byId("help").close());
byId("help").querySelector("dl").append(...KEYS.flatMap(([keys, what]) =>
  [make("dt", {}, keys.map((key) => key === " " ? "Space" : key.replace("Arrow", "")).join("  ")), make("dd", {}, what)]));
if (runs.length === 0) {
  document.body.classList.add("no-run");
  byId("tools").querySelectorAll("#moves, #search, #matches, #which").forEach((element) => { element.hidden = true; });
  byId("promise").textContent = promise();
  byId("numbers").open = true;
} else {
  byId("which").hidden = runs.length < 2;
  byId("which").append(...runs.map((one, index) => make("option", { value: index }, `${index + 1}: ${one.data.wrong}`)));
  byId("which").addEventListener("change", (event) => { open(Number(event.target.value), 0); event.target.blur(); });
  byId("first").addEventListener("click", () => go(0));
  byId("previous").addEventListener("click", () => go(position - 1));
  byId("next").addEventListener("click", () => go(position + 1));
  byId("last").addEventListener("click", () => go(run.length));
  byId("previous-switch").addEventListener("click", () => toSwitch(-1));
  byId("next-switch").addEventListener("click", () => toSwitch(1));
  byId("search").addEventListener("input", () => { find(); chart.render(); });
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") nextMatch(event.shiftKey ? -1 : 1);
  });
  addEventListener("hashchange", fromLink);
  addEventListener("beforeprint", () => { byId("numbers").open = true; chart.render(run.length <= 2000); });
  addEventListener("afterprint", () => chart.render());
  fromLink();
  byId("chart").focus({ preventScroll: true });
}
