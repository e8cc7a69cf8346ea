/**
 * A simulation's phase: every person is asked what they intend, then what they do. Each person remembers their own
 * last answers, phase by phase, and one that cannot be asked falls back to a habit, so that a phase always ends
 * with everybody.
 *
 * npm run example:simulation
 */
import { LLMClient } from '../imports/business/ai/application/services/LLMClient';
import type { BatchResult } from '../imports/business/ai/application/services/chains/batch';
import type { EntityRecord } from '../imports/business/ai/application/services/ResponseChainManager';
import { isLLMError } from '../imports/business/ai/domain/errors/LLMErrors';
import { moduleFromEnvironment, SIMULATION_NOTICE } from '../imports/startup/moduleFromEnvironment';

interface Person {
  readonly identity: { readonly id: string; readonly name: string };
  readonly habit: string;
  /** Default: everybody's. */
  readonly model?: string;
  /** Written by the client: saved with the person, it is where the next session goes on. */
  readonly _openai?: EntityRecord;
}

interface Deed {
  readonly text: string;
  readonly mood: 'calm' | 'eager';
}

const PHASES = ['intention', 'action'] as const;
const DAYS = 3;
/** Answers of one phase that a person remembers; older ones are deleted at the vendor too. */
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
    // No vendor has this model, so Eve always falls back to her habit, and the others don't notice.
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

/** What everybody does, in everybody's order. */
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
  if (result === undefined || isLLMError(result)) return `${habit} (by habit: ${result?.code ?? 'not asked'})`;
  return `${result.value.text} (${result.value.mood})`;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
