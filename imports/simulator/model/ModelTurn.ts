/** The output of a model in one turn, independent of its wire. */

export interface ModelCall {
  readonly id?: string;
  readonly name: string;
  readonly namespace?: string;
  /** Usually JSON, but a script may send any text. */
  readonly arguments: string;
  readonly async?: boolean;
}

export interface ModelTurn {
  readonly reasoning?: string;
  /** The reasoning is only sent in encrypted form. */
  readonly redacted?: boolean;
  readonly text?: string;
  readonly refusal?: string;
  readonly calls: readonly ModelCall[];
  readonly ending: 'complete' | 'max_output_tokens' | 'content_filter';
  /** The vendor fails after the rest of the turn was sent. */
  readonly failure?: { readonly message: string; readonly code: string };
}

/** The tokens of one exchange. `input` includes cached tokens, `output` excludes reasoning. */
export interface TokenCount {
  readonly input: number;
  /** Part of `input`. */
  readonly cached: number;
  /** Part of `input`, too: what Anthropic's cache has taken. Default: 0. */
  readonly written?: number;
  /** Part of `written`. Default: 0. */
  readonly writtenForAnHour?: number;
  readonly output: number;
  readonly reasoning: number;
}

const CHARACTERS_PER_TOKEN = 4;

export function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
