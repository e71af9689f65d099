// Elements and words. Text is only ever set as text: nothing here makes markup of a string.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const make = (name, properties, ...children) => fill(document.createElement(name), properties, children);
export const draw = (name, properties, ...children) => fill(document.createElementNS(SVG, name), properties, children);
export const find = (selector, within = document) => within.querySelector(selector);

export const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
export const percent = (ratio) => `${Math.round(ratio * 100)} %`;

/** An amount as its reader's country writes it, with all its decimals; `unit`: its currency, if it is to be shown. */
export function amount(number, unit, locales = navigator.languages) {
  const decimals = number.split(".")[1]?.length ?? 0;
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  try {
    return new Intl.NumberFormat(locales, { ...digits, ...(unit && { style: "currency", currency: unit }) }).format(number);
  } catch {
    return [number, unit].filter(Boolean).join(" "); // a unit that is no currency, or more decimals than can be formatted
  }
}

export function milliseconds(value) {
  if (value >= 10_000) return `${(value / 1000).toFixed(1)} s`;
  if (value >= 1_000) return `${(value / 1000).toFixed(2)} s`;
  return `${value >= 100 ? value.toFixed(0) : value.toFixed(1)} ms`;
}

export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  while (value >= 1000 && at < units.length - 1) { value /= 1024; at += 1; }
  return `${at && value < 100 && value % 1 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}

export const short = (revision) => revision.replace(/^sha256:/, "").slice(0, 8);

/** One tooltip for the whole page, beside the pointer. */
export class Tip {
  #node = make("div", { class: "tip", role: "tooltip", hidden: true });

  show(event, head, ...lines) {
    if (!this.#node.isConnected) document.body.append(this.#node);
    this.#node.replaceChildren(make("b", {}, head), ...lines.filter(Boolean).map((line) => make("div", {}, line)));
    this.#node.hidden = false;
    const box = this.#node.getBoundingClientRect();
    this.#node.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8))}px`;
    const below = event.clientY + 18;
    this.#node.style.top = `${below + box.height > innerHeight ? event.clientY - box.height - 10 : below}px`;
  }

  hide() { this.#node.hidden = true; }
}

export const tip = new Tip();
