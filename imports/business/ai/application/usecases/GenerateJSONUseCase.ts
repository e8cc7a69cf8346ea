/** A value of a schema from a provider, for somebody who may use it. */
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { Actor } from '../../domain/types/Actor';
import { toJsonSchema } from '../services/schema/AnySchema';
import type { AnySchema } from '../services/schema/AnySchema';
import { generateStructured } from '../services/structured/StructuredOutput';
import type { AuthorizedRun, RunLauncher, RunCost, UseRequest } from './RunLauncher';

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
   * @throws StructuredOutputError when the answer breaks the schema, and the repaired one too; what
   *   `RunLauncher.launch` and
   * `AgenticLoop.execute` throw
   */
  async execute<Output>(
    actor: Actor,
    { schema, ...request }: JSONRequest<Output>,
    signal?: AbortSignal,
  ): Promise<Output> {
    const { done } = await this.launcher.launch(actor, request, {
      tools: [],
      args: { operation: 'generateJSON', schema: toJsonSchema(schema).jsonSchema },
      run: async ({ options, spent, execute }) => {
        const { value } = await generateStructured({
          generate: async (requested) => {
            // The answer and its repair are two runs.
            const result = await execute({
              ...options,
              ...requested,
              tools: [],
              ...budgetLeft(options.budget, spent),
              ...(signal === undefined ? {} : { signal }),
            });
            return { response: result.response, conversation: result.transcript, usage: result.usage };
          },
          options: {
            model: options.model,
            input: options.input,
            ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
          },
          schema,
          capabilities: this.provider.getCapabilities(options.model),
        });
        return value;
      },
    });
    return done;
  }
}

/** Calls and tokens that the repair may use; money is held against what one run costs. */
function budgetLeft(
  budget: AuthorizedRun['options']['budget'],
  { usage, iterations }: RunCost,
): Pick<AuthorizedRun['options'], 'budget'> {
  if (budget === undefined) return {};
  const { calls, tokens } = budget;
  return {
    budget: {
      ...budget,
      ...(calls === undefined ? {} : { calls: Math.max(0, calls - iterations) }),
      ...(tokens === undefined ? {} : { tokens: Math.max(0, tokens - usage.total_tokens) }),
    },
  };
}
