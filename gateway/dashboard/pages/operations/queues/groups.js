// The key groups of a queue that have something to do, those first that hold most.
import { html, useState } from "../../../base/html.js";
import { may } from "../../../base/session.js";
import { count, duration } from "../../../base/time.js";
import { Empty } from "../../../parts/states.js";
import { LimitForm } from "./limits.js";

const COUNTED = 1000;

/** @param {{queue: string, groups: any[], limits: any[], onDone: () => void}} props */
export function Groups({ queue, groups, limits, onDone }) {
  const [edited, setEdited] = useState(/** @type {any} */ (null));
  const own = new Map(limits.map((each) => [each.key_group, each]));
  return html`<section class="card"><h2>Key groups</h2>
    ${groups.length ? html`<div class="scroll"><table>
      <thead><tr><th>Key group</th><th class="number">With workers</th><th class="number">Ready</th><th class="number">Oldest</th><th>Limit</th>
        ${may("operate") ? html`<th><span class="unseen">Change</span></th>` : null}</tr></thead>
      <tbody>${groups.map((each) => html`<tr key=${each.key_group}>
        <td><bdi>${each.key_group}</bdi></td><td class="number">${count(each.held)}</td>
        <td class="number">${count(each.pending, each.pending >= COUNTED)}</td><td class="number">${duration(each.waits_for)}</td>
        <td>${own.has(each.key_group) ? "its own" : own.has("*") ? "that of each group" : "–"}</td>
        ${may("operate") ? html`<td class="tight"><button onClick=${() => setEdited(own.get(each.key_group) ?? { key_group: each.key_group })}>Limit<span class="unseen"> ${each.key_group}</span></button></td>` : null}
      </tr>`)}</tbody></table></div>
      ${groups.length >= 50 ? html`<p class="quiet">The first 50 are shown: those that hold most, then those with the longest lines.</p>` : null}`
    : html`<${Empty}>No job that waits or runs has a key group. Give jobs one (<code>key_group</code>) to share a queue fairly among customers or shops.<//>`}
    ${edited ? html`<${LimitForm} queue=${queue} limit=${edited} onClose=${() => setEdited(null)} onDone=${onDone} />` : null}
  </section>`;
}
