/** What a model says in one turn, before a wire writes it down. */

export interface ModelCall {
  readonly id?: string;
  readonly name: string;
  /** As the model writes them: usually JSON. */
  readonly arguments: string;
  readonly async?: boolean;
}

export interface ModelTurn {
  readonly reasoning?: string;
  /** The reasoning is shown encrypted only. */
  readonly redacted?: boolean;
  readonly text?: string;
  readonly refusal?: string;
  readonly calls: readonly ModelCall[];
  readonly ending: 'complete' | 'max_output_tokens' | 'content_filter';
  /** The vendor breaks down after what was said so far. */
  readonly failure?: { readonly message: string; readonly code: string };
}

/** Tokens of one exchange. `input` counts all that was sent, `output` leaves reasoning out. */
export interface TokenCount {
  readonly input: number;
  /** Part of `input`. */
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
}

const CHARACTERS_PER_TOKEN = 4;

export function tokensIn(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
