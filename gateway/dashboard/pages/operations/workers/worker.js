// One worker: what it holds and for how long, what it was told, and where its handlers are right now.
import { get } from "../../../base/api.js";
import { termText } from "../../../base/filter.js";
import { html } from "../../../base/html.js";
import { useLoaded } from "../../../base/loading.js";
import { hrefOf } from "../../../base/router.js";
import { may } from "../../../base/session.js";
import { Ago, count, duration } from "../../../base/time.js";
import { State } from "../../../parts/badge.js";
import { Empty, Shown } from "../../../parts/states.js";
import { TakeBack } from "../../../parts/take_back.js";
import { Resources, Standing } from "./badges.js";
import { Commands, pathOfWorker } from "./commands.js";
import { bytes } from "./fleet.js";
import { Stacks } from "./stacks.js";

const REFRESH_SECONDS = 5;

/** @param {{name: string}} props the incarnation, or the id or the name of the worker that has it now */
export function WorkerPage({ name }) {
  const loaded = useLoaded(async (signal) => {
    // Of the list, since a worker that is not there is no error here.
    const all = (await get("/api/workers", { stopped: true }, signal)).items;
    const worker = all.find((/** @type {any} */ each) => each.incarnation === name) ?? all.find((/** @type {any} */ each) => each.worker_id === name || each.name === name);
    if (!worker) return { worker: null };
    const [leases, commands] = await Promise.all([get("/api/leases", { worker: worker.incarnation }, signal), get(`${pathOfWorker(worker)}/commands`, { limit: 20 }, signal)]);
    return { worker, leases: leases.items, commands: commands.items };
  }, [name], { every: REFRESH_SECONDS });
  return html`<${Shown} of=${loaded}>${(/** @type {any} */ data) => data.worker === null
    ? html`<h1><bdi>${name}</bdi></h1><${Empty}>There is no such worker, or it has been forgotten. <a href=${hrefOf("/workers")}>Show the workers</a>.<//>`
    : html`<${Whole} ...${data} reload=${loaded.reload} />`}<//>`;
}

/** @param {{worker: any, leases: any[], commands: any[], reload: () => void}} props */
function Whole({ worker, leases, commands, reload }) {
  const isLive = worker.state !== "stopped" && worker.state !== "stale";
  return html`<div class="title"><h1><bdi>${worker.name}</bdi></h1> <${Standing} worker=${worker} />
      ${may("operate") ? html`<${Commands} workers=${[worker]} onDone=${reload} />` : null}</div>
    <div class="columns">
      <section class="card"><h2>About it</h2><${Facts} worker=${worker} /></section>
      <section class="card"><h2>Told to do</h2><${Given} commands=${commands} /></section>
    </div>
    <section class="card"><div class="copyable"><h2>Leases</h2>
      ${may("operate") && !isLive && leases.length ? html`<${TakeBack} jobs=${leases.length} worker=${worker} minutes=${sinceRenewal(leases)} onDone=${reload} />` : null}</div><${Leases} leases=${leases} slots=${worker.slots} /></section>
    ${may("operate") && isLive ? html`<${Stacks} worker=${worker} onDone=${reload} />` : null}`;
}

/** Minutes that none of them has been renewed: a worker that is back meanwhile keeps what it has renewed. @param {any[]} leases */
const sinceRenewal = (leases) => Math.min(...leases.map((each) => each.age)) / 60;

/** @param {{worker: any}} props */
function Facts({ worker }) {
  return html`<dl class="facts">
    <dt>Id</dt><dd><bdi>${worker.worker_id}</bdi></dd>
    <dt>Host</dt><dd><a href=${hrefOf("/workers", { host: worker.host })}><bdi>${worker.host}</bdi></a>, process ${String(worker.pid)}</dd>
    <dt>Slots</dt><dd>${worker.active_jobs} of ${worker.slots} in use</dd>
    <dt>Resources</dt><dd><${Resources} worker=${worker} /> ${worker.rss ? html`<span class="quiet">its process: ${bytes(worker.rss)}${worker.cpu_user === null ? "" : `, ${duration(worker.cpu_user + (worker.cpu_system ?? 0))} of CPU`}</span>` : null}</dd>
    <dt>Queues</dt><dd><bdi>${worker.queues.join(", ") || "all"}</bdi></dd>
    <dt>Kinds</dt><dd><bdi>${worker.kinds.join(", ") || "all"}</bdi></dd>
    <dt>Version</dt><dd><bdi>${worker.app_version ?? "not told"}</bdi> <span class="quiet">of the app; leasehold <bdi>${worker.version}</bdi></span></dd>
    <dt>Started</dt><dd><${Ago} at=${worker.started_at} /></dd>
    <dt>Heard of</dt><dd><${Ago} at=${worker.heartbeat_at} />${worker.stopped_at ? html`, ended <${Ago} at=${worker.stopped_at} />` : null}</dd>
    <dt>Lost wake-ups</dt><dd title="Jobs that it found by polling, though it listened">${count(worker.lost_wake_ups)}</dd>
    <dt>Incarnation</dt><dd><code>${worker.incarnation}</code></dd>
    <dt>Jobs</dt><dd><a href=${hrefOf("/jobs", { q: termText("worker", worker.worker_id) })}>all that it has or had last</a></dd>
  </dl>`;
}

/** @param {{leases: any[], slots: number}} props */
function Leases({ leases, slots }) {
  if (leases.length === 0) return html`<${Empty}>It holds no job in its ${slots} slots.<//>`;
  return html`<div class="scroll"><table><thead><tr><th class="tight">Job</th><th>Kind</th><th>Queue</th><th>Key</th><th class="tight">State</th><th class="number">Attempt</th>
      <th class="number">Held for</th><th class="number">Runs for</th><th class="number">Lease age</th><th class="number">Left</th></tr></thead>
    <tbody>${leases.map((each) => html`<tr key=${each.job_id}>
      <td class="tight number"><a href=${hrefOf(`/jobs/${each.job_id}`)}>${String(each.job_id)}</a></td><td><bdi>${each.kind}</bdi></td>
      <td><bdi>${each.queue}</bdi></td><td><bdi>${each.key ?? "–"}</bdi></td><td class="tight"><${State} state=${each.state} /></td><td class="number">${each.attempt}</td>
      <td class="number">${duration(each.held_for)}</td><td class="number">${duration(each.runs_for)}</td><td class="number">${duration(each.age)}</td>
      <td class="number">${each.left < 0 ? html`<span class="badge" data-tone="bad">ran out ${duration(-each.left)} ago</span>` : duration(each.left)}</td></tr>`)}</tbody></table></div>`;
}

/** @param {{commands: any[]}} props */
function Given({ commands }) {
  if (commands.length === 0) return html`<${Empty}>Nobody has told it anything.<//>`;
  return html`<div class="scroll"><table><thead><tr><th>Command</th><th class="tight">State</th><th>When</th><th>Answer</th></tr></thead>
    <tbody>${commands.map((each) => html`<tr key=${each.id}><td>${each.command}${each.args.slots ? ` ${each.args.slots}` : ""}${each.args.job_id ? html` <a href=${hrefOf(`/jobs/${each.args.job_id}`)}>${String(each.args.job_id)}</a>` : null}</td>
      <td class="tight"><span class="badge" data-tone=${{ done: "good", failed: "bad", expired: "bad" }[/** @type {"done"} */ (each.state)] ?? "busy"}>${each.state}</span></td>
      <td class="tight"><${Ago} at=${each.created_at} /></td><td><bdi class="quiet">${each.error ?? answerText(each)}</bdi></td></tr>`)}</tbody></table></div>`;
}

/** @param {any} command */
function answerText({ command, result }) {
  if (result === null || command === "dump_stacks") return "";
  const text = JSON.stringify(result);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
