/**
 * A server that enqueues jobs with keys, as another one does, and whose handler records each end. Arguments: the URL of
 * MongoDB, and a directory.
 */
import { MongoClient } from 'mongodb';
import { startServer } from '../../imports/host/node/startServer';

export const JOBS = 60;
export const REPORTS = 'reports';

export interface ReportDocument {
  readonly job: number;
  readonly pid: number;
}

async function main([mongoUrl = '', directory = '']: readonly string[]): Promise<void> {
  const client = await MongoClient.connect(mongoUrl);
  const reports = client.db().collection<ReportDocument>(REPORTS);
  const env = { PORT: '0', MONGO_URL: mongoUrl, DATA_DIR: directory, JOBS_ENGINE: 'local', JOBS_CONCURRENCY: '4' };
  const server = await startServer({ env, dashboard: false });
  const echo = server.host.jobs.define<number>({
    name: 'echo',
    run: (job) => ({ userId: 'nightly', providerId: 'openai', input: `Echo ${job}` }),
    onComplete: async ({ data: job }) => {
      await reports.insertOne({ job, pid: process.pid });
      process.send?.('reported');
    },
  });
  for (let job = 0; job < JOBS; job += 1) await server.host.jobs.enqueue(echo, job, { key: `job ${job}` });
  process.once('SIGTERM', () => void server.close().then(() => process.disconnect()));
}

if (require.main === module && process.send !== undefined) {
  process.on('disconnect', () => process.exit(0));
  main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
}
