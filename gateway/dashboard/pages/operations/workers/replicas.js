// How many pods Kubernetes has for the workers: one more, one less, or a number. Shown only where the gateway can scale them.
import { call, get } from "../../../base/api.js";
import { html, useState } from "../../../base/html.js";
import { useLoaded } from "../../../base/loading.js";
import { may, session } from "../../../base/session.js";
import { Confirm } from "../../../parts/dialog.js";
import { Shown } from "../../../parts/states.js";
import { attempt, toast } from "../../../parts/toasts.js";

const REFRESH_SECONDS = 10;

/** Only gateways in Kubernetes say so of themselves, so that the others are not asked in vain. */
export const Replicas = () => (session.value?.can_scale ? html`<${Known} />` : null);

function Known() {
  const loaded = useLoaded((signal) => get("/api/workers/k8s/replicas", {}, signal), [], { every: REFRESH_SECONDS });
  const [wanted, setWanted] = useState(/** @type {number | null} */ (null));
  const scale = () => attempt(async () => {
    const set = await call("POST", "/api/workers/k8s/scale", { body: { replicas: wanted } });
    toast(`There are to be ${set.desired} pod(s).`);
    loaded.reload();
  });
  const choose = (/** @type {any} */ event) => {
    event.preventDefault();
    setWanted(Number(new FormData(event.target).get("pods")));
  };
  return html`<section class="card replicas" aria-label="Pods in Kubernetes"><${Shown} of=${loaded}>${(/** @type {any} */ has) => html`
    <h2>Pods in Kubernetes</h2>
    ${may("admin") ? html`<form class="stepper" onSubmit=${choose}>
      <button type="button" aria-label="One pod less" disabled=${has.desired <= has.min_replicas} onClick=${() => setWanted(has.desired - 1)}>−</button>
      <input name="pods" aria-label="Pods" type="number" required min=${has.min_replicas} max=${has.max_replicas} defaultValue=${has.desired} key=${has.desired} />
      <button type="button" aria-label="One pod more" disabled=${has.desired >= has.max_replicas} onClick=${() => setWanted(has.desired + 1)}>+</button>
      <button>Set</button></form>` : html`<b>${has.desired}</b>`}
    <span class="quiet">${has.current === has.desired ? "all are there" : `${has.current} are there`}; <bdi>${has.statefulset}</bdi> in <bdi>${has.namespace}</bdi>, ${has.min_replicas} to ${has.max_replicas}</span>
    ${wanted === null ? null : html`<${Confirm} title="${wanted} instead of ${has.desired} pod(s)?" verb="Set it" onClose=${() => setWanted(null)} onYes=${scale}>
      <p>${wanted < has.desired ? "The pods with the highest numbers end when their running jobs have ended." : "Kubernetes makes the pods that are missing."} Where an autoscaler sets the number, it sets it again soon.</p><//>`}`}<//></section>`;
}
