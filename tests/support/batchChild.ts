/** A process that has requests answered in a vendor's batch. Argument: BatchChildOptions as JSON. */
import { LLMClient } from '../../imports/business/ai/application/services/LLMClient';
import { isLLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { VendorName, WireName } from '../../imports/business/ai/domain/types/VendorTypes';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import {
  DocumentBatchStore,
  BATCHES,
} from '../../imports/business/ai/infrastructure/persistence/batches/DocumentBatchStore';
import { BUDGETS, DocumentBudgetStore } from '../../imports/business/limits/infrastructure/DocumentBudgetStore';
import { openMongoDatabase } from '../../imports/database/mongo/MongoDatabase';

export interface BatchChildOptions {
  readonly mongoUrl: string;
  readonly baseURL: string;
  readonly vendor: VendorName;
  readonly wire: WireName;
  readonly model: string;
  readonly userId: string;
  readonly requests: number;
  /** Dies after so many results. */
  readonly dieAfter?: number;
}

/** What became of each request: its text, or the code of its error. */
export type BatchOutcomes = readonly string[];

async function main({ mongoUrl, ...options }: BatchChildOptions): Promise<void> {
  const { baseURL, vendor, wire, model, userId, requests, dieAfter } = options;
  const database = await openMongoDatabase(mongoUrl);
  const module = createAIModule(
    {
      providers: [{ vendor, wire, defaultModel: model, apiKey: 'test-key', baseURL, allowPrivateHosts: true }],
      budgets: { day: { calls: 100_000 } },
    },
    {
      batches: new DocumentBatchStore(database.collection(BATCHES)),
      budgets: new DocumentBudgetStore(database.collection(BUDGETS)),
    },
  );
  const client = new LLMClient({ provider: module.manager, userId, model: vendor });
  const results = await client.createBatch(
    Array.from({ length: requests }, (_, n) => ({ input: `Echo ${n}` })),
    {
      mode: 'vendor',
      batchId: 'nightly',
      poll: { first: 5, most: 20 },
      leaseMs: 300,
      graceMs: 50,
      onProgress: (done) => {
        if (done === dieAfter) process.kill(process.pid, 'SIGKILL');
      },
    },
  );
  await module.close();
  await database.close();
  process.send?.(
    results.map((result) => (isLLMError(result) ? `${result.code}: ${result.message}` : result.value)),
    () => process.disconnect(),
  );
}

if (process.argv[2] !== undefined)
  main(JSON.parse(process.argv[2]) as BatchChildOptions).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
