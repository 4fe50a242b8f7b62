// Making and changing a schedule: what a form says, checked by the gateway while it is written, with its next ticks.
import { call } from "../../../base/api.js";
import { html, useEffect, useRef, useState } from "../../../base/html.js";
import { parseJson, writeJson } from "../../../base/json.js";
import { may } from "../../../base/session.js";
import { FormDialog, textsOf } from "../../../parts/dialog.js";
import { QueryFields } from "./query.js";
import { NextTicks } from "./ticks.js";
import { whenText } from "./words.js";
import { ownZone, zoneNames } from "./zones.js";

const PREVIEW_TICKS = 5;
const PAUSE_MILLISECONDS = 400;
const UNITS = [["1", "seconds"], ["60", "minutes"], ["3600", "hours"], ["86400", "days"]];
const OVERLAPS = [["allow", "fires all the same"], ["skip", "is left out"]];
const MISSED = [["coalesce", "fires once for all of them"], ["skip", "are left out"], ["catch_up", "fire one by one"]];

/**
 * @param {{schedule?: any, onClose: () => void, onDone: (made: any) => void}} props a schedule that is changed, or none to make one
 */
export function ScheduleForm({ schedule, onClose, onDone }) {
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const [when, setWhen] = useState(schedule ? (schedule.every !== null ? "every" : schedule.cron ? "cron" : "at") : "cron");
  const [written, setWritten] = useState(0);
  const preview = usePreview(form, schedule, written);
  const send = async (/** @type {FormData} */ filled) => {
    const body = definitionOf(textsOf(filled), schedule);
    onDone(schedule
      ? await call("PATCH", `/api/schedules/${encodeURIComponent(schedule.name)}`, { query: { revision: schedule.revision }, body: changesOf(schedule, body) })
      : await call("POST", "/api/schedules", { body }));
  };
  const unit = UNITS.findLast(([size]) => schedule?.every && schedule.every % Number(size) === 0)?.[0] ?? "3600";
  const count = () => setWritten(written + 1);
  return html`<${FormDialog} title=${schedule ? `Change ${schedule.name}` : "New schedule"} verb=${schedule ? "Change it" : "Make it"} onClose=${onClose} onSend=${send}
    form=${{ ref: form, class: "schedule-form", onInput: count, onChange: count }}>
      ${schedule ? null : html`<label>Name <input name="name" required maxlength="200" autofocus /></label>`}
      <div class="two"><label>Kind <input name="kind" required maxlength="200" defaultValue=${schedule?.kind ?? ""} /></label>
        <label>Queue <input name="queue" required maxlength="200" defaultValue=${schedule?.queue ?? "default"} /></label></div>
      <fieldset><legend>When</legend>
        <div class="chips" role="radiogroup" aria-label="When">${[["cron", "by the clock"], ["every", "at an interval"], ["at", "once"]].map(([value, name]) => html`<label class="check" key=${value}>
          <input type="radio" name="when" value=${value} checked=${when === value} onClick=${() => setWhen(value)} /> ${name}</label>`)}</div>
        ${when === "cron" ? html`<label>Cron expression <input name="cron" required spellcheck=${false} placeholder="30 2 * * mon-fri" defaultValue=${schedule?.cron ?? ""} /></label>` : null}
        ${when === "every" ? html`<label>Every <span class="pair"><input name="every" type="number" min="1" step="any" required defaultValue=${schedule?.every ? String(schedule.every / Number(unit)) : "1"} />
          <select name="unit" aria-label="Unit">${UNITS.map(([size, name]) => html`<option value=${size} selected=${size === unit}>${name}</option>`)}</select></span></label>` : null}
        ${when === "at" ? html`<label>At (${ownZone()}) <input name="at" type="datetime-local" required defaultValue=${schedule?.at ? forInput(schedule.at) : ""} /></label>` : null}
        <label>Time zone <input name="zone" list="zones" required defaultValue=${schedule?.zone ?? ownZone()} /></label>
        <datalist id="zones">${zoneNames().map((each) => html`<option value=${each} key=${each} />`)}</datalist>
        <${Preview} preview=${preview} />
      </fieldset>
      ${may("admin") ? html`<${QueryFields} schedule=${schedule} form=${form} written=${written} />` : null}
      <label>Args <textarea name="args" class="short" spellcheck=${false} defaultValue=${writeJson(schedule?.args ?? {})}></textarea></label>
      <details><summary>More</summary><div class="schedule-form">
        <div class="two"><label>Priority <input name="priority" type="number" required defaultValue=${String(schedule?.priority ?? 0)} /></label>
          <label>Spread the jobs of a tick over (seconds) <input name="stagger" type="number" min="0" step="any" required defaultValue=${String(schedule?.stagger ?? 0)} /></label></div>
        <label>If a job of an earlier tick is still open, a tick <select name="overlap">${OVERLAPS.map(([value, name]) => html`<option value=${value} selected=${value === (schedule?.overlap ?? "allow")}>${name}</option>`)}</select></label>
        <label>Ticks that nobody fired in time <select name="missed">${MISSED.map(([value, name]) => html`<option value=${value} selected=${value === (schedule?.missed ?? "coalesce")}>${name}</option>`)}</select></label>
        <label>Description <input name="description" defaultValue=${schedule?.description ?? ""} /></label>
      </div></details><//>`;
}

/** @param {{preview: {ticks?: any[], problem?: string, text?: string, zone?: string}}} props */
function Preview({ preview }) {
  return html`<div class="preview" role="status" aria-live="polite">
    ${preview.text ? html`<p><b>${preview.text}</b></p>` : null}
    ${preview.problem ? html`<div class="trouble" data-tone="warn">${preview.problem}</div>` : null}
    ${preview.ticks ? html`<${NextTicks} ticks=${preview.ticks} zone=${preview.zone ?? "UTC"} isEnabled=${true} />` : preview.problem ? null : html`<p class="quiet">Its next ticks stand here once there is enough to go by.</p>`}
  </div>`;
}

/**
 * What the gateway says of the form, a moment after it was written.
 * @param {{current: HTMLFormElement | null}} form
 * @param {any} schedule
 * @param {number} written
 */
function usePreview(form, schedule, written) {
  const [preview, setPreview] = useState(/** @type {{ticks?: any[], problem?: string, text?: string, zone?: string}} */ ({}));
  useEffect(() => {
    const control = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const fields = textsOf(new FormData(form.current ?? undefined));
        if (!fields.kind || !(fields.cron || fields.every || fields.at)) return setPreview({});
        const body = trialOf(fields, schedule);
        const { ticks } = await call("POST", "/api/schedules/preview", { query: { count: PREVIEW_TICKS }, body, signal: control.signal });
        setPreview({ ticks, zone: fields.zone, text: whenText({ every: body.every ?? null, cron: body.cron ?? null, at: body.at ?? null }) });
      } catch (error) {
        if (!control.signal.aborted) setPreview({ problem: error instanceof Error ? error.message : String(error) });
      }
    }, PAUSE_MILLISECONDS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [written]);
  return preview;
}

/** What the gateway is asked to check: a definition, whether or not it has a name by now. @param {Record<string, string>} fields @param {any} schedule @returns {Record<string, any>} */
export const trialOf = (fields, schedule) => ({ ...definitionOf({ ...fields, name: "preview" }, schedule), name: "preview" });

/**
 * The definition that a form stands for.
 * @param {Record<string, string>} fields
 * @param {any} [schedule] that is changed: what the form does not have stays
 * @returns {Record<string, any>}
 * @throws {Error} where something is no JSON
 */
export function definitionOf(fields, schedule) {
  const { name, kind, queue, zone, priority, stagger, overlap, missed, description } = fields;
  const when = fields.cron ? { cron: fields.cron } : fields.every ? { every: Number(fields.every) * Number(fields.unit) } : { at: new Date(fields.at).toISOString() };
  return {
    ...(schedule ? {} : { name }), kind, queue, zone, ...when, args: jsonOf(fields.args, "args"), priority: Number(priority), stagger: Number(stagger), overlap, missed,
    ...(description || schedule ? { description: description || null } : {}),
    ...(fields.query ? { query: fields.query, query_timeout: Number(fields.query_timeout), query_rows: Number(fields.query_rows) } : fields.query === "" && schedule ? { query: null } : {}),
  };
}

/** @param {string} text @param {string} name */
function jsonOf(text, name) {
  try {
    return parseJson(text);
  } catch {
    throw new Error(`The ${name} are no JSON.`);
  }
}

/** The fields that differ; another way to say when takes the old one away. @param {any} schedule @param {Record<string, any>} body */
export function changesOf(schedule, body) {
  const differs = (/** @type {string} */ name) => writeJson(body[name], 0) !== writeJson(schedule[name] ?? null, 0);
  const isSameTime = body.at !== undefined && schedule.at !== null && Date.parse(body.at) === Date.parse(schedule.at);
  return Object.fromEntries(Object.entries(body).filter(([name]) => differs(name) && !(name === "at" && isSameTime)));
}

/** A time as an input for local times has it. @param {string} time */
function forInput(time) {
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}
