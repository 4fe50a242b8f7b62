// All queues: how much comes and goes, how long jobs wait, and what holds them up.
import { get } from "../../../base/api.js";
import { termText } from "../../../base/filter.js";
import { html } from "../../../base/html.js";
import { useLoaded } from "../../../base/loading.js";
import { ask, hrefOf, place } from "../../../base/router.js";
import { may } from "../../../base/session.js";
import { Ago, count, duration, rate } from "../../../base/time.js";
import { Gauge } from "../../../parts/badge.js";
import { useDeploys } from "../../../parts/charts/deploys.js";
import { Sparkline } from "../../../parts/sparkline.js";
import { Empty, Shown } from "../../../parts/states.js";
import { PauseButton } from "./pause.js";

const REFRESH_SECONDS = 5;

/** The address of a queue's page. @param {string} queue */
export const hrefOfQueue = (queue) => hrefOf(`/queues/${encodeURIComponent(queue)}`);

export function QueuesPage() {
  const text = place.value.query.get("q") ?? "";
  const loaded = useLoaded(async (signal) => {
    const [queues, overview] = await Promise.all([get("/api/queues", {}, signal), get("/api/overview", {}, signal)]);
    return rowsOf(queues.items, overview);
  }, [], { every: REFRESH_SECONDS });
  const marks = useDeploys();
  return html`<div class="title"><h1>Queues</h1>
      <form class="search" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
        <input id="filter" type="search" aria-label="Filter queues" placeholder="Part of a name" value=${text}
          onInput=${(/** @type {any} */ event) => ask({ q: event.target.value }, { replace: true })} /></form>
    </div>
    <section class="card"><${Shown} of=${loaded}>${(/** @type {any[]} */ rows) => html`<${Table} rows=${rows} text=${text} marks=${marks} reload=${loaded.reload} />`}<//></section>`;
}

/**
 * Each queue with all that is known of it.
 * @param {any[]} queues of `GET /api/queues`
 * @param {any} overview
 */
export function rowsOf(queues, overview) {
  const by = (/** @type {any[]} */ list) => new Map(list.map((each) => [each.queue, each]));
  const [capacity, rates, hours, oldest] = [by(overview.queues), by(overview.rates), by(overview.hours), by(overview.oldest_ready)];
  return queues.map((each) => ({
    ...each, capacity: capacity.get(each.queue), rates: rates.get(each.queue), hour: hours.get(each.queue), oldest: oldest.get(each.queue), until: Date.parse(overview.at),
  }));
}

/** @param {{rows: any[], text: string, marks: {at: number, text: string}[], reload: () => void}} props */
function Table({ rows, text, marks, reload }) {
  if (rows.length === 0) return html`<${Empty}>There are no queues yet. A queue begins with its first job: <code>leasehold enqueue echo --queue mail</code><//>`;
  const shown = rows.filter((each) => each.queue.toLowerCase().includes(text.toLowerCase()));
  if (shown.length === 0) return html`<${Empty}>No queue has “<bdi>${text}</bdi>” in its name. <a href=${hrefOf("/queues")}>Show all ${rows.length}</a>.<//>`;
  return html`<div class="scroll"><table>
    <thead><tr><th>Queue</th><th>Last hour</th><th class="number">In</th><th class="number">Out</th><th class="number">Ready</th><th class="number">Oldest</th>
      <th class="number">Wait p50</th><th class="number">p95</th><th class="number">Drained in</th><th>In use</th><th class="number">Workers</th><th class="number">Limits</th>
      ${may("operate") ? html`<th><span class="unseen">Pause</span></th>` : null}</tr></thead>
    <tbody>${shown.map((each) => html`<${Row} key=${each.queue} row=${each} marks=${marks} reload=${reload} />`)}</tbody>
  </table></div>`;
}

/** @param {{row: any, marks: {at: number, text: string}[], reload: () => void}} props */
function Row({ row: { queue, capacity, rates, hour, oldest, until, ...row }, marks, reload }) {
  const out = rates?.seconds ? (rates.completed + rates.failed) / rates.seconds : null;
  const minutes = hour?.arrivals.map((/** @type {number} */ arrivals, /** @type {number} */ at) => ({ arrivals, done: hour.ended[at] }));
  return html`<tr data-queue=${queue}>
    <td class="name"><a href=${hrefOfQueue(queue)}><bdi>${queue}</bdi></a> <${Marks} row=${row} /></td>
    <td class="tight">${minutes ? html`<${Sparkline} minutes=${minutes} queue=${queue} until=${until} marks=${marks} />` : null}</td>
    <td class="number">${rate(capacity?.arrivals_per_second)}</td>
    <td class="number">${rate(out)}</td>
    <td class="number"><a href=${hrefOf("/jobs", { q: `state:pending ${termText("queue", queue)}` })}>${count(row.counts.pending ?? 0, row.is_partial)}</a></td>
    <td class="number">${duration(oldest?.waits_for)}</td>
    <td class="number">${duration(rates?.p50_wait)}</td>
    <td class="number">${duration(rates?.p95_wait)}</td>
    <td class="number">${capacity?.hours_to_drain === null || !capacity ? "–" : duration(capacity.hours_to_drain * 3600)}</td>
    <td class="tight"><${Gauge} share=${capacity?.active_slots ? (capacity.running + capacity.claimed) / capacity.active_slots : null} label="Slots of ${queue} in use" isPlain=${true} /></td>
    <td class="number">${count(row.workers)}</td>
    <td class="number">${row.limits || "–"}</td>
    ${may("operate") ? html`<td class="tight"><${PauseButton} queue=${queue} isPaused=${row.paused_at !== null} onDone=${reload} /></td>` : null}
  </tr>`;
}

/** What is odd about a queue, as badges. @param {{row: any}} props */
export function Marks({ row }) {
  return html`${row.paused_at ? html`<span class="badge" data-tone="warn" title=${row.pause_reason ?? ""}>paused <${Ago} at=${row.paused_at} /></span> ` : null}
    ${row.unserved_kinds?.length ? html`<span class="badge" data-tone="bad" title=${row.unserved_kinds.join(", ")}>${row.unserved_kinds.length} kind(s) unserved</span> ` : null}
    ${row.ageing_seconds ? html`<span class="badge" title="A waiting job gains one priority in that time">ages by ${duration(row.ageing_seconds)}</span>` : null}`;
}
