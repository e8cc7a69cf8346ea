/** A shell in which a model runs commands: OpenAI's `shell`, Anthropic's `bash`, and a function elsewhere. */
import type { ToolCallContext } from '../../../domain/interfaces/IToolExecutor';
import type { RegisteredTool } from '../ToolRegistry';
import type { NativeToolOptions } from './NativeToolOptions';

export interface ShellInput {
  /** Empty if the shell is only to be restarted. Commands may run in parallel. */
  readonly commands: readonly string[];
  /** Milliseconds that the model gives each command. */
  readonly timeout_ms?: number;
  /** Characters that the model wants of each output; OpenAI cuts the output itself. */
  readonly max_output_length?: number;
  /** Where the commands run, if the model chooses it. */
  readonly working_directory?: string;
  /** Whether the model wants a new shell. */
  readonly restart?: boolean;
}

/** What a command wrote, and how it ended. A string is what it wrote, and it has succeeded. */
export type ShellResult =
  | string
  | {
      readonly stdout?: string;
      readonly stderr?: string;
      /** Default: 0. */
      readonly exitCode?: number;
      readonly timedOut?: boolean;
    };

export interface ShellToolOptions extends Omit<NativeToolOptions<ShellInput>, 'execute'> {
  /** Returns one result, or one for each command. */
  readonly execute: (
    input: ShellInput,
    context: ToolCallContext,
  ) => ShellResult | readonly ShellResult[] | Promise<ShellResult | readonly ShellResult[]>;
}

/** Commands run where `execute` runs them: use a sandbox, or `needsApproval`. */
export function shellTool({ execute, ...options }: ShellToolOptions): RegisteredTool {
  return {
    name: 'shell',
    description: 'Runs shell commands and returns what they write.',
    parameters: {
      type: 'object',
      properties: {
        commands: { type: 'array', items: { type: 'string' }, description: 'Commands, each for a shell of its own.' },
        timeout_ms: { type: 'integer', minimum: 1, description: 'How long each command may take, in milliseconds.' },
        max_output_length: { type: 'integer', minimum: 1 },
        working_directory: { type: 'string' },
        restart: { type: 'boolean' },
      },
      required: ['commands'],
      additionalProperties: false,
    },
    native: { type: 'shell' },
    ...options,
    execute: async (input: ShellInput, context) => {
      const result = await execute(input, context);
      return { output: (isList(result) ? result : [result]).map(toOutput) };
    },
  };
}

function isList(result: ShellResult | readonly ShellResult[]): result is readonly ShellResult[] {
  return Array.isArray(result);
}

/** The form of a result in which OpenAI receives it. */
function toOutput(result: ShellResult): unknown {
  const {
    stdout = '',
    stderr = '',
    exitCode = 0,
    timedOut = false,
  } = typeof result === 'string' ? { stdout: result } : result;
  return { stdout, stderr, outcome: timedOut ? { type: 'timeout' } : { type: 'exit', exit_code: exitCode } };
}
