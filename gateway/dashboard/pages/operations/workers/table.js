// The list of workers.
import { html } from "../../../base/html.js";
import { hrefOf } from "../../../base/router.js";
import { may } from "../../../base/session.js";
import { Ago, duration } from "../../../base/time.js";
import { Gauge } from "../../../parts/badge.js";
import { listed, Resources, Standing } from "./badges.js";
import { Commands } from "./commands.js";

const MOST_IDS = 3;

/** @param {{workers: any[], leases: Map<string, any[]>, onDone: () => void}} props */
export function Table({ workers, leases, onDone }) {
  return html`<div class="scroll"><table class="workers">
    <thead><tr><th>Worker</th><th>State</th><th>Slots</th><th>Resources</th><th>Serves</th><th>Version</th><th>Leases</th><th>Heard</th>
      ${may("operate") ? html`<th><span class="unseen">Do</span></th>` : null}</tr></thead>
    <tbody>${workers.map((each) => html`<${Row} key=${each.incarnation} worker=${each} leases=${leases.get(each.incarnation) ?? []} onDone=${onDone} />`)}</tbody>
  </table></div>`;
}

/** @param {{worker: any, leases: any[], onDone: () => void}} props */
function Row({ worker, leases, onDone }) {
  return html`<tr data-worker=${worker.incarnation}>
    <td class="name"><a href=${hrefOf(`/workers/${worker.incarnation}`)}><bdi>${worker.name}</bdi></a><div class="quiet one-line" title="${worker.worker_id} on ${worker.host}"><bdi>${worker.worker_id}</bdi> on <bdi>${worker.host}</bdi></div></td>
    <td><${Standing} worker=${worker} /></td>
    <td class="tight"><b>${worker.active_jobs}/${worker.slots}</b> <${Gauge} share=${worker.slots ? worker.active_jobs / worker.slots : null} label="Slots in use" isPlain=${true} /><${Held} worker=${worker} leases=${leases} /></td>
    <td><${Resources} worker=${worker} /></td>
    <td><bdi title=${worker.queues.join(", ")}>${worker.queues.length ? listed(worker.queues) : "all queues"}</bdi>
      <div class="quiet"><bdi title=${worker.kinds.join(", ")}>${worker.kinds.length ? listed(worker.kinds) : "all kinds"}</bdi></div></td>
    <td class="tight"><${Version} worker=${worker} /></td>
    <td class="tight"><${LeaseAges} leases=${leases} /></td>
    <td class="tight"><${Ago} at=${worker.heartbeat_at} /></td>
    ${may("operate") ? html`<td class="tight"><${Commands} workers=${[worker]} onDone=${onDone} isSmall=${true} /></td>` : null}
  </tr>`;
}

/** @param {{worker: any}} props */
export const Version = ({ worker }) => html`<span class=${worker.outdated ? "badge" : ""} data-tone=${worker.outdated ? "warn" : null}><bdi>${worker.app_version ?? worker.version}</bdi></span>
  ${worker.app_version ? html`<div class="quiet" title="of leasehold"><bdi>${worker.version}</bdi></div>` : null}`;

/** The jobs that it has, as links. @param {{worker: any, leases: any[]}} props */
const Held = ({ worker, leases }) => (leases.length === 0 ? null : html`<div class="actions">
  ${leases.slice(0, MOST_IDS).map(({ job_id }) => html`<a key=${job_id} href=${hrefOf(`/jobs/${job_id}`)}>${String(job_id)}</a>`)}
  ${leases.length > MOST_IDS ? html`<a href=${hrefOf(`/workers/${worker.incarnation}`)}>+${leases.length - MOST_IDS}</a>` : null}</div>`);

/** How old the oldest lease is, and when the next one runs out. @param {{leases: any[]}} props */
function LeaseAges({ leases }) {
  if (leases.length === 0) return html`<span class="quiet">–</span>`;
  const oldest = Math.max(...leases.map((each) => each.age));
  const left = Math.min(...leases.map((each) => each.left));
  return html`<span title="The oldest lease was given or renewed ${duration(oldest)} ago; the next one runs out in ${duration(left)}">${duration(oldest)} old</span>
    <div class=${left < 0 ? "badge" : "quiet"} data-tone="bad">${left < 0 ? "run out" : `${duration(left)} left`}</div>`;
}
