// The fleet: pods with their workers around them, and each worker with its slots, resources, leases and versions.
import { get } from "../../../base/api.js";
import { html, useState } from "../../../base/html.js";
import { useLoaded } from "../../../base/loading.js";
import { ask, hrefOf, place } from "../../../base/router.js";
import { may } from "../../../base/session.js";
import { count } from "../../../base/time.js";
import { Empty, Shown } from "../../../parts/states.js";
import { Commands } from "./commands.js";
import { found, podsOf } from "./fleet.js";
import { Pods } from "./pods.js";
import { Replicas } from "./replicas.js";
import { Table } from "./table.js";

const REFRESH_SECONDS = 5;
const FIRST_ROWS = 60;
const MOST_ROWS = 1000;

export function WorkersPage() {
  const { query } = place.value;
  const filter = { text: query.get("q") ?? "", host: query.get("host") ?? "", worker: query.get("worker") ?? "" };
  const withStopped = query.get("stopped") === "1";
  const loaded = useLoaded(async (signal) => {
    const [workers, leases] = await Promise.all([get("/api/workers", { stopped: withStopped }, signal), get("/api/leases", {}, signal)]);
    return { workers: workers.items, leases: byWorker(leases.items) };
  }, [withStopped], { every: REFRESH_SECONDS });
  return html`<div class="title"><h1>Workers</h1>
      <form class="search" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
        <input id="filter" type="search" aria-label="Filter workers" placeholder="Name, host, queue, kind, state" value=${filter.text}
          onInput=${(/** @type {any} */ event) => ask({ q: event.target.value }, { replace: true })} /></form>
      <label class="check"><input type="checkbox" checked=${withStopped} onClick=${() => ask({ stopped: withStopped ? "" : "1" })} /> also those that have ended</label></div>
    <${Replicas} />
    <${Shown} of=${loaded}>${(/** @type {any} */ data) => html`<${Fleet} ...${data} filter=${filter} reload=${loaded.reload} />`}<//>`;
}

/** @param {any[]} leases @returns {Map<string, any[]>} */
export function byWorker(leases) {
  const found = new Map();
  for (const each of leases) found.set(each.incarnation, [...(found.get(each.incarnation) ?? []), each]);
  return found;
}

/** @param {{workers: any[], leases: Map<string, any[]>, filter: {text: string, host: string, worker: string}, reload: () => void}} props */
function Fleet({ workers, leases, filter, reload }) {
  const [most, setMost] = useState(FIRST_ROWS);
  if (workers.length === 0) return html`<section class="card"><${Empty}>No worker is there. Start one: <code>leasehold run worker --app shop.jobs:app</code><//></section>`;
  const matching = found(workers, { ...filter, host: "", worker: "" });
  const chosen = found(matching, filter);
  const choose = (/** @type {{host: string, worker: string}} */ to) => ask(to);
  return html`<${Figures} workers=${workers} />
    <section class="card"><div class="copyable"><h2>Pods</h2><${Key} /></div>
      ${matching.length ? html`<${Pods} pods=${podsOf(matching)} host=${filter.host} worker=${filter.worker} choose=${choose} />` : html`<${Nothing} text=${filter.text} />`}</section>
    <section class="card">
      <div class="bar"><h2>${filter.host ? html`Workers of <bdi>${filter.host}</bdi>` : "Workers"}</h2>
        ${filter.host || filter.worker ? html`<button onClick=${() => choose({ host: "", worker: "" })}>Show all</button>` : null}
        ${(filter.host || filter.text) && chosen.length > 1 && may("operate") ? html`<span class="all-chosen"><span class="quiet">all ${chosen.length}:</span> <${Commands} workers=${chosen} onDone=${reload} /></span>` : null}</div>
      ${chosen.length ? html`<${Table} workers=${chosen.slice(0, most)} leases=${leases} onDone=${reload} />` : html`<${Nothing} text=${filter.text} />`}
      ${chosen.length > most ? html`<p class="quiet">The first ${most} of ${chosen.length} are shown. Choose a pod, filter, or
        <button onClick=${() => setMost(MOST_ROWS)}>Show them all</button></p>` : null}
    </section>`;
}

/** @param {{text: string}} props */
const Nothing = ({ text }) => html`<${Empty}>No worker matches ${text ? html`“<bdi>${text}</bdi>”` : "this"}. <a href=${hrefOf("/workers")}>Show all workers</a>.<//>`;

/** What the colours mean. */
const Key = () => html`<ul class="legend" aria-label="Colours">${[["good", "ready"], ["held", "paused or draining"], ["warn", "back-off"], ["bad", "stale"]].map(
  ([tone, what]) => html`<li key=${tone}><i class="dot" data-tone=${tone}></i>${what}</li>`)}</ul>`;

/** @param {{workers: any[]}} props */
function Figures({ workers }) {
  const live = workers.filter((each) => each.state !== "stale" && each.state !== "stopped");
  const with_ = (/** @type {(each: any) => boolean} */ test) => workers.filter(test).length;
  const sum = (/** @type {string} */ name) => live.reduce((total, each) => total + each[name], 0);
  return html`<div class="figures">
    <div class="figure"><b>${count(sum("active_jobs"))} / ${count(sum("slots"))}</b>slots in use</div>
    ${[["ready", with_((each) => each.state === "ready")], ["paused", with_((each) => each.state === "paused")], ["back-off", with_((each) => Boolean(each.backoff))],
      ["stale", with_((each) => each.state === "stale")], ["outdated", with_((each) => each.outdated)]].map(([name, number]) => html`<a class="figure" key=${name} href=${hrefOf("/workers", { q: name })}><b>${count(Number(number))}</b>${name}</a>`)}
  </div>`;
}
