// Ticks: those to come, in the schedule's zone and the reader's; those around the next change of the clocks; and the last few as a strip.
import { get } from "../../../base/api.js";
import { html } from "../../../base/html.js";
import { useLoaded } from "../../../base/loading.js";
import { clock, now, relative } from "../../../base/time.js";
import { Empty, Shown } from "../../../parts/states.js";
import { nextChange, ownZone } from "./zones.js";
import { UnseenTable } from "../../../parts/charts/unseen_table.js";

const WIDTH = 5;
const HEIGHT = 20;
const MOST_TICKS = 366;
const DAY = 86400e3;
const AROUND = 8;
/** @type {Record<string, string>} */
const TONES = { fired: "good", skipped: "warn", failed: "bad" };
/** @type {Record<string, string>} */
const NOTES = { moved: "its time does not exist on that day", repeated: "the clocks show this time twice; this is the first", repeated_again: "the clocks show this time again" };

/** The path of a schedule in the API. @param {string} name */
export const pathOfSchedule = (name) => `/api/schedules/${encodeURIComponent(name)}`;

/** A local time of the API (`2027-03-28T03:00:00+02:00`) as its clocks show it. @param {string} local */
function localText(local) {
  const date = new Date(`${local.slice(0, 19)}Z`);
  const text = date.toLocaleString("en-GB", { timeZone: "UTC", weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
  return local.slice(17, 19) === "00" ? text : `${text}:${local.slice(17, 19)}`;
}

/** The offset from UTC of a local time of the API. @param {string} local */
const offsetText = (local) => /([+-]\d\d:\d\d|Z)$/.exec(local)?.[1].replace("Z", "+00:00") ?? "";

/** @param {{ticks: any[], zone: string, isEnabled: boolean, empty?: string}} props */
export function NextTicks({ ticks, zone, isEnabled, empty = "It does not fire any more." }) {
  if (ticks.length === 0) return html`<${Empty}>${empty}<//>`;
  const own = ownZone();
  const isElsewhere = zone !== own;
  return html`${isEnabled ? null : html`<p class="quiet">It is disabled: these would be its ticks.</p>`}
    <div class="scroll"><table><thead><tr><th>In ${zone}</th><th>Offset</th>${isElsewhere ? html`<th>For you (${own})</th>` : null}<th>In</th><th>Note</th></tr></thead>
    <tbody>${ticks.map((each) => html`<tr key=${each.at}>
      <td class="tight">${localText(each.local)}</td><td class="tight quiet">${offsetText(each.local)}</td>
      ${isElsewhere ? html`<td class="tight">${new Date(each.at).toLocaleString("en-GB", { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" })}</td>` : null}
      <td class="tight"><time datetime=${each.at}>${relative(each.at, now.value)}</time></td>
      <td>${noteText(each)}</td></tr>`)}</tbody></table></div>`;
}

/** What the clocks do at a tick. @param {any} tick */
export function noteText({ note, clock_change }) {
  const change = clock_change ? `clocks ${clock_change > 0 ? "+" : "−"}${Math.abs(clock_change) / 3600} h before it` : "";
  return [change, NOTES[note]].filter(Boolean).join("; ");
}

/** What happens around the next change of the clocks. @param {{schedule: any}} props */
export function ClockChange({ schedule }) {
  const change = schedule.cron ? nextChange(schedule.zone, clock()) : null;
  const loaded = useLoaded(async (signal) => {
    if (change === null) return [];
    const after = new Date(change.at - 2 * DAY).toISOString();
    const { ticks } = await get(`${pathOfSchedule(schedule.name)}/preview`, { count: MOST_TICKS, after }, signal);
    return around(ticks, change.at);
  }, [schedule.name, schedule.revision]);
  if (!schedule.cron) return html`<p class="quiet">${schedule.every ? "An interval ignores clock changes: it is always as long." : "It fires once."}</p>`;
  if (change === null) return html`<p class="quiet">The clocks of ${schedule.zone} do not change within a year.</p>`;
  const hours = Math.abs(change.minutes) / 60;
  return html`<p>The clocks of ${schedule.zone} go ${change.minutes > 0 ? "forward" : "back"} by ${hours === 1 ? "an hour" : `${hours} hours`} on <b>${new Date(change.at).toLocaleDateString("en-GB", { timeZone: schedule.zone, weekday: "long", day: "numeric", month: "long", year: "numeric" })}</b>. Its ticks around then:</p>
    <${Shown} of=${loaded}>${(/** @type {any[]} */ ticks) => html`<${NextTicks} ticks=${ticks} zone=${schedule.zone} isEnabled=${true} empty="It has none around then." />`}<//>`;
}

/** The ticks nearest to a moment. @param {any[]} ticks @param {number} at */
export function around(ticks, at) {
  const behind = ticks.findIndex((each) => Date.parse(each.at) >= at);
  if (behind < 0) return ticks.slice(-AROUND);
  return ticks.slice(Math.max(0, behind - 3), behind + AROUND - 3);
}

/** The last ticks, the oldest first: their height is how many jobs they made. @param {{ticks: any[], name: string}} props the newest first */
export function Strip({ ticks, name }) {
  if (ticks.length === 0) return html`<span class="quiet">–</span>`;
  const shown = [...ticks].reverse();
  const top = Math.max(1, ...shown.map((each) => Math.log1p(each.job_count)));
  const of = (/** @type {string} */ outcome) => shown.filter((each) => each.outcome === outcome).length;
  return html`<svg class="strip" viewBox="0 0 ${20 * WIDTH} ${HEIGHT}" role="img" aria-label="${name}, its last ${shown.length} ticks: ${of("fired")} fired, ${of("skipped")} skipped, ${of("failed")} failed">
    ${shown.map((each, index) => {
      const height = each.outcome === "fired" ? 4 + (HEIGHT - 4) * (Math.log1p(each.job_count) / top) : HEIGHT / 2;
      return html`<rect key=${index} data-tone=${TONES[each.outcome]} x=${index * WIDTH + 0.5} width=${WIDTH - 1.5} y=${HEIGHT - height} height=${height} rx="1">
        <title>${new Date(each.tick_at).toLocaleString()}: ${each.outcome}${each.reason ? ` (${each.reason})` : ""}, ${each.job_count} job(s)${each.error ? `; ${each.error}` : ""}</title></rect>`;
    })}</svg><${UnseenTable} caption="The last ticks of ${name}" head=${["Tick", "Outcome", "Jobs"]}
      rows=${shown.map((each) => [new Date(each.tick_at).toLocaleString(), each.outcome, each.job_count])} />`;
}

/** @param {string} outcome */
export const toneOfOutcome = (outcome) => TONES[outcome] ?? "";
