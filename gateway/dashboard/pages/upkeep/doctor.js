// What an audit finds, what it means, and repairing what can be repaired after a trial.
import { call, get } from "../../base/api.js";
import { html, useState } from "../../base/html.js";
import { useLoaded } from "../../base/loading.js";
import { hrefOf } from "../../base/router.js";
import { may } from "../../base/session.js";
import { count } from "../../base/time.js";
import { Confirm } from "../../parts/dialog.js";
import { Shown } from "../../parts/states.js";
import { attempt, toast } from "../../parts/toasts.js";
import { Checks } from "./checks.js";

const MOST_SHOWN = 20;

export function DoctorPage() {
  const [isWhole, setWhole] = useState(false);
  const loaded = useLoaded((signal) => get("/api/findings", isWhole ? {} : { if_small: true }, signal), [isWhole]);
  const [again, setAgain] = useState(0);
  const look = () => {
    loaded.reload();
    setAgain(again + 1);
  };
  return html`<div class="title"><h1>Doctor</h1>
      <div class="actions"><button onClick=${look}>Look again</button>
        ${may("admin") && loaded.data?.items.some((/** @type {any} */ each) => each.is_repairable)
          ? html`<${Repair} label="Repair all that can be" findings=${null} onDone=${loaded.reload} />` : null}</div>
    </div>
    <${Shown} of=${loaded}>${(/** @type {any} */ data) => data.is_left_out
      ? html`<p>There are many jobs, and an audit reads all of them, which may take seconds. <button onClick=${() => setWhole(true)}>Audit all jobs</button></p>`
      : data.total === 0
      ? html`<p class="trouble" data-tone="good">No job, chain, schedule or partition is out of order. <code>leasehold doctor</code> looks at the settings of a machine besides.</p>`
      : html`<p>${count(data.total)} finding(s)${data.total > data.items.length ? `, the first ${count(data.items.length)} of them` : ""}. A finding means that an actor does not run, that no worker serves a kind, or that rows were changed by hand.</p>
        ${groupsOf(data.items).map((each) => html`<${Group} key=${each[0].finding} items=${each} onDone=${loaded.reload} />`)}`}<//>
    <${Checks} again=${again} />`;
}

/** The findings of each name, those that people must decide first. @param {any[]} items @returns {any[][]} */
export function groupsOf(items) {
  /** @type {Map<string, any[]>} */
  const groups = new Map();
  for (const each of items) groups.set(each.finding, [...(groups.get(each.finding) ?? []), each]);
  return [...groups.values()].sort((a, b) => Number(a[0].is_repairable) - Number(b[0].is_repairable));
}

/** @param {{items: any[], onDone: () => void}} props */
function Group({ items, onDone }) {
  const [first] = items;
  return html`<section class="card" data-finding=${first.finding}>
    <div class="title"><h2>${first.finding.replaceAll("_", " ")} <span class="badge" data-tone=${first.is_repairable ? "warn" : "bad"}>${count(items.length)}</span></h2>
      ${may("admin") && first.is_repairable ? html`<div class="actions"><${Repair} label="Repair" findings=${[first.finding]} onDone=${onDone} /></div>` : null}</div>
    <p>${first.meaning} <span class="quiet">${first.is_repairable ? `A repair does this: ${first.remedy}` : `For you to decide: ${first.remedy}`}</span></p>
    <ul class="plain-list">${items.slice(0, MOST_SHOWN).map((each, index) => html`<li key=${index}>
      ${each.job_id === null ? html`<strong><bdi>${each.subject}</bdi></strong>` : html`<a href=${hrefOf(`/jobs/${each.job_id}`)}><bdi>${each.subject}</bdi></a>`}: <bdi>${each.explanation}</bdi></li>`)}</ul>
    ${items.length > MOST_SHOWN ? html`<p class="quiet">and ${count(items.length - MOST_SHOWN)} more</p>` : null}
  </section>`;
}

/** @param {{label: string, findings: string[] | null, onDone: () => void}} props */
function Repair({ label, findings, onDone }) {
  const [trial, setTrial] = useState(/** @type {any} */ (null));
  const send = (/** @type {boolean} */ isTrial) => call("POST", "/api/findings/repair", { body: { findings, dry_run: isTrial } });
  const really = () => attempt(async () => {
    const done = await send(false);
    toast(`${count(done.changed)} finding(s) repaired${done.left ? `, ${count(done.left)} are left` : ""}.`);
    onDone();
  });
  return html`<button onClick=${() => attempt(async () => setTrial(await send(true)))}>${label}</button>
    ${trial ? html`<${Confirm} title="Repair ${count(trial.changed)} finding(s)?" verb="Repair ${count(trial.changed)}" onClose=${() => setTrial(null)} onYes=${really}>
      <p>Each is repaired in a transaction of its own, with what an actor would have done by itself; the timelines of the jobs say so.</p>
      ${trial.left ? html`<p>${count(trial.left)} are for you to decide and stay.</p>` : null}<//>` : null}`;
}
