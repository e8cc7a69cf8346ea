/** Runs the agentic loop for an actor who may use the provider and the tools. */
import type { FunctionTool } from '../../domain/entities/Tool';
import type { Actor } from '../../domain/types/Actor';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { RunLauncher, StartedRequest, UseRequest } from './RunLauncher';

export interface AgenticRequest extends UseRequest {
  /** Names of the server's tools. Callers cannot define tools that the server executes. */
  readonly tools: readonly string[];
  /** Tools that the caller executes itself: it submits the results of their calls. */
  readonly clientTools?: readonly FunctionTool[];
  readonly maxIterations?: number;
}

export class AgenticExecutionUseCase {
  private readonly launcher: RunLauncher;

  constructor(launcher: RunLauncher) {
    this.launcher = launcher;
  }

  /**
   * @returns the final response, with the usage of the entire run
   * @throws whatever `RunLauncher.launch` and `AgenticLoop.execute` throw
   */
  async execute(actor: Actor, request: AgenticRequest, signal?: AbortSignal): Promise<LLMResponse> {
    const { done } = await this.launch(actor, request, signal);
    return done;
  }

  /**
   * Starts a run without waiting for its end, which is reported by events and stored.
   * @throws whatever `RunLauncher.launch` throws
   */
  async start(actor: Actor, request: AgenticRequest): Promise<{ readonly executionId: string }> {
    const { executionId } = await this.launch(actor, request, undefined, true);
    return { executionId };
  }

  /** @param stream whether live text is emitted as events, for people who watch the run */
  private launch(
    actor: Actor,
    { tools, clientTools, maxIterations, ...request }: AgenticRequest,
    signal?: AbortSignal,
    stream = false,
  ): Promise<StartedRequest<LLMResponse>> {
    return this.launcher.launch(actor, request, {
      tools,
      ...(clientTools === undefined ? {} : { clientTools }),
      args: {
        operation: 'generateWithTools',
        tools,
        ...(clientTools === undefined ? {} : { clientTools }),
        ...(maxIterations === undefined ? {} : { maxIterations }),
      },
      run: async ({ options, execute }) => {
        const limits = {
          ...(maxIterations === undefined ? {} : { maxIterations }),
          ...(signal === undefined ? {} : { signal }),
        };
        const { response, usage } = await execute({ ...options, ...limits, stream });
        return { ...response, usage };
      },
    });
  }
}
