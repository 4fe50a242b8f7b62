// The pages for whoever keeps the service going: queues, workers, schedules, capacity.
import { html } from "../../base/html.js";
import { lazy } from "../../base/lazy.js";

const CapacityPage = lazy(async () => (await import("./capacity/capacity.js")).CapacityPage);
const CapacityOfQueue = lazy(async () => (await import("./capacity/queue.js")).CapacityOfQueue);
const QueuePage = lazy(async () => (await import("./queues/queue.js")).QueuePage);
const QueuesPage = lazy(async () => (await import("./queues/queues.js")).QueuesPage);
const SchedulePage = lazy(async () => (await import("./schedules/schedule.js")).SchedulePage);
const SchedulesPage = lazy(async () => (await import("./schedules/schedules.js")).SchedulesPage);
const WorkerPage = lazy(async () => (await import("./workers/worker.js")).WorkerPage);
const WorkersPage = lazy(async () => (await import("./workers/workers.js")).WorkersPage);

/** @type {Record<string, {title: string, letter: string, all: () => any, one: (name: string) => any}>} */
const ROOMS = {
  queues: { title: "Queues", letter: "q", all: () => html`<${QueuesPage} />`, one: (name) => html`<${QueuePage} queue=${name} />` },
  workers: { title: "Workers", letter: "w", all: () => html`<${WorkersPage} />`, one: (name) => html`<${WorkerPage} name=${name} />` },
  schedules: { title: "Schedules", letter: "s", all: () => html`<${SchedulesPage} />`, one: (name) => html`<${SchedulePage} name=${name} />` },
  capacity: { title: "Capacity", letter: "c", all: () => html`<${CapacityPage} />`, one: (name) => html`<${CapacityOfQueue} queue=${name} />` },
};

export const OPERATION_PLACES = Object.entries(ROOMS).map(([name, { title, letter }]) => ({ title, path: `/${name}`, letter, scope: "read" }));

/** The view at an address, if it is one of these. @param {string} first @param {string} name what stands behind it, empty for all */
export function operationAt(first, name) {
  if (!Object.hasOwn(ROOMS, first)) return null;
  const { title, all, one } = ROOMS[first];
  if (name === "") return { title, key: `/${first}`, view: all };
  return { title: first === "capacity" ? `Capacity of ${name}` : name, key: `/${first}/${name}`, view: () => one(name) };
}
