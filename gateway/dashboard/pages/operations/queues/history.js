// What came and went in a queue, and how long jobs waited and ran, over an hour to a week.
import { get } from "../../../base/api.js";
import { html } from "../../../base/html.js";
import { useLoaded } from "../../../base/loading.js";
import { hrefOf, place } from "../../../base/router.js";
import { duration, rate } from "../../../base/time.js";
import { deploysOf } from "../../../parts/charts/deploys.js";
import { LineChart } from "../../../parts/charts/line_chart.js";
import { Shown } from "../../../parts/states.js";
import { pathOfQueue } from "./pause.js";

/** @type {Record<string, number>} */
const SPANS = { "1h": 1, "6h": 6, "24h": 24, "7d": 168 };
const POINTS = 120;
const REFRESH_SECONDS = 30;
const NO_BOOKS = "No minute has been closed yet: a reaper (leasehold run reaper) keeps these books.";
// The charts have their room from the start: what stands below them must not move under the pointer when they come.
const LOADING = { steps: [], marks: [], empty: "Loading…" };

/** @param {{queue: string}} props */
export function History({ queue }) {
  const { query, path } = place.value;
  const asked = query.get("span") ?? "1h";
  const span = Object.hasOwn(SPANS, asked) ? asked : "1h";
  const loaded = useLoaded(async (signal) => {
    const [steps, workers] = await Promise.all([
      get(`${pathOfQueue(queue)}/history`, { hours: SPANS[span], points: POINTS }, signal), get("/api/workers", { stopped: true }, signal),
    ]);
    return { steps: steps.items, marks: deploysOf(workers.items) };
  }, [queue, span], { every: REFRESH_SECONDS });
  return html`<section class="card"><div class="copyable"><h2>History</h2>
      <nav class="chips spans" aria-label="How far back">${Object.keys(SPANS).map((each) => html`<a key=${each} href=${hrefOf(path, { span: each })}
        aria-current=${each === span ? "true" : null}>${each}</a>`)}</nav></div>
    <${Shown} of=${loaded.data || loaded.problem ? loaded : { ...loaded, data: LOADING }}>${(/** @type {any} */ data) => html`<${Charts} ...${data} />`}<//></section>`;
}

/** @param {{steps: any[], marks: any[], empty?: string}} props */
function Charts({ steps, marks, empty = steps.length ? undefined : NO_BOOKS }) {
  const times = steps.map((each) => Date.parse(each.at));
  const values = (/** @type {(each: any) => number | null} */ of) => steps.map(of);
  const perSecond = (/** @type {number | null} */ value) => rate(value);
  const seconds = (/** @type {number | null} */ value) => duration(value);
  return html`<div class="columns">
    <${LineChart} title="Rates" times=${times} marks=${marks} format=${perSecond} empty=${empty} series=${[
      { name: "in", tone: "", values: values((each) => each.arrivals / each.seconds) },
      { name: "completed", tone: "busy", values: values((each) => each.completed / each.seconds) },
      { name: "failed", tone: "bad", values: values((each) => each.failed / each.seconds) },
    ]} />
    <${LineChart} title="Waits" times=${times} marks=${marks} format=${seconds} empty=${empty} series=${[
      { name: "p50", tone: "busy", values: values((each) => each.p50_wait) }, { name: "p95", tone: "warn", values: values((each) => each.p95_wait) },
    ]} />
    <${LineChart} title="Run times" times=${times} marks=${marks} format=${seconds} empty=${empty} series=${[
      { name: "p50", tone: "busy", values: values((each) => each.p50_run) }, { name: "p95", tone: "warn", values: values((each) => each.p95_run) },
    ]} />
  </div>`;
}
