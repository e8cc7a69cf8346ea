/**
 * A nightly job: a report for each city, as a batch of queued runs in the name of the job itself. It may be killed
 * at any point: started again it goes on where it was, and makes no report twice. Without --now it waits for three
 * o'clock.
 *
 * DATA_DIR=.data/nightly npm run example:nightly -- [--now [2026-11-22]]
 */
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Actor } from '../imports/business/ai/domain/types/Actor';
import { createAIModule } from '../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../imports/business/ai/infrastructure/factories/createAIModule';
import { openRunStore } from '../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { openDatabase } from '../imports/business/ai/infrastructure/persistence/databases/openDatabase';
import { ToolRegistry } from '../imports/business/ai/infrastructure/tools/ToolRegistry';
import { openJobQueue, readJobSettings } from '../imports/startup/settings/jobs';
import { valueOf } from '../imports/startup/settings/vendors';
import { openSettings, SIMULATION_NOTICE } from '../imports/startup/moduleFromEnvironment';

/** Nobody asked for it but the server: such an actor may do what admins may, and pays from a budget of its own. */
const NIGHTLY: Actor = { userId: 'nightly', source: 'job' };
const CITIES = ['Lisbon', 'Oslo', 'Rome', 'Paris', 'Vienna', 'Madrid'];
const DATA_DIR = process.env['DATA_DIR'] ?? '.data/nightly';
const REPORTS = join(DATA_DIR, 'reports.txt');

/** The key is the same for every attempt at a call, so what was done before a crash is known. */
async function saveReport({ city }: { readonly city: string }, key: string): Promise<string> {
  const saved = await readFile(REPORTS, 'utf8').catch(() => '');
  if (!saved.includes(key)) await appendFile(REPORTS, `${city} ${key}\n`);
  console.log(`saved ${city}`);
  return 'saved';
}

/** Queues the day's runs. The same day again queues the same runs: their request ids say which they are. */
async function queueReports(module: AIModule, day: string): Promise<readonly string[]> {
  const queued = CITIES.map(async (city) => {
    const request = {
      requestId: `report-${day}-${city}`,
      providerId: module.settings.defaultProvider ?? '',
      input: `Save the report of ${city}.`,
      tools: ['save_report'],
    };
    const { executionId } = await module.useCases.queueRun.execute(NIGHTLY, request);
    return executionId;
  });
  return Promise.all(queued);
}

async function main(): Promise<void> {
  await mkdir(DATA_DIR, { recursive: true });
  const { settings, simulator } = await openSettings(process.env);
  if (simulator !== undefined) console.error(SIMULATION_NOTICE);
  const database = await openDatabase({ ...process.env, DATA_DIR });
  const tools = new ToolRegistry().register({
    name: 'save_report',
    description: 'Saves the report of a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'A city, such as Lisbon.' } },
      required: ['city'],
      additionalProperties: false,
    },
    idempotent: true,
    execute: (args: { city: string }, { idempotencyKey }) => saveReport(args, idempotencyKey),
  });
  const jobs = await openJobQueue(
    { concurrency: 2, ...readJobSettings((name) => valueOf(process.env, name)) },
    database,
  );
  const module = createAIModule(settings, { tools, jobs, runs: await openRunStore(database) });
  await jobs.schedule({ name: 'reports', cron: '0 3 * * *', timezone: 'Europe/Lisbon' }, async () => {
    await queueReports(module, new Date().toISOString().slice(0, 10));
  });
  // What the last life of this process left behind is taken over first.
  await module.recovery.start();
  await module.queue.start();
  const [flag, day = new Date().toISOString().slice(0, 10)] = process.argv.slice(2);
  if (flag !== '--now') {
    console.log('waiting for three o’clock');
    return;
  }
  const runs = await queueReports(module, day);
  const results = await Promise.all(runs.map((executionId) => module.loop.waitForResult(executionId)));
  console.log(
    `${results.length} reports of ${day} are done, in ${results.reduce((sum, { iterations }) => sum + iterations, 0)} model calls`,
  );
  await module.close();
  await database.close();
  await simulator?.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
