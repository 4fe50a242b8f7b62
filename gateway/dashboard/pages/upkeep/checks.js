// The checks of `leasehold doctor` that are about the server: what is wrong first, what is well at the end.
import { get } from "../../base/api.js";
import { html } from "../../base/html.js";
import { useLoaded } from "../../base/loading.js";
import { may } from "../../base/session.js";
import { Shown } from "../../parts/states.js";

/** @type {Record<string, string>} */
const TONES = { problem: "bad", advice: "warn", ok: "good", skipped: "" };
const ORDER = Object.keys(TONES);

/** @param {{again: number}} props again: another number looks again */
export function Checks({ again }) {
  if (!may("operate")) return html`<section class="card"><h2>The server</h2><p class="quiet">Its checks tell of other sessions of the server, so they need a token with the scope operate.</p></section>`;
  return html`<${Examined} again=${again} />`;
}

/** @param {{again: number}} props */
function Examined({ again }) {
  const loaded = useLoaded((signal) => get("/api/doctor", {}, signal), [again]);
  return html`<section class="card" aria-label="The server"><h2>The server</h2>
    <${Shown} of=${loaded}>${(/** @type {any} */ data) => {
      const checks = inOrder(data.items);
      const wanting = checks.filter((each) => each.verdict === "problem" || each.verdict === "advice");
      const others = checks.filter((each) => !wanting.includes(each));
      return html`
        ${wanting.length ? html`<${List} items=${wanting} />` : html`<p>Nothing is wrong with the server.</p>`}
        <details><summary class="quiet">${others.length} more checks</summary><${List} items=${others} /></details>`;
    }}<//></section>`;
}

/** @param {{items: any[]}} props */
const List = ({ items }) => html`<dl class="facts">${items.map((each) => html`
  <dt key=${each.name}>${each.name}</dt><dd data-check=${each.name}><span class="badge" data-tone=${TONES[each.verdict]}>${each.verdict}</span> <bdi>${each.detail}</bdi>
    ${each.advice ? html`<div class="quiet"><bdi>${each.advice}</bdi></div>` : null}</dd>`)}</dl>`;

/** Problems first; within a verdict as they came. @param {any[]} checks @returns {any[]} */
export const inOrder = (checks) => [...checks].sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
