// A calendar of the ticks to come, with the days on which the clocks change, and what the next change does to them.
import { get } from "../../../base/api.js";
import { html } from "../../../base/html.js";
import { useLoaded } from "../../../base/loading.js";
import { hrefOf, place } from "../../../base/router.js";
import { clock } from "../../../base/time.js";
import { Shown } from "../../../parts/states.js";
import { localText, NextTicks } from "./ticks.js";
import { nextChange } from "./zones.js";

const MOST_TICKS = 366;
const DAY = 86400e3;
const AROUND = 8;
const WEEKDAYS = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"];

/** The path of a schedule in the API. @param {string} name */
export const pathOfSchedule = (name) => `/api/schedules/${encodeURIComponent(name)}`;

/** @param {{schedule: any}} props */
export function Calendar({ schedule }) {
  const { query, path } = place.value;
  const first = monthOf(query.get("month"), clock());
  const loaded = useLoaded(async (signal) => {
    const after = new Date(Math.max(clock(), first.getTime() - DAY)).toISOString();
    return (await get(`${pathOfSchedule(schedule.name)}/preview`, { count: MOST_TICKS, after }, signal)).ticks;
  }, [schedule.name, schedule.revision, first.toISOString()]);
  const to = (/** @type {number} */ months) => hrefOf(path, { month: monthText(moved(first, months)) });
  return html`<section class="card"><div class="copyable"><h2>Calendar</h2>
      <nav class="actions" aria-label="Months"><a class="button" href=${to(-1)} aria-label="A month earlier">‹</a><a class="button" href=${to(1)} aria-label="A month later">›</a></nav></div>
    <${Shown} of=${loaded}>${(/** @type {any[]} */ ticks) => html`<div class="months">
      ${[0, 1].map((each) => html`<${Month} key=${each} first=${moved(first, each)} days=${daysOf(ticks)} />`)}</div>
      <p class="quiet">${isCut(ticks, moved(first, 2)) ? `Only its next ${MOST_TICKS} ticks are marked, up to ${localText(ticks[ticks.length - 1].local)}. ` : ""}Days are those of ${schedule.zone}.</p>`}<//>
  </section>`;
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

/** Whether there are more ticks before a moment than these. @param {any[]} ticks @param {Date} end */
const isCut = (ticks, end) => ticks.length === MOST_TICKS && Date.parse(ticks[ticks.length - 1].at) < end.getTime();

/** The ticks nearest to a moment. @param {any[]} ticks @param {number} at */
export function around(ticks, at) {
  const behind = ticks.findIndex((each) => Date.parse(each.at) >= at);
  if (behind < 0) return ticks.slice(-AROUND);
  return ticks.slice(Math.max(0, behind - 3), behind + AROUND - 3);
}

/** What happens on each day of a zone, by its date. @param {any[]} ticks @returns {Map<string, {fires: number, left: number, change: number}>} */
export function daysOf(ticks) {
  const days = new Map();
  for (const each of ticks) {
    const date = each.local.slice(0, 10);
    const day = days.get(date) ?? { fires: 0, left: 0, change: 0 };
    day[each.skipped ? "left" : "fires"] += 1;
    day.change ||= each.clock_change;
    days.set(date, day);
  }
  return days;
}

/** @param {{first: Date, days: Map<string, any>}} props */
function Month({ first, days }) {
  const lead = (first.getUTCDay() + 6) % 7;
  const count = moved(first, 1).getTime() - first.getTime();
  const cells = [...Array(lead).fill(null), ...Array.from({ length: Math.round(count / DAY) }, (_, index) => index + 1)];
  const weeks = Array.from({ length: Math.ceil(cells.length / 7) }, (_, week) => Array.from({ length: 7 }, (__, day) => cells[week * 7 + day] ?? null));
  return html`<table class="month"><caption>${first.toLocaleDateString("en-GB", { timeZone: "UTC", month: "long", year: "numeric" })}</caption>
    <thead><tr>${WEEKDAYS.map((each) => html`<th scope="col" key=${each}>${each}</th>`)}</tr></thead>
    <tbody>${weeks.map((week, at) => html`<tr key=${at}>${week.map((day, column) => html`<${Day} key=${column} day=${day} what=${day && days.get(`${monthText(first)}-${String(day).padStart(2, "0")}`)} />`)}</tr>`)}</tbody></table>`;
}

/** @param {{day: number | null, what: any}} props */
function Day({ day, what }) {
  if (day === null) return html`<td></td>`;
  if (!what) return html`<td>${day}</td>`;
  const change = what.change ? `, clocks ${what.change > 0 ? "+" : "−"}${Math.abs(what.change) / 3600} h` : "";
  const told = `${what.fires ? `fires ${what.fires} time(s)` : ""}${what.left ? `${what.fires ? ", " : ""}left out ${what.left} time(s)` : ""}${change}`;
  return html`<td class="day" data-fires=${what.fires ? "" : null} data-left=${what.left && !what.fires ? "" : null} data-change=${what.change ? "" : null} title=${told}>
    ${day}${what.fires > 1 ? html`<small>${what.fires}</small>` : null}<span class="unseen"> ${told}</span></td>`;
}

/** @param {string | null} text as `2027-03` @param {number} now */
function monthOf(text, now) {
  const [, year, month] = /^(\d{4})-(\d{2})$/.exec(text ?? "") ?? [];
  const today = new Date(now);
  return year ? new Date(Date.UTC(Number(year), Number(month) - 1, 1)) : new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), 1));
}

/** @param {Date} month @param {number} by */
const moved = (month, by) => new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + by, 1));

/** @param {Date} month */
const monthText = (month) => month.toISOString().slice(0, 7);
