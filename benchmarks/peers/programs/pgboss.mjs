// pg-boss.
import { PgBoss } from "pg-boss";

const [dsn, action, count = "0", tasks = "1"] = process.argv.slice(2);
const boss = new PgBoss({ connectionString: dsn, max: Math.max(10, Number(tasks)), useListenNotify: action === "work" });
boss.on("error", console.error);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
await boss.start();

if (action === "work") {
  await boss.work("noop", { batchSize: 500, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 }, async (jobs) => {
    for (const job of jobs) if (job.data.at) console.log(Date.now() - job.data.at);
  });
} else {
  if (action === "prepare") await boss.createQueue("noop", { notify: true });
  else {
    const started = performance.now(), cpu = process.cpuUsage();
    if (action === "bulk") for (let n = 0; n < count / 1000; n++) await boss.insert("noop", Array.from({ length: 1000 }, () => ({ data: {} })));
    else if (action === "ping") for (let n = 0; n < count; n++) { await boss.send("noop", { at: Date.now() }); await sleep(50); }
    else await Promise.all(Array.from({ length: Number(tasks) }, async () => { for (let n = 0; n < count / tasks; n++) await boss.send("noop", {}); }));
    const used = process.cpuUsage(cpu);
    console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000, cpu: (used.user + used.system) / 1e6 }));
  }
  await boss.stop({ graceful: false });
}
