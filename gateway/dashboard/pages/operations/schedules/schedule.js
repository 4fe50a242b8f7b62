// One schedule: its next ticks, what clock changes do, and what became of those before.
import { ApiProblem, call, get } from "../../../base/api.js";
import { html, useState } from "../../../base/html.js";
import { useLoaded } from "../../../base/loading.js";
import { go, hrefOf, place } from "../../../base/router.js";
import { may } from "../../../base/session.js";
import { Ago, count, duration } from "../../../base/time.js";
import { JsonCard } from "../../../parts/json_tree.js";
import { Pager } from "../../../parts/pager.js";
import { Empty, Shown } from "../../../parts/states.js";
import { attempt, toast } from "../../../parts/toasts.js";
import { Delete, Switch, Trigger } from "./actions.js";
import { ScheduleForm } from "./form.js";
import { Marks, Next } from "./schedules.js";
import { ClockChange, NextTicks, pathOfSchedule, Strip, toneOfOutcome } from "./ticks.js";
import { whenText } from "./words.js";

const PAUSE_SECONDS = 2;
const NEXT = 8;
const PAGE = 20;

/** @param {{name: string}} props */
export function SchedulePage({ name }) {
  const cursor = place.value.query.get("cursor") ?? "";
  const loaded = useLoaded(async (signal) => {
    try {
      const schedule = await get(pathOfSchedule(name), {}, signal);
      const part = (/** @type {string} */ of, /** @type {any} */ query) => get(`${pathOfSchedule(name)}/${of}`, query, signal);
      const [preview, history, latest] = await Promise.all([part("preview", { count: NEXT }), part("history", { limit: PAGE, cursor }), part("history", { limit: PAGE })]);
      return { schedule, ticks: preview.ticks, history, latest: latest.items };
    } catch (error) {
      if (error instanceof ApiProblem && error.code === "unknown_schedule") return { schedule: null };
      throw error;
    }
  }, [name, cursor], { live: "schedules", pause: PAUSE_SECONDS, when: (news) => news === null || news.some((each) => each.schedule === name) });
  return html`<${Shown} of=${loaded}>${(/** @type {any} */ data) => data.schedule === null
    ? html`<h1><bdi>${name}</bdi></h1><${Empty}>There is no schedule of this name. <a href=${hrefOf("/schedules")}>Show the schedules</a>.<//>`
    : html`<${Whole} ...${data} reload=${loaded.reload} />`}<//>`;
}

/** @param {{schedule: any, ticks: any[], history: any, latest: any[], reload: () => void}} props */
function Whole({ schedule, ticks, history, latest, reload }) {
  const [isOpen, setOpen] = useState(false);
  const reset = () => attempt(async () => {
    await call("POST", `${pathOfSchedule(schedule.name)}/reset`);
    toast("It is as the code declares it.");
    reload();
  });
  return html`<div class="title"><h1><bdi>${schedule.name}</bdi></h1> <${Marks} schedule=${schedule} />
      ${may("operate") ? html`<div class="actions" role="group" aria-label="Do with this schedule">
        <${Trigger} schedule=${schedule} onDone=${reload} /><${Switch} schedule=${schedule} onDone=${reload} /><button onClick=${() => setOpen(true)}>Edit</button>
        ${schedule.overridden.length ? html`<button onClick=${reset} title="Undoes: ${schedule.overridden.join(", ")}">As in code</button>` : null}
        <${Delete} schedule=${schedule} onDone=${() => go(hrefOf("/schedules"))} /></div>` : null}</div>
    ${schedule.last_error ? html`<section class="trouble" data-tone="bad" aria-label="Last error"><bdi>${schedule.last_error}</bdi></section>` : null}
    <div class="columns halves">
      <section class="card"><h2>About it</h2><${Facts} schedule=${schedule} latest=${latest} /></section>
      <section class="card"><h2>Next ticks</h2><${NextTicks} ticks=${ticks} zone=${schedule.zone} isEnabled=${schedule.enabled} /></section>
      <section class="card"><h2>When the clocks change</h2><${ClockChange} schedule=${schedule} /></section>
    </div>
    <section class="card"><h2>History</h2><${History} history=${history} name=${schedule.name} /></section>
    <${JsonCard} title="Args" value=${schedule.args} />
    ${isOpen ? html`<${ScheduleForm} schedule=${schedule} onClose=${() => setOpen(false)} onDone=${() => { toast("It is changed."); reload(); }} />` : null}`;
}

/** @param {{schedule: any, latest: any[]}} props */
function Facts({ schedule, latest }) {
  return html`<dl class="facts">
    <dt>Fires</dt><dd><b>${whenText(schedule)}</b>${schedule.cron ? html` <code>${schedule.cron}</code>` : null}, ${schedule.zone}</dd>
    ${schedule.description ? html`<dt>What for</dt><dd><bdi>${schedule.description}</bdi></dd>` : null}
    <dt>Makes</dt><dd>${schedule.query ? "a job for each row of its query" : "a job"} of kind <bdi>${schedule.kind}</bdi> in <a href=${hrefOf(`/queues/${encodeURIComponent(schedule.queue)}`)}><bdi>${schedule.queue}</bdi></a>${schedule.stagger ? `, spread over ${duration(schedule.stagger)}` : ""}</dd>
    ${schedule.query ? html`<dt>Query</dt><dd><pre>${schedule.query}</pre></dd>` : null}
    <dt>Next</dt><dd><${Next} schedule=${schedule} /></dd>
    <dt>Last ticks</dt><dd><${Strip} ticks=${latest} name=${schedule.name} /></dd>
    <dt>Last fired</dt><dd><${Ago} at=${schedule.last_run_at} />${schedule.last_job_count === null ? "" : `, ${count(schedule.last_job_count)} job(s)`}</dd>
    <dt>Missed ticks</dt><dd>${{ coalesce: "one fires for all of them", skip: "are left out", catch_up: `fire one by one, ${schedule.catch_up_limit} at most` }[/** @type {"skip"} */ (schedule.missed)]}</dd>
    <dt>Earlier job open</dt><dd>${schedule.overlap === "skip" ? "the tick is left out" : "it fires all the same"}</dd>
    <dt>Made by</dt><dd><bdi>${schedule.declared_by ?? "hand"}</bdi>; changed <${Ago} at=${schedule.updated_at} /> by <bdi>${schedule.updated_by}</bdi></dd>
  </dl>`;
}

/** Why a tick failed or was skipped, and for how many it stands. @param {any} tick */
function whyText({ error, outcome, reason, ticks }) {
  if (error || outcome !== "skipped") return error ?? "";
  return `${reason}${ticks === null ? ", more than 10 000 ticks" : ticks > 1 ? `, ${ticks} ticks` : ""}`;
}

/** @param {{history: any, name: string}} props */
function History({ history, name }) {
  if (history.items.length === 0) return html`<${Empty}>It has never fired.<//>`;
  return html`<div class="scroll"><table><thead><tr><th>Tick</th><th>Fired</th><th>By</th><th class="tight">Outcome</th><th class="number">Jobs</th><th>Why</th></tr></thead>
    <tbody>${history.items.map((/** @type {any} */ each) => html`<tr key=${each.id}>
      <td class="tight">${new Date(each.tick_at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })}</td><td class="tight"><${Ago} at=${each.fired_at} /></td>
      <td>${each.origin}${each.origin === "timer" ? "" : html`, <bdi>${each.fired_by}</bdi>`}</td>
      <td class="tight"><span class="badge" data-tone=${toneOfOutcome(each.outcome)}>${each.outcome}</span></td>
      <td class="number">${each.job_ids?.length === 1 ? html`<a href=${hrefOf(`/jobs/${each.job_ids[0]}`)}>job ${String(each.job_ids[0])}</a>` : count(each.job_count)}</td>
      <td><bdi>${whyText(each)}</bdi></td></tr>`)}</tbody></table></div>
    <${Pager} path="/schedules/${encodeURIComponent(name)}" next=${history.next} />`;
}
