/** Generates a value of a schema for an actor who may use the provider. */
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { Actor } from '../../domain/types/Actor';
import { toJsonSchema } from '../services/schema/toJsonSchema';
import type { AnySchema } from '../../domain/types/Schemas';
import { generateStructured } from '../services/structured/StructuredOutput';
import type { AuthorizedRun, RunCost } from './RequestRuns';
import type { RunLauncher, UseRequest } from './RunLauncher';

export interface JSONRequest<Output = unknown> extends UseRequest {
  readonly schema: AnySchema<Output>;
}

export class GenerateJSONUseCase {
  private readonly launcher: RunLauncher;
  private readonly provider: Pick<ILLMProvider, 'getCapabilities'>;

  constructor(launcher: RunLauncher, provider: Pick<ILLMProvider, 'getCapabilities'>) {
    this.launcher = launcher;
    this.provider = provider;
  }

  /**
   * @throws StructuredOutputError if the value violates the schema even after a correction
   * @throws whatever `RunLauncher.launch` and `AgenticLoop.execute` throw
   */
  async execute<Output>(actor: Actor, { schema, ...request }: JSONRequest<Output>): Promise<Output> {
    const { done } = await this.launcher.launch(actor, request, {
      tools: [],
      args: { operation: 'generateJSON', schema: toJsonSchema(schema).jsonSchema },
      run: async ({ options, spent, execute }) => {
        const { value } = await generateStructured({
          generate: async (requested) => {
            // The first response and its correction are two runs.
            const result = await execute({
              ...options,
              ...requested,
              tools: [],
              ...budgetLeft(options.budget, spent),
            });
            return { response: result.response, conversation: result.transcript, usage: result.usage };
          },
          options: omitUndefined({ model: options.model, input: options.input, instructions: options.instructions }),
          schema,
          schemaOf: actor.userId,
          capabilities: this.provider.getCapabilities(options.model),
        });
        return value;
      },
    });
    return done;
  }
}

/** Calls and tokens left for the correction. Money is limited for each run on its own. */
export function budgetLeft(
  budget: AuthorizedRun['options']['budget'],
  { usage, iterations }: Readonly<RunCost>,
): Pick<AuthorizedRun['options'], 'budget'> {
  if (budget === undefined) return {};
  const { calls, tokens } = budget;
  return {
    budget: {
      ...budget,
      ...omitUndefined({
        calls: calls === undefined ? undefined : Math.max(0, calls - iterations),
        tokens: tokens === undefined ? undefined : Math.max(0, tokens - usage.total_tokens),
      }),
    },
  };
}
