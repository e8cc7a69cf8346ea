/**
 * A simulation's phase: every person is asked what they intend, then what they do. Each person remembers their own chain of answers, and
 * one that cannot be asked falls back to a habit, so that the phase always ends with everybody.
 *
 * npx tsx examples/simulation.ts
 */
import { LLMClient } from '../imports/business/ai/application/services/LLMClient';
import { isLLMError } from '../imports/business/ai/domain/errors/LLMErrors';
import { moduleFromEnvironment, SIMULATION_NOTICE } from '../server/moduleFromEnvironment';

interface Person {
  readonly identity: { readonly id: string; readonly name: string };
  readonly habit: string;
  /** Default: everybody's. */
  readonly model?: string;
}

const PEOPLE: readonly Person[] = [
  { identity: { id: 'npc:ada', name: 'Ada' }, habit: 'reads a book' },
  { identity: { id: 'npc:bob', name: 'Bob' }, habit: 'bakes bread' },
  // Nobody has this model, so Eve always falls back to her habit.
  { identity: { id: 'npc:eve', name: 'Eve' }, habit: 'watches the harbour', model: 'no-such-model' },
];

const PHASES = ['intention', 'action'] as const;
const SCHEMA = { type: 'object', properties: { text: { type: 'string' }, mood: { enum: ['calm', 'eager'] } }, required: ['text', 'mood'], additionalProperties: false } as const;

async function main(): Promise<void> {
  const { module, simulator } = await moduleFromEnvironment(process.env);
  if (simulator !== undefined) console.error(SIMULATION_NOTICE);
  const provider = module.settings.defaultProvider ?? '';
  const entities = structuredClone(PEOPLE);
  const client = new LLMClient({ provider: module.manager, userId: 'simulation', entities, defaultDepth: 3, model: provider });
  try {
    for (const day of [1, 2]) {
      for (const phase of PHASES) {
        const results = await client.createBatch(
          entities.map(({ identity, model }) => ({
            instructions: `You are ${identity.name}. Answer in one short sentence.`,
            input: `Day ${day}: what is your ${phase}?`,
            schema: SCHEMA,
            entityKey: `${phase}:${identity.id}`,
            ...(model === undefined ? {} : { model: `${provider}/${model}` }),
          })),
        );
        results.forEach((result, index) => {
          const person = entities[index];
          if (person === undefined) return;
          const said = isLLMError(result) ? `${person.habit} (${result.code}, so by habit)` : `${result.value.text} (${result.value.mood})`;
          console.log(`day ${day} ${phase.padEnd(9)} ${person.identity.name}: ${said}`);
        });
      }
    }
    // Chains and usage stand on the people themselves, ready to be saved with them.
    console.log(JSON.stringify(entities, undefined, 2));
  } finally {
    await simulator?.close();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
