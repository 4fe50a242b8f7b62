// Enqueueing a job by hand, new or as another one was.
import { call, get } from "../../base/api.js";
import { html, useState } from "../../base/html.js";
import { writeJson } from "../../base/json.js";
import { useLoaded } from "../../base/loading.js";
import { hrefOf, place } from "../../base/router.js";
import { textsOf } from "../../parts/dialog.js";
import { Shown, Wrong } from "../../parts/states.js";
import { attempt } from "../../parts/toasts.js";
import { Args, nameOf, Problem, problemOf } from "./args.js";
import { bodyOf } from "./body.js";
import { knownNames, schemaOf } from "./kinds.js";
import { argsOf, fieldsOf } from "./schema.js";

/** What happens to the second one of two equal jobs, in the words of the page; as `Unique` takes it. */
const CONFLICTS = [
  ["existing", "leave it, make none"], ["reject", "refuse"], ["replace", "give it these args"], ["extend", "give it this time"], ["overwrite", "give it both"],
];

export function EnqueuePage() {
  const from = place.value.query.get("from") ?? "";
  const loaded = useLoaded(async (signal) => {
    const [{ declared, queue, kind }, job] = await Promise.all([knownNames(signal), /^\d+$/.test(from) ? get(`/api/jobs/${from}`, {}, signal) : null]);
    const schema = job && declared.includes(job.kind) ? await schemaOf(job.kind, signal) : null;
    return { job, declared, schema, queues: queue, kinds: kind };
  }, [from]);
  return html`<div class="title"><h1>Enqueue</h1></div>
    <${Shown} of=${loaded}>${(/** @type {any} */ data) => html`<${Form} key=${from} ...${data} />`}<//>`;
}

/** @param {{job: any, declared: string[], schema: any, queues: string[], kinds: string[]}} props */
function Form({ job, declared, schema, queues, kinds }) {
  const [shown, setShown] = useState({ kind: job?.kind ?? "", fields: schema ? fieldsOf(schema, job?.args ?? {}) : null });
  const [isPlain, setPlain] = useState(false);
  const choose = (/** @type {any} */ event) => attempt(async () => {
    const kind = event.target.value.trim();
    if (kind === shown.kind) return;
    const found = declared.includes(kind) ? await schemaOf(kind) : null;
    setShown({ kind, fields: found ? fieldsOf(found) : null });
  });
  const [problems, setProblems] = useState(/** @type {Record<string, any>} */ ({}));
  const [made, setMade] = useState(/** @type {any} */ (null));
  const [isBusy, setBusy] = useState(false);
  const send = async (/** @type {any} */ event) => {
    event.preventDefault();
    const form = textsOf(new FormData(event.target));
    const { body, problems: found } = bodyOf(form);
    if (shown.fields && !isPlain) Object.assign(found, putArgs(body, shown.fields, form));
    setMade(null);
    setProblems(found);
    if (Object.keys(found).length) return;
    setBusy(true);
    try {
      setMade(await call("POST", "/api/jobs", { body }));
    } catch (error) {
      setProblems({ whole: error });
    }
    setBusy(false);
  };
  const text = (/** @type {any} */ value) => (value === null || value === undefined ? "" : String(value));
  const field = (/** @type {string} */ name, /** @type {string} */ title, /** @type {any} */ value, /** @type {any} */ more = {}) => html`<label>${title}
    <input name=${name} defaultValue=${text(value)} autocomplete="off" ...${problemOf(problems, name)} ...${more} /><${Problem} problems=${problems} name=${name} /></label>`;
  const area = (/** @type {string} */ name, /** @type {string} */ title, /** @type {any} */ value) => html`<label class="whole">${title}
    <textarea name=${name} spellcheck=${false} defaultValue=${value === null || value === undefined ? "" : writeJson(value)} ...${problemOf(problems, name)}></textarea><${Problem} problems=${problems} name=${name} /></label>`;
  return html`<section class="card">
    ${job ? html`<p class="quiet">As <a href=${hrefOf(`/jobs/${job.id}`)}>job ${String(job.id)}</a>; change what you like.</p>` : null}
    <form class="form" onSubmit=${send} novalidate>
      ${field("kind", "Kind", job?.kind, { list: "kinds", required: true, onChange: choose })}
      ${field("queue", "Queue (the usual one if empty)", job?.queue, { list: "queues" })}
      ${field("key", "Key (one active job per key)", job?.key)}
      ${field("key_group", "Key group (limits count by it)", "")}
      ${field("priority", "Priority (higher goes first)", job?.priority, { inputmode: "numeric" })}
      <${Args} key=${shown.fields ? shown.kind : ""} fields=${shown.fields} args=${job?.args} problems=${problems} isPlain=${isPlain} onPlain=${setPlain} />
      ${field("delay", "Seconds to wait first", "", { inputmode: "decimal" })}
      ${field("run_at", "Not before this time (yours)", "", { type: "datetime-local", step: "1" })}
      ${field("max_attempts", "Attempts at most", job?.max_attempts, { inputmode: "numeric" })}
      ${field("timeout", "Seconds an attempt may run", "", { inputmode: "decimal" })}
      ${field("unique_by", "Only one with the same", "", { list: "parts", placeholder: "kind, args.order" })}
      ${field("unique_key", "Or only one with this text", "")}
      <label>Where there is one already <select name="on_conflict">${CONFLICTS.map(([value, title]) => html`<option key=${value} value=${value}>${title}</option>`)}</select></label>
      ${area("metadata", "Metadata, a JSON object or nothing", job?.metadata)}
      <datalist id="parts">${["kind, args", "kind, key", "kind, queue", "kind, key_group"].map((each) => html`<option key=${each} value=${each} />`)}</datalist>
      <datalist id="kinds">${kinds.map((each) => html`<option key=${each} value=${each} />`)}</datalist>
      <datalist id="queues">${queues.map((each) => html`<option key=${each} value=${each} />`)}</datalist>
      <div class="whole actions"><button class="first" disabled=${isBusy}>Enqueue</button></div>
    </form>
    ${problems.whole ? html`<div class="trouble" data-tone="bad" role="alert"><${Wrong} error=${problems.whole} /></div>` : null}
    ${made ? html`<div class="trouble" data-tone="good" role="status">${made.is_new ? "It is enqueued as" : "It is there already:"} <a href=${hrefOf(`/jobs/${made.id}`)}>job ${String(made.id)}</a></div>` : null}
  </section>`;
}

/**
 * Put the args that a form says into the body; returns what is wrong, by the name of the field.
 * @param {Record<string, any>} body @param {import("./schema.js").Field[]} fields @param {Record<string, string>} form
 */
function putArgs(body, fields, form) {
  const given = Object.fromEntries(fields.map(({ name }) => [name, form[nameOf(name)] ?? ""]));
  const { args, problems } = argsOf(fields, given);
  body.args = args;
  return Object.fromEntries(Object.entries(problems).map(([name, problem]) => [nameOf(name), problem]));
}
