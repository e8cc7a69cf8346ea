/** Maps the status of an interaction. https://ai.google.dev/api/interactions-api#Resource:Interaction */
import type { Interactions } from '@google/genai';
import type { ResponseStatus } from '../../../../domain/types/ResponsesAPITypes';

export interface Outcome {
  readonly status: ResponseStatus;
  readonly reason?: 'max_output_tokens' | 'budget_exceeded';
}

const CUT_OFF = { status: 'incomplete', reason: 'max_output_tokens' } as const;

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  completed: { status: 'completed' },
  // A call waits for its result.
  requires_action: { status: 'completed' },
  incomplete: CUT_OFF,
  requires_continuation: CUT_OFF,
  budget_exceeded: { status: 'incomplete', reason: 'budget_exceeded' },
  failed: { status: 'failed' },
  cancelled: { status: 'cancelled' },
  queued: { status: 'queued' },
  in_progress: { status: 'in_progress' },
} satisfies Partial<Record<Interactions.Interaction['status'], Outcome>>;

/** An unknown status counts as completed, with a warning. */
export function outcomeOf(status: unknown, warnings: string[]): Outcome {
  if (status === 'requires_continuation')
    warnings.push(
      'The vendor stopped at its limit for one request. The "continuation_token" among the vendor\'s fields resumes it.',
    );
  const known = typeof status === 'string' && Object.hasOwn(OUTCOMES, status) ? OUTCOMES[status] : undefined;
  if (known !== undefined) return known;
  warnings.push(
    typeof status === 'string'
      ? `Unknown status "${status}"; the response was treated as completed.`
      : 'The response has no status; it was treated as completed.',
  );
  return { status: 'completed' };
}
