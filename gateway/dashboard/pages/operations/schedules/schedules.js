// All schedules: when they fire in plain words, their next run, how the last ones went.
import { get } from "../../../base/api.js";
import { html, useState } from "../../../base/html.js";
import { useLoaded } from "../../../base/loading.js";
import { ask, go, hrefOf, place } from "../../../base/router.js";
import { may } from "../../../base/session.js";
import { Ago, count } from "../../../base/time.js";
import { Empty, Shown } from "../../../parts/states.js";
import { toast } from "../../../parts/toasts.js";
import { Switch, Trigger } from "./actions.js";
import { ScheduleForm } from "./form.js";
import { Strip } from "./ticks.js";
import { whenText } from "./words.js";

const PAUSE_SECONDS = 5;
const PAGE = 100;

/** The address of a schedule's page. @param {string} name */
export const hrefOfSchedule = (name) => hrefOf(`/schedules/${encodeURIComponent(name)}`);

export function SchedulesPage() {
  const { query } = place.value;
  const [queue, cursor] = [query.get("queue") ?? "", query.get("cursor") ?? ""];
  const [isOpen, setOpen] = useState(false);
  const loaded = useLoaded(async (signal) => {
    const which = { limit: PAGE, cursor, queue };
    const [page, recent] = await Promise.all([get("/api/schedules", which, signal), get("/api/schedule-history/recent", { ...which, count: 20 }, signal)]);
    return { schedules: page.items, next: page.next, latest: new Map(recent.items.map((/** @type {any} */ each) => [each.schedule, ticksOf(each)])) };
  }, [cursor, queue], { live: "schedules", pause: PAUSE_SECONDS });
  const made = (/** @type {any} */ schedule) => {
    toast(`${schedule.name} is made.`);
    go(hrefOfSchedule(schedule.name));
  };
  return html`<div class="title"><h1>Schedules</h1>
      ${may("operate") ? html`<div class="actions"><button class="first" onClick=${() => setOpen(true)}>New schedule</button></div>` : null}</div>
    ${queue ? html`<p class="quiet">Those of queue <bdi>${queue}</bdi>. <a href=${hrefOf("/schedules")}>Show all</a>.</p>` : null}
    <section class="card"><${Shown} of=${loaded}>${(/** @type {any} */ data) => html`<${Table} ...${data} isFirst=${!cursor && !queue} reload=${loaded.reload} />`}<//>
      <nav class="pager" aria-label="Pages of the list">${cursor ? html`<a class="button" href=${hrefOf("/schedules", { queue })}>First</a>` : null}
        ${loaded.data?.next ? html`<button onClick=${() => ask({ cursor: loaded.data?.next })}>More</button>` : null}</nav></section>
    ${isOpen ? html`<${ScheduleForm} onClose=${() => setOpen(false)} onDone=${made} />` : null}`;
}

/** Its ticks one by one. @param {Record<string, any[]>} recent */
const ticksOf = ({ tick_at, outcome, job_count, reason }) => tick_at.map((at, index) => ({ tick_at: at, outcome: outcome[index], job_count: job_count[index], reason: reason[index] }));

/** @param {{schedules: any[], latest: Map<string, any[]>, isFirst: boolean, reload: () => void}} props */
function Table({ schedules, latest, isFirst, reload }) {
  if (schedules.length === 0 && isFirst) return html`<${Empty}>There are no schedules yet. Make one here, in code with <code>@app.schedule(cron="30 2 * * *")</code>, or with <code>leasehold schedules create</code>.<//>`;
  if (schedules.length === 0) return html`<${Empty}>There are no more.<//>`;
  return html`<div class="scroll"><table>
    <thead><tr><th>Schedule</th><th>Fires</th><th>Next</th><th>Last ticks</th><th>Last fired</th><th class="number">Jobs</th>
      ${may("operate") ? html`<th><span class="unseen">Do</span></th>` : null}</tr></thead>
    <tbody>${schedules.map((each) => html`<tr key=${each.name} data-schedule=${each.name}>
      <td class="name"><a href=${hrefOfSchedule(each.name)}><bdi>${each.name}</bdi></a> <${Marks} schedule=${each} />
        <div class="quiet"><bdi>${each.kind}</bdi> in <bdi>${each.queue}</bdi></div></td>
      <td>${whenText(each)}<div class="quiet">${each.cron ? html`<code>${each.cron}</code> ${each.zone}` : each.zone}</div></td>
      <td class="tight"><${Next} schedule=${each} /></td>
      <td class="tight"><${Strip} ticks=${latest.get(each.name) ?? []} name=${each.name} /></td>
      <td class="tight"><${Ago} at=${each.last_run_at} /></td>
      <td class="number">${count(each.last_job_count)}</td>
      ${may("operate") ? html`<td class="tight"><div class="actions end"><${Trigger} schedule=${each} onDone=${reload} isSmall=${true} /><${Switch} schedule=${each} onDone=${reload} isSmall=${true} /></div></td>` : null}
    </tr>`)}</tbody></table></div>`;
}

/** @param {{schedule: any}} props */
export function Marks({ schedule: { enabled, last_error, orphaned_at, declared, overridden } }) {
  return html`${enabled ? null : html`<span class="badge" data-tone="warn">disabled</span> `}
    ${last_error ? html`<span class="badge" data-tone="bad" title=${last_error}>failed last</span> ` : null}
    ${orphaned_at ? html`<span class="badge" data-tone="warn" title="The code that declared it does so no more">orphaned</span> ` : null}
    ${declared && !orphaned_at ? html`<span class="badge" title=${overridden.length ? `changed by hand: ${overridden.join(", ")}` : "declared in code"}>${overridden.length ? "code, changed" : "code"}</span>` : null}`;
}

/** Its next tick, for the reader. @param {{schedule: any}} props */
export function Next({ schedule: { enabled, next_run_at, planned_revision, revision } }) {
  if (!enabled) return html`<span class="quiet">by hand only</span>`;
  if (next_run_at) return html`<${Ago} at=${next_run_at} />`;
  return planned_revision === revision ? html`<span class="quiet">over</span>` : html`<span class="badge" data-tone="warn" title="No scheduler has looked at it yet: leasehold run scheduler">unplanned</span>`;
}
