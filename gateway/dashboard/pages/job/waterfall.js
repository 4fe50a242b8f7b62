// All attempts of a job over time, each as a bar, and below them every moment as a list.
import { html } from "../../base/html.js";
import { Ago, duration, exact, now } from "../../base/time.js";
import { spansOf } from "./spans.js";

const MOST_SPANS = 40;

/** Where in a span that is open its lease was renewed last, and until when it goes. @param {any} job @returns {{at: number, text: string}[]} */
const leaseMarks = (job) => [
  ...(job.heartbeat_at ? [{ at: Date.parse(job.heartbeat_at), text: "lease renewed" }] : []),
  ...(job.lease_expires_at ? [{ at: Date.parse(job.lease_expires_at), text: "lease until" }] : []),
];

/** @param {{job: any, timeline: any[]}} props */
export function Waterfall({ job, timeline }) {
  const all = spansOf(timeline, now.value);
  const spans = all.slice(-MOST_SPANS);
  const from = spans[0]?.from ?? 0;
  const marks = leaseMarks(job);
  const whole = Math.max(1, Math.max(spans.at(-1)?.to ?? 0, ...marks.map((each) => each.at)) - from);
  const place = (/** @type {number} */ at) => `${Math.min(100, Math.max(0, ((at - from) / whole) * 100))}%`;
  return html`
    ${all.length > spans.length ? html`<p class="quiet">The last ${MOST_SPANS} of ${all.length} spans.</p>` : null}
    <div class="fall" role="list" aria-label="Spans">${spans.map((each, index) => html`<div class="row" role="listitem" key=${index}>
      <span>${each.label}</span>
      <span class="track" aria-hidden="true" title=${each.what}><i data-tone=${each.tone}
        style=${{ left: place(each.from), width: `${Math.max(0.3, ((each.to - each.from) / whole) * 100)}%` }}></i>${each.isOpen ? marks.map((mark) => html`<b key=${mark.text} title=${`${mark.text} ${exact(new Date(mark.at).toISOString())}`} style=${{ left: place(mark.at) }}></b>`) : null}</span>
      <span class="number">${duration((each.to - each.from) / 1000)}<span class="unseen"> ${each.what}</span></span>
    </div>`)}</div>
    ${marks.length ? html`<p class="quiet">${job.heartbeat_at ? html`Lease renewed <${Ago} at=${job.heartbeat_at} />; it` : "The lease has not been renewed yet; it"} goes until <${Ago} at=${job.lease_expires_at} />. A renewal takes the place of the one before, so only the last is known.</p>` : null}
    <details><summary class="quiet">Every moment</summary>
      <table><thead><tr><th>When</th><th>What</th><th class="number">Attempt</th><th>By</th></tr></thead>
        <tbody>${timeline.map((each, index) => html`<tr key=${index}>
          <td class="tight"><${Ago} at=${each.at} /></td>
          <td>${each.event.replaceAll("_", " ")}${each.message ? html` <bdi class="quiet">${each.message}</bdi>` : null}</td>
          <td class="number">${each.attempt}</td><td><bdi>${each.actor ?? each.worker_id ?? ""}</bdi></td></tr>`)}</tbody></table>
    </details>`;
}
