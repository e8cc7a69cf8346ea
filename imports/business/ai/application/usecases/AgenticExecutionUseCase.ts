/** An answer after all the tools that the model called, for somebody who may use provider and tools. */
import type { Actor } from '../../domain/types/Actor';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { RunLauncher, StartedRequest, UseRequest } from './RunLauncher';

export interface AgenticRequest extends UseRequest {
  /** Names of the server's tools; callers define none. */
  readonly tools: readonly string[];
  readonly maxIterations?: number;
}

export class AgenticExecutionUseCase {
  private readonly launcher: RunLauncher;

  constructor(launcher: RunLauncher) {
    this.launcher = launcher;
  }

  /**
   * @returns the last answer, with the usage of the whole run
   * @throws what `RunLauncher.launch` and `AgenticLoop.execute` throw
   */
  async execute(actor: Actor, request: AgenticRequest, signal?: AbortSignal): Promise<LLMResponse> {
    const { done } = await this.launch(actor, request, signal);
    return done;
  }

  /**
   * Begins the run and goes on without waiting for it; its events and its record tell the rest. @throws what
   * `RunLauncher.launch` throws
   */
  async start(actor: Actor, request: AgenticRequest): Promise<{ readonly executionId: string }> {
    const { executionId } = await this.launch(actor, request, undefined, true);
    return { executionId };
  }

  /** @param stream live text is told as events: for runs that somebody may watch */
  private launch(
    actor: Actor,
    { tools, maxIterations, ...request }: AgenticRequest,
    signal?: AbortSignal,
    stream = false,
  ): Promise<StartedRequest<LLMResponse>> {
    return this.launcher.launch(actor, request, {
      tools,
      args: { operation: 'generateWithTools', tools, ...(maxIterations === undefined ? {} : { maxIterations }) },
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
