// What can be done with a schedule: enable, disable, trigger, delete.
import { call } from "../../../base/api.js";
import { html } from "../../../base/html.js";
import { Asking } from "../../../parts/dialog.js";
import { attempt, toast } from "../../../parts/toasts.js";
import { pathOfSchedule } from "./ticks.js";

/** @param {{schedule: any, onDone: () => void, isSmall?: boolean}} props */
export function Switch({ schedule: { name, enabled }, onDone, isSmall = false }) {
  const toggle = () => attempt(async () => {
    await call("POST", `${pathOfSchedule(name)}/${enabled ? "disable" : "enable"}`);
    toast(enabled ? `${name} fires only by hand from now on.` : `${name} fires from its next tick on.`);
    onDone();
  });
  return html`<button onClick=${toggle}>${enabled ? "Disable" : "Enable"}${isSmall ? html`<span class="unseen"> ${name}</span>` : null}</button>`;
}

/** @param {{schedule: any, onDone: () => void, isSmall?: boolean}} props */
export function Trigger({ schedule: { name }, onDone, isSmall = false }) {
  const trigger = async () => {
    const fired = await call("POST", `${pathOfSchedule(name)}/trigger`);
    toast(`${name} has made ${fired.job_count} job(s).`);
    onDone();
  };
  return html`<${Asking} label="Trigger" about=${isSmall ? name : ""} title="Fire ${name} now?" verb="Fire it" onYes=${trigger}>
    <p>It makes its jobs at once, whatever its policies say. Its next tick stays as it is.</p><//>`;
}

/** @param {{schedule: any, onDone: () => void}} props */
export function Delete({ schedule: { name, declared_by }, onDone }) {
  const remove = async () => {
    await call("DELETE", pathOfSchedule(name));
    toast(`${name} is deleted.`);
    onDone();
  };
  return html`<${Asking} label="Delete" title="Delete ${name}?" verb="Delete it" isDangerous=${true} onYes=${remove}>
    <p>Its history goes with it; jobs that it made stay. ${declared_by ? "Code declares it, so the next scheduler that starts makes it again: disable it instead." : ""}</p><//>`;
}
