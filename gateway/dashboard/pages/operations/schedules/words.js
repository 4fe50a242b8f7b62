// When a schedule fires, in plain words: `30 2 * * mon-fri` is "at 02:30, Monday to Friday".
import { duration } from "../../../base/time.js";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const SHORT_DAYS = DAYS.map((each) => each.slice(0, 3).toLowerCase());
const SHORT_MONTHS = MONTHS.map((each) => each.slice(0, 3).toLowerCase());
/** @type {Record<string, string>} */
const ALIASES = {
  "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
};
const MOST_TIMES = 6;

/** When a schedule fires. @param {{every: number | null, cron: string | null, at: string | null}} schedule */
export function whenText({ every, cron, at }) {
  if (every !== null && every !== undefined) return `every ${spanText(every)}`;
  if (cron) return cronText(cron);
  return at ? `once, on ${new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}` : "never";
}

/** @param {number} seconds */
function spanText(seconds) {
  const [size, name] = [[604800, "week"], [86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]].find(([unit]) => seconds % Number(unit) === 0) ?? [0, ""];
  const number = seconds / Number(size);
  if (!size || number > 999) return duration(seconds);
  return number === 1 ? String(name) : `${number} ${name}s`;
}

/** A cron expression in words; the expression itself where no words are sure. @param {string} expression */
export function cronText(expression) {
  const plain = ALIASES[expression.trim().toLowerCase()] ?? expression.trim();
  const fields = plain.split(/\s+/);
  const [second, minute, hour, day, month, weekday] = fields.length === 6 ? fields : ["0", ...fields];
  if (fields.length !== 5 && fields.length !== 6) return expression;
  const time = timeText(second, minute, hour);
  const date = dateText(day, weekday);
  const months = month === "*" ? "" : valuesText(month, MONTHS, SHORT_MONTHS, 1);
  if (time === null || date === null || months === null) return expression;
  return [time, date, months && `in ${months}`].filter(Boolean).join(", ");
}

/** @param {string} second @param {string} minute @param {string} hour @returns {string | null} */
function timeText(second, minute, hour) {
  const [seconds, minutes, hours] = [numbers(second, 0, 59), numbers(minute, 0, 59), numbers(hour, 0, 23)];
  if (!seconds || !minutes || !hours) return null;
  if (seconds.length > 1) return minute === "*" && hour === "*" ? stepText(second, "second") : null;
  const tail = seconds[0] ? `:${pad(seconds[0])}` : "";
  if (minutes.length * hours.length <= MOST_TIMES) return `at ${join(hours.flatMap((h) => minutes.map((m) => `${pad(h)}:${pad(m)}${tail}`)))}`;
  const inHours = hour === "*" ? "" : hoursText(hour, hours);
  const ofMinute = seconds[0] ? ` and ${seconds[0]} seconds` : "";
  if (minutes.length === 1) {
    const every = hour === "*" ? "every hour" : hour.startsWith("*/") ? stepText(hour, "hour") : null;
    const at = minutes[0] || seconds[0] ? ` at ${pad(minutes[0])} minutes${ofMinute} past` : "";
    return every ? `${every}${at}` : `at ${join(hours.map((h) => `${pad(h)}:${pad(minutes[0])}${tail}`))}`;
  }
  const base = minute === "*" || minute.startsWith("*/") ? stepText(minute, "minute") : `every hour at ${join(minutes.map(String))} minutes past`;
  return base === null ? null : `${base}${seconds[0] ? ` at second ${seconds[0]}` : ""}${inHours && `, ${inHours}`}`;
}

/** @param {string} text @param {number[]} hours */
function hoursText(text, hours) {
  if (text.startsWith("*/")) return `in ${stepText(text, "hour")}`;
  const isRun = hours.every((each, index) => each === hours[0] + index);
  return isRun ? `from ${pad(hours[0])}:00 to ${pad(hours[hours.length - 1])}:59` : `in the hours ${join(hours.map(pad))}`;
}

/** @param {string} text as `*` or `*` with a step @param {string} unit */
function stepText(text, unit) {
  if (text === "*" || text === "*/1") return `every ${unit}`;
  const found = /^\*\/(\d+)$/.exec(text);
  if (!found) return null;
  const size = unit === "hour" ? 24 : 60;
  // Every seven minutes begins anew with each hour, which is not every seven minutes.
  return size % Number(found[1]) === 0 ? `every ${found[1]} ${unit}s` : `every ${found[1]} ${unit}s of the ${unit === "hour" ? "day" : unit === "minute" ? "hour" : "minute"}`;
}

/** @param {string} day @param {string} weekday @returns {string | null} */
function dateText(day, weekday) {
  const days = day === "*" ? "" : monthDays(day);
  const weekdays = weekday === "*" ? "" : weekdayText(weekday);
  if (days === null || weekdays === null) return null;
  if (!days && !weekdays) return "every day";
  if (!days) return weekdays;
  if (!weekdays) return `on ${days} of the month`;
  // As Debian's cron: either of them is enough, unless one begins with a star.
  if (day.startsWith("*") || weekday.startsWith("*")) return `${weekdays}, if that is ${days} of the month`;
  return `on ${days} of the month, and ${weekdays}`;
}

/** @param {string} text */
function monthDays(text) {
  if (text.toUpperCase() === "L") return "the last day";
  const values = numbers(text, 1, 31);
  return values === null ? null : `${values.length > 1 ? "days" : "day"} ${join(values.map(String))}`;
}

/** @param {string} text */
function weekdayText(text) {
  const nth = /^(\w+)#([1-5])$/.exec(text);
  if (nth) {
    const [value] = numbers(nth[1], 0, 7, SHORT_DAYS) ?? [];
    return value === undefined ? null : `on the ${["first", "second", "third", "fourth", "fifth"][Number(nth[2]) - 1]} ${DAYS[value % 7]} of the month`;
  }
  const last = /^(\w+)L$/i.exec(text);
  if (last) {
    const [value] = numbers(last[1], 0, 7, SHORT_DAYS) ?? [];
    return value === undefined ? null : `on the last ${DAYS[value % 7]} of the month`;
  }
  return valuesText(text, DAYS, SHORT_DAYS, 0);
}

/** @param {string} text @param {string[]} names @param {string[]} short @param {number} first @returns {string | null} */
function valuesText(text, names, short, first) {
  const values = numbers(text, first, first + names.length - (first ? 1 : 0), short);
  if (values === null) return null;
  const plain = [...new Set(values.map((each) => (each - first) % names.length))];
  if (plain.length === names.length) return first ? "" : "every day";
  const isRun = plain.length > 2 && plain.every((each, index) => each === (plain[0] + index) % names.length);
  return isRun ? `${names[plain[0]]} to ${names[plain[plain.length - 1]]}` : join(plain.map((each) => names[each]));
}

/**
 * The numbers that a field stands for, null where it is none of the plain forms.
 * @param {string} text @param {number} low @param {number} high @param {string[]} [names]
 * @returns {number[] | null}
 */
export function numbers(text, low, high, names = []) {
  /** @type {number[]} */
  const found = [];
  for (const part of text.split(",")) {
    const [, first, last, step] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(part) ?? [];
    if (first === undefined || (first === "*" && last !== undefined)) return null;
    const from = first === "*" ? low : numberOf(first, low, names);
    // The seventh day is Sunday, which a star has as 0 already.
    const most = first === "*" && high === 7 ? 6 : high;
    const to = first === "*" ? most : last !== undefined ? numberOf(last, low, names) : step ? most : from;
    const by = step === undefined ? 1 : Number(step);
    if (from === null || to === null || by < 1 || from < low || to > high || from > to) return null;
    for (let each = from; each <= to; each += by) if (!found.includes(each)) found.push(each);
  }
  return found;
}

/** @param {string} text @param {number} low @param {string[]} names */
function numberOf(text, low, names) {
  if (/^\d+$/.test(text)) return Number(text);
  const at = names.indexOf(text.slice(0, 3).toLowerCase());
  return at < 0 ? null : at + low;
}

/** @param {number} value */
const pad = (value) => String(value).padStart(2, "0");

/** @param {string[]} words */
const join = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`);
