// What is wrong, the worst first: a decision without effects, and its list.
import { termText } from "../base/filter.js";
import { html } from "../base/html.js";
import { hrefOf } from "../base/router.js";
import { may } from "../base/session.js";
import { count, duration } from "../base/time.js";
import { lazy } from "../base/lazy.js";
import { Glyph } from "../parts/badge.js";

/** @typedef {{tone: string, text: string, verb: string, href: string, overdue?: number, paused?: string}} Trouble
 *  verb: what the link does; overdue: so many jobs can be taken back; paused: this queue can be resumed */

/** Most of the time nothing is to be mended. */
const TakeBack = lazy(() => import("../parts/take_back.js"), "TakeBack");
const PauseButton = lazy(() => import("./operations/queues/pause.js"), "PauseButton");
const LONG_WAIT_SECONDS = 300;
const MANY_FAILURES = 5;

const queueHref = (/** @type {string} */ queue) => hrefOf(`/queues/${encodeURIComponent(queue)}`);
const jobsHref = (/** @type {string} */ filter) => hrefOf("/jobs", { q: filter });

/**
 * What is wrong, the worst first.
 * @param {any} overview as of `GET /api/overview`
 * @param {any} [others] as of `GET /api/troubles`; nothing before it has come
 * @param {any} [doctor] as of `GET /api/doctor`; nothing for those who may not ask it
 * @returns {Trouble[]}
 */
export function troublesOf(overview, others, doctor) {
  const troubles = [...ofFleet(overview.fleet), ...ofLines(overview), ...(others ? ofWork(others) : []), ...(doctor ? ofChecks(doctor, overview) : [])];
  const weight = { bad: 0, warn: 1 };
  return troubles.sort((a, b) => weight[/** @type {"bad"} */ (a.tone)] - weight[/** @type {"bad"} */ (b.tone)]);
}

/** @param {any} fleet @returns {Trouble[]} */
function ofFleet(fleet) {
  const found = [];
  if (fleet.stale) found.push({ tone: "bad", text: `${fleet.stale} worker(s) have gone silent.`, verb: "Show workers", href: hrefOf("/workers", { q: "stale" }) });
  if (fleet.overdue_jobs) found.push({ tone: "bad", text: `${fleet.overdue_jobs} job(s) have a lease that has run out, and nobody has taken them back yet.`, verb: "Show jobs", href: jobsHref("state:stale"), overdue: fleet.overdue_jobs });
  if (fleet.deaf) found.push({ tone: "warn", text: `${fleet.deaf} worker(s) do not hear notifications and poll instead.`, verb: "Show workers", href: hrefOf("/workers") });
  if (fleet.backing_off) found.push({ tone: "warn", text: `${fleet.backing_off} worker(s) claim nothing for lack of memory or CPU.`, verb: "Show workers", href: hrefOf("/workers", { q: "back-off" }) });
  return found;
}

/** @param {any} overview @returns {Trouble[]} */
function ofLines({ unclaimed_kinds, oldest_ready }) {
  const found = unclaimed_kinds.map((/** @type {any} */ each) => {
    const jobs = `${each.jobs >= 1000 ? "1000 or more" : each.jobs} job(s) of kind ${each.kind} in queue ${each.queue}`;
    const filter = jobsHref(`state:pending ${termText("kind", each.kind)} ${termText("queue", each.queue)}`);
    if (each.reason === "paused") return { tone: "warn", text: `Queue ${each.queue} is paused: ${jobs} wait, the first for ${duration(each.waits_for)}.`, verb: "Open queue", href: queueHref(each.queue), paused: each.queue };
    if (each.reason === "paused_workers") return { tone: "warn", text: `All workers for ${jobs} are paused.`, verb: "Show jobs", href: filter };
    return { tone: "bad", text: `No live worker serves ${jobs}; the first waits for ${duration(each.waits_for)}.`, verb: "Show jobs", href: filter };
  });
  for (const each of oldest_ready) {
    const isListed = unclaimed_kinds.some((/** @type {any} */ other) => other.queue === each.queue);
    if (each.waits_for > LONG_WAIT_SECONDS && !isListed) found.push({ tone: "warn", text: `The oldest job of queue ${each.queue} that could run has waited for ${duration(each.waits_for)}.`, verb: "Open queue", href: queueHref(each.queue) });
  }
  return found;
}

/** @param {any} troubles @returns {Trouble[]} */
function ofWork({ failing, stuck_keys, slow_queues }) {
  return [
    ...failing.filter((/** @type {any} */ each) => each.failures >= MANY_FAILURES).map((/** @type {any} */ each) => ({
      tone: "bad", verb: "Open failure", href: hrefOf(`/failures/${each.fingerprint}`),
      text: `${each.kind === null ? "Jobs that are gone" : `Kind ${each.kind}`} failed ${count(each.failures)} time(s)${each.is_partial ? " or more" : ""} in the last hour: ${each.error_type ?? "an error without a type"}.`,
    })),
    ...stuck_keys.map((/** @type {any} */ each) => ({
      tone: "warn", verb: "Open job", href: hrefOf(`/jobs/${each.job_id}`),
      text: `Key ${each.key} is stuck: ${each.waiting >= 1000 ? "1000 or more" : each.waiting} job(s) wait for job ${each.job_id} (${each.kind}), which has held it for ${duration(each.held_for)}.`,
    })),
    ...slow_queues.map((/** @type {any} */ each) => ({
      tone: "warn", verb: "Open queue", href: queueHref(each.queue),
      text: `Jobs of queue ${each.queue} run for ${duration(each.average_run)} now and ran for ${duration(each.usual_run)} before: something that they need may be slow.`,
    })),
  ];
}

/** Problems of the server; those of jobs and workers only where nothing above says them. @param {any} doctor @param {any} overview @returns {Trouble[]} */
function ofChecks({ items }, { fleet, unclaimed_kinds }) {
  const isUnserved = unclaimed_kinds.some((/** @type {any} */ each) => !["paused", "paused_workers"].includes(each.reason));
  const shown = [...(fleet.overdue_jobs || unclaimed_kinds.length ? ["jobs"] : []), ...(fleet.stale || isUnserved ? ["workers"] : [])];
  return items.filter((/** @type {any} */ each) => each.verdict === "problem" && !shown.includes(each.name))
    .map((/** @type {any} */ each) => ({ tone: "bad", text: `Doctor, ${each.name}: ${each.detail}`, verb: "Open doctor", href: hrefOf("/doctor") }));
}

/** @param {{overview: any, others: any, doctor: any, reload: () => void}} props */
export function Troubles({ overview, others, doctor, reload }) {
  const troubles = troublesOf(overview, others, doctor);
  if (troubles.length === 0) return html`<p class="trouble" data-tone="good">Nothing is wrong as far as can be seen here.</p>`;
  return html`<ul class="troubles" aria-label="What is wrong">
    ${troubles.map((each) => html`<li class="trouble incident" data-tone=${each.tone} key=${each.text}><${Glyph} of=${each.tone === "bad" ? "failed" : "stale"} /><bdi>${each.text}</bdi>
      <span class="actions">${each.overdue && may("operate") ? html`<${TakeBack} jobs=${each.overdue} onDone=${reload} />` : null}
        ${each.paused && may("operate") ? html`<${PauseButton} queue=${each.paused} isPaused=${true} onDone=${reload} />` : null}
        <a class="button" href=${each.href}>${each.verb}<span class="unseen">: ${each.text}</span></a></span></li>`)}
  </ul>`;
}
