// The limits of a queue and of its key groups: how far each is used, and setting and removing them.
import { call } from "../../../base/api.js";
import { html, useState } from "../../../base/html.js";
import { may } from "../../../base/session.js";
import { count, duration } from "../../../base/time.js";
import { Gauge } from "../../../parts/badge.js";
import { Asking, FormDialog, textsOf } from "../../../parts/dialog.js";
import { Empty } from "../../../parts/states.js";
import { toast } from "../../../parts/toasts.js";
import { pathOfQueue } from "./pause.js";

const UNITS = [["1", "a second"], ["60", "a minute"], ["3600", "an hour"]];

/** What a limit is on, in words. @param {string} group */
export const nameOfGroup = (group) => (group === "" ? "the queue as a whole" : group === "*" ? "each key group" : `key group ${group}`);

/** @param {{queue: string, limits: any[], onDone: () => void}} props */
export function Limits({ queue, limits, onDone }) {
  const [edited, setEdited] = useState(/** @type {any} */ (null));
  const drop = async (/** @type {string} */ key_group) => {
    await call("DELETE", `${pathOfQueue(queue)}/limits`, { query: { key_group } });
    toast(`The limit on ${nameOfGroup(key_group)} is gone.`);
    onDone();
  };
  return html`<section class="card"><div class="copyable"><h2>Limits</h2>
      ${may("operate") ? html`<button onClick=${() => setEdited({ key_group: "" })}>Add a limit</button>` : null}</div>
    ${limits.length ? html`<div class="scroll"><table>
      <thead><tr><th>On</th><th>At once</th><th>Starts</th><th>May start now</th>${may("operate") ? html`<th><span class="unseen">Change</span></th>` : null}</tr></thead>
      <tbody>${limits.map((each) => html`<tr key=${each.key_group}>
        <td><bdi>${nameOfGroup(each.key_group)}</bdi></td>
        <td class="tight">${each.max_running === null ? "any number" : html`${count(each.running)} of ${count(each.max_running)}
          ${each.key_group === "*" ? html`<span class="quiet"> in the fullest</span>` : null} <${Gauge} share=${each.max_running ? each.running / each.max_running : 1} label="Used" isPlain=${true} />`}</td>
        <td class="tight">${each.rate === null ? "at any rate" : rateText(each)}</td>
        <td class="tight">${each.rate === null ? "–" : each.next_token_in > 0 ? `the next in ${duration(each.next_token_in)}` : count(Math.floor(each.tokens + 1e-6))}</td>
        ${may("operate") ? html`<td class="tight"><div class="actions end"><button onClick=${() => setEdited(each)}>Change<span class="unseen"> ${nameOfGroup(each.key_group)}</span></button>
          <${Asking} label="Remove" about=${nameOfGroup(each.key_group)} title="Remove the limit on ${nameOfGroup(each.key_group)}?" verb="Remove it" isDangerous=${true} onYes=${() => drop(each.key_group)}>
            <p>Waiting jobs may start at once.</p><//></div></td>` : null}
      </tr>`)}</tbody></table></div>`
    : html`<${Empty}>It has no limits: as many jobs run at once as workers have slots.<//>`}
    ${edited ? html`<${LimitForm} queue=${queue} limit=${edited} onClose=${() => setEdited(null)} onDone=${onDone} />` : null}
  </section>`;
}

/** A rate with its unit and burst. @param {{rate: number, burst: number}} limit */
export function rateText({ rate, burst }) {
  const [size, unit] = unitOf(rate);
  return `${Number((rate * Number(size)).toPrecision(6))} ${unit}, ${burst} at once`;
}

/** The first unit in which a rate is one or more. @param {number} rate */
const unitOf = (rate) => UNITS.find(([size]) => rate * Number(size) >= 1) ?? UNITS[2];

/** @param {{queue: string, limit: any, onClose: () => void, onDone: () => void}} props */
export function LimitForm({ queue, limit, onClose, onDone }) {
  const isNew = limit.max_running === undefined;
  const [on, setOn] = useState(limit.key_group === "" ? "queue" : limit.key_group === "*" ? "each" : "one");
  const [size, unit] = limit.rate ? unitOf(limit.rate) : UNITS[0];
  const set = async (/** @type {FormData} */ form) => {
    await call("PUT", `${pathOfQueue(queue)}/limits`, { body: bodyOf({ ...textsOf(form), on }) });
    toast("The limit is set.");
    onDone();
  };
  return html`<${FormDialog} title=${isNew ? "Limit this queue" : `Limit of ${nameOfGroup(limit.key_group)}`} verb="Set it" onClose=${onClose} onSend=${set}>
    <label>On <select name="on" disabled=${!isNew} value=${on} onChange=${(/** @type {any} */ event) => setOn(event.target.value)}>
      <option value="queue" selected=${on === "queue"}>the queue as a whole</option><option value="each" selected=${on === "each"}>each key group</option>
      <option value="one" selected=${on === "one"}>one key group</option></select></label>
    ${on === "one" ? html`<label>Key group <input name="key_group" required maxlength="500" readonly=${!isNew} defaultValue=${limit.key_group} /></label>` : null}
    <label>Running at once, at most <input name="max_running" type="number" min="0" placeholder="any number" defaultValue=${limit.max_running ?? ""} /></label>
    <label>Starts, at most <span class="pair"><input name="rate" type="number" min="0" step="any" placeholder="any number" defaultValue=${limit.rate ? Number((limit.rate * Number(size)).toPrecision(6)) : ""} />
      <select name="per" aria-label="In">${UNITS.map(([each, name]) => html`<option value=${each} selected=${name === unit}>${name}</option>`)}</select></span></label>
    <label>Of them at once, after a pause <input name="burst" type="number" min="1" placeholder="those of one second, at least 1" defaultValue=${limit.rate ? limit.burst : ""} /></label><//>`;
}

/**
 * The body of `PUT …/limits`.
 * @param {Record<string, string>} form
 * @throws {Error} where it limits nothing
 */
export function bodyOf({ on, key_group = "", max_running = "", rate = "", per = "1", burst = "" }) {
  if (max_running === "" && rate === "") throw new Error("Say how many may run at once, or how many may start.");
  if (burst !== "" && rate === "") throw new Error("How many may start at once after a pause goes with how many may start in a time.");
  return {
    key_group: on === "queue" ? "" : on === "each" ? "*" : key_group,
    max_running: max_running === "" ? null : Number(max_running),
    rate: rate === "" ? null : Number(rate) / Number(per),
    burst: burst === "" ? null : Number(burst),
  };
}
