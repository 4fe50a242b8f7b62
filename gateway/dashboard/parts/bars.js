// Counts over time as bars, with the same in a table for readers of screens.
import { html } from "../base/html.js";
import { UnseenTable } from "./charts/unseen_table.js";

const HEIGHT = 20;

/**
 * @param {{counts: number[], from: string, to: string, label: string, isLarge?: boolean, marks?: {at: number, text: string}[]}} props
 *   equal parts of the time between; marks: deploys
 */
export function Bars({ counts, from, to, label, isLarge = false, marks = [] }) {
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  const placed = marks.filter((each) => each.at >= begin && each.at <= end).map((each) => ({ ...each, x: ((each.at - begin) / (end - begin)) * counts.length * 4 }));
  const top = Math.max(1, ...counts);
  const sum = counts.reduce((total, each) => total + each, 0);
  const chart = html`<svg class=${isLarge ? "bars large" : "bars"} viewBox="0 0 ${counts.length * 4} ${HEIGHT}" preserveAspectRatio="none" role="img"
    aria-label=${[`${label}: ${sum} in all, at most ${top} in one of ${counts.length} parts of the time`, ...placed.map((each) => each.text)].join(". ")}>
    ${placed.map((each) => html`<line class="mark" key=${each.text} x1=${each.x} x2=${each.x} y1="0" y2=${HEIGHT}><title>${each.text}</title></line>`)}
    ${counts.map((each, index) => html`<rect key=${index} class=${each ? "some" : "none"} x=${index * 4} width="3"
      y=${each ? HEIGHT - Math.max(2, (each / top) * HEIGHT) : HEIGHT - 1} height=${each ? Math.max(2, (each / top) * HEIGHT) : 1} />`)}
  </svg>`;
  const at = (/** @type {number} */ index) => new Date(begin + ((end - begin) / counts.length) * index).toLocaleString();
  const table = html`<${UnseenTable} caption=${label} head=${["From", "Count"]} rows=${counts.map((each, index) => [at(index), each])} />`;
  if (!isLarge) return html`${chart}${table}`;
  return html`${chart}
    <p class="axis quiet"><span>${new Date(begin).toLocaleString()}</span><span>at most ${top}</span><span>${new Date(end).toLocaleString()}</span></p>
    ${placed.length ? html`<p class="marks quiet">${placed.map((each) => html`<span key=${each.text}><bdi>${each.text}</bdi> ${new Date(each.at).toLocaleString()}</span>`)}</p>` : null}
    ${table}`;
}
