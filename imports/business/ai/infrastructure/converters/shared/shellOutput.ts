/** The result of a shell tool: what each command wrote, and how it ended. */
import { isObject, isObjectList } from '../../../domain/util/json';
import type { JsonObject } from '../../../domain/types/VendorTypes';

export interface ShellCommandOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome: { readonly type: 'exit'; readonly exit_code: number } | { readonly type: 'timeout' };
}

/**
 * Reads the text that a run stores for a call.
 * @param hasSucceeded whether a text of another form is the output of a command, or an error
 */
export function parseShellOutput(text: string, hasSucceeded: boolean): readonly ShellCommandOutput[] {
  const parsed = hasSucceeded ? parseOutputs(text) : undefined;
  if (parsed !== undefined) return parsed.map(toOutput);
  return hasSucceeded
    ? [{ stdout: text, stderr: '', outcome: { type: 'exit', exit_code: 0 } }]
    : [{ stdout: '', stderr: text, outcome: { type: 'exit', exit_code: 1 } }];
}

/** What a terminal would show. */
export function shellOutputText(outputs: readonly ShellCommandOutput[]): string {
  return outputs
    .map(({ stdout, stderr, outcome }) =>
      [stdout, stderr, endOf(outcome)].filter((text) => text !== '').join(stdout.endsWith('\n') ? '' : '\n'),
    )
    .join('\n');
}

function endOf(outcome: ShellCommandOutput['outcome']): string {
  if (outcome.type === 'timeout') return '[timed out]';
  return outcome.exit_code === 0 ? '' : `[exit code ${outcome.exit_code}]`;
}

function parseOutputs(text: string): readonly JsonObject[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const outputs = isObject(value) ? value['output'] : undefined;
    return isObjectList(outputs) ? outputs : undefined;
  } catch {
    // A result that was too long is cut, and is sent as it is.
    return undefined;
  }
}

function toOutput({ stdout, stderr, outcome }: JsonObject): ShellCommandOutput {
  const isTimeout = isObject(outcome) && outcome['type'] === 'timeout';
  const exit_code = isObject(outcome) && typeof outcome['exit_code'] === 'number' ? outcome['exit_code'] : 0;
  return {
    stdout: typeof stdout === 'string' ? stdout : '',
    stderr: typeof stderr === 'string' ? stderr : '',
    outcome: isTimeout ? { type: 'timeout' } : { type: 'exit', exit_code },
  };
}
