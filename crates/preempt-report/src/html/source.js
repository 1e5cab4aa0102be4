// The sources: the line of the step that was made, and the line at which every process stands.

/** So many are named at one line; more would hide it. */
const MOST_CHIPS = 2;

/** Those who stand at one line. */
function chips(all) {
  if (all.length > MOST_CHIPS) {
    return [make("span", { class: "chip many", title: all.map(({ name }) => name).join(", ") + " stand here" }, `${all.length} stand here`)];
  }
  return all.map((it) => make("span", { class: "chip" + (it.stays ? " stays" : ""), style: hue(it.lane), title: how(it, "here") }, it.name));
}

/** Who does not move any more is known by its last step only, unless it waits. */
const how = ({ name, was }, where) => was ? `${name} does not move any more: its last step was ${where}` : `${name} stands ${where}`;

class SourceView {
  constructor(files, projection) {
    this.files = files;
    this.projection = projection;
    this.tabs = byId("files");
    this.place = document.querySelector("#source .lines");
    this.lines = [];
    this.marked = [];
    this.shown = null;
  }

  open(number) {
    if (this.shown === number) return;
    this.shown = number;
    const file = this.files[number];
    this.tabs.replaceChildren(...this.files.map((other, index) =>
      make("button", {
        class: index === number ? "shown" : "", title: other.name,
        click: () => { this.open(index); this.mark(); },
      }, other.name.split("/").pop())));
    if (!file || file.text === null) {
      this.lines = [];
      this.place.replaceChildren(make("div", { class: "none", style: "padding:6px 12px" }, "its text is not part of this report"));
      return;
    }
    this.lines = file.text.split("\n").map((text, index) =>
      make("div", { class: "code" }, make("span", { class: "number" }, String(index + 1)), make("span", { class: "text" }, text)));
    for (const [[file, line], on] of this.projection ? this.projection.marks : []) {
      if (file !== number || !this.lines[line - 1]) continue;
      this.lines[line - 1].classList.add(on ? "on-trace" : "off-trace");
      this.lines[line - 1].title = on ? "on some error trace" : "on no error trace";
    }
    this.marked = [];
    this.place.replaceChildren(...this.lines);
  }

  at(run, position) {
    // A net stands nowhere: its marking is what it is.
    this.standing = run.data.marking ? [] : run.standing(position);
    const step = run.step(position);
    this.here = step ? [step.place, step.partner && step.partner[2]].filter(Boolean) : [];
    const wanted = this.here[0] || (this.standing.find((it) => it.place) || {}).place;
    if (wanted) this.open(wanted[0]);
    else if (this.shown === null && this.files.length) this.open(0);
    this.mark();
    this.reveal(wanted);
  }

  mark() {
    for (const line of this.marked) {
      line.classList.remove("here");
      line.querySelectorAll(".chips").forEach((chips) => chips.remove());
    }
    this.marked = [];
    for (const place of this.here || []) {
      const line = this.line(place);
      if (line) line.classList.add("here");
    }
    const there = new Map();
    for (const it of this.standing || []) {
      const line = it.place && this.line(it.place);
      if (line) there.set(line, (there.get(line) || []).concat(it));
    }
    for (const [line, all] of there) line.append(make("span", { class: "chips" }, ...chips(all)));
  }

  line([file, number]) {
    const line = file === this.shown ? this.lines[number - 1] : null;
    if (line) this.marked.push(line);
    return line;
  }

  /** Shows a place that is perhaps in another file. */
  look(place) {
    this.open(place[0]);
    this.mark();
    this.reveal(place);
  }

  /** Brings a line into sight. */
  reveal(place) {
    const line = place && place[0] === this.shown ? this.lines[place[1] - 1] : null;
    if (!line) return;
    const top = line.offsetTop - this.place.offsetTop;
    const { scrollTop, clientHeight } = this.place;
    if (top < scrollTop + 38 || top > scrollTop + clientHeight - 57) this.place.scrollTop = top - clientHeight / 3;
  }
}

