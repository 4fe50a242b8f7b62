// What would become of a queue with another load, other workers, or one node less: the same forecast as the command line's.
import { get } from "../../../base/api.js";
import { html, useState } from "../../../base/html.js";
import { useLoaded } from "../../../base/loading.js";
import { ask, place } from "../../../base/router.js";
import { count, duration, rate } from "../../../base/time.js";
import { Shown } from "../../../parts/states.js";
import { pathOfCapacity } from "./capacity.js";

const REFRESH_SECONDS = 15;

/** @typedef {{load: number, change: number, withoutNode: boolean, wait: number}} Supposed */
/** @type {Supposed} */
const AS_IT_IS = { load: 100, change: 0, withoutNode: false, wait: 30 };

/** @param {URLSearchParams} query @returns {Supposed} */
function supposedIn(query) {
  const number = (/** @type {string} */ name, /** @type {number} */ usual) => Math.trunc(Number(query.get(name) ?? usual)) || usual;
  return { load: number("load", AS_IT_IS.load), change: number("workers", 0), withoutNode: query.get("without") === "node", wait: number("wait", AS_IT_IS.wait) };
}

/** What differs from how it is, for the address. @param {Supposed} supposed */
const queryOf = ({ load, change, withoutNode, wait }) => ({
  load: load === AS_IT_IS.load ? null : load, workers: change || null, without: withoutNode ? "node" : null, wait: wait === AS_IT_IS.wait ? null : wait,
});

/** @param {{queue: string, has: any, workers: any[]}} props */
export function WhatIf({ queue, has, workers }) {
  const [{ load, change, withoutNode, wait }, set] = useState(() => supposedIn(place.value.query));
  const suppose = (/** @type {Partial<Supposed>} */ changes) => set((before) => ({ ...before, ...changes }));
  const keep = (/** @type {Partial<Supposed>} */ changes) => {
    suppose(changes);
    ask(queryOf({ load, change, withoutNode, wait, ...changes }), { replace: true });
  };
  const node = largestNode(workers, queue);
  const most = Math.max(10, has.active_workers * 3);
  const wanted = Math.max(0, has.active_workers + change - (withoutNode && node ? node.workers : 0));
  const asked = { workers: wanted, more: load / 100 - 1, target_wait: wait };
  const loaded = useLoaded((signal) => get(`${pathOfCapacity(queue)}/what-if`, asked, signal), [queue, wanted, load, wait], { every: REFRESH_SECONDS });
  const isChanged = load !== 100 || change !== 0 || withoutNode;
  // Moving a slider shows what it means; letting go of it puts that into the address.
  const slides = (/** @type {(value: number) => Partial<Supposed>} */ meant) => ({
    onInput: (/** @type {any} */ event) => suppose(meant(Number(event.target.value))),
    onChange: (/** @type {any} */ event) => keep(meant(Number(event.target.value))),
  });
  return html`<section class="card what-if"><div class="copyable"><h2>What if</h2>
      ${isChanged ? html`<button onClick=${() => keep({ ...AS_IT_IS, wait })}>As it is</button>` : null}</div>
    <div class="columns">
      <div class="sliders">
        <label>Load <b>${load} %</b><input type="range" min="0" max="500" step="10" value=${load} ...${slides((value) => ({ load: value }))} aria-valuetext="${load} percent of today's" /></label>
        <label>Workers <b>${has.active_workers + change}</b><input type="range" min="0" max=${most} step="1" value=${has.active_workers + change}
          ...${slides((value) => ({ change: value - has.active_workers }))} /></label>
        <label>95 of 100 jobs start within <b>${duration(wait)}</b><input type="range" min="5" max="600" step="5" value=${wait} ...${slides((value) => ({ wait: value }))} aria-valuetext=${duration(wait)} /></label>
        <label class="check"><input type="checkbox" checked=${withoutNode} disabled=${!node} onClick=${() => keep({ withoutNode: !withoutNode })} />
          One node less${node ? html`: without <bdi>${node.host}</bdi> and its ${node.workers} worker(s)` : ""}</label>
      </div>
      <${Shown} of=${loaded}>${(/** @type {any} */ answer) => html`<${Outcome} answer=${answer} has=${has} />`}<//>
    </div></section>`;
}

/**
 * The host with the most workers that take jobs of a queue: what is lost with it is the worst case.
 * @param {any[]} workers
 * @param {string} queue
 * @returns {{host: string, workers: number} | null}
 */
export function largestNode(workers, queue) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const each of workers) {
    const serves = each.state === "ready" && (each.queues.length === 0 || each.queues.includes(queue));
    if (serves) counts.set(each.host, (counts.get(each.host) ?? 0) + 1);
  }
  const [host, number] = [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))[0] ?? ["", 0];
  return number ? { host, workers: number } : null;
}

/** @param {{answer: any, has: any}} props */
function Outcome({ answer: { present, supposed, desired_workers }, has }) {
  if (!supposed) return html`<p class="quiet">Nobody knows how long a job takes.</p>`;
  const share = (/** @type {number | null} */ value) => (value === null ? "–" : `${Math.round(value * 100)} %`);
  const never = (/** @type {number | null} */ value) => (value === null ? html`<span class="badge" data-tone="bad">never</span>` : duration(value));
  /** @type {[string, (each: any) => any][]} */
  const rows = [
    ["Workers", (each) => count(each.workers)], ["Slots", (each) => count(each.forecast.slots)], ["Jobs in", (each) => rate(each.arrivals_per_second)],
    ["Slots in use", (each) => html`<span class=${each.forecast.utilisation >= 1 ? "badge" : ""} data-tone="bad">${share(each.forecast.utilisation)}</span>`],
    ["A job enqueued now waits", (each) => never(each.forecast.next_wait)], ["What is ready is gone in", (each) => never(each.forecast.drain_seconds)],
    ["p95 wait, next hour", (each) => never(each.forecast.p95_wait_ahead)], ["p95 wait, on the long run", (each) => never(each.forecast.p95_wait)],
  ];
  return html`<div><div class="scroll"><table><thead><tr><th></th><th class="number">as it is</th><th class="number">then</th></tr></thead>
      <tbody>${rows.map(([name, cell]) => html`<tr key=${name}><th scope="row">${name}</th><td class="number">${cell(present)}</td><td class="number"><b>${cell(supposed)}</b></td></tr>`)}</tbody></table></div>
    <p>It would need <b>${count(desired_workers)}</b> worker(s)${desired_workers > has.active_workers ? `, ${count(desired_workers - has.active_workers)} more than there are` : ""}.</p></div>`;
}
