// One group of failures: since when, how often, in which versions, its newest examples, and retrying all its jobs.
import { get } from "../../base/api.js";
import { termText } from "../../base/filter.js";
import { html } from "../../base/html.js";
import { useLoaded } from "../../base/loading.js";
import { hrefOf } from "../../base/router.js";
import { may } from "../../base/session.js";
import { Ago, clock, count } from "../../base/time.js";
import { Bars } from "../../parts/bars.js";
import { useDeploys } from "../../parts/charts/deploys.js";
import { Empty, Shown } from "../../parts/states.js";
import { Trial } from "../../parts/trial.js";
import { chosenTime, hasFailures, sinceOf, Times, Trend } from "./times.js";

/** @param {{name: string}} props */
export function GroupPage({ name: fingerprint }) {
  const time = chosenTime();
  const load = (/** @type {AbortSignal} */ signal) => get(`/api/failures/${fingerprint}`, { since: sinceOf(time, clock()) }, signal);
  const loaded = useLoaded(load, [fingerprint, time], { live: true, every: 60, when: hasFailures });
  return html`<p><a href=${hrefOf("/failures", { time: time === "24h" ? "" : time })}>All failures</a></p>
    <${Shown} of=${loaded}>${(/** @type {any} */ { group, failures }) => html`
      <div class="title">
        <h1><bdi>${group ? group.error_type ?? "Without a type" : "Failures"}</bdi> <span class="quiet">${group ? html`in <bdi>${group.kind ?? "jobs that are gone"}</bdi>` : null}</span></h1>
        ${group && may("operate") ? html`<div class="actions"><${RetryAll} group=${group} onDone=${loaded.reload} /><${CancelOpen} group=${group} onDone=${loaded.reload} /></div>` : null}
      </div>
      <${Times} />
      ${group
        ? html`<${Whole} group=${group} failures=${failures} />`
        : html`<section class="card"><${Empty}>This has not failed in this time. Choose a longer one above.<//></section>`}`}<//>`;
}

/** @param {{group: any, onDone: () => void}} props */
function RetryAll({ group, onDone }) {
  const body = { since: group.starts_at };
  return html`<${Trial} label="Retry all" path=${`/api/failures/${group.fingerprint}/retry`} body=${body} verb="Retry" done="made to run again" order="those that failed last" onDone=${onDone} />`;
}

/** Stops a kind that only fails: those of its jobs that have not ended. @param {{group: any, onDone: () => void}} props */
function CancelOpen({ group, onDone }) {
  if (group.kind === null) return null;
  return html`<${Trial} label="Cancel open jobs of this kind" path="/api/jobs/bulk/cancel" body=${{ kind: group.kind }} verb="Cancel" done="cancelled" isDangerous=${true} onDone=${onDone} />`;
}

/** @param {{group: any, failures: any[]}} props */
function Whole({ group, failures }) {
  const marks = useDeploys();
  const open = group.kind ? hrefOf("/jobs", { q: termText("kind", group.kind) }) : null;
  const jobs = hrefOf("/jobs", { q: group.kind ? `state:failed ${termText("kind", group.kind)}` : "state:failed" });
  return html`
    <section class="card"><h2>Over time</h2>
      ${group.is_partial ? html`<p class="trouble" data-tone="warn">There were more failures than can be looked at; the newest are counted.</p>` : null}
      <${Bars} counts=${group.counts} from=${group.starts_at} to=${group.ends_at} marks=${marks} label="Failures over time" isLarge=${true} />
    </section>
    <div class="columns">
      <section class="card"><h2>About it</h2><dl class="facts">
        <dt>Last message</dt><dd><bdi>${group.last_message ?? "–"}</bdi></dd>
        <dt>Place</dt><dd class="mono"><bdi>${group.place ?? "–"}</bdi></dd>
        <dt>Failures</dt><dd>${count(group.failures)}, and ${count(group.failed_jobs)} job(s) failed for good</dd>
        <dt>Trend</dt><dd><${Trend} of=${group.trend} /></dd>
        <dt>First</dt><dd><${Ago} at=${group.first_at} /></dd>
        <dt>Last</dt><dd><${Ago} at=${group.last_at} />, <a href=${hrefOf(`/jobs/${group.last_job_id}`)}>job ${String(group.last_job_id)}</a></dd>
        <dt>Versions</dt><dd><bdi>${group.versions.join(", ") || "none told by the workers that are still known"}</bdi></dd>
        <dt>Queues</dt><dd>${group.queues.map((/** @type {string} */ each) => html`<a key=${each} href=${hrefOf("/jobs", { q: termText("queue", each) })}><bdi>${each}</bdi></a> `)}</dd>
      </dl><p class="pager"><a href=${jobs}>All failed jobs of this kind</a>${open ? html` <a href=${open}>All jobs of this kind</a>` : null}</p></section>
      <section class="card"><h2>The newest</h2><${Examples} failures=${failures} /></section>
    </div>`;
}

/** @param {{failures: any[]}} props */
function Examples({ failures }) {
  return html`<div class="scroll"><table>
    <thead><tr><th class="tight">Job</th><th class="tight">Attempt</th><th class="tight">When</th><th>Worker</th><th>Message</th></tr></thead>
    <tbody>${failures.map((each) => html`<tr key=${`${each.job_id} ${each.attempt} ${each.at}`}>
      <td class="tight number"><a href=${hrefOf(`/jobs/${each.job_id}`)}>${String(each.job_id)}</a></td>
      <td class="tight">${each.attempt}${each.is_final ? html` <span class="badge" data-tone="bad">last</span>` : null}</td>
      <td class="tight"><${Ago} at=${each.at} /></td>
      <td><bdi>${each.worker_id ?? "–"}</bdi>${each.app_version ? html` <bdi class="quiet">${each.app_version}</bdi>` : null}</td>
      <td class="long"><bdi class="quiet">${each.message ?? ""}</bdi></td></tr>`)}</tbody>
  </table></div>`;
}
