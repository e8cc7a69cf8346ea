/** A MongoDB for tests: the one at MONGO_URL, or a minimal stand-in in this process. */
import { startMiniMongod } from './miniMongod.mjs';

export interface TestMongo {
  /** Includes the name of a database that is unique to this test run. */
  readonly url: string;
  readonly isStandIn: boolean;
  stop(): Promise<void>;
}

/** @param options `replicaSet`: the stand-in has change streams. A given MongoDB is as it is */
export async function startTestMongo({ replicaSet = false } = {}): Promise<TestMongo> {
  const database = `bolide_test_${process.pid}_${Date.now()}`;
  const given = process.env['MONGO_URL'];
  if (given !== undefined && given !== '')
    return { url: withDatabase(given, database), isStandIn: false, stop: () => Promise.resolve() };
  const { url, stop } = await startMiniMongod({ replicaSet });
  return { url: `${url}${database}`, isStandIn: true, stop };
}

function withDatabase(url: string, database: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${database}`;
  return parsed.href;
}
