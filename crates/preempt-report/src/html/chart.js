// The chart: a lane for each process, time downwards. Only the rows that are visible exist as elements, so that a run may
// have ten thousand steps.

const ROW = 30;
const GUTTER = 66;
const HEAD = 34;
/** Rows beyond the edges, so that scrolling by a little shows no gap. */
const MARGIN = 8;

class ChartView {
  constructor(place, select) {
    this.place = place;
    this.select = select;
    this.matches = new Set();
    place.addEventListener("scroll", () => this.soon());
    new ResizeObserver(() => { this.measure(); this.render(); }).observe(place);
  }

  show(run) {
    this.run = run;
    this.position = 0;
    this.heads = make("div", { class: "heads" });
    this.field = make("div", { class: "field" });
    this.place.replaceChildren(this.heads, this.field);
    this.measure();
  }

  /** As wide as the longest statement needs, if there is room; channels need room between the lanes for their arrows. */
  measure() {
    const run = this.run;
    if (!run) return;
    this.gap = run.data.messages.length || run.data.steps.some((step) => step[7]) ? 34 : 10;
    const longest = run.data.steps.reduce((most, step) => Math.max(most, step[1].length), 0);
    const least = Math.min(Math.max(longest * 7.4 + 20, 96), 300) + 2 * this.gap;
    const room = (this.place.clientWidth - GUTTER - 12) / Math.max(run.lanes.length, 1);
    this.lane = Math.max(least, Math.min(room, 420));
    const width = GUTTER + this.lane * run.lanes.length + 12;
    this.rows = run.length + 2;
    this.heads.style.width = this.field.style.width = width + "px";
    this.field.style.height = this.rows * ROW + 2 * ROW + "px";
    this.heads.replaceChildren(...run.lanes.map((name, lane) => {
      const style = `left:${GUTTER + lane * this.lane}px;width:${this.lane}px`;
      return make("div", { class: "head", style, title: name }, name);
    }));
    this.lines = run.lanes.map((_, lane) =>
      make("div", { style: `position:absolute;left:${this.x(lane)}px;top:0;width:1px;height:${(run.length + 1) * ROW}px;background:var(--line)` }));
  }

  x(lane) { return GUTTER + lane * this.lane + this.lane / 2; }
  half() { return this.lane / 2 - this.gap; }

  soon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.render(); });
  }

  render(all) {
    if (!this.run) return;
    const top = this.place.scrollTop - HEAD;
    const first = all ? 0 : Math.max(0, Math.floor(top / ROW) - MARGIN);
    const last = all ? this.rows - 1 : Math.min(this.rows - 1, Math.ceil((top + this.place.clientHeight) / ROW) + MARGIN);
    const rows = [];
    for (let position = first; position <= last; position++) rows.push(this.row(position));
    this.field.replaceChildren(...this.lines, ...rows, this.arrows(first, last));
    // What went wrong may be a long text.
    const end = this.field.querySelector(".note.end");
    if (end) this.field.style.height = `${(this.rows - 1) * ROW + Math.max(end.offsetHeight + 12, 3 * ROW)}px`;
  }

  row(position) {
    const run = this.run;
    const ends = position > run.length;
    const classes = "row" + (position === this.position ? " here" : "") + (this.matches.has(position) ? " match" : "");
    const row = make("div", {
      class: classes, style: `top:${position * ROW}px`, "data-position": ends ? null : position,
      click: () => this.select(Math.min(position, run.length)),
    });
    if (position === 0) row.append(make("span", { class: "note" }, "start"));
    if (ends) {
      const { wrong, loop } = run.data;
      const lines = [];
      if (loop !== null) lines.push(make("div", { class: "repeats" }, "↺ " + this.repeats(loop)));
      if (wrong) lines.push(make("div", { class: "wrong" }, "✗ " + wrong));
      if (!lines.length) lines.push("the end of this run");
      const style = `width:${this.place.clientWidth - 78}px`;
      row.append(make("div", { class: "note end", style }, ...lines));
    }
    const step = run.step(position);
    if (step) {
      row.append(make("span", { class: "number" }, String(position)), this.box(step.lane, step.text, position));
      if (step.partner) row.append(this.box(step.partner[0], step.partner[1], position));
    }
    return row;
  }

  repeats(loop) {
    const { length } = this.run;
    if (loop >= length) return "nobody moves any more: it stays like this";
    return loop + 1 === length ? `step ${length} repeats for ever` : `steps ${grouped(loop + 1)} to ${grouped(length)} repeat for ever`;
  }

  box(lane, text, position) {
    const style = `${hue(lane)};left:${this.x(lane) - this.half()}px;width:${2 * this.half()}px`;
    return make("div", { class: "does" + (position > this.position ? " later" : ""), style, title: text }, text);
  }

  /** Switches, messages and the loop, as far as they cross the visible rows. */
  arrows(first, last) {
    const run = this.run;
    const width = GUTTER + this.lane * run.lanes.length + 12;
    const height = (last - first + 1) * ROW;
    const svg = draw("svg", { width, height, style: `top:${first * ROW}px;z-index:2` });
    const y = (position) => (position - first) * ROW + ROW / 2;
    for (let position = Math.max(2, first); position <= Math.min(last, run.length); position++) {
      const step = run.step(position);
      if (step.switch === 0) continue;
      const before = run.step(position - 1);
      const [from, to] = [this.x(before.partner ? before.partner[0] : before.lane), this.x(step.lane)];
      const middle = y(position) - ROW / 2;
      const kind = step.switch === 2 ? "preemption" : "forced";
      svg.append(draw("path", { class: kind, d: `M${from},${middle - 3} V${middle} H${to} V${middle + 3}` }));
      if (step.switch === 2) {
        svg.append(draw("text", { class: "switch-word", x: from, y: y(position) + 4, "text-anchor": "middle" }, "preempted"));
      }
    }
    for (let position = Math.max(1, first); position <= Math.min(last, run.length); position++) {
      const step = run.step(position);
      if (step.partner) this.arrow(svg, step.lane, step.partner[0], y(position), y(position), "");
    }
    for (const [sent, received, channel, text] of run.data.messages) {
      if (sent === null) continue;
      const end = received === null ? sent : received;
      if (end + 1 < first || sent + 1 > last) continue;
      const from = run.data.steps[sent][0];
      const words = `${channel}: ${text}`;
      if (received !== null) {
        const taken = run.data.steps[received];
        this.arrow(svg, from, taken[0], y(sent + 1), y(received + 1), words);
      } else {
        const x = this.x(from) + this.half();
        svg.append(draw("path", { class: "lost", d: `M${x},${y(sent + 1)} h20` }, draw("title", {}, `${words}: nobody receives it`)));
      }
    }
    if (run.data.loop !== null && run.data.loop < run.length) this.loop(svg, y, first, last);
    return svg;
  }

  arrow(svg, from, to, top, bottom, words) {
    const half = this.half();
    const title = draw("title", {}, words);
    if (from === to) {
      const x = this.x(from) + half;
      svg.append(draw("path", { class: "message", d: `M${x},${top} C${x + 34},${top} ${x + 34},${bottom} ${x + 7},${bottom}` }, title));
      svg.append(draw("path", { class: "message-tip", d: `M${x},${bottom} l8,-4 v8 z` }));
      svg.append(draw("text", { class: "message-word", x: x + 6, y: top - 5 }, words));
      return;
    }
    const side = from < to ? 1 : -1;
    const [x1, x2] = [this.x(from) + side * half, this.x(to) - side * half];
    const slope = Math.atan2(bottom - top, x2 - x1);
    const [end, low] = [x2 - 6 * Math.cos(slope), bottom - 6 * Math.sin(slope)];
    svg.append(draw("path", { class: "message", d: `M${x1},${top} L${end},${low}` }, title));
    const angle = slope * 180 / Math.PI;
    svg.append(draw("path", { class: "message-tip", d: "M0,0 l-9,-4 v8 z", transform: `translate(${x2},${bottom}) rotate(${angle})` }));
    const anchor = side === 1 ? "start" : "end";
    svg.append(draw("text", { class: "message-word", x: x1 + side * 5, y: top - 5, "text-anchor": anchor }, words));
  }

  /** A bracket beside the steps that repeat for ever. */
  loop(svg, y, first, last) {
    const top = Math.max(y(this.run.data.loop + 1) - 10, -ROW);
    const bottom = Math.min(y(this.run.length) + 10, (last - first + 2) * ROW);
    svg.append(draw("path", { class: "loop", d: `M16,${bottom} H8 V${top} H14` }));
    svg.append(draw("path", { d: `M20,${top} l-8,-4 v8 z`, style: "fill:var(--loop)" }));
  }

  /** Marks a position and brings it into sight. */
  at(position) {
    this.position = position;
    const top = position * ROW + HEAD;
    const room = Math.min(3 * ROW, this.place.clientHeight / 4);
    if (top - HEAD - room < this.place.scrollTop) this.place.scrollTop = top - HEAD - room;
    const bottom = top + 2 * ROW + room;
    if (bottom > this.place.scrollTop + this.place.clientHeight) this.place.scrollTop = bottom - this.place.clientHeight;
    const step = this.run.step(position);
    if (step) this.reveal(this.x(step.lane));
    this.render();
  }

  /** Where there are more lanes than fit. */
  reveal(x) {
    const { scrollLeft, clientWidth } = this.place;
    if (x - this.lane / 2 < scrollLeft) this.place.scrollLeft = Math.max(0, x - this.lane / 2 - GUTTER);
    if (x + this.lane / 2 > scrollLeft + clientWidth) this.place.scrollLeft = x + this.lane / 2 - clientWidth + 12;
  }
}

