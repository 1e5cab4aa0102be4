// The run: who stands where, and what every variable holds, before the first step (position 0) and after each (1, 2, ...).

/** Values are kept every so often, and between by what changed. */
const KEEP_EVERY = 128;

class Run {
  constructor(data) {
    this.data = data;
    this.lanes = data.lanes;
    this.length = data.steps.length;
    this.names = [];
    this.kept = [];
    this.own = this.lanes.map(() => []);
    const seen = new Set();
    const values = new Map();
    const note = ([name, value]) => {
      if (!seen.has(name)) { seen.add(name); this.names.push(name); }
      values.set(name, value);
    };
    data.initial.forEach(note);
    data.steps.forEach((step, number) => {
      if (number % KEEP_EVERY === 0) this.kept.push(new Map(values));
      step[4].forEach(note);
      this.own[step[0]].push(number);
      if (step[7]) this.own[step[7][0]].push(number);
    });
    if (this.length % KEEP_EVERY === 0) this.kept.push(new Map(values));
  }

  /** The step that led to a position. */
  step(position) {
    const fields = this.data.steps[position - 1];
    if (!fields) return null;
    const [lane, text, change, place, changed, output, choice, partner, calls] = fields;
    return { lane, text, switch: change, place, changed, output, choice, partner, calls };
  }

  /** Name by name, what is held at a position. */
  values(position) {
    const nearest = Math.min(Math.floor(position / KEEP_EVERY), this.kept.length - 1);
    const values = new Map(this.kept[nearest] || []);
    for (let number = nearest * KEEP_EVERY; number < position; number++) {
      this.data.steps[number][4].forEach(([name, value]) => values.set(name, value));
    }
    return values;
  }

  /** Where each process stands: at the statement that it executes next, or waits at; else where it was seen last. */
  standing(position) {
    return this.lanes.map((name, lane) => {
      const own = this.own[lane];
      let low = 0, high = own.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (own[middle] < position) low = middle + 1; else high = middle;
      }
      const placeOf = (number) => {
        const step = this.step(number + 1);
        return step.partner && step.partner[0] === lane ? step.partner[2] : step.place;
      };
      if (low < own.length) return { lane, name, place: placeOf(own[low]), stays: false };
      const waiting = this.data.waiting.find((it) => it[0] === lane);
      if (waiting) return { lane, name, place: waiting[1], stays: true };
      return { lane, name, place: own.length ? placeOf(own[own.length - 1]) : null, stays: true, was: true };
    });
  }

  /** The next position, before or after this one, that a switch led to; `null` if there is none. */
  switchFrom(position, direction) {
    for (let at = position + direction; at >= 1 && at <= this.length; at += direction) {
      if (this.data.steps[at - 1][2] > 0) return at;
    }
    return null;
  }

  /** Positions of the steps that say this, or change a variable of that name. */
  search(words) {
    const wanted = words.toLowerCase();
    const found = [];
    this.data.steps.forEach(([lane, text, , , changed, output, , partner], number) => {
      const said = [this.lanes[lane], text, output || "", partner ? this.lanes[partner[0]] + " " + partner[1] : ""];
      const all = said.concat(changed.map(([name]) => name)).join("\n").toLowerCase();
      if (all.includes(wanted)) found.push(number + 1);
    });
    return found;
  }
}

