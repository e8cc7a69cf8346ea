/**
 * A simulation in phases: the model decides what each person intends, then what they do. Each person has a memory of
 * their own last responses per phase. If a call fails, the person follows a habit, so every phase completes.
 *
 * npm run example:simulation
 */
import { LLMClient } from '../imports/business/ai/application/services/LLMClient';
import type { BatchResult } from '../imports/business/ai/application/services/LLMClient';
import type { EntityRecord } from '../imports/business/ai/application/services/ResponseChainManager';
import { isLLMError } from '../imports/business/ai/domain/errors/LLMErrors';
import { moduleFromEnvironment } from '../imports/host/moduleFromEnvironment';
import { SIMULATION_NOTICE } from '../imports/host/simulation';

interface Person {
  readonly identity: { readonly id: string; readonly name: string };
  readonly habit: string;
  /** Default: the client's model. */
  readonly model?: string;
  /** Written by the client. Save it with the person to continue in a later session. */
  readonly _openai?: EntityRecord;
}

interface Deed {
  readonly text: string;
  readonly mood: 'calm' | 'eager';
}

const PHASES = ['intention', 'action'] as const;
const DAYS = 3;
/** Responses per phase that a person remembers. Older ones are also deleted at the vendor. */
const MEMORY = 2;
const SCHEMA = {
  type: 'object',
  properties: { text: { type: 'string' }, mood: { enum: ['calm', 'eager'] } },
  required: ['text', 'mood'],
  additionalProperties: false,
} as const;

async function main(): Promise<void> {
  const { module, simulator } = await moduleFromEnvironment(process.env);
  if (simulator !== undefined) console.error(SIMULATION_NOTICE);
  const provider = module.settings.defaultProvider ?? '';
  const people: readonly Person[] = [
    { identity: { id: 'npc:ada', name: 'Ada' }, habit: 'reads a book' },
    { identity: { id: 'npc:bob', name: 'Bob' }, habit: 'bakes bread' },
    // This model does not exist, so Eve always follows her habit. The others are not affected.
    { identity: { id: 'npc:eve', name: 'Eve' }, habit: 'watches the harbour', model: `${provider}/no-such-model` },
  ];
  const client = new LLMClient({
    provider: module.manager,
    userId: 'simulation',
    entities: people,
    defaultDepth: MEMORY,
    model: provider,
  });
  try {
    for (let day = 1; day <= DAYS; day += 1) {
      for (const phase of PHASES) {
        for (const [person, deed] of await runPhase(client, people, phase, day))
          console.log(`day ${day} ${phase.padEnd(9)} ${person.identity.name}: ${deed}`);
      }
    }
  } finally {
    await simulator?.close();
  }
  for (const { identity, _openai } of people)
    console.log(`${identity.name} is saved with ${JSON.stringify(_openai ?? {})}`);
}

/** @returns each person with what they do, in the order of `people` */
async function runPhase(
  client: LLMClient,
  people: readonly Person[],
  phase: string,
  day: number,
): Promise<readonly (readonly [Person, string])[]> {
  const results = await client.createBatch(
    people.map(({ identity, model }) => ({
      instructions: `You are ${identity.name}. Answer in one short sentence.`,
      input: `Day ${day}: what is your ${phase}?`,
      schema: SCHEMA,
      entityKey: `${phase}:${identity.id}`,
      ...(model === undefined ? {} : { model }),
    })),
  );
  return people.map((person, index) => [person, deedOf(person, results[index])]);
}

function deedOf({ habit }: Person, result: BatchResult<Deed> | undefined): string {
  if (result === undefined || isLLMError(result)) return `${habit} (by habit: ${result?.code ?? 'no result'})`;
  return `${result.value.text} (${result.value.mood})`;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
