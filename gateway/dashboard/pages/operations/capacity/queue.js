// One queue: the forecast against what happened, how many workers it needs, and what would become of it if.
import { get } from "../../../base/api.js";
import { html } from "../../../base/html.js";
import { useLoaded } from "../../../base/loading.js";
import { hrefOf, place } from "../../../base/router.js";
import { count, duration, rate } from "../../../base/time.js";
import { deploysOf } from "../../../parts/charts/deploys.js";
import { LineChart } from "../../../parts/charts/line_chart.js";
import { Empty, Shown } from "../../../parts/states.js";
import { pathOfCapacity } from "./capacity.js";
import { WhatIf } from "./what_if.js";

const REFRESH_SECONDS = 15;
const STEP_MILLISECONDS = 300_000;
/** @type {Record<string, number>} */
const SPANS = { "1h": 1, "3h": 3, "12h": 12, "24h": 24 };

/** @param {{name: string}} props */
export function CapacityOfQueue({ name: queue }) {
  const loaded = useLoaded(async (signal) => {
    const known = (await get("/api/jobs/capacity", {}, signal)).items;
    if (!known.some((/** @type {any} */ each) => each.queue === queue)) return { plan: null };
    const [plan, workers] = await Promise.all([get(pathOfCapacity(queue), {}, signal), get("/api/workers", { stopped: true }, signal)]);
    return { plan, workers: workers.items };
  }, [queue], { every: REFRESH_SECONDS });
  return html`<div class="title"><h1>Capacity of <bdi>${queue}</bdi></h1>
      <div class="actions"><a class="button" href=${hrefOf(`/queues/${encodeURIComponent(queue)}`)}>Queue</a></div></div>
    <${Shown} of=${loaded}>${(/** @type {any} */ data) => data.plan === null
      ? html`<${Empty}>Nothing is known of a queue <bdi>${queue}</bdi>. <a href=${hrefOf("/capacity")}>Show the queues that there are</a>.<//>`
      : html`<${Whole} queue=${queue} ...${data} />`}<//>`;
}

/** @param {{queue: string, plan: any, workers: any[]}} props */
function Whole({ queue, plan, workers }) {
  const has = plan.capacity;
  return html`<div class="figures">
      <div class="figure"><b>${rate(has.arrivals_per_second)}</b>in</div>
      <div class="figure"><b>${duration(has.avg_seconds)}</b>a job runs</div>
      <div class="figure"><b>${count(has.ready, has.is_partial)}</b>ready</div>
      <div class="figure"><b>${count(has.active_workers)}</b>worker(s), ${count(has.active_slots)} slots</div>
      <div class="figure" data-tone=${has.avg_seconds !== null && plan.desired_workers > has.active_workers ? "warn" : null}><b>${has.avg_seconds === null ? "–" : count(plan.desired_workers)}</b>needed so that 95 of 100 start in ${duration(plan.target_wait)}</div>
      ${plan.workers_needed.map((/** @type {any} */ each) => html`<div class="figure" key=${each.hours} data-tone=${each.workers > has.active_workers ? "warn" : null}><b>${count(each.workers)}</b>needed to be through in ${each.hours} h</div>`)}
    </div>
    ${has.avg_seconds === null ? html`<p class="trouble" data-tone="warn">No job of this queue ended within the last hour, so nobody knows how long one takes, and nothing can be forecast.</p>` : null}
    <${Hindsight} queue=${queue} workers=${workers} />
    ${has.avg_seconds === null ? null : html`<${WhatIf} queue=${queue} has=${has} workers=${workers} />`}`;
}

/** @param {{queue: string, workers: any[]}} props */
function Hindsight({ queue, workers }) {
  const { query, path } = place.value;
  const asked = query.get("span") ?? "1h";
  const span = Object.hasOwn(SPANS, asked) ? asked : "1h";
  const loaded = useLoaded((signal) => get(`${pathOfCapacity(queue)}/hindsight`, { hours: SPANS[span] }, signal), [queue, span], { every: REFRESH_SECONDS });
  return html`<section class="card"><div class="copyable"><h2>Forecast against what happened</h2>
      <nav class="chips spans" aria-label="How far back">${Object.keys(SPANS).map((each) => html`<a key=${each} href=${hrefOf(path, { span: each })} aria-current=${each === span ? "true" : null}>${each}</a>`)}</nav></div>
    <${Shown} of=${loaded}>${(/** @type {any} */ data) => html`<${Charts} ...${data} marks=${deploysOf(workers)} />`}<//></section>`;
}

/** @param {{past: any[], ahead: any[], marks: any[]}} props */
function Charts({ past, ahead, marks }) {
  if (past.length === 0 && ahead.length === 0) return html`<${Empty}>There are no books of this time: a reaper (<code>leasehold run reaper</code>) keeps them.<//>`;
  // How many are ready is told of the end of a step, and the hour to come begins there.
  const coming = ahead.slice(past.length ? 1 : 0);
  const times = [...past.map((each) => Date.parse(each.at) + STEP_MILLISECONDS), ...coming.map((each) => Date.parse(each.at))];
  const padded = (/** @type {any[]} */ before, /** @type {any[]} */ after) => [...before, ...after];
  const nothing = (/** @type {any[]} */ of) => of.map(() => null);
  const jobs = (/** @type {number | null} */ value) => (value === null ? "–" : count(Math.round(value)));
  return html`<div class="columns">
    <${LineChart} title="Ready jobs, and the hour to come" times=${times} marks=${marks} format=${jobs} series=${[
      { name: "happened", tone: "busy", values: padded(past.map((each) => each.backlog), nothing(coming)) },
      { name: "forecast", tone: "warn", isDashed: true, values: padded(past.map((each) => each.expected_backlog), coming.map((each) => each.backlog)) },
    ]} />
    <${LineChart} title="Wait of 95 of 100 jobs" times=${past.map((each) => Date.parse(each.at))} marks=${marks} format=${duration} empty="No job has ended in this time." series=${[
      { name: "happened", tone: "busy", values: past.map((each) => each.p95_wait) },
      { name: "forecast", tone: "warn", isDashed: true, values: past.map((each) => each.expected_p95_wait) },
    ]} />
    <${LineChart} title="Slots" times=${past.map((each) => Date.parse(each.at))} marks=${marks} format=${jobs} series=${[{ name: "slots", tone: "", values: past.map((each) => each.slots) }]} />
  </div>
  <p class="quiet">The forecast of each five minutes is what it would have said at their beginning: from the jobs that were ready then, what had come in the ten minutes before, and the slots that there were.</p>`;
}
