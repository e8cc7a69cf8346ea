/** Reads what a person enters as the outcome of a call, within the server's limits. */

export const OUTCOME_KINDS = ['text', 'json', 'error'] as const;
export type OutcomeKind = (typeof OUTCOME_KINDS)[number];

export type Outcome = { readonly output: unknown } | { readonly error: string };

const MAX_OUTPUT = 1_000_000;
const MAX_ERROR = 2_000;

/** @returns the outcome, or what is wrong with the text as a sentence */
export function readOutcome(kind: OutcomeKind, text: string): Outcome | string {
  switch (kind) {
    case 'text':
      return tooLong(JSON.stringify(text), MAX_OUTPUT) ?? { output: text };
    case 'error':
      return text.trim() === '' ? 'Enter an error message.' : (tooLong(text, MAX_ERROR) ?? { error: text });
    case 'json':
      try {
        return tooLong(text, MAX_OUTPUT) ?? { output: JSON.parse(text) as unknown };
      } catch (error) {
        return `This is not JSON: ${error instanceof Error ? error.message : String(error)}`;
      }
  }
}

function tooLong(text: string, limit: number): string | undefined {
  return text.length <= limit ? undefined : `At most ${limit.toLocaleString('en-US')} characters can be submitted.`;
}
