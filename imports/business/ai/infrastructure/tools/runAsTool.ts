/**
 * A tool whose calls are runs: a model hands a part of its task to another one, with tools and instructions of its own.
 */
import type { RunOptions } from '../../domain/types/RunOptions';
import type { ToolCallContext } from '../../domain/interfaces/IToolExecutor';
import type { RegisteredTool } from './ToolRegistry';

export interface RunToolOptions extends Pick<RegisteredTool, 'name' | 'description' | 'blocking' | 'delivery'> {
  /** Milliseconds after which the run is cancelled and the call times out. Default: 24 hours. */
  readonly timeout?: number;
  /** JSON Schema, SimpleSchema or any Standard Schema of the arguments. Default: `input`, a text. */
  readonly parameters?: unknown;
  /**
   * The run that a call starts. Called again, with the same arguments, if the process died before the run was recorded.
   * Default: the arguments' `input`
   * @returns as for `AgenticLoop.execute`; the model is the calling run's if none is named, and so is the user
   */
  readonly run?: ((args: never, context: ToolCallContext) => ChildOptions | Promise<ChildOptions>) | undefined;
}

/** The options of `AgenticLoop.execute`, with an optional model. */
export type ChildOptions = Omit<RunOptions, 'model' | 'signal' | 'origin'> & Partial<Pick<RunOptions, 'model'>>;

const INPUT = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The task, with all that there is to know about it.' } },
  required: ['input'],
  additionalProperties: false,
} as const;

/**
 * Register it with a `ToolRegistry`. The call's result is the text of the run's answer. The run is cancelled with the
 * run that called it, and its end reaches the call once, whichever processes they are in.
 */
export function runAsTool({ run = ownInput, parameters = INPUT, ...options }: RunToolOptions): RegisteredTool {
  return { ...options, parameters, kind: 'run', execute: run };
}

function ownInput({ input }: { readonly input: string }): ChildOptions {
  return { input };
}
