// A small chart of an hour: what came in and what was done; a table for readers of screens tells the same in steps of ten minutes.
import { html } from "../base/html.js";
import { UnseenTable } from "./charts/unseen_table.js";

const WIDTH = 60;
const HEIGHT = 16;

/**
 * @param {{minutes: {arrivals: number, done: number}[], queue: string, until?: number, marks?: {at: number, text: string}[]}} props
 *   sixty minutes, the oldest first; until: when they end, in milliseconds since 1970; marks: deploys
 */
export function Sparkline({ minutes, queue, until = 0, marks = [] }) {
  const top = Math.max(1, ...minutes.map((each) => Math.max(each.arrivals, each.done)));
  const line = (/** @type {(each: {arrivals: number, done: number}) => number} */ of) =>
    minutes.map((each, index) => `${index ? "L" : "M"}${index} ${(HEIGHT - 1 - (of(each) / top) * (HEIGHT - 2)).toFixed(2)}`).join("");
  const sum = (/** @type {"arrivals" | "done"} */ name, from = 0, to = WIDTH) => minutes.slice(from, to).reduce((total, each) => total + each[name], 0);
  const steps = [0, 10, 20, 30, 40, 50].map((from) => [`${WIDTH - from} to ${WIDTH - from - 10} min ago`, sum("arrivals", from, from + 10), sum("done", from, from + 10)]);
  const placed = marks.map((each) => ({ ...each, x: WIDTH - (until - each.at) / 60000 })).filter((each) => each.x >= 0 && each.x <= WIDTH);
  return html`<svg class="spark" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img"
    aria-label=${[`${queue} in the last hour: ${sum("arrivals")} jobs came, ${sum("done")} ended; at most ${top} in a minute`,
      ...placed.map((each) => each.text)].join(". ")}>
    ${placed.map((each) => html`<line class="mark" key=${each.text} x1=${each.x} x2=${each.x} y1="0" y2=${HEIGHT}><title>${each.text}</title></line>`)}
    <path class="in" d=${line((each) => each.arrivals)} /><path class="out" d=${line((each) => each.done)} />
  </svg><${UnseenTable} caption="${queue} in the last hour" head=${["Time", "Came", "Ended"]} rows=${steps} />`;
}
