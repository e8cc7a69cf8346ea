/** How a response ended, by its `finishReason` or its `blockReason`. */
export type Outcome =
  | { readonly status: 'completed' }
  | { readonly status: 'incomplete'; readonly reason: 'max_output_tokens' | 'content_filter' }
  | { readonly status: 'failed'; readonly message: string; readonly retryable: boolean };

const COMPLETED = { status: 'completed' } as const;
export const FILTERED = { status: 'incomplete', reason: 'content_filter' } as const;

/** https://ai.google.dev/api/generate-content#FinishReason, and what Vertex AI adds to it. */
const OUTCOMES: Readonly<Record<string, Outcome>> = {
  STOP: COMPLETED,
  MAX_TOKENS: { status: 'incomplete', reason: 'max_output_tokens' },
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
  MALFORMED_FUNCTION_CALL: failed('The model wrote a function call that cannot be read.'),
  UNEXPECTED_TOOL_CALL: failed('The model called a tool that it was not offered.'),
  TOO_MANY_TOOL_CALLS: failed('The model called too many tools one after another.'),
  MISSING_THOUGHT_SIGNATURE: { ...failed('A thought signature is missing in the history.'), retryable: false },
  MALFORMED_RESPONSE: failed('The model wrote an answer that cannot be read.'),
  NO_IMAGE: failed('The model made no image although one was asked for.'),
  IMAGE_OTHER: failed('The model could not make the image.'),
  OTHER: failed('The model stopped for a reason that the vendor does not name.'),
};

function failed(message: string): Extract<Outcome, { status: 'failed' }> {
  return { status: 'failed', message, retryable: true };
}

export function outcomeOf(finish: string | undefined, blocked: string | undefined, warnings: string[]): Outcome {
  if (blocked !== undefined && finish === blocked) return FILTERED;
  if (finish !== undefined && Object.hasOwn(OUTCOMES, finish)) return OUTCOMES[finish] ?? COMPLETED;
  warnings.push(
    finish === undefined
      ? 'finishReason: the answer has none; it counts as completed'
      : `finishReason: ${finish} is not known; it counts as completed`,
  );
  return COMPLETED;
}
