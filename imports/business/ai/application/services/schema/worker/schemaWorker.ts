/** The program of a schema worker. `npm run build:worker` bundles it into `schemaWorkerSource.ts`. */
import { parentPort } from 'node:worker_threads';
import { runSchemaJob } from '../schemaJob';
import type { SchemaJob } from '../schemaJob';

parentPort?.on('message', (job: SchemaJob) => {
  parentPort?.postMessage(runSchemaJob(job));
});
parentPort?.postMessage('ready');
