// How everything stands: what is wrong first, then each queue, then the fleet.
import { get } from "../base/api.js";
import { html } from "../base/html.js";
import { useLoaded } from "../base/loading.js";
import { hrefOf } from "../base/router.js";
import { may } from "../base/session.js";
import { count, duration, rate } from "../base/time.js";
import { Gauge } from "../parts/badge.js";
import { useDeploys } from "../parts/charts/deploys.js";
import { Sparkline } from "../parts/sparkline.js";
import { Empty, Shown } from "../parts/states.js";
import { Troubles } from "./troubles.js";

const REFRESH_SECONDS = 5;
const TROUBLES_SECONDS = 15;
/** An examination costs more than all else here, so all tabs share one for as long. */
const DOCTOR_SECONDS = 300;

export function Overview() {
  const overview = useLoaded((signal) => get("/api/overview", {}, signal), [], { every: REFRESH_SECONDS });
  const troubles = useLoaded((signal) => get("/api/troubles", {}, signal), [], { every: TROUBLES_SECONDS });
  const mayAsk = may("operate");
  const doctor = useLoaded(async (signal) => (mayAsk ? get("/api/doctor", { within: DOCTOR_SECONDS }, signal) : null), [mayAsk], { every: DOCTOR_SECONDS });
  const marks = useDeploys();
  return html`<h1>Overview</h1>
    <${Shown} of=${overview}>${(/** @type {any} */ data) => html`
      <${Troubles} overview=${data} others=${troubles.data} doctor=${doctor.data} reload=${overview.reload} />
      <${Figures} data=${data} />
      <section class="card"><h2>Queues</h2><${Queues} data=${data} marks=${marks} /></section>`}<//>`;
}

/** @param {{data: any}} props */
function Figures({ data: { fleet, queues } }) {
  const sum = (/** @type {string} */ name) => queues.reduce((/** @type {number} */ total, /** @type {any} */ each) => total + each[name], 0);
  const jobs = (/** @type {string} */ state) => hrefOf("/jobs", { q: `state:${state}` });
  return html`<div class="figures">
    <a class="figure" href=${jobs("pending")}><b>${count(sum("ready"), queues.some((/** @type {any} */ each) => each.is_partial))}</b>ready</a>
    <a class="figure" href=${jobs("running")}><b>${count(fleet.held_jobs)}</b>with workers</a>
    <a class="figure" href=${jobs("completed")}><b>${count(sum("completed_last_hour"))}</b>completed in an hour</a>
    <a class="figure" href=${jobs("failed")}><b>${count(sum("failed_last_hour"))}</b>failed in an hour</a>
    <a class="figure" href=${hrefOf("/workers")}><b>${count(fleet.ready)}</b>worker(s) ready, ${count(fleet.slots)} slots</a>
  </div>`;
}

/** @param {{data: any, marks: {at: number, text: string}[]}} props */
function Queues({ data, marks }) {
  if (data.queues.length === 0) return html`<${Empty}>There are no queues yet. Enqueue a job, and its queue is here.<//>`;
  const by = (/** @type {any[]} */ list) => new Map(list.map((each) => [each.queue, each]));
  const [rates, hours, oldest] = [by(data.rates), by(data.hours), by(data.oldest_ready)];
  return html`<div class="scroll"><table>
    <thead><tr><th>Queue</th><th>Last hour</th><th class="number">In</th><th class="number">Out</th><th class="number">Ready</th>
      <th class="number">Oldest</th><th class="number">Wait p50</th><th class="number">p95</th><th class="number">Drained in</th><th>In use</th></tr></thead>
    <tbody>${data.queues.map((/** @type {any} */ each) => html`<${Row} key=${each.queue} has=${each} rates=${rates.get(each.queue)}
      hour=${hours.get(each.queue)} oldest=${oldest.get(each.queue)} until=${Date.parse(data.at)} marks=${marks} />`)}</tbody>
  </table></div>`;
}

/** @param {{has: any, rates: any, hour: any, oldest: any, until: number, marks: {at: number, text: string}[]}} props */
function Row({ has, rates, hour, oldest, until, marks }) {
  const out = rates && rates.seconds ? (rates.completed + rates.failed) / rates.seconds : null;
  const minutes = hour?.arrivals.map((/** @type {number} */ arrivals, /** @type {number} */ at) => ({ arrivals, done: hour.ended[at] }));
  return html`<tr data-queue=${has.queue}>
    <td><a href=${hrefOf(`/queues/${encodeURIComponent(has.queue)}`)}><bdi>${has.queue}</bdi></a></td>
    <td class="tight">${minutes ? html`<${Sparkline} minutes=${minutes} queue=${has.queue} until=${until} marks=${marks} />` : null}</td>
    <td class="number">${rate(has.arrivals_per_second)}</td>
    <td class="number">${rate(out)}</td>
    <td class="number">${count(has.ready, has.is_partial)}</td>
    <td class="number">${duration(oldest?.waits_for)}</td>
    <td class="number">${duration(rates?.p50_wait)}</td>
    <td class="number">${duration(rates?.p95_wait)}</td>
    <td class="number">${has.hours_to_drain === null ? "–" : duration(has.hours_to_drain * 3600)}</td>
    <td class="tight"><${Gauge} share=${has.active_slots ? (has.running + has.claimed) / has.active_slots : null} label="Slots of ${has.queue} in use" isPlain=${true} /></td>
  </tr>`;
}
