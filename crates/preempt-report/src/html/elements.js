// Elements of the page. Whatever is shown is put in as text: nothing here, or anywhere, makes markup from a string.

const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

/** An element with attributes, properties that are functions (listeners), and children; a string is text. */
const make = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const draw = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Every lane has a hue of its own; neighbours are far apart. */
const hue = (lane) => "--hue:" + Math.round((215 + lane * 137.5) % 360);

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const counted = (number, what) => grouped(number) + " " + what + (number === 1 ? "" : /(ch|ss)$/.test(what) ? "es" : "s");

/** What a person has chosen, kept for the next time where the browser allows it. */
const memory = {
  get(key) {
    try { return localStorage.getItem("preempt:" + key); } catch { return null; }
  },
  set(key, value) {
    try { localStorage.setItem("preempt:" + key, value); } catch { /* then it is for this time only */ }
  },
};

