// One queue: what it waits for, what comes and goes, its limits, its ageing and its key groups.
import { get } from "../../../base/api.js";
import { termText } from "../../../base/filter.js";
import { html } from "../../../base/html.js";
import { useLoaded } from "../../../base/loading.js";
import { hrefOf } from "../../../base/router.js";
import { may } from "../../../base/session.js";
import { count, duration, rate } from "../../../base/time.js";
import { Shown } from "../../../parts/states.js";
import { AgeingButton } from "./ageing.js";
import { Groups } from "./groups.js";
import { History } from "./history.js";
import { Limits } from "./limits.js";
import { PauseButton, pathOfQueue } from "./pause.js";
import { Marks, rowsOf } from "./queues.js";

const REFRESH_SECONDS = 5;
const STATES = ["pending", "scheduled", "waiting", "blocked", "claimed", "running"];

/** @param {{name: string}} props */
export function QueuePage({ name: queue }) {
  const loaded = useLoaded(async (signal) => {
    const part = (/** @type {string} */ name) => get(`${pathOfQueue(queue)}/${name}`, {}, signal);
    const [queues, overview, why, limits, groups] = await Promise.all([
      get("/api/queues", {}, signal), get("/api/overview", {}, signal), part("why"), part("limits"), part("groups"),
    ]);
    const row = rowsOf(queues.items, overview).find((each) => each.queue === queue);
    return { row, why: why.items, limits: limits.items, groups: groups.items };
  }, [queue], { every: REFRESH_SECONDS });
  return html`<${Shown} of=${loaded}>${(/** @type {any} */ data) => html`<${Whole} queue=${queue} data=${data} reload=${loaded.reload} />`}<//>`;
}

/** @param {{queue: string, data: any, reload: () => void}} props */
function Whole({ queue, data: { row, why, limits, groups }, reload }) {
  return html`<div class="title"><h1><bdi>${queue}</bdi></h1> ${row ? html`<${Marks} row=${row} />` : null}
      <div class="actions" role="group" aria-label="Do with this queue">
        <a class="button" href=${hrefOf("/jobs", { q: termText("queue", queue) })}>Jobs</a>
        <a class="button" href=${hrefOf(`/capacity/${encodeURIComponent(queue)}`)}>Capacity</a>
        ${may("operate") ? html`<${AgeingButton} queue=${queue} seconds=${row?.ageing_seconds ?? null} onDone=${reload} />
          <${PauseButton} queue=${queue} isPaused=${Boolean(row?.paused_at)} onDone=${reload} />` : null}
      </div></div>
    ${row ? null : html`<p class="trouble" data-tone="warn">Nothing is known of this queue yet. It begins with its first job, limit or worker.</p>`}
    <${Why} reasons=${why} row=${row} />
    <${Figures} row=${row} queue=${queue} />
    <${History} queue=${queue} />
    <${Limits} queue=${queue} limits=${limits} onDone=${reload} />
    <${Groups} queue=${queue} groups=${groups} limits=${limits} onDone=${reload} />`;
}

/** What its jobs wait for. @param {{reasons: any[], row: any}} props */
function Why({ reasons, row }) {
  if (reasons.length === 0) {
    const waits = row?.counts.pending ? "Nothing holds its jobs up: workers take them in turn." : "No job waits for a worker.";
    return html`<p class="trouble" data-tone="good" aria-label="Why">${waits}</p>`;
  }
  const isBad = reasons.some((each) => each.reason === "unserved");
  return html`<section class="trouble" data-tone=${isBad ? "bad" : reasons.some((each) => each.reason !== "busy") ? "warn" : ""} aria-label="What it waits for">
    <ul class="plain-list">${reasons.map((each) => html`<li key=${each.explanation}><bdi>${each.explanation}</bdi></li>`)}</ul>
  </section>`;
}

/** @param {{row: any, queue: string}} props */
function Figures({ row, queue }) {
  const jobs = (/** @type {string} */ state) => hrefOf("/jobs", { q: `state:${state} ${termText("queue", queue)}` });
  const rates = row?.rates;
  const out = rates?.seconds ? (rates.completed + rates.failed) / rates.seconds : null;
  return html`<div class="figures">
    ${STATES.filter((state) => state === "pending" || state === "running" || row?.counts[state]).map((state) => html`<a class="figure" key=${state} href=${jobs(state)}>
      <b>${count(row?.counts[state] ?? 0)}${state === "pending" && row?.is_partial ? " or more" : ""}</b>${state}</a>`)}
    <div class="figure"><b>${rate(row?.capacity?.arrivals_per_second)}</b>in</div>
    <div class="figure"><b>${rate(out)}</b>out</div>
    <div class="figure"><b>${duration(rates?.p95_wait)}</b>wait p95, ten minutes</div>
    <div class="figure"><b>${duration(row?.oldest?.waits_for)}</b>oldest that could run</div>
    <div class="figure"><b>${count(row?.workers ?? 0)}</b>live worker(s)</div>
  </div>`;
}
