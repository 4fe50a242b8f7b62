// One job: why it is where it is, all its attempts, what it was given and made, and what can be done with it.
import { ApiProblem, get } from "../../base/api.js";
import { html } from "../../base/html.js";
import { HELD } from "../../base/job_states.js";
import { useLoaded } from "../../base/loading.js";
import { hrefOf } from "../../base/router.js";
import { Ago, count } from "../../base/time.js";
import { termText } from "../../base/filter.js";
import { State } from "../../parts/badge.js";
import { JsonCard } from "../../parts/json_tree.js";
import { Empty, Shown } from "../../parts/states.js";
import { Actions } from "./actions.js";
import { Errors, Logs, Progress } from "./attempts.js";
import { Waterfall } from "./waterfall.js";

/** @param {{name: string}} props */
export function JobPage({ name: id }) {
  const only = `?job_id=${id}`;
  const load = async (/** @type {AbortSignal} */ signal) => {
    const part = (/** @type {string} */ name) => get(`/api/jobs/${id}/${name}`, {}, signal);
    try {
      const job = await get(`/api/jobs/${id}`, {}, signal);
      const [why, timeline, errors, logs, progress, blockers] = await Promise.all([
        part("why"), part("timeline"), part("errors"), part("logs"), part("progress"), part("blockers"),
      ]);
      return { job, why: why.items, timeline: timeline.items, errors: errors.items, logs: logs.items, progress, blockers: blockers.items };
    } catch (error) {
      if (error instanceof ApiProblem && error.code === "unknown_job") return { job: null };
      throw error;
    }
  };
  const loaded = useLoaded(load, [id], { live: true, only });
  return html`<${Shown} of=${loaded}>${(/** @type {any} */ data) => data.job === null
    ? html`<h1>Job ${id}</h1><${Empty}>There is no job ${id}. Finished jobs are kept for a time only. <a href=${hrefOf("/jobs")}>Show the jobs that there are</a>.<//>`
    : html`<${Whole} data=${data} reload=${loaded.reload} />`}<//>`;
}

/** @param {{data: any, reload: () => void}} props */
function Whole({ data: { job, why, timeline, errors, logs, progress, blockers }, reload }) {
  return html`
    <div class="title">
      <h1><bdi>${job.kind}</bdi> <span class="quiet">#${String(job.id)}</span></h1> <${State} state=${job.state} />
      <${Actions} job=${job} onDone=${reload} />
    </div>
    <${Why} job=${job} reasons=${why} />
    <${Progress} id=${String(job.id)} loaded=${progress} isRunning=${HELD.includes(job.state)} />
    <div class="columns">
      <section class="card"><h2>Attempts</h2><${Waterfall} job=${job} timeline=${timeline} /></section>
      <section class="card"><h2>About it</h2><${Facts} job=${job} blockers=${blockers} /></section>
    </div>
    ${errors.length ? html`<section class="card"><h2>Errors</h2><${Errors} errors=${errors} /></section>` : null}
    <div class="columns">
      <${JsonCard} title="Args" value=${job.args} /><${JsonCard} title="Output" value=${job.output} /><${JsonCard} title="Metadata" value=${job.metadata} />
    </div>
    <section class="card"><h2>Log</h2><${Logs} id=${String(job.id)} loaded=${logs} /></section>
    <section class="card"><h2>Others of this kind</h2><${Siblings} job=${job} /></section>`;
}

/** @param {{job: any, reasons: any[]}} props */
function Why({ job, reasons }) {
  if (reasons.length === 0) return null;
  const tone = job.state === "failed" ? "bad" : job.state === "completed" ? "good" : "warn";
  return html`<section class="trouble" data-tone=${HELD.includes(job.state) ? "" : tone} aria-label="Why">
    <ul class="plain-list">${reasons.map((each) => html`<li key=${each.reason}><bdi>${each.explanation}</bdi></li>`)}</ul>
  </section>`;
}

/** @param {{job: any, blockers: any[]}} props */
function Facts({ job, blockers }) {
  const jobs = (/** @type {string} */ name, /** @type {string} */ value) => html`<a href=${hrefOf("/jobs", { q: termText(name, value) })}><bdi>${value}</bdi></a>`;
  const isHeld = HELD.includes(job.state);
  return html`<dl class="facts">
    <dt>Queue</dt><dd>${jobs("queue", job.queue)}</dd>
    <dt>Key</dt><dd>${job.key === null ? "–" : jobs("key", job.key)}</dd>
    <dt>Priority</dt><dd>${count(job.priority)}</dd>
    <dt>Attempts</dt><dd>${job.attempt} of ${job.max_attempts}${job.spared_attempts ? `, of which ${job.spared_attempts} do not count` : ""}</dd>
    <dt>Created</dt><dd><${Ago} at=${job.created_at} /></dd>
    <dt>Not before</dt><dd><${Ago} at=${job.run_at} /></dd>
    <dt>Finished</dt><dd><${Ago} at=${job.finished_at} /></dd>
    <dt>Worker</dt><dd>${job.worker_id === null ? "–" : jobs("worker", job.worker_id)}</dd>
    ${isHeld ? html`<dt>Lease until</dt><dd><${Ago} at=${job.lease_expires_at} /></dd>` : null}
    ${job.chain_position > 0 || job.succeeded_by ? html`<dt>Chain</dt><dd>number ${job.chain_position + 1} of <a href=${hrefOf(`/chains/${job.chain_id}`)}>chain ${String(job.chain_id)}</a>
      ${job.succeeded_by ? html`, continued by <a href=${hrefOf(`/jobs/${job.succeeded_by}`)}>job ${String(job.succeeded_by)}</a>` : null}</dd>` : null}
    ${blockers.length ? html`<dt>Waits for</dt><dd>${blockers.map((each) => html`<div key=${each.slot}>
      <a href=${hrefOf(`/chains/${each.chain_id}`)}>chain ${String(each.chain_id)}</a> <${State} state=${each.state} /></div>`)}
      <a href=${hrefOf(`/chains/${job.chain_id}`)}>the graph of all</a></dd>` : null}
  </dl>`;
}

/** @param {{job: any}} props */
function Siblings({ job }) {
  const loaded = useLoaded((signal) => get("/api/jobs", { kind: job.kind, limit: 10, fields: "state,created_at,key" }, signal), [job.kind]);
  return html`<${Shown} of=${loaded}>${(/** @type {any} */ page) => html`
    <div class="scroll"><table><thead><tr><th class="tight">Id</th><th class="tight">State</th><th>Key</th><th>Created</th></tr></thead>
      <tbody>${page.items.map((/** @type {any} */ each) => html`<tr key=${each.id} class=${each.id === job.id ? "chosen" : ""}>
        <td class="tight number"><a href=${hrefOf(`/jobs/${each.id}`)}>${String(each.id)}</a></td><td class="tight"><${State} state=${each.state} /></td>
        <td><bdi>${each.key ?? "–"}</bdi></td><td><${Ago} at=${each.created_at} /></td></tr>`)}</tbody></table></div>
    <p class="pager"><a href=${hrefOf("/jobs", { q: termText("kind", job.kind) })}>All of this kind</a></p>`}<//>`;
}
