// Times and durations as people read them.
import { html, signal } from "./html.js";

const CLOCKS = 3000; // milliseconds that clocks may differ by; an answer tells whole seconds
let ahead = 0;

/** Milliseconds since 1970 by the clock of the gateway, which may be another one than this machine has. */
export const clock = () => Date.now() + ahead;

/** The same, moved every few seconds. */
export const now = signal(clock());
setInterval(() => {
  if (!document.hidden) now.value = clock();
}, 5000);

/** An answer has told the time. @param {string | null} date */
export function noteTime(date) {
  const off = Date.parse(date ?? "") - Date.now();
  const before = ahead;
  ahead = Math.abs(off) > CLOCKS ? off : 0;
  if (Math.abs(ahead - before) > CLOCKS) now.value = clock();
}

/** @type {[number, string][]} */
const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

/** Seconds as two units: `2 h 5 min`. @param {number | null | undefined} seconds */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (seconds < 0.0005) return "0 s";
  if (seconds < 1) return `${Math.max(1, Math.round(seconds * 1000))} ms`;
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`;
  const index = UNITS.findIndex(([size]) => Math.round(seconds) >= size);
  const [size, name] = UNITS[index];
  const whole = Math.floor(Math.round(seconds) / size);
  const next = UNITS[index + 1];
  const rest = next ? Math.floor((Math.round(seconds) % size) / next[0]) : 0;
  return rest && next ? `${whole} ${name} ${rest} ${next[1]}` : `${whole} ${name}`;
}

/** @param {string} time @param {number} at */
export function relative(time, at) {
  const seconds = (at - Date.parse(time)) / 1000;
  if (Math.abs(seconds) < 2) return "now";
  return seconds > 0 ? `${coarse(seconds)} ago` : `in ${coarse(-seconds)}`;
}

/** @param {number} seconds */
function coarse(seconds) {
  const [size, name] = UNITS.find(([unit]) => seconds >= unit) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${name}`;
}

/** The exact time in the zone of the reader, and in UTC. @param {string} time */
export function exact(time) {
  const date = new Date(time);
  return `${date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" })} (${date.toISOString()})`;
}

/** A time as `3 min ago`, with the exact one on hover. @param {{at: string | null | undefined}} props */
export function Ago({ at }) {
  if (!at) return html`<span class="quiet">–</span>`;
  return html`<time datetime=${at} title=${exact(at)}>${relative(at, now.value)}</time>`;
}

/** `isPartial`: there may be more than were counted. @param {number | null | undefined} value @param {boolean} [isPartial] */
export function count(value, isPartial = false) {
  return value === null || value === undefined ? "–" : value.toLocaleString("en-US").replaceAll(",", " ") + (isPartial ? " or more" : "");
}

/** A rate, by the second, minute or hour, whichever reads best. @param {number | null | undefined} perSecond */
export function rate(perSecond) {
  if (perSecond === null || perSecond === undefined) return "–";
  if (perSecond === 0) return "0";
  if (perSecond >= 1) return `${Number(perSecond.toFixed(1))}/s`;
  if (perSecond * 60 >= 1) return `${Number((perSecond * 60).toFixed(1))}/min`;
  return `${Number((perSecond * 3600).toFixed(1))}/h`;
}
