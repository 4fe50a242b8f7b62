// What every queue needs: its load, its workers, and how many it takes to be through in one, four and eight hours.
import { get } from "../../../base/api.js";
import { html } from "../../../base/html.js";
import { useLoaded } from "../../../base/loading.js";
import { hrefOf } from "../../../base/router.js";
import { count, duration, rate } from "../../../base/time.js";
import { Empty, Shown } from "../../../parts/states.js";

const REFRESH_SECONDS = 15;
const MOST_PLANS = 30;

/** @param {string} queue */
export const hrefOfCapacity = (queue) => hrefOf(`/capacity/${encodeURIComponent(queue)}`);

/** @param {string} queue */
export const pathOfCapacity = (queue) => `/api/jobs/capacity/${encodeURIComponent(queue)}`;

export function CapacityPage() {
  const loaded = useLoaded(async (signal) => {
    const queues = (await get("/api/jobs/capacity", {}, signal)).items;
    const busiest = [...queues].sort((a, b) => b.pending + b.running - a.pending - a.running || b.arrivals_per_second - a.arrivals_per_second).slice(0, MOST_PLANS);
    const plans = await Promise.all(busiest.map((each) => get(pathOfCapacity(each.queue), {}, signal)));
    return { queues, plans: new Map(plans.map((each) => [each.capacity.queue, each])) };
  }, [], { every: REFRESH_SECONDS });
  return html`<div class="title"><h1>Capacity</h1></div>
    <section class="card"><${Shown} of=${loaded}>${(/** @type {any} */ data) => html`<${Table} ...${data} />`}<//></section>`;
}

/** @param {{queues: any[], plans: Map<string, any>}} props */
function Table({ queues, plans }) {
  if (queues.length === 0) return html`<${Empty}>No queue has had a job yet, so there is nothing to forecast. Enqueue one: <code>leasehold enqueue echo</code><//>`;
  return html`<div class="scroll"><table>
    <thead><tr><th>Queue</th><th class="number">In</th><th class="number">A job runs</th><th class="number">Ready</th><th class="number">Drained in</th><th class="number">Workers</th>
      <th class="number">For 30 s wait</th>${[1, 4, 8].map((hours) => html`<th class="number" key=${hours}>Through in ${hours} h</th>`)}</tr></thead>
    <tbody>${queues.map((each) => {
      const plan = plans.get(each.queue);
      return html`<tr key=${each.queue}><td class="name"><a href=${hrefOfCapacity(each.queue)}><bdi>${each.queue}</bdi></a></td>
        <td class="number">${rate(each.arrivals_per_second)}</td><td class="number">${duration(each.avg_seconds)}</td><td class="number">${count(each.ready, each.is_partial)}</td>
        <td class="number">${each.hours_to_drain === null ? "–" : duration(each.hours_to_drain * 3600)}</td>
        <td class="number">${count(each.active_workers)}</td>
        <td class="number"><${Needed} workers=${plan && each.avg_seconds !== null ? plan.desired_workers : null} has=${each.active_workers} /></td>
        ${[0, 1, 2].map((at) => html`<td class="number" key=${at}><${Needed} workers=${plan?.workers_needed[at].workers ?? null} has=${each.active_workers} /></td>`)}</tr>`;
    })}</tbody></table></div>
    <p class="quiet">A dash: no job of the queue ended within the last hour, so nobody knows how long one takes${queues.length > MOST_PLANS ? `, or the queue is not among the ${MOST_PLANS} busiest` : ""}.</p>`;
}

/** How many it takes, marked where there are fewer. @param {{workers: number | null, has: number}} props */
export function Needed({ workers, has }) {
  if (workers === null || workers === undefined) return html`<span class="quiet">–</span>`;
  return workers > has ? html`<span class="badge" data-tone="warn" title="There are ${has}">${count(workers)}</span>` : count(workers);
}
