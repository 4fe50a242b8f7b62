// A chart of lines over time: values under the pointer in its legend, deploys as marks, and the same as a table for everybody.
import { html, useState } from "../../base/html.js";
import { exact } from "../../base/time.js";
import { nearest, pathOf, roundTop, scaleOf, timeLabels } from "./scale.js";

const WIDTH = 600;
const HEIGHT = 120;

/**
 * @typedef {{name: string, tone: string, values: (number | null)[], isDashed?: boolean}} Series
 * @typedef {{at: number, text: string}} Mark
 */

/**
 * @param {{title: string, times: number[], series: Series[], format: (value: number | null) => string, marks?: Mark[], empty?: string}} props
 *   times: milliseconds since 1970, the oldest first, one for each value of a series
 */
export function LineChart({ title, times, series, format, marks = [], empty = "Nothing happened in this time." }) {
  const [index, setIndex] = useState(-1);
  const known = series.flatMap((each) => each.values).filter((value) => value !== null);
  if (times.length < 2 || known.length === 0) return html`<figure class="chart"><figcaption><h3>${title}</h3></figcaption><p class="empty">${empty}</p></figure>`;
  const top = roundTop(Math.max(...known));
  const follow = (/** @type {any} */ event) => {
    const box = event.currentTarget.getBoundingClientRect();
    setIndex(nearest((event.clientX - box.left) / box.width, times.length));
  };
  const placeOf = (/** @type {number} */ at) => ((at - times[0]) / (times[times.length - 1] - times[0])) * WIDTH;
  const shown = marks.filter((each) => each.at >= times[0] && each.at <= times[times.length - 1]);
  return html`<figure class="chart">
    <figcaption>
      <h3>${title}</h3>
      <ul class="legend">${series.map((each) => html`<li key=${each.name}><i class="swatch" data-tone=${each.tone} data-dashed=${each.isDashed ? "" : null}></i>${`${each.name} `}<b>${format(index < 0 ? lastOf(each.values) : each.values[index] ?? null)}</b></li>`)}</ul>
      <span class="quiet when">${index < 0 ? "" : new Date(times[index]).toLocaleString(undefined, { weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" })}</span>
    </figcaption>
    <div class="plot">
      <div class="scale" aria-hidden="true">${scaleOf(top, format).map((each) => html`<span>${each}</span>`)}</div>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label=${describe(title, series, format)}
        onPointerMove=${follow} onPointerLeave=${() => setIndex(-1)}>
        ${[0, 0.5, 1].map((share) => html`<line class="rule" x1="0" x2=${WIDTH} y1=${share * HEIGHT} y2=${share * HEIGHT} />`)}
        ${shown.map((each) => html`<line class="mark" x1=${placeOf(each.at)} x2=${placeOf(each.at)} y1="0" y2=${HEIGHT} key=${each.at}><title>${each.text}</title></line>`)}
        ${series.map((each) => html`<path class="line" key=${each.name} data-tone=${each.tone} data-dashed=${each.isDashed ? "" : null} d=${pathOf(each.values, top, WIDTH, HEIGHT)} />`)}
        ${index < 0 ? null : html`<line class="cursor" x1=${(index / (times.length - 1)) * WIDTH} x2=${(index / (times.length - 1)) * WIDTH} y1="0" y2=${HEIGHT} />`}
      </svg>
      <div class="times" aria-hidden="true">${timeLabels(times).map((each) => html`<span key=${each.share}>${each.text}</span>`)}</div>
    </div>
    ${shown.length ? html`<p class="quiet marks">${shown.map((each) => html`<span key=${each.at}>${each.text}, ${new Date(each.at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" })}</span>`)}</p>` : null}
    <${AsTable} title=${title} times=${times} series=${series} format=${format} />
  </figure>`;
}

/** The last value that is known. @param {(number | null)[]} values */
const lastOf = (values) => values.findLast((value) => value !== null) ?? null;

/** @param {string} title @param {Series[]} series @param {(value: number | null) => string} format */
function describe(title, series, format) {
  const lines = series.map((each) => {
    const known = each.values.filter((value) => value !== null);
    return `${each.name}: ${known.length ? `${format(Math.min(...known))} to ${format(Math.max(...known))}, at the end ${format(lastOf(each.values))}` : "nothing"}`;
  });
  return `${title}. ${lines.join("; ")}`;
}

/** @param {{title: string, times: number[], series: Series[], format: (value: number | null) => string}} props */
function AsTable({ title, times, series, format }) {
  const [isOpen, setOpen] = useState(false);
  return html`<details class="as-table" onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
    <summary class="quiet">Table<span class="unseen"> of ${title}</span></summary>
    ${isOpen ? html`<div class="scroll" tabindex="0"><table><thead><tr><th>Time</th>${series.map((each) => html`<th class="number">${each.name}</th>`)}</tr></thead>
      <tbody>${times.map((time, at) => html`<tr key=${time}><td title=${exact(new Date(time).toISOString())}>${new Date(time).toLocaleString()}</td>
        ${series.map((each) => html`<td class="number">${format(each.values[at] ?? null)}</td>`)}</tr>`)}</tbody></table></div>` : null}
  </details>`;
}
