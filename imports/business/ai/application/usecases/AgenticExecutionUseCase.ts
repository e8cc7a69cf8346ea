/** Runs the agentic loop for an actor who may use the provider and the tools. */
import type { FunctionTool } from '../../domain/entities/Tool';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { Actor } from '../../domain/types/Actor';
import type { RunDurability } from '../../domain/types/RunRecords';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../domain/types/VendorTypes';
import { assertUntrustedSchema } from '../services/schema/checkSchema';
import { structuredOptions } from '../services/structured/StructuredOutput';
import type { RunLauncher, StartedRequest, UseRequest } from './RunLauncher';

export interface AgenticRequest extends UseRequest {
  /** Names of the server's tools. Callers cannot define tools that the server executes. */
  readonly tools: readonly string[];
  /** Tools that the caller executes itself: it submits the results of their calls. */
  readonly clientTools?: readonly FunctionTool[];
  /**
   * JSON Schema of the answer. The model is constrained to it as far as it can be; a run that ends with an answer that
   * violates it is complete all the same.
   */
  readonly schema?: JsonObject;
  readonly maxIterations?: number;
  /** When the run's progress is stored. Default: at each step. */
  readonly durability?: RunDurability;
}

export class AgenticExecutionUseCase {
  private readonly launcher: RunLauncher;
  private readonly starting: RunLauncher;
  private readonly provider: Pick<ILLMProvider, 'getCapabilities'>;

  /** @param starting launches the runs that nobody waits for. Default: as the others */
  constructor(launcher: RunLauncher, provider: Pick<ILLMProvider, 'getCapabilities'>, starting = launcher) {
    this.launcher = launcher;
    this.starting = starting;
    this.provider = provider;
  }

  /**
   * @returns the final response, with the usage of the entire run
   * @throws whatever `RunLauncher.launch` and `AgenticLoop.execute` throw
   */
  async execute(actor: Actor, request: AgenticRequest, signal?: AbortSignal): Promise<LLMResponse> {
    const { done } = await this.launch(this.launcher, actor, request, signal);
    return done;
  }

  /**
   * Starts a run without waiting for its end, which is reported by events and stored. While the process shuts down,
   * another one starts it.
   * @throws LLMInvalidRequestError for an invalid schema; whatever `RunLauncher.launch` throws
   */
  async start(actor: Actor, request: AgenticRequest): Promise<{ readonly executionId: string }> {
    const { executionId } = await this.launch(this.starting, actor, request, undefined, true);
    return { executionId };
  }

  /** @param stream whether live text is emitted as events, for people who watch the run */
  private async launch(
    launcher: RunLauncher,
    actor: Actor,
    { tools, clientTools, schema, maxIterations, durability, ...request }: AgenticRequest,
    signal?: AbortSignal,
    stream = false,
  ): Promise<StartedRequest<LLMResponse>> {
    const chosen = omitUndefined({ maxIterations, durability });
    if (schema !== undefined) await assertUntrustedSchema(schema, actor.userId);
    return launcher.launch(actor, request, {
      tools,
      clientTools,
      args: omitUndefined({ operation: 'generateWithTools', tools, clientTools, schema, ...chosen }),
      run: async ({ options, execute }) => {
        const structured =
          schema === undefined
            ? options
            : structuredOptions(options, schema, this.provider.getCapabilities(options.model));
        const { response, usage } = await execute({ ...structured, ...chosen, ...omitUndefined({ signal }), stream });
        return { ...response, usage };
      },
    });
  }
}
