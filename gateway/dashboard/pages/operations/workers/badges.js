// What stands about a worker as badges: resources, back-off with the measured value, versions and kinds that differ.
import { html } from "../../../base/html.js";
import { relative, now } from "../../../base/time.js";
import { Glyph, levelOf, State } from "../../../parts/badge.js";
import { bytes } from "./fleet.js";

/** @param {{what: string, share: number | null, of: string}} props */
export function Resource({ what, share, of }) {
  if (share === null) return null;
  const percent = Math.round(share * 100);
  return html`<span class="badge share" data-level=${levelOf(share)} title="${what}: ${percent} %${of ? ` of ${of}` : ""} at the last heartbeat">${what} ${percent} %</span>`;
}

/** @param {{worker: any}} props */
export const Resources = ({ worker }) => html`<span class="badges">
  <${Resource} what="memory" share=${worker.memory} of=${worker.memory_limit ? bytes(worker.memory_limit) : ""} />
  <${Resource} what="CPU" share=${worker.cpu} of=${worker.cpu_limit ? `${Number(worker.cpu_limit.toFixed(2))} CPUs` : ""} />
  ${worker.memory === null && worker.cpu === null ? html`<span class="quiet">not told</span>` : null}</span>`;

/** Its state, and what is odd about it. @param {{worker: any}} props */
export function Standing({ worker }) {
  const until = worker.backoff_until ? `; it looks again ${relative(worker.backoff_until, now.value)}` : "";
  return html`<span class="badges"><${State} state=${worker.state} />
    ${worker.backoff ? html`<span class="badge backing-off" data-tone="warn" title="It claims nothing for now${until}"><${Glyph} of="back-off" /> back-off: <bdi>${worker.backoff}</bdi></span>` : null}
    ${worker.stray_handlers ? html`<span class="badge" data-tone="warn" title="They still run although their jobs are gone; see its stacks">${String(worker.stray_handlers)} slots held by handlers whose jobs are gone</span>` : null}
    ${worker.outdated ? html`<span class="badge" data-tone="warn" title="The last worker that started among those that share its work has another version">outdated</span>` : null}
    ${worker.missing_kinds.length ? html`<span class="badge" data-tone="warn" title="They are pending in its queues">no handler for <bdi>${listed(worker.missing_kinds)}</bdi></span>` : null}</span>`;
}

/** Some names of many. @param {string[]} names @param {number} [most] */
export const listed = (names, most = 3) => (names.length > most ? `${names.slice(0, most).join(", ")} and ${names.length - most} more` : names.join(", "));
