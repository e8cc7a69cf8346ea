/**
 * A process that makes many concurrent calls on a budget that it shares with others. Argument: BudgetChildOptions as
 * JSON.
 */
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import { isLLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { BudgetStore } from '../../imports/business/limits/domain/BudgetStore';
import { BUDGETS, DocumentBudgetStore } from '../../imports/business/limits/infrastructure/DocumentBudgetStore';
import { openMongoDatabase } from '../../imports/database/mongo/MongoDatabase';

export interface BudgetChildOptions {
  readonly mongoUrl: string;
  readonly baseURL: string;
  readonly calls: number;
  readonly limit: number;
}

/** The number of calls per outcome: `answered`, or the code of an error. */
export type Outcomes = Readonly<Record<string, number>>;

export function budgetModule(baseURL: string, limit: number, budgets: BudgetStore): AIModule {
  const row = {
    id: 'openai',
    vendor: 'openai',
    apiKey: 'test-key',
    baseURL,
    allowPrivateHosts: true,
    defaultModel: 'gpt-5-mini',
  } as const;
  return createAIModule({ providers: [row], budgets: { day: { calls: limit } } }, { budgets });
}

export async function generateConcurrently(module: AIModule, calls: number, userId = 'ann'): Promise<Outcomes> {
  const outcomes: Record<string, number> = {};
  await Promise.all(
    Array.from({ length: calls }, async () => {
      const outcome = await module.manager.generate(userId, { input: 'Say hello.' }).then(
        () => 'answered',
        (error: unknown) => (isLLMError(error) ? error.code : String(error)),
      );
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }),
  );
  return outcomes;
}

async function main({ mongoUrl, baseURL, calls, limit }: BudgetChildOptions): Promise<void> {
  const database = await openMongoDatabase(mongoUrl);
  const module = budgetModule(baseURL, limit, new DocumentBudgetStore(database.collection(BUDGETS)));
  process.send?.('ready');
  await new Promise((resolve) => process.once('message', resolve));
  const outcomes = await generateConcurrently(module, calls);
  await database.close();
  process.send?.(outcomes, () => process.disconnect());
}

if (require.main === module && process.send !== undefined) {
  main(JSON.parse(process.argv[2] ?? '{}') as BudgetChildOptions).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
}
