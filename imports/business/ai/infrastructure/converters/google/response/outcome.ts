/** Maps a response's `finishReason` or `blockReason` to its status. */
export type Outcome =
  | { readonly status: 'completed' }
  | { readonly status: 'incomplete'; readonly reason: 'max_output_tokens' | 'content_filter' }
  | { readonly status: 'failed'; readonly message: string; readonly retryable: boolean };

const COMPLETED = { status: 'completed' } as const;
const TRUNCATED = { status: 'incomplete', reason: 'max_output_tokens' } as const;
export const FILTERED = { status: 'incomplete', reason: 'content_filter' } as const;

/** https://ai.google.dev/api/generate-content#FinishReason, `FinishReason` of @google/genai, and those of Vertex AI. */
const OUTCOMES: Readonly<Record<string, Outcome>> = {
  STOP: COMPLETED,
  MAX_TOKENS: TRUNCATED,
  /** The limit of a single request: the next one could continue. */
  CONTINUATION: TRUNCATED,
  SAFETY: FILTERED,
  RECITATION: FILTERED,
  LANGUAGE: FILTERED,
  BLOCKLIST: FILTERED,
  PROHIBITED_CONTENT: FILTERED,
  SPII: FILTERED,
  MODEL_ARMOR: FILTERED,
  IMAGE_SAFETY: FILTERED,
  IMAGE_PROHIBITED_CONTENT: FILTERED,
  IMAGE_RECITATION: FILTERED,
  MALFORMED_FUNCTION_CALL: failed('The model generated a malformed function call.'),
  UNEXPECTED_TOOL_CALL: failed('The model called a tool that was not offered.'),
  TOO_MANY_TOOL_CALLS: failed('The model made too many consecutive tool calls.'),
  MISSING_THOUGHT_SIGNATURE: { ...failed('A thought signature is missing from the history.'), retryable: false },
  MALFORMED_RESPONSE: failed('The model generated a malformed response.'),
  NO_IMAGE: failed('The model generated no image although one was requested.'),
  IMAGE_OTHER: failed('The model could not generate the image.'),
  OTHER: failed('The model stopped for an unspecified reason.'),
};

function failed(message: string): Extract<Outcome, { status: 'failed' }> {
  return { status: 'failed', message, retryable: true };
}

export function outcomeOf(finish: string | undefined, blocked: string | undefined, warnings: string[]): Outcome {
  if (blocked !== undefined && finish === blocked) return FILTERED;
  if (finish !== undefined && Object.hasOwn(OUTCOMES, finish)) return OUTCOMES[finish] ?? COMPLETED;
  warnings.push(
    finish === undefined
      ? 'The response has no finishReason and counts as completed.'
      : `The response has the unknown finishReason "${finish}" and counts as completed.`,
  );
  return COMPLETED;
}
